// What programs may rely on of memory: pinned, managed, pitched, mapped by the program, and what is told of addresses.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <cuda_runtime.h>

#include "api_test.h"
#include "held_stream.h"

namespace mulciber::test {
namespace {

class MemoryBehaviour : public WithScale {
 protected:
  // data[i] = data[i] * 2 + 7 on the device.
  void scaleOn(const void* data, unsigned count) {
    auto address = reinterpret_cast<CUdeviceptr>(data);
    unsigned factor = 2;
    void* parameters[] = {&address, &factor, &count};
    ASSERT_EQ(cuLaunchKernel(scale, (count + 63) / 64, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  }
};

TEST_F(MemoryBehaviour, ThousandsOfAllocationsLiveAtOnce) {  // MEM-01, MEM-02, LANG-24
  std::set<uintptr_t> all;
  for (int i = 0; i < 5000; ++i) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, 1 + i % 300), cudaSuccess);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
    ASSERT_TRUE(all.insert(reinterpret_cast<uintptr_t>(memory)).second);
  }
  for (const uintptr_t address : all) ASSERT_EQ(cudaFree(reinterpret_cast<void*>(address)), cudaSuccess);
}

// STR-02: each thread's stream gives copies and kernels in turns, and frees what it has just used.
TEST_F(MemoryBehaviour, CopiesOfManyThreadsGoBesideKernels) {
  constexpr unsigned count = 100'000, rounds = 30;  // 400 KB: large enough for a queue of its own
  const auto work = [&](unsigned thread) -> unsigned {
    unsigned *in = nullptr, *out = nullptr;
    CUstream stream = nullptr;
    bool isRight = cuCtxSetCurrent(context) == CUDA_SUCCESS &&
                   cuMemHostAlloc(reinterpret_cast<void**>(&in), count * 4, 0) == CUDA_SUCCESS &&
                   cuMemHostAlloc(reinterpret_cast<void**>(&out), count * 4, 0) == CUDA_SUCCESS &&
                   cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    unsigned wrong = 0;
    for (unsigned round = 0; isRight && round < rounds; ++round) {
      std::iota(in, in + count, thread * 1000 + round);
      CUdeviceptr data = 0;
      unsigned factor = 3 + round, size = count;
      void* parameters[] = {&data, &factor, &size};
      isRight =
          cuMemAllocAsync(&data, count * 4, stream) == CUDA_SUCCESS &&
          cuMemcpyHtoDAsync(data, in, count * 4, stream) == CUDA_SUCCESS &&
          cuLaunchKernel(scale, (count + 63) / 64, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr) == CUDA_SUCCESS &&
          cuMemcpyDtoHAsync(out, data, count * 4, stream) == CUDA_SUCCESS &&
          cuMemFreeAsync(data, stream) == CUDA_SUCCESS && cuStreamSynchronize(stream) == CUDA_SUCCESS;
      for (unsigned i = 0; i < count; ++i) wrong += out[i] != in[i] * factor + 7;
    }
    isRight = isRight && cuStreamDestroy(stream) == CUDA_SUCCESS && cuMemFreeHost(in) == CUDA_SUCCESS &&
              cuMemFreeHost(out) == CUDA_SUCCESS;
    return isRight ? wrong : UINT_MAX;
  };
  unsigned wrong[4];
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back([&, i] { wrong[i] = work(i); });
  for (std::thread& thread : threads) thread.join();
  for (const unsigned each : wrong) EXPECT_EQ(each, 0u);
}

// No host object can have the address of device memory.
TEST_F(MemoryBehaviour, DeviceAddressesAreTakenOnTheHostToo) {  // MEM-03
  for (const size_t bytes : {size_t{1} << 16, size_t{64} << 20}) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
    void* const page = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory) + 4095) / 4096 * 4096);
    void* const placed = mmap(page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    EXPECT_EQ(placed, MAP_FAILED);
    if (placed != MAP_FAILED) munmap(placed, 4096);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
  }
}

