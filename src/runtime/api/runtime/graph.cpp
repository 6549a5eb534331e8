// Graphs, their edges, and graphs ready to run. What changed between CUDA 11, 12 and 13 stands in versioned_graph.cpp,
// nodes in graph_nodes.cpp, what is done in a stream in streamed/graph.cpp.
#include "runtime/api/common/graphs.h"

#include "runtime/api/common/stream_calls.h"
#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(cudaError_t, cudaGraphCreate)(cudaGraph_t* out, unsigned int flags) {
  return withPlatform([&] { return createGraph(out, flags); });
}

CUDA_API(cudaError_t, cudaGraphDestroy)(cudaGraph_t graph) {
  return guarded([&] { return destroyGraph(graph); });
}

CUDA_API(cudaError_t, cudaGraphClone)(cudaGraph_t* out, cudaGraph_t original) {
  return guarded([&] { return cloneGraph(out, original); });
}

CUDA_API(cudaError_t, cudaGraphNodeFindInClone)(cudaGraphNode_t* out, cudaGraphNode_t original, cudaGraph_t clone) {
  return guarded([&] { return findInClone(out, original, clone); });
}

CUDA_API(cudaError_t, cudaGraphGetNodes)(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return guarded([&] { return listNodes(graph, nodes, count); });
}

CUDA_API(cudaError_t, cudaGraphGetRootNodes)(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return guarded([&] { return listRoots(graph, nodes, count); });
}

CUDA_API(cudaError_t, cudaGraphInstantiateWithFlags)
(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return guarded([&] { return instantiate(out, graph, flags); });
}

CUDA_API(cudaError_t, cudaGraphExecDestroy)(cudaGraphExec_t graph) {
  return guarded([&] { return destroyExecutable(graph); });
}

CUDA_API(cudaError_t, cudaGraphExecGetFlags)(cudaGraphExec_t handle, unsigned long long* flags) {
  return guarded(
      [&] { return withExecutable(handle, [&](core::ExecutableGraph& graph) { return give(flags, graph.flags()); }); });
}

CUDA_API(cudaError_t, cudaGraphNodeSetEnabled)(cudaGraphExec_t graph, cudaGraphNode_t node, unsigned int isEnabled) {
  return guarded([&] { return setEnabled(graph, node, isEnabled); });
}
CUDA_API(cudaError_t, cudaGraphNodeGetEnabled)(cudaGraphExec_t graph, cudaGraphNode_t node, unsigned int* isEnabled) {
  return guarded([&] { return getEnabled(graph, node, isEnabled); });
}

CUDA_API(cudaError_t, cudaGraphDebugDotPrint)(cudaGraph_t graph, const char* path, unsigned int flags) {
  return guarded([&] { return printDot(graph, path, flags); });
}

CUDA_API(cudaError_t, cudaUserObjectCreate)
(cudaUserObject_t* out, void* data, cudaHostFn_t destructor, unsigned int count, unsigned int flags) {
  return withPlatform([&] { return createUserObject(out, data, destructor, count, flags); });
}
CUDA_API(cudaError_t, cudaUserObjectRetain)(cudaUserObject_t object, unsigned int count) {
  return guarded([&] { return core::retainUserObject(reinterpret_cast<core::UserObject*>(object), count); });
}
CUDA_API(cudaError_t, cudaUserObjectRelease)(cudaUserObject_t object, unsigned int count) {
  return guarded([&] { return core::releaseUserObject(reinterpret_cast<core::UserObject*>(object), count); });
}
CUDA_API(cudaError_t, cudaGraphRetainUserObject)
(cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags) {
  return guarded([&] { return retainInGraph(graph, object, count, flags); });
}
CUDA_API(cudaError_t, cudaGraphReleaseUserObject)(cudaGraph_t graph, cudaUserObject_t object, unsigned int count) {
  return guarded([&] { return releaseFromGraph(graph, object, count); });
}
