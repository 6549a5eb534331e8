// Memory pools between processes: a file descriptor for the pool, and places in it for pointers.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "api_test.h"

namespace mulciber::test {
namespace {

constexpr auto descriptorType = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr size_t words = 100'000;
// What the other process is told: the descriptor's number, and the pointer's data as hexadecimal digits.
constexpr char poolVariable[] = "TEST_SHARED_POOL", pointerVariable[] = "TEST_SHARED_POINTER";

class SharedPool : public WithScale {
 protected:
  void SetUp() override {
    WithScale::SetUp();
    int types = 0;
    ASSERT_EQ(cuDeviceGetAttribute(&types, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, device), CUDA_SUCCESS);
    if ((types & descriptorType) == 0) GTEST_SKIP() << "skipped: the Vulkan driver shares no buffers";
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.handleTypes = descriptorType;
  }

  static CUmemoryPool import(int descriptor) {
    CUmemoryPool pool = nullptr;
    EXPECT_EQ(
        cuMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(intptr_t{descriptor}), descriptorType, 0),
        CUDA_SUCCESS);
    return pool;
  }

  // Doubles the other's words and adds 7 to each, after a look at them.
  void workOn(CUmemoryPool pool, CUmemPoolPtrExportData data, unsigned expected) {
    CUdeviceptr address = 0;
    ASSERT_EQ(cuMemPoolImportPointer(&address, pool, &data), CUDA_SUCCESS);
    std::vector<unsigned> seen(words);
    ASSERT_EQ(cuMemcpyDtoH(seen.data(), address, words * 4), CUDA_SUCCESS);
    EXPECT_EQ(seen, std::vector<unsigned>(words, expected));
    unsigned factor = 2, count = words;
    void* parameters[] = {&address, &factor, &count};
    EXPECT_EQ(cuLaunchKernel(scale, (count + 63) / 64, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    size_t size = 0;
    EXPECT_EQ(cuMemGetAddressRange(nullptr, &size, address), CUDA_SUCCESS);
    EXPECT_EQ(size, words * 4);
    EXPECT_EQ(cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  }

  CUmemPoolProps properties{};
};

TEST_F(SharedPool, PointersReachTheSameMemoryInAnotherProcess) {  // GAP-01
  if (const char* number = std::getenv(poolVariable)) {
    CUmemPoolPtrExportData data{};
    const std::string digits = std::getenv(pointerVariable);
    for (size_t i = 0; i < sizeof(data.reserved); ++i)
      data.reserved[i] = static_cast<unsigned char>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
    const CUmemoryPool pool = import(std::atoi(number));
    workOn(pool, data, 37);
    EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
    return;
  }
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  // The handle may be given away before there is anything in the pool.
  int descriptor = -1;
  ASSERT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, descriptorType, 0), CUDA_SUCCESS);
  CUdeviceptr first = 0, data = 0;
  ASSERT_EQ(cuMemAllocFromPoolAsync(&first, 1000, pool, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocFromPoolAsync(&data, words * 4, pool, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(first, 1, 250), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(data, 15, words), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  CUmemPoolPtrExportData told{};
  ASSERT_EQ(cuMemPoolExportPointer(&told, data), CUDA_SUCCESS);

  const CUmemoryPool imported = import(descriptor);
  workOn(imported, told, 15);  // in this process: 37
  std::string digits;
  for (const unsigned char byte : told.reserved) {
    char two[3];
    std::snprintf(two, sizeof(two), "%02x", byte);
    digits += two;
  }
  const std::string other = "env " + std::string(poolVariable) + "=" + std::to_string(fcntl(descriptor, F_DUPFD, 0)) +
                            " " + pointerVariable + "=" + digits + " /proc/" + std::to_string(getpid()) +
                            "/exe --gtest_filter=SharedPool.PointersReachTheSameMemoryInAnotherProcess";
  EXPECT_EQ(std::system(other.c_str()), 0);  // 81
  std::vector<unsigned> seen(words);
  ASSERT_EQ(cuMemcpyDtoH(seen.data(), data, words * 4), CUDA_SUCCESS);
  EXPECT_EQ(seen, std::vector<unsigned>(words, 81));
  ASSERT_EQ(cuMemcpyDtoH(seen.data(), first, 1000), CUDA_SUCCESS);
  EXPECT_EQ(seen[249], 1u) << "its neighbour in the pool";

  // The memory lives as long as somebody has it.
  CUdeviceptr kept = 0;
  ASSERT_EQ(cuMemPoolImportPointer(&kept, imported, &told), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(first, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(data, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(imported), CUDA_SUCCESS);
  EXPECT_EQ(close(descriptor), 0) << "is the program's";
  ASSERT_EQ(cuMemcpyDtoH(seen.data(), kept, words * 4), CUDA_SUCCESS);
  EXPECT_EQ(seen[words - 1], 81u);
  EXPECT_EQ(cuMemFree(kept), CUDA_SUCCESS);
}

TEST_F(SharedPool, TheRuntimeSharesThemToo) {
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location.type = cudaMemLocationTypeDevice;
  wanted.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  cudaMemPool_t pool = nullptr, imported = nullptr;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &wanted), cudaSuccess);
  void *memory = nullptr, *same = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&memory, 64, pool, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemset(memory, 3, 64), cudaSuccess);
  int descriptor = -1;
  ASSERT_EQ(cudaMemPoolExportToShareableHandle(&descriptor, pool, wanted.handleTypes, 0), cudaSuccess);
  ASSERT_EQ(cudaMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(intptr_t{descriptor}),
                                                 wanted.handleTypes, 0),
            cudaSuccess);
  EXPECT_EQ(close(descriptor), 0);
  cudaMemPoolPtrExportData told{};
  ASSERT_EQ(cudaMemPoolExportPointer(&told, memory), cudaSuccess);
  ASSERT_EQ(cudaMemPoolImportPointer(&same, imported, &told), cudaSuccess);
  char bytes[64] = {};
  ASSERT_EQ(cudaMemcpy(bytes, same, 64, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(bytes[63], 3);
  EXPECT_EQ(cudaFree(same), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(imported), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
}

TEST_F(SharedPool, WrongCallsAreRefused) {
  CUmemoryPool pool = nullptr, plain = nullptr, imported = nullptr;
  properties.maxSize = 4u << 20;
  ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  ASSERT_EQ(cuMemPoolCreate(&plain, &properties), CUDA_SUCCESS);
  properties.handleTypes = CU_MEM_HANDLE_TYPE_WIN32;
  EXPECT_EQ(cuMemPoolCreate(&imported, &properties), CUDA_ERROR_NOT_SUPPORTED);
  int descriptor = -1;
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, plain, descriptorType, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, descriptorType, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolExportToShareableHandle(nullptr, pool, descriptorType, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, CU_MEM_HANDLE_TYPE_WIN32, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(descriptor, -1);
  EXPECT_EQ(cuMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(intptr_t{-1}), descriptorType, 0),
            CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, descriptorType, 0), CUDA_SUCCESS);
  imported = import(descriptor);

  // A pool that is shared does not grow beyond its size, and an imported one gives no memory.
  CUdeviceptr first = 0, second = 0, own = 0;
  EXPECT_EQ(cuMemAllocFromPoolAsync(&first, 3u << 20, pool, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&second, 3u << 20, pool, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&second, 4, imported, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceSetMemPool(device, imported), CUDA_ERROR_INVALID_VALUE);

  CUmemPoolPtrExportData told{}, wrong{};
  CUdeviceptr allocated = 0;
  ASSERT_EQ(cuMemAlloc(&allocated, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocFromPoolAsync(&own, 64, plain, nullptr), CUDA_SUCCESS);
  for (const CUdeviceptr address : {own, allocated, first + 4, CUdeviceptr{0}})
    EXPECT_EQ(cuMemPoolExportPointer(&told, address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolExportPointer(nullptr, first), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemPoolExportPointer(&told, first), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolImportPointer(&second, imported, &wrong), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolImportPointer(&second, plain, &told), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolImportPointer(nullptr, imported, &told), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolImportPointer(&second, imported, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(allocated), CUDA_SUCCESS);
  for (const CUdeviceptr address : {first, own}) EXPECT_EQ(cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  for (const CUmemoryPool one : {pool, plain, imported}) EXPECT_EQ(cuMemPoolDestroy(one), CUDA_SUCCESS);
  EXPECT_EQ(close(descriptor), 0);
}

}  // namespace
}  // namespace mulciber::test
