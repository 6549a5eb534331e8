// Conditional nodes: which are refused with what, what may stand in their graphs, and what updates may change.
#include <vector>

#include "capture_notes.h"
#include "graph_notes.h"

namespace mulciber::replay {

namespace {

const Group D = Group::Driver;

CUgraphConditionalHandle newHandle(World& w, CUgraph graph, unsigned value = 0, unsigned flags = 0) {
  CUgraphConditionalHandle made = 0;
  FUNCTION(cuGraphConditionalHandleCreate)(&made, graph, w.context, value, flags);
  return made;
}

CUgraphNodeParams conditional(World& w, CUgraphConditionalHandle handle, int type, unsigned size) {
  CUgraphNodeParams made{};
  made.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  made.conditional = {handle, static_cast<CUgraphConditionalNodeType>(type), size, nullptr, w.context};
  return made;
}

// A graph with one conditional node.
struct Conditional {
  CUgraph graph = nullptr;
  CUgraphConditionalHandle handle = 0;
  CUgraphNode node = nullptr;
  std::vector<CUgraph> bodies;  // null when there is an error
  int error = 0;

  explicit Conditional(World& w, int type = CU_GRAPH_COND_TYPE_IF, unsigned size = 1, unsigned value = 0,
                       unsigned flags = 0, CUgraph in = nullptr)
      : graph(in ? in : newGraph()), handle(newHandle(w, graph, value, flags)) {
    CUgraphNodeParams parameters = conditional(w, handle, type, size);
    bodies.assign(size, nullptr);
    error = add(graph, parameters, &node);
    if (error == 0) bodies.assign(parameters.conditional.phGraph_out, parameters.conditional.phGraph_out + size);
  }
};

CUgraphNodeParams kernel(World& w) {
  CUgraphNodeParams made{};
  made.type = CU_GRAPH_NODE_TYPE_KERNEL;
  made.kernel.func = w.function;
  made.kernel.gridDimX = made.kernel.gridDimY = made.kernel.gridDimZ = 1;
  made.kernel.blockDimX = made.kernel.blockDimY = made.kernel.blockDimZ = 1;
  made.kernel.kernelParams = w.kernelParameters;
  made.kernel.ctx = w.context;
  return made;
}

CUgraphNodeParams fillNode(World& w, unsigned value = 1) {
  CUgraphNodeParams made{};
  made.type = CU_GRAPH_NODE_TYPE_MEMSET;
  made.memset = {w.device, 0, value, 4, 16, 1, w.context};
  return made;
}

CUgraphNodeParams copyNode(World& w, CUmemorytype from, CUmemorytype to, void* host) {
  CUgraphNodeParams made{};
  made.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  made.memcpy.copyCtx = w.context;
  CUDA_MEMCPY3D& copy = made.memcpy.copyParams;
  copy.srcMemoryType = from;
  copy.dstMemoryType = to;
  copy.srcHost = copy.dstHost = host;
  copy.srcDevice = w.other;
  copy.dstDevice = w.device;
  copy.WidthInBytes = 64;
  copy.Height = copy.Depth = 1;
  return made;
}

void nothing(void*) {}

CUgraphNodeParams ofType(World& w, CUgraphNodeType type) {
  CUgraphNodeParams made{};
  made.type = type;
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel(w);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copyNode(w, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE, nullptr);
    case CU_GRAPH_NODE_TYPE_MEMSET: return fillNode(w);
    case CU_GRAPH_NODE_TYPE_HOST: made.host = {nothing, nullptr}; break;
    case CU_GRAPH_NODE_TYPE_GRAPH: made.graph.graph = newGraph(); break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: made.eventWait.event = w.event; break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: made.eventRecord.event = w.event; break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return allocationNode();
    case CU_GRAPH_NODE_TYPE_MEM_FREE: made.free.dptr = w.pooled; break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
      auto& word = w.make<CUstreamBatchMemOpParams>();
      word.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
      word.writeValue.address = w.device;
      made.memOp = {w.context, 1, &word, 0};
      break;
    }
    default: break;
  }
  return made;
}

