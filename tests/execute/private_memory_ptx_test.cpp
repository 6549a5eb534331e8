// Private memory: recursion within the stack that a launch provides, and beyond it; variables of a module's threads.
#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

class StackPtx : public PtxTest {
 protected:
  // sum(n) = n + sum(n - 1), each call with an array of its own that it reads after the inner call, and a second
  // function that calls itself at the bottom.
  static constexpr const char* text = R"(.version 8.4
.target sm_90
.address_size 64
.func (.reg .b32 %result) triple(.reg .b32 %n)
{
  .reg .pred %p; .reg .b32 %inner, %less;
  mov.b32 %result, 0;
  setp.eq.u32 %p, %n, 0;
  @%p ret;
  sub.u32 %less, %n, 1;
  call (%inner), triple, (%less);
  add.u32 %result, %inner, 3;
  ret;
}
.func (.reg .b32 %result) sum(.reg .b32 %n)
{
  .reg .pred %p; .reg .b32 %inner, %less, %kept;
  .local .align 16 .b8 own[48];
  st.local.u32 [own+20], %n;
  setp.ne.u32 %p, %n, 0;
  @%p bra MORE;
  call (%result), triple, (10);
  ret;
MORE:
  sub.u32 %less, %n, 1;
  call (%inner), sum, (%less);
  ld.local.u32 %kept, [own+20];
  add.u32 %result, %inner, %kept;
  ret;
}
.visible .entry k(.param .u64 out, .param .u32 depth)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [depth];
  mov.u32 %r2, %tid.x; mad.wide.u32 %rd1, %r2, 4, %rd1;
  and.b32 %r3, %r2, 3; add.u32 %r1, %r1, %r3;
  call (%r4), sum, (%r1);
  st.global.u32 [%rd1], %r4;
  ret;
}
)";

  // With `mostLocal` bytes of private memory on the device: a larger stack lies in scratch.
  std::vector<uint32_t> sums(uint32_t depth, uint32_t stackBytes, uint32_t mostLocal) {
    Buffer out(*device, 32 * 4);
    Launch launch;
    launch.stackBytes = stackBytes;
    launch.add(out.address()).add(depth);
    TargetProfile profile = device->profile();
    profile.maxLocalBytes = mostLocal;
    runPtx(text, launch, profile);
    EXPECT_EQ(info.localInScratch, stackBytes != 0 || mostLocal == 0);
    return {out.as<uint32_t>(), out.as<uint32_t>() + 32};
  }
};

TEST_F(StackPtx, HoldsAsManyCallsAsTheLaunchAsksFor) {
  struct Case {
    uint32_t depth, stackBytes, mostLocal;
  };
  for (const Case& each : {Case{1, 0, 12000}, Case{20, 0, 12000}, Case{20, 0, 0}, Case{150, 24576, 12000}}) {
    std::vector<uint32_t> results = sums(each.depth, each.stackBytes, each.mostLocal);
    for (uint32_t thread = 0; thread < 32; thread++) {
      uint32_t n = each.depth + thread % 4;
      EXPECT_EQ(results[thread], n * (n + 1) / 2 + 30) << each.depth;
    }
    EXPECT_EQ(error.error, 0u) << each.depth;
  }
}

TEST_F(StackPtx, OverflowIsReportedByName) {
  for (uint32_t stackBytes : {0u, 24576u}) {
    std::vector<uint32_t> results = sums(2000, stackBytes, 12000);
    EXPECT_EQ(error.error, static_cast<uint32_t>(abi::KernelError::OutOfStack)) << stackBytes;
    for (uint32_t result : results) EXPECT_EQ(result, 0u) << "the thread has ended";
  }
}

