// Stream capture as both APIs show it.
#pragma once

#include <cuda.h>

#include "runtime/api/common/graphs.h"
#include "runtime/core/capture.h"
#include "runtime/core/stream.h"

namespace mulciber::api {

// The modes and states have the same numbers in both APIs.
core::Error exchangeCaptureMode(int* mode);
core::Error beginCapture(core::Stream& stream, int mode);
core::Error beginCaptureToGraph(core::Stream& stream, CUgraph graph, const Dependencies& dependencies, int mode);
core::Error endCapture(core::Stream& stream, CUgraph* out);
core::Error captureStatus(core::Stream& stream, int* out);

// What a program wants to know; null for what it does not.
struct CaptureInformation {
  cuuint64_t* id = nullptr;
  CUgraph* graph = nullptr;
  const CUgraphNode** nodes = nullptr;
  const CUgraphEdgeData** edges = nullptr;
  size_t* count = nullptr;
};
// LossyQuery when the edges have data and there is no place for it.
core::Error captureInformation(core::Stream& stream, int* status, const CaptureInformation& out);
core::Error updateCapture(core::Stream& stream, const Dependencies& dependencies, unsigned flags);

}  // namespace mulciber::api
