// Cooperative groups of before CUDA 11, linked with libcudadevrt.a: grids that meet, and what they are told of
// themselves. What an H200 answers natively is what is expected.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "api_test.h"

namespace mulciber::test {
namespace {

const std::string head = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.extern .func (.param .b32 result) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags);
.extern .func (.param .b32 result) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle);
.extern .func (.param .b32 result) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle);
.extern .func (.param .b32 result) __cuda_syscall_CGS_sync(.param .b64 handle, .param .b32 flags);
)";

// Five rounds in which each thread reads what another one wrote. @@ is where the grid meets: `%handle` is the grid's,
// `%first` tells a block's first thread, and `%result` gets what the call answers.
const std::string ring = head + R"(
.visible .entry ring(.param .u64 words, .param .u64 sums, .param .u64 errors, .param .u32 rounds)
{
  .reg .pred %p, %first;
  .reg .b32 %thread, %i, %n, %x, %y, %other, %round, %result, %all;
  .reg .b64 %handle, %words, %sums, %errors, %offset, %own, %ownSum, %others;
  call (%handle), cudaCGGetIntrinsicHandle, (1);
  ld.param.u64 %words, [words];
  ld.param.u64 %sums, [sums];
  ld.param.u64 %errors, [errors];
  ld.param.u32 %round, [rounds];
  mov.u32 %thread, %tid.x;
  setp.eq.u32 %first, %thread, 0;
  mov.u32 %x, %ntid.x;
  mov.u32 %y, %ctaid.x;
  mad.lo.u32 %i, %x, %y, %thread;
  mov.u32 %y, %nctaid.x;
  mul.lo.u32 %n, %x, %y;
  add.u32 %other, %i, 97;
  rem.u32 %other, %other, %n;
  mul.wide.u32 %offset, %i, 4;
  add.u64 %own, %words, %offset;
  add.u64 %ownSum, %sums, %offset;
  mul.wide.u32 %offset, %other, 4;
  add.u64 %others, %words, %offset;
  mov.u32 %result, 0;
  mov.u32 %all, 0;
  st.global.u32 [%own], %i;
again:
  @@
  or.b32 %all, %all, %result;
  ld.global.u32 %x, [%own];
  ld.global.u32 %y, [%others];
  mad.lo.u32 %x, %y, 3, %x;
  st.global.u32 [%ownSum], %x;
  @@
  or.b32 %all, %all, %result;
  st.global.u32 [%own], %x;
  sub.u32 %round, %round, 1;
  setp.ne.u32 %p, %round, 0;
  @%p bra again;
  red.global.or.b32 [%errors], %all;
  ret;
}
)";

// Each thread's handle, three codes, and four numbers.
const std::string ask = head + R"(
.visible .entry ask(.param .u64 out, .param .u32 scope)
{
  .reg .b32 %scope, %x, %y, %i, %c<3>;
  .reg .b64 %handle, %out, %to, %a, %b;
  .reg .pred %p;
  ld.param.u64 %out, [out];
  ld.param.u32 %scope, [scope];
  mov.u32 %x, %ctaid.y;
  mov.u32 %i, %nctaid.x;
  mov.u32 %y, %ctaid.x;
  mad.lo.u32 %i, %x, %i, %y;
  mov.u32 %x, %ntid.y;
  mov.u32 %y, %tid.y;
  mad.lo.u32 %i, %i, %x, %y;
  mov.u32 %x, %ntid.x;
  mov.u32 %y, %tid.x;
  mad.lo.u32 %i, %i, %x, %y;
  mul.wide.u32 %to, %i, 32;
  add.u64 %to, %to, %out;
  call (%handle), cudaCGGetIntrinsicHandle, (%scope);
  setp.ne.u64 %p, %handle, 0;
  selp.b32 %x, 1, 0, %p;
  st.global.u32 [%to], %x;
  add.u64 %a, %to, 16;
  add.u64 %b, %to, 20;
  call (%c0), cudaCGGetSize, (%a, %b, %handle);
  add.u64 %a, %to, 24;
  add.u64 %b, %to, 28;
  call (%c1), cudaCGGetRank, (%a, %b, %handle);
  call (%c2), cudaCGGetSize, (0, 0, %handle);
  st.global.u32 [%to+4], %c0;
  st.global.u32 [%to+8], %c1;
  st.global.u32 [%to+12], %c2;
  ret;
}
)";

