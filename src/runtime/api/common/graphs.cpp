#include "runtime/api/common/graphs.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <fstream>

#include "runtime/api/common/launch_attributes.h"
#include "runtime/core/capture.h"
#include "runtime/core/platform.h"
#include "util/log.h"

namespace mulciber::api {

using core::Error;

namespace {

bool isReserved(const CUgraphEdgeData& data) {
  return std::ranges::any_of(data.reserved, [](unsigned char byte) { return byte != 0; });
}

CUgraphEdgeData edgeOf(const core::EdgeData& data) {
  CUgraphEdgeData out{};
  out.from_port = data.fromPort;
  out.to_port = data.toPort;
  out.type = data.type;
  return out;
}

// Fills as many entries as there is room for, and nulls the rest; `count` becomes the number there are.
template <class Entry, class Fill>
Error fillList(const std::vector<Entry>& all, bool hasRoom, size_t* count, Fill&& fill) {
  if (!count) return Error::InvalidValue;
  if (!hasRoom) {
    *count = all.size();
    return Error::Success;
  }
  for (size_t i = 0; i < *count; ++i) fill(i, i < all.size() ? &all[i] : nullptr);
  *count = std::min(*count, all.size());
  return Error::Success;
}

bool isLossy(const core::EdgeData& data) { return data != core::EdgeData{}; }

}  // namespace

core::EdgeData readEdge(const CUgraphEdgeData& data) { return {data.from_port, data.to_port, data.type}; }

Error createGraph(CUgraph* out, unsigned flags) {
  if (!out || flags != 0) return Error::InvalidValue;
  *out = reinterpret_cast<CUgraph>(core::graphs().add(core::Graph::create()));
  return Error::Success;
}

Error destroyGraph(CUgraph handle) {
  return withGraph(handle, [](core::Graph& graph) {
    if (graph.isChild()) return Error::InvalidValue;
    if (graph.isCaptured()) return Error::IllegalState;
    return core::graphs().remove(&graph) ? Error::Success : Error::InvalidValue;
  });
}

Error cloneGraph(CUgraph* out, CUgraph original) {
  return withGraph(original, [&](core::Graph& graph) {
    if (!out) return Error::InvalidValue;
    if (graph.hasMemory() || graph.hasConditionals() || graph.isConditional()) return Error::NotSupported;
    *out = reinterpret_cast<CUgraph>(core::graphs().add(graph.clone()));
    return Error::Success;
  });
}

Error findInClone(CUgraphNode* out, CUgraphNode original, CUgraph clone) {
  return withNode(original, [&](core::GraphNode& node) {
    return withGraph(clone, [&](core::Graph& graph) {
      const core::GraphNode* const found = graph.copyOf(node);
      if (!out || !found) return Error::InvalidValue;
      *out = handleOf(found);
      return Error::Success;
    });
  });
}

Error addNode(CUgraphNode* out, CUgraph handle, const Dependencies& dependencies, const ReadParameters& read) {
  return withGraph(handle, [&](core::Graph& graph) {
    if (!out || (dependencies.count != 0 && !dependencies.nodes)) return Error::InvalidValue;
    std::vector<core::Edge> edges;
    for (size_t i = 0; i < dependencies.count; ++i) {
      core::Edge edge{reinterpret_cast<core::GraphNode*>(dependencies.nodes[i]), {}};
      if (!core::graphNodes().find(edge.node)) return Error::InvalidValue;
      if (dependencies.data) {
        if (isReserved(dependencies.data[i])) return Error::InvalidValue;
        edge.data = readEdge(dependencies.data[i]);
      }
      edges.push_back(edge);
    }
    core::NodeParameters parameters = core::EmptyNode{};
    TRY(read(parameters));
    core::GraphNode* node = nullptr;
    const Error error = graph.add(std::move(parameters), edges, node);
    if (error == Error::Success) *out = handleOf(node);
    return error;
  });
}

Error setNode(CUgraphNode handle, const ReadParameters& read) {
  return withNode(handle, [&](core::GraphNode& node) {
    core::NodeParameters parameters = core::EmptyNode{};
    TRY(read(parameters));
    core::keepAttributes(node, parameters);
    if (node.type() == core::NodeType::Conditional) return Error::NotSupported;
    return node.graph().set(node, std::move(parameters));
  });
}

Error setExecutableNode(CUgraphExec handle, CUgraphNode nodeHandle, const ReadParameters& read) {
  return withExecutable(handle, [&](core::ExecutableGraph& graph) {
    return withNode(nodeHandle, [&](core::GraphNode& node) {
      core::NodeParameters parameters = core::EmptyNode{};
      TRY(read(parameters));
      return graph.set(node, std::move(parameters));
    });
  });
}

Error destroyNode(CUgraphNode handle) {
  return withNode(handle, [](core::GraphNode& node) { return node.graph().remove(node); });
}

Error readHost(CUhostFn function, void* data, core::NodeParameters& out) {
  if (!function) return Error::InvalidValue;
  out = core::HostNode{function, data};
  return Error::Success;
}

Error readChild(CUgraph child, int ownership, core::NodeParameters& out) {
  const bool isMoved = ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  if (!isMoved && ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) return Error::InvalidValue;
  return withGraph(child, [&](core::Graph& graph) {
    if (isMoved && graph.hasMemory()) util::log().warn("moving a graph with memory into a node is not offered");
    if (graph.hasMemory() || graph.hasConditionals() || graph.isConditional()) return Error::NotSupported;
    if (graph.isMoved() || (isMoved && graph.isChild())) return Error::InvalidValue;  // it is another node's
    if (isMoved && graph.isCaptured()) return Error::IllegalState;
    out = core::ChildGraphNode{isMoved ? graph.shared_from_this() : graph.clone(), isMoved};
    return Error::Success;
  });
}

Error readEvent(core::NodeType type, CUevent handle, core::NodeParameters& out) {
  core::EventRef event;
  TRY(core::findEvent(reinterpret_cast<core::Event*>(handle), event));
  if (type == core::NodeType::EventRecord) out = core::EventRecordNode{std::move(event)};
  else out = core::EventWaitNode{std::move(event)};
  return Error::Success;
}

Error readConditional(uint64_t handle, int kind, unsigned size, std::shared_ptr<core::Context> context,
                      core::NodeParameters& out) {
  core::ConditionalNode node;
  node.kind = static_cast<core::ConditionalKind>(kind);
  switch (node.kind) {
    case core::ConditionalKind::If:
      if (size > 2) return Error::InvalidValue;
      break;
    case core::ConditionalKind::While:
      if (size > 1) return Error::InvalidValue;
      break;
    case core::ConditionalKind::Switch: break;
    default: return Error::InvalidValue;
  }
  if (size == 0) return Error::InvalidValue;
  node.context = std::move(context);
  node.handle = handle;
  node.size = size;
  out = std::move(node);
  return Error::Success;
}

Error createConditionalHandle(uint64_t* out, CUgraph handle, std::shared_ptr<core::Context> context, unsigned first,
                              unsigned flags) {
  return withGraph(handle, [&](core::Graph& graph) {
    if (!out || (flags & ~unsigned{CU_GRAPH_COND_ASSIGN_DEFAULT}) != 0) return Error::InvalidValue;
    return graph.createValue(*context, flags != 0 ? std::optional(first) : std::nullopt, *out);
  });
}

namespace {

using Change = Error (core::Graph::*)(core::GraphNode&, core::GraphNode&, const core::EdgeData&);

Error changeEdges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                  size_t count, Change change) {
  return withGraph(handle, [&](core::Graph& graph) {
    if (count != 0 && (!from || !to)) return Error::InvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (data && isReserved(data[i])) return Error::InvalidValue;
      const core::EdgeData edge = data ? readEdge(data[i]) : core::EdgeData{};
      const Error error = withNode(from[i], [&](core::GraphNode& first) {
        return withNode(to[i], [&](core::GraphNode& second) { return (graph.*change)(first, second, edge); });
      });
      if (error != Error::Success) return error;
    }
    return Error::Success;
  });
}

}  // namespace