void handles() {
  sequence(D, "conditional handles", [](World& w) {
    const CUgraph graph = newGraph();
    CUgraphConditionalHandle one = 7, two = 7;
    Notes notes;
    const auto make = FUNCTION(cuGraphConditionalHandleCreate);
    notes << make(&one, graph, w.context, 0u, 0u) << make(&two, graph, w.context, 5u, 1u) << (one == two) << (one == 0);
    two = 7;
    for (const unsigned flags : {2u, 3u, ~0u}) notes << make(&two, graph, w.context, 0u, flags) << (two == 7);
    notes << make(&two, nullptr, w.context, 0u, 0u) << (two == 7) << make(&two, graph, nullptr, 0u, 0u) << (two == 7);
    return notes << FUNCTION(cuGraphDestroy)(graph);
  });
  sequence(D, "no place for a conditional handle", [](World& w) {
    return Notes() << FUNCTION(cuGraphConditionalHandleCreate)(nullptr, newGraph(), w.context, 0u, 0u);
  });
  sequence(D, "a conditional handle without a node", [](World& w) {
    const CUgraph graph = newGraph();
    newHandle(w, graph);
    Notes notes;
    noteInstantiation(notes, graph);
    CUgraphExec made = nullptr;
    return notes << FUNCTION(cuGraphInstantiate)(&made, graph, 0ull);
  });
  sequence(D, "a conditional handle in other hands", [](World& w) {
    Notes notes;
    const CUgraph graph = newGraph(), other = newGraph();
    const CUgraphConditionalHandle handle = newHandle(w, graph);
    CUgraphNodeParams none = conditional(w, 0, 0, 1), odd = conditional(w, 12345, 0, 1),
                      own = conditional(w, handle, 0, 1);
    CUgraphNodeParams again = own, foreign = own;
    notes << add(graph, none) << add(graph, odd) << add(other, foreign) << (foreign.conditional.phGraph_out == nullptr);
    noteInstantiation(notes, other);
    notes << add(graph, own) << add(graph, again) << (own.conditional.phGraph_out == nullptr);
    noteInstantiation(notes, graph);
    return notes;
  });
  sequence(D, "a conditional handle after its node is gone", [](World& w) {
    Notes notes;
    Conditional one(w);
    CUgraphNodeParams again = conditional(w, one.handle, 0, 1);
    notes << FUNCTION(cuGraphDestroyNode)(one.node);
    noteInstantiation(notes, one.graph);
    notes << add(one.graph, again);
    noteInstantiation(notes, one.graph);
    return notes;
  });
  sequence(D, "the conditional handle of the outer graph for an inner node, and the other way", [](World& w) {
    Notes notes;
    Conditional outer(w);
    const CUgraphConditionalHandle second = newHandle(w, outer.graph), inner = newHandle(w, outer.bodies[0]);
    CUgraphNodeParams down = conditional(w, second, 1, 1), same = conditional(w, outer.handle, 0, 1);
    CUgraphNodeParams up = conditional(w, inner, 0, 1);
    notes << add(outer.bodies[0], same) << add(outer.bodies[0], down);
    noteInstantiation(notes, outer.graph);
    notes << add(outer.graph, up);
    noteInstantiation(notes, outer.graph);
    return notes;
  });
}

