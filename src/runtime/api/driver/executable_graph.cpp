// Graphs ready to run; what is done in a stream stands in streamed/graph.cpp.
#include "runtime/api/common/graphs.h"

#include <cstring>

#include "runtime/api/common/stream_calls.h"
#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

#undef cuGraphInstantiate
#undef cuGraphExecUpdate

namespace {

// The older forms have a place for messages, which stays empty.
CUresult instantiateWithLog(CUgraphExec* out, CUgraph graph, CUgraphNode* failed, char* log, size_t logBytes,
                            const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  if (log && logBytes != 0) log[0] = '\0';
  return guarded([&] { return instantiate(out, graph, 0, failed); });
}

}  // namespace

CUDA_API(CUresult, cuGraphInstantiate)
(CUgraphExec* out, CUgraph graph, CUgraphNode* failed, char* log, size_t logBytes) {
  return instantiateWithLog(out, graph, failed, log, logBytes);
}
CUDA_API(CUresult, cuGraphInstantiate_v2)
(CUgraphExec* out, CUgraph graph, CUgraphNode* failed, char* log, size_t logBytes) {
  return instantiateWithLog(out, graph, failed, log, logBytes);
}
CUDA_API(CUresult, cuGraphInstantiateWithFlags)(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  return guarded([&] { return instantiate(out, graph, flags); });
}

CUDA_API(CUresult, cuGraphExecDestroy)(CUgraphExec graph) {
  return guarded([&] { return destroyExecutable(graph); });
}

CUDA_API(CUresult, cuGraphExecGetFlags)(CUgraphExec handle, cuuint64_t* flags) {
  return guarded(
      [&] { return withExecutable(handle, [&](core::ExecutableGraph& graph) { return give(flags, graph.flags()); }); });
}

CUDA_API(CUresult, cuGraphNodeSetEnabled)(CUgraphExec graph, CUgraphNode node, unsigned int isEnabled) {
  return guarded([&] { return setEnabled(graph, node, isEnabled); });
}
CUDA_API(CUresult, cuGraphNodeGetEnabled)(CUgraphExec graph, CUgraphNode node, unsigned int* isEnabled) {
  return guarded([&] { return getEnabled(graph, node, isEnabled); });
}

CUDA_API(CUresult, cuGraphExecUpdate)
(CUgraphExec graph, CUgraph from, CUgraphNode* node, CUgraphExecUpdateResult* out) {
  core::UpdateResult told = core::UpdateResult::Failed;
  const CUresult error = guarded([&] { return updateExecutable(graph, from, &told, node, nullptr); });
  if (out) *out = static_cast<CUgraphExecUpdateResult>(told);
  return error;
}
CUDA_API(CUresult, cuGraphExecUpdate_v2)(CUgraphExec graph, CUgraph from, CUgraphExecUpdateResultInfo* out) {
  core::UpdateResult told = core::UpdateResult::Failed;
  CUgraphExecUpdateResultInfo info{};
  const CUresult error =
      guarded([&] { return updateExecutable(graph, from, &told, &info.errorNode, &info.errorFromNode); });
  info.result = static_cast<CUgraphExecUpdateResult>(told);
  if (out) *out = info;
  return error;
}
