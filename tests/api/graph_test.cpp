// Graphs as a program of the driver API builds and runs them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

// data[i] *= factor for one block.
constexpr const char* multiplyPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry multiply(.param .u64 data, .param .f32 factor) {
  .reg .b32 %r<2>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<3>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [data];
  ld.param.f32 %f1, [factor];
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  ld.global.f32 %f2, [%rd1];
  mul.f32 %f2, %f2, %f1;
  st.global.f32 [%rd1], %f2;
  ret;
}
)";

class Graphs : public WithDevice {
 protected:
  static constexpr size_t count = 64, bytes = count * sizeof(float);

  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuModuleLoadData(&module, multiplyPtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&multiply, module, "multiply"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&data, bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    fill(1);
  }
  void TearDown() override {
    if (stream) {
      EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
      EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
      EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  void fill(float value) {
    const std::vector<float> all(count, value);
    ASSERT_EQ(cuMemcpyHtoD(data, all.data(), bytes), CUDA_SUCCESS);
  }
  float first() {
    std::vector<float> all(count);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(all.data(), data, bytes), CUDA_SUCCESS);
    for (const float value : all) EXPECT_EQ(value, all.front());
    return all.front();
  }
  // The parameters hold pointers to the members that follow.
  const CUDA_KERNEL_NODE_PARAMS& scaleBy(float by) {
    factor = by;
    kernel = {};
    kernel.func = multiply;
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = count;
    kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.kernelParams = arguments;
    return kernel;
  }
  CUgraphNode addScale(float by, std::vector<CUgraphNode> after = {}) {
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &scaleBy(by)), CUDA_SUCCESS);
    return node;
  }
  CUgraphNode addHost(void (*function)(void*), void* argument, std::vector<CUgraphNode> after = {}) {
    const CUDA_HOST_NODE_PARAMS host{function, argument};
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddHostNode(&node, graph, after.data(), after.size(), &host), CUDA_SUCCESS);
    return node;
  }
  CUgraphExec instantiated() {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
    return executable;
  }
  static CUDA_MEMCPY3D copyOf(size_t size) {
    CUDA_MEMCPY3D copy{};
    copy.WidthInBytes = size;
    copy.Height = copy.Depth = 1;
    return copy;
  }
  static CUDA_MEMCPY3D copyIn(CUdeviceptr to, const std::vector<float>& from) {
    CUDA_MEMCPY3D copy = copyOf(from.size() * sizeof(float));
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from.data();
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = to;
    return copy;
  }
  static CUDA_MEMCPY3D copyOut(std::vector<float>& to, CUdeviceptr from) {
    CUDA_MEMCPY3D copy = copyOf(to.size() * sizeof(float));
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = to.data();
    return copy;
  }

  CUmodule module = nullptr;
  CUfunction multiply = nullptr;
  CUdeviceptr data = 0;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  float factor = 1;
  void* arguments[2] = {&data, &factor};
  CUDA_KERNEL_NODE_PARAMS kernel{};
};

TEST_F(Graphs, ArgumentsAreTakenWhenTheNodeIsMade) {  // GRF-01, GRF-02
  addScale(3, {addScale(2)});
  factor = 100;
  const CUgraphExec executable = instantiated();
  EXPECT_EQ(first(), 1) << "nothing ran before the launch";
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(first(), 36);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, ALongChainKeepsItsOrder) {
  std::vector<CUgraphNode> last;
  for (int i = 0; i < 200; ++i) last = {addScale(i % 2 == 0 ? 2.0f : 0.5f, last)};
  const CUgraphExec executable = instantiated();
  for (int i = 0; i < 20; ++i) ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(first(), 1);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(Graphs, HostNodesRunBetweenKernels) {
  struct State {
    Graphs* test;
    float* pinned;
    std::vector<float> seen;
  } state{this, nullptr, {}};
  void* pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost(&pinned, bytes), CUDA_SUCCESS);
  state.pinned = static_cast<float*>(pinned);
  std::fill_n(state.pinned, count, 1.0f);
  const CUdeviceptr own = data;
  ASSERT_EQ(cuMemHostGetDevicePointer(&data, pinned, 0), CUDA_SUCCESS);
  const auto look = [](void* argument) {
    auto& all = *static_cast<State*>(argument);
    all.seen.push_back(all.pinned[count - 1]);
  };
  const CUgraphNode middle = addHost(look, &state, {addScale(2)});
  addHost(look, &state, {addScale(5, {middle})});
  const CUgraphExec executable = instantiated();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(state.seen, (std::vector<float>{2, 10, 20, 100, 200, 1000}));
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  data = own;
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
}

