// Graphs, their edges, and objects of the program's that they keep; nodes stand in graph_nodes.cpp, executable graphs
// in executable_graph.cpp.
#include "runtime/api/common/graphs.h"

#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

// The headers name the newest version of each; here all are spelled out.
#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies

CUDA_API(CUresult, cuGraphCreate)(CUgraph* out, unsigned int flags) {
  return withDriver([&] { return createGraph(out, flags); });
}

CUDA_API(CUresult, cuGraphDestroy)(CUgraph graph) {
  return guarded([&] { return destroyGraph(graph); });
}

CUDA_API(CUresult, cuGraphClone)(CUgraph* out, CUgraph original) {
  return guarded([&] { return cloneGraph(out, original); });
}

CUDA_API(CUresult, cuGraphNodeFindInClone)(CUgraphNode* out, CUgraphNode original, CUgraph clone) {
  return guarded([&] { return findInClone(out, original, clone); });
}

CUDA_API(CUresult, cuGraphGetNodes)(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return guarded([&] { return listNodes(graph, nodes, count); });
}

CUDA_API(CUresult, cuGraphGetRootNodes)(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return guarded([&] { return listRoots(graph, nodes, count); });
}

CUDA_API(CUresult, cuGraphGetEdges)(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return guarded([&] { return listEdges(graph, from, to, nullptr, count); });
}
CUDA_API(CUresult, cuGraphGetEdges_v2)
(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  return guarded([&] { return listEdges(graph, from, to, data, count); });
}

CUDA_API(CUresult, cuGraphNodeGetDependencies)(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return guarded([&] { return listEnds(node, Side::Dependencies, nodes, nullptr, count); });
}
CUDA_API(CUresult, cuGraphNodeGetDependencies_v2)
(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  return guarded([&] { return listEnds(node, Side::Dependencies, nodes, data, count); });
}

CUDA_API(CUresult, cuGraphNodeGetDependentNodes)(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return guarded([&] { return listEnds(node, Side::Dependents, nodes, nullptr, count); });
}
CUDA_API(CUresult, cuGraphNodeGetDependentNodes_v2)
(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  return guarded([&] { return listEnds(node, Side::Dependents, nodes, data, count); });
}

CUDA_API(CUresult, cuGraphAddDependencies)
(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return guarded([&] { return connect(graph, from, to, nullptr, count); });
}
CUDA_API(CUresult, cuGraphAddDependencies_v2)
(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data, size_t count) {
  return guarded([&] { return connect(graph, from, to, data, count); });
}

CUDA_API(CUresult, cuGraphRemoveDependencies)
(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return guarded([&] { return disconnect(graph, from, to, nullptr, count); });
}
CUDA_API(CUresult, cuGraphRemoveDependencies_v2)
(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data, size_t count) {
  return guarded([&] { return disconnect(graph, from, to, data, count); });
}

CUDA_API(CUresult, cuGraphDebugDotPrint)(CUgraph graph, const char* path, unsigned int flags) {
  return guarded([&] { return printDot(graph, path, flags); });
}

CUDA_API(CUresult, cuUserObjectCreate)
(CUuserObject* out, void* data, CUhostFn destructor, unsigned int count, unsigned int flags) {
  return withDriver([&] { return createUserObject(out, data, destructor, count, flags); });
}
CUDA_API(CUresult, cuUserObjectRetain)(CUuserObject object, unsigned int count) {
  return guarded([&] { return core::retainUserObject(reinterpret_cast<core::UserObject*>(object), count); });
}
CUDA_API(CUresult, cuUserObjectRelease)(CUuserObject object, unsigned int count) {
  return guarded([&] { return core::releaseUserObject(reinterpret_cast<core::UserObject*>(object), count); });
}
CUDA_API(CUresult, cuGraphRetainUserObject)
(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags) {
  return guarded([&] { return retainInGraph(graph, object, count, flags); });
}
CUDA_API(CUresult, cuGraphReleaseUserObject)(CUgraph graph, CUuserObject object, unsigned int count) {
  return guarded([&] { return releaseFromGraph(graph, object, count); });
}
