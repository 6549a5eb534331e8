// A library with a kernel and a variable, registered as nvcc's code does it, which a program may open and close.
#include <cuda_runtime.h>

#include <cstring>

#include "support/fat_binary.h"
#include "support/scale_ptx.h"

namespace {

using mulciber::test::FatBinary;

char stub = 0;
unsigned counter = 0;

struct Registration {
  Registration() {
    handle = __cudaRegisterFatBinary(&binary.wrapper);
    static char name[] = "scale", variable[] = "counter";
    __cudaRegisterFunction(handle, &stub, name, "scale", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, reinterpret_cast<char*>(&counter), variable, "counter", 0, sizeof(counter), 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }
  ~Registration() { __cudaUnregisterFatBinary(handle); }

  FatBinary binary{mulciber::test::scalePtx};
  void** handle;
} registration;

}  // namespace

// Multiplies by two and adds 7 that often, in a stream of its own; 0 when all is right. `isLeftBehind` does not wait.
extern "C" __attribute__((visibility("default"))) int runPlugin(unsigned* data, unsigned count, unsigned times,
                                                                int isLeftBehind) {
  unsigned factor = 2;
  void* arguments[] = {&data, &factor, &count};
  for (unsigned i = 0; i < times; ++i)
    if (cudaLaunchKernel(static_cast<const void*>(&stub), dim3((count + 63) / 64), dim3(64), arguments, 0, nullptr) !=
        cudaSuccess)
      return 1;
  if (isLeftBehind) return 0;
  unsigned value = 0;
  if (cudaMemcpyFromSymbol(&value, counter, sizeof(value)) != cudaSuccess || value != 41) return 2;
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}
