// What programs may rely on outside kernels: initialisation, threads, properties, what waits and what does not.
#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include "api_test.h"
#include "held_stream.h"
#include "support/test_data.h"

namespace mulciber::test {
namespace {

using Host = WithDevice;
using HostDeathTest = WithDevice;

int runtimeAttribute(int which) {
  int value = -1;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(which), 0), cudaSuccess) << which;
  return value;
}

// A process in which nothing has been called: asking about devices makes no context (HOST-01).
[[noreturn]] void askAndUse() {
  unsigned flags = 0;
  int active = 7, count = 0, version = 0;
  cudaDeviceProp properties;
  const bool asked = cudaGetDeviceCount(&count) == cudaSuccess && cudaDriverGetVersion(&version) == cudaSuccess &&
                     cudaGetDeviceProperties(&properties, 0) == cudaSuccess &&
                     cudaDeviceGetAttribute(&version, cudaDevAttrWarpSize, 0) == cudaSuccess &&
                     cudaGetLastError() == cudaSuccess && cuInit(0) == CUDA_SUCCESS &&
                     cuDevicePrimaryCtxGetState(0, &flags, &active) == CUDA_SUCCESS;
  if (!asked || active != 0) _exit(1);
  void* memory = nullptr;
  const bool used = cudaMalloc(&memory, 64) == cudaSuccess &&
                    cuDevicePrimaryCtxGetState(0, &flags, &active) == CUDA_SUCCESS && active == 1;
  _exit(used ? 0 : 2);
}
TEST(HostFirstCallDeathTest, AskingMakesNoContext) {
  int count = 0;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS) GTEST_SKIP() << "skipped: no device";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(askAndUse(), testing::ExitedWithCode(0), "");
}

TEST_F(Host, HandlesBelongToAllThreads) {  // HOST-02, STR-16
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  unsigned* data = nullptr;
  std::thread([&] {
    EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&data, 64), cudaSuccess);
  }).join();
  std::thread([&] {
    EXPECT_EQ(cudaMemsetAsync(data, 5, 64, stream), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  }).join();
  unsigned seen = 0;
  cudaStream_t other = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(&seen, data, sizeof(seen), cudaMemcpyDeviceToHost, other), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(seen, 0x05050505u);
  std::thread([&] {
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
    EXPECT_EQ(cudaFree(data), cudaSuccess);
  }).join();
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
}

