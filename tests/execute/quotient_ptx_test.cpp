// Quotients, reciprocals and roots of f32 as they are made for devices that have only estimates, beside the host's own.
#include <bit>
#include <cmath>
#include <random>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

constexpr uint32_t kCount = 1 << 18;

class QuotientPtx : public PtxTest {
 protected:
  void SetUp() override {
    PtxTest::SetUp();
    if (IsSkipped()) return;
    const TargetProfile& profile = device->profile();
    areExact_ = profile.exactDivSqrt32 && profile.exactFma32;
    if (!areExact_ && !profile.fusedFma32)
      GTEST_SKIP() << "skipped: the device's fused multiply-add is not what the estimates need";
  }

  // Random numbers of every size, of sizes near where quick ways end, and of few bits; the special ones first.
  static std::vector<float> numbers(unsigned seed) {
    std::mt19937 random(seed);
    const uint32_t special[] = {0,          1,          0x7FFFFF,   0x800000,   0x800001,   0x17FFFFFF,
                                0x18000000, 0x1F7FFFFF, 0x1F800000, 0x3F7FFFFF, 0x3F800000, 0x3F800001,
                                0x3FFFFFFF, 0x40000000, 0x407FFFFF, 0x5DFFFFFF, 0x5E000000, 0x7E000000,
                                0x7EFFFFFF, 0x7F7FFFFF, 0x7F800000, 0x7FC00000};
    auto number = [&]() -> uint32_t {
      const uint32_t word = static_cast<uint32_t>(random()), sign = word & 0x80000000;
      switch (random() % 8) {
        case 0: return word;
        case 1: return sign | special[random() % std::size(special)];
        case 2: return sign | (special[random() % std::size(special)] + random() % 16 - 8);
        case 3: return (word & 0x807FF000) | (0x3F000000 + (random() % 4 << 23));
        case 4: return sign | 0x3FFFFFF0 | (word & 15);
        default: return (word & 0x807FFFFF) | (0x3F000000 + (random() % 4 << 23));
      }
    };
    std::vector<float> all;
    while (all.size() < kCount) all.push_back(std::bit_cast<float>(number()));
    return all;
  }

  void expectRight(const std::string& instruction, float (*exact)(float, float)) {
    const std::vector<float> x = numbers(1), y = numbers(2);
    const std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 128, %r2;
  mad.wide.u32 %rd1, %r1, 4, %rd1; mad.wide.u32 %rd2, %r1, 4, %rd2; mad.wide.u32 %rd3, %r1, 4, %rd3;
  ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2];
  )" + instruction + R"(
  st.global.f32 [%rd3], %f3;
  ret;
}
)";
    Buffer first(*device, kCount * 4), second(*device, kCount * 4), out(*device, kCount * 4);
    std::memcpy(first.as<float>(), x.data(), kCount * 4);
    std::memcpy(second.as<float>(), y.data(), kCount * 4);
    Launch launch;
    launch.grid[0] = kCount / 128;
    launch.block[0] = 128;
    launch.add(first.address()).add(second.address()).add(out.address());
    // Exact operations serve as estimates for either way; others for what the probe found.
    for (bool once : {false, true}) {
      TargetProfile profile = device->profile();
      profile.exactDivSqrt32 = false;
      profile.refinesInOneStep32 = once && (areExact_ || profile.refinesInOneStep32);
      profile.dividesByRoots32 = once && (areExact_ || profile.dividesByRoots32);
      runPtx(text, launch, profile);
      for (uint32_t i = 0; i < kCount; ++i) {
        const float want = exact(x[i], y[i]), got = out.as<float>()[i];
        ASSERT_TRUE(std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(want) ||
                    (std::isnan(got) && std::isnan(want)))
            << instruction << (once ? " in one step" : "") << " of " << std::hexfloat << x[i] << " and " << y[i] << ": "
            << got << ", not " << want;
      }
    }
  }

 private:
  bool areExact_ = false;
};

TEST_F(QuotientPtx, QuotientsAreTheNearest) {
  expectRight("div.rn.f32 %f3, %f1, %f2;", [](float x, float y) { return x / y; });
}

TEST_F(QuotientPtx, QuotientsWithAConstantAreTheNearest) {
  expectRight("div.rn.f32 %f3, %f1, 0f40490FDB;", [](float x, float) { return x / 0x1.921FB6p1f; });
  expectRight("div.rn.f32 %f3, 0fC0490FDB, %f1;", [](float x, float) { return -0x1.921FB6p1f / x; });
}

TEST_F(QuotientPtx, ReciprocalsAreTheNearest) {
  expectRight("rcp.rn.f32 %f3, %f1;", [](float x, float) { return 1 / x; });
}

TEST_F(QuotientPtx, RootsAreTheNearest) {
  expectRight("sqrt.rn.f32 %f3, %f1;", [](float x, float) { return std::sqrt(x); });
}

}  // namespace
}  // namespace mulciber::test