Error connect(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
              size_t count) {
  return changeEdges(graph, from, to, data, count, &core::Graph::connect);
}

Error disconnect(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                 size_t count) {
  return changeEdges(graph, from, to, data, count, &core::Graph::disconnect);
}

namespace {

Error listThose(CUgraph handle, CUgraphNode* nodes, size_t* count, bool (*wanted)(const core::GraphNode&)) {
  return withGraph(handle, [&](core::Graph& graph) {
    std::vector<CUgraphNode> all;
    for (const auto& node : graph.nodes())
      if (wanted(*node)) all.push_back(handleOf(node.get()));
    return fillList(all, nodes != nullptr, count,
                    [&](size_t i, const CUgraphNode* node) { nodes[i] = node ? *node : nullptr; });
  });
}

}  // namespace

Error listNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return listThose(graph, nodes, count, [](const core::GraphNode&) { return true; });
}

Error listRoots(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return listThose(graph, nodes, count, [](const core::GraphNode& node) { return node.dependencies().empty(); });
}

Error listEdges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  return withGraph(handle, [&](core::Graph& graph) {
    struct Whole {
      const core::GraphNode* from;
      const core::GraphNode* to;
      core::EdgeData data;
    };
    std::vector<Whole> all;
    for (const auto& node : graph.nodes())
      for (const core::Edge& edge : node->dependents()) all.push_back({node.get(), edge.node, edge.data});
    if ((from == nullptr) != (to == nullptr)) return Error::InvalidValue;
    if (from && !data && std::ranges::any_of(all, [](const Whole& edge) { return isLossy(edge.data); }))
      return Error::LossyQuery;
    return fillList(all, from != nullptr, count, [&](size_t i, const Whole* edge) {
      from[i] = handleOf(edge ? edge->from : nullptr);
      to[i] = handleOf(edge ? edge->to : nullptr);
      if (data) data[i] = edgeOf(edge ? edge->data : core::EdgeData{});
    });
  });
}

