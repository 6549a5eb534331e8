// Loops that the lanes of a warp leave in different rounds, with operations of the warp in them and behind them. Where
// compilers of devices move such an operation from one round to another, lanes may go on apart behind the loop.
#include <array>
#include <bit>
#include <random>

#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t warp = 32, rounds = 4;

struct Lane {
  uint32_t loaded, rounds, sum;
  bool flag;
};
using Lanes = std::array<Lane, warp>;

// A lane goes around as often as its %r4 says. %r8 are the lanes that do.
const char* const loops[] = {
    "L: setp.gt.s32 %p1, %r4, 0; vote.sync.ballot.b32 %r8, %p1, %r8; @!%p1 bra OUT; sub.s32 %r4, %r4, 1; INSIDE bra L; "
    "OUT:",
    "setp.gt.s32 %p1, %r4, 0; vote.sync.ballot.b32 %r8, %p1, -1; @!%p1 bra OUT; L: sub.s32 %r4, %r4, 1; INSIDE\n"
    "setp.gt.s32 %p1, %r4, 0; vote.sync.ballot.b32 %r8, %p1, %r8; @%p1 bra L; OUT:",
    "L: setp.gt.s32 %p1, %r4, 0; @!%p1 bra OUT; activemask.b32 %r8; sub.s32 %r4, %r4, 1; INSIDE bra L; OUT:",
};

struct Inside {
  const char* text;
  std::function<void(Lane& lane, uint32_t withFlag)> run;  // those of the round that have the flag
};
const Inside insides[] = {
    {"add.u32 %r6, %r6, %r3;", [](Lane& lane, uint32_t) { lane.sum += lane.loaded; }},
    {"vote.sync.ballot.b32 %r9, %p2, %r8; popc.b32 %r9, %r9; add.u32 %r6, %r6, %r9;",
     [](Lane& lane, uint32_t withFlag) { lane.sum += static_cast<uint32_t>(std::popcount(withFlag)); }},
    {"vote.sync.ballot.b32 %r9, %p2, %r8; not.b32 %r9, %r9; and.b32 %r9, %r9, %r8; @%p2 bra IN; mov.b32 %r11, %r9;\n"
     "shfl.sync.bfly.b32 %r10|%p4, %r3, 0, 31, %r11; add.u32 %r6, %r6, %r10; mov.pred %p2, %p4; IN:",
     [](Lane& lane, uint32_t) {
       if (!lane.flag) lane.sum += lane.loaded;
       lane.flag = true;
     }},
    {"vote.sync.ballot.b32 %r9, %p6, %r8; not.b32 %r9, %r9; and.b32 %r9, %r9, %r8; @%p6 bra IN;\n"
     "shfl.sync.bfly.b32 %r10|%p2, %r3, 0, 31, %r9; IN:",
     [](Lane& lane, uint32_t) { lane.flag |= (lane.loaded >> 10 & 1) == 0; }},
    {"vote.sync.any.pred %p4, %p2, %r8; @%p4 add.u32 %r6, %r6, 3;",
     [](Lane& lane, uint32_t withFlag) { lane.sum += withFlag != 0 ? 3 : 0; }},
};

// Between the loop and what follows, with %p5, which is the same for all.
const char* const between[] = {
    "",
    "@!%p5 bra.uni SOME; bra MEET; SOME: vote.sync.all.pred %p3, %p2, -1; MEET:",
    "@%p5 bra.uni SOME; bra MEET; SOME: vote.sync.all.pred %p3, %p2, -1; MEET:",
    "@!%p5 bra.uni SOME; bra MEET; SOME: vote.sync.all.pred %p3, %p7, -1; MEET:",
};