class GridGroups : public WithDevice {
 protected:
  void load(const std::string& text, const char* name) {
    ASSERT_EQ(cuModuleLoadData(&module, text.c_str()), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&memory, bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8(memory, 0, bytes), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (memory) {
      EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
      EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }
  std::vector<uint32_t> words(size_t first, size_t count) const {
    std::vector<uint32_t> read(count);
    EXPECT_EQ(cuMemcpyDtoH(read.data(), memory + first * 4, count * 4), CUDA_SUCCESS);
    return read;
  }
  uint32_t blocksAtOnce(int threads) const {
    int blocks = 0;
    EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, 0), CUDA_SUCCESS);
    return static_cast<uint32_t>(std::min(4, blocks * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)));
  }

  void testRing(const std::string& sync) {
    if (!context) return;
    std::string text = ring;
    for (size_t at; (at = text.find("@@")) != std::string::npos;) text.replace(at, 2, sync);
    load(text, "ring");
    constexpr uint32_t threads = 64;
    const uint32_t blocks = blocksAtOnce(threads), n = blocks * threads;
    uint32_t rounds = 5;
    CUdeviceptr sums = memory + n * 4, errors = memory + n * 8;
    void* parameters[] = {&memory, &sums, &errors, &rounds};
    ASSERT_EQ(cuLaunchCooperativeKernel(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    std::vector<uint32_t> expected(n), next(n);
    for (uint32_t i = 0; i < n; ++i) expected[i] = i;
    for (uint32_t round = 0; round < rounds; ++round) {
      for (uint32_t i = 0; i < n; ++i) next[i] = expected[i] + 3 * expected[(i + 97) % n];
      expected = next;
    }
    EXPECT_EQ(words(0, n), expected);
    EXPECT_EQ(words(2 * n, 1)[0], 0u) << "what the calls answered, joined";
  }

  static constexpr size_t bytes = 64 << 10;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr memory = 0;
};

TEST_F(GridGroups, AllThreadsMeet) { testRing("call (%result), cudaCGSynchronize, (%handle, 0);"); }

TEST_F(GridGroups, SoThroughTheOtherName) { testRing("call (%result), cudaCGSynchronizeGrid, (%handle, 0);"); }

TEST_F(GridGroups, OneThreadMeetsForItsBlock) {
  testRing(
      "bar.sync 0;\n"
      "@%first call (%result), __cuda_syscall_CGS_sync, (%handle, 1);\n"
      "bar.sync 0;");
}

TEST_F(GridGroups, FlagsAreKnownOnlyAtRunTime) {
  testRing(
      "ld.param.u32 %result, [rounds];\n"
      "shr.u32 %result, %result, 4;\n"
      "call (%result), __cuda_syscall_CGS_sync, (%handle, %result);");
}

TEST_F(GridGroups, ThreadsKnowTheirGrid) {
  if (!context) return;
  load(ask, "ask");
  const bool fits = blocksAtOnce(8) >= 2;
  for (uint32_t scope = 0; scope < 3; ++scope)
    for (bool isCooperative : {false, true}) {
      if (isCooperative && !fits) continue;
      void* parameters[] = {&memory, &scope};
      ASSERT_EQ(isCooperative ? cuLaunchCooperativeKernel(function, 1, 2, 1, 4, 2, 1, 0, nullptr, parameters)
                              : cuLaunchKernel(function, 1, 2, 1, 4, 2, 1, 0, nullptr, parameters, nullptr),
                CUDA_SUCCESS);
      const bool isGrid = scope == 1 && isCooperative;
      std::vector<uint32_t> expected;
      for (uint32_t i = 0; i < 16; ++i)
        for (uint32_t word : isGrid ? std::array<uint32_t, 8>{1, 0, 0, 0, 16, 1, i, 1}
                                    : std::array<uint32_t, 8>{0, 999, 999, 999, 0, 0, 0, 0})
          expected.push_back(word);
      EXPECT_EQ(words(0, expected.size()), expected) << "scope " << scope << ", cooperative " << isCooperative;
    }
}

TEST_F(GridGroups, GridsThatAreNoneDoNotMeet) {
  if (!context) return;
  std::string text = ring;
  for (size_t at; (at = text.find("@@")) != std::string::npos;)
    text.replace(at, 2, "call (%result), cudaCGSynchronize, (%handle, 0);");
  load(text, "ring");
  uint32_t rounds = 1;
  CUdeviceptr sums = memory + 1024, errors = memory + 2048;
  void* parameters[] = {&memory, &sums, &errors, &rounds};
  ASSERT_EQ(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(words(512, 1)[0], 999u);
}

// A launch of more blocks than Mesa's driver has threads would never meet.
TEST(GridGroupsDeathTest, BlocksThatDoNotRunAtOnceAreRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  enum Wrong { NotSetUp = 10, OtherCount = 11, NotRefused = 12, NotTaken = 13 };
  const auto child = [] {
    CUdevice device = 0;
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    int isCpu = 0, threads = 0;
    setenv("LP_NUM_THREADS", "3", 1);
    if (cuInit(0) == CUDA_ERROR_NO_DEVICE) _exit(0);
    endUnless(cuDeviceGetAttribute(&isCpu, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, device) == CUDA_SUCCESS,
              NotSetUp);
    if (isCpu == 0) _exit(0);
    endUnless(cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS &&
                  cuModuleLoadData(&module, scalePtx) == CUDA_SUCCESS &&
                  cuModuleGetFunction(&function, module, "scale") == CUDA_SUCCESS,
              NotSetUp);
    endUnless(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) == CUDA_SUCCESS &&
                  threads == 3,
              OtherCount);
    CUdeviceptr data = 0;
    uint32_t factor = 1;
    uint32_t count = 0;
    void* parameters[] = {&data, &factor, &count};
    endUnless(cuLaunchCooperativeKernel(function, 4, 1, 1, 32, 1, 1, 0, nullptr, parameters) ==
                  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
              NotRefused);
    endUnless(cuLaunchCooperativeKernel(function, 3, 1, 1, 32, 1, 1, 0, nullptr, parameters) == CUDA_SUCCESS, NotTaken);
    _exit(0);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mulciber::test
