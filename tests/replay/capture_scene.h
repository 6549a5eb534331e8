// Calls that may meet a capture, each made while a stream is being captured: which are refused with what, and what
// becomes of the capture. Each is made in seven settings: in a capture of each mode, by the thread that began it and by
// another one, and in a global capture by a thread that has exchanged its mode for the relaxed one.
#pragma once

#include <string>

#include "capture_notes.h"

namespace mulciber::replay {

constexpr size_t capturedBytes = 64;

// What there is when the call is made.
struct Scene {
  World& w;
  CUstream captured, other;  // the other one is not captured
  CUevent inside, outside;   // recorded in them
  CUdeviceptr memory, pooled;
  void* host;
  CUmodule module;
};
using Deed = std::function<int(Scene&)>;

void whileCapturing(Group group, std::string name, const Deed& deed, unsigned streamFlags = CU_STREAM_NON_BLOCKING);

inline int launch(Scene& s, CUstream stream) {
  return FUNCTION(cuLaunchKernel)(s.w.function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, stream, s.w.kernelParameters, nullptr);
}

inline void callback(CUstream, CUresult, void*) {}
inline void hostFunction(void*) {}

}  // namespace mulciber::replay
