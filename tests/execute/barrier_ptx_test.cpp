// Barriers of some threads, mbarriers and clusters of one block, over ids, counts and masks.
#include <algorithm>
#include <bit>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

class BarrierPtx : public PtxTest {
 protected:
  static std::string number(uint32_t value) { return std::to_string(value); }
};

// The first `count` threads exchange through shared memory, round by round; the others go their way.
TEST_F(BarrierPtx, SomeOfTheThreadsMeet) {
  constexpr uint32_t threads = 160, rounds = 4;
  struct Case {
    uint32_t id, count;
    std::string form;
  };
  for (auto [id, count, form] : {Case{1, 32, "bar.sync"}, Case{3, 64, "barrier.sync"},
                                 Case{15, 96, "barrier.cta.sync.aligned"}, Case{7, 160, "bar.sync"}}) {
    auto words =
        wordsOf("mov.u32 %r9, " + number(count) + "; mov.u32 %r10, " + number(id) +
                    "; mov.u32 %r8, cells; mov.u32 %r1, 0; mov.u32 %r2, 0; setp.ge.u32 %p1, %t, %r9;\n"
                    "@%p1 bra DONE;\nAGAIN: shl.b32 %r3, %t, 2; add.u32 %r3, %r3, %r8; mad.lo.u32 %r4, %r1, "
                    "1000, %t; st.shared.u32 [%r3], %r4;\n" +
                    form +
                    " %r10, %r9;\nadd.u32 %r5, %t, 33; rem.u32 %r5, %r5, %r9; shl.b32 %r5, %r5, 2; add.u32 "
                    "%r5, %r5, %r8; ld.shared.u32 %r6, [%r5]; mad.lo.u32 %r2, %r2, 7, %r6;\n" +
                    form + " " + number(id) + ", " + number(count) + ";\nadd.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, " +
                    number(rounds) + ";\n@%p2 bra AGAIN;\nDONE: st.global.u32 [%out], %r2;",
                1, threads, ".shared .align 4 .u32 cells[160];");
    for (uint32_t t = 0; t < threads; t++) {
      uint32_t expected = 0;
      for (uint32_t round = 0; round < rounds && t < count; round++)
        expected = expected * 7 + round * 1000 + (t + 33) % count;
      ASSERT_EQ(words[t], expected) << form << " " << id << " " << count << " thread " << t;
    }
  }
}

// Half of the block fills a buffer, the other half empties it: two barriers, each arrived at by one side.
TEST_F(BarrierPtx, ProducersAndConsumersTakeTurns) {
  for (uint32_t half : {32u, 64u}) {
    for (uint32_t rounds : {1u, 5u}) {
      const std::string all = number(2 * half), side = number(half);
      auto words = wordsOf("mov.u32 %r8, cells; mov.u32 %r1, 0; mov.u32 %r2, 0; setp.ge.u32 %p1, %t, " + side +
                               ";\nand.b32 %r3, %t, " + number(half - 1) +
                               "; shl.b32 %r4, %r3, 2; add.u32 %r4, %r4, %r8;\n@%p1 bra CONSUME;\n"
                               "PRODUCE: bar.sync 2, " +
                               all + "; mad.lo.u32 %r5, %r1, 100, %t; st.shared.u32 [%r4], %r5; bar.arrive 1, " + all +
                               ";\nadd.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, " + number(rounds) +
                               "; @%p2 bra PRODUCE; bra DONE;\nCONSUME: bar.arrive 2, " + all + "; bar.sync 1, " + all +
                               "; xor.b32 %r6, %r4, 4; ld.shared.u32 %r5, [%r6]; mad.lo.u32 %r2, %r2, 3, %r5;\n"
                               "add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, " +
                               number(rounds) + "; @%p2 bra CONSUME;\nDONE: st.global.u32 [%out], %r2;",
                           1, 2 * half, ".shared .align 8 .u32 cells[64];");
      for (uint32_t t = 0; t < 2 * half; t++) {
        uint32_t expected = 0;
        for (uint32_t round = 0; round < rounds && t >= half; round++)
          expected = expected * 3 + round * 100 + ((t - half) ^ 1);
        ASSERT_EQ(words[t], expected) << half << " " << rounds << " thread " << t;
      }
    }
  }
}

