// Words that random loops with several exits set, and whose halves are taken behind them. Compilers of devices carry
// the halves apart, and may set one of the two alone. MULCIBER_FUZZ_COUNT sets how many kernels, MULCIBER_FUZZ_SEED the
// first seed.
#include <fmt/format.h>

#include <optional>
#include <random>

#include "execute/ptx_test.h"
#include "support/setting.h"

namespace mulciber::test {
namespace {

constexpr uint32_t fuel = 9, results = 3;

uint32_t wordOf(uint32_t lane, uint32_t number) { return (lane + 3) * 0x9E3779B1U + number * 0x85EBCA6BU; }

// Takes the lower half of %r1 as %r2 and the upper one as %r3; NaNs of f16 may become others.
struct Use {
  const char* text;
  bool changesNans;
};
constexpr Use uses[] = {
    {"mov.b32 {%rs1, %rs2}, %r1; cvt.u32.u16 %r2, %rs1; cvt.u32.u16 %r3, %rs2;", false},
    {"mov.b32 {%rs1, %rs2}, %r1; setp.nan.f16x2 %p4|%p5, %r1, %r1; selp.b16 %rs1, 0x7FFF, %rs1, %p4;"
     "selp.b16 %rs2, 0x7FFF, %rs2, %p5; cvt.u32.u16 %r2, %rs1; cvt.u32.u16 %r3, %rs2;",
     true},
    {"and.b32 %r2, %r1, 0xFFFF; shr.u32 %r3, %r1, 16;", false},
    {"prmt.b32 %r2, %r1, 0, 0x4410; prmt.b32 %r3, %r1, 0, 0x4432;", false},
    {"cvt.u16.u32 %rs1, %r1; cvt.u32.u16 %r2, %rs1; bfe.u32 %r3, %r1, 16, 16;", false},
};
uint32_t halfOf(const Use& use, uint32_t half) { return use.changesNans && (half & 0x7FFF) > 0x7C00 ? 0x7FFF : half; }

// Blocks one after the other: each may set the word, ends the kernel's loops when no fuel is left, and may go to
// another one, by a condition that holds always, never, or in every second lane.
struct Graph {
  enum Condition { Always, Never, Odd };
  struct Block {
    std::optional<uint32_t> set;
    std::optional<size_t> target;
    Condition condition;
  };
  std::vector<Block> blocks;
  const Use& use;

  explicit Graph(std::mt19937& random) : blocks(3 + random() % 6), use(uses[random() % std::size(uses)]) {
    for (Block& block : blocks) {
      block.condition = static_cast<Condition>(random() % 3);
      if (random() % 3 == 0) block.set = 1 + static_cast<uint32_t>(random() % 5);
      if (random() % 4 != 0) block.target = random() % (blocks.size() + 1);
    }
  }
  std::string text() const {
    constexpr const char* conditions[] = {"%p1", "!%p1", "%p2"};
    std::string text = fmt::format(
        "mov.u32 %r9, %ctaid.x; setp.eq.u32 %p1, %r9, 0; and.b32 %r8, %t, 1; setp.ne.u32 %p2, %r8, 0;\n"
        "add.u32 %r7, %t, 3; mul.lo.u32 %r7, %r7, 0x9E3779B1; mov.b32 %r1, %r7; mov.u32 %r6, {};\n",
        fuel);
    for (size_t n = 0; n < blocks.size(); ++n) {
      const Block& block = blocks[n];
      text += fmt::format("part{}: ", n);
      if (block.set) text += fmt::format("add.u32 %r1, %r7, {}; ", *block.set * 0x85EBCA6BU);
      text += fmt::format("sub.u32 %r6, %r6, 1; setp.eq.u32 %p3, %r6, 0; @%p3 bra part{};\n", blocks.size());
      if (block.target) text += fmt::format("@{} bra part{};\n", conditions[block.condition], *block.target);
    }
    return text + fmt::format(
                      "part{}: {} st.global.u32 [%out], %r1; st.global.u32 [%out+4], %r2; "
                      "st.global.u32 [%out+8], %r3;",
                      blocks.size(), use.text);
  }
  uint32_t word(uint32_t lane) const {
    uint32_t word = wordOf(lane, 0), left = fuel;
    for (size_t n = 0; n < blocks.size();) {
      const Block& block = blocks[n];
      if (block.set) word = wordOf(lane, *block.set);
      if (--left == 0) break;
      const bool holds = block.condition == Always || (block.condition == Odd && lane % 2 != 0);
      n = block.target && holds ? *block.target : n + 1;
    }
    return word;
  }
};

class CarriedHalvesPtx : public PtxTest {
 protected:
  void expectHalves(const TargetProfile& profile) {
    const uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 150);
    for (uint64_t seed = first; seed < first + count; ++seed) {
      if (isLeftOut(3)) continue;
      std::mt19937 random(static_cast<uint32_t>(seed));
      const Graph graph(random);
      const uint32_t threads = random() % 2 ? 1 : 32;
      const std::vector<uint32_t> got = wordsOf(profile, graph.text(), results, threads);
      for (uint32_t lane = 0; lane < threads; ++lane) {
        const uint32_t word = graph.word(lane);
        const uint32_t right[results] = {word, halfOf(graph.use, word & 0xFFFF), halfOf(graph.use, word >> 16)};
        for (uint32_t n = 0; n < results; ++n)
          ASSERT_EQ(got[lane * results + n], right[n])
              << "seed " << seed << ": result " << n << " of lane " << lane << "\n"
              << graph.text();
      }
    }
  }
};

TEST_F(CarriedHalvesPtx, AreThoseOfTheWord) { expectHalves(device->profile()); }

TEST_F(CarriedHalvesPtx, OfHiddenWordsAreTheSame) {
  TargetProfile profile = device->profile();
  profile.partsCarriedHalves = true;
  expectHalves(profile);
}

}  // namespace
}  // namespace mulciber::test
