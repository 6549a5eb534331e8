// Sums of floats in shared memory. Where the lanes of a warp name one place, one of them adds the numbers of all: what
// each is told must be what the place held before its own number, in some order.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 96;

// Which threads add, and where: %r2 is the thread, %r3 the place among 32 of a warp's own.
struct Case {
  const char* text;
  bool (*adds)(uint32_t thread);
  uint32_t (*place)(uint32_t thread);
};

const Case cases[] = {
    {"mov.u32 %r3, 0; setp.ne.u32 %p1, 1, 0;", [](uint32_t) { return true; }, [](uint32_t) { return 0u; }},
    {"mov.u32 %r3, 5; and.b32 %r4, %r2, 1; setp.ne.u32 %p1, %r4, 0;", [](uint32_t t) { return t % 2 == 1; },
     [](uint32_t) { return 5u; }},
    {"mov.u32 %r3, 5; setp.eq.u32 %p1, %r2, 40;", [](uint32_t t) { return t == 40; }, [](uint32_t) { return 5u; }},
    {"mov.u32 %r3, 5; rem.u32 %r4, %r2, 9; setp.eq.u32 %p1, %r4, 8;", [](uint32_t t) { return t % 9 == 8; },
     [](uint32_t) { return 5u; }},
    {"and.b32 %r3, %r2, 31; setp.ne.u32 %p1, 1, 0;", [](uint32_t) { return true; }, [](uint32_t t) { return t % 32; }},
    {"shr.u32 %r3, %r2, 4; and.b32 %r3, %r3, 1; setp.gt.u32 %p1, %r2, 7;", [](uint32_t t) { return t > 7; },
     [](uint32_t t) { return t / 16 % 2; }},
    {"shr.u32 %r3, %r2, 5; setp.lt.u32 %p1, %r2, 70;", [](uint32_t t) { return t < 70; },
     [](uint32_t t) { return t / 32; }},
};

template <typename T>
class Type;
template <>
struct Type<float> {
  static constexpr const char *name = "f32", *word = "b32", *shift = "2", *number = "cvt.rn.f32.u32 %x1, %r5;";
};
template <>
struct Type<double> {
  static constexpr const char *name = "f64", *word = "b64", *shift = "3", *number = "cvt.rn.f64.u32 %x1, %r5;";
};

class SharedSumsPtx : public PtxTest {
 protected:
  // Each thread adds a power of two of its own bits three times, so that sums tell who has been added.
  template <typename T>
  void expectSums(const TargetProfile& profile) {
    for (const Case& given : cases)
      for (const bool hasResult : {true, false}) {
        Buffer out(*device, 8 * (threads * 3 + 32));
        Launch launch;
        launch.block[0] = threads;
        launch.add(out.address());
        const std::string add =
            hasResult ? "atom.shared.add.TYPE %x2, [%r6], %x1;" : "red.shared.add.TYPE [%r6], %x1; mov.TYPE %x2, %x1;";
        std::string text = R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .pred %p<3>; .reg .TYPE %x<4>;
  .shared .align 8 .b8 places[256];
  ld.param.u64 %rd1, [out]; mov.u32 %r2, %tid.x; mov.u32 %r7, places; and.b32 %r3, %r2, 31;
  shl.b32 %r3, %r3, SHIFT; add.u32 %r3, %r3, %r7; mov.WORD %x3, 0; st.shared.TYPE [%r3], %x3; bar.sync 0;
  CASE
  shl.b32 %r6, %r3, SHIFT; add.u32 %r6, %r6, %r7;
  mul.lo.u32 %r8, %r2, 3; mul.wide.u32 %rd2, %r8, 8; add.u64 %rd2, %rd2, %rd1; add.u32 %r5, %r2, 1; mov.u32 %r9, 0;
  @!%p1 bra DONE;
AGAIN:
  NUMBER ADD st.global.TYPE [%rd2], %x2; add.u64 %rd2, %rd2, 8; add.u32 %r9, %r9, 1;
  setp.lt.u32 %p2, %r9, 3; @%p2 bra AGAIN;
DONE:
  bar.sync 0; setp.ge.u32 %p1, %r2, 32; @%p1 bra END;
  shl.b32 %r3, %r2, SHIFT; add.u32 %r3, %r3, %r7; ld.shared.TYPE %x2, [%r3];
  add.u32 %r8, %r2, 288; mul.wide.u32 %rd2, %r8, 8; add.u64 %rd2, %rd2, %rd1; st.global.TYPE [%rd2], %x2;
END:
  ret;
})";
        for (const auto& [from, to] : {std::pair<std::string, std::string>{"CASE", given.text},
                                       {"ADD", add},
                                       {"NUMBER", Type<T>::number},
                                       {"TYPE", Type<T>::name},
                                       {"WORD", Type<T>::word},
                                       {"SHIFT", Type<T>::shift}})
          text = replaced(text, from, to);
        runPtx(text, launch, profile);
        const auto number = [&](uint32_t index) {
          T value;
          std::memcpy(&value, out.as<uint8_t>() + 8 * index, sizeof value);
          return value;
        };
        for (uint32_t place = 0; place < 32; ++place) {
          double sum = 0;
          // The old values, each with what was added to it: together they lead from 0 to the sum.
          std::vector<std::pair<T, T>> steps;
          for (uint32_t thread = 0; thread < threads; ++thread) {
            if (!given.adds(thread) || given.place(thread) != place) continue;
            for (uint32_t round = 0; round < 3; ++round) {
              sum += thread + 1;
              steps.push_back({number(thread * 3 + round), T(thread + 1)});
            }
          }
          EXPECT_EQ(number(threads * 3 + place), sum) << given.text << " " << Type<T>::name << ", place " << place;
          if (!hasResult) continue;
          std::ranges::sort(steps);
          T before = 0;
          for (const auto& [old, added] : steps) {
            EXPECT_EQ(old, before) << given.text << " " << Type<T>::name << ", place " << place;
            before = old + added;
          }
        }
      }
  }
};