TEST_F(Graphs, PageableMemoryIsReadAndWrittenByEachLaunch) {
  std::vector<float> from(count, 3), to(count);
  const CUDA_MEMCPY3D in = copyIn(data, from), out = copyOut(to, data);
  CUgraphNode copyIn = nullptr, copyOut = nullptr;
  ASSERT_EQ(cuGraphAddMemcpyNode(&copyIn, graph, nullptr, 0, &in, context), CUDA_SUCCESS);
  const CUgraphNode scaled = addScale(2, {copyIn});
  ASSERT_EQ(cuGraphAddMemcpyNode(&copyOut, graph, &scaled, 1, &out, context), CUDA_SUCCESS);
  const CUgraphExec executable = instantiated();
  for (const float value : {3.0f, 7.0f}) {
    std::ranges::fill(from, value);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(to, std::vector<float>(count, 2 * value));
  }
  CUDA_MEMCPY3D told{};
  ASSERT_EQ(cuGraphMemcpyNodeGetParams(copyOut, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.dstHost, to.data());
  EXPECT_EQ(told.srcDevice, data);
  EXPECT_EQ(told.WidthInBytes, bytes);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

// Threads that wait do such copies themselves, beside the thread that does them when nobody waits.
TEST_F(Graphs, ManyThreadsWaitForCopiesOfPageableMemory) {
  constexpr size_t large = 1 << 20;  // numbers: so that a copy takes a while
  std::vector<float> from(large), to(large);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, large * 4), CUDA_SUCCESS);
  const CUDA_MEMCPY3D in = copyIn(memory, from), out = copyOut(to, memory);
  std::atomic<int> calls{0};
  CUDA_HOST_NODE_PARAMS host{[](void* counter) { ++*static_cast<std::atomic<int>*>(counter); }, &calls};
  CUgraphNode copyIn = nullptr, called = nullptr, copyOut = nullptr;
  ASSERT_EQ(cuGraphAddMemcpyNode(&copyIn, graph, nullptr, 0, &in, context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddHostNode(&called, graph, &copyIn, 1, &host), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemcpyNode(&copyOut, graph, &called, 1, &out, context), CUDA_SUCCESS);
  const CUgraphExec executable = instantiated();
  const int rounds = 20;
  for (int round = 1; round <= rounds; ++round) {
    std::ranges::fill(from, static_cast<float>(round));
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&, i] {
        const bool waited = cuCtxSetCurrent(context) == CUDA_SUCCESS &&
                            (i == 0 ? cuCtxSynchronize() : cuStreamSynchronize(stream)) == CUDA_SUCCESS;
        right += waited && to == from;
      });
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(right, 3) << "round " << round;
  }
  EXPECT_EQ(calls, rounds);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(Graphs, FillsAndChildGraphsTakeTheirPlace) {
  CUgraph child = nullptr;
  ASSERT_EQ(cuGraphCreate(&child, 0), CUDA_SUCCESS);
  std::swap(graph, child);
  addScale(3, {addScale(2)});
  std::swap(graph, child);
  const float four = 4;
  CUDA_MEMSET_NODE_PARAMS fillFour{data, 0, 0, 4, count, 1};
  std::memcpy(&fillFour.value, &four, sizeof(four));
  CUgraphNode filled = nullptr, nested = nullptr;
  ASSERT_EQ(cuGraphAddMemsetNode(&filled, graph, nullptr, 0, &fillFour, context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddChildGraphNode(&nested, graph, &filled, 1, child), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(child), CUDA_SUCCESS) << "the node has its own copy";
  addScale(10, {nested});
  CUgraph inner = nullptr;
  size_t nodes = 0;
  ASSERT_EQ(cuGraphChildGraphNodeGetGraph(nested, &inner), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphGetNodes(inner, nullptr, &nodes), CUDA_SUCCESS);
  EXPECT_EQ(nodes, 2u);
  EXPECT_EQ(cuGraphDestroy(inner), CUDA_ERROR_INVALID_VALUE) << "it is the node's";
  const CUgraphExec executable = instantiated();
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(first(), 240);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(Graphs, EventsAreRecordedAndAwaited) {
  CUevent event = nullptr, timed = nullptr;
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&timed, 0), CUDA_SUCCESS);
  CUgraphNode start = nullptr, waited = nullptr, done = nullptr;
  ASSERT_EQ(cuGraphAddEventRecordNode(&start, graph, nullptr, 0, timed), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventWaitNode(&waited, graph, &start, 1, event), CUDA_SUCCESS);
  const CUgraphNode scaled = addScale(2, {waited});
  ASSERT_EQ(cuGraphAddEventRecordNode(&done, graph, &scaled, 1, event), CUDA_SUCCESS);
  const CUgraphExec executable = instantiated();
  CUstream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  std::atomic<bool> open = false;
  ASSERT_EQ(cuLaunchHostFunc(
                other,
                [](void* gate) {
                  while (!*static_cast<std::atomic<bool>*>(gate)) std::this_thread::yield();
                },
                &open),
            CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, other), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY) << "the graph waits for the event of the other stream";
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY) << "and has recorded it again";
  open = true;
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(first(), 2);
  CUevent told = nullptr;
  EXPECT_EQ(cuGraphEventRecordNodeGetEvent(done, &told), CUDA_SUCCESS);
  EXPECT_EQ(told, event);
  EXPECT_EQ(cuEventQuery(timed), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(timed), CUDA_SUCCESS);
}

