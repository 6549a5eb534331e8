// What both APIs tell of memory of every kind, and of how much there is.
#include <sys/mman.h>

#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "api_test.h"

namespace mulciber::test {
namespace {

constexpr const char* ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 plain = 1;
.visible .global .attribute(.managed) .align 8 .b8 shared[24];
.visible .global .align 4 .b8 between[100];
.visible .global .attribute(.managed) .align 4 .u32 also = 2;
.visible .const .align 4 .u32 fixed = 3;
.visible .entry k() { ret; }
)";

// With memory of every kind that the device has.
class ToldMemory : public WithDevice {
 protected:
  struct Known {
    std::string name;
    CUdeviceptr address;
    cudaMemoryType type;
  };

  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuModuleLoadData(&module_, ptx), CUDA_SUCCESS);
    variable("plain", cudaMemoryTypeDevice);
    variable("shared", cudaMemoryTypeManaged);
    variable("between", cudaMemoryTypeDevice);
    variable("also", cudaMemoryTypeManaged);
    variable("fixed", cudaMemoryTypeDevice);
    CUdeviceptr address = 0;
    ASSERT_EQ(cuMemAlloc(&address, 4096), CUDA_SUCCESS);
    add("allocated", address, cudaMemoryTypeDevice, [=] { return cuMemFree(address); });
    ASSERT_EQ(cuMemAllocAsync(&address, 4096, nullptr), CUDA_SUCCESS);
    add("of a pool", address, cudaMemoryTypeDevice, [=] { return cuMemFreeAsync(address, nullptr); });
    if (cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS)
      add("managed", address, cudaMemoryTypeManaged, [=] { return cuMemFree(address); });
    void* host = nullptr;
    ASSERT_EQ(cuMemAllocHost(&host, 4096), CUDA_SUCCESS);
    add("pinned", reinterpret_cast<CUdeviceptr>(host), cudaMemoryTypeHost, [=] { return cuMemFreeHost(host); });
    void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (cuMemHostRegister(page, 4096, 0) == CUDA_SUCCESS)
      add("registered", reinterpret_cast<CUdeviceptr>(page), cudaMemoryTypeHost, [=] {
        const CUresult error = cuMemHostUnregister(page);
        munmap(page, 4096);
        return error;
      });
    if (attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED) != 0) mapped();
  }
  void TearDown() override {
    for (const auto& one : drops_) EXPECT_EQ(one(), CUDA_SUCCESS);
    if (module_) {
      EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  void add(const char* name, CUdeviceptr address, cudaMemoryType type, std::function<CUresult()> drop) {
    all_.push_back({name, address, type});
    drops_.push_back(std::move(drop));
  }
  void variable(const char* name, cudaMemoryType type) {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    ASSERT_EQ(cuModuleGetGlobal(&address, &bytes, module_, name), CUDA_SUCCESS);
    all_.push_back({name, address, type});
    all_.push_back({std::string("the last byte of ") + name, address + bytes - 1, type});
  }
  void mapped() {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr address = 0;
    constexpr size_t bytes = 2 << 20;
    ASSERT_EQ(cuMemCreate(&handle, bytes, &properties, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAddressReserve(&address, bytes, 0, 0, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(address, bytes, 0, handle, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemSetAccess(address, bytes, &access, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
    add("mapped", address, cudaMemoryTypeDevice, [=] {
      const CUresult error = cuMemUnmap(address, bytes);
      return error == CUDA_SUCCESS ? cuMemAddressFree(address, bytes) : error;
    });
  }
  CUdeviceptr addressOf(const std::string& name) const {
    for (const Known& known : all_)
      if (known.name == name) return known.address;
    ADD_FAILURE() << name;
    return 0;
  }

  CUmodule module_ = nullptr;
  std::vector<Known> all_;
  std::vector<std::function<CUresult()>> drops_;
};

TEST_F(ToldMemory, BothApisTellTheSame) {
  for (const auto& [name, address, type] : all_) {
    void* const pointer = reinterpret_cast<void*>(address);
    const bool isManaged = type == cudaMemoryTypeManaged, isDevice = type == cudaMemoryTypeDevice;
    cudaPointerAttributes told{};
    ASSERT_EQ(cudaPointerGetAttributes(&told, pointer), cudaSuccess) << name;
    EXPECT_EQ(told.type, type) << name;
    EXPECT_EQ(told.device, 0) << name;
    EXPECT_EQ(told.devicePointer, pointer) << name;
    EXPECT_EQ(told.hostPointer, isDevice ? nullptr : pointer) << name;
    const auto attributeOf = [&](CUpointer_attribute which) {
      unsigned value = 99;
      EXPECT_EQ(cuPointerGetAttribute(&value, which, address), CUDA_SUCCESS) << name << " " << which;
      return value;
    };
    EXPECT_EQ(attributeOf(CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
              unsigned{type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE})
        << name;
    EXPECT_EQ(attributeOf(CU_POINTER_ATTRIBUTE_IS_MANAGED), unsigned{isManaged}) << name;
    EXPECT_EQ(attributeOf(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS), unsigned{isManaged}) << name;
    void* host = nullptr;
    EXPECT_EQ(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address),
              isDevice ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS)
        << name;
    EXPECT_EQ(host, told.hostPointer) << name;
    unsigned flags = 0;
    EXPECT_EQ(cuMemHostGetFlags(&flags, pointer) == CUDA_SUCCESS, !isDevice) << name;
  }
}

TEST_F(ToldMemory, OnlyWhatIsManagedTakesAdvice) {  // UM-07, UM-10
  const CUmemLocation onDevice{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  for (const auto& [name, address, type] : all_) {
    const CUresult expected = type == cudaMemoryTypeManaged ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    EXPECT_EQ(cuMemAdvise(address, 1, CU_MEM_ADVISE_SET_READ_MOSTLY, onDevice), expected) << name;
    EXPECT_EQ(cuMemPrefetchAsync(address, 1, onDevice, 0, nullptr), expected) << name;
  }
  EXPECT_EQ(cuMemAdvise(addressOf("shared"), 25, CU_MEM_ADVISE_SET_READ_MOSTLY, onDevice), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ToldMemory, ManagedVariablesAreAttached) {  // UM-07
  const auto attach = [](CUdeviceptr address, size_t bytes) {
    const CUresult error = cuStreamAttachMemAsync(nullptr, address, bytes, CU_MEM_ATTACH_GLOBAL);
    const auto same = cudaStreamAttachMemAsync(nullptr, reinterpret_cast<void*>(address), bytes, cudaMemAttachGlobal);
    EXPECT_EQ(static_cast<int>(error), static_cast<int>(same));
    return error;
  };
  const CUdeviceptr shared = addressOf("shared");
  for (const auto& [name, address, bytes] :
       {std::tuple{"shared", shared, size_t{24}}, {"also", addressOf("also"), 4}}) {
    EXPECT_EQ(attach(address, 0), CUDA_SUCCESS) << name;
    EXPECT_EQ(attach(address, bytes), CUDA_SUCCESS) << name;
    EXPECT_EQ(attach(address, bytes - 1), CUDA_ERROR_INVALID_VALUE) << name;
    EXPECT_EQ(attach(address, bytes + 1), CUDA_ERROR_INVALID_VALUE) << name;
  }
  EXPECT_EQ(attach(shared + 8, 0), CUDA_ERROR_INVALID_VALUE) << "inside";
  EXPECT_EQ(attach(addressOf("plain"), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(attach(addressOf("between"), 0), CUDA_ERROR_INVALID_VALUE);
}

// Every way in which a program takes memory of the device.
TEST_F(ToldMemory, WhatIsTakenIsNotFree) {  // MEM-11, VMM-01
  constexpr size_t bytes = 256 << 20;
  const auto freeBytes = [] {
    size_t available = 0, total = 0;
    EXPECT_EQ(cuMemGetInfo(&available, &total), CUDA_SUCCESS);
    EXPECT_LE(available, total);
    return available;
  };
  const auto check = [&](const char* name, auto take, auto giveBack) {
    const size_t before = freeBytes();
    ASSERT_EQ(take(), CUDA_SUCCESS) << name;
    EXPECT_LE(freeBytes() + bytes, before + (8 << 20)) << name;
    ASSERT_EQ(giveBack(), CUDA_SUCCESS) << name;
    EXPECT_GE(freeBytes() + (8 << 20), before) << name;
  };
  CUdeviceptr address = 0;
  check(
      "allocated", [&] { return cuMemAlloc(&address, bytes); }, [&] { return cuMemFree(address); });
  check(
      "of a pool", [&] { return cuMemAllocAsync(&address, bytes, nullptr); },
      [&] {
        EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
        CUmemoryPool pool = nullptr;
        EXPECT_EQ(cuDeviceGetDefaultMemPool(&pool, device), CUDA_SUCCESS);
        return cuMemPoolTrimTo(pool, 0);
      });
  CUarray array = nullptr;
  const CUDA_ARRAY_DESCRIPTOR shape{8192, 8192, CU_AD_FORMAT_UNSIGNED_INT32, 1};
  check(
      "array", [&] { return cuArrayCreate(&array, &shape); }, [&] { return cuArrayDestroy(array); });
  if (attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED) != 0) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemGenericAllocationHandle handle = 0;
    check(
        "to be mapped", [&] { return cuMemCreate(&handle, bytes, &properties, 0); },
        [&] { return cuMemRelease(handle); });
  }
  if (attribute(CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES) != 0) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.maxSize = bytes;
    CUmemoryPool pool = nullptr;
    check(
        "of a shared pool",
        [&] {
          const CUresult error = cuMemPoolCreate(&pool, &properties);
          return error == CUDA_SUCCESS ? cuMemAllocFromPoolAsync(&address, 4096, pool, nullptr) : error;
        },
        [&] {
          EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
          return cuMemPoolDestroy(pool);
        });
  }
}

}  // namespace
}  // namespace mulciber::test
