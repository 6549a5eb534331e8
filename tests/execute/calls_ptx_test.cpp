// Functions whose calls share a body do what they do inlined.
#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

// How many steps Collatz's sequence takes from x: a loop that each thread leaves at its own time.
const std::string steps = R"(
    .func (.reg .b32 n) steps(.reg .b32 x)
    {
      .reg .pred %p<3>; .reg .b32 %r<3>;
      mov.u32 n, 0;
      mov.u32 %r1, x;
    again:
      setp.le.u32 %p1, %r1, 1;
      @%p1 ret;
      and.b32 %r2, %r1, 1;
      setp.ne.u32 %p2, %r2, 0;
      @%p2 mad.lo.u32 %r1, %r1, 3, 1;
      @!%p2 shr.u32 %r1, %r1, 1;
      add.u32 n, n, 1;
      bra again;
    }
)";

class CallsPtx : public PtxTest {
 protected:
  // Each function is called at least twice: with one body for all calls, and with one for each.
  void compare(std::string_view body, uint32_t results, std::string_view declarations) {
    for (const TargetProfile& profile : profiles()) {
      inlineLimit = TranslateOptions().inlineLimit;
      const std::vector<uint32_t> inlined = wordsOf(profile, body, results, 64, declarations);
      if (IsSkipped() || HasFatalFailure()) return;
      const std::vector<uint32_t> inlinedSpirv = spirv;
      inlineLimit = 0;
      EXPECT_EQ(wordsOf(profile, body, results, 64, declarations), inlined) << profile.name;
      EXPECT_NE(spirv, inlinedSpirv) << "nothing was shared";
    }
  }
};

// An odd pointer to a member function stands for a virtual one, null for none.
TEST_F(CallsPtx, AddressesOfFunctionsAreEven) {
  const auto words = wordsOf(R"(
    mov.u64 %rd1, steps; mov.u64 %rd2, other; cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2;
    st.global.v2.u32 [%out], {%r1, %r2};)",
                             2, 1, steps + ".func other() { ret; }");
  for (uint32_t address : words) EXPECT_EQ(address % 16, 0u);
  EXPECT_NE(words[0], 0u);
  EXPECT_NE(words[1], 0u);
  EXPECT_NE(words[0], words[1]);
}

TEST_F(CallsPtx, ArgumentsAndResults) {
  compare(R"(
    call (%r1), steps, (%t);
    call (%r2), steps, (%r1);
    call (%rd1, %f1, %r3), several, (%r1, %t);
    call (%rd2, %f2, %r4), several, (%t, %r2);
    cvt.u32.u64 %r5, %rd1; cvt.u32.u64 %r6, %rd2;
    st.global.u32 [%out], %r1; st.global.u32 [%out+4], %r2; st.global.u32 [%out+8], %r3; st.global.u32 [%out+12], %r4;
    st.global.u32 [%out+16], %r5; st.global.u32 [%out+20], %r6; st.global.f32 [%out+24], %f1;
    st.global.f32 [%out+28], %f2;)",
          8, steps + R"(
    .func (.reg .b64 wide, .reg .f32 real, .reg .b32 narrow) several(.reg .b32 a, .reg .b32 b)
    {
      .reg .b32 %r<3>; .reg .f32 %f<3>;
      call (%r1), steps, (b);
      mul.wide.u32 wide, a, %r1;
      cvt.rn.f32.u32 %f1, a;
      mul.rn.ftz.f32 real, %f1, 0f3F8CCCCD;
      sub.u32 narrow, %r1, a;
    })");
}

// Structures by value, pointers into the caller's frame and to shared and global variables, what the launch tells, and
// memory of the function's own.
TEST_F(CallsPtx, MemoryOfEverySpace) {
  compare(R"(
    .local .align 8 .b8 mine[32];
    mov.u64 %rd1, mine; cvta.local.u64 %rd2, %rd1;
    st.local.u32 [mine], %t;
    mov.u64 %rd3, together; cvta.shared.u64 %rd4, %rd3; mad.wide.u32 %rd4, %t, 8, %rd4;
    st.u32 [%rd4], 7;
    call advance, (%rd2);
    call advance, (%rd4);
    call advance, (%rd2);
    ld.local.u32 %r1, [mine]; ld.local.u32 %r2, [mine+4]; ld.u32 %r3, [%rd4]; ld.u32 %r4, [%rd4+4];
    st.global.u32 [%out], %r1; st.global.u32 [%out+4], %r2; st.global.u32 [%out+8], %r3; st.global.u32 [%out+12], %r4;
    call (%r5), turned, (%t);
    call (%r6), turned, (%r5);
    st.global.u32 [%out+16], %r5; st.global.u32 [%out+20], %r6;)",
          6, R"(
    .shared .align 8 .b8 together[512];
    .global .align 4 .u32 table[4] = {11, 22, 33, 44};
    .func advance(.reg .b64 pointer)
    {
      .reg .b32 %r<6>; .reg .b64 %rd<4>;
      ld.u32 %r1, [pointer];
      and.b32 %r2, %r1, 3;
      mov.u64 %rd1, table;
      mad.wide.u32 %rd2, %r2, 4, %rd1;
      ld.global.u32 %r3, [%rd2];
      mov.u32 %r4, %tid.x; mov.u32 %r5, %ntid.x;
      add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5;
      st.u32 [pointer], %r3;
      st.u32 [pointer+4], %r1;
    }
    .func (.reg .b32 y) turned(.reg .b32 x)
    {
      .local .align 4 .b8 own[16]; .reg .b32 %r<4>; .reg .b64 %rd<3>;
      st.local.u32 [own], x; st.local.u32 [own+4], 5; st.local.u32 [own+8], 6; st.local.u32 [own+12], 7;
      and.b32 %r1, x, 3; shl.b32 %r1, %r1, 2;
      mov.u64 %rd1, own; cvt.u64.u32 %rd2, %r1; add.u64 %rd1, %rd1, %rd2;
      ld.local.u32 y, [%rd1];
    })");
}

