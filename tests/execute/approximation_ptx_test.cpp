// Approximate f32 functions within PTX's bounds: the device's own where they are good, and what is made of other
// operations where they are not. Besides, what ptxas makes of predicated set and testp.
#include <bit>
#include <cmath>
#include <random>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

constexpr uint32_t kCount = 1 << 14;

class ApproximationPtx : public PtxTest {
 protected:
  // What the device has, and nothing that can be relied upon; nor that denormals count where that is asked for.
  std::vector<TargetProfile> goodAndBad(bool flushes) const {
    TargetProfile bad = device->profile();
    bad.name = "with poor functions";
    bad.accurateExp2 = bad.accurateTanh = bad.denormalLog2 = false;
    bad.approximationsFlush32 |= flushes;
    return {device->profile(), bad};
  }

  // Numbers of every size and sign, the special ones first; then some in the range where functions bend.
  static std::vector<float> arguments() {
    std::vector<float> all;
    for (uint32_t bits : {0u,          1u,          2u,          0x400000u,   0x7FFFFFu,   0x800000u,   0x800001u,
                          0x3F800000u, 0x3F7FFFFFu, 0x3F800001u, 0x7F7FFFFFu, 0x7F800000u, 0x7FC00000u, 0x7F000000u,
                          0x42FE0000u, 0x43000000u, 0x43150000u, 0x31000000u, 0x3F000000u, 0x40000000u})
      for (uint32_t sign : {0u, 0x80000000u}) all.push_back(std::bit_cast<float>(bits | sign));
    std::mt19937 random(5);
    while (all.size() < kCount / 2) all.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    std::uniform_real_distribution<float> near(-160, 160), small(-3, 3);
    while (all.size() < kCount) all.push_back(random() % 2 ? near(random) : small(random));
    return all;
  }

  std::vector<float> results(const std::string& instruction, const std::vector<float>& x,
                             const TargetProfile& profile) {
    Buffer in(*device, kCount * 4), out(*device, kCount * 4);
    std::memcpy(in.as<float>(), x.data(), kCount * 4);
    Launch launch;
    launch.grid[0] = kCount / 128;
    launch.block[0] = 128;
    launch.add(in.address()).add(out.address());
    runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 128, %r2;
  mad.wide.u32 %rd1, %r1, 4, %rd1; mad.wide.u32 %rd2, %r1, 4, %rd2;
  ld.global.f32 %f1, [%rd1];
  )" + instruction +
               R"( %f2, %f1;
  st.global.f32 [%rd2], %f2;
  ret;
}
)",
           launch, profile);
    return {out.as<float>(), out.as<float>() + kCount};
  }
};

struct Function {
  const char* name;
  double (*exact)(double);
  double (*error)(double argument, double result);
};

double unitAt(double x) { return std::ldexp(1.0, std::max(x == 0 ? -126 : std::ilogb(x), -126) - 23); }

// By PTX's manual.
const Function functions[] = {
    {"ex2.approx", [](double x) { return std::exp2(x); }, [](double, double y) { return 2.5 * unitAt(y); }},
    {"lg2.approx", [](double x) { return std::log2(x); },
     [](double x, double y) { return x > 0.5 && x < 2 ? 0x1p-22 : std::abs(y) * 0x1p-22; }},
    {"tanh.approx", [](double x) { return std::tanh(x); }, [](double, double y) { return std::abs(y) * 0x1p-11; }},
    {"rcp.approx", [](double x) { return 1 / x; }, [](double, double y) { return 1.5 * unitAt(y); }},
    {"sqrt.approx", [](double x) { return std::sqrt(x); }, [](double, double y) { return std::abs(y) * 0x1p-22; }},
    {"rsqrt.approx", [](double x) { return 1 / std::sqrt(x); },
     [](double, double y) { return std::abs(y) * std::exp2(-22.4); }},
};

// Whether `found` may stand for the exact result of an argument.
bool isWithin(const Function& f, float argument, float found) {
  const double exact = f.exact(argument);
  if (std::isnan(exact)) return std::isnan(found);
  const double error = std::isinf(exact) ? 0 : f.error(argument, exact);
  if (std::isinf(found)) return std::signbit(found) == std::signbit(exact) && std::abs(exact) + error > 0x1.FFFFFEp127;
  return std::abs(found - exact) <= error && (found != 0 || exact != 0 || std::signbit(found) == std::signbit(exact));
}

TEST_F(ApproximationPtx, KeepsToTheBoundsOfPtx) {
  const std::vector<float> x = arguments();
  for (const TargetProfile& profile : goodAndBad(true))
    for (const Function& function : functions) {
      const std::vector<float> y = results(std::string(function.name) + ".f32", x, profile);
      ASSERT_EQ(y.size(), x.size());
      for (uint32_t i = 0; i < kCount; ++i)
        ASSERT_TRUE(isWithin(function, x[i], y[i]))
            << function.name << " " << profile.name << ": of " << std::hexfloat << x[i] << " " << y[i];
    }
}

