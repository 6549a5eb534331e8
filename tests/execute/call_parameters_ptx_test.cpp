// What calls pass: through lists of targets, from call to call, in registers of other widths, in arrays without a size.
#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

class CallParametersPtx : public PtxTest {
 protected:
  using Expected = uint32_t (*)(uint32_t thread);

  // One word for each thread, which the body leaves in %r1; with all calls inlined, and with shared bodies.
  void expect(std::string_view declarations, const std::string& body, Expected expected) {
    for (const uint32_t limit : {TranslateOptions().inlineLimit, 0u}) {
      inlineLimit = limit;
      const auto words = wordsOf(body + "\nst.global.b32 [%out], %r1;", 1, 32, declarations);
      if (IsSkipped() || HasFatalFailure()) return;
      EXPECT_EQ(error.error, 0u);
      for (uint32_t thread = 0; thread < 32; thread++) EXPECT_EQ(words[thread], expected(thread)) << thread;
    }
  }
};

const std::string more = R"(
    .func (.param .b32 r) one(.param .b32 a)
    { .reg .b32 %r1; ld.param.b32 %r1, [a]; add.u32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }
    .func (.param .b32 r) ten(.param .b32 a)
    { .reg .b32 %r1; ld.param.b32 %r1, [a]; add.u32 %r1, %r1, 10; st.param.b32 [r], %r1; ret; }
    .visible .func (.param .b32 r) unit(.param .b32 a);
    .alias unit, one;
)";

TEST_F(CallParametersPtx, ThroughListsOfTargets) {
  expect(more, R"(
    T: .calltargets one, ten, unit, one;
    mov.u64 %rd1, ten;
    and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 1;
    @%p1 mov.u64 %rd1, one;
    call (%r1), %rd1, (%t), T;)",
         [](uint32_t t) { return t + (t % 2 ? 1 : 10); });
}

// What a list does not name is not called.
TEST_F(CallParametersPtx, AListOfTargetsIsComplete) {
  wordsOf("T: .calltargets one; mov.u64 %rd1, ten; mov.u64 %rd2, one; call (%r1), %rd1, (%t), T;", 1, 32, more);
  EXPECT_EQ(error.error, static_cast<uint32_t>(abi::KernelError::IllegalAddress));
}

TEST_F(CallParametersPtx, FromCallToCall) {
  expect(more, R"(
    .param .b32 x, y, z;
    st.param.b32 [x], %t;
    call (y), one, (x);
    call (z), ten, (y);
    call (y), one, (z);
    ld.param.b32 %r1, [y];)",
         [](uint32_t t) { return t + 12; });
}

// One half of it is all that the caller looks at.
TEST_F(CallParametersPtx, FromCallToCallPartlyLoaded) {
  expect(R"(
    .func (.param .align 8 .b8 r[16]) spread(.param .b32 a)
    {
      .reg .b32 %r<5>;
      ld.param.b32 %r1, [a]; add.u32 %r2, %r1, 100; add.u32 %r3, %r1, 200; add.u32 %r4, %r1, 300;
      st.param.v2.b32 [r], {%r1, %r2}; st.param.v2.b32 [r+8], {%r3, %r4}; ret;
    }
    .func (.param .b32 r) sum(.param .align 8 .b8 a[16])
    {
      .reg .b32 %r<4>;
      ld.param.b32 %r1, [a]; ld.param.b32 %r2, [a+4]; ld.param.b32 %r3, [a+12];
      add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.param.b32 [r], %r1; ret;
    })",
         R"(
    .param .align 8 .b8 y[16];
    call (y), spread, (%t);
    ld.param.b32 %r2, [y+8];
    st.param.b32 [y], %r2;
    call (%r1), sum, (y);
    ld.param.b32 %r3, [y+4];
    sub.u32 %r1, %r1, %r3;)",
         [](uint32_t t) { return t + 200 + t + 300; });
}