TEST_F(MemoryBehaviour, PinnedMemoryOfEveryKindIsOneWithTheDevices) {  // PIN-01, PIN-03 to PIN-06, MDEV-04
  constexpr unsigned count = 1000;
  for (unsigned flags = 0; flags < 8; ++flags) {
    unsigned *host = nullptr, *there = nullptr, told = 0;
    ASSERT_EQ(cudaHostAlloc(&host, count * 4, flags), cudaSuccess) << flags;
    EXPECT_EQ(cudaHostGetDevicePointer(&there, host, 0), cudaSuccess);
    EXPECT_EQ(there, host);
    EXPECT_EQ(cudaHostGetFlags(&told, host), cudaSuccess);
    EXPECT_EQ(told, flags | cudaHostAllocMapped);
    std::iota(host, host + count, 0u);
    scaleOn(host, count);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (unsigned i = 0; i < count; ++i) ASSERT_EQ(host[i], i * 2 + 7);
    cudaPointerAttributes attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, host + 5), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    EXPECT_EQ(attributes.hostPointer, host + 5);
    EXPECT_EQ(attributes.devicePointer, host + 5);
    EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  }
}

// The direction is found out, also with memory CUDA does not know.
TEST_F(MemoryBehaviour, CopiesFindTheirDirection) {  // MDEV-04, UM-08, CS-028
  constexpr size_t bytes = 10000;
  char *onDevice = nullptr, *managed = nullptr, *pinned = nullptr;
  std::vector<char> pageable(bytes), seen(bytes);
  ASSERT_EQ(cudaMalloc(&onDevice, bytes), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, bytes), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, bytes), cudaSuccess);
  const std::vector<char*> all{onDevice, managed, pinned, pageable.data()};
  char value = 0;
  for (char* const from : all)
    for (char* const to : all) {
      if (from == to) continue;
      ++value;
      std::fill(seen.begin(), seen.end(), value);
      ASSERT_EQ(cudaMemcpy(from, seen.data(), bytes, cudaMemcpyDefault), cudaSuccess);
      ASSERT_EQ(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), cudaSuccess);
      std::fill(seen.begin(), seen.end(), char{0});
      ASSERT_EQ(cudaMemcpy(seen.data(), to, bytes, cudaMemcpyDefault), cudaSuccess);
      EXPECT_EQ(std::count(seen.begin(), seen.end(), value), static_cast<long>(bytes));
    }
  // Managed memory is on either side of a copy with a direction.
  for (const auto& [to, from, kind] : {std::tuple{managed, pageable.data(), cudaMemcpyHostToDevice},
                                       {managed, pageable.data(), cudaMemcpyHostToHost},
                                       {managed, onDevice, cudaMemcpyDeviceToHost},
                                       {managed, onDevice, cudaMemcpyDeviceToDevice},
                                       {onDevice, managed, cudaMemcpyHostToDevice},
                                       {onDevice, managed, cudaMemcpyDeviceToDevice}}) {
    std::fill(seen.begin(), seen.end(), ++value);
    ASSERT_EQ(cudaMemcpy(from, seen.data(), bytes, cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(to, from, bytes, kind), cudaSuccess);
    std::fill(seen.begin(), seen.end(), char{0});
    ASSERT_EQ(cudaMemcpy(seen.data(), to, bytes, cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), value), static_cast<long>(bytes));
  }
  EXPECT_EQ(cudaFree(onDevice), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

// An asynchronous copy from pageable memory has read it when it returns, whatever the stream still waits for.
TEST_F(MemoryBehaviour, PageableMemoryMayChangeBehindAnAsynchronousCopy) {
  char* onDevice = nullptr;
  constexpr size_t most = 9u << 20;
  ASSERT_EQ(cudaMalloc(&onDevice, 2 * most), cudaSuccess);
  for (const bool isHeld : {true, false}) {
    for (const size_t bytes : {size_t{100}, size_t{20'000}, size_t{100'000}, size_t{1'000'003}, most}) {
      auto held = isHeld ? std::make_unique<HeldStream>() : nullptr;
      cudaStream_t const stream = held ? held->stream : nullptr;
      std::vector<char> host(bytes);
      // Twice as many in the second round as are kept behind a stream that waits.
      const size_t copies = isHeld ? std::min<size_t>(most / bytes, 5) : std::min<size_t>((128u << 20) / bytes, 200);
      const size_t places = std::min<size_t>(copies, most / bytes);
      for (size_t copy = 0; copy < copies; ++copy) {
        std::ranges::fill(host, static_cast<char>(copy + 1));
        ASSERT_EQ(cudaMemcpyAsync(onDevice + copy % places * bytes, host.data(), bytes, cudaMemcpyHostToDevice, stream),
                  cudaSuccess);
      }
      std::ranges::fill(host, char{0});
      if (held) held->letGo();
      ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      for (size_t copy = copies - places; copy < copies; ++copy) {
        ASSERT_EQ(cudaMemcpy(host.data(), onDevice + copy % places * bytes, bytes, cudaMemcpyDeviceToHost),
                  cudaSuccess);
        EXPECT_EQ(std::ranges::count(host, static_cast<char>(copy + 1)), static_cast<long>(bytes))
            << bytes << " " << copy;
      }
    }
  }
  EXPECT_EQ(cudaFree(onDevice), cudaSuccess);
}

TEST_F(MemoryBehaviour, ContentsStayBetweenKernels) {  // MEM-10
  unsigned* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, 256), cudaSuccess);
  ASSERT_EQ(cudaMemset(data, 0, 256), cudaSuccess);
  unsigned expected = 0, seen = 0;
  for (int i = 0; i < 10; ++i, expected = expected * 2 + 7) scaleOn(data, 64);
  ASSERT_EQ(cudaMemcpy(&seen, data + 63, sizeof(seen), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

TEST_F(MemoryBehaviour, CodeOf32BitsIsRefused) {  // MEM-12
  const auto launch = [](const char* line) {
    const std::string text = std::string(".version 7.0\n.target sm_70\n") + line + "\n.entry k() { ret; }\n";
    CUmodule loaded = nullptr;
    CUfunction function = nullptr;
    CUresult error = cuModuleLoadData(&loaded, text.c_str());
    if (error == CUDA_SUCCESS) error = cuModuleGetFunction(&function, loaded, "k");
    if (error == CUDA_SUCCESS) error = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    if (error == CUDA_SUCCESS) error = cuCtxSynchronize();
    (void)cuModuleUnload(loaded);
    return error;
  };
  EXPECT_NE(launch(".address_size 32"), CUDA_SUCCESS);
  EXPECT_EQ(launch(".address_size 64"), CUDA_SUCCESS);
  EXPECT_EQ(launch(""), CUDA_SUCCESS) << "what says nothing is of 64 bits, as ptxas takes it";
}

// The host sees what kernels wrote after every call that completes them.
TEST_F(MemoryBehaviour, ManagedMemoryIsSeenAfterEveryWayOfWaiting) {  // UM-02
  unsigned* data = nullptr;
  ASSERT_EQ(cudaMallocManaged(&data, 4096), cudaSuccess);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  static unsigned inHostFunction;
  const auto waits = std::vector<std::function<void()>>{
      [] { EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess); },
      [] { EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess); },
      [&] {
        EXPECT_EQ(cudaEventRecord(event), cudaSuccess);
        EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
      },
      [] {
        while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
        }
      },
      [&] {
        EXPECT_EQ(cudaEventRecord(event), cudaSuccess);
        while (cudaEventQuery(event) == cudaErrorNotReady) {
        }
      },
      [&] {
        unsigned other = 0;
        EXPECT_EQ(cudaMemcpy(&other, data + 1, 4, cudaMemcpyDeviceToHost), cudaSuccess);
      },
      [&] {
        EXPECT_EQ(cudaLaunchHostFunc(
                      nullptr, [](void* at) { inHostFunction = *static_cast<unsigned*>(at); }, data),
                  cudaSuccess);
        EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
        EXPECT_EQ(inHostFunction, data[0]);
      },
  };
  for (size_t i = 0; i < waits.size(); ++i) {
    data[0] = static_cast<unsigned>(i);
    scaleOn(data, 1024);
    waits[i]();
    EXPECT_EQ(data[0], i * 2 + 7) << i;
  }
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

