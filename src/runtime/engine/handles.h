// What the handles of engine.h stand for, and how its functions end.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

// The functions of Vulkan are the engine's: this keeps their names for pointers.
#include "runtime/vk/device.h"
#include "runtime/vk/features.h"
//
#include "mulciber/engine.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/error.h"
#include "runtime/core/function.h"
#include "runtime/core/module.h"
#include "runtime/core/stream.h"
#include "util/exit_gate.h"

namespace mulciber::core {
class ExecutableGraph;
class MipmappedArray;
}  // namespace mulciber::core

struct MulciberRequirements_T {
  std::unique_ptr<mulciber::vk::PhysicalDevice> device;
  std::unique_ptr<mulciber::vk::FeatureRequest> request;
  std::vector<MulciberFeature> features;
};

struct MulciberKernel_T {
  MulciberModule_T* module;
  mulciber::core::Function* function;
  std::atomic<bool> needsNoHost{false};  // known once a launch was recorded
};

struct MulciberModule_T {
  MulciberContext_T* context;
  mulciber::core::Module* module;
  std::map<std::string, std::unique_ptr<MulciberKernel_T>, std::less<>> kernels;
};

struct MulciberStream_T {
  MulciberContext_T* context;
  mulciber::core::Stream* handle;
  mulciber::core::StreamRef stream;
};

struct MulciberGraph_T {
  MulciberContext_T* context;
  std::shared_ptr<mulciber::core::ExecutableGraph> graph;
};

struct MulciberImage_T {
  MulciberContext_T* context;
  mulciber::core::MipmappedArray* handle;
  std::shared_ptr<mulciber::core::MipmappedArray> array;
  std::vector<uint64_t> textures, surfaces;  // guarded by the context's mutex
};

struct MulciberRecording_T {
  MulciberContext_T* context = nullptr;
  std::unique_ptr<mulciber::vk::Commands> commands;
  uint64_t frame = 0;
  uint32_t flags = 0;
  bool isOpen = false;
};

struct MulciberContext_T {
  std::shared_ptr<mulciber::core::Device> device;
  mulciber::core::ContextRef context;

  std::mutex mutex;  // guards what follows
  std::vector<std::unique_ptr<MulciberModule_T>> modules;
  std::vector<std::unique_ptr<MulciberStream_T>> streams;
  std::vector<std::unique_ptr<MulciberGraph_T>> graphs;
  std::vector<std::unique_ptr<MulciberImage_T>> images;
  std::vector<std::unique_ptr<MulciberRecording_T>> recordings;  // open, or of a frame that has not retired
  std::vector<std::unique_ptr<MulciberRecording_T>> spare;
};

namespace mulciber::engine_api {

using core::Error;

// The result, with a sentence about it for mulciberGetErrorMessage().
MulciberResult fail(MulciberResult result, std::string message);
MulciberResult failureOf(Error error, const char* what);
// Of core's results. Each launch asks several times, and most succeed.
inline MulciberResult resultOf(Error error, const char* what) {
  return error == Error::Success ? MULCIBER_SUCCESS : failureOf(error, what);
}

// Nothing thrown may cross the C boundary; only memory can run out in here.
template <class Body>
MulciberResult guarded(Body&& body) {
  const util::Inside inside;
  if (!inside) return fail(MULCIBER_ERROR_WRONG_STATE, "the process is ending");
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(MULCIBER_ERROR_OUT_OF_MEMORY, "the host's memory has run out");
  } catch (...) {
    return fail(MULCIBER_ERROR_UNKNOWN, "something unexpected was thrown");
  }
}

// The part of a physical device that requirements and contexts begin with. Null, with `result` set, when it is of no
// use.
std::unique_ptr<vk::PhysicalDevice> describe(const MulciberPhysicalDevice& info, MulciberResult& result);

}  // namespace mulciber::engine_api
