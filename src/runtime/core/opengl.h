// The calling thread's OpenGL context, through the libraries that the program itself has loaded.
#pragma once

#include <cstdint>

#include "runtime/core/error.h"

namespace mulciber::core {

class Device;

// OpenGL's functions, without `gl` before their names.
struct OpenGl {
#define OPENGL_FUNCTION(Result, name, parameters) Result(*name) parameters = nullptr;
#include "runtime/core/opengl_functions.def"
#undef OPENGL_FUNCTION

  int32_t integer(uint32_t name) const {
    int32_t value = 0;
    GetIntegerv(name, &value);
    return value;
  }
};

// InvalidGraphicsContext where the thread has no current one.
Error currentOpenGl(const OpenGl*& out);
// Whether the thread's current context is of that device.
bool isOnDevice(const OpenGl& gl, const Device& device);
// NotSupported where the context is of another device, or cannot import memory.
Error canShare(const OpenGl& gl, const Device& device);

}  // namespace mulciber::core
