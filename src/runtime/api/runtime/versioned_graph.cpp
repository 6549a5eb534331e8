// Functions for graphs whose parameters changed between CUDA 11, 12 and 13: compiled once for each, into the library of
// that version.

// Our headers declare CUDA 13's forms; here the names stand for those of the version that is being built.
#define cudaGraphInstantiate cudaGraphInstantiate_13
#define cudaGraphExecUpdate cudaGraphExecUpdate_13
#define cudaGraphAddNode cudaGraphAddNode_13
#define cudaGraphAddDependencies cudaGraphAddDependencies_13
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_13
#define cudaGraphGetEdges cudaGraphGetEdges_13
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_13
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_13
#include <cuda_runtime.h>
#undef cudaGraphInstantiate
#undef cudaGraphExecUpdate
#undef cudaGraphAddNode
#undef cudaGraphAddDependencies
#undef cudaGraphRemoveDependencies
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes

#include "runtime/api/common/graph_memory.h"
#include "runtime/api/runtime/graph_parameters.h"
#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

#if MULCIBER_CUDART_MAJOR >= 12
static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));
const CUgraphEdgeData* driverForm(const cudaGraphEdgeData* data) {
  return reinterpret_cast<const CUgraphEdgeData*>(data);
}
CUgraphEdgeData* driverForm(cudaGraphEdgeData* data) { return reinterpret_cast<CUgraphEdgeData*>(data); }

cudaError_t addAny(cudaGraphNode_t* out, cudaGraph_t graph, const Dependencies& dependencies, cudaGraphNodeParams* p,
                   const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return guarded([&] {
    if (!p) return Error::InvalidValue;
    return addAnyNode(
        out, graph, dependencies, [&](core::NodeParameters& read) { return readAny(*p, read); },
        *reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS_v2*>(&p->alloc), p->conditional.phGraph_out);
  });
}
#endif

}  // namespace

#if MULCIBER_CUDART_MAJOR < 12
CUDA_API(cudaError_t, cudaGraphInstantiate)
(cudaGraphExec_t* out, cudaGraph_t graph, cudaGraphNode_t* failed, char* log, size_t logBytes) {
  if (log && logBytes != 0) log[0] = '\0';  // a place for messages, which stays empty
  return guarded([&] { return instantiate(out, graph, 0, failed); });
}
CUDA_API(cudaError_t, cudaGraphExecUpdate)
(cudaGraphExec_t graph, cudaGraph_t from, cudaGraphNode_t* node, cudaGraphExecUpdateResult* out) {
  core::UpdateResult told = core::UpdateResult::Failed;
  const cudaError_t error = guarded([&] { return updateExecutable(graph, from, &told, node, nullptr); });
  if (out) *out = static_cast<cudaGraphExecUpdateResult>(told);
  return error;
}
#endif
#if MULCIBER_CUDART_MAJOR >= 12
CUDA_API(cudaError_t, cudaGraphInstantiate)(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return guarded([&] { return instantiate(out, graph, flags); });
}
CUDA_API(cudaError_t, cudaGraphExecUpdate)
(cudaGraphExec_t graph, cudaGraph_t from, cudaGraphExecUpdateResultInfo* out) {
  core::UpdateResult told = core::UpdateResult::Failed;
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error =
      guarded([&] { return updateExecutable(graph, from, &told, &info.errorNode, &info.errorFromNode); });
  info.result = static_cast<cudaGraphExecUpdateResult>(told);
  if (out) *out = info;
  return error;
}
#endif

// Without data on edges.
#if MULCIBER_CUDART_MAJOR < 13
CUDA_API(cudaError_t, cudaGraphAddDependencies)
(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) {
  return guarded([&] { return connect(graph, from, to, nullptr, count); });
}
CUDA_API(cudaError_t, cudaGraphRemoveDependencies)
(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) {
  return guarded([&] { return disconnect(graph, from, to, nullptr, count); });
}
CUDA_API(cudaError_t, cudaGraphGetEdges)
(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  return guarded([&] { return listEdges(graph, from, to, nullptr, count); });
}
CUDA_API(cudaError_t, cudaGraphNodeGetDependencies)(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  return guarded([&] { return listEnds(node, Side::Dependencies, nodes, nullptr, count); });
}
CUDA_API(cudaError_t, cudaGraphNodeGetDependentNodes)(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  return guarded([&] { return listEnds(node, Side::Dependents, nodes, nullptr, count); });
}
#endif
#if MULCIBER_CUDART_MAJOR == 12
CUDA_API(cudaError_t, cudaGraphAddNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count, cudaGraphNodeParams* p) {
  return addAny(out, graph, {dependencies, nullptr, count}, p);
}
CUDA_API(cudaError_t, cudaGraphAddNode_v2)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* data,
 size_t count, cudaGraphNodeParams* p) {
  return addAny(out, graph, {dependencies, driverForm(data), count}, p);
}
CUDA_API(cudaError_t, cudaGraphAddDependencies_v2)
(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
 size_t count) {
  return guarded([&] { return connect(graph, from, to, driverForm(data), count); });
}
CUDA_API(cudaError_t, cudaGraphRemoveDependencies_v2)
(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
 size_t count) {
  return guarded([&] { return disconnect(graph, from, to, driverForm(data), count); });
}
CUDA_API(cudaError_t, cudaGraphGetEdges_v2)
(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data, size_t* count) {
  return guarded([&] { return listEdges(graph, from, to, driverForm(data), count); });
}
CUDA_API(cudaError_t, cudaGraphNodeGetDependencies_v2)
(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data, size_t* count) {
  return guarded([&] { return listEnds(node, Side::Dependencies, nodes, driverForm(data), count); });
}
CUDA_API(cudaError_t, cudaGraphNodeGetDependentNodes_v2)
(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data, size_t* count) {
  return guarded([&] { return listEnds(node, Side::Dependents, nodes, driverForm(data), count); });
}
#endif
#if MULCIBER_CUDART_MAJOR >= 13
CUDA_API(cudaError_t, cudaGraphAddNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* data,
 size_t count, cudaGraphNodeParams* p) {
  return addAny(out, graph, {dependencies, driverForm(data), count}, p);
}
CUDA_API(cudaError_t, cudaGraphAddDependencies)
(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
 size_t count) {
  return guarded([&] { return connect(graph, from, to, driverForm(data), count); });
}
CUDA_API(cudaError_t, cudaGraphRemoveDependencies)
(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
 size_t count) {
  return guarded([&] { return disconnect(graph, from, to, driverForm(data), count); });
}
CUDA_API(cudaError_t, cudaGraphGetEdges)
(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data, size_t* count) {
  return guarded([&] { return listEdges(graph, from, to, driverForm(data), count); });
}
CUDA_API(cudaError_t, cudaGraphNodeGetDependencies)
(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data, size_t* count) {
  return guarded([&] { return listEnds(node, Side::Dependencies, nodes, driverForm(data), count); });
}
CUDA_API(cudaError_t, cudaGraphNodeGetDependentNodes)
(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data, size_t* count) {
  return guarded([&] { return listEnds(node, Side::Dependents, nodes, driverForm(data), count); });
}
#endif