TEST_F(CallsPtx, AFunctionMayEndTheThread) {
  compare(R"(
    st.global.u32 [%out], 1;
    call (%r1), unless, (%t, 5);
    st.global.u32 [%out], 2;
    call (%r2), unless, (%t, 40);
    add.u32 %r3, %r1, %r2;
    st.global.u32 [%out], %r3;)",
          1, R"(
    .func (.reg .b32 y) unless(.reg .b32 x, .reg .b32 last)
    {
      .reg .pred %p<2>;
      setp.eq.u32 %p1, x, last;
      @%p1 exit;
      add.u32 y, x, last;
    })");
}

// Threads come to the barrier, and to the warp operations after it, by different ways.
TEST_F(CallsPtx, BarriersBetweenCalls) {
  compare(R"(
    mov.u64 %rd1, together; mad.wide.u32 %rd2, %t, 4, %rd1;
    st.shared.u32 [%rd2], %t;
    mov.u32 %r1, %t;
    setp.lt.u32 %p1, %t, 40;
    @!%p1 bra meet;
    call (%r1), steps, (%t);
    st.shared.u32 [%rd2], %r1;
    setp.lt.u32 %p1, %r1, 9;
    @!%p1 bra meet;
    call (%r1), steps, (%r1);
    st.shared.u32 [%rd2], %r1;
  meet:
    bar.sync 0;
    xor.b32 %r2, %t, 33; mad.wide.u32 %rd3, %r2, 4, %rd1; ld.shared.u32 %r3, [%rd3];
    shfl.sync.bfly.b32 %r4, %r1, 5, 31, 0xffffffff;
    call (%r5), steps, (%r3);
    bar.sync 0;
    st.shared.u32 [%rd2], %r5;
    bar.sync 0;
    ld.shared.u32 %r6, [%rd3];
    call (%r7), steps, (%r6);
    vote.sync.ballot.b32 %r8, %p1, 0xffffffff;
    st.global.u32 [%out], %r3; st.global.u32 [%out+4], %r4; st.global.u32 [%out+8], %r5; st.global.u32 [%out+12], %r6;
    st.global.u32 [%out+16], %r7; st.global.u32 [%out+20], %r8;)",
          6, steps + ".shared .align 4 .b8 together[256];");
}

// Bodies that some calls share lead to what follows others: with two bodies the vote of the second warp would be in a
// loop that its lanes leave in different rounds.
TEST_F(CallsPtx, VotesBetweenCallsOfTwoWarps) {
  compare(R"(
    and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 0;
    mov.u32 %r1, %t; setp.lt.u32 %p3, %t, 32; @!%p3 bra second;
    call (%r1), steps, (%r1);
    vote.sync.ballot.b32 %r4, %p1, 0xffffffff; shr.u32 %r4, %r4, 25; add.u32 %r1, %r1, %r4;
    bra last;
  ofSecond:
    call (%r1), steps, (%r1);
    bra done;
  second:
    @%p1 bra even;
    call (%r1), steps, (%r1);
  even:
    call (%r1), steps, (%r1);
    and.b32 %r5, %r1, 2; setp.ne.u32 %p4, %r5, 0;
    vote.sync.ballot.b32 %r4, %p4, 0xffffffff; st.global.u32 [%out+4], %r4; shr.u32 %r4, %r4, 25; add.u32 %r1, %r1, %r4;
    bra ofSecond;
  last:
    call (%r1), steps, (%r1);
  done:
    st.global.u32 [%out], %r1;)",
          2, steps);
}

TEST_F(CallsPtx, PrivateMemoryInScratch) {
  compare(R"(
    call (%r1), spread, (%t);
    call (%r2), spread, (%r1);
    st.global.u32 [%out], %r1; st.global.u32 [%out+4], %r2;)",
          2, R"(
    .func (.reg .b32 y) spread(.reg .b32 x)
    {
      .local .align 4 .b8 own[16384]; .reg .b32 %r<4>; .reg .b64 %rd<3>;
      and.b32 %r1, x, 4095; shl.b32 %r1, %r1, 2;
      mov.u64 %rd1, own; cvt.u64.u32 %rd2, %r1; add.u64 %rd1, %rd1, %rd2;
      mad.lo.u32 %r2, x, 77, 5;
      st.local.u32 [%rd1], %r2;
      ld.local.u32 y, [%rd1];
    })");
}

}  // namespace
}  // namespace mulciber::test