TEST_F(Host, PropertiesAreTheAttributes) {  // HOST-05, HOST-06, CC-02, PLAT-05
  cudaDeviceProp p;
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  const auto same = [&](const char* name, auto field, cudaDeviceAttr which) {
    EXPECT_EQ(static_cast<long long>(field), static_cast<long long>(runtimeAttribute(which))) << name;
  };
#define SAME(field, which) same(#field, p.field, which)
  SAME(sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock);
  SAME(regsPerBlock, cudaDevAttrMaxRegistersPerBlock);
  SAME(warpSize, cudaDevAttrWarpSize);
  SAME(memPitch, cudaDevAttrMaxPitch);
  SAME(maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock);
  SAME(maxThreadsDim[0], cudaDevAttrMaxBlockDimX);
  SAME(maxThreadsDim[1], cudaDevAttrMaxBlockDimY);
  SAME(maxThreadsDim[2], cudaDevAttrMaxBlockDimZ);
  SAME(maxGridSize[0], cudaDevAttrMaxGridDimX);
  SAME(maxGridSize[1], cudaDevAttrMaxGridDimY);
  SAME(maxGridSize[2], cudaDevAttrMaxGridDimZ);
  SAME(totalConstMem, cudaDevAttrTotalConstantMemory);
  SAME(major, cudaDevAttrComputeCapabilityMajor);
  SAME(minor, cudaDevAttrComputeCapabilityMinor);
  SAME(multiProcessorCount, cudaDevAttrMultiProcessorCount);
  SAME(integrated, cudaDevAttrIntegrated);
  SAME(canMapHostMemory, cudaDevAttrCanMapHostMemory);
  SAME(concurrentKernels, cudaDevAttrConcurrentKernels);
  SAME(ECCEnabled, cudaDevAttrEccEnabled);
  SAME(pciBusID, cudaDevAttrPciBusId);
  SAME(pciDeviceID, cudaDevAttrPciDeviceId);
  SAME(asyncEngineCount, cudaDevAttrAsyncEngineCount);
  SAME(unifiedAddressing, cudaDevAttrUnifiedAddressing);
  SAME(memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth);
  SAME(l2CacheSize, cudaDevAttrL2CacheSize);
  SAME(persistingL2CacheMaxSize, cudaDevAttrMaxPersistingL2CacheSize);
  SAME(maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor);
  SAME(streamPrioritiesSupported, cudaDevAttrStreamPrioritiesSupported);
  SAME(sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  SAME(regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor);
  SAME(managedMemory, cudaDevAttrManagedMemory);
  SAME(isMultiGpuBoard, cudaDevAttrIsMultiGpuBoard);
  SAME(hostNativeAtomicSupported, cudaDevAttrHostNativeAtomicSupported);
  SAME(pageableMemoryAccess, cudaDevAttrPageableMemoryAccess);
  SAME(concurrentManagedAccess, cudaDevAttrConcurrentManagedAccess);
  SAME(computePreemptionSupported, cudaDevAttrComputePreemptionSupported);
  SAME(canUseHostPointerForRegisteredMem, cudaDevAttrCanUseHostPointerForRegisteredMem);
  SAME(cooperativeLaunch, cudaDevAttrCooperativeLaunch);
  SAME(sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  SAME(pageableMemoryAccessUsesHostPageTables, cudaDevAttrPageableMemoryAccessUsesHostPageTables);
  SAME(directManagedMemAccessFromHost, cudaDevAttrDirectManagedMemAccessFromHost);
  SAME(maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor);
  SAME(accessPolicyMaxWindowSize, cudaDevAttrMaxAccessPolicyWindowSize);
  SAME(reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock);
  SAME(hostRegisterSupported, cudaDevAttrHostRegisterSupported);
  SAME(memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported);
#undef SAME
  EXPECT_EQ(p.warpSize, 32);
  EXPECT_EQ(runtimeAttribute(cudaDevAttrComputeMode), cudaComputeModeDefault);
  EXPECT_EQ(p.maxGridSize[0], INT32_MAX);
  EXPECT_EQ(p.maxGridSize[1], 65535);
  EXPECT_EQ(p.maxThreadsPerMultiProcessor % p.warpSize, 0);
}

TEST_F(Host, TheDeviceIsTheThreads) {  // HOST-07, HOST-08
  int current = -1;
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  std::thread([] {
    int own = -1;
    EXPECT_EQ(cudaGetDevice(&own), cudaSuccess);
    EXPECT_EQ(own, 0);
    EXPECT_EQ(cudaSetDevice(12345), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetDevice(&own), cudaSuccess);
    EXPECT_EQ(own, 0) << "what failed changed nothing";
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  }).join();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "errors are the thread's";
  int list[] = {0};
  EXPECT_EQ(cudaSetValidDevices(list, 1), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0);
  cudaDeviceProp wanted;
  ASSERT_EQ(cudaGetDeviceProperties(&wanted, 0), cudaSuccess);
  EXPECT_EQ(cudaChooseDevice(&current, &wanted), cudaSuccess);
  EXPECT_EQ(current, 0);
}

// Every way of waiting ends.
TEST_F(Host, EveryWayOfWaitingEnds) {  // HOST-09, EVT-05
  for (const unsigned flags :
       {cudaDeviceScheduleAuto, cudaDeviceScheduleSpin, cudaDeviceScheduleYield, cudaDeviceScheduleBlockingSync}) {
    ASSERT_EQ(cudaSetDeviceFlags(flags), cudaSuccess);
    unsigned told = 0;
    EXPECT_EQ(cudaGetDeviceFlags(&told), cudaSuccess);
    EXPECT_EQ(told & cudaDeviceScheduleMask, flags);
    for (const unsigned eventFlags : {cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming,
                                      cudaEventBlockingSync | cudaEventDisableTiming}) {
      cudaEvent_t event = nullptr;
      void* data = nullptr;
      ASSERT_EQ(cudaEventCreateWithFlags(&event, eventFlags), cudaSuccess);
      ASSERT_EQ(cudaMalloc(&data, 1 << 20), cudaSuccess);
      EXPECT_EQ(cudaMemsetAsync(data, 1, 1 << 20, nullptr), cudaSuccess);
      EXPECT_EQ(cudaEventRecord(event, nullptr), cudaSuccess);
      EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
      EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      EXPECT_EQ(cudaFree(data), cudaSuccess);
      EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
    }
  }
  EXPECT_EQ(cudaSetDeviceFlags(cudaDeviceScheduleAuto), cudaSuccess);
}

TEST_F(Host, LimitsAreKept) {  // HOST-14, DRV-21, L2-01, L2-04
  for (const cudaLimit limit : {cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize}) {
    size_t before = 0, after = 0, told = 0;
    ASSERT_EQ(cudaDeviceGetLimit(&before, limit), cudaSuccess);
    ASSERT_EQ(cudaDeviceSetLimit(limit, before * 2), cudaSuccess);
    EXPECT_EQ(cudaDeviceGetLimit(&after, limit), cudaSuccess);
    EXPECT_EQ(after, before * 2);
    EXPECT_EQ(cuCtxGetLimit(&told, static_cast<CUlimit>(limit)), CUDA_SUCCESS);
    EXPECT_EQ(told, after);
    EXPECT_EQ(cudaDeviceSetLimit(limit, before), cudaSuccess);
  }
  size_t value = 0;
  EXPECT_EQ(cudaDeviceGetLimit(&value, cudaLimitPersistingL2CacheSize), cudaSuccess);
  EXPECT_EQ(cudaCtxResetPersistingL2Cache(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSetLimit(static_cast<cudaLimit>(77), 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

// While a stream is held up: what only asks it to work returns, and what it was given is what it gets.
TEST_F(Host, GivingWorkDoesNotWait) {  // HOST-15, HOST-16, STR-07, STR-13
  constexpr size_t bytes = 64 << 10;
  char *data = nullptr, *other = nullptr;
  ASSERT_EQ(cudaMalloc(&data, bytes), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&other, bytes), cudaSuccess);
  ASSERT_EQ(cudaMemset(other, 9, bytes), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<char> source(bytes, 1), seen(bytes);
  {
    HeldStream held;
    EXPECT_EQ(cudaStreamQuery(held.stream), cudaErrorNotReady);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "not ready is no error";
    EXPECT_EQ(cudaMemcpyAsync(data, source.data(), 1000, cudaMemcpyHostToDevice, held.stream), cudaSuccess);
    std::fill_n(source.begin(), 1000, char{2});  // it has been read
    EXPECT_EQ(cudaMemsetAsync(data + 1000, 3, 1000, held.stream), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(data + 2000, other, 1000, cudaMemcpyDeviceToDevice, held.stream), cudaSuccess);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(cudaMemsetAsync(data + 3000, i, 1, held.stream), cudaSuccess);
    // In the legacy stream, which comes after the held one, copies within the device and fills wait no more.
    EXPECT_EQ(cudaMemset(data + 4000, 4, 1000), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data + 5000, other, 1000, cudaMemcpyDeviceToDevice), cudaSuccess);
    EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
    held.letGo();
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  }
  ASSERT_EQ(cudaMemcpy(seen.data(), data, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(std::count(seen.begin(), seen.begin() + 1000, 1), 1000);
  EXPECT_EQ(std::count(seen.begin() + 1000, seen.begin() + 2000, 3), 1000);
  EXPECT_EQ(std::count(seen.begin() + 2000, seen.begin() + 3000, 9), 1000);
  EXPECT_EQ(static_cast<unsigned char>(seen[3000]), 1999 % 256);
  EXPECT_EQ(std::count(seen.begin() + 4000, seen.begin() + 5000, 4), 1000);
  EXPECT_EQ(std::count(seen.begin() + 5000, seen.begin() + 6000, 9), 1000);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_EQ(cudaFree(other), cudaSuccess);
}

// What occupancy proposes can be launched.
TEST_F(Host, OccupancyProposesWhatCanBeLaunched) {  // HOST-22
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUdeviceptr data = 0;
  ASSERT_EQ(cuModuleLoadData(&module, scalePtx), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&data, 4096), CUDA_SUCCESS);
  for (const int limit : {0, 100, 33, 1}) {
    int blocks = 0, threads = 0, active = 0;
    ASSERT_EQ(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, scale, nullptr, 0, limit), CUDA_SUCCESS);
    EXPECT_GE(blocks, 1);
    EXPECT_GE(threads, 1);
    EXPECT_LE(threads, limit ? limit : runtimeAttribute(cudaDevAttrMaxThreadsPerBlock));
    ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&active, scale, threads, 0), CUDA_SUCCESS);
    EXPECT_GE(active, 1);
    EXPECT_LE(active * threads, runtimeAttribute(cudaDevAttrMaxThreadsPerMultiProcessor));
    unsigned factor = 1, count = 64;
    void* parameters[] = {&data, &factor, &count};
    EXPECT_EQ(cuLaunchKernel(scale, static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(threads), 1, 1, 0,
                             nullptr, parameters, nullptr),
              CUDA_SUCCESS);
  }
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

// Programs tell all kernels of a module how much dynamic shared memory they may have, and launch some.
TEST_F(Host, SharedMemoryIsGrantedWithoutATranslation) {
  const char* const text = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry refused() .reqnctapercluster 2
{
  .reg .b32 %r;
  mov.u32 %r, %cluster_ctarank;
  ret;
})";
  CUmodule module = nullptr;
  CUfunction refused = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, text), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&refused, module, "refused"), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncSetAttribute(refused, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncSetAttribute(refused, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1), CUDA_ERROR_INVALID_VALUE);
  int value = -1;
  EXPECT_NE(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, refused), CUDA_SUCCESS);
  EXPECT_NE(cuLaunchKernel(refused, 2, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

// A cluster of one block is a block. Larger ones are not placed, and launching them is refused.
TEST_F(Host, NoClusterOfSeveralBlocksIsActive) {
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, scalePtx), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 2), CUDA_SUCCESS);
  int allowed = 0;
  EXPECT_EQ(cuFuncGetAttribute(&allowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, scale), CUDA_SUCCESS);
  EXPECT_EQ(allowed, 1);
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {1, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 16;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 64;
  config.blockDimY = config.blockDimZ = 1;
  int alone = -1, one = 0, two = -1, blocks = 0;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&alone, scale, &config), CUDA_SUCCESS);
  EXPECT_EQ(alone, 0) << "no cluster is asked for";
  config.attrs = &cluster;
  config.numAttrs = 1;
  for (const unsigned threads : {32u, 64u, 256u, 1024u}) {
    config.blockDimX = threads;
    EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, static_cast<int>(threads), 0), CUDA_SUCCESS);
    EXPECT_EQ(cuOccupancyMaxActiveClusters(&one, scale, &config), CUDA_SUCCESS);
    EXPECT_EQ(one, std::min(blocks, 8) * runtimeAttribute(cudaDevAttrMultiProcessorCount));
  }
  int size = 0;
  EXPECT_EQ(cuOccupancyMaxPotentialClusterSize(&size, scale, &config), CUDA_SUCCESS);
  EXPECT_EQ(size, 1) << "clusters of several blocks cannot be launched";
  cluster.value.clusterDim = {2, 1, 1};
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&two, scale, &config), CUDA_SUCCESS);
  EXPECT_EQ(two, 0);
  cluster.value.clusterDim = {2, 0, 1};
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&two, scale, &config), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  config.blockDimX = 0;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&two, scale, &config), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  cluster.value.clusterDim = {1, 1, 1};
  config.attrs = nullptr;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&one, scale, &config), CUDA_ERROR_INVALID_VALUE);
  config.attrs = &cluster;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&one, scale, &config), CUDA_ERROR_INVALID_VALUE) << "no threads";
  config.blockDimX = 2048;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&one, scale, &config), CUDA_SUCCESS);
  EXPECT_EQ(one, 0) << "more threads than a block has";
  EXPECT_EQ(cuOccupancyMaxPotentialClusterSize(&size, scale, &config), CUDA_SUCCESS);
  EXPECT_EQ(size, 0);
  EXPECT_EQ(cuOccupancyMaxPotentialClusterSize(nullptr, scale, &config), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuOccupancyMaxActiveClusters(nullptr, scale, &config), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(Host, VersionsAgree) {  // HOST-23
  int driver = 0, runtime = 0, again = 0;
  EXPECT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
  EXPECT_EQ(cudaRuntimeGetVersion(&runtime), cudaSuccess);
  EXPECT_EQ(cuDriverGetVersion(&again), CUDA_SUCCESS);
  EXPECT_EQ(driver, again);
  EXPECT_GT(driver, runtime) << "programs whose compiler is newer than the driver give it no PTX";
  EXPECT_EQ(runtime, CUDART_VERSION);
}

TEST_F(Host, PreferencesAreAccepted) {  // HOST-21, L2-02
  EXPECT_EQ(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared), cudaSuccess);
  EXPECT_EQ(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone), cudaSuccess);
  EXPECT_EQ(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte), cudaSuccess);
  void* data = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaMalloc(&data, 4096), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  cudaStreamAttrValue window{}, told{};
  window.accessPolicyWindow = {data, 0, 0.5f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
  EXPECT_EQ(cudaStreamSetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &window), cudaSuccess);
  EXPECT_EQ(cudaStreamGetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &told), cudaSuccess);
  EXPECT_EQ(told.accessPolicyWindow.hitProp, cudaAccessPropertyPersisting);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

