// Capturing a stream. What has another form in each version stands in versioned.cpp.
#include "runtime/api/common/captures.h"

#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API_PTSZ(cudaError_t, cudaStreamBeginCapture)(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return withStream(handle, [&](core::Stream& stream) { return beginCapture(stream, mode); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamBeginCaptureToGraph)
(cudaStream_t handle, cudaGraph_t graph, const cudaGraphNode_t* nodes, const cudaGraphEdgeData* data, size_t count,
 cudaStreamCaptureMode mode) {
  return withStream(handle, [&](core::Stream& stream) {
    return beginCaptureToGraph(stream, graph, {nodes, reinterpret_cast<const CUgraphEdgeData*>(data), count}, mode);
  });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamEndCapture)(cudaStream_t handle, cudaGraph_t* graph) {
  return withStream(handle, [&](core::Stream& stream) { return endCapture(stream, graph); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamIsCapturing)(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return withStream(handle,
                    [&](core::Stream& stream) { return captureStatus(stream, reinterpret_cast<int*>(status)); });
}