// Memory of alloca in a kernel and in a function that it calls: `bytes` each, and the function returns its sum of them.
class AllocaPtx : public PtxTest {
 protected:
  std::vector<uint32_t> sums(uint32_t bytes, uint32_t stackBytes) {
    const std::string text = R"(.version 8.4
.target sm_90
.address_size 64
.func (.reg .b32 %sum) above(.reg .b32 %bytes, .reg .b32 %first)
{
  .reg .pred %p; .reg .b32 %value; .reg .b64 %wide, %begin, %at, %end;
  cvt.u64.u32 %wide, %bytes;
  alloca.u64 %begin, %wide;
  add.u64 %end, %begin, %wide;
  mov.b64 %at, %begin; mov.b32 %value, %first;
fill:
  st.local.b32 [%at], %value;
  add.u32 %value, %value, 1; add.u64 %at, %at, 4;
  setp.lt.u64 %p, %at, %end;
  @%p bra fill;
  mov.b64 %at, %begin; mov.b32 %sum, 0;
add:
  ld.local.b32 %value, [%at];
  add.u32 %sum, %sum, %value; add.u64 %at, %at, 4;
  setp.lt.u64 %p, %at, %end;
  @%p bra add;
  ret;
}
.visible .entry k(.param .u64 out, .param .u32 bytes)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .local .align 16 .b8 own[64];
  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [bytes];
  mov.u32 %r2, %tid.x; mad.wide.u32 %rd1, %r2, 4, %rd1;
  cvt.u64.u32 %rd2, %r1;
  alloca.u64 %rd3, %rd2;
  add.u64 %rd4, %rd3, %rd2;
  st.local.b32 [own+60], 3; st.local.b32 [%rd3], 5; st.local.b32 [%rd4+-4], 7;
  call (%r3), above, (%r1, %r2);
  ld.local.b32 %r4, [own+60]; ld.local.b32 %r5, [%rd3]; ld.local.b32 %r6, [%rd4+-4];
  mad.lo.u32 %r4, %r5, 10, %r4; mad.lo.u32 %r4, %r6, 100, %r4;
  add.u32 %r3, %r3, %r4;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";
    Buffer out(*device, 32 * 4);
    Launch launch;
    launch.stackBytes = stackBytes;
    launch.add(out.address()).add(bytes);
    runPtx(text, launch, device->profile());
    return {out.as<uint32_t>(), out.as<uint32_t>() + 32};
  }
};

TEST_F(AllocaPtx, HasTheStackThatTheLaunchAsksFor) {
  for (const auto& [bytes, stackBytes] : {std::pair(4096u, 0u), {8192u, 16384u}, {16384u, 16384u}}) {
    const std::vector<uint32_t> results = sums(bytes, stackBytes);
    const uint32_t count = bytes / 4;
    EXPECT_EQ(error.error, 0u) << bytes;
    for (uint32_t thread = 0; thread < 32; thread++)
      EXPECT_EQ(results[thread], 753 + count * thread + count * (count - 1) / 2) << bytes;
  }
}

TEST_F(AllocaPtx, OverflowIsReportedByName) {
  for (const auto& [bytes, stackBytes] : {std::pair(4100u, 0u), {16388u, 16384u}, {0xFFFFFFF0u, 16384u}}) {
    const std::vector<uint32_t> results = sums(bytes, stackBytes);
    EXPECT_EQ(error.error, static_cast<uint32_t>(abi::KernelError::OutOfStack)) << bytes;
    for (uint32_t result : results) EXPECT_EQ(result, 0u) << "the thread has ended";
  }
}

class VolatilePtx : public PtxTest {};

// What NVRTC of CUDA 13.5 writes for volatile variables of a thread.
TEST_F(VolatilePtx, PrivateMemoryHoldsWhatWasStored) {
  Buffer out(*device, 32 * 4);
  Launch launch;
  launch.add(out.address());
  runPtx(R"(.version 9.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p;
  .local .align 16 .b8 cells[64];
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 4, %rd1;
  mov.u64 %rd2, cells; and.b32 %r2, %r1, 7; mad.wide.u32 %rd3, %r2, 8, %rd2;
  st.volatile.local.v2.u32 [%rd3], {%r1, %r2};
  mov.u32 %r3, 0;
AGAIN:
  ld.volatile.local.u32 %r4, [%rd3]; add.u32 %r4, %r4, 100; st.volatile.local.u32 [%rd3], %r4;
  add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 5; @%p bra AGAIN;
  ld.volatile.local.v2.u32 {%r5, %r6}, [%rd3]; mad.lo.u32 %r5, %r6, 1000, %r5;
  st.global.u32 [%rd1], %r5;
  ret;
}
)",
         launch, device->profile());
  for (uint32_t thread = 0; thread < 32; thread++)
    EXPECT_EQ(out.as<uint32_t>()[thread], thread + 500 + thread % 8 * 1000);
}

class ModuleScopePtx : public PtxTest {};

// PTX before 3.0 declares registers and private memory there: each thread has its own.
TEST_F(ModuleScopePtx, RegistersAndLocalVariablesBelongToTheThread) {
  Buffer out(*device, 32 * 4);
  Launch launch;
  launch.add(out.address());
  runPtx(R"(.version 2.3
.target sm_20
.address_size 64
.reg .u32 %kept, %r<3>;
.local .align 4 .u32 cells[4];
.entry k(.param .u64 out)
{
  .reg .u64 %rd<3>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
  mul.lo.u32 %kept, %r1, 3;
  st.local.u32 [cells+8], %kept;
  add.u32 %kept, %kept, 1;
  ld.local.u32 %r2, [cells+8];
  mad.lo.u32 %kept, %r2, 100, %kept;
  st.global.u32 [%rd1], %kept;
  exit;
}
)",
         launch, device->profile());
  for (uint32_t thread = 0; thread < 32; thread++) EXPECT_EQ(out.as<uint32_t>()[thread], thread * 303 + 1);
}

}  // namespace
}  // namespace mulciber::test
