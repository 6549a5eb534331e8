// Loops that all lanes of a warp go through alike, with atomic operations in them. A device that has no instruction for
// such an operation makes it of a loop, which each lane leaves when its own attempt succeeds. What the outer loop
// counts must not take part in that.
#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 64, rounds = 5, words = 8;

// On the cell at CELL, which is one of the thread's own or one of all threads, in shared memory.
const char* const operations[] = {
    "atom.shared.add.u64 %rd5, [CELL], 1;",
    "red.shared.add.u64 [CELL], 1;",
    "atom.shared.max.u64 %rd5, [CELL], %rd4;",
    "atom.shared.xor.b64 %rd5, [CELL], %rd4;",
    "atom.shared.exch.b64 %rd5, [CELL], %rd4;",
    "atom.shared.add.f32 %f1, [CELL], 0f3F800000;",
    "atom.shared.add.f64 %fd1, [CELL], 0d3FF0000000000000;",
    "atom.shared.add.noftz.f16 %rs1, [CELL], %rs1;",
    "atom.shared.inc.u32 %r9, [CELL], 6;",
    "atom.add.u64 %rd5, [GENERIC], 1;",
    "atom.global.add.noftz.bf16x2 %r9, [GLOBAL], %r1;",
};

// What each round does with its number %r5, which goes from 1 on: a word in 16 bytes of the thread's own.
const char* const uses[] = {
    "shl.b32 %r9, %r5, 4; add.u32 %r9, %r9, %r8; st.local.u32 [%r9+-16], %r5;",
    "shl.b32 %r9, %r5, 4; add.u32 %r9, %r9, %r8; st.local.u32 [%r9+-16], %r5; st.local.u32 [%r9], 0; st.local.u32 "
    "[%r9+-8], %r1;",
    "st.local.u32 [%r8], %r5; st.local.u32 [%r8+4], 0; st.local.u32 [%r8+8], %r1; st.local.u32 [%r8+12], %r7;"
    "add.u32 %r8, %r8, 16;",
    "mul.wide.u32 %rd5, %r5, 4; add.u64 %rd5, %rd5, %rd2; st.global.u32 [%rd5+-4], %r5;",
};

// %r3 rounds, of OPERATION and USE.
const char* const loops[] = {
    // The end looks whether there is another round, or the beginning, or the middle.
    "AGAIN: OPERATION add.u32 %r5, %r5, 1; USE setp.lt.u32 %p1, %r5, %r3; @%p1 bra AGAIN;",
    "AGAIN: add.u32 %r5, %r5, 1; setp.gt.u32 %p1, %r5, %r3; @%p1 bra DONE; OPERATION USE bra AGAIN; DONE:",
    "AGAIN: OPERATION add.u32 %r5, %r5, 1; setp.gt.u32 %p1, %r5, %r3; @%p1 bra DONE; USE bra AGAIN; DONE:",
    // A loop in a loop.
    "mov.u32 %r6, 0; AGAIN: OPERATION add.u32 %r5, %r5, 1; USE setp.ge.u32 %p1, %r5, %r3; @%p1 bra DONE;"
    "add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 2; @%p1 bra AGAIN; mov.u32 %r6, 0; bra AGAIN; DONE:",
    "OUTER: mov.u32 %r6, 0; AGAIN: OPERATION add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 2; @%p1 bra AGAIN;"
    "add.u32 %r5, %r5, 1; USE setp.lt.u32 %p1, %r5, %r3; @%p1 bra OUTER;",
    // Two ways out, the first of them in front of the operation; a flag goes around.
    "setp.eq.u32 %p2, %r3, 0; AGAIN: @%p2 bra DONE; OPERATION add.u32 %r5, %r5, 1; setp.gt.u32 %p1, %r5, %r3; @%p1 bra "
    "DONE;"
    "USE setp.gt.u32 %p2, %r5, %r7; bra AGAIN; DONE:",
    "setp.ne.u32 %p2, 1, 1; AGAIN: @%p2 bra FIRST; OPERATION add.u32 %r5, %r5, 1; setp.gt.u32 %p1, %r5, %r3; @%p1 bra "
    "DONE;"
    "USE setp.gt.u32 %p2, %r5, %r7; bra AGAIN; FIRST: st.global.u32 [%rd2+28], %r1; DONE:",
    "setp.ne.u32 %p2, 1, 1; mov.u32 %r6, 5; AGAIN: @%p2 bra FIRST; OPERATION setp.le.s32 %p1, %r6, 0; @%p1 bra DONE;"
    "sub.s32 %r6, %r6, 1; add.u32 %r5, %r5, 1; USE setp.gt.u32 %p2, %r5, %r7; bra AGAIN;"
    "FIRST: st.global.u32 [%rd2+28], %r1; DONE:",
    "setp.ne.u32 %p2, 1, 1; mov.u32 %r6, 4; AGAIN: @%p2 bra FIRST; OPERATION setp.le.s32 %p1, %r6, 0; @%p1 bra DONE;"
    "sub.s32 %r6, %r6, 1; add.u32 %r5, %r5, 1; USE add.u32 %r9, %r7, 32; setp.lt.u32 %p2, %r9, %r8; bra AGAIN;"
    "FIRST: st.global.u32 [%rd2+28], %r1; DONE:",
};