Error listEnds(CUgraphNode handle, Side side, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  return withNode(handle, [&](core::GraphNode& node) {
    const auto& all = side == Side::Dependencies ? node.dependencies() : node.dependents();
    if (nodes && !data && std::ranges::any_of(all, [](const core::Edge& edge) { return isLossy(edge.data); }))
      return Error::LossyQuery;
    return fillList(all, nodes != nullptr, count, [&](size_t i, const core::Edge* edge) {
      nodes[i] = handleOf(edge ? edge->node : nullptr);
      if (data) data[i] = edgeOf(edge ? edge->data : core::EdgeData{});
    });
  });
}

Error kernelAttribute(CUgraphNode handle, int id, CUlaunchAttributeValue* out) {
  return withNodeOf<core::KernelNode>(
      handle, [&](const core::KernelNode& kernel) { return kernelNodeAttribute(kernel, id, out); });
}

Error setKernelAttribute(CUgraphNode handle, int id, const CUlaunchAttributeValue* value) {
  return withNode(handle, [&](core::GraphNode& node) {
    const auto* const kernel = node.as<core::KernelNode>();
    if (!kernel) return Error::InvalidValue;
    core::KernelNode changed = *kernel;
    const Error error = setKernelNodeAttribute(changed, id, value);
    return error == Error::Success ? node.graph().set(node, std::move(changed)) : error;
  });
}

Error copyKernelAttributes(CUgraphNode to, CUgraphNode from) {
  return withNodeOf<core::KernelNode>(from, [&](const core::KernelNode& source) {
    return withNode(to, [&](core::GraphNode& node) {
      const auto* const kernel = node.as<core::KernelNode>();
      if (!kernel) return Error::InvalidValue;
      core::KernelNode changed = *kernel;
      changed.attributes = source.attributes;
      changed.launch.isCooperative = source.launch.isCooperative;
      return node.graph().set(node, std::move(changed));
    });
  });
}