TEST_F(BarrierPtx, SomeOfTheThreadsReducePredicates) {
  for (auto [id, count] : {std::pair{2u, 64u}, {9u, 96u}}) {
    for (uint32_t limit : {5u, 96u}) {
      const std::string which = number(id) + ", " + number(count);
      auto words =
          wordsOf("mov.u32 %r1, 99; mov.u32 %r2, 99; mov.u32 %r3, 99; setp.ge.u32 %p1, %t, " + number(count) +
                      "; @%p1 bra DONE;\nsetp.lt.u32 %p2, %t, " + number(limit) + "; bar.red.popc.u32 %r1, " + which +
                      ", %p2; bar.red.and.pred %p3, " + which + ", %p2; barrier.red.or.pred %p4, " + which +
                      ", %p2;\nselp.u32 %r2, 1, 0, %p3; selp.u32 %r3, 1, 0, %p4;\n"
                      "DONE: st.global.v4.u32 [%out], {%r1, %r2, %r3, 0};",
                  4, 128);
      for (uint32_t t = 0; t < 128; t++) {
        bool takesPart = t < count;
        ASSERT_EQ(words[4 * t], takesPart ? std::min(limit, count) : 99u) << id << " " << limit << " " << t;
        ASSERT_EQ(words[4 * t + 1], takesPart ? uint32_t(limit >= count) : 99u) << id << " " << limit << " " << t;
        ASSERT_EQ(words[4 * t + 2], takesPart ? uint32_t(limit > 0) : 99u) << id << " " << limit << " " << t;
      }
    }
  }
}

// The lanes of a mask and the others are apart, and each side meets by itself.
TEST_F(BarrierPtx, LanesOfAMaskMeet) {
  for (uint32_t mask : {0x0000FFFFu, 0xAAAAAAAAu, 0x80000001u, 0x00000010u, 0xFFFFFFFFu, 0x13579BDFu}) {
    auto side = [&](uint32_t lanes) {
      std::string set = number(lanes);
      return "shl.b32 %r5, %r2, 2; add.u32 %r5, %r5, %r8; mad.lo.u32 %r6, %t, 17, 3; st.shared.u32 [%r5], %r6;\n"
             "bar.warp.sync " +
             set + "; mov.u32 %r7, " + set +
             ";\nmov.u32 %r11, %lanemask_gt; and.b32 %r11, %r11, %r7; setp.eq.u32 %p3, %r11, 0; selp.b32 %r11, %r7, "
             "%r11, "
             "%p3; brev.b32 %r11, %r11; clz.b32 %r11, %r11;\nshl.b32 %r11, %r11, 2; add.u32 %r11, %r11, %r8; "
             "ld.shared.u32 %r1, [%r11]; bar.warp.sync " +
             set + ";\n";
    };
    auto words = wordsOf("mov.u32 %r8, cells; mov.u32 %r2, %laneid; shr.u32 %r3, " + number(mask) +
                             ", %r2; and.b32 %r3, %r3, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra OTHERS;\n" + side(mask) +
                             "bra DONE;\nOTHERS:\n" + side(~mask) + "DONE: st.global.u32 [%out], %r1;",
                         1, 32, ".shared .align 4 .u32 cells[32];");
    for (uint32_t lane = 0; lane < 32; lane++) {
      uint32_t own = mask >> lane & 1 ? mask : ~mask, above = own & ~((2u << lane) - 1);
      if (lane == 31) above = 0;
      auto next = static_cast<uint32_t>(std::countr_zero(above ? above : own));
      ASSERT_EQ(words[lane], next * 17 + 3) << std::hex << mask << " lane " << std::dec << lane;
    }
  }
}