TEST_F(MemoryBehaviour, ManagedMemoryTakesAdviceAndKeepsItsContents) {  // UM-03, UM-07, UM-09 to UM-12
  constexpr unsigned count = 1 << 18;
  unsigned* data = nullptr;
  ASSERT_EQ(cudaMallocManaged(&data, count * 4), cudaSuccess);
  std::iota(data, data + count, 0u);
  const cudaMemLocation onDevice{cudaMemLocationTypeDevice, 0}, onHost{cudaMemLocationTypeHost, 0};
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_EQ(cudaStreamAttachMemAsync(stream, data, 0, cudaMemAttachGlobal), cudaSuccess);
  for (const cudaMemoryAdvise advice :
       {cudaMemAdviseSetReadMostly, cudaMemAdviseSetPreferredLocation, cudaMemAdviseSetAccessedBy,
        cudaMemAdviseUnsetReadMostly, cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseUnsetAccessedBy}) {
    EXPECT_EQ(cudaMemAdvise(data, count * 4, advice, onDevice), cudaSuccess);
    EXPECT_EQ(cudaMemPrefetchAsync(data, count * 4, onDevice, 0, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    scaleOn(data, count);
    EXPECT_EQ(cudaMemPrefetchAsync(data, count * 4, onHost, 0, nullptr), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (unsigned i = 0; i < count; ++i) ASSERT_EQ(data[i], i * 2 + 7);
    std::iota(data, data + count, 0u);
  }
  int told = 0;
  EXPECT_EQ(cudaMemRangeGetAttribute(&told, sizeof(told), cudaMemRangeAttributeLastPrefetchLocation, data, count * 4),
            cudaSuccess);
  EXPECT_EQ(told, cudaCpuDeviceId);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  if (attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) == 0) {
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES), 0);
  }
}