void wrongNodes() {
  sequence(D, "conditional nodes of every type and size", [](World& w) {
    Notes notes;
    for (int type = -1; type <= 3; ++type)
      for (const unsigned size : {0u, 1u, 2u, 3u, 100u}) {
        Conditional one(w, type, size);
        notes << one.error;
        for (size_t i = 1; one.error == 0 && i < one.bodies.size(); ++i)
          if (one.bodies[i] == one.bodies[0]) notes << -1;
      }
    return notes;
  });
  sequence(D, "a conditional node without a context, and one of another", [](World& w) {
    Notes notes;
    CUcontext other = nullptr;
    const CUgraph graph = newGraph();
    CUgraphNodeParams none = conditional(w, newHandle(w, graph), 0, 1),
                      foreign = conditional(w, newHandle(w, graph), 0, 1);
    none.conditional.ctx = nullptr;
    notes << add(graph, none) << FUNCTION(cuCtxCreate)(&other, nullptr, 0u, 0);
    foreign.conditional.ctx = other;
    notes << add(graph, foreign);
    noteInstantiation(notes, graph);
    return notes << FUNCTION(cuCtxDestroy)(other);
  });
  sequence(D, "conditional nodes with reserved words set", [](World& w) {
    Notes notes;
    const CUgraph graph = newGraph();
    CUgraphNodeParams one = conditional(w, newHandle(w, graph), 0, 1), two = conditional(w, newHandle(w, graph), 0, 1);
    one.reserved0[1] = 1;
    two.reserved2 = 1;
    return notes << add(graph, one) << add(graph, two);
  });
  sequence(D, "a conditional node's graphs", [](World& w) {
    Notes notes;
    Conditional one(w, CU_GRAPH_COND_TYPE_IF, 2);
    noteGraph(notes, one.graph);
    noteGraph(notes, one.bodies[0]);
    CUgraph copy = nullptr, told = nullptr;
    notes << FUNCTION(cuGraphDestroy)(one.bodies[0]) << FUNCTION(cuGraphClone)(&copy, one.bodies[0]);
    notes << FUNCTION(cuGraphClone)(&copy, one.graph) << FUNCTION(cuGraphChildGraphNodeGetGraph)(one.node, &told);
    noteInstantiation(notes, one.bodies[0]);
    noteInstantiation(notes, one.graph);
    CUgraphNodeParams given = kernel(w);
    notes << add(one.bodies[1], given);
    CUgraphNode child = nullptr;
    const CUgraph parent = newGraph();
    notes << FUNCTION(cuGraphAddChildGraphNode)(&child, parent, nullptr, size_t{0}, one.graph);
    notes << FUNCTION(cuGraphAddChildGraphNode)(&child, parent, nullptr, size_t{0}, one.bodies[1]);
    notes << FUNCTION(cuGraphAddChildGraphNode)(&child, one.graph, nullptr, size_t{0}, one.bodies[1]);
    CUgraphNodeParams moved{};
    moved.type = CU_GRAPH_NODE_TYPE_GRAPH;
    moved.graph.graph = one.graph;
    moved.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    notes << add(parent, moved);
    noteInstantiation(notes, parent);
    return notes << FUNCTION(cuGraphDestroy)(parent);
  });
  sequence(D, "edges of conditional nodes", [](World& w) {
    Notes notes;
    Conditional one(w);
    CUgraphNode before = nullptr, inside = nullptr;
    CUgraphNodeParams given = kernel(w), inner = kernel(w);
    notes << add(one.graph, given, &before) << add(one.bodies[0], inner, &inside);
    notes << FUNCTION(cuGraphAddDependencies)(one.graph, &before, &one.node, nullptr, size_t{1});
    notes << FUNCTION(cuGraphAddDependencies)(one.graph, &inside, &before, nullptr, size_t{1});
    notes << FUNCTION(cuGraphRemoveDependencies)(one.graph, &before, &one.node, nullptr, size_t{1});
    notes << FUNCTION(cuGraphDestroyNode)(inside);
    CUgraphNode second = nullptr;
    CUgraphNodeParams third = conditional(w, newHandle(w, one.graph), 0, 1);
    notes << FUNCTION(cuGraphAddNode)(&second, one.graph, &one.node, nullptr, size_t{1}, &third);
    noteInstantiation(notes, one.graph);
    return notes;
  });
}

