#include "runtime/api/common/captures.h"

#include <algorithm>

#include "runtime/core/context.h"
#include "runtime/core/stream_order.h"

namespace mulciber::api {

using core::Error;

namespace {

bool isMode(int mode) { return mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED; }

Error readPlace(const Dependencies& given, core::CapturePlace& out) {
  if (given.count != 0 && !given.nodes) return Error::InvalidValue;
  for (size_t i = 0; i < given.count; ++i) {
    out.nodes.push_back(reinterpret_cast<core::GraphNode*>(given.nodes[i]));
    out.edges.push_back(given.data ? readEdge(given.data[i]) : core::EdgeData{});
  }
  return Error::Success;
}

core::CaptureStatus statusOf(const core::CaptureRef& capture) {
  if (!capture) return core::CaptureStatus::None;
  return capture->isInvalid() ? core::CaptureStatus::Invalidated : core::CaptureStatus::Active;
}

}  // namespace

Error exchangeCaptureMode(int* mode) {
  if (!mode || !isMode(*mode)) return Error::InvalidValue;
  *mode = static_cast<int>(core::exchangeCaptureMode(static_cast<core::CaptureMode>(*mode)));
  return Error::Success;
}

Error beginCapture(core::Stream& stream, int mode) {
  if (!isMode(mode)) return Error::InvalidValue;
  return core::Capture::begin(stream, static_cast<core::CaptureMode>(mode), nullptr, {});
}

Error beginCaptureToGraph(core::Stream& stream, CUgraph handle, const Dependencies& dependencies, int mode) {
  if (!isMode(mode)) return Error::InvalidValue;
  core::CapturePlace place;
  TRY(readPlace(dependencies, place));
  return withGraph(handle, [&](core::Graph& graph) {
    return core::Capture::begin(stream, static_cast<core::CaptureMode>(mode), graph.shared_from_this(), place);
  });
}

Error endCapture(core::Stream& stream, CUgraph* out) {
  core::GraphRef graph;
  const Error error = core::Capture::end(stream, out ? &graph : nullptr);
  if (out) *out = graph ? handleOf(*graph) : nullptr;
  return error;
}

Error captureStatus(core::Stream& stream, int* out) {
  if (!out) return Error::InvalidValue;
  *out = static_cast<int>(stream.isCapturing() ? statusOf(stream.capture()) : core::CaptureStatus::None);
  return stream.isLegacy() && stream.context().order().isBeingCaptured() ? Error::StreamCaptureImplicit
                                                                         : Error::Success;
}

Error captureInformation(core::Stream& stream, int* status, const CaptureInformation& out) {
  TRY(captureStatus(stream, status));
  const core::CaptureRef capture = stream.capture();
  if (!capture || capture->isInvalid()) return Error::Success;
  const core::CapturePlace& place = capture->tell(stream);
  const bool isPlain = std::ranges::all_of(place.edges, [](const auto& edge) { return edge == core::EdgeData{}; });
  if (out.nodes && !out.edges && !isPlain) return Error::LossyQuery;
  if (out.id) *out.id = capture->id();
  if (out.graph) {
    const core::GraphRef graph = capture->graph();
    *out.graph = graph ? handleOf(*graph) : nullptr;
  }
  const bool isEmpty = place.nodes.empty();
  if (out.nodes) *out.nodes = isEmpty ? nullptr : reinterpret_cast<const CUgraphNode*>(place.nodes.data());
  if (out.edges) *out.edges = isEmpty ? nullptr : reinterpret_cast<const CUgraphEdgeData*>(place.edges.data());
  if (out.count) *out.count = place.nodes.size();
  return Error::Success;
}

Error updateCapture(core::Stream& stream, const Dependencies& dependencies, unsigned flags) {
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) return Error::InvalidValue;
  const core::CaptureRef capture = stream.capture();
  if (!capture) return Error::IllegalState;
  core::CapturePlace place;
  TRY(readPlace(dependencies, place));
  return capture->update(stream, place, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

}  // namespace mulciber::api