// Every exported function that docs/api-coverage.md says is not implemented answers so, and writes nothing: arrays and
// textures (MEM-09, DRV-14, DRV-18, DRV-19), nodes of graphs (L2-03), handles of other processes (MDEV-07, MDEV-08,
// VMM-06), ...
TEST_F(Host, WhatIsNotThereIsRefused) {
  std::ifstream file(dataFolder().parent_path().parent_path() / "docs/api-coverage.md");
  if (!file) GTEST_SKIP() << "skipped: the list of what is implemented is not here";
  std::string library, line;
  bool isMissing = false;
  unsigned asked = 0;
  while (std::getline(file, line)) {
    if (line.rfind("## ", 0) == 0) {
      library = line.substr(3);
      isMissing = false;
    }
    if (line.rfind("### ", 0) == 0) isMissing = line == "### Not implemented";
    const bool isRuntime = library == "libcudart.so.13";
    if (!isMissing || (!isRuntime && library != "libcuda.so.1")) continue;
    static const std::regex name("`(\\w+)`");
    for (std::sregex_iterator found(line.begin(), line.end(), name), end; found != end; ++found) {
      const std::string function = (*found)[1];
      void* const entry = dlsym(RTLD_DEFAULT, function.c_str());
      ASSERT_NE(entry, nullptr) << function;
      uint64_t slots[8];
      std::memset(slots, 0xAB, sizeof(slots));
      using Any = int(void*, void*, void*, void*, void*, void*, void*, void*);
      const int error = reinterpret_cast<Any*>(entry)(&slots[0], &slots[1], &slots[2], &slots[3], &slots[4], &slots[5],
                                                      &slots[6], &slots[7]);
      EXPECT_EQ(error, static_cast<int>(cudaErrorNotSupported)) << function;
      for (const uint64_t slot : slots) EXPECT_EQ(slot, 0xABABABABABABABABu) << function;
      EXPECT_EQ(cudaGetLastError(), isRuntime ? cudaErrorNotSupported : cudaSuccess) << function;
      ++asked;
    }
  }
  EXPECT_GT(asked, 150u);
}

