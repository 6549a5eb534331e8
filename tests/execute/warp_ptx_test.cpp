// Warp operations against what the PTX manual says, lane by lane.
#include <algorithm>
#include <bit>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

class WarpPtx : public PtxTest {};

struct Shuffled {
  uint32_t source;
  bool inRange;
};

Shuffled expectedShuffle(const std::string& mode, uint32_t lane, uint32_t distance, uint32_t control) {
  int32_t clamp = control & 31, segment = control >> 8 & 31, own = static_cast<int32_t>(lane);
  int32_t b = distance & 31;
  int32_t last = (own & segment) | (clamp & ~segment), first = own & segment, j = 0;
  bool inRange = false;
  if (mode == "up") j = own - b, inRange = j >= last;
  if (mode == "down") j = own + b, inRange = j <= last;
  if (mode == "bfly") j = own ^ b, inRange = j <= last;
  if (mode == "idx") j = first | (b & ~segment), inRange = j <= last;
  return {static_cast<uint32_t>(inRange ? j : own), inRange};
}

TEST_F(WarpPtx, ShufflesEveryModeWithinSegments) {
  for (const char* mode : {"up", "down", "bfly", "idx"}) {
    for (uint32_t width : {32u, 16u, 4u}) {
      for (uint32_t distance : {0u, 1u, 3u, 17u, 31u}) {
        uint32_t control = (32 - width) << 8 | (std::string(mode) == "up" ? 0 : 31);
        auto words = wordsOf("mul.lo.u32 %r1, %t, 7; shfl.sync." + std::string(mode) + ".b32 %r2|%p1, %r1, " +
                                 std::to_string(distance) + ", " + std::to_string(control) +
                                 ", -1; selp.u32 %r3, 1, 0, %p1; st.global.v2.u32 [%out], {%r2, %r3};",
                             2);
        for (uint32_t lane = 0; lane < 32; lane++) {
          auto [source, inRange] = expectedShuffle(mode, lane, distance, control);
          ASSERT_EQ(words[2 * lane], source * 7) << mode << " " << width << " " << distance << " lane " << lane;
          ASSERT_EQ(words[2 * lane + 1], inRange) << mode << " " << width << " " << distance << " lane " << lane;
        }
      }
    }
  }
}

TEST_F(WarpPtx, VotesAmongTheNamedLanes) {
  auto words = wordsOf(R"(
    setp.lt.u32 %p1, %t, 10;
    and.b32 %r1, %t, 1;
    setp.ne.u32 %p2, %r1, 0;
    mov.u32 %r2, 0x55555555;
    @%p2 mov.u32 %r2, 0xaaaaaaaa;           // odd and even lanes vote apart, in one instruction
    vote.sync.ballot.b32 %r3, %p1, %r2;
    vote.sync.all.pred %p3, %p2, %r2;
    vote.sync.any.pred %p4, %p2, %r2;
    vote.sync.uni.pred %p5, %p2, %r2;
    vote.sync.uni.pred %p6, %p1, -1;
    vote.sync.all.pred %p7, !%p1, -1;
    vote.sync.ballot.b32 %r10, %p1, -1;
    selp.u32 %r4, 1, 0, %p3; selp.u32 %r5, 1, 0, %p4; selp.u32 %r6, 1, 0, %p5; selp.u32 %r7, 1, 0, %p6;
    selp.u32 %r8, 1, 0, %p7;
    st.global.u32 [%out], %r3; st.global.u32 [%out+4], %r4; st.global.u32 [%out+8], %r5;
    st.global.u32 [%out+12], %r6; st.global.u32 [%out+16], %r7; st.global.u32 [%out+20], %r8;
    st.global.u32 [%out+24], %r10;
  )",
                       7);
  for (uint32_t lane = 0; lane < 32; lane++) {
    bool isOdd = lane % 2 != 0;
    EXPECT_EQ(words[7 * lane], 0x3FFu & (isOdd ? 0xAAAAAAAA : 0x55555555));
    EXPECT_EQ(words[7 * lane + 1], isOdd);
    EXPECT_EQ(words[7 * lane + 2], isOdd);
    EXPECT_EQ(words[7 * lane + 3], 1u);
    EXPECT_EQ(words[7 * lane + 4], 0u);
    EXPECT_EQ(words[7 * lane + 5], 0u);
    EXPECT_EQ(words[7 * lane + 6], 0x3FFu);
  }
}

TEST_F(WarpPtx, MatchesEqualValues) {
  auto words = wordsOf(R"(
    rem.u32 %r1, %t, 5;
    mul.wide.u32 %rd1, %r1, 0x10000001;
    match.any.sync.b32 %r2, %r1, -1;
    match.any.sync.b64 %r3, %rd1, 0x0000ffff;
    match.all.sync.b32 %r4|%p1, %r1, -1;
    mov.u32 %r5, 9;
    match.all.sync.b32 %r6|%p2, %r5, -1;
    selp.u32 %r7, 1, 0, %p1; selp.u32 %r8, 1, 0, %p2;
    st.global.v4.u32 [%out], {%r2, %r3, %r4, %r6}; st.global.v4.u32 [%out+16], {%r7, %r8, 0, 0};
  )",
                       8);
  for (uint32_t lane = 0; lane < 32; lane++) {
    uint32_t same = 0;
    for (uint32_t other = lane % 5; other < 32; other += 5) same |= 1u << other;
    EXPECT_EQ(words[8 * lane], same);
    EXPECT_EQ(words[8 * lane + 1], same & 0xFFFF);
    EXPECT_EQ(words[8 * lane + 2], 0u);
    EXPECT_EQ(words[8 * lane + 3], ~0u);
    EXPECT_EQ(words[8 * lane + 4], 0u);
    EXPECT_EQ(words[8 * lane + 5], 1u);
  }
}

