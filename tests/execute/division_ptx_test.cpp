// 32-bit division as PTX means it, by the driver's own instruction and by reciprocals (passes/divisions).
#include <random>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

class DivisionPtx : public PtxTest {
 protected:
  struct Pair {
    uint32_t n, d;
  };

  // Special values with each other; then numbers of every length, and neighbours of multiples of the divisor.
  static std::vector<Pair> pairs(size_t count) {
    std::vector<uint32_t> special = {0, 1, 2, 3, 5, 7, 10, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF};
    for (uint32_t i = 2; i < 32; ++i)
      for (uint32_t near : {~0u, 0u, 1u}) special.push_back((1u << i) + near);
    std::vector<Pair> result;
    for (uint32_t n : special)
      for (uint32_t d : special) result.push_back({n, d});
    std::mt19937 random(12);
    while (result.size() < count) {
      const uint32_t d = static_cast<uint32_t>(random()) >> random() % 32;
      const uint32_t n = static_cast<uint32_t>(random()) >> random() % 32;
      result.push_back({n, d});
      if (d == 0) continue;
      const uint32_t multiple = static_cast<uint32_t>(random()) / d * d;
      for (uint32_t near : {~0u, 0u, 1u}) result.push_back({multiple + near, d});
      result.push_back({~0u - static_cast<uint32_t>(random()) % 16, d});
    }
    result.resize(count);
    return result;
  }

  static void expect(const Pair& x, const uint32_t* results, const std::string& name) {
    const auto n = static_cast<int32_t>(x.n), d = static_cast<int32_t>(x.d);
    const bool wraps = x.n == 0x80000000 && x.d == ~0u;
    ASSERT_EQ(results[0], x.d == 0 ? ~0u : x.n / x.d) << name << ": " << x.n << " / " << x.d;
    ASSERT_EQ(results[1], x.d == 0 ? ~0u : x.n % x.d) << name << ": " << x.n << " % " << x.d;
    const uint32_t quotient = x.d == 0 ? ~0u : wraps ? x.n : static_cast<uint32_t>(n / d);
    ASSERT_EQ(results[2], quotient) << name << ": " << n << " / " << d;
    const uint32_t remainder = x.d == 0 ? ~0u : wraps ? 0 : static_cast<uint32_t>(n % d);
    ASSERT_EQ(results[3], remainder) << name << ": " << n << " % " << d;
  }
};

TEST_F(DivisionPtx, IsExactEitherWay) {
  constexpr uint32_t count = 1 << 18, threads = 256;
  const std::vector<Pair> all = pairs(count);
  for (bool isSlow : {false, true}) {
    TargetProfile profile = device->profile();
    profile.slowDivision32 = isSlow;
    Buffer in(*device, count * sizeof(Pair)), out(*device, count * 16);
    std::memcpy(in.as<Pair>(), all.data(), count * sizeof(Pair));
    Launch launch;
    launch.grid[0] = count / threads;
    launch.block[0] = threads;
    launch.add(in.address()).add(out.address());
    runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<20>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 256, %r2;
  mad.wide.u32 %rd1, %r1, 8, %rd1; mad.wide.u32 %rd2, %r1, 16, %rd2;
  ld.global.v2.u32 {%r3, %r4}, [%rd1];
  div.u32 %r5, %r3, %r4; rem.u32 %r6, %r3, %r4; div.s32 %r7, %r3, %r4; rem.s32 %r8, %r3, %r4;
  st.global.v4.u32 [%rd2], {%r5, %r6, %r7, %r8};
  ret;
}
)",
           launch, profile);
    for (uint32_t i = 0; i < count; ++i) {
      expect(all[i], out.as<uint32_t>() + 4 * i, isSlow ? "by reciprocals" : "by the driver");
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace mulciber::test
