// Several devices in one process. two_devices.py runs these with a CPU driver that the loader finds twice.
#include <cuda_runtime_api.h>

#include <atomic>
#include <thread>
#include <vector>

#include "api_test.h"

namespace mulciber::test {
namespace {

class TwoDevices : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (IsSkipped()) return;
    int count = 0;
    ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
    if (count < 2) GTEST_SKIP() << "skipped: there is one device";
  }
  void TearDown() override {
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    WithDevice::TearDown();
  }
  static int* allocate(int device, size_t count) {
    void* memory = nullptr;
    EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&memory, count * sizeof(int)), cudaSuccess);
    return static_cast<int*>(memory);
  }
};

TEST_F(TwoDevices, CopiesAndEventsCross) {  // MDEV-01, MDEV-03, STR-08, EVT-04
  std::vector<int> sent(1'500'000), received(sent.size());
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<int>(i);
  const size_t bytes = sent.size() * sizeof(int);
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  int* const here = allocate(0, sent.size());
  ASSERT_EQ(cudaStreamCreate(&first), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(here, sent.data(), bytes, cudaMemcpyHostToDevice, first), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
  int* const there = allocate(1, sent.size());
  ASSERT_NE(here, there);
  ASSERT_EQ(cudaStreamCreate(&second), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, second), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpyPeerAsync(there, 1, here, 0, bytes, second), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(received.data(), there, bytes, cudaMemcpyDeviceToHost, second), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(received, sent);
  // Streams and events of the other device are used as they are.
  EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, here), cudaSuccess);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, there), cudaSuccess);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(cudaFree(here), cudaSuccess);
  EXPECT_EQ(cudaFree(there), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(first), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(second), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(TwoDevices, EachRunsKernelsOfItsOwn) {  // CS-020, CS-021
  CUmodule modules[2] = {};
  CUfunction scale[2] = {};
  CUstream streams[2] = {};
  CUdeviceptr data[2] = {};
  unsigned factor = 3, count = 64;
  for (int i = 0; i < 2; ++i) {
    data[i] = reinterpret_cast<CUdeviceptr>(allocate(i, count));
    ASSERT_EQ(cuStreamCreate(&streams[i], CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&modules[i], scalePtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&scale[i], modules[i], "scale"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32(data[i], static_cast<unsigned>(i + 1), count), CUDA_SUCCESS);
    void* parameters[] = {&data[i], &factor, &count};
    ASSERT_EQ(cuLaunchKernel(scale[i], 1, 1, 1, count, 1, 1, 0, streams[i], parameters, nullptr), CUDA_SUCCESS);
    if (i == 0) continue;
    EXPECT_EQ(cuLaunchKernel(scale[1], 1, 1, 1, count, 1, 1, 0, streams[0], parameters, nullptr),
              CUDA_ERROR_INVALID_HANDLE)
        << "into a stream of another device";
  }
  for (int i = 0; i < 2; ++i) {
    unsigned seen = 0;
    ASSERT_EQ(cudaSetDevice(i), cudaSuccess);
    EXPECT_EQ(cuStreamSynchronize(streams[i]), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(&seen, data[i], sizeof(seen)), CUDA_SUCCESS);
    EXPECT_EQ(seen, static_cast<unsigned>(i + 1) * 3 + 7);
    EXPECT_EQ(cuModuleUnload(modules[i]), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(streams[i]), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(data[i]), CUDA_SUCCESS);
  }
}

// It has no node of either device, and still runs once at a time.
TEST_F(TwoDevices, AGraphOfHostFunctionsRunsOnBoth) {
  constexpr size_t count = 8 << 20;
  std::atomic<int> calls{0};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  const cudaHostNodeParams host{[](void* data) { ++*static_cast<std::atomic<int>*>(data); }, &calls};
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  cudaStream_t streams[2] = {};
  for (int i = 0; i < 2; ++i) {
    int* const memory = allocate(i, count);
    ASSERT_EQ(cudaStreamCreate(&streams[i]), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(executable, streams[i]), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(memory, i, count * sizeof(int), streams[i]), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(executable, streams[i]), cudaSuccess);
    while (calls < 2 * i + 1) std::this_thread::yield();
    EXPECT_EQ(cudaFreeAsync(memory, streams[i]), cudaSuccess);
  }
  for (const cudaStream_t stream : streams) EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(calls, 4);
  for (const cudaStream_t stream : streams) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(TwoDevices, AResetLeavesTheOtherAlone) {  // HOST-03
  int* const here = allocate(0, 1000);
  int* const there = allocate(1, 1000);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaMemset(here, 7, 4), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaFree(there), cudaErrorInvalidValue);
  (void)cudaGetLastError();
  int seen = 0;
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&seen, here, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(seen, 0x07070707);
  EXPECT_EQ(cudaFree(here), cudaSuccess);
}

TEST_F(TwoDevices, NeitherReachesTheOthersMemory) {  // MDEV-02, MDEV-05, UM-14
  int can = 5;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessUnsupported);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
}

}  // namespace
}  // namespace mulciber::test
