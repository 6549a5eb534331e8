// Launching graphs, and what else of theirs names a stream.
#include "runtime/api/common/graphs.h"

#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

template <class Body>
cudaError_t withBoth(cudaGraphExec_t handle, cudaStream_t streamHandle, Body&& body,
                     const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(streamHandle, [&](core::Stream& stream) {
    return withExecutable(handle, [&](core::ExecutableGraph& graph) { return body(graph, stream); });
  });
}

}  // namespace

CUDA_API_PTSZ(cudaError_t, cudaGraphLaunch)(cudaGraphExec_t handle, cudaStream_t streamHandle) {
  return withBoth(handle, streamHandle,
                  [](core::ExecutableGraph& graph, core::Stream& stream) { return graph.launch(stream); });
}

CUDA_API_PTSZ(cudaError_t, cudaGraphUpload)(cudaGraphExec_t handle, cudaStream_t streamHandle) {
  return withBoth(handle, streamHandle,
                  [](core::ExecutableGraph& graph, core::Stream& stream) { return graph.upload(stream); });
}

CUDA_API_PTSZ(cudaError_t, cudaGraphInstantiateWithParams)
(cudaGraphExec_t* out, cudaGraph_t graph, cudaGraphInstantiateParams* p) {
  if (!p) return record(cudaErrorInvalidValue);
  core::InstantiateResult told = core::InstantiateResult::Failed;
  p->errNode_out = nullptr;
  const cudaError_t error = guarded([&] { return instantiate(out, graph, p->flags, &p->errNode_out, &told); });
  p->result_out = static_cast<cudaGraphInstantiateResult>(told);
  if (error != cudaSuccess || (p->flags & cudaGraphInstantiateFlagUpload) == 0) return error;
  return withBoth(*out, p->uploadStream,
                  [](core::ExecutableGraph& executable, core::Stream& stream) { return executable.upload(stream); });
}