// ENV-08, STR-15: every launch and everything before it is done when the call returns.
[[noreturn]] void launchAndLook() {
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUdeviceptr data = 0;
  CUstream stream = nullptr;
  bool isRight = cuInit(0) == CUDA_SUCCESS && cudaFree(nullptr) == cudaSuccess &&
                 cuModuleLoadData(&module, scalePtx) == CUDA_SUCCESS &&
                 cuModuleGetFunction(&scale, module, "scale") == CUDA_SUCCESS &&
                 cuMemAlloc(&data, 4 << 20) == CUDA_SUCCESS && cuStreamCreate(&stream, 0) == CUDA_SUCCESS;
  for (int i = 0; i < 20 && isRight; ++i) {
    unsigned factor = 3, count = 1 << 20;
    void* parameters[] = {&data, &factor, &count};
    isRight = cuLaunchKernel(scale, count / 256, 1, 1, 256, 1, 1, 0, stream, parameters, nullptr) == CUDA_SUCCESS &&
              cuStreamQuery(stream) == CUDA_SUCCESS;
  }
  _exit(isRight ? 0 : 1);
}
TEST_F(HostDeathTest, LaunchesBlockWhereTheEnvironmentSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  EXPECT_EXIT(launchAndLook(), testing::ExitedWithCode(0), "");
  unsetenv("CUDA_LAUNCH_BLOCKING");
}

