// OpenGL without a window, through EGL, loaded at run time.
#pragma once

#include <dlfcn.h>

#include <cstdint>

#include <gtest/gtest.h>

namespace mulciber::test {

namespace opengl {
constexpr uint32_t ARRAY_BUFFER = 0x8892, PIXEL_PACK_BUFFER = 0x88EB, PIXEL_UNPACK_BUFFER = 0x88EC;
constexpr uint32_t TEXTURE_2D = 0x0DE1, TEXTURE_RECTANGLE = 0x84F5, TEXTURE_3D = 0x806F, TEXTURE_CUBE_MAP = 0x8513,
                   TEXTURE_2D_ARRAY = 0x8C1A, RENDERBUFFER = 0x8D41;
}  // namespace opengl

class OpenGlContext {
 public:
  OpenGlContext() {
    library_ = dlopen("libEGL.so.1", RTLD_NOW);
    if (!library_) return;
    const auto queryDevices = find<unsigned(int, void**, int*)>("eglQueryDevicesEXT");
    const auto getDisplay = find<void*(unsigned, void*, const intptr_t*)>("eglGetPlatformDisplayEXT");
    const auto initialize = find<unsigned(void*, int*, int*)>("eglInitialize");
    const auto createContext = find<void*(void*, void*, void*, const int*)>("eglCreateContext");
    void* devices[16] = {};
    int count = 0;
    if (!queryDevices || !getDisplay || queryDevices(16, devices, &count) == 0) return;
    find<unsigned(unsigned)>("eglBindAPI")(0x30A2);  // EGL_OPENGL_API
    for (int i = 0; i < count && !context_; ++i) {
      display_ = getDisplay(0x313F, devices[i], nullptr);  // EGL_PLATFORM_DEVICE_EXT
      if (!display_ || initialize(display_, nullptr, nullptr) == 0) continue;
      context_ = createContext(display_, nullptr, nullptr, nullptr);
    }
    if (context_) makeCurrent(true);
  }
  ~OpenGlContext() {
    if (!context_) return;
    makeCurrent(false);
    find<unsigned(void*, void*)>("eglDestroyContext")(display_, context_);
  }
  OpenGlContext(const OpenGlContext&) = delete;
  OpenGlContext& operator=(const OpenGlContext&) = delete;

  bool isThere() const { return context_ != nullptr; }
  void makeCurrent(bool isCurrent) {
    using Make = unsigned(void*, void*, void*, void*);
    EXPECT_NE(find<Make>("eglMakeCurrent")(display_, nullptr, nullptr, isCurrent ? context_ : nullptr), 0u);
  }
  // A function of EGL's or OpenGL's.
  template <class Function>
  Function* find(const char* name) const {
    if (void* const found = dlsym(library_, name)) return reinterpret_cast<Function*>(found);
    const auto findFunction = reinterpret_cast<void* (*)(const char*)>(dlsym(library_, "eglGetProcAddress"));
    return reinterpret_cast<Function*>(findFunction(name));
  }
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) const {
    find<void(Arguments...)>(name)(arguments...);
  }
  uint32_t make(const char* name) const {
    uint32_t object = 0;
    call(name, 1, &object);
    return object;
  }
  int get(uint32_t name) const {
    int value = 0;
    call("glGetIntegerv", name, &value);
    return value;
  }
  uint32_t error() const { return find<uint32_t()>("glGetError")(); }

 private:
  void *library_ = nullptr, *display_ = nullptr, *context_ = nullptr;
};

}  // namespace mulciber::test
