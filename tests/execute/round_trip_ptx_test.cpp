// Numbers converted to a narrower format and back keep what that format holds, and no more.
#include <array>
#include <cmath>

#include "execute/ptx_test.h"
#include "support/reference_float.h"

namespace mulciber::test {
namespace {

class RoundTripPtx : public PtxTest {
 protected:
  static constexpr std::array<float, 16> numbers = {1.1f,       -2.7f, 1 / 3.0f, 1e-8f, 3e-8f, 6.1e-5f,
                                                    65519,      65520, -70000,   0.0f,  -0.0f, 1e-40f,
                                                    12345.678f, -0.1f, 2049.0f,  1e30f};
  static std::string table() {
    std::string text = ".global .align 4 .b32 numbers[16] = {";
    for (size_t i = 0; i < numbers.size(); ++i)
      text += (i ? ", " : "") + std::to_string(std::bit_cast<uint32_t>(numbers[i]));
    return text + "};\n";
  }
  static std::string shorts() {
    std::string text = ".const .align 2 .b16 shorts[256] = {";
    for (unsigned t = 0; t < 256; ++t) text += (t ? ", " : "") + std::to_string((t << 8) & 0xFFFF);
    return text + "};\n";
  }
  // What the body, given a number in %f1, leaves in %f2.
  void expectHalves(const std::string& body) {
    const auto words = wordsOf(
        "and.b32 %r1, %t, 15; mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, numbers; "
        "add.s64 %rd2, %rd2, %rd1; ld.global.f32 %f1, [%rd2];\n" +
            body + "\nst.global.f32 [%out], %f2;",
        1, 16, table());
    for (size_t i = 0; i < numbers.size(); ++i) {
      const uint64_t half = referenceConvert(32, 16, ir::Rounding::NearestEven, std::bit_cast<uint32_t>(numbers[i]));
      EXPECT_EQ(words[i], referenceConvert(16, 32, ir::Rounding::NearestEven, half)) << body << " of " << numbers[i];
    }
  }
};

TEST_F(RoundTripPtx, ToHalfAndBack) {
  expectHalves("cvt.rn.f16.f32 %rs1, %f1; cvt.f32.f16 %f2, %rs1;");
  expectHalves(
      "cvt.rn.f16.f32 %rs1, %f1; mov.b32 %r2, {%rs1, %rs1}; mov.b32 {%rs2, %rs3}, %r2; cvt.f32.f16 %f2, %rs3;");
  expectHalves("cvt.rn.f16x2.f32 %r2, %f1, %f1; shr.u32 %r3, %r2, 16; cvt.u16.u32 %rs1, %r3; cvt.f32.f16 %f2, %rs1;");
  expectHalves(
      "cvt.rn.f16.f32 %rs1, %f1; setp.eq.u32 %p1, %t, 99; selp.b16 %rs2, 0, %rs1, %p1; cvt.f32.f16 %f2, %rs2;");
  expectHalves("cvt.rn.f16.f32 %rs1, %f1; xor.b16 %rs2, %rs1, 0x8000; cvt.f32.f16 %f3, %rs2; neg.f32 %f2, %f3;");
  expectHalves("cvt.rn.f16.f32 %rs1, %f1; cvt.f64.f16 %fd1, %rs1; cvt.rn.f32.f64 %f2, %fd1;");
  expectHalves("cvt.f64.f32 %fd1, %f1; cvt.rn.f16.f64 %rs1, %fd1; cvt.f32.f16 %f2, %rs1;");
  expectHalves(
      "mov.u32 %r2, 0; again: cvt.rn.f16.f32 %rs1, %f1; cvt.f32.f16 %f2, %rs1; mov.f32 %f1, %f2; "
      "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra again;");
}

TEST_F(RoundTripPtx, IntegersToFloatsAndBack) {
  const auto words = wordsOf(R"(
    mul.lo.u32 %r1, %t, 0x0fedcba9; cvt.rn.f32.u32 %f1, %r1; cvt.rzi.u32.f32 %r2, %f1; st.global.u32 [%out], %r2;
    cvt.rn.f16.u32 %rs1, %t; cvt.f32.f16 %f2, %rs1; mul.lo.u32 %r3, %t, 263; cvt.rn.f16.u32 %rs1, %r3;
    cvt.f32.f16 %f3, %rs1; cvt.rzi.u32.f32 %r4, %f3; st.global.u32 [%out+4], %r4;
  )",
                             2, 256);
  for (uint32_t t = 0; t < 256; ++t) {
    const auto single = static_cast<float>(t * 0x0fedcba9u);
    EXPECT_EQ(words[2 * t], single >= 0x1p32f ? UINT32_MAX : static_cast<uint32_t>(single));
    const uint64_t half = referenceFromInteger(16, ir::Rounding::NearestEven, false, t * 263);
    const auto wide =
        std::bit_cast<float>(static_cast<uint32_t>(referenceConvert(16, 32, ir::Rounding::NearestEven, half)));
    EXPECT_EQ(words[2 * t + 1], std::isinf(wide) ? UINT32_MAX : static_cast<uint32_t>(wide)) << t;
  }
}

// What clamps natively drivers have been seen to take for the integer's bits.
TEST_F(RoundTripPtx, IntegersThatDoNotFit) {
  const auto words = wordsOf(R"(
    shl.b32 %r1, %t, 24; cvt.rn.f64.s32 %fd1, %r1; cvt.rzi.u32.f64 %r2, %fd1; st.global.u32 [%out], %r2;
    cvt.rn.f64.u32 %fd2, %r1; cvt.rzi.s32.f64 %r3, %fd2; st.global.u32 [%out+4], %r3;
    cvt.u64.u32 %rd1, %r1; shl.b64 %rd1, %rd1, 8; cvt.rn.f64.u64 %fd3, %rd1; cvt.rzi.u32.f64 %r4, %fd3;
    st.global.u32 [%out+8], %r4;
    mul.lo.u32 %r5, %t, 2; mov.u64 %rd2, shorts; cvt.u64.u32 %rd3, %r5; add.s64 %rd2, %rd2, %rd3;
    ld.const.s16 %rs1, [%rd2]; cvt.rn.f32.s16 %f1, %rs1; cvt.rzi.u32.f32 %r6, %f1; st.global.u32 [%out+12], %r6;
  )",
                             4, 256, shorts());
  for (uint32_t t = 0; t < 256; ++t) {
    const int32_t word = static_cast<int32_t>(t << 24), half = static_cast<int16_t>(t << 8);
    EXPECT_EQ(words[4 * t], word < 0 ? 0 : uint32_t(word)) << t;
    EXPECT_EQ(words[4 * t + 1], word < 0 ? 0x7FFF'FFFF : uint32_t(word)) << t;
    EXPECT_EQ(words[4 * t + 2], t == 0 ? 0 : UINT32_MAX) << t;
    EXPECT_EQ(words[4 * t + 3], half < 0 ? 0 : uint32_t(half)) << t;
  }
}

}  // namespace
}  // namespace mulciber::test