// ENV-04 to ENV-06, PLAT-04: where CUDA's variables say, and nowhere when they say so.
[[noreturn]] void loadAKernel() {
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUdeviceptr data = 0;
  unsigned factor = 3, count = 1;
  void* parameters[] = {&data, &factor, &count};
  _exit(cuInit(0) == CUDA_SUCCESS && cudaFree(nullptr) == cudaSuccess &&
                cuModuleLoadData(&module, scalePtx) == CUDA_SUCCESS &&
                cuModuleGetFunction(&scale, module, "scale") == CUDA_SUCCESS &&
                cuMemAlloc(&data, 4096) == CUDA_SUCCESS &&
                cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_SUCCESS &&
                cuCtxSynchronize() == CUDA_SUCCESS
            ? 0
            : 1);
}
TEST_F(HostDeathTest, TheCacheIsWhereTheEnvironmentSays) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  namespace fs = std::filesystem;
  // A test that runs in a process of its own comes here once more, and keeps what the first one set.
  const char* const outer = std::getenv("CUDA_CACHE_PATH");
  const fs::path folder =
      outer ? fs::path(outer) : fs::temp_directory_path() / ("cache_of_" + std::to_string(getpid()));
  unsetenv("MULCIBER_CACHE_DIR");  // comes first where it is set
  setenv("CUDA_CACHE_PATH", folder.c_str(), 1);
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  EXPECT_EXIT(loadAKernel(), testing::ExitedWithCode(0), "");
  EXPECT_FALSE(fs::exists(folder));
  unsetenv("CUDA_CACHE_DISABLE");
  setenv("CUDA_CACHE_MAXSIZE", "1000000", 1);
  EXPECT_EXIT(loadAKernel(), testing::ExitedWithCode(0), "");
  EXPECT_TRUE(fs::exists(folder / "mulciber/kernels") && !fs::is_empty(folder / "mulciber/kernels"));
  for (const char* name : {"CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE"}) unsetenv(name);
  fs::remove_all(folder);
}

