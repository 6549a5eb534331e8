// The CUDA libraries that lie beside Mulciber's own.
#pragma once

#include <cuda.h>

#include "engine/test_engine.h"

namespace mulciber::test {

void* findInCuda(const char* name, const char* library = "libcuda.so.1");

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(findInCuda(name));
}

#define CUDA(function) find<decltype(function)>(#function)

}  // namespace mulciber::test