// One thread, which sees every state of an mbarrier. Arriving gives the state before.
TEST_F(BarrierPtx, MbarriersCountArrivalsDropsAndBytes) {
  auto words = wordsOf(R"(
    setp.ne.u32 %p1, %t, 0; @%p1 bra DONE;
    mov.u32 %r9, 0;
    mbarrier.init.shared::cta.b64 [b], 6;
    mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd1, [b], 2;
    mbarrier.pending_count.b64 %r1, %rd1;                                   // 6
    mbarrier.arrive_drop.shared::cta.b64 %rd2, [b];
    mbarrier.pending_count.b64 %r2, %rd2;                                   // 4
    mbarrier.arrive_drop.noComplete.shared.b64 %rd3, [b], 2;
    mbarrier.pending_count.b64 %r3, %rd3;                                   // 3
    mbarrier.test_wait.shared.b64 %p2, [b], %rd1;                           // not yet
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 48;
    mbarrier.arrive.shared.b64 %rd4, [b];
    mbarrier.pending_count.b64 %r4, %rd4;                                   // 1
    mbarrier.test_wait.parity.acquire.cta.shared.b64 %p3, [b], 0;           // bytes are missing
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 48;
    mbarrier.test_wait.shared.b64 %p4, [b], %rd4;                           // complete
    mbarrier.try_wait.parity.shared.b64 %p5, [b], 0, 1000;
    mbarrier.test_wait.parity.shared.b64 %p6, [b], 1;                       // the next phase is not
    mbarrier.arrive.release.cluster.shared.b64 %rd5, [b];
    mbarrier.pending_count.b64 %r5, %rd5;                                   // 6 - 3 dropped
    mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd6, [b], 16;
    mbarrier.pending_count.b64 %r6, %rd6;                                   // 2
    mbarrier.arrive.shared.b64 _, [b];
    mbarrier.test_wait.shared.b64 %p7, [b], %rd6;                           // 16 bytes are missing
    mbarrier.complete_tx.shared::cta.b64 [b], 16;
    mbarrier.try_wait.acquire.cta.shared.b64 %p8, [b], %rd6;
    mbarrier.inval.shared.b64 [b];
    selp.u32 %r7, 1, 0, %p2; @%p3 add.u32 %r7, %r7, 2; @%p4 add.u32 %r7, %r7, 4; @%p5 add.u32 %r7, %r7, 8;
    @%p6 add.u32 %r7, %r7, 16; @%p7 add.u32 %r7, %r7, 32; @%p8 add.u32 %r7, %r7, 64;
    st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4}; st.global.v4.u32 [%out+16], {%r5, %r6, %r7, %r9};
  DONE:
  )",
                       8, 32, ".shared .align 8 .b64 b;");
  EXPECT_EQ(std::vector(words.begin(), words.begin() + 8), (std::vector<uint32_t>{6, 4, 3, 1, 3, 2, 4 + 8 + 64, 0}));
}

// A lane leaves in each round, with an arrival that counts for all later ones.
TEST_F(BarrierPtx, LanesDropOutOfAnMbarrier) {
  auto words = wordsOf(R"(
    mov.u32 %r8, cells; mov.u32 %r1, 0; mov.u32 %r4, 0;
    setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [b], 64; @%p1 st.shared.u32 [%r8], %r1; bar.sync 0;
  AGAIN: atom.shared.add.u32 %r3, [%r8], 1; setp.eq.u32 %p1, %r1, %t; @%p1 bra LEAVES;
    mbarrier.arrive.shared.b64 %rd1, [b];
  FIRST: mbarrier.test_wait.shared.b64 %p2, [b], %rd1; @!%p2 bra FIRST;
    ld.shared.u32 %r4, [%r8]; mbarrier.arrive.shared.b64 %rd1, [b];
  SECOND: mbarrier.test_wait.shared.b64 %p2, [b], %rd1; @!%p2 bra SECOND;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 5; @%p2 bra AGAIN; bra DONE;
  LEAVES: mbarrier.arrive_drop.shared.b64 _, [b];
  DONE: st.global.u32 [%out], %r4;)",
                       1, 64, ".shared .align 8 .b64 b; .shared .align 4 .u32 cells;");
  for (uint32_t t = 0; t < 64; t++) {
    uint32_t seen = 0;
    for (uint32_t round = 0; round < std::min(t, 5u); round++) seen += 64 - round;
    EXPECT_EQ(words[t], seen) << t;
  }
}