void bodies() {
  for (const CUgraphNodeType type :
       {CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_HOST,
        CU_GRAPH_NODE_TYPE_GRAPH, CU_GRAPH_NODE_TYPE_EMPTY, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
        CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT,
        CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP}) {
    sequence(D, "in a conditional's graph: a node of type " + std::to_string(type), [type](World& w) {
      Notes notes;
      Conditional one(w);
      CUgraphNodeParams given = ofType(w, type);
      notes << add(one.bodies[0], given);
      noteInstantiation(notes, one.graph);
      return notes;
    });
    sequence(D, "in a child graph in a conditional's graph: a node of type " + std::to_string(type), [type](World& w) {
      Notes notes;
      Conditional one(w);
      CUgraphNodeParams given = ofType(w, type);
      const CUgraph child = newGraph();
      CUgraphNode node = nullptr;
      notes << add(child, given);
      notes << FUNCTION(cuGraphAddChildGraphNode)(&node, one.bodies[0], nullptr, size_t{0}, child);
      noteInstantiation(notes, one.graph);
      return notes;
    });
    sequence(D, "beside a conditional node: a node of type " + std::to_string(type), [type](World& w) {
      Notes notes;
      Conditional one(w);
      CUgraphNodeParams given = ofType(w, type);
      notes << add(one.graph, given);
      noteInstantiation(notes, one.graph);
      return notes;
    });
  }
  struct Places {
    const char* name;
    CUmemorytype from, to;
    bool isPinned;
  };
  for (const Places& places : {Places{"from pageable memory", CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, false},
                               Places{"to pageable memory", CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, false},
                               Places{"from pinned memory", CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, true},
                               Places{"to pinned memory", CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, true}})
    sequence(D, std::string("in a conditional's graph: a copy ") + places.name, [places](World& w) {
      Notes notes;
      Conditional one(w, CU_GRAPH_COND_TYPE_IF, 1, 1, 1);
      std::memset(w.host, 7, 64);
      std::memset(w.pageable, 7, 64);
      CUgraphNodeParams given = copyNode(w, places.from, places.to, places.isPinned ? w.host : w.pageable);
      notes << add(one.bodies[0], given);
      CUgraphExec made = nullptr;
      noteInstantiation(notes, one.graph, &made);
      if (!made) return notes;
      notes << FUNCTION(cuGraphLaunch)(made, w.stream) << FUNCTION(cuStreamSynchronize)(w.stream);
      unsigned seen = 0;
      notes << FUNCTION(cuMemcpyDtoH)(&seen, w.device, size_t{4});
      return notes << seen << w.pageable[3] << w.host[3] << FUNCTION(cuGraphExecDestroy)(made);
    });
  sequence(D, "capture to a conditional's graph", [](World& w) {
    Notes notes;
    Conditional one(w);
    const CUstream stream = newStream(1);
    CUgraph ended = nullptr;
    const auto to = [&] {
      notes << FUNCTION(cuStreamBeginCaptureToGraph)(stream, one.bodies[0], nullptr, nullptr, size_t{0},
                                                     CU_STREAM_CAPTURE_MODE_RELAXED);
    };
    to();
    notes << fill(w, stream) << FUNCTION(cuStreamEndCapture)(stream, &ended) << (ended == one.bodies[0]);
    noteGraph(notes, one.bodies[0]);
    to();
    notes << FUNCTION(cuLaunchHostFunc)(stream, nothing, nullptr) << FUNCTION(cuStreamEndCapture)(stream, &ended);
    noteGraph(notes, one.bodies[0]);
    noteInstantiation(notes, one.graph);
    to();
    CUdeviceptr memory = 0;
    notes << FUNCTION(cuMemAllocAsync)(&memory, size_t{64}, stream) << FUNCTION(cuStreamEndCapture)(stream, &ended);
    noteInstantiation(notes, one.graph);
    return notes;
  });
  sequence(D, "a conditional node in a capture", [](World& w) {
    Notes notes;
    const CUstream stream = newStream(1);
    CUgraph graph = nullptr, ended = nullptr;
    const CUgraphNode* nodes = nullptr;
    size_t count = 0;
    CUstreamCaptureStatus status{};
    notes << begin(stream) << fill(w, stream);
    notes << FUNCTION(cuStreamGetCaptureInfo)(stream, &status, nullptr, &graph, &nodes, nullptr, &count);
    CUgraphNode node = nullptr;
    CUgraphNodeParams given = conditional(w, newHandle(w, graph, 1, 1), 0, 1);
    notes << FUNCTION(cuGraphAddNode)(&node, graph, nodes, nullptr, count, &given);
    notes << FUNCTION(cuStreamUpdateCaptureDependencies)(stream, &node, nullptr, size_t{1}, 1u) << fill(w, stream);
    notes << FUNCTION(cuStreamEndCapture)(stream, &ended) << (ended == graph);
    noteGraph(notes, graph);
    noteInstantiation(notes, graph);
    return notes;
  });
}

