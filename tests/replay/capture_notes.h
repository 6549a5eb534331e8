// What the cases about captures share.
#pragma once

#include "replay.h"

namespace mulciber::replay {

inline CUstream newStream(unsigned flags) {
  CUstream made = nullptr;
  FUNCTION(cuStreamCreate)(&made, flags);
  return made;
}

inline CUevent newEvent() {
  CUevent made = nullptr;
  FUNCTION(cuEventCreate)(&made, unsigned{CU_EVENT_DISABLE_TIMING});
  return made;
}

inline int fill(World& w, CUstream stream) {
  return FUNCTION(cuMemsetD8Async)(w.device, static_cast<unsigned char>(1), size_t{64}, stream);
}

inline int begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
  return FUNCTION(cuStreamBeginCapture)(stream, mode);
}
inline int record(CUevent event, CUstream stream) { return FUNCTION(cuEventRecord)(event, stream); }
inline int wait(CUstream stream, CUevent event) { return FUNCTION(cuStreamWaitEvent)(stream, event, 0u); }

// Code and answer of cuStreamIsCapturing.
inline void noteStatus(Notes& notes, CUstream stream) {
  CUstreamCaptureStatus status{};
  notes << FUNCTION(cuStreamIsCapturing)(stream, &status);
  notes << status;
}

// How many nodes a graph has, the type of each, and each edge as two of their numbers.
void noteGraph(Notes& notes, CUgraph graph);

// The code of the end, and the graph, which is destroyed.
inline void noteEnd(Notes& notes, CUstream stream) {
  CUgraph graph = nullptr;
  notes << FUNCTION(cuStreamEndCapture)(stream, &graph);
  if (!graph) return;
  noteGraph(notes, graph);
  FUNCTION(cuGraphDestroy)(graph);
}

}  // namespace mulciber::replay