TEST_F(SharedSumsPtx, AreOfAllNumbers) {
  TargetProfile profile = device->profile();
  for (const bool parts : {false, true}) {
    profile.partsLanesAtSharedAtomics = parts;
    expectSums<float>(profile);
    expectSums<double>(profile);
  }
}

// The numbers are such that sums of them are small, infinite, or none.
TEST_F(SharedSumsPtx, RoundAsOneAfterTheOther) {
  TargetProfile profile = device->profile();
  profile.partsLanesAtSharedAtomics = true;
  const uint32_t numbers[] = {0x00000001, 0x80000003, 0x00800000, 0x807FFFFF, 0x7F7FFFFF, 0x7F800000,
                              0xFF800000, 0x7FC12345, 0x3F800001, 0x33800000, 0x80000000};
  for (const uint32_t first : numbers)
    for (const uint32_t second : numbers) {
      Buffer out(*device, 4);
      Launch launch;
      launch.block[0] = 32;
      launch.add(out.address()).add(first).add(second);
      runPtx(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .b32 first, .param .b32 second)
{
  .reg .b32 %r<6>; .reg .b64 %rd<2>; .reg .pred %p<2>; .reg .f32 %f<3>;
  .shared .align 4 .b8 place[4];
  ld.param.u64 %rd1, [out]; ld.param.b32 %r1, [first]; ld.param.b32 %r2, [second]; mov.u32 %r3, %tid.x;
  mov.u32 %r4, 0x80000000; st.shared.b32 [place], %r4; bar.sync 0; setp.eq.u32 %p1, %r3, 7; selp.b32 %r4, %r1, %r4, %p1;
  setp.eq.u32 %p1, %r3, 9; selp.b32 %r4, %r2, %r4, %p1; mov.b32 %f1, %r4; red.shared.add.f32 [place], %f1; bar.sync 0;
  ld.shared.b32 %r5, [place]; st.global.b32 [%rd1], %r5;
  ret;
})",
             launch, profile);
      float sum = std::bit_cast<float>(first) + std::bit_cast<float>(second);
      const uint32_t expected = std::isnan(sum) ? 0x7FFFFFFF : std::bit_cast<uint32_t>(sum);
      EXPECT_EQ(*out.as<uint32_t>(), expected) << std::hex << first << " " << second;
    }
}

}  // namespace
}  // namespace mulciber::test
