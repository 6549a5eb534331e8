// What becomes of captured calls: graphs captured to, the nodes that calls become, and what those do when they run.
#include <algorithm>
#include <array>
#include <vector>

#include "capture_notes.h"

namespace mulciber::replay {

void noteGraph(Notes& notes, CUgraph graph) {
  size_t nodeCount = 0, edgeCount = 0;
  FUNCTION(cuGraphGetNodes)(graph, nullptr, &nodeCount);
  std::vector<CUgraphNode> nodes(nodeCount);
  FUNCTION(cuGraphGetNodes)(graph, nodes.data(), &nodeCount);
  notes << static_cast<long long>(nodeCount);
  for (const CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    FUNCTION(cuGraphNodeGetType)(node, &type);
    notes << type;
  }
  FUNCTION(cuGraphGetEdges)(graph, nullptr, nullptr, nullptr, &edgeCount);
  std::vector<CUgraphNode> from(edgeCount), to(edgeCount);
  std::vector<CUgraphEdgeData> data(edgeCount);
  FUNCTION(cuGraphGetEdges)(graph, from.data(), to.data(), data.data(), &edgeCount);
  const auto numberOf = [&](CUgraphNode node) {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i] == node) return static_cast<long long>(i);
    return -1LL;
  };
  std::vector<std::array<long long, 4>> edges;
  for (size_t i = 0; i < edgeCount; ++i)
    edges.push_back({numberOf(from[i]), numberOf(to[i]), data[i].from_port, data[i].type});
  std::sort(edges.begin(), edges.end());
  for (const auto& edge : edges)
    for (const long long one : edge) notes << one;
}

