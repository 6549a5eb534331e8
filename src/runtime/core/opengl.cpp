#include "runtime/core/opengl.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <initializer_list>
#include <string_view>

#include "runtime/core/device.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

// GL's names.
constexpr uint32_t EXTENSIONS = 0x1F03, NUM_EXTENSIONS = 0x821D, NUM_DEVICE_UUIDS = 0x9596, DEVICE_UUID = 0x9597;
constexpr uint32_t MAJOR_VERSION = 0x821B, MINOR_VERSION = 0x821C;

using Function = void (*)();

// One of the two libraries that make OpenGL contexts, where the program has loaded it.
class Loader {
 public:
  Loader(std::initializer_list<const char*> libraries, const char* current, const char* find) {
    for (const char* const library : libraries) {
      void* const handle = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
      if (!handle) continue;
      current_ = reinterpret_cast<void* (*)()>(dlsym(handle, current));
      const auto findFunction = reinterpret_cast<Function (*)(const char*)>(dlsym(handle, find));
      if (!current_ || !findFunction) continue;
#define OPENGL_FUNCTION(Result, name, parameters) \
  gl_.name = reinterpret_cast<Result(*) parameters>(findFunction("gl" #name));
#include "runtime/core/opengl_functions.def"
#undef OPENGL_FUNCTION
      return;
    }
    current_ = nullptr;
  }
  bool isLoaded() const { return current_ != nullptr; }
  bool isCurrent() const { return current_ && current_(); }
  const OpenGl& functions() const { return gl_; }

 private:
  void* (*current_)() = nullptr;
  OpenGl gl_;
};

// Looked for until it is there: the program may load it at any time.
template <class Make>
const Loader* loaded(std::atomic<const Loader*>& kept, Make&& make) {
  if (const Loader* const loader = kept.load(std::memory_order_acquire)) return loader;
  const auto* const made = new Loader(make());
  const Loader* none = nullptr;
  if (made->isLoaded() && kept.compare_exchange_strong(none, made, std::memory_order_acq_rel)) return made;
  delete made;
  return none;
}

bool has(const OpenGl& gl, std::string_view extension) {
  const int32_t count = gl.integer(NUM_EXTENSIONS);
  for (int32_t i = 0; i < count; ++i)
    if (const char* const name = gl.GetStringi(EXTENSIONS, static_cast<uint32_t>(i)); name && extension == name)
      return true;
  return false;
}

}  // namespace

Error currentOpenGl(const OpenGl*& out) {
  static std::atomic<const Loader*> egl{nullptr}, glx{nullptr};
  for (const Loader* const loader :
       {loaded(egl, [] { return Loader({"libEGL.so.1"}, "eglGetCurrentContext", "eglGetProcAddress"); }),
        loaded(glx, [] {
          return Loader({"libGLX.so.0", "libGL.so.1"}, "glXGetCurrentContext", "glXGetProcAddressARB");
        })})
    if (loader && loader->isCurrent()) {
      out = &loader->functions();
      return Error::Success;
    }
  return Error::InvalidGraphicsContext;
}

bool isOnDevice(const OpenGl& gl, const Device& device) {
  if (!has(gl, "GL_EXT_memory_object")) return false;
  const int32_t count = gl.integer(NUM_DEVICE_UUIDS);
  for (int32_t i = 0; i < count; ++i) {
    std::array<uint8_t, 16> uuid{};
    gl.GetUnsignedBytei_vEXT(DEVICE_UUID, static_cast<uint32_t>(i), uuid.data());
    if (uuid == device.uuid()) return true;
  }
  return false;
}

Error canShare(const OpenGl& gl, const Device& device) {
  if (!has(gl, "GL_EXT_memory_object_fd")) {
    util::log().warn("OpenGL's objects cannot be registered: the context has no GL_EXT_memory_object_fd");
    return Error::NotSupported;
  }
  if (gl.integer(MAJOR_VERSION) * 10 + gl.integer(MINOR_VERSION) < 45) {
    util::log().warn("OpenGL's objects cannot be registered: the context's version is below 4.5");
    return Error::NotSupported;
  }
  if (isOnDevice(gl, device)) return Error::Success;
  util::log().warn("OpenGL's objects cannot be registered: the context is of another device than {}", device.name());
  return Error::NotSupported;
}

}  // namespace mulciber::core
