// Capturing a stream.
#include "runtime/api/common/captures.h"

#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

CUresult tell(CUstream handle, CUstreamCaptureStatus* status, const CaptureInformation& out,
              const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(
      handle, [&](core::Stream& stream) { return captureInformation(stream, reinterpret_cast<int*>(status), out); });
}

CUresult update(CUstream handle, const Dependencies& dependencies, unsigned flags,
                const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) { return updateCapture(stream, dependencies, flags); });
}

}  // namespace

#undef cuStreamBeginCapture
CUDA_API_PTSZ(CUresult, cuStreamBeginCapture)(CUstream handle) {
  return withStream(handle, [&](core::Stream& stream) { return beginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL); });
}

CUDA_API_PTSZ(CUresult, cuStreamBeginCapture_v2)(CUstream handle, CUstreamCaptureMode mode) {
  return withStream(handle, [&](core::Stream& stream) { return beginCapture(stream, mode); });
}

CUDA_API_PTSZ(CUresult, cuStreamBeginCaptureToGraph)
(CUstream handle, CUgraph graph, const CUgraphNode* nodes, const CUgraphEdgeData* data, size_t count,
 CUstreamCaptureMode mode) {
  return withStream(handle, [&](core::Stream& stream) {
    return beginCaptureToGraph(stream, graph, {nodes, data, count}, mode);
  });
}

CUDA_API_PTSZ(CUresult, cuStreamEndCapture)(CUstream handle, CUgraph* graph) {
  return withStream(handle, [&](core::Stream& stream) { return endCapture(stream, graph); });
}

CUDA_API_PTSZ(CUresult, cuStreamIsCapturing)(CUstream handle, CUstreamCaptureStatus* status) {
  return withStream(handle,
                    [&](core::Stream& stream) { return captureStatus(stream, reinterpret_cast<int*>(status)); });
}

#undef cuStreamGetCaptureInfo
CUDA_API_PTSZ(CUresult, cuStreamGetCaptureInfo)(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return tell(stream, status, {id});
}

CUDA_API_PTSZ(CUresult, cuStreamGetCaptureInfo_v2)
(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
 size_t* count) {
  return tell(stream, status, {id, graph, nodes, nullptr, count});
}

CUDA_API_PTSZ(CUresult, cuStreamGetCaptureInfo_v3)
(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
 const CUgraphEdgeData** data, size_t* count) {
  return tell(stream, status, {id, graph, nodes, data, count});
}

#undef cuStreamUpdateCaptureDependencies
CUDA_API_PTSZ(CUresult, cuStreamUpdateCaptureDependencies)
(CUstream stream, CUgraphNode* nodes, size_t count, unsigned int flags) {
  return update(stream, {nodes, nullptr, count}, flags);
}

CUDA_API_PTSZ(CUresult, cuStreamUpdateCaptureDependencies_v2)
(CUstream stream, CUgraphNode* nodes, const CUgraphEdgeData* data, size_t count, unsigned int flags) {
  return update(stream, {nodes, data, count}, flags);
}