Error instantiate(CUgraphExec* out, CUgraph handle, uint64_t flags, CUgraphNode* failed,
                  core::InstantiateResult* result) {
  return withGraph(handle, [&](core::Graph& graph) {
    if (!out) return Error::InvalidValue;
    core::ExecutableGraphRef executable;
    core::ExecutableGraph::Instantiation instantiation;
    const Error error = core::ExecutableGraph::create(graph, flags, executable, instantiation);
    if (failed) *failed = handleOf(instantiation.failed);
    if (result) *result = instantiation.result;
    if (error != Error::Success) return error;
    *out = reinterpret_cast<CUgraphExec>(core::executableGraphs().add(std::move(executable)));
    return Error::Success;
  });
}

// Launches that are under way keep what they need.
Error destroyExecutable(CUgraphExec handle) {
  TRY(core::unsafeDuringCapture());
  auto graph = core::executableGraphs().remove(reinterpret_cast<core::ExecutableGraph*>(handle));
  if (!graph) return Error::InvalidValue;
  core::ExecutableGraph::retire(std::move(graph));
  return Error::Success;
}

Error retainInGraph(CUgraph handle, CUuserObject object, unsigned count, unsigned flags) {
  return withGraph(handle, [&](core::Graph& graph) {
    if ((flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) != 0) return Error::InvalidValue;
    core::UserObjectRef held;
    const Error error = core::takeUserObject(reinterpret_cast<core::UserObject*>(object), count, flags != 0, held);
    if (error == Error::Success) graph.userObjects().add(held, count);
    return error;
  });
}

Error releaseFromGraph(CUgraph handle, CUuserObject object, unsigned count) {
  return withGraph(handle, [&](core::Graph& graph) {
    return count == 0 ? Error::InvalidValue
                      : graph.userObjects().drop(reinterpret_cast<core::UserObject*>(object), count);
  });
}

Error createUserObject(CUuserObject* out, void* data, CUhostFn destructor, unsigned count, unsigned flags) {
  if (!out || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC || count > INT_MAX) return Error::InvalidValue;
  const core::UserObject* object = nullptr;
  const Error error = core::createUserObject(destructor, data, count, object);
  if (error == Error::Success) *out = reinterpret_cast<CUuserObject>(const_cast<core::UserObject*>(object));
  return error;
}

Error printDot(CUgraph handle, const char* path, unsigned flags) {
  return withGraph(handle, [&](core::Graph& graph) {
    if (!path) return Error::InvalidValue;
    std::ofstream file(path);
    file << graph.dot(flags != 0);
    file.close();
    return file.good() ? Error::Success : Error::OperatingSystem;
  });
}

Error setChild(CUgraphExec handle, CUgraphNode nodeHandle, CUgraph childHandle) {
  return withExecutable(handle, [&](core::ExecutableGraph& graph) {
    return withNode(nodeHandle, [&](core::GraphNode& node) {
      return withGraph(childHandle, [&](core::Graph& child) { return graph.setChild(node, child); });
    });
  });
}

Error setEnabled(CUgraphExec handle, CUgraphNode nodeHandle, unsigned isEnabled) {
  return withExecutable(handle, [&](core::ExecutableGraph& graph) {
    return withNode(nodeHandle, [&](core::GraphNode& node) { return graph.enable(node, isEnabled != 0); });
  });
}

Error getEnabled(CUgraphExec handle, CUgraphNode nodeHandle, unsigned* isEnabled) {
  return withExecutable(handle, [&](core::ExecutableGraph& graph) {
    return withNode(nodeHandle, [&](core::GraphNode& node) {
      bool enabled = false;
      if (!isEnabled) return Error::InvalidValue;
      const Error error = graph.isEnabled(node, enabled);
      if (error == Error::Success) *isEnabled = enabled ? 1 : 0;
      return error;
    });
  });
}

Error updateExecutable(CUgraphExec handle, CUgraph from, core::UpdateResult* result, CUgraphNode* node,
                       CUgraphNode* fromNode) {
  return withExecutable(handle, [&](core::ExecutableGraph& executable) {
    return withGraph(from, [&](core::Graph& graph) {
      core::ExecutableGraph::Update update;
      const Error error = executable.update(graph, update);
      if (result) *result = update.result;
      if (node) *node = handleOf(update.node);
      if (fromNode) *fromNode = handleOf(update.from);
      return error;
    });
  });
}

}  // namespace mulciber::api
