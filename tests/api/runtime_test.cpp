// The runtime API as a program made by nvcc sees it: here the program registers a fat binary by hand.
#include <cuda_runtime.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "api/api_test.h"
#include "support/fat_binary.h"
#include "support/test_data.h"

extern "C" {
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream);
cudaError_t cudaEGLStreamConsumerDisconnect(void** connection);
}

namespace mulciber::test {
namespace {

TEST(RuntimeErrors, Texts) {  // HOST-13
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST(RuntimeErrors, CallConfigurationsNest) {
  dim3 grid, block;
  size_t shared = 0;
  void* stream = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(1, 2, 3), dim3(4), 5, nullptr), 0u);
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(9), dim3(8, 7), 6, nullptr), 0u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(block.y, 7u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.z, 3u);
  EXPECT_EQ(shared, 5u);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMissingConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

using Runtime = WithDevice;

TEST_F(Runtime, LastError) {  // HOST-10
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(-3), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice) << "a success does not clear it";
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Runtime, Properties) {  // HOST-05
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0), cudaSuccess);
  EXPECT_EQ(properties.maxThreadsPerBlock, value);
  EXPECT_EQ(properties.warpSize, 32);
  EXPECT_GT(std::strlen(properties.name), 0u);
  size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_LE(free, total);
  EXPECT_EQ(properties.totalGlobalMem, total);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 99), cudaErrorInvalidDevice);
  cudaGetLastError();
}