class AtomicsInLoopsPtx : public PtxTest {
 protected:
  void expectRounds(const TargetProfile& profile) {
    for (const char* loop : loops)
      for (const char* operation : operations)
        for (const char* use : uses)
          for (const char* cell : {"%r2", "shared_"}) {
            if (isLeftOut(19)) continue;
            std::string body = replaced(replaced(loop, "OPERATION", operation), "USE", use);
            body = replaced(replaced(replaced(body, "CELL", cell), "GENERIC", "%rd6"), "GLOBAL", "%rd3");
            Buffer out(*device, threads * words * 4 + 16);
            Launch launch;
            launch.block[0] = threads;
            launch.add(out.address()).add(rounds).add(uint32_t{4096});
            runPtx(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 rounds, .param .u32 many)
{
  .reg .b16 %rs<2>; .reg .b32 %r<10>; .reg .b64 %rd<7>; .reg .pred %p<3>; .reg .f32 %f<2>; .reg .f64 %fd<2>;
  .shared .align 16 .b8 shared_[1024]; .local .align 16 .b8 local_[128];
  ld.param.u64 %rd2, [out]; ld.param.u32 %r3, [rounds]; ld.param.u32 %r7, [many];
  mov.u32 %r1, %tid.x; add.u64 %rd3, %rd2, 2048; mad.wide.u32 %rd2, %r1, 32, %rd2; cvt.u64.u32 %rd4, %r1;
  mov.u32 %r2, shared_; mad.lo.u32 %r2, %r1, 16, %r2; mov.u32 %r8, local_; mov.b16 %rs1, 0x3C00;
  cvt.u64.u32 %rd6, %r2; cvta.shared.u64 %rd6, %rd6; st.shared.u64 [%r2], 0; bar.sync 0; mov.u32 %r5, 0;
)" + body + R"(
  ld.global.u32 %r9, [%rd2]; setp.ne.u32 %p1, %r9, 0; @%p1 bra RETURN;
  ld.local.u32 %r1, [local_]; ld.local.u32 %r2, [local_+16]; ld.local.u32 %r3, [local_+32];
  ld.local.u32 %r4, [local_+48]; st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};
  RETURN: ret;
})",
                   launch, profile);
            uint32_t wrong = 0;
            for (uint32_t thread = 0; thread < threads; ++thread)
              for (uint32_t round = 0; round + 1 < rounds; ++round)
                wrong += out.as<uint32_t>()[thread * words + round] != round + 1;
            EXPECT_EQ(wrong, 0U) << body;
          }
  }
};

TEST_F(AtomicsInLoopsPtx, LeaveTheRoundsToTheLoop) { expectRounds(device->profile()); }

TEST_F(AtomicsInLoopsPtx, LoopsOfOurOwnToo) {
  TargetProfile profile = device->profile();
  profile.partsLanesAtSharedAtomics = true;
  expectRounds(profile);
}

}  // namespace
}  // namespace mulciber::test
