// Loops that carry predicates, with operations of a warp in them or behind them. Compilers of devices make branches of
// such predicates, and may take lanes apart, or think them together, where an operation of the warp follows.
#include <array>
#include <bit>
#include <random>

#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 64, rounds = 4;

// The lanes of a warp between two operations: the sum %r6, the word %r3 that was loaded, and the flag %p2.
struct Lane {
  uint32_t number, loaded, sum;
  bool flag;
};
using Warp = std::array<Lane, 32>;

// Makes the word %r9 of each lane's sum %r6 and flag %p2.
struct Operation {
  const char* text;
  std::function<uint32_t(const Warp& warp, const Lane& lane)> value;
};
uint32_t lanesWhere(const Warp& warp, const std::function<bool(const Lane&)>& isIn) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < 32; ++i) mask |= uint32_t{isIn(warp[i])} << i;
  return mask;
}
uint32_t ballot(const Warp& warp) {
  return lanesWhere(warp, [](const Lane& lane) { return lane.flag; });
}
uint32_t sameLow(const Warp& warp, const Lane& lane, uint32_t mask) {
  return lanesWhere(warp, [&](const Lane& other) { return (other.sum & mask) == (lane.sum & mask); });
}
const Operation operations[] = {
    {"vote.sync.ballot.b32 %r9, %p2, -1;", [](const Warp& warp, const Lane&) { return ballot(warp); }},
    {"vote.sync.any.pred %p3, %p2, -1; selp.u32 %r9, 3, 5, %p3;",
     [](const Warp& warp, const Lane&) { return ballot(warp) != 0 ? 3U : 5; }},
    {"vote.sync.all.pred %p3, %p2, -1; selp.u32 %r9, 3, 5, %p3;",
     [](const Warp& warp, const Lane&) { return ballot(warp) == ~0U ? 3U : 5; }},
    {"and.b32 %r9, %r6, 3; match.any.sync.b32 %r9, %r9, -1;",
     [](const Warp& warp, const Lane& lane) { return sameLow(warp, lane, 3); }},
    {"and.b32 %r9, %r6, 1; match.all.sync.b32 %r9|%p3, %r9, -1; @%p3 add.u32 %r9, %r9, 2;",
     [](const Warp& warp, const Lane& lane) { return sameLow(warp, lane, 1) == ~0U ? 1U : 0; }},
    {"shfl.sync.bfly.b32 %r9, %r6, 1, 31, -1;",
     [](const Warp& warp, const Lane& lane) { return warp[(lane.number & 31) ^ 1].sum; }},
    {"shfl.sync.up.b32 %r9|%p3, %r6, 3, 0, -1; @!%p3 mov.b32 %r9, 7;",
     [](const Warp& warp, const Lane& lane) { return (lane.number & 31) < 3 ? 7 : warp[(lane.number & 31) - 3].sum; }},
    {"redux.sync.add.u32 %r9, %r6, -1;",
     [](const Warp& warp, const Lane&) {
       uint32_t sum = 0;
       for (const Lane& lane : warp) sum += lane.sum;
       return sum;
     }},
};