// Odd and even lanes of a warp wait for each other in turns.
TEST_F(BarrierPtx, LanesOfAWarpTakeTurns) {
  auto words = wordsOf(R"(
    mov.u32 %r8, cells; shl.b32 %r2, %t, 2; add.u32 %r8, %r8, %r2; xor.b32 %r9, %r8, 4; mov.u32 %r1, 0;
    mov.u32 %r4, %t; setp.eq.u32 %p1, %t, 0; @!%p1 bra READY;
    mbarrier.init.shared.b64 [b], 32; mbarrier.init.shared.b64 [b+8], 32;
  READY: bar.sync 0; and.b32 %r2, %t, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra ODD;
  EVEN: st.shared.u32 [%r8], %r4; mbarrier.arrive.shared.b64 _, [b]; and.b32 %r3, %r1, 1;
  ANSWER: mbarrier.test_wait.parity.shared.b64 %p2, [b+8], %r3; @!%p2 bra ANSWER;
    ld.shared.u32 %r4, [%r9]; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 4; @%p2 bra EVEN; bra DONE;
  ODD: and.b32 %r3, %r1, 1;
  QUESTION: mbarrier.test_wait.parity.shared.b64 %p2, [b], %r3; @!%p2 bra QUESTION;
    ld.shared.u32 %r4, [%r9]; mad.lo.u32 %r4, %r4, 3, 1; st.shared.u32 [%r8], %r4;
    mbarrier.arrive.shared.b64 _, [b+8]; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 4; @%p2 bra ODD;
  DONE: st.global.u32 [%out], %r4;)",
                       1, 64, ".shared .align 8 .b64 b[2]; .shared .align 8 .u32 cells[64];");
  for (uint32_t t = 0; t < 64; t++) {
    uint32_t value = t & ~1u;
    for (uint32_t round = 0; round < 4; round++) value = value * 3 + 1;
    EXPECT_EQ(words[t], value) << t;
  }
}

// A number goes from warp to warp, each of which waits for its turn at a word of shared memory.
TEST_F(BarrierPtx, WarpsWaitByLookingAtMemory) {
  auto words = wordsOf(R"(
    mov.u32 %r8, cells; mov.u32 %r1, 0; setp.eq.u32 %p1, %t, 0; @%p1 st.shared.v2.u32 [%r8], {%r1, %r1}; bar.sync 0;
    shr.u32 %r2, %t, 5; and.b32 %r3, %t, 31; setp.ne.u32 %p1, %r3, 0;
  AGAIN: @%p1 bra MEET;
  WAIT: ld.volatile.shared.u32 %r4, [%r8]; setp.ne.u32 %p2, %r4, %r2; @%p2 bra WAIT;
    membar.cta; ld.shared.u32 %r5, [%r8+4]; mad.lo.u32 %r5, %r5, 3, %r2; st.shared.u32 [%r8+4], %r5; membar.cta;
    add.u32 %r4, %r4, 1; st.volatile.shared.u32 [%r8], %r4;
  MEET: bar.warp.sync -1; add.u32 %r2, %r2, 4; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 3; @%p2 bra AGAIN;
    bar.sync 0; ld.shared.u32 %r5, [%r8+4]; st.global.u32 [%out], %r5;)",
                       1, 128, ".shared .align 8 .u32 cells[2];");
  uint32_t value = 0;
  for (uint32_t turn = 0; turn < 12; turn++) value = value * 3 + turn;
  for (uint32_t t = 0; t < 128; t++) EXPECT_EQ(words[t], value) << t;
}

// A block is a cluster of its own.
TEST_F(BarrierPtx, AClusterIsOneBlock) {
  auto words = wordsOf(R"(
    mov.u32 %r8, cells; shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %r8; add.u32 %r2, %t, 500; st.shared.u32 [%r1], %r2;
    barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
    xor.b32 %r3, %r1, 128;
    mapa.shared::cluster.u32 %r4, %r3, 0; ld.shared::cluster.u32 %r5, [%r4];
    getctarank.shared::cluster.u32 %r6, %r4;
    barrier.cluster.arrive.relaxed; barrier.cluster.wait;
    mov.u32 %r7, %cluster_nctarank; mov.u32 %r9, %cluster_ctarank; shl.b32 %r9, %r9, 8; or.b32 %r7, %r7, %r9;
    fence.acq_rel.cluster; griddepcontrol.wait; griddepcontrol.launch_dependents;
    st.global.v4.u32 [%out], {%r5, %r6, %r7, 7};
  )",
                       4, 64, ".shared .align 256 .u32 cells[64];");
  for (uint32_t t = 0; t < 64; t++) {
    EXPECT_EQ(words[4 * t], (t ^ 32) + 500);
    EXPECT_EQ(words[4 * t + 1], 0u);
    EXPECT_EQ(words[4 * t + 2], 1u);
    EXPECT_EQ(words[4 * t + 3], 7u);
  }
}

}  // namespace
}  // namespace mulciber::test
