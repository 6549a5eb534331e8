// CS-041, ATOM-14, UM-04: the host and the device add to the same words at the same time.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "api_test.h"

namespace mulciber::test {
namespace {

// words[0] += rounds by atom, words[2] += rounds by red, and words[4] by compare and swap, each in every thread.
constexpr const char* addPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 words, .param .u32 rounds) {
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [words];
  ld.param.u32 %r1, [rounds];
next:
  atom.sys.global.add.u32 %r2, [%rd1], 1;
  red.sys.global.add.u64 [%rd1+8], 1;
  ld.volatile.global.u32 %r3, [%rd1+16];
again:
  add.u32 %r4, %r3, 1;
  atom.sys.global.cas.b32 %r5, [%rd1+16], %r3, %r4;
  setp.ne.u32 %p, %r5, %r3;
  mov.u32 %r3, %r5;
  @%p bra again;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra next;
  ret;
}
)";

class HostAtomics : public WithDevice {
 protected:
  // Whether no addition was lost. The words are at an address that both sides use.
  bool addTogether(void* memory) {
    constexpr unsigned blocks = 16, threads = 64, rounds = 300;
    auto* const words = static_cast<uint32_t*>(memory);
    auto* const wide = static_cast<uint64_t*>(memory) + 1;
    CUmodule module = nullptr;
    CUfunction add = nullptr;
    CUstream stream = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, addPtx), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&add, module, "add"), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    auto address = reinterpret_cast<CUdeviceptr>(memory);
    unsigned count = rounds;
    void* parameters[] = {&address, &count};
    // The host has begun before the kernel does, and stops when that has ended.
    std::atomic<uint64_t> ours{0};
    std::atomic<bool> isOver{false};
    std::thread host([&] {
      for (; !isOver; ++ours) {
        std::atomic_ref(words[0]).fetch_add(1);
        std::atomic_ref(*wide).fetch_add(1);
        std::atomic_ref third(words[4]);
        for (uint32_t seen = third.load(); !third.compare_exchange_weak(seen, seen + 1);) {
        }
      }
    });
    while (ours == 0) std::this_thread::yield();
    EXPECT_EQ(cuLaunchKernel(add, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    isOver = true;
    host.join();
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    const uint64_t all = uint64_t{blocks} * threads * rounds + ours;
    std::printf("    %llu additions of each kind by the host; of %llu in all: %u, %llu, %u\n",
                static_cast<unsigned long long>(ours.load()), static_cast<unsigned long long>(all), words[0],
                static_cast<unsigned long long>(*wide), words[4]);
    return words[0] == all && *wide == all && words[4] == all;
  }
};

TEST_F(HostAtomics, OfPinnedMemoryAreExactWhereTheDeviceSaysSo) {
  // Elsewhere the host's additions can keep the device's compare-and-swap from ever succeeding.
  if (attribute(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED) == 0)
    GTEST_SKIP() << "skipped: the host's atomics and the device's are not atomic to each other";
  void* memory = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&memory, 64, 0), CUDA_SUCCESS);
  std::fill_n(static_cast<char*>(memory), 64, 0);
  EXPECT_TRUE(addTogether(memory));
  EXPECT_EQ(cuMemFreeHost(memory), CUDA_SUCCESS);
}

TEST_F(HostAtomics, OfManagedMemoryAreExactWhereBothMayUseItAtOnce) {
  if (attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) == 0)
    GTEST_SKIP() << "skipped: the host and the device may not use managed memory at once";
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocManaged(&memory, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  auto* const words = reinterpret_cast<char*>(memory);
  std::fill_n(words, 64, 0);
  EXPECT_TRUE(addTogether(words));
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

}  // namespace
}  // namespace mulciber::test