// A loop with places for operations in it, where all lanes are, and behind it.
struct Loop {
  const char* text;
  std::function<void(Warp& warp, const std::function<void(Warp&)>& inside)> run;
};
void forEach(Warp& warp, const std::function<void(Lane&)>& step) {
  for (Lane& lane : warp) step(lane);
}
uint32_t step(const Lane& lane) { return lane.sum * 5 + lane.loaded; }
const Loop loops[] = {
    // All lanes go around alike; the flag tells whether a lane adds.
    {"and.b32 %r9, %r1, 1; setp.ne.u32 %p2, %r9, 0;\nL: @%p2 mad.lo.u32 %r6, %r6, 5, %r3; INSIDE\n"
     "and.b32 %r9, %r6, 0x40000000; setp.eq.u32 %p2, %r9, 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r4; @%p1 bra "
     "L;\n",
     [](Warp& warp, const auto& inside) {
       forEach(warp, [](Lane& lane) { lane.flag = lane.number & 1; });
       for (uint32_t round = 0; round < rounds; ++round) {
         forEach(warp, [](Lane& lane) {
           if (lane.flag) lane.sum = step(lane);
         });
         inside(warp);
         forEach(warp, [](Lane& lane) { lane.flag = (lane.sum & 0x40000000) == 0; });
       }
     }},
    // The flag begins as a constant and is turned round each time.
    {"setp.ne.u32 %p2, 1, 1;\nL: not.pred %p2, %p2; INSIDE @%p2 mad.lo.u32 %r6, %r6, 5, %r3; add.u32 %r5, %r5, 1;\n"
     "setp.lt.u32 %p1, %r5, %r4; @%p1 bra L;\n",
     [](Warp& warp, const auto& inside) {
       forEach(warp, [](Lane& lane) { lane.flag = false; });
       for (uint32_t round = 0; round < rounds; ++round) {
         forEach(warp, [](Lane& lane) { lane.flag = !lane.flag; });
         inside(warp);
         forEach(warp, [](Lane& lane) {
           if (lane.flag) lane.sum = step(lane);
         });
       }
     }},
    // Each lane leaves at the begin of a round by what the round before has found.
    {"setp.ne.u32 %p2, 1, 1;\nL: @%p2 bra OUT; mad.lo.u32 %r6, %r6, 5, %r3; add.u32 %r5, %r5, 1; setp.gt.u32 %p1, %r5, "
     "%r4;\n"
     "setp.lt.u32 %p2, %r6, 0x50000000; or.pred %p2, %p2, %p1; bra L;\nOUT: and.b32 %r9, %r6, 8; setp.ne.u32 %p2, %r9, "
     "0;\n",
     [](Warp& warp, const auto&) {
       forEach(warp, [](Lane& lane) {
         for (uint32_t round = 1;; ++round) {
           lane.sum = step(lane);
           if (lane.sum < 0x50000000 || round > rounds) break;
         }
         lane.flag = lane.sum & 8;
       });
     }},
    // Two ways out; the flag says by which.
    {"setp.ne.u32 %p2, 1, 1;\nL: mad.lo.u32 %r6, %r6, 5, %r3; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r6, 0x40000000;\n"
     "@%p1 bra FIRST; setp.gt.u32 %p2, %r6, 0xA0000000; @%p2 bra SECOND; setp.le.u32 %p1, %r5, %r4; @%p1 bra L;\n"
     "FIRST: add.u32 %r6, %r6, 11; bra JOIN;\nSECOND: add.u32 %r6, %r6, 13;\nJOIN:\n",
     [](Warp& warp, const auto&) {
       forEach(warp, [](Lane& lane) {
         lane.flag = false;
         for (uint32_t round = 1;; ++round) {
           lane.sum = step(lane);
           if (lane.sum < 0x40000000) break;
           lane.flag = lane.sum > 0xA0000000;
           if (lane.flag || round > rounds) break;
         }
         lane.sum += lane.flag ? 13 : 11;
       });
     }},
    // Loops that are entered at several places, by flags that are alike in a warp; one comes from the first lane.
    {"mov.u32 %r7, 12; setp.eq.u32 %p4, %r4, 0; setp.ne.u32 %p2, %r4, 0;\n"
     "FIRST: sub.s32 %r7, %r7, 1; setp.le.s32 %p1, %r7, 0; @%p1 bra OUT; @%p4 bra FOURTH;\n"
     "SECOND: mad.lo.u32 %r6, %r6, 5, %r3; sub.s32 %r7, %r7, 1; setp.le.s32 %p1, %r7, 0; @%p1 bra OUT; @!%p2 bra "
     "SECOND;\n"
     "THIRD: INSIDE shfl.sync.idx.b32 %r9, %r6, 0, 31, -1; and.b32 %r9, %r9, 2; setp.ne.u32 %p2, %r9, 0;\n"
     "sub.s32 %r7, %r7, 1; setp.le.s32 %p1, %r7, 0; @%p1 bra OUT; @%p2 bra THIRD;\n"
     "FOURTH: mad.lo.u32 %r6, %r6, 5, 1; sub.s32 %r7, %r7, 1; setp.le.s32 %p1, %r7, 0; @%p1 bra OUT; @%p2 bra THIRD;\n"
     "bra SECOND;\nOUT:\n",
     [](Warp& warp, const auto& inside) {
       const auto setFlags = [&](bool flag) { forEach(warp, [&](Lane& lane) { lane.flag = flag; }); };
       setFlags(true);
       enum { Second, Third, Fourth } place = Second;
       for (uint32_t left = 11; left > 0; --left) switch (place) {
           case Second:
             forEach(warp, [](Lane& lane) { lane.sum = step(lane); });
             if (warp[0].flag) place = Third;
             break;
           case Third:
             inside(warp);
             setFlags(warp[0].sum & 2);
             if (!warp[0].flag) place = Fourth;
             break;
           case Fourth:
             forEach(warp, [](Lane& lane) { lane.sum = lane.sum * 5 + 1; });
             place = warp[0].flag ? Third : Second;
         }
     }},
    // Such a loop in one that all go around alike, with a flag of its own that tells of the round before.
    {"setp.ne.u32 %p2, 1, 1; setp.ne.u32 %p4, 1, 1;\nOUTER: mov.u32 %r7, 0;\n"
     "L: @%p4 bra OUT; mad.lo.u32 %r6, %r6, 5, %r3; add.u32 %r7, %r7, 1; setp.gt.u32 %p1, %r7, %r4;\n"
     "setp.lt.u32 %p4, %r6, 0x50000000; or.pred %p4, %p4, %p1; bra L;\n"
     "OUT: @%p2 add.u32 %r6, %r6, 1; setp.gt.u32 %p2, %r6, 0x30000000; INSIDE and.b32 %r9, %r6, 1; setp.ne.u32 %p4, "
     "%r9, 0;\n"
     "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r4; @%p1 bra OUTER;\n",
     [](Warp& warp, const auto& inside) {
       std::array<bool, 32> skips{};
       forEach(warp, [](Lane& lane) { lane.flag = false; });
       for (uint32_t round = 0; round < rounds; ++round) {
         forEach(warp, [&](Lane& lane) {
           for (uint32_t turn = 1; !skips[lane.number & 31]; ++turn) {
             lane.sum = step(lane);
             if (lane.sum < 0x50000000 || turn > rounds) break;
           }
           lane.sum += lane.flag;
           lane.flag = lane.sum > 0x30000000;
         });
         inside(warp);
         forEach(warp, [&](Lane& lane) { skips[lane.number & 31] = lane.sum & 1; });
       }
     }},
};

