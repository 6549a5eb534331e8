// Pools of host and of managed memory, which host and device reach by the same pointers.
#include <cuda_runtime_api.h>

#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

struct PoolCase {
  const char* name;
  CUmemAllocationType type;
  CUmemLocation location;
};

class HostPool : public WithScale, public ::testing::WithParamInterface<PoolCase> {
 protected:
  static constexpr unsigned count = 64;

  void SetUp() override {
    WithScale::SetUp();
    if (!context) return;
    if (!attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)) GTEST_SKIP() << "skipped: no managed memory";
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (stream) {
      EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    }
    WithScale::TearDown();
  }

  static CUmemPoolProps properties() {
    CUmemPoolProps wanted{};
    wanted.allocType = GetParam().type;
    wanted.location = GetParam().location;
    return wanted;
  }
  static bool isManaged() { return GetParam().type == CU_MEM_ALLOCATION_TYPE_MANAGED; }
  template <class Value>
  static Value told(CUpointer_attribute which, CUdeviceptr address) {
    Value value{};
    EXPECT_EQ(cuPointerGetAttribute(&value, which, address), CUDA_SUCCESS);
    return value;
  }
  // What the host has written the device multiplies, for the host to read.
  void workOn(CUdeviceptr address) {
    auto* const words = reinterpret_cast<unsigned*>(address);
    for (unsigned i = 0; i < count; ++i) words[i] = i;
    unsigned factor = 3, all = count;
    void* arguments[] = {&address, &factor, &all};
    ASSERT_EQ(cuLaunchKernel(scale, 1, 1, 1, count, 1, 1, 0, stream, arguments, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    for (unsigned i = 0; i < count; ++i) EXPECT_EQ(words[i], i * 3 + 7);
  }

  CUstream stream = nullptr;
};

TEST_P(HostPool, BothSidesReachItsMemory) {
  const CUmemPoolProps wanted = properties();
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  CUdeviceptr first = 0, second = 0;
  ASSERT_EQ(cuMemAllocFromPoolAsync(&first, 1000, pool, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocFromPoolAsync(&second, count * 4, pool, stream), CUDA_SUCCESS);
  workOn(second);
  EXPECT_EQ(told<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, second), isManaged());
  EXPECT_EQ(told<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, second),
            isManaged() ? unsigned{CU_MEMORYTYPE_DEVICE} : unsigned{CU_MEMORYTYPE_HOST});
  EXPECT_EQ(told<CUmemoryPool>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, second), pool);
  EXPECT_EQ(told<void*>(CU_POINTER_ATTRIBUTE_HOST_POINTER, second), reinterpret_cast<void*>(second));

  cuuint64_t used = 0;
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_EQ(used, 1000 + count * 4);
  EXPECT_EQ(cuMemFreeHost(reinterpret_cast<void*>(first)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(first, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(second), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_EQ(used, 0u);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

TEST_P(HostPool, EachKindHasPoolsOfItsOwn) {
  const CUmemPoolProps wanted = properties();
  CUmemLocation location = wanted.location;
  CUmemoryPool pool = nullptr, usual = nullptr, current = nullptr, ofDevice = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetDefaultMemPool(&usual, &location, wanted.allocType), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetMemPool(&current, &location, wanted.allocType), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&ofDevice, device), CUDA_SUCCESS);
  EXPECT_EQ(current, usual);
  EXPECT_NE(usual, ofDevice);
  EXPECT_EQ(cuDeviceSetMemPool(device, pool), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemSetMemPool(&location, wanted.allocType, ofDevice), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemSetMemPool(&location, wanted.allocType, pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetMemPool(&current, &location, wanted.allocType), CUDA_SUCCESS);
  EXPECT_EQ(current, pool);
  EXPECT_EQ(cuMemPoolDestroy(usual), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetMemPool(&current, &location, wanted.allocType), CUDA_SUCCESS);
  EXPECT_EQ(current, usual) << "the default one takes the place of one that is gone";

  CUmemAccess_flags flags{};
  for (CUmemLocation side : {CUmemLocation{CU_MEM_LOCATION_TYPE_HOST, 0}, {CU_MEM_LOCATION_TYPE_DEVICE, device}}) {
    const CUmemAccessDesc access{side, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    EXPECT_EQ(cuMemPoolSetAccess(usual, &access, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuMemPoolGetAccess(&flags, usual, &side), CUDA_SUCCESS);
    EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  }
}

TEST_P(HostPool, GraphsAllocateThereToo) {
  CUDA_MEM_ALLOC_NODE_PARAMS wanted{}, read{};
  wanted.poolProps = properties();
  wanted.bytesize = count * 4;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphMemAllocNodeGetParams(node, &read), CUDA_SUCCESS);
  EXPECT_EQ(read.poolProps.allocType, wanted.poolProps.allocType);
  EXPECT_EQ(read.dptr, wanted.dptr);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  workOn(wanted.dptr);
  EXPECT_EQ(cuMemFree(wanted.dptr), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_P(HostPool, TheRuntimeHasThemToo) {
  cudaMemPoolProps wanted{};
  wanted.allocType = static_cast<cudaMemAllocationType>(GetParam().type);
  wanted.location = {static_cast<cudaMemLocationType>(GetParam().location.type), GetParam().location.id};
  cudaMemPool_t pool = nullptr, usual = nullptr;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &wanted), cudaSuccess);
  EXPECT_EQ(cudaMemGetDefaultMemPool(&usual, &wanted.location, wanted.allocType), cudaSuccess);
  EXPECT_NE(usual, pool);
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&memory, count * 4, pool, stream), cudaSuccess);
  workOn(reinterpret_cast<CUdeviceptr>(memory));
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  EXPECT_EQ(attributes.type, isManaged() ? cudaMemoryTypeManaged : cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, memory);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, HostPool,
    ::testing::Values(PoolCase{"Managed", CU_MEM_ALLOCATION_TYPE_MANAGED, {CU_MEM_LOCATION_TYPE_NONE, 0}},
                      PoolCase{"ManagedAtDevice", CU_MEM_ALLOCATION_TYPE_MANAGED, {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                      PoolCase{"Host", CU_MEM_ALLOCATION_TYPE_PINNED, {CU_MEM_LOCATION_TYPE_HOST, 0}}),
    [](const auto& one) { return one.param.name; });

// The largest size that a pool is made with is rounded up, as its memory is.
TEST_F(WithDevice, ASmallPoolHoldsAllocations) {
  CUmemPoolProps wanted{};
  wanted.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  wanted.maxSize = 2048;
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &wanted), CUDA_SUCCESS);
  CUdeviceptr first = 0, second = 0;
  EXPECT_EQ(cuMemAllocFromPoolAsync(&first, 64, pool, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&second, 4u << 20, pool, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemFreeAsync(first, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

}  // namespace
}  // namespace mulciber::test
