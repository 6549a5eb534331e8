// Launching graphs, and what else of theirs names a stream.
#include "runtime/api/common/graphs.h"

#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

template <class Body>
CUresult withBoth(CUgraphExec handle, CUstream streamHandle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(streamHandle, [&](core::Stream& stream) {
    return withExecutable(handle, [&](core::ExecutableGraph& graph) { return body(graph, stream); });
  });
}

}  // namespace

CUDA_API_PTSZ(CUresult, cuGraphLaunch)(CUgraphExec handle, CUstream streamHandle) {
  return withBoth(handle, streamHandle,
                  [](core::ExecutableGraph& graph, core::Stream& stream) { return graph.launch(stream); });
}

CUDA_API_PTSZ(CUresult, cuGraphUpload)(CUgraphExec handle, CUstream streamHandle) {
  return withBoth(handle, streamHandle,
                  [](core::ExecutableGraph& graph, core::Stream& stream) { return graph.upload(stream); });
}

CUDA_API_PTSZ(CUresult, cuGraphInstantiateWithParams)
(CUgraphExec* out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  core::InstantiateResult told = core::InstantiateResult::Failed;
  p->hErrNode_out = nullptr;
  CUresult error = guarded([&] { return instantiate(out, graph, p->flags, &p->hErrNode_out, &told); });
  p->result_out = static_cast<CUgraphInstantiateResult>(told);
  if (error != CUDA_SUCCESS || (p->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0) return error;
  return withBoth(*out, p->hUploadStream,
                  [](core::ExecutableGraph& executable, core::Stream& stream) { return executable.upload(stream); });
}