class FlagLoopsPtx : public PtxTest {
 protected:
  void expectSums(const TargetProfile& profile) {
    std::mt19937 random(11);
    Buffer in(*device, threads * 4);
    for (uint32_t i = 0; i < threads; ++i) in.as<uint32_t>()[i] = static_cast<uint32_t>(random());
    const Operation nothing{"", {}};
    for (const Loop& loop : loops)
      for (const Operation& behind : operations) {
        std::vector<const Operation*> insides{&nothing};
        if (std::string_view(loop.text).find("INSIDE") != std::string_view::npos)
          for (const Operation& inside : operations) insides.push_back(&inside);
        for (const Operation* inside : insides) {
          if (isLeftOut(5)) continue;
          expectSums(loop, *inside, behind, in, profile);
        }
      }
  }

 private:
  void expectSums(const Loop& loop, const Operation& inside, const Operation& behind, Buffer& in,
                  const TargetProfile& profile) {
    const auto text = [](const Operation& operation) {
      return std::string(operation.text) + (operation.value ? " mad.lo.u32 %r6, %r6, 31, %r9;" : "");
    };
    const auto apply = [](Warp& warp, const Operation& operation) {
      if (!operation.value) return;
      const Warp before = warp;
      for (Lane& lane : warp) lane.sum = lane.sum * 31 + operation.value(before, before[lane.number & 31]);
    };
    const std::string body = replaced(loop.text, "INSIDE", text(inside)) + text(behind);
    Buffer out(*device, threads * 4);
    Launch launch;
    launch.block[0] = threads;
    launch.add(in.address()).add(out.address()).add(rounds);
    runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 rounds)
{
  .reg .b32 %r<10>; .reg .b64 %rd<3>; .reg .pred %p<5>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r4, [rounds]; mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd1, %r1, 4, %rd1; mad.wide.u32 %rd2, %r1, 4, %rd2; ld.global.u32 %r3, [%rd1];
  mov.u32 %r5, 0; mov.u32 %r6, %r3;
)" + body + R"(
  st.global.u32 [%rd2], %r6; ret;
})",
           launch, profile);
    uint32_t wrong = 0;
    for (uint32_t begin = 0; begin < threads; begin += 32) {
      Warp warp;
      for (uint32_t i = 0; i < 32; ++i) {
        const uint32_t loaded = in.as<uint32_t>()[begin + i];
        warp[i] = {begin + i, loaded, loaded, false};
      }
      loop.run(warp, [&](Warp& lanes) { apply(lanes, inside); });
      apply(warp, behind);
      for (const Lane& lane : warp) wrong += out.as<uint32_t>()[lane.number] != lane.sum;
    }
    EXPECT_EQ(wrong, 0U) << body;
  }
};

TEST_F(FlagLoopsPtx, WarpsAreWholeInThemAndBehind) { expectSums(device->profile()); }

TEST_F(FlagLoopsPtx, IntegersForFlagsAreTheSame) {
  TargetProfile profile = device->profile();
  profile.crashesOnLoopFlags = true;
  expectSums(profile);
}

}  // namespace
}  // namespace mulciber::test