TEST_F(Graphs, LaunchesOfOneGraphNeverOverlap) {  // GRF-05
  CUstream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  std::vector<CUgraphNode> last;
  for (int i = 0; i < 8; ++i) last = {addScale(i % 2 == 0 ? 2.0f : 0.5f, last)};
  const CUgraphExec executable = instantiated();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(cuGraphLaunch(executable, i % 2 == 0 ? stream : other), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(first(), 1);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
}

TEST_F(Graphs, AnExecutableGraphMayGoWhileItRuns) {
  const CUgraphNode node = addScale(2);
  std::atomic<bool> open = false;
  addScale(3, {addHost(
                  [](void* gate) {
                    while (!*static_cast<std::atomic<bool>*>(gate)) std::this_thread::yield();
                  },
                  &open, {node})});
  const CUgraphExec executable = instantiated();
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  open = true;
  EXPECT_EQ(first(), 6);
}

TEST_F(Graphs, WhatIsNoGraphIsRefused) {
  CUgraphNode node = nullptr, second = nullptr;
  CUgraphExec executable = nullptr;
  EXPECT_EQ(cuGraphCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddEmptyNode(&node, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphLaunch(nullptr, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 0), CUDA_SUCCESS);
  const CUgraphNode twice[] = {node, node};
  EXPECT_EQ(cuGraphAddEmptyNode(&second, graph, twice, 2), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGraphAddEmptyNode(&second, graph, &node, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddDependencies(graph, &node, &second, nullptr, 1), CUDA_ERROR_INVALID_VALUE) << "there already";
  EXPECT_EQ(cuGraphAddDependencies(graph, &node, &node, nullptr, 1), CUDA_ERROR_INVALID_VALUE) << "to itself";
  ASSERT_EQ(cuGraphAddDependencies(graph, &second, &node, nullptr, 1), CUDA_SUCCESS);
  CUDA_GRAPH_INSTANTIATE_PARAMS told{};
  EXPECT_EQ(cuGraphInstantiateWithParams(&executable, graph, &told), CUDA_ERROR_INVALID_VALUE) << "a cycle";
  EXPECT_EQ(told.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  ASSERT_EQ(cuGraphRemoveDependencies(graph, &second, &node, nullptr, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphRemoveDependencies(graph, &second, &node, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGraphInstantiateWithParams(&executable, graph, &told), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroyNode(node), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroyNode(node), CUDA_ERROR_INVALID_VALUE);
  CUgraph foreign = nullptr;
  ASSERT_EQ(cuGraphCreate(&foreign, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddEmptyNode(&node, foreign, &second, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(foreign), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphInstantiate(&executable, foreign, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, NodesThatCopyOrFillNothingAreRefused) {
  CUgraphNode node = nullptr;
  CUDA_MEMCPY3D copy = copyOf(0);
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = copy.dstDevice = data;
  EXPECT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context), CUDA_ERROR_INVALID_VALUE);
  const CUDA_MEMSET_NODE_PARAMS nothing{data, 0, 0, 4, 0, 1};
  EXPECT_EQ(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &nothing, context), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, QueriesTellTheStructure) {
  const CUgraphNode a = addScale(2), b = addScale(3, {a}), c = addScale(4, {a}), d = addScale(5, {b, c});
  CUgraphNode nodes[8], from[8], to[8];
  CUgraphEdgeData edges[8];
  size_t number = 8;
  ASSERT_EQ(cuGraphGetNodes(graph, nodes, &number), CUDA_SUCCESS);
  EXPECT_EQ(number, 4u);
  EXPECT_EQ(nodes[3], d);
  EXPECT_EQ(nodes[4], nullptr);
  number = 8;
  ASSERT_EQ(cuGraphGetRootNodes(graph, nodes, &number), CUDA_SUCCESS);
  EXPECT_EQ(number, 1u);
  EXPECT_EQ(nodes[0], a);
  number = 8;
  ASSERT_EQ(cuGraphGetEdges(graph, from, to, edges, &number), CUDA_SUCCESS);
  EXPECT_EQ(number, 4u);
  number = 1;
  ASSERT_EQ(cuGraphNodeGetDependencies(d, nodes, nullptr, &number), CUDA_SUCCESS);
  EXPECT_EQ(number, 1u);
  EXPECT_EQ(nodes[0], b);
  ASSERT_EQ(cuGraphNodeGetDependentNodes(a, nullptr, nullptr, &number), CUDA_SUCCESS);
  EXPECT_EQ(number, 2u);
  CUgraph clone = nullptr;
  CUgraphNode copy = nullptr;
  CUDA_KERNEL_NODE_PARAMS told{};
  ASSERT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphNodeFindInClone(&copy, c, clone), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphKernelNodeGetParams(copy, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.func, multiply);
  EXPECT_EQ(*static_cast<const float*>(told.kernelParams[1]), 4.0f);
  EXPECT_EQ(cuGraphNodeFindInClone(&copy, c, graph), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(clone), CUDA_SUCCESS);

  CUgraphEdgeData programmatic{};
  programmatic.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  programmatic.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  ASSERT_EQ(cuGraphAddDependencies(graph, &a, &d, &programmatic, 1), CUDA_SUCCESS);
  number = 8;
  EXPECT_EQ(cuGraphGetEdges(graph, from, to, nullptr, &number), CUDA_ERROR_LOSSY_QUERY);
}

TEST_F(Graphs, UpdatesChangeLaterLaunchesOnly) {  // GRF-12, GRF-13
  const CUgraphNode node = addScale(2);
  const CUgraphExec executable = instantiated();
  std::atomic<bool> open = false;
  ASSERT_EQ(cuLaunchHostFunc(
                stream,
                [](void* gate) {
                  while (!*static_cast<std::atomic<bool>*>(gate)) std::this_thread::yield();
                },
                &open),
            CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphExecKernelNodeSetParams(executable, node, &scaleBy(5)), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphKernelNodeSetParams(node, &scaleBy(7)), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo told{};
  ASSERT_EQ(cuGraphExecUpdate(executable, graph, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  open = true;
  EXPECT_EQ(first(), 2 * 5 * 5 * 7);

  ASSERT_EQ(cuGraphNodeSetEnabled(executable, node, 0), CUDA_SUCCESS);
  unsigned isEnabled = 1;
  ASSERT_EQ(cuGraphNodeGetEnabled(executable, node, &isEnabled), CUDA_SUCCESS);
  EXPECT_EQ(isEnabled, 0u);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(first(), 2 * 5 * 5 * 7);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

// The stream has nothing to do, or works, when the changed graph is launched; then it is launched as it is.
TEST_F(Graphs, ALongGraphThatChangesRunsWhole) {
  std::vector<CUgraphNode> nodes{addScale(1)};
  for (int i = 1; i < 300; ++i) nodes.push_back(addScale(1, {nodes.back()}));
  int calls = 0;
  const CUgraphNode host = addHost([](void* number) { ++*static_cast<int*>(number); }, &calls, {nodes.back()});
  nodes.push_back(addScale(1, {host}));
  const CUgraphExec executable = instantiated();
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  std::vector<float> factors(nodes.size(), 1);
  float expected = 1;
  int launches = 1;
  const auto launch = [&] {
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ++launches;
    for (const float one : factors) expected *= one;
  };
  for (size_t round = 0; round < 24; ++round) {
    // Two are changed in turns: the product of all stays 2 or 1/2 or 1.
    const size_t place = round * 37 % nodes.size();
    factors.assign(factors.size(), 1);
    factors[place] = round % 2 == 0 ? 2 : 0.5f;
    for (size_t i = 0; i < nodes.size(); ++i) {
      ASSERT_EQ(cuGraphExecKernelNodeSetParams(executable, nodes[i], &scaleBy(factors[i])), CUDA_SUCCESS);
    }
    const bool isOff = round % 5 == 3;
    if (isOff) {
      ASSERT_EQ(cuGraphNodeSetEnabled(executable, nodes[place], 0), CUDA_SUCCESS);
      factors[place] = 1;
    }
    if (round % 3 != 0) {
      ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    }
    launch();
    if (round % 4 == 0) launch();
    EXPECT_EQ(first(), expected) << round;
    EXPECT_EQ(calls, launches);
    if (isOff) {
      ASSERT_EQ(cuGraphNodeSetEnabled(executable, nodes[place], 1), CUDA_SUCCESS);
    }
  }
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(Graphs, UpdatesFollowTheOrderOfTheNodesThatAreLeft) {
  const auto build = [&](float last) {
    const CUgraphNode gone = addScale(100), one = addScale(2);
    addScale(last, {one});
    EXPECT_EQ(cuGraphDestroyNode(gone), CUDA_SUCCESS);
  };
  build(3);
  const CUgraphExec executable = instantiated();
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(first(), 6);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  build(5);
  CUgraphExecUpdateResultInfo told{};
  ASSERT_EQ(cuGraphExecUpdate(executable, graph, &told), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(first(), 60);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(Graphs, NewParametersLeaveAttributesAsTheyAre) {  // GRF-15
  const CUgraphNode node = addScale(2);
  CUkernelNodeAttrValue value{}, told{};
  value.cooperative = 1;
  ASSERT_EQ(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value), CUDA_SUCCESS);
  const CUgraphExec executable = instantiated();
  ASSERT_EQ(cuGraphExecKernelNodeSetParams(executable, node, &scaleBy(3)), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphKernelNodeSetParams(node, &scaleBy(4)), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.cooperative, 1);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(first(), 3);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(Graphs, AFailedUpdateChangesNothing) {
  const CUgraphNode node = addScale(2);
  const CUgraphExec executable = instantiated();
  CUgraph other = nullptr;
  ASSERT_EQ(cuGraphCreate(&other, 0), CUDA_SUCCESS);
  std::swap(graph, other);
  CUgraphExecUpdateResultInfo told{};
  EXPECT_EQ(cuGraphExecUpdate(executable, graph, &told), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(told.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  CUgraphNode empty = nullptr;
  ASSERT_EQ(cuGraphAddEmptyNode(&empty, graph, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecUpdate(executable, graph, &told), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(told.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  EXPECT_EQ(told.errorNode, empty);
  std::swap(graph, other);
  EXPECT_EQ(cuGraphDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecKernelNodeSetParams(executable, empty, &scaleBy(5)), CUDA_ERROR_INVALID_VALUE);
  CUDA_KERNEL_NODE_PARAMS wrong = scaleBy(5);
  wrong.blockDimX = 0;
  EXPECT_EQ(cuGraphExecKernelNodeSetParams(executable, node, &wrong), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(first(), 2);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(Graphs, MoreReferencesThanThereAreCanBeReleased) {
  int gone = 0;
  CUuserObject object = nullptr;
  const auto destructor = [](void* number) { ++*static_cast<int*>(number); };
  ASSERT_EQ(cuUserObjectCreate(&object, &gone, destructor, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphReleaseUserObject(graph, object, 5), CUDA_SUCCESS);
  EXPECT_EQ(gone, 0);
  EXPECT_EQ(cuUserObjectRelease(object, 5), CUDA_SUCCESS);
  EXPECT_EQ(gone, 1);
}

// A copy from device memory may become one from pinned or pageable memory, and back.
TEST_F(Graphs, UpdatesChangeTheKindOfMemory) {
  void* pinned = nullptr;
  CUdeviceptr onDevice = 0;
  std::vector<float> pageable(count, 3.0f);
  ASSERT_EQ(cuMemAlloc(&onDevice, bytes), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocHost(&pinned, bytes), CUDA_SUCCESS);
  std::fill_n(static_cast<float*>(pinned), count, 2.0f);
  ASSERT_EQ(cuMemsetD32(onDevice, 0x3f800000, count), CUDA_SUCCESS);
  const auto copyFrom = [&](CUmemorytype type, const void* host) {
    CUDA_MEMCPY3D copy = copyOf(bytes);
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = data;
    copy.srcMemoryType = type;
    copy.srcDevice = onDevice;
    copy.srcHost = host;
    return copy;
  };
  const CUDA_MEMCPY3D all[] = {copyFrom(CU_MEMORYTYPE_DEVICE, nullptr), copyFrom(CU_MEMORYTYPE_HOST, pinned),
                               copyFrom(CU_MEMORYTYPE_HOST, pageable.data())};
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &all[0], context), CUDA_SUCCESS);
  const CUgraphExec executable = instantiated();
  for (const int which : {0, 1, 2, 0, 2, 1}) {
    ASSERT_EQ(cuGraphExecMemcpyNodeSetParams(executable, node, &all[which], context), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(first(), static_cast<float>(which + 1));
    ASSERT_EQ(cuGraphMemcpyNodeSetParams(node, &all[(which + 1) % 3]), CUDA_SUCCESS);
    CUgraphExecUpdateResultInfo told{};
    ASSERT_EQ(cuGraphExecUpdate(executable, graph, &told), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(first(), static_cast<float>((which + 1) % 3 + 1));
  }
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(onDevice), CUDA_SUCCESS);
}

TEST_F(Graphs, UpdatesTakeTheSameRowsUnderAnotherName) {
  const auto rows = [&](CUmemorytype type) {
    CUDA_MEMCPY3D copy = copyOf(8);
    copy.srcMemoryType = copy.dstMemoryType = type;
    copy.srcDevice = data;
    copy.dstDevice = data + bytes / 2;
    copy.srcPitch = copy.dstPitch = 16;
    copy.Height = 2;
    return copy;
  };
  const CUDA_MEMCPY3D onDevice = rows(CU_MEMORYTYPE_DEVICE), unified = rows(CU_MEMORYTYPE_UNIFIED);
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &onDevice, context), CUDA_SUCCESS);
  const CUgraphExec executable = instantiated();
  ASSERT_EQ(cuGraphMemcpyNodeSetParams(node, &unified), CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo told{};
  EXPECT_EQ(cuGraphExecUpdate(executable, graph, &told), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(Graphs, ObjectsLiveAsLongAsAGraphThatKeepsThem) {  // GAP-04
  std::atomic<int> gone = 0;
  CUuserObject object = nullptr;
  const auto destructor = [](void* number) { ++*static_cast<std::atomic<int>*>(number); };
  EXPECT_EQ(cuUserObjectCreate(&object, &gone, destructor, 1, 0), CUDA_ERROR_INVALID_VALUE) << "without the flag";
  ASSERT_EQ(cuUserObjectCreate(&object, &gone, destructor, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRelease(object, 1), CUDA_ERROR_INVALID_VALUE) << "the reference went over to the graph";
  addScale(2);
  const CUgraphExec executable = instantiated();
  EXPECT_EQ(cuGraphReleaseUserObject(graph, object, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(gone, 0) << "the executable graph keeps it";
  ASSERT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(first(), 2);
  for (int i = 0; i < 5000 && gone == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(gone, 1);
}

TEST_F(Graphs, AreWrittenForGraphviz) {
  addScale(3, {addScale(2)});
  const std::string path = testing::TempDir() + "graph.dot";
  ASSERT_EQ(cuGraphDebugDotPrint(graph, path.c_str(), CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE), CUDA_SUCCESS);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find("node_0 -> node_1;"), std::string::npos) << text;
  EXPECT_NE(text.find("multiply\\n<<<(1, 1, 1), (64, 1, 1), 0>>>"), std::string::npos) << text;
  EXPECT_NE(cuGraphDebugDotPrint(graph, "/nowhere/at/all.dot", 0), CUDA_SUCCESS);
}

// Chains with any nodes in them and more edges than they need.
TEST_F(Graphs, RandomChainsKeepTheirOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    const int size = 1 + static_cast<int>(random() % 40);
    std::vector<CUgraphNode> nodes;
    float expected = 1;
    CUgraph whole = graph, child = nullptr;
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    std::vector<CUgraphNode> last;
    for (int i = 0; i < size; ++i) {
      const float by = random() % 2 == 0 ? 2.0f : 0.5f;
      const unsigned kind = random() % 8;
      CUgraphNode node = nullptr;
      if (kind == 0) {
        ASSERT_EQ(cuGraphAddEmptyNode(&node, graph, last.data(), last.size()), CUDA_SUCCESS);
      } else if (kind == 1) {
        node = addHost([](void*) {}, nullptr, last);
      } else if (kind == 2) {
        const CUgraph outer = graph;
        ASSERT_EQ(cuGraphCreate(&child, 0), CUDA_SUCCESS);
        graph = child;
        addScale(by, {addScale(2)});
        graph = outer;
        ASSERT_EQ(cuGraphAddChildGraphNode(&node, graph, last.data(), last.size(), child), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphDestroy(child), CUDA_SUCCESS);
        expected *= 2 * by;
      } else {
        node = addScale(by, last);
        expected *= by;
      }
      // Each comes after the one before it, and after some earlier ones, which changes nothing.
      last = {node};
      for (const CUgraphNode earlier : nodes)
        if (random() % 4 == 0) last.push_back(earlier);
      nodes.push_back(node);
    }
    fill(1);
    const CUgraphExec executable = instantiated();
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(first(), expected) << "round " << round;
    EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    graph = whole;
  }
}

}  // namespace
}  // namespace mulciber::test
