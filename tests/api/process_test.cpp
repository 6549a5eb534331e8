// Processes that fork, that end while work is under way, and that go on after an error ended their context.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

#include "api_test.h"

namespace mulciber::test {
namespace {

using Process = WithDevice;
using ProcessDeathTest = WithDevice;

constexpr const char* trapPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry stop() {
  trap;
  ret;
}
)";

// A device cannot be shared with a child that has only a copy of the memory: every call there says so.
TEST_F(Process, AForkedChildIsRefused) {
  CUdeviceptr data = 0;
  ASSERT_EQ(cuMemAlloc(&data, 4096), CUDA_SUCCESS);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    CUdeviceptr other = 0;
    void* pointer = nullptr;
    const bool refused = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuMemAlloc(&other, 4096) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuMemsetD32(data, 1, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                         cudaMalloc(&pointer, 4096) == cudaErrorInitializationError;
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cuMemsetD32(data, 1, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
}

// HOST-04: with work under way, threads that go on launching, and calls from destructors and exit handlers.
struct AtTheEnd {
  ~AtTheEnd() {
    if (data != 0) (void)cuMemFree(data);
    (void)cudaDeviceSynchronize();
  }
  CUdeviceptr data = 0;
};

[[noreturn]] void endWhileBusy() {
  static AtTheEnd object;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUdeviceptr data = 0;
  bool good = cuCtxGetCurrent(&context) == CUDA_SUCCESS && cuMemAlloc(&data, 1 << 20) == CUDA_SUCCESS &&
              cuMemAlloc(&object.data, 1 << 20) == CUDA_SUCCESS &&
              cuModuleLoadData(&module, scalePtx) == CUDA_SUCCESS &&
              cuModuleGetFunction(&scale, module, "scale") == CUDA_SUCCESS;
  std::atexit([] { (void)cudaFree(nullptr); });
  for (int i = 0; i < 4; ++i)
    std::thread([=]() mutable {
      (void)cuCtxSetCurrent(context);
      unsigned factor = 3, count = 1 << 12;
      void* parameters[] = {&data, &factor, &count};
      while (true)
        (void)cuLaunchKernel(scale, count / 256, 1, 1, 256, 1, 1, 0, CU_STREAM_PER_THREAD, parameters, nullptr);
    }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  good = good && cuMemsetD32Async(data, 1, 1 << 18, nullptr) == CUDA_SUCCESS;
  std::exit(good ? 0 : 1);
}

TEST_F(ProcessDeathTest, EndsWhileThreadsLaunch) {
  char name[256] = {};
  ASSERT_EQ(cuDeviceGetName(name, sizeof(name) - 1, device), CUDA_SUCCESS);
  if (std::string_view(name).find("llvmpipe") == std::string_view::npos)
    GTEST_SKIP() << "skipped: a process that ends so has crashed on a GPU, why is open (docs/reliability.md)";
  if (const char* layers = std::getenv("VK_INSTANCE_LAYERS"); layers && *layers)
    GTEST_SKIP() << "skipped: the validation layer has seen threads of such a process wait for ever";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int i = 0; i < 3; ++i) EXPECT_EXIT(endWhileBusy(), testing::ExitedWithCode(0), "");
}

// HOST-03, HOST-12: the error is every thread's, and goes with the context.
TEST_F(Process, AResetBringsTheDeviceBackAfterATrap) {
  CUmodule module = nullptr;
  CUfunction stop = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, trapPtx), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&stop, module, "stop"), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchKernel(stop, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  const CUresult error = cuCtxSynchronize();
  EXPECT_NE(error, CUDA_SUCCESS);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, error] {
      void* pointer = nullptr;
      CUdeviceptr data = 0;
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      EXPECT_EQ(cuMemAlloc(&data, 4096), error);
      EXPECT_EQ(static_cast<int>(cudaMalloc(&pointer, 4096)), static_cast<int>(error));
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4096), cudaSuccess);
  EXPECT_EQ(cudaMemset(pointer, 1, 4096), cudaSuccess);
  unsigned seen = 0;
  EXPECT_EQ(cudaMemcpy(&seen, pointer, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(seen, 0x01010101u);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  context = nullptr;  // reset: there is nothing to release
}

}  // namespace
}  // namespace mulciber::test