TEST_F(ApproximationPtx, WithFtzDenormalsAreZeros) {
  auto flushed = [](float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
  };
  const std::vector<float> x = arguments();
  for (const TargetProfile& profile : goodAndBad(false))
    for (const Function& function : functions) {
      if (std::string(function.name) == "tanh.approx") continue;  // has no .ftz
      const std::vector<float> y = results(std::string(function.name) + ".ftz.f32", x, profile);
      ASSERT_EQ(y.size(), x.size());
      for (uint32_t i = 0; i < kCount; ++i) {
        const double exact = function.exact(flushed(x[i]));
        const bool isTiny = std::abs(exact) < 0x1p-126 * (1 + 0x1p-20);  // its neighbour may be a number
        ASSERT_NE(std::fpclassify(y[i]), FP_SUBNORMAL) << function.name << " " << profile.name << ": " << x[i];
        ASSERT_TRUE(isWithin(function, flushed(x[i]), y[i]) || (isTiny && std::abs(y[i]) <= 0x1p-126f))
            << function.name << " " << profile.name << ": of " << std::hexfloat << x[i] << " " << y[i];
      }
    }
}

// Where the guard is false, ptxas still turns the destination's old value into a number, as if it were the all ones of
// a comparison: the magnitude of the integer. Integer results stay.
TEST_F(ApproximationPtx, APredicatedSetConvertsTheOldValue) {
  const auto words = wordsOf(R"(
    setp.lt.u32 %p1, %t, 16; mov.u32 %r1, %t; add.u32 %r1, %r1, 5;
    mov.u32 %r2, %r1; mov.u32 %r3, %r1; neg.s32 %r4, %r1; mov.b32 %f3, %r1; mov.b32 %f4, %r4;
    @%p1 set.lt.u32.u32 %r2, %t, 8;
    @%p1 set.ge.s32.u32 %r3, %t, 8;
    @%p1 set.lt.f32.u32 %f3, %t, 8;
    @%p1 set.lt.f32.s32 %f4, %t, 8;
    mov.b32 %r5, %f3; mov.b32 %r6, %f4;
    st.global.u32 [%out], %r2; st.global.u32 [%out+4], %r3; st.global.u32 [%out+8], %r5; st.global.u32 [%out+12], %r6;)",
                             4);
  for (uint32_t t = 0; t < 32; ++t) {
    const uint32_t old = t + 5;
    const auto number = std::bit_cast<uint32_t>(static_cast<float>(old)), one = std::bit_cast<uint32_t>(1.0f);
    EXPECT_EQ(words[4 * t], t >= 16 ? old : t < 8 ? ~0u : 0u) << t;
    EXPECT_EQ(words[4 * t + 1], t >= 16 ? old : t >= 8 ? ~0u : 0u) << t;
    EXPECT_EQ(words[4 * t + 2], t >= 16 ? number : t < 8 ? one : 0u) << t;
    EXPECT_EQ(words[4 * t + 3], t >= 16 ? number : t < 8 ? one : 0u) << t;
  }
}

// Of 16-bit comparisons the all ones have 16 bits, so that much of the old value counts.
TEST_F(ApproximationPtx, APredicatedSetOfHalvesLooksAtHalfTheOldValue) {
  const auto words = wordsOf(R"(
    setp.lt.u32 %p1, %t, 16; mov.u32 %r1, 0x12348000; add.u32 %r1, %r1, %t; mov.u32 %r2, %r1;
    cvt.rn.f16.u32 %rs1, %t; cvt.rn.f16.u32 %rs2, 8;
    @%p1 set.lt.u32.f16 %r2, %rs1, %rs2;
    st.global.u32 [%out], %r2;)",
                             1);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(words[t], t >= 16 ? 0xFFFF8000u + t : t < 8 ? ~0u : 0u) << t;
}

// ptxas forgets the guard of testp.
TEST_F(ApproximationPtx, APredicatedTestpIsWrittenInAnyCase) {
  const auto words = wordsOf(R"(
    setp.lt.u32 %p1, %t, 16; mov.u32 %r1, 0x7F800000; and.b32 %r2, %t, 1; setp.eq.u32 %p3, %r2, 0;
    @%p3 mov.u32 %r1, 0x3F800000; mov.b32 %f1, %r1; setp.ne.u32 %p2, %t, %t;
    @%p1 testp.finite.f32 %p2, %f1;
    selp.u32 %r3, 1, 0, %p2; st.global.u32 [%out], %r3;)",
                             1);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(words[t], t % 2 == 0 ? 1u : 0u) << t;
}

}  // namespace
}  // namespace mulciber::test