TEST_F(CallParametersPtx, RegistersInPieces) {
  expect(R"(
    .func (.param .b64 r) swap(.param .b64 a)
    { .reg .b32 %r<3>; ld.param.v2.b32 {%r1, %r2}, [a]; st.param.v2.b32 [r], {%r2, %r1}; ret; }
    .func (.param .b64 r) upper(.param .b64 a)
    {
      .reg .b16 %h; .reg .b32 %r1;
      ld.param.b16 %h, [a+4]; cvt.u32.u16 %r1, %h; st.param.b32 [r+4], %r1; ld.param.b32 %r1, [a]; st.param.b32 [r], %r1;
      ret;
    }
    .func (.param .b128 r) turn(.param .b128 a)
    { .reg .b64 %d<3>; ld.param.v2.b64 {%d1, %d2}, [a]; st.param.v2.b64 [r], {%d2, %d1}; ret; }
    .func (.param .b32 r) fourth(.param .b128 a)
    { .reg .b32 %r1; ld.param.b32 %r1, [a+12]; st.param.b32 [r], %r1; ret; }
    .func (.param .f32 r) half(.param .f64 a)
    { .reg .b32 %r1; ld.param.b32 %r1, [a+4]; st.param.b32 [r], %r1; ret; })",
         R"(
    .reg .b128 %q<3>;
    add.u32 %r2, %t, 70000;
    mov.b64 %rd1, {%t, %r2};
    call (%rd2), swap, (%rd1);
    mov.b64 {%r3, %r4}, %rd2;                   // t + 70000, t
    sub.u32 %r1, %r3, %r4;                      // 70000
    call (%rd2), upper, (%rd1);
    mov.b64 {%r3, %r4}, %rd2;                   // t, t + 70000 - 65536
    mad.lo.u32 %r1, %r4, 100000, %r1;
    call (%rd2), swap, (0x500000007);
    mov.b64 {%r3, %r4}, %rd2;                   // 5, 7
    mad.lo.u32 %r1, %r3, 1000, %r1;
    mad.lo.u32 %r1, %r4, 200, %r1;
    mov.b128 %q1, {%rd1, %rd2};
    call (%q2), turn, (%q1);
    mov.b128 {%rd3, %rd4}, %q2;
    sub.u64 %rd3, %rd3, %rd2;
    sub.u64 %rd4, %rd4, %rd1;
    or.b64 %rd3, %rd3, %rd4;
    cvt.u32.u64 %r5, %rd3;
    add.u32 %r1, %r1, %r5;                      // 0
    call (%r5), fourth, (%q1);
    add.u32 %r1, %r1, %r5;                      // 7
    call (%f1), half, (1.0);
    mov.b32 %r5, %f1; shr.u32 %r5, %r5, 20;     // 0x3FF
    add.u32 %r1, %r1, %r5;)",
         [](uint32_t t) { return 70000 + (t + 4464) * 100000 + 5000 + 1400 + 7 + 0x3FF; });
}

TEST_F(CallParametersPtx, RegistersOfVectors) {
  expect(R"(
    .func (.reg .v2 .b32 r) swap(.reg .v2 .b32 a)
    { mov.b32 r.x, a.y; mov.b32 r.y, a.x; ret; })",
         R"(
    .reg .v2 .b32 %v<3>;
    mov.b32 %v1.x, %t; mov.b32 %v1.y, 5;
    call (%v2), swap, (%v1);
    mad.lo.u32 %r1, %v2.y, 10, %v2.x;)",
         [](uint32_t t) { return t * 10 + 5; });
}