TEST_F(MemoryBehaviour, TooMuchManagedMemoryIsAnError) {  // UM-05
  void* memory = nullptr;
  EXPECT_EQ(cudaMallocManaged(&memory, size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocManaged(&memory, 4096), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

// Ranges of addresses whose memory the program gives.
class VirtualMemory : public MemoryBehaviour {
 protected:
  void SetUp() override {
    MemoryBehaviour::SetUp();
    if (!context) return;
    if (attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED) == 0)
      GTEST_SKIP() << "skipped: the device has no memory that can be mapped by the program";
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASSERT_EQ(cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_SUCCESS);
  }
  CUmemGenericAllocationHandle create(size_t bytes) {
    CUmemGenericAllocationHandle made = 0;
    EXPECT_EQ(cuMemCreate(&made, bytes, &properties, 0), CUDA_SUCCESS);
    return made;
  }
  CUmemAllocationProp properties{};
  CUmemAccessDesc access{};
  size_t unit = 0;
};

TEST_F(VirtualMemory, ContentsGoWithTheMemoryAndNotWithTheAddress) {  // VMM-01 to VMM-05, CS-100
  CUdeviceptr range = 0;
  ASSERT_EQ(cuMemAddressReserve(&range, 4 * unit, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(range % unit, 0u);
  const CUmemGenericAllocationHandle one = create(unit), two = create(unit);
  ASSERT_EQ(cuMemMap(range, unit, 0, one, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(range + unit, unit, 0, two, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(range, 2 * unit, &access, 1), CUDA_SUCCESS);
  // A kernel crosses the seam.
  const auto words = static_cast<unsigned>(2 * unit / 4);
  ASSERT_EQ(cuMemsetD32(range, 5, words), CUDA_SUCCESS);
  scaleOn(reinterpret_cast<void*>(range), words);
  std::vector<unsigned> seen(words);
  ASSERT_EQ(cuMemcpyDtoH(seen.data(), range, 2 * unit), CUDA_SUCCESS);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 17u), words);
  // The other way round, and the second twice.
  ASSERT_EQ(cuMemsetD32(range, 1, unit / 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(range + unit, 2, unit / 4), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  ASSERT_EQ(cuMemUnmap(range, 2 * unit), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(range + unit, unit, 0, one, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(range + 2 * unit, unit, 0, two, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(range + 3 * unit, unit, 0, two, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(range + unit, 3 * unit, &access, 1), CUDA_SUCCESS);
  // A handle that is given back keeps its memory while it is mapped.
  EXPECT_EQ(cuMemRelease(one), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(two), CUDA_SUCCESS);
  unsigned value = 0;
  ASSERT_EQ(cuMemcpyDtoH(&value, range + unit, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 1u);
  ASSERT_EQ(cuMemsetD32(range + 2 * unit + 8, 9, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(&value, range + 3 * unit + 8, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 9u) << "one memory at two addresses";
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(range, 4 * unit), CUDA_ERROR_INVALID_VALUE) << "still mapped";
  EXPECT_EQ(cuMemUnmap(range + unit, 3 * unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(range, 4 * unit), CUDA_SUCCESS);
}

// Imports the memory, changes its first word and gives back what that was.
unsigned exchangeFirstWord(int descriptor, unsigned word, size_t unit, const CUmemAccessDesc& access) {
  CUmemGenericAllocationHandle imported = 0;
  CUdeviceptr range = 0;
  unsigned before = 0;
  const auto type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  void* const handle = reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
  EXPECT_EQ(cuMemImportFromShareableHandle(&imported, handle, type), CUDA_SUCCESS);
  int again = -1;
  EXPECT_EQ(cuMemExportToShareableHandle(&again, imported, type, 0), CUDA_ERROR_INVALID_VALUE) << "was imported";
  EXPECT_EQ(cuMemAddressReserve(&range, unit, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(range, unit, 0, imported, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemSetAccess(range, unit, &access, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(&before, range, sizeof(before)), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32(range, word, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemUnmap(range, unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(range, unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(imported), CUDA_SUCCESS);
  return before;
}

// The other process of the test below, which has the descriptor under the number that this variable says.
constexpr char sharedDescriptor[] = "TEST_SHARED_DESCRIPTOR";

TEST_F(VirtualMemory, IsSharedByADescriptor) {  // VMM-06
  if (attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED) == 0)
    GTEST_SKIP() << "skipped: memory is not shared (MULCIBER_SHARED_MEMORY)";
  if (const char* number = std::getenv(sharedDescriptor)) {
    EXPECT_EQ(exchangeFirstWord(std::atoi(number), 33, unit, access), 22u);
    return;
  }
  const auto type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  const CUmemGenericAllocationHandle plain = create(2 * unit);
  properties.requestedHandleTypes = type;
  const CUmemGenericAllocationHandle shared = create(2 * unit);
  CUmemAllocationProp told{};
  EXPECT_EQ(cuMemGetAllocationPropertiesFromHandle(&told, shared), CUDA_SUCCESS);
  EXPECT_EQ(told.requestedHandleTypes, type);
  int descriptor = -1;
  EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, plain, type, 0), CUDA_ERROR_INVALID_VALUE) << "not asked for";
  EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, shared, type, 1), CUDA_ERROR_INVALID_VALUE) << "no such flag";
  EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, shared, CU_MEM_HANDLE_TYPE_WIN32, 0), CUDA_ERROR_NOT_SUPPORTED);
  ASSERT_EQ(cuMemExportToShareableHandle(&descriptor, shared, type, 0), CUDA_SUCCESS);
  CUmemGenericAllocationHandle wrong = 0;
  EXPECT_EQ(cuMemImportFromShareableHandle(&wrong, reinterpret_cast<void*>(intptr_t{-1}), type),
            CUDA_ERROR_INVALID_VALUE);

  CUdeviceptr range = 0;
  ASSERT_EQ(cuMemAddressReserve(&range, 2 * unit, 0, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(range, 2 * unit, 0, shared, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(range, 2 * unit, &access, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(range, 11, 2 * unit / 4), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(exchangeFirstWord(descriptor, 22, unit, access), 11u) << "in one process";
  const std::string other = "env " + std::string(sharedDescriptor) + "=" +
                            std::to_string(fcntl(descriptor, F_DUPFD, 0)) + " /proc/" + std::to_string(getpid()) +
                            "/exe --gtest_filter=VirtualMemory.IsSharedByADescriptor";
  EXPECT_EQ(std::system(other.c_str()), 0) << "in another process";
  std::vector<unsigned> seen(2 * unit / 4);
  ASSERT_EQ(cuMemcpyDtoH(seen.data(), range, 2 * unit), CUDA_SUCCESS);
  EXPECT_EQ(seen[0], 33u);
  EXPECT_EQ(std::count(seen.begin() + 1, seen.end(), 11u), static_cast<ptrdiff_t>(seen.size() - 1));
  EXPECT_EQ(close(descriptor), 0) << "is the program's";
  EXPECT_EQ(cuMemUnmap(range, 2 * unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(range, 2 * unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(shared), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(plain), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, PropertiesAreTold) {  // VMM-02, VMM-07, VMM-08
  const CUmemGenericAllocationHandle handle = create(unit);
  CUmemAllocationProp told{};
  EXPECT_EQ(cuMemGetAllocationPropertiesFromHandle(&told, handle), CUDA_SUCCESS);
  EXPECT_EQ(told.type, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(told.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(told.allocFlags.compressionType, 0);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  if (attribute(CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED) == 0) {
    properties.allocFlags.compressionType = 1;
    CUmemGenericAllocationHandle plain = 0;
    if (cuMemCreate(&plain, unit, &properties, 0) == CUDA_SUCCESS) {
      EXPECT_EQ(cuMemGetAllocationPropertiesFromHandle(&told, plain), CUDA_SUCCESS);
      EXPECT_EQ(told.allocFlags.compressionType, 0) << "what was not granted";
      EXPECT_EQ(cuMemRelease(plain), CUDA_SUCCESS);
    }
  }
}

}  // namespace
}  // namespace mulciber::test