// ENV-01, ENV-02: what is left of one device, as NVIDIA's libraries answered on an H200.
[[noreturn]] void countDevices() {
  int count = 0;
  const CUresult error = cuInit(0);
  if (error == CUDA_SUCCESS) (void)cuDeviceGetCount(&count);
  _exit(error == CUDA_SUCCESS ? count : static_cast<int>(error));
}
// No fixture: in the processes it starts there may be no device.
TEST(HostEnvironmentDeathTest, ChoosesDevices) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  int count = 1;
  std::string uuid = "GPU-0";
  if (!std::getenv("CUDA_VISIBLE_DEVICES") && !std::getenv("CUDA_DEVICE_ORDER")) {
    CUuuid bytes;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS ||
        cuDeviceGetUuid(&bytes, 0) != CUDA_SUCCESS)
      GTEST_SKIP() << "skipped: no Vulkan device";
    char text[16];
    std::snprintf(text, sizeof(text), "GPU-%02X%02x", static_cast<unsigned char>(bytes.bytes[0]),
                  static_cast<unsigned char>(bytes.bytes[1]));
    uuid = text;
  }
  const auto with = [](const char* variable, const std::string& value, int expected) {
    const char* const outer = std::getenv(variable);
    const std::string kept = outer ? outer : value;  // the process of the test runs through here too
    setenv(variable, kept.c_str(), 1);
    EXPECT_EXIT(countDevices(), testing::ExitedWithCode(expected), "") << variable << "=" << value;
    if (!outer) unsetenv(variable);
  };
  const char* const visible = "CUDA_VISIBLE_DEVICES";
  for (const char* one : {"0", "0,-1,0", "0,77", " 0", "0 ", "00", "+0", "0x0", "0abc", "0,", "0;1"})
    with(visible, one, 1);
  for (const char* none : {"", "-1", "77", "-1,0", "77,0", "abc", ",0", "GPU-", "GPU-zz", "gpu-00", "MIG-0"})
    with(visible, none, CUDA_ERROR_NO_DEVICE);
  for (const char* twice : {"0,0", " 0 , 0"}) with(visible, twice, CUDA_ERROR_INVALID_DEVICE);
  if (count == 1) {
    with(visible, uuid, 1);
    with(visible, uuid + ",0", 1);
  }
  with("CUDA_DEVICE_ORDER", "PCI_BUS_ID", count);
  with("CUDA_DEVICE_ORDER", "FASTEST_FIRST", count);
}

}  // namespace
}  // namespace mulciber::test