TEST_F(Runtime, MemoryAndFills) {
  char* data = nullptr;
  EXPECT_EQ(cudaMalloc(&data, 0), cudaSuccess);
  EXPECT_EQ(data, nullptr);
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&data, &pitch, 30, 4), cudaSuccess);
  EXPECT_EQ(cudaMemset2D(data, pitch, 0x5A, 30, 4), cudaSuccess);
  std::vector<char> host(30 * 4, 1);
  EXPECT_EQ(cudaMemcpy2D(host.data(), 30, data, pitch, 30, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  for (const char c : host) ASSERT_EQ(c, 0x5A);
  EXPECT_EQ(cudaMemcpy2D(host.data(), 10, data, pitch, 30, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy(host.data(), data, 1, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
  cudaPointerAttributes attributes;
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, data + 5), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.devicePointer, data + 5);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, host.data()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_EQ(cudaFree(host.data()), cudaErrorInvalidValue);
  void* pinned = nullptr;
  ASSERT_EQ(cudaHostAlloc(&pinned, 100, cudaHostAllocMapped), cudaSuccess);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  unsigned flags = 0;
  EXPECT_EQ(cudaHostGetFlags(&flags, pinned), cudaSuccess);
  EXPECT_EQ(flags & cudaHostAllocMapped, unsigned{cudaHostAllocMapped});
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  cudaGetLastError();
}

// What nvcc's generated code does, in its order.
class RegisteredProgram : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    const auto sample = dataFolder().parent_path() / "fatbin/data/balance.fatbin";
    std::ifstream stream(sample, std::ios::binary);
    if (!stream) GTEST_SKIP() << "skipped: " << sample << " is not here";
    image.assign(std::istreambuf_iterator<char>(stream), {});
    wrapper.container = image.data();
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &stub, &stub, "scale", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFunction(handle, &otherStub, &otherStub, "absent", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, &shadow, &shadow, "absentVariable", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }
  void TearDown() override {
    if (handle) __cudaUnregisterFatBinary(handle);
    cudaGetLastError();
    WithDevice::TearDown();
  }

  std::string image;
  Wrapper wrapper;
  void** handle = nullptr;
  char stub = 0, otherStub = 0, shadow = 0, unknown = 0;  // their addresses are what counts
};

TEST_F(RegisteredProgram, LaunchesBothWays) {  // HOST-19
  constexpr int count = 300;
  std::vector<float> host(count, 1.5f);
  float* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, count * sizeof(float)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(data, host.data(), count * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
  float factor = 2;
  int n = count;
  void* arguments[] = {&data, &factor, &n};
  EXPECT_EQ(cudaLaunchKernel(static_cast<const void*>(&stub), dim3(3), dim3(128), arguments, 0, nullptr), cudaSuccess);
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kernel, &stub), cudaSuccess);
  EXPECT_EQ(__cudaLaunchKernel(kernel, dim3(3), dim3(128), arguments, 0, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(host.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
  for (const float value : host) ASSERT_EQ(value, 6.0f);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  cudaFuncAttributes attributes;
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, static_cast<const void*>(&stub)), cudaSuccess);
  EXPECT_GE(attributes.maxThreadsPerBlock, 32);
}

TEST_F(RegisteredProgram, IsAFunctionOfTheDriverInGraphs) {
  cudaGraph_t graph = nullptr;
  cudaStream_t stream = nullptr;
  float* data = nullptr;
  float factor = 1;
  int n = 0;
  void* arguments[] = {&data, &factor, &n};
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(static_cast<const void*>(&stub), dim3(1), dim3(32), arguments, 0, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphNode_t node = nullptr;
  size_t nodes = 1;
  ASSERT_EQ(cudaGraphGetNodes(graph, &node, &nodes), cudaSuccess);
  CUDA_KERNEL_NODE_PARAMS params{};
  ASSERT_EQ(cuGraphKernelNodeGetParams(node, &params), CUDA_SUCCESS);
  const char* name = nullptr;
  ASSERT_NE(static_cast<const void*>(params.func), static_cast<const void*>(&stub));
  EXPECT_EQ(cuFuncGetName(&name, params.func), CUDA_SUCCESS);
  EXPECT_STREQ(name, "scale");
  EXPECT_EQ(cuGraphKernelNodeSetParams(node, &params), CUDA_SUCCESS);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(RegisteredProgram, MisuseIsNamed) {  // MEM-08
  float* data = nullptr;
  float factor = 1;
  int n = 0;
  void* arguments[] = {&data, &factor, &n};
  auto launch = [&](const void* entry, dim3 grid, dim3 block) {
    return cudaLaunchKernel(entry, grid, block, arguments, 0, nullptr);
  };
  EXPECT_EQ(launch(&unknown, dim3(1), dim3(1)), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(launch(&otherStub, dim3(1), dim3(1)), cudaErrorSymbolNotFound);
  EXPECT_EQ(launch(&stub, dim3(0), dim3(1)), cudaErrorInvalidValue);
  EXPECT_EQ(launch(&stub, dim3(1), dim3(4096)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLaunchKernel(static_cast<const void*>(&stub), dim3(1), dim3(1), arguments, 1u << 30, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(launch(&stub, dim3(0), dim3(1)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue) << "HOST-11";
  int value = 0;
  EXPECT_EQ(cudaMemcpyToSymbol(unknown, &value, 4), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(shadow, &value, 4), cudaErrorSymbolNotFound);
}

TEST_F(Runtime, MachineCodeAloneIsRefused) {  // PLAT-02
  const auto sample = dataFolder().parent_path() / "fatbin/data/machine_code_only.fatbin";
  std::ifstream stream(sample, std::ios::binary);
  if (!stream) GTEST_SKIP() << "skipped: " << sample << " is not here";
  const std::string image((std::istreambuf_iterator<char>(stream)), {});
  Wrapper wrapper;
  wrapper.container = image.data();
  char stub = 0;
  void** handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, &stub, &stub, "scale", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(handle);
  void* arguments[] = {nullptr};
  EXPECT_EQ(cudaLaunchKernel(static_cast<const void*>(&stub), dim3(1), dim3(1), arguments, 0, nullptr),
            cudaErrorNoKernelImageForDevice);
  __cudaUnregisterFatBinary(handle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
}

TEST_F(Runtime, AttributesOfLibraryKernelsAreSet) {
  cudaLibrary_t library = nullptr;
  ASSERT_EQ(cudaLibraryLoadData(&library, scalePtx, nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "scale"), cudaSuccess);
  const auto limit = cudaFuncAttributeMaxDynamicSharedMemorySize;
  EXPECT_EQ(cudaKernelSetAttributeForDevice(kernel, limit, 1024, 0), cudaSuccess);
  int value = 0;
  EXPECT_EQ(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 reinterpret_cast<CUkernel>(kernel), 0),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 1024);
  EXPECT_EQ(cudaKernelSetAttributeForDevice(kernel, limit, 1 << 30, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaKernelSetAttributeForDevice(kernel, limit, 1024, 77), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaKernelSetAttributeForDevice(nullptr, limit, 1024, 0), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
}

TEST_F(Runtime, WhatIsMissingSaysSo) {
  void* connection = nullptr;
  EXPECT_EQ(cudaEGLStreamConsumerDisconnect(&connection), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

TEST_F(Runtime, MixesWithTheDriverApi) {  // DRV-07
  CUcontext current = nullptr;
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context) << "the runtime took the driver's";
  void* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, 64), cudaSuccess);
  EXPECT_EQ(cuMemsetD8(reinterpret_cast<CUdeviceptr>(data), 9, 64), CUDA_SUCCESS);
  char byte = 0;
  EXPECT_EQ(cudaMemcpy(&byte, data, 1, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(byte, 9);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  EXPECT_EQ(cudaGetDriverEntryPoint("cuMemAlloc", &entry, cudaEnableDefault, &found), cudaSuccess);
  EXPECT_EQ(entry, reinterpret_cast<void*>(&cuMemAlloc_v2));
}

}  // namespace
}  // namespace mulciber::test
