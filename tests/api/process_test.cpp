// Processes that fork, that end while work is under way, and that continue after an error ended their context.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
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

// UM-13: a device cannot be shared with a child that has only a copy of the memory: every call there says so.
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

// HOST-04: the process ends with work under way, while threads launch and wait. They are told so and come back; who
// ends the process still works in its exit handlers and static destructors, or is told so too. Nothing crashes or
// hangs.
enum Wrong { NotSetUp = 10, OfOtherThreads = 11, OfTheEndingThread = 12 };

CUresult launchScale(CUfunction scale, CUdeviceptr data, CUstream stream) {
  unsigned factor = 3, count = 256;
  void* parameters[] = {&data, &factor, &count};
  return cuLaunchKernel(scale, 1, 1, 1, count, 1, 1, 0, stream, parameters, nullptr);
}

std::atomic<bool> holdsUp{true};  // a stream's host function

struct AtTheEnd {
  ~AtTheEnd() {
    for (std::thread& thread : threads) thread.join();
    if (data == 0) return;
    holdsUp = false;
    unsigned seen = 0;
    for (const CUresult error : {launchScale(scale, data, nullptr), cuMemcpyDtoH(&seen, data, sizeof(seen)),
                                 cuCtxSynchronize(), cuMemFree(data)})
      endUnless(error == CUDA_SUCCESS || error == CUDA_ERROR_DEINITIALIZED, OfTheEndingThread);
    const cudaError_t last = cudaDeviceSynchronize();
    endUnless(last == cudaSuccess || last == cudaErrorCudartUnloading, OfTheEndingThread);
  }
  CUdeviceptr data = 0;
  CUfunction scale = nullptr;
  std::vector<std::thread> threads;
};
AtTheEnd madeFirst;  // before any call of CUDA: destroyed after all that was made later

template <typename Call>
std::thread callUntilTheEnd(CUcontext context, Call call) {
  return std::thread([=] {
    CUresult error = cuCtxSetCurrent(context);
    while (error == CUDA_SUCCESS) error = call();
    endUnless(error == CUDA_ERROR_DEINITIALIZED, OfOtherThreads);
  });
}

[[noreturn]] void endWhileBusy(bool inAnotherThread) {
  static AtTheEnd madeLater;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUstream heldUp = nullptr;
  CUdeviceptr data = 0;
  bool isSetUp = cuCtxGetCurrent(&context) == CUDA_SUCCESS && cuMemAlloc(&data, 1 << 20) == CUDA_SUCCESS &&
                 cuMemAlloc(&madeFirst.data, 1 << 20) == CUDA_SUCCESS &&
                 cuMemAlloc(&madeLater.data, 1 << 20) == CUDA_SUCCESS &&
                 cuModuleLoadData(&module, scalePtx) == CUDA_SUCCESS &&
                 cuModuleGetFunction(&scale, module, "scale") == CUDA_SUCCESS &&
                 cuStreamCreate(&heldUp, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
                 cuLaunchHostFunc(
                     heldUp,
                     [](void*) {
                       while (holdsUp) std::this_thread::yield();
                     },
                     nullptr) == CUDA_SUCCESS;
  madeFirst.scale = madeLater.scale = scale;
  std::atexit([] { (void)cudaFree(nullptr); });
  for (int i = 0; i < 4; ++i)
    madeLater.threads.push_back(
        callUntilTheEnd(context, [=] { return launchScale(scale, data, CU_STREAM_PER_THREAD); }));
  madeLater.threads.push_back(callUntilTheEnd(context, [=] { return cuStreamSynchronize(heldUp); }));
  madeLater.threads.push_back(callUntilTheEnd(context, [=] { return cuStreamSynchronize(CU_STREAM_LEGACY); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  endUnless(isSetUp && cuMemsetD32Async(data, 1, 1 << 18, nullptr) == CUDA_SUCCESS, NotSetUp);
  if (inAnotherThread)
    std::thread([=] {
      endUnless(cuCtxSetCurrent(context) == CUDA_SUCCESS, NotSetUp);
      std::exit(0);
    }).join();
  std::exit(0);
}

TEST_F(ProcessDeathTest, EndsWhileThreadsLaunch) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(endWhileBusy(false), testing::ExitedWithCode(0), "");
}

TEST_F(ProcessDeathTest, EndsInAnotherThreadWhileThreadsLaunch) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(endWhileBusy(true), testing::ExitedWithCode(0), "");
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

// ENV-11: the process of the test above is stopped by the trap, and ends as ever when it is resumed.
TEST_F(Process, StopsForADebuggerWhenAKernelFails) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setenv("CUDA_DEVICE_WAITS_ON_EXCEPTION", "1", 1);
    execl("/proc/self/exe", "test_api", "--gtest_filter=Process.AResetBringsTheDeviceBackAfterATrap", nullptr);
    _exit(NotSetUp);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_TRUE(WIFSTOPPED(status)) << status;
  if (!WIFSTOPPED(status)) return;
  ASSERT_EQ(kill(child, SIGCONT), 0);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace mulciber::test
