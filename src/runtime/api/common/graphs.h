// Graphs as both APIs show them: their handles, edges and queries are the same. Each API reads its own structures of
// parameters.
#pragma once

#include <cuda.h>

#include <functional>
#include <vector>

#include "runtime/api/common/give.h"
#include "runtime/core/executable_graph.h"
#include "runtime/core/graph.h"

namespace mulciber::api {

inline CUgraph handleOf(const core::Graph& graph) {
  return reinterpret_cast<CUgraph>(const_cast<core::Graph*>(&graph));
}
inline CUgraphNode handleOf(const core::GraphNode* node) {
  return reinterpret_cast<CUgraphNode>(const_cast<core::GraphNode*>(node));
}

// InvalidValue for what is no handle.
template <class Body>
core::Error withGraph(CUgraph handle, Body&& body) {
  const auto graph = core::graphs().find(reinterpret_cast<core::Graph*>(handle));
  return graph ? body(*graph) : core::Error::InvalidValue;
}

template <class Body>
core::Error withNode(CUgraphNode handle, Body&& body) {
  const auto node = core::graphNodes().find(reinterpret_cast<core::GraphNode*>(handle));
  return node ? body(*node) : core::Error::InvalidValue;
}

// InvalidValue when the node is of another type.
template <class Parameters, class Body>
core::Error withNodeOf(CUgraphNode handle, Body&& body) {
  return withNode(handle, [&](core::GraphNode& node) {
    const auto* const parameters = node.as<Parameters>();
    return parameters ? body(*parameters) : core::Error::InvalidValue;
  });
}

template <class Body>
core::Error withExecutable(CUgraphExec handle, Body&& body) {
  const auto graph = core::executableGraphs().find(reinterpret_cast<core::ExecutableGraph*>(handle));
  return graph ? body(*graph) : core::Error::InvalidValue;
}

core::Error createGraph(CUgraph* out, unsigned flags);
core::Error destroyGraph(CUgraph handle);
core::Error cloneGraph(CUgraph* out, CUgraph original);
core::Error findInClone(CUgraphNode* out, CUgraphNode original, CUgraph clone);

// What the program gives for the nodes that a new one depends on. No data means edges of the ordinary kind.
struct Dependencies {
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* data = nullptr;
  size_t count = 0;
};

core::EdgeData readEdge(const CUgraphEdgeData& data);

// `read` gives the parameters, once the graph is known to be one.
using ReadParameters = std::function<core::Error(core::NodeParameters& out)>;
core::Error addNode(CUgraphNode* out, CUgraph graph, const Dependencies& dependencies, const ReadParameters& read);
core::Error setNode(CUgraphNode node, const ReadParameters& read);
core::Error setExecutableNode(CUgraphExec graph, CUgraphNode node, const ReadParameters& read);
core::Error destroyNode(CUgraphNode node);

// A fill as both APIs' structures describe it; the node knows its context.
template <class Given>
core::Error finishFill(core::FillNode node, uint64_t destination, const Given& given, core::NodeParameters& out) {
  node.fill.destination = destination;
  node.fill.value = given.value;
  node.fill.valueBytes = given.elementSize;
  node.fill.width = given.width;
  node.fill.height = given.height;
  node.fill.pitch = given.pitch;
  TRY(core::check(*node.context, node.fill));
  out = std::move(node);
  return core::Error::Success;
}

// The parameters of a node of that type, as `write(node, *out)` puts them.
template <class Parameters, class Out, class Write>
core::Error describeNode(CUgraphNode handle, Out* out, Write write) {
  return withNodeOf<Parameters>(handle, [&](const Parameters& node) {
    if (!out) return core::Error::InvalidValue;
    write(node, *out);
    return core::Error::Success;
  });
}

// The same of a kernel, whose arguments the node keeps.
template <class Out, class Write>
core::Error describeKernel(CUgraphNode handle, Out* out, Write write) {
  return withNode(handle, [&](core::GraphNode& node) {
    const auto* const kernel = node.as<core::KernelNode>();
    if (!kernel || !out) return core::Error::InvalidValue;
    write(node, *kernel, *out);
    return core::Error::Success;
  });
}

// The event of a node that records it or waits for it.
template <class Parameters>
core::Error eventOf(CUgraphNode handle, CUevent* out) {
  return withNodeOf<Parameters>(handle, [&](const Parameters& node) { return give(out, node.event.get()); });
}

core::Error readHost(CUhostFn function, void* data, core::NodeParameters& out);
core::Error readChild(CUgraph child, int ownership, core::NodeParameters& out);
core::Error readEvent(core::NodeType type, CUevent event, core::NodeParameters& out);
core::Error readConditional(uint64_t handle, int kind, unsigned size, std::shared_ptr<core::Context> context,
                            core::NodeParameters& out);
core::Error createConditionalHandle(uint64_t* out, CUgraph graph, std::shared_ptr<core::Context> context,
                                    unsigned first, unsigned flags);

core::Error connect(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                    size_t count);
core::Error disconnect(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                       size_t count);

// Lists: with no place for them, only their number. LossyQuery when edges have data and there is no place for it.
core::Error listNodes(CUgraph graph, CUgraphNode* nodes, size_t* count);
core::Error listRoots(CUgraph graph, CUgraphNode* nodes, size_t* count);
core::Error listEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count);
enum class Side : uint8_t { Dependencies, Dependents };
core::Error listEnds(CUgraphNode node, Side side, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count);

// The value of a kernel node's attribute, as it was set.
core::Error kernelAttribute(CUgraphNode node, int id, CUlaunchAttributeValue* out);
core::Error setKernelAttribute(CUgraphNode node, int id, const CUlaunchAttributeValue* value);
core::Error copyKernelAttributes(CUgraphNode to, CUgraphNode from);

core::Error instantiate(CUgraphExec* out, CUgraph graph, uint64_t flags, CUgraphNode* failed = nullptr,
                        core::InstantiateResult* result = nullptr);
core::Error destroyExecutable(CUgraphExec graph);

core::Error createUserObject(CUuserObject* out, void* data, CUhostFn destructor, unsigned count, unsigned flags);
core::Error retainInGraph(CUgraph graph, CUuserObject object, unsigned count, unsigned flags);
core::Error releaseFromGraph(CUgraph graph, CUuserObject object, unsigned count);
core::Error printDot(CUgraph graph, const char* path, unsigned flags);

core::Error setChild(CUgraphExec graph, CUgraphNode node, CUgraph child);
core::Error setEnabled(CUgraphExec graph, CUgraphNode node, unsigned isEnabled);
core::Error getEnabled(CUgraphExec graph, CUgraphNode node, unsigned* isEnabled);
core::Error updateExecutable(CUgraphExec graph, CUgraph from, core::UpdateResult* result, CUgraphNode* node,
                             CUgraphNode* fromNode);

}  // namespace mulciber::api