namespace {

const Group D = Group::Driver;

void toGraphs() {
  sequence(D, "a capture to a graph that is there", [](World& w) {
    const CUstream stream = newStream(1), other = newStream(1);
    CUgraph graph = nullptr, ended = nullptr;
    std::array<CUgraphNode, 2> nodes{};
    Notes notes;
    notes << FUNCTION(cuGraphCreate)(&graph, 0u);
    for (CUgraphNode& node : nodes) notes << FUNCTION(cuGraphAddEmptyNode)(&node, graph, nullptr, size_t{0});
    const auto to = [&](CUstream which, const CUgraphNode* after, size_t count, int mode = 0) {
      notes << FUNCTION(cuStreamBeginCaptureToGraph)(which, graph, after, nullptr, count, CUstreamCaptureMode(mode));
    };
    to(stream, nodes.data(), 2, 7);
    to(nullptr, nodes.data(), 2);
    to(stream, nodes.data(), 2);
    noteStatus(notes, stream);
    to(other, nodes.data(), 1);
    noteStatus(notes, other);
    notes << fill(w, stream) << fill(w, stream) << FUNCTION(cuStreamEndCapture)(other, &ended) << (ended == graph);
    notes << FUNCTION(cuStreamEndCapture)(stream, &ended) << (ended == graph);
    noteGraph(notes, graph);
    // Again, and broken this time.
    to(stream, nullptr, 0);
    notes << fill(w, stream) << FUNCTION(cuStreamQuery)(stream) << FUNCTION(cuStreamEndCapture)(stream, &ended);
    notes << (ended == nullptr);
    noteGraph(notes, graph);
    return notes << FUNCTION(cuGraphDestroy)(graph);
  });
  sequence(D, "the graph of a capture changed by hand", [](World& w) {
    const CUstream stream = newStream(1);
    CUgraph graph = nullptr;
    CUgraphNode made = nullptr;
    const CUgraphNode* nodes = nullptr;
    size_t count = 0;
    CUstreamCaptureStatus status{};
    CUgraphExec exec = nullptr;
    Notes notes;
    notes << begin(stream) << fill(w, stream);
    notes << FUNCTION(cuStreamGetCaptureInfo)(stream, &status, nullptr, &graph, &nodes, nullptr, &count);
    notes << FUNCTION(cuGraphAddEmptyNode)(&made, graph, nodes, count);
    notes << FUNCTION(cuStreamUpdateCaptureDependencies)(stream, &made, nullptr, size_t{1}, 1u) << fill(w, stream);
    notes << FUNCTION(cuGraphInstantiate)(&exec, graph, 0ull) << FUNCTION(cuGraphDestroyNode)(made);
    noteStatus(notes, stream);
    notes << FUNCTION(cuGraphDestroy)(graph);
    noteStatus(notes, stream);
    noteEnd(notes, stream);
    return notes;
  });
}

void nodes() {
  sequence(D, "a captured kernel's node", [](World& w) {
    const CUstream stream = newStream(1);
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    size_t one = 1;
    Notes notes;
    notes << begin(stream);
    CUlaunchAttribute attributes[2]{};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[0].value.cooperative = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    attributes[1].value.priority = -3;
    CUlaunchConfig config{2, 1, 1, 32, 1, 1, 16, stream, attributes, 2};
    notes << FUNCTION(cuLaunchKernelEx)(&config, w.function, w.kernelParameters, nullptr);
    notes << FUNCTION(cuStreamEndCapture)(stream, &graph) << FUNCTION(cuGraphGetNodes)(graph, &node, &one);
    CUDA_KERNEL_NODE_PARAMS parameters{};
    notes << FUNCTION(cuGraphKernelNodeGetParams)(node, &parameters) << (parameters.func == w.function);
    notes << parameters.gridDimX << parameters.blockDimX << parameters.sharedMemBytes << (parameters.kern == nullptr);
    notes << *static_cast<unsigned*>(parameters.kernelParams[2]) << (parameters.extra == nullptr);
    for (const CUlaunchAttributeID id : {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_PRIORITY}) {
      CUlaunchAttributeValue value{};
      notes << FUNCTION(cuGraphKernelNodeGetAttribute)(node, id, &value) << value.cooperative;
    }
    return notes << FUNCTION(cuGraphDestroy)(graph);
  });
  sequence(D, "the priority of a stream in its captured kernels", [](World& w) {
    CUstream stream = nullptr;
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    size_t one = 1;
    CUlaunchAttributeValue value{};
    Notes notes;
    notes << FUNCTION(cuStreamCreateWithPriority)(&stream, 1u, -2) << begin(stream);
    notes << FUNCTION(cuLaunchKernel)(w.function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, stream, w.kernelParameters, nullptr);
    notes << FUNCTION(cuStreamEndCapture)(stream, &graph) << FUNCTION(cuGraphGetNodes)(graph, &node, &one);
    notes << FUNCTION(cuGraphKernelNodeGetAttribute)(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value) << value.priority;
    return notes << FUNCTION(cuGraphDestroy)(graph);
  });
  sequence(D, "captured copies and fills", [](World& w) {
    const CUstream stream = newStream(1);
    CUgraph graph = nullptr;
    std::array<CUgraphNode, 6> made{};
    size_t count = made.size();
    Notes notes;
    notes << begin(stream) << FUNCTION(cuMemcpyHtoDAsync)(w.device, w.pageable, size_t{100}, stream);
    notes << FUNCTION(cuMemcpyDtoHAsync)(w.host, w.device, size_t{100}, stream);
    notes << FUNCTION(cuMemcpyDtoDAsync)(w.device, w.other, size_t{100}, stream);
    notes << FUNCTION(cuMemcpyAsync)(w.device, bits(w.host), size_t{100}, stream);
    notes << FUNCTION(cuMemsetD16Async)(w.device, static_cast<unsigned short>(9), size_t{10}, stream);
    notes << FUNCTION(cuMemsetD2D32Async)(w.device, size_t{512}, 5u, size_t{4}, size_t{3}, stream);
    notes << FUNCTION(cuStreamEndCapture)(stream, &graph) << FUNCTION(cuGraphGetNodes)(graph, made.data(), &count);
    for (int i = 0; i < 4; ++i) {
      CUDA_MEMCPY3D copy{};
      notes << FUNCTION(cuGraphMemcpyNodeGetParams)(made[i], &copy) << copy.srcMemoryType << copy.dstMemoryType;
      notes << static_cast<long long>(copy.WidthInBytes) << static_cast<long long>(copy.Height);
      notes << static_cast<long long>(copy.Depth) << static_cast<long long>(copy.srcPitch);
    }
    for (int i = 4; i < 6; ++i) {
      CUDA_MEMSET_NODE_PARAMS fill{};
      notes << FUNCTION(cuGraphMemsetNodeGetParams)(made[i], &fill) << fill.elementSize << fill.value;
      notes << static_cast<long long>(fill.pitch) << static_cast<long long>(fill.width)
            << static_cast<long long>(fill.height);
    }
    return notes << FUNCTION(cuGraphDestroy)(graph);
  });
  sequence(D, "captured pageable memory is read and written when the graph runs", [](World& w) {
    const CUstream stream = newStream(1);
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    Notes notes;
    w.pageable[0] = 1;
    w.pageable[200] = 0;
    notes << begin(stream) << FUNCTION(cuMemcpyHtoDAsync)(w.device, w.pageable, size_t{100}, stream);
    notes << FUNCTION(cuMemcpyDtoHAsync)(w.pageable + 200, w.device, size_t{100}, stream);
    notes << FUNCTION(cuStreamEndCapture)(stream, &graph) << w.pageable[200];
    notes << FUNCTION(cuGraphInstantiate)(&exec, graph, 0ull);
    for (const char value : {5, 7}) {
      w.pageable[0] = value;
      notes << FUNCTION(cuGraphLaunch)(exec, stream) << FUNCTION(cuStreamSynchronize)(stream) << w.pageable[200];
    }
    return notes << FUNCTION(cuGraphExecDestroy)(exec) << FUNCTION(cuGraphDestroy)(graph);
  });
  sequence(D, "a graph launched in a captured stream is a child", [](World& w) {
    const CUstream stream = newStream(1);
    CUgraph graph = nullptr, outer = nullptr;
    CUgraphExec exec = nullptr;
    Notes notes;
    notes << begin(stream) << fill(w, stream) << FUNCTION(cuStreamEndCapture)(stream, &graph);
    notes << FUNCTION(cuGraphInstantiate)(&exec, graph, 0ull) << begin(stream) << fill(w, stream);
    notes << FUNCTION(cuGraphLaunch)(exec, stream) << fill(w, stream) << FUNCTION(cuStreamEndCapture)(stream, &outer);
    noteGraph(notes, outer);
    return notes << FUNCTION(cuGraphDestroy)(outer) << FUNCTION(cuGraphExecDestroy)(exec);
  });
  sequence(D, "memory of a captured allocation", [](World& w) {
    const CUstream stream = newStream(1);
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    CUdeviceptr memory = 0, left = 0;
    unsigned seen = 0;
    Notes notes;
    notes << begin(stream) << FUNCTION(cuMemAllocAsync)(&memory, size_t{4096}, stream) << (memory != 0);
    notes << FUNCTION(cuMemsetD32Async)(memory, 77u, size_t{16}, stream);
    notes << FUNCTION(cuMemcpyDtoDAsync)(w.device, memory, size_t{64}, stream)
          << FUNCTION(cuMemFreeAsync)(memory, stream);
    notes << FUNCTION(cuMemAllocAsync)(&left, size_t{4096}, stream) << (left != memory);
    notes << FUNCTION(cuMemsetD32Async)(left, 78u, size_t{16}, stream) << FUNCTION(cuStreamEndCapture)(stream, &graph);
    noteGraph(notes, graph);
    notes << FUNCTION(cuGraphInstantiate)(&exec, graph, 0ull) << FUNCTION(cuGraphLaunch)(exec, stream);
    notes << FUNCTION(cuStreamSynchronize)(stream) << FUNCTION(cuMemcpyDtoH)(&seen, w.device, sizeof(seen)) << seen;
    notes << FUNCTION(cuMemcpyDtoH)(&seen, left, sizeof(seen)) << seen << FUNCTION(cuGraphLaunch)(exec, stream);
    notes << FUNCTION(cuMemFree)(left) << FUNCTION(cuGraphLaunch)(exec, stream)
          << FUNCTION(cuStreamSynchronize)(stream);
    notes << FUNCTION(cuMemFreeAsync)(left, stream) << FUNCTION(cuStreamSynchronize)(stream);
    return notes << FUNCTION(cuGraphExecDestroy)(exec) << FUNCTION(cuGraphDestroy)(graph);
  });
  sequence(D, "a captured free of an address nobody has", [](World& w) {
    const CUstream stream = newStream(1);
    Notes notes;
    notes << begin(stream) << FUNCTION(cuMemFreeAsync)(CUdeviceptr{0}, stream);
    notes << FUNCTION(cuMemFreeAsync)(w.goneDevice, stream);
    noteStatus(notes, stream);
    noteEnd(notes, stream);
    return notes;
  });
}

}  // namespace

void addCapturedNodes() {
  toGraphs();
  nodes();
}

}  // namespace mulciber::replay
