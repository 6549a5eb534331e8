// What is told about captures, and their dependencies: CUDA 11 knows no data of edges, 12 has forms with and without,
// 13 those with it alone. Compiled once for each, as versioned.cpp is.

// Our headers declare CUDA 13's forms; here the names stand for those of the version that is being built.
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_13
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_13
#include <cuda_runtime.h>
#undef cudaStreamGetCaptureInfo
#undef cudaStreamUpdateCaptureDependencies

#include "runtime/api/common/captures.h"
#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

cudaError_t tell(cudaStream_t handle, cudaStreamCaptureStatus* status, const CaptureInformation& out,
                 const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(
      handle, [&](core::Stream& stream) { return captureInformation(stream, reinterpret_cast<int*>(status), out); });
}

cudaError_t update(cudaStream_t handle, const Dependencies& dependencies, unsigned flags,
                   const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) { return updateCapture(stream, dependencies, flags); });
}

}  // namespace

#if MULCIBER_CUDART_MAJOR >= 13
CUDA_API(cudaError_t, cudaStreamGetCaptureInfo)
(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
 const cudaGraphNode_t** nodes, const cudaGraphEdgeData** data, size_t* count) {
  return tell(
      stream, status,
      {reinterpret_cast<cuuint64_t*>(id), graph, nodes, reinterpret_cast<const CUgraphEdgeData**>(data), count});
}
CUDA_API(cudaError_t, cudaStreamGetCaptureInfo_ptsz)
(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
 const cudaGraphNode_t** nodes, const cudaGraphEdgeData** data, size_t* count) {
  return tell(
      orPerThread(stream), status,
      {reinterpret_cast<cuuint64_t*>(id), graph, nodes, reinterpret_cast<const CUgraphEdgeData**>(data), count});
}
CUDA_API(cudaError_t, cudaStreamUpdateCaptureDependencies)
(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData* data, size_t count, unsigned int flags) {
  return update(stream, {nodes, reinterpret_cast<const CUgraphEdgeData*>(data), count}, flags);
}
CUDA_API(cudaError_t, cudaStreamUpdateCaptureDependencies_ptsz)
(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData* data, size_t count, unsigned int flags) {
  return update(orPerThread(stream), {nodes, reinterpret_cast<const CUgraphEdgeData*>(data), count}, flags);
}
#endif
#if MULCIBER_CUDART_MAJOR < 13
CUDA_API(cudaError_t, cudaStreamGetCaptureInfo)
(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
  return tell(stream, status, {reinterpret_cast<cuuint64_t*>(id)});
}
CUDA_API(cudaError_t, cudaStreamGetCaptureInfo_ptsz)
(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
  return tell(orPerThread(stream), status, {reinterpret_cast<cuuint64_t*>(id)});
}
CUDA_API(cudaError_t, cudaStreamGetCaptureInfo_v2)
(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
 const cudaGraphNode_t** nodes, size_t* count) {
  return tell(stream, status, {reinterpret_cast<cuuint64_t*>(id), graph, nodes, nullptr, count});
}
CUDA_API(cudaError_t, cudaStreamGetCaptureInfo_v2_ptsz)
(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
 const cudaGraphNode_t** nodes, size_t* count) {
  return tell(orPerThread(stream), status, {reinterpret_cast<cuuint64_t*>(id), graph, nodes, nullptr, count});
}
CUDA_API(cudaError_t, cudaStreamUpdateCaptureDependencies)
(cudaStream_t stream, cudaGraphNode_t* nodes, size_t count, unsigned int flags) {
  return update(stream, {nodes, nullptr, count}, flags);
}
CUDA_API(cudaError_t, cudaStreamUpdateCaptureDependencies_ptsz)
(cudaStream_t stream, cudaGraphNode_t* nodes, size_t count, unsigned int flags) {
  return update(orPerThread(stream), {nodes, nullptr, count}, flags);
}
#endif
#if MULCIBER_CUDART_MAJOR == 12
CUDA_API(cudaError_t, cudaStreamGetCaptureInfo_v3)
(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
 const cudaGraphNode_t** nodes, const cudaGraphEdgeData** data, size_t* count) {
  return tell(
      stream, status,
      {reinterpret_cast<cuuint64_t*>(id), graph, nodes, reinterpret_cast<const CUgraphEdgeData**>(data), count});
}
CUDA_API(cudaError_t, cudaStreamGetCaptureInfo_v3_ptsz)
(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
 const cudaGraphNode_t** nodes, const cudaGraphEdgeData** data, size_t* count) {
  return tell(
      orPerThread(stream), status,
      {reinterpret_cast<cuuint64_t*>(id), graph, nodes, reinterpret_cast<const CUgraphEdgeData**>(data), count});
}
CUDA_API(cudaError_t, cudaStreamUpdateCaptureDependencies_v2)
(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData* data, size_t count, unsigned int flags) {
  return update(stream, {nodes, reinterpret_cast<const CUgraphEdgeData*>(data), count}, flags);
}
CUDA_API(cudaError_t, cudaStreamUpdateCaptureDependencies_v2_ptsz)
(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData* data, size_t count, unsigned int flags) {
  return update(orPerThread(stream), {nodes, reinterpret_cast<const CUgraphEdgeData*>(data), count}, flags);
}
#endif
