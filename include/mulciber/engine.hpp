// engine.h for C++: handles that destroy themselves, launches with typed arguments, and failures as exceptions.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "mulciber/engine.h"

namespace mulciber::engine {

class Error : public std::runtime_error {
 public:
  explicit Error(MulciberResult result) : std::runtime_error(mulciberGetErrorMessage()), result_(result) {}
  MulciberResult result() const { return result_; }

 private:
  MulciberResult result_;
};

inline void check(MulciberResult result) {
  if (result != MULCIBER_SUCCESS) throw Error(result);
}

// A handle that destroys itself. Failures to destroy are ignored: nobody could act on them.
template <class Handle, auto destroy>
class Owned {
 public:
  Owned() = default;
  ~Owned() { reset(); }
  Owned(Owned&& other) noexcept : handle_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = other.release();
    }
    return *this;
  }
  Handle get() const { return handle_; }

 protected:
  Handle* out() { return &handle_; }

 private:
  Handle release() {
    const Handle held = handle_;
    handle_ = nullptr;
    return held;
  }
  void reset() {
    if (handle_) (void)destroy(handle_);
  }
  Handle handle_ = nullptr;
};

class Requirements : public Owned<MulciberRequirements, mulciberDestroyRequirements> {
 public:
  explicit Requirements(const MulciberPhysicalDevice& device) { check(mulciberCreateRequirements(&device, out())); }
  void addTo(VkDeviceCreateInfo& info) const { check(mulciberAddToDevice(get(), &info)); }
};

struct Shape {
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;
};

// Calls `body` with a launch whose arguments are these, which have the sizes of the kernel's parameters.
template <class Body, class... Arguments>
void withLaunch(const Shape& shape, Body&& body, Arguments... arguments) {
  void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
  const MulciberLaunch launch{{shape.grid[0], shape.grid[1], shape.grid[2]},
                              {shape.block[0], shape.block[1], shape.block[2]},
                              shape.sharedBytes,
                              pointers,
                              nullptr,
                              0};
  check(body(launch));
}

// Belongs to its module.
class Kernel {
 public:
  explicit Kernel(MulciberKernel handle) : handle_(handle) {}
  void prepare(const Shape& shape) const {
    withLaunch(shape, [&](const MulciberLaunch& launch) { return mulciberPrepareKernel(handle_, &launch); });
  }
  MulciberKernel get() const { return handle_; }

 private:
  MulciberKernel handle_;
};

class Module : public Owned<MulciberModule, mulciberUnloadModule> {
 public:
  Module(MulciberContext context, std::string_view code) {
    check(mulciberLoadModule(context, code.data(), code.size(), out()));
  }
  Kernel kernel(const char* name) const {
    MulciberKernel kernel = nullptr;
    check(mulciberGetKernel(get(), name, &kernel));
    return Kernel(kernel);
  }
};

class Stream : public Owned<MulciberStream, mulciberDestroyStream> {
 public:
  explicit Stream(MulciberContext context) { check(mulciberCreateStream(context, out())); }
  template <class... Arguments>
  void launch(Kernel kernel, const Shape& shape, Arguments... arguments) const {
    withLaunch(
        shape, [&](const MulciberLaunch& launch) { return mulciberLaunch(get(), kernel.get(), &launch); },
        arguments...);
  }
  void synchronize() const { check(mulciberSynchronizeStream(get())); }
};

// The engine's image for kernels. Its textures and surfaces go with it.
class Image : public Owned<MulciberImage, mulciberUnwrapImage> {
 public:
  Image(MulciberContext context, VkImage image, const VkImageCreateInfo& info) {
    check(mulciberWrapImage(context, image, &info, out()));
  }
  uint64_t texture(const MulciberTextureInfo& info) const {
    uint64_t texture = 0;
    check(mulciberCreateTexture(get(), &info, &texture));
    return texture;
  }
  uint64_t surface(uint32_t level) const {
    uint64_t surface = 0;
    check(mulciberCreateSurface(get(), level, &surface));
    return surface;
  }
};

// A graph of all work that the stream is given while `body` runs.
class Graph : public Owned<MulciberGraph, mulciberDestroyGraph> {
 public:
  template <class Body>
  Graph(const Stream& stream, Body&& body) {
    check(mulciberBeginCapture(stream.get()));
    try {
      body(stream);
    } catch (...) {
      (void)mulciberEndCapture(stream.get(), out());
      throw;
    }
    check(mulciberEndCapture(stream.get(), out()));
  }
};

// The destructor ends the recording; end() does so too, and reports failures.
class Recording : public Owned<MulciberRecording, mulciberEndRecording> {
 public:
  Recording(MulciberContext context, const MulciberRecordingInfo& info) {
    check(mulciberBeginRecording(context, &info, out()));
  }
  template <class... Arguments>
  void launch(Kernel kernel, const Shape& shape, Arguments... arguments) const {
    withLaunch(
        shape, [&](const MulciberLaunch& launch) { return mulciberRecordLaunch(get(), kernel.get(), &launch); },
        arguments...);
  }
  void graph(const Graph& graph) const { check(mulciberRecordGraph(get(), graph.get())); }
  void barrier() const { check(mulciberRecordBarrier(get())); }
  void end() {
    const MulciberRecording ended = get();
    *out() = nullptr;
    check(mulciberEndRecording(ended));
  }
};

class Context : public Owned<MulciberContext, mulciberDestroyContext> {
 public:
  explicit Context(const MulciberContextInfo& info) { check(mulciberCreateContext(&info, out())); }
  VkDeviceAddress allocate(size_t bytes) const {
    VkDeviceAddress address = 0;
    check(mulciberAllocate(get(), bytes, &address));
    return address;
  }
  void free(VkDeviceAddress address) const { check(mulciberFree(get(), address)); }
  MulciberBufferRange buffer(VkDeviceAddress address) const {
    MulciberBufferRange range{};
    check(mulciberGetBuffer(get(), address, &range));
    return range;
  }
  VkDeviceAddress wrap(VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size) const {
    VkDeviceAddress address = 0;
    check(mulciberWrapBuffer(get(), buffer, offset, size, &address));
    return address;
  }
  void retire(uint64_t frame) const { check(mulciberRetireFrames(get(), frame)); }
};

}  // namespace mulciber::engine