void updates() {
  sequence(D, "update of a graph with a conditional node", [](World& w) {
    Notes notes;
    const auto filled = [&](int type, unsigned size, unsigned value, unsigned flags, unsigned byte) {
      Conditional made(w, type, size, value, flags);
      CUgraphNodeParams given = fillNode(w, byte);
      notes << add(made.bodies[0], given);
      return made;
    };
    const auto seen = [&](CUgraphExec exec) {
      unsigned value = 0;
      FUNCTION(cuMemsetD8)(w.device, static_cast<unsigned char>(0), size_t{64});
      notes << FUNCTION(cuGraphLaunch)(exec, w.stream) << FUNCTION(cuStreamSynchronize)(w.stream);
      FUNCTION(cuMemcpyDtoH)(&value, w.device, size_t{4});
      notes << value;
    };
    const Conditional one = filled(0, 1, 1, 1, 3);
    CUgraphExec exec = nullptr;
    noteInstantiation(notes, one.graph, &exec);
    seen(exec);
    noteUpdate(notes, exec, one.graph);
    noteUpdate(notes, exec, filled(0, 1, 1, 1, 4).graph);
    seen(exec);
    noteUpdate(notes, exec, filled(0, 1, 0, 1, 5).graph);  // another default
    seen(exec);
    noteUpdate(notes, exec, filled(0, 1, 1, 0, 6).graph);  // none
    seen(exec);
    noteUpdate(notes, exec, filled(0, 1, 1, 1, 7).graph);
    seen(exec);
    noteUpdate(notes, exec, filled(0, 2, 1, 1, 8).graph);  // another size
    noteUpdate(notes, exec, filled(1, 1, 1, 1, 8).graph);  // another type
    noteUpdate(notes, exec, filled(2, 1, 1, 1, 8).graph);
    Conditional more = filled(0, 1, 1, 1, 8);
    CUgraphNodeParams second = fillNode(w, 9);
    notes << add(more.bodies[0], second);
    noteUpdate(notes, exec, more.graph);
    Conditional kind(w, 0, 1, 1, 1);
    CUgraphNodeParams other = kernel(w);
    notes << add(kind.bodies[0], other);
    noteUpdate(notes, exec, kind.graph);
    noteUpdate(notes, exec, newGraph());
    seen(exec);
    return notes << FUNCTION(cuGraphExecDestroy)(exec);
  });
  sequence(D, "update of graphs whose conditional handles were made in another order", [](World& w) {
    Notes notes;
    const auto two = [&](bool isTurned) {
      const CUgraph graph = newGraph();
      CUgraphConditionalHandle first = newHandle(w, graph, 1, 1), second = newHandle(w, graph, 1, 1);
      if (isTurned) std::swap(first, second);
      CUgraphNodeParams one = conditional(w, first, 0, 1), other = conditional(w, second, 0, 1);
      notes << add(graph, one) << add(graph, other);
      return graph;
    };
    CUgraphExec exec = nullptr;
    noteInstantiation(notes, two(false), &exec);
    noteUpdate(notes, exec, two(false));
    noteUpdate(notes, exec, two(true));
    return notes << FUNCTION(cuGraphExecDestroy)(exec);
  });
  sequence(D, "parameters of a conditional node and of those in its graph", [](World& w) {
    Notes notes;
    Conditional one(w);
    CUgraphNodeParams inner = fillNode(w, 3), same = conditional(w, one.handle, 0, 1), changed = fillNode(w, 4);
    CUgraphNode inside = nullptr;
    notes << add(one.bodies[0], inner, &inside);
    CUgraphExec exec = nullptr;
    noteInstantiation(notes, one.graph, &exec);
    notes << FUNCTION(cuGraphNodeSetParams)(one.node, &same)
          << FUNCTION(cuGraphExecNodeSetParams)(exec, one.node, &same);
    notes << FUNCTION(cuGraphNodeSetParams)(inside, &changed)
          << FUNCTION(cuGraphExecNodeSetParams)(exec, inside, &changed);
    unsigned enabled = 7;
    notes << FUNCTION(cuGraphNodeGetEnabled)(exec, one.node, &enabled)
          << FUNCTION(cuGraphNodeSetEnabled)(exec, one.node, 0u);
    notes << FUNCTION(cuGraphNodeGetEnabled)(exec, inside, &enabled)
          << FUNCTION(cuGraphNodeSetEnabled)(exec, inside, 0u);
    notes << enabled;
    CUgraphNode found = nullptr;
    notes << FUNCTION(cuGraphNodeFindInClone)(&found, inside, one.graph);
    return notes << FUNCTION(cuGraphExecDestroy)(exec);
  });
  sequence(D, "two executable graphs with one conditional node", [](World& w) {
    Notes notes;
    Conditional one(w, 0, 1, 1, 1);
    CUgraphExec first = nullptr, second = nullptr, device = nullptr;
    noteInstantiation(notes, one.graph, &first);
    noteInstantiation(notes, one.graph, &second);
    for (const CUgraphExec exec : {first, second, first}) notes << FUNCTION(cuGraphLaunch)(exec, w.stream);
    notes << FUNCTION(cuStreamSynchronize)(w.stream) << FUNCTION(cuGraphDestroy)(one.graph);
    notes << FUNCTION(cuGraphLaunch)(second, w.stream) << FUNCTION(cuStreamSynchronize)(w.stream);
    return notes << FUNCTION(cuGraphInstantiate)(&device, Conditional(w).graph, 4ull);
  });
}

void externalSemaphores() {
  sequence(D, "nodes of no external semaphores", [](World& w) {
    Notes notes;
    const CUgraph graph = newGraph();
    for (const CUgraphNodeType type : {CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT}) {
      CUgraphNodeParams none = ofType(w, type);
      notes << add(graph, none);
    }
    noteInstantiation(notes, graph);
    const CUstream stream = newStream(1);
    notes << begin(stream);
    notes << FUNCTION(cuSignalExternalSemaphoresAsync)(nullptr, nullptr, 0u, stream);
    notes << FUNCTION(cuWaitExternalSemaphoresAsync)(nullptr, nullptr, 0u, stream);
    noteEnd(notes, stream);
    return notes;
  });
}

}  // namespace

void addConditionalCalls() {
  handles();
  wrongNodes();
  bodies();
  updates();
  externalSemaphores();
}

}  // namespace mulciber::replay
