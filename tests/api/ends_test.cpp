// What is used when it is about to go: launches from static destructors and exit handlers, libraries that are closed.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include "api_test.h"
#include "support/fat_binary.h"

namespace mulciber::test {
namespace {

using Ends = WithDevice;
using EndsDeathTest = WithDevice;

enum Wrong { NotSetUp = 10, InHandler = 11, InDestructor = 12 };

char stub = 0;

// As nvcc's code does `scale<<<1, 64>>>(data, 2, 64)`.
cudaError_t launchAsCompiled(unsigned* data) {
  if (__cudaPushCallConfiguration(dim3(1), dim3(64), 0, nullptr) != 0) return cudaErrorMissingConfiguration;
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  unsigned factor = 2, count = 64;
  void* arguments[] = {&data, &factor, &count};
  const cudaError_t error = __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
  return error != cudaSuccess
             ? error
             : cudaLaunchKernel(static_cast<const void*>(&stub), grid, block, arguments, shared, stream);
}

struct WorksAtTheEnd {
  ~WorksAtTheEnd() {
    if (!data) return;
    unsigned seen = 0;
    const cudaError_t error = launchAsCompiled(data);
    if (error == cudaErrorCudartUnloading) return;  // older than CUDA
    endUnless(error == cudaSuccess, InDestructor);
    endUnless(cudaMemcpy(&seen, data, sizeof(seen), cudaMemcpyDeviceToHost) == cudaSuccess, InDestructor);
    endUnless(seen == expected, InDestructor);
    endUnless(cudaFree(data) == cudaSuccess, InDestructor);
  }
  unsigned* data = nullptr;
  unsigned expected = 0;
};
WorksAtTheEnd madeFirst;
unsigned* dataOfHandler = nullptr;

[[noreturn]] void workAtTheEnd() {
  static FatBinary binary{scalePtx};
  static char name[] = "scale";
  void** const handle = __cudaRegisterFatBinary(&binary.wrapper);
  __cudaRegisterFunction(handle, &stub, name, "scale", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(handle);
  for (unsigned** data : {&madeFirst.data, &dataOfHandler}) {
    endUnless(cudaMalloc(data, 256) == cudaSuccess && cudaMemset(*data, 0, 256) == cudaSuccess, NotSetUp);
    endUnless(launchAsCompiled(*data) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess, NotSetUp);
  }
  madeFirst.expected = 2 * 7 + 7;
  static WorksAtTheEnd madeLater;
  endUnless(cudaMalloc(&madeLater.data, 256) == cudaSuccess && cudaMemset(madeLater.data, 0, 256) == cudaSuccess,
            NotSetUp);
  madeLater.expected = 7;
  std::atexit([] {
    unsigned seen = 0;
    endUnless(launchAsCompiled(dataOfHandler) == cudaSuccess, InHandler);
    endUnless(cudaMemcpy(&seen, dataOfHandler, sizeof(seen), cudaMemcpyDeviceToHost) == cudaSuccess, InHandler);
    endUnless(seen == 2 * 7 + 7 && cudaFree(dataOfHandler) == cudaSuccess, InHandler);
  });
  std::exit(0);
}

// Layers destroy objects of theirs before these handlers run: docs/runtime.md, "The end of the process".
bool hasLayer() {
  const char* const layers = std::getenv("VK_INSTANCE_LAYERS");
  return layers && *layers;
}

TEST_F(EndsDeathTest, HandlersAndStaticObjectsLaunch) {  // HOST-04
  if (hasLayer()) GTEST_SKIP() << "skipped: with a Vulkan layer, calls are refused as soon as the process ends";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(workAtTheEnd(), testing::ExitedWithCode(0), "");
}

// A thread that never called CUDA ends the process while others launch.
[[noreturn]] void endByAThreadWithoutCuda(CUcontext context) {
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUdeviceptr data = 0;
  endUnless(cuModuleLoadData(&module, scalePtx) == CUDA_SUCCESS &&
                cuModuleGetFunction(&scale, module, "scale") == CUDA_SUCCESS && cuMemAlloc(&data, 4096) == CUDA_SUCCESS,
            NotSetUp);
  std::vector<std::thread> threads;
  static std::atomic<unsigned> launched{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([=] {
      CUresult error = cuCtxSetCurrent(context);
      while (error == CUDA_SUCCESS) {
        unsigned factor = 1, count = 64;
        CUdeviceptr address = data;
        void* parameters[] = {&address, &factor, &count};
        error = cuLaunchKernel(scale, 1, 1, 1, count, 1, 1, 0, CU_STREAM_PER_THREAD, parameters, nullptr);
        ++launched;
      }
      endUnless(error == CUDA_ERROR_DEINITIALIZED, InHandler);
      std::this_thread::sleep_for(std::chrono::hours(1));
    });
  std::thread([] {
    while (launched < 1000) std::this_thread::yield();
    std::exit(0);
  }).join();
  _exit(NotSetUp);
}

TEST_F(EndsDeathTest, AThreadThatNeverCalledEndsTheProcess) {
  if (hasLayer()) GTEST_SKIP() << "skipped: a Vulkan layer goes before it is known that the process ends";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(endByAThreadWithoutCuda(context), testing::ExitedWithCode(0), "");
}

// What a library registered goes with it, and what its kernels were given to do is done.
TEST_F(Ends, ALibraryIsClosedWhileItsKernelsRun) {
  constexpr unsigned count = 4096, times = 50;
  const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../lib/plugin.so";
  unsigned* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, count * sizeof(unsigned)), cudaSuccess);
  for (int round = 0; round < 4; ++round) {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    using Run = int(unsigned*, unsigned, unsigned, int);
    auto* const run = reinterpret_cast<Run*>(dlsym(library, "runPlugin"));
    ASSERT_NE(run, nullptr);
    const bool isLeftBehind = round % 2 == 1;
    ASSERT_EQ(cudaMemset(data, 0, count * sizeof(unsigned)), cudaSuccess);
    EXPECT_EQ(run(data, count, times, isLeftBehind), 0);
    EXPECT_EQ(dlclose(library), 0);
    EXPECT_EQ(dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << "it is still there";
    unsigned expected = 0;
    for (unsigned i = 0; i < times; ++i) expected = expected * 2 + 7;
    std::vector<unsigned> seen(count);
    ASSERT_EQ(cudaMemcpy(seen.data(), data, count * sizeof(unsigned), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(seen, std::vector<unsigned>(count, expected));
  }
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

}  // namespace
}  // namespace mulciber::test
