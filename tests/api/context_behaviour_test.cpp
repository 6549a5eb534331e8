// Contexts, streams and events as programs use them together: counts, order, ends with work under way.
#include <atomic>
#include <chrono>
#include <latch>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include "api_test.h"
#include "held_stream.h"

extern "C" {
CUresult cuCtxAttach(CUcontext* context, unsigned int flags);
CUresult cuCtxDetach(CUcontext context);
}

namespace mulciber::test {
namespace {

using Contexts = WithDevice;

TEST_F(Contexts, HandlesAreTheSameInBothApis) {  // DRV-02, DRV-07
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  unsigned* data = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&data, 64), cudaSuccess);
  EXPECT_EQ(cuMemsetD32Async(reinterpret_cast<CUdeviceptr>(data), 5, 16, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  CUcontext owner = nullptr;
  EXPECT_EQ(cuStreamGetCtx(stream, &owner), CUDA_SUCCESS);
  EXPECT_EQ(owner, context);
  EXPECT_EQ(cuMemFree(reinterpret_cast<CUdeviceptr>(data)), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

TEST_F(Contexts, NoStreamBelongsToAPartOfADevice) {
  CUgreenCtx green = reinterpret_cast<CUgreenCtx>(1);
  EXPECT_EQ(cuStreamGetGreenCtx(nullptr, &green), CUDA_SUCCESS);
  EXPECT_EQ(green, nullptr);
  EXPECT_EQ(cuStreamGetGreenCtx(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Contexts, AreCounted) {  // DRV-05
  CUcontext made = nullptr, attached = nullptr, current = nullptr;
  ASSERT_EQ(cuCtxCreate(&made, nullptr, 0, device), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxAttach(&attached, 0), CUDA_SUCCESS);
  EXPECT_EQ(attached, made);
  EXPECT_EQ(cuCtxDetach(made), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDetach(made), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(cuCtxSetCurrent(made), CUDA_ERROR_INVALID_CONTEXT);
}

// The runtime has a reference of its own: what the driver API took and gave back leaves it the context.
TEST_F(Contexts, TheRuntimeKeepsThePrimaryContext) {  // DRV-06
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  CUcontext retained = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&retained, device), CUDA_SUCCESS);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  unsigned* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, 64), cudaSuccess);
  ASSERT_EQ(cudaMemset(data, 1, 64), cudaSuccess);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(device), CUDA_SUCCESS);
  unsigned flags = 0, seen = 0;
  int active = 0;
  EXPECT_EQ(cuDevicePrimaryCtxGetState(device, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(cudaMemcpy(&seen, data, sizeof(seen), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(seen, 0x01010101u);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cuDevicePrimaryCtxGetState(device, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  context = nullptr;  // reset
}

// What a context needs for its kernels is no program's to free, and goes with it.
TEST_F(Contexts, PrimaryContextsLeaveNothingBehind) {  // DRV-06
  constexpr const char* text = R"(.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.visible .entry takes(.param .u64 out) {
  .reg .b64 %rd<3>;
  .param .b64 n;
  .param .b64 r;
  ld.param.u64 %rd1, [out];
  st.param.b64 [n], 16;
  call (r), malloc, (n);
  ld.param.b64 %rd2, [r];
  st.global.u64 [%rd1], %rd2;
  ret;
})";
  EXPECT_EQ(cuDevicePrimaryCtxReset(device), CUDA_SUCCESS);
  size_t first = 0, now = 0, total = 0;
  for (int round = 0; round < 4; ++round) {
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    CUmodule module = nullptr;
    CUfunction takes = nullptr;
    CUdeviceptr out = 0;
    ASSERT_EQ(cuModuleLoadData(&module, text), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&takes, module, "takes"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&out, 8), CUDA_SUCCESS);
    void* arguments[] = {&out};
    EXPECT_EQ(cuLaunchKernel(takes, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
    CUdeviceptr taken = 0;
    EXPECT_EQ(cuMemcpyDtoH(&taken, out, 8), CUDA_SUCCESS);
    EXPECT_NE(taken, 0u);
    EXPECT_EQ(cuMemGetInfo(&now, &total), CUDA_SUCCESS);
    if (round == 0) first = now;
    EXPECT_GE(now + (1 << 20), first) << round;
    EXPECT_EQ(cuDevicePrimaryCtxRelease(device), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  }
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
}

// A context that no thread has current is still there, whoever made it.
TEST_F(Contexts, APoppedContextCanBePushed) {  // DRV-04, DRV-07
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  std::thread([] {
    CUcontext popped = nullptr, current = nullptr;
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    ASSERT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxPushCurrent(popped), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, popped);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
}

TEST_F(Contexts, MemoryRunsOutAndTheProgramGoesOn) {
  void* huge = nullptr;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(cudaMalloc(&huge, size_t{1} << 46), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    unsigned *data = nullptr, seen = 0;
    ASSERT_EQ(cudaMalloc(&data, 1 << 20), cudaSuccess);
    ASSERT_EQ(cudaMemset(data, 3, 1 << 20), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(&seen, data + 1000, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(seen, 0x03030303u);
    EXPECT_EQ(cudaFree(data), cudaSuccess);
  }
}

// Threads that wait for what will never come are let go when another resets the device, with an error or without.
TEST_F(Contexts, AResetEndsWaits) {  // HOST-03
  unsigned* word = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaMallocHost(&word, 64), cudaSuccess);
  *word = 0;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  std::atomic<int> waiting{0};
  std::vector<std::thread> threads;
  const auto wait = [&](auto call) {
    threads.emplace_back([&waiting, this, call] {
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      ++waiting;
      (void)call();
    });
  };
  wait([=] { return cudaStreamSynchronize(stream); });
  wait([=] { return cudaEventSynchronize(event); });
  wait([=] { return cudaStreamSynchronize(cudaStreamLegacy); });
  wait([] { return cudaDeviceSynchronize(); });
  while (waiting < 4) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  for (std::thread& thread : threads) thread.join();
  unsigned *data = nullptr, seen = 0;
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&data, 64), cudaSuccess);
  EXPECT_EQ(cudaMemset(data, 1, 64), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&seen, data, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(seen, 0x01010101u);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  context = nullptr;  // reset
}

// Other threads keep calling while one resets: each call gives an answer, and what they do afterwards works.
TEST_F(Contexts, ThreadsCallWhileOneResets) {
  constexpr int count = 4;
  std::atomic<bool> goOn{true};
  std::latch haveEnded{count};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&] {
      while (goOn) {
        void* data = nullptr;
        if (cudaMalloc(&data, 4096) != cudaSuccess) continue;
        (void)cudaMemsetAsync(data, 1, 4096, cudaStreamPerThread);
        (void)cudaStreamSynchronize(cudaStreamPerThread);
        (void)cudaFree(data);
      }
      // A thread that frees what a reset has freed may name memory that another one has got since.
      haveEnded.arrive_and_wait();
      (void)cudaGetLastError();
      void* data = nullptr;
      EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
      EXPECT_EQ(cudaMalloc(&data, 4096), cudaSuccess);
      EXPECT_EQ(cudaMemset(data, 1, 4096), cudaSuccess);
      EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
      EXPECT_EQ(cudaFree(data), cudaSuccess);
    });
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  }
  goOn = false;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  context = nullptr;  // reset
}

using Streams = WithDevice;

// An event of the legacy stream comes after the work of all blocking streams, and their later work after it.
TEST_F(Streams, EventsOfTheLegacyStreamComeAfterAll) {  // EVT-02, STR-04
  cudaEvent_t event = nullptr;
  cudaStream_t blocking = nullptr, free = nullptr;
  void* data = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&data, 64), cudaSuccess);
  HeldStream held;
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaMemsetAsync(data, 1, 64, blocking), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(blocking), cudaErrorNotReady) << "after the legacy stream's";
  EXPECT_EQ(cudaMemsetAsync(data, 1, 64, free), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(free), cudaSuccess) << "not ordered with it";
  held.letGo();
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(blocking), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(free), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

TEST_F(Streams, EventsWithoutTimingHaveNoTime) {  // EVT-05, EVT-03
  cudaEvent_t untimed = nullptr, timed = nullptr, refused = nullptr;
  float milliseconds = 0;
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&timed), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(untimed), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(timed), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, untimed, timed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventCreateWithFlags(&refused, cudaEventInterprocess), cudaErrorInvalidValue) << "needs no timing";
  EXPECT_EQ(cudaEventDestroy(untimed), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(timed), cudaSuccess);
  (void)cudaGetLastError();
}

// Work of one stream is in order whoever gave it, and whatever other streams do.
TEST_F(Streams, AreInOrderWhoeverGivesTheWork) {  // STR-01
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  unsigned* data = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, scalePtx), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&data, 256), cudaSuccess);
  ASSERT_EQ(cudaMemset(data, 0, 256), cudaSuccess);
  unsigned expected = 0;
  for (unsigned turn = 0; turn < 40; ++turn) {
    std::thread([&] {
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      auto address = reinterpret_cast<CUdeviceptr>(data);
      unsigned factor = turn % 5 + 1, count = 64;
      void* parameters[] = {&address, &factor, &count};
      EXPECT_EQ(cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr), CUDA_SUCCESS);
    }).join();
    expected = expected * (turn % 5 + 1) + 7;
  }
  std::vector<unsigned> seen(64);
  EXPECT_EQ(cudaMemcpyAsync(seen.data(), data, 256, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen, std::vector<unsigned>(64, expected));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(Streams, ALaunchIsTheCurrentDevices) {  // STR-12, PLAT-10
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, scalePtx), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
  CUcontext other = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr data = 0;
  ASSERT_EQ(cuCtxCreate(&other, nullptr, 0, device), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&data, 256), CUDA_SUCCESS);
  unsigned factor = 1, count = 64;
  void* parameters[] = {&data, &factor, &count};
  EXPECT_EQ(cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemsetD8Async(data, 1, 256, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

// STR-10: host functions may not call CUDA, and are not called behind a kernel that failed.
TEST_F(Streams, HostFunctionsCallNothing) {
  static cudaError_t told[3];
  EXPECT_EQ(cudaLaunchHostFunc(
                nullptr,
                [](void*) {
                  void* memory = nullptr;
                  told[0] = cudaMalloc(&memory, 64);
                  told[1] = cudaStreamSynchronize(nullptr);
                  told[2] = cudaGetLastError();
                },
                nullptr),
            cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (const cudaError_t error : told) EXPECT_EQ(error, cudaErrorNotPermitted);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);

  CUmodule module = nullptr;
  CUfunction stop = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n.address_size 64\n.entry stop() { trap; ret; }\n"),
            CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&stop, module, "stop"), CUDA_SUCCESS);
  static bool isCalled;
  isCalled = false;
  ASSERT_EQ(cuLaunchKernel(stop, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  (void)cudaLaunchHostFunc(
      nullptr, [](void*) { isCalled = true; }, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_FALSE(isCalled);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  (void)cudaGetLastError();
  context = nullptr;  // reset
}

}  // namespace
}  // namespace mulciber::test
