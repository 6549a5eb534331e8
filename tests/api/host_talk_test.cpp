// PIN-07: a kernel and the host answer each other while the kernel runs.
#include <atomic>
#include <cstring>
#include <string>

#include "api_test.h"

namespace mulciber::test {
namespace {

// In each round the kernel asks and looks for the answer. It gives up after a number of looks, and tells how far it
// came.
constexpr unsigned rounds = 50, mostLooks = 300'000'000;
constexpr size_t bytes = 4 * 4096, answerAt = 4096, doneAt = 8192;

struct Way {
  const char* name;
  const char* ask;   // the round, %r1, to [%rd1]
  const char* look;  // from [%rd2] to %r2
};

constexpr Way ways[] = {
    {"Volatile", "st.volatile.global.u32 [%rd1], %r1;", "ld.volatile.global.u32 %r2, [%rd2];"},
    {"Relaxed", "st.relaxed.sys.global.u32 [%rd1], %r1;", "ld.relaxed.sys.global.u32 %r2, [%rd2];"},
    {"ReleaseAcquire", "st.release.sys.global.u32 [%rd1], %r1;", "ld.acquire.sys.global.u32 %r2, [%rd2];"},
    {"Mmio", "st.mmio.relaxed.sys.global.u32 [%rd1], %r1;", "ld.mmio.relaxed.sys.global.u32 %r2, [%rd2];"},
    {"Fences", "st.global.u32 [%rd1], %r1; fence.acq_rel.sys;", "fence.acq_rel.sys; ld.global.u32 %r2, [%rd2];"},
    {"Generic", "st.volatile.u32 [%rd1], %r1;", "ld.volatile.u32 %r2, [%rd2];"},
    {"Bytes", "st.volatile.global.u8 [%rd1], %r1;", "ld.volatile.global.u8 %r2, [%rd2];"},
    {"Wide", "cvt.u64.u32 %rd4, %r1; st.volatile.global.u64 [%rd1], %rd4;",
     "ld.volatile.global.u64 %rd4, [%rd2]; cvt.u32.u64 %r2, %rd4;"},
    {"Vectors", "st.volatile.global.v2.u32 [%rd1], {%r1, %r1};", "ld.volatile.global.v2.u32 {%r2, %r5}, [%rd2];"},
};

std::string kernelOf(const Way& way) {
  return std::string(R"(
.version 8.2
.target sm_70
.address_size 64
.visible .entry talk(.param .u64 question, .param .u64 answer, .param .u64 done) {
  .reg .pred %p, %q;
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [question];
  ld.param.u64 %rd2, [answer];
  ld.param.u64 %rd3, [done];
  mov.u32 %r1, 1;
next:
  )") + way.ask +
         R"(
  mov.u32 %r3, 0;
look:
  )" + way.look +
         R"(
  add.u32 %r3, %r3, 1;
  setp.ne.u32 %p, %r2, %r1;
  setp.lt.u32 %q, %r3, )" +
         std::to_string(mostLooks) + R"(;
  and.pred %q, %p, %q;
  @%q bra look;
  @%p bra out;
  add.u32 %r1, %r1, 1;
  setp.le.u32 %p, %r1, )" +
         std::to_string(rounds) + R"(;
  @%p bra next;
out:
  st.global.u32 [%rd3], %r1;
  ret;
}
)";
}

class HostTalk : public WithDevice, public ::testing::WithParamInterface<Way> {
 protected:
  // The round that was not answered: one more than there are when all were.
  unsigned play(char* host, CUdeviceptr memory) {
    std::memset(host, 0, bytes);
    CUmodule module = nullptr;
    CUfunction talk = nullptr;
    CUstream stream = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, kernelOf(GetParam()).c_str()), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&talk, module, "talk"), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CUdeviceptr question = memory, answer = memory + answerAt, done = memory + doneAt;
    void* parameters[] = {&question, &answer, &done};
    EXPECT_EQ(cuLaunchKernel(talk, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), CUDA_SUCCESS);
    std::atomic_ref asked(*reinterpret_cast<uint32_t*>(host)), answered(*reinterpret_cast<uint32_t*>(host + answerAt));
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
      for (int look = 0; look < 1000; ++look) answered.store(asked.load());
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    return *reinterpret_cast<uint32_t*>(host + doneAt);
  }
};

TEST_P(HostTalk, ThroughPinnedMemory) {
  void* host = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemHostAlloc(&host, bytes, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
  ASSERT_EQ(cuMemHostGetDevicePointer(&memory, host, 0), CUDA_SUCCESS);
  EXPECT_EQ(play(static_cast<char*>(host), memory), rounds + 1);
  EXPECT_EQ(cuMemFreeHost(host), CUDA_SUCCESS);
}

TEST_P(HostTalk, ThroughManagedMemory) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocManaged(&memory, bytes, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(play(reinterpret_cast<char*>(memory), memory), rounds + 1);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Ways, HostTalk, ::testing::ValuesIn(ways),
                         [](const auto& way) { return std::string(way.param.name); });

}  // namespace
}  // namespace mulciber::test