// Makes %r9 of %r3 and of the flag %p2.
struct Behind {
  const char* text;
  std::function<uint32_t(const Lanes& lanes, uint32_t i)> value;
};
uint32_t lanesWhere(const Lanes& lanes, const std::function<bool(const Lane&)>& isIn) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < warp; ++i) mask |= uint32_t{isIn(lanes[i])} << i;
  return mask;
}
const Behind behinds[] = {
    {"shfl.sync.bfly.b32 %r9, %r3, 26, 31, -1;", [](const Lanes& lanes, uint32_t i) { return lanes[i ^ 26].loaded; }},
    {"vote.sync.ballot.b32 %r9, %p2, -1;",
     [](const Lanes& lanes, uint32_t) { return lanesWhere(lanes, [](const Lane& lane) { return lane.flag; }); }},
    {"and.b32 %r9, %r3, 3; match.any.sync.b32 %r9, %r9, -1;",
     [](const Lanes& lanes, uint32_t i) {
       return lanesWhere(lanes, [&](const Lane& lane) { return (lane.loaded & 3) == (lanes[i].loaded & 3); });
     }},
    {"redux.sync.add.u32 %r9, %r3, -1;",
     [](const Lanes& lanes, uint32_t) {
       uint32_t sum = 0;
       for (const Lane& lane : lanes) sum += lane.loaded;
       return sum;
     }},
};

class WarpLoopsPtx : public PtxTest {
 protected:
  static void goAround(Lanes& lanes, const Inside& inside) {
    for (uint32_t round = 0; round < rounds; ++round) {
      const uint32_t together = lanesWhere(lanes, [&](const Lane& lane) { return lane.rounds > round; });
      const uint32_t withFlag = together & lanesWhere(lanes, [](const Lane& lane) { return lane.flag; });
      for (uint32_t i = 0; i < warp; ++i)
        if (together >> i & 1) inside.run(lanes[i], withFlag);
    }
  }
};

TEST_F(WarpLoopsPtx, LanesMeetBehindThem) {
  std::mt19937 random(31);
  Buffer in(*device, warp * 4), out(*device, warp * 8);
  Lanes start;
  for (uint32_t i = 0; i < warp; ++i) {
    const uint32_t loaded = in.as<uint32_t>()[i] = random();
    start[i] = {loaded, loaded & (rounds - 1), 0, (loaded >> 8 & 3) == 0};
  }
  for (const char* loop : loops)
    for (const Inside& inside : insides)
      for (const char* prelude : between)
        for (const Behind& behind : behinds) {
          if (device->physical().isCpu() && (loop != loops[0] || &behind == &behinds[2])) continue;  // slow there
          const std::string body = replaced(loop, "INSIDE", inside.text) + "\n" + prelude + "\n" + behind.text;
          Launch launch;
          launch.block[0] = warp;
          launch.add(in.address()).add(out.address()).add(uint64_t{1});
          runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 one)
{
  .reg .pred %p<8>; .reg .b32 %r<12>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [one]; setp.ne.u64 %p5, %rd3, 0;
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 4, %rd1; mad.wide.u32 %rd2, %r1, 8, %rd2; ld.global.u32 %r3, [%rd1];
  and.b32 %r4, %r3, 3; bfe.u32 %r5, %r3, 8, 2; setp.eq.u32 %p2, %r5, 0; setp.ne.u32 %p3, 1, 1; setp.ne.u32 %p7, 1, 1;
  bfe.u32 %r5, %r3, 10, 1; setp.ne.u32 %p6, %r5, 0; mov.u32 %r6, 0; mov.u32 %r8, -1;
)" + body + "\n@%p3 add.u32 %r6, %r6, 1000; st.global.v2.u32 [%rd2], {%r6, %r9}; ret;\n}\n",
                 launch, device->profile());
          Lanes lanes = start;
          goAround(lanes, inside);
          const bool votes = prelude == between[2];
          const bool all = lanesWhere(lanes, [](const Lane& lane) { return lane.flag; }) == ~0U;
          for (uint32_t i = 0; i < warp; ++i) {
            const uint32_t* stored = out.as<uint32_t>() + 2 * i;
            EXPECT_EQ(stored[0], lanes[i].sum + (votes && all ? 1000 : 0)) << "the sum in lane " << i << ": " << body;
            EXPECT_EQ(stored[1], behind.value(lanes, i)) << "in lane " << i << ": " << body;
            if (stored[1] != behind.value(lanes, i)) break;
          }
        }
}

}  // namespace
}  // namespace mulciber::test
