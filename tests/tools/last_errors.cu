// A library with a static runtime, or a program with the shared one: see last_errors_test.py.
#include <cstdio>

#include <cuda.h>
#include <cuda_runtime.h>

__global__ void put(int* out, int value) { *out = value; }

// What CUB does: an error that is there already keeps it from launching.
extern "C" int putUnlessFailed(int value) {
  int *out = nullptr, result = 0;
  if (cudaMalloc(&out, sizeof(int)) != cudaSuccess) return -1;
  put<<<1, 1>>>(out, value);
  if (cudaPeekAtLastError() != cudaSuccess) return -2;
  if (cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return -3;
  cudaFree(out);
  return result;
}
extern "C" int fail() { return cudaMalloc(nullptr, 4); }
extern "C" int peek() { return cudaPeekAtLastError(); }
extern "C" int take() { return cudaGetLastError(); }

#ifdef PROGRAM
#include <dlfcn.h>

#include <thread>

namespace {

struct Runtime {
  explicit Runtime(const char* path) : library(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!library) std::puts(dlerror());
  }
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    return reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name))(arguments...);
  }
  void* library;
};

}  // namespace

int main(int, char** arguments) {
  const Runtime one(arguments[1]), two(arguments[2]);
  auto show = [&](const char* after) {
    std::printf("%s: %d %d %d\n", after, peek(), one.call("peek"), two.call("peek"));
  };
  show("at first");
  std::printf("refused: %d\n", one.call("fail"));
  show("after an error in one");
  std::thread([&] { show("in another thread"); }).join();
  std::printf("sums: %d %d %d\n", putUnlessFailed(5), one.call("putUnlessFailed", 6), two.call("putUnlessFailed", 7));
  std::printf("taken: %d %d %d\n", take(), two.call("take"), one.call("take"));
  show("after it was taken");
  fail();
  show("after an error in the program");
  take();
  CUdeviceptr memory = 0;
  std::printf("refused by the driver API: %d\n", cuMemAlloc(&memory, 0));
  show("after that");
}
#endif