// Each call passes as many bytes as it likes, at places that the function computes.
TEST_F(CallParametersPtx, ArraysWithoutASize) {
  expect(R"(
    .func (.param .b32 r) sum(.param .b32 count, .param .align 8 .b8 rest[])
    {
      .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<3>;
      ld.param.b32 %r1, [count]; mov.b32 %r2, 0; mov.b64 %d1, rest;
    next:
      setp.eq.u32 %p, %r1, 0;
      @%p bra done;
      ld.param.b32 %r3, [%d1];
      mad.lo.u32 %r2, %r2, 10, %r3;
      add.u64 %d1, %d1, 4; sub.u32 %r1, %r1, 1;
      bra next;
    done:
      st.param.b32 [r], %r2; ret;
    })",
         R"(
    .param .b32 n; .param .align 8 .b8 two[8]; .param .align 8 .b8 four[16];
    st.param.b32 [n], 2; st.param.b32 [two], %t; st.param.b32 [two+4], 2;
    call (%r1), sum, (n, two);
    st.param.b32 [n], 4; st.param.v4.b32 [four], {3, 4, 5, %t};
    call (%r2), sum, (n, four);
    add.u32 %r1, %r1, %r2;
    st.param.b32 [n], 0;
    call (%r2), sum, (n);
    add.u32 %r1, %r1, %r2;)",
         [](uint32_t t) { return t * 10 + 2 + 3450 + t; });
}

// The largest alignment in a program is not always that of the first frame.
TEST_F(CallParametersPtx, LocalVariablesAreAligned) {
  expect(R"(
    .func (.reg .b32 r) deep(.reg .b32 n)
    {
      .local .align 128 .b8 b[8]; .reg .b64 %d1; .reg .b32 %r<3>; .reg .pred %p;
      st.local.b32 [b], n;
      mov.b64 %d1, b; cvt.u32.u64 %r1, %d1; and.b32 r, %r1, 127;
      setp.eq.u32 %p, n, 0; @%p ret;
      sub.u32 %r1, n, 1;
      call (%r2), deep, (%r1);
      add.u32 r, r, %r2;
      ld.local.b32 %r1, [b]; mad.lo.u32 r, %r1, 1000, r;
      ret;
    }
    .func (.reg .b32 r) place(.reg .b32 n)
    {
      .local .align 32 .b8 b[32]; .local .align 4 .b8 c[4]; .reg .b64 %d<3>; .reg .b32 %r<3>;
      st.local.b32 [b], 7; st.local.b32 [c], 8; st.local.b32 [b+16], n;
      mov.b64 %d1, b; or.b64 %d2, %d1, 16; ld.local.b32 %r1, [%d2];
      cvt.u32.u64 %r2, %d1; and.b32 %r2, %r2, 31;
      mad.lo.u32 r, %r1, 100, %r2;
      call (%r2), deep, (3);
      add.u32 r, r, %r2;
    })",
         R"(
    .local .align 16 .b8 a[16];
    st.local.b32 [a], %t;
    call (%r1), place, (%t);
    ld.local.b32 %r2, [a];
    add.u32 %r1, %r1, %r2;)",
         [](uint32_t t) { return t * 100 + 6000 + t; });
}

TEST_F(CallParametersPtx, FunctionsReadParametersOfTheKernel) {
  expect(R"(
    .func (.param .b32 r) content(.param .b64 place, .param .b64 own)
    {
      .reg .b64 %d<5>; .reg .b32 %r<4>;
      ld.param.b64 %d1, [place];
      ld.param::entry.b32 %r1, [%d1];
      cvta.param::entry.u64 %d2, %d1;
      ld.b32 %r2, [%d2];
      mov.b64 %d3, own;
      ld.param::func.b32 %r3, [%d3];
      mad.lo.u32 %r1, %r2, 3, %r1;
      add.u32 %r1, %r1, %r3;
      st.param.b32 [r], %r1; ret;
    })",
         R"(
    .param .b64 place; .param .b64 own;
    mov.b64 %rd1, parameter; st.param.b64 [place], %rd1;
    cvt.u64.u32 %rd2, %t; st.param.b64 [own], %rd2;
    call (%r1), content, (place, own);
    ld.param.b32 %r2, [parameter];
    shl.b32 %r2, %r2, 2;
    sub.u32 %r1, %r1, %r2;)",
         [](uint32_t t) { return t; });
}

}  // namespace
}  // namespace mulciber::test