TEST_F(WarpPtx, ReducesAmongTheNamedLanes) {
  auto words = wordsOf(R"(
    mad.lo.s32 %r1, %t, -3, 40;
    rem.u32 %r2, %t, 3;
    match.any.sync.b32 %r3, %r2, -1;        // three interleaved groups
    redux.sync.add.s32 %r4, %r1, %r3;
    redux.sync.min.s32 %r5, %r1, %r3;
    redux.sync.max.u32 %r6, %r1, %r3;
    redux.sync.xor.b32 %r7, %r1, -1;
    redux.sync.and.b32 %r8, %r1, -1;
    redux.sync.or.b32 %r9, %t, %r3;
    st.global.u32 [%out], %r4; st.global.u32 [%out+4], %r5; st.global.u32 [%out+8], %r6;
    st.global.u32 [%out+12], %r7; st.global.u32 [%out+16], %r8; st.global.u32 [%out+20], %r9;
  )",
                       6);
  auto value = [](uint32_t lane) { return static_cast<int32_t>(lane) * -3 + 40; };
  uint32_t exclusive = 0, all = ~0u;
  for (uint32_t lane = 0; lane < 32; lane++) {
    exclusive ^= static_cast<uint32_t>(value(lane));
    all &= static_cast<uint32_t>(value(lane));
  }
  for (uint32_t lane = 0; lane < 32; lane++) {
    int32_t sum = 0, least = INT32_MAX;
    uint32_t most = 0, any = 0;
    for (uint32_t other = lane % 3; other < 32; other += 3) {
      sum += value(other);
      least = std::min(least, value(other));
      most = std::max(most, static_cast<uint32_t>(value(other)));
      any |= other;
    }
    EXPECT_EQ(words[6 * lane], static_cast<uint32_t>(sum)) << lane;
    EXPECT_EQ(words[6 * lane + 1], static_cast<uint32_t>(least)) << lane;
    EXPECT_EQ(words[6 * lane + 2], most) << lane;
    EXPECT_EQ(words[6 * lane + 3], exclusive) << lane;
    EXPECT_EQ(words[6 * lane + 4], all) << lane;
    EXPECT_EQ(words[6 * lane + 5], any) << lane;
  }
}

TEST_F(WarpPtx, SeesOnlyActiveLanes) {
  auto words = wordsOf(R"(
    mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;
    and.b32 %r4, %t, 2;
    setp.eq.u32 %p1, %r4, 0;
    @%p1 bra JOIN;
    activemask.b32 %r1;
    elect.sync %r2|%p2, -1;
    selp.u32 %r3, 1, 0, %p2;
    JOIN:
    st.global.v4.u32 [%out], {%r1, %r2, %r3, 0};
  )",
                       4);
  for (uint32_t lane = 0; lane < 32; lane++) {
    bool isIn = lane & 2;
    EXPECT_EQ(words[4 * lane], isIn ? 0xCCCCCCCC : 0);
    EXPECT_EQ(words[4 * lane + 1], isIn ? 2u : 0);
    EXPECT_EQ(words[4 * lane + 2], isIn && lane == 2);
  }
}

TEST_F(WarpPtx, SpecialRegistersNumberLanesAndWarps) {
  auto words = wordsOf(R"(
    mov.u32 %r1, %laneid; mov.u32 %r2, %warpid; mov.u32 %r3, %lanemask_lt; mov.u32 %r4, %lanemask_ge;
    mov.u32 %r5, %lanemask_le; mov.u32 %r6, %lanemask_gt; mov.u32 %r7, %lanemask_eq; mov.u32 %r8, %ntid.x;
    st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4}; st.global.v4.u32 [%out+16], {%r5, %r6, %r7, %r8};
  )",
                       8, 96);
  for (uint32_t thread = 0; thread < 96; thread++) {
    const uint32_t* w = &words[8 * thread];
    uint32_t lane = thread % 32, lower = (1u << lane) - 1, own = 1u << lane;
    EXPECT_EQ(w[0], lane);
    EXPECT_EQ(w[1], thread / 32);
    EXPECT_EQ(w[2], lower);
    EXPECT_EQ(w[3], ~lower);
    EXPECT_EQ(w[4], lower | own);
    EXPECT_EQ(w[5], ~(lower | own));
    EXPECT_EQ(w[6], own);
    EXPECT_EQ(w[7], 96u);
  }
}

}  // namespace
}  // namespace mulciber::test
