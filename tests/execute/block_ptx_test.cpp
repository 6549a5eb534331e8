// Barriers, shared memory, atomics, mbarriers, calls and services, as PTX.
#include <algorithm>
#include <numeric>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

class BlockPtx : public PtxTest {
 protected:
  // "0, 1, 2, ...": bytes that say where they are.
  static std::string numbers(uint32_t count) {
    std::string text;
    for (uint32_t i = 0; i < count; i++) text += (i == 0 ? "" : ", ") + std::to_string(i % 251);
    return text;
  }
};

TEST_F(BlockPtx, BarriersReducePredicates) {
  auto words = wordsOf(R"(
    setp.lt.u32 %p1, %t, 77;
    mov.u32 %r9, 0;
  AGAIN:                                     // the counters must come back to zero
    bar.red.popc.u32 %r1, 0, %p1;
    bar.red.and.pred %p2, 0, %p1;
    bar.red.or.pred %p3, 0, %p1;
    bar.red.and.pred %p4, 1, !%p5;
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p6, %r9, 5;
    setp.ne.u32 %p5, %t, %t;
    @%p6 bra AGAIN;
    selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3; selp.u32 %r4, 1, 0, %p4;
    st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};
  )",
                       4, 160);
  for (uint32_t thread = 0; thread < 160; thread++) {
    EXPECT_EQ(words[4 * thread], 77u);
    EXPECT_EQ(words[4 * thread + 1], 0u);
    EXPECT_EQ(words[4 * thread + 2], 1u);
    EXPECT_EQ(words[4 * thread + 3], 1u);
  }
}

// What barriers and warps are made of takes nothing of what CUDA counts, or of what a launch may ask for.
TEST_F(BlockPtx, SharedMemoryOfItsOwnIsAllThatIsTold) {
  constexpr uint32_t threads = 96, own = 404;
  const uint32_t dynamic = device->profile().maxSharedBytes - 416;
  Buffer out(*device, threads * 4);
  Launch launch;
  launch.block[0] = threads;
  launch.dynamicSharedBytes = dynamic;
  launch.add(out.address());
  runPtx(R"(.version 8.0
.target sm_90
.address_size 64
.shared .align 4 .b8 cells[)" +
             std::to_string(own) + R"(];
.extern .shared .align 16 .b8 more[];
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
  shl.b32 %r2, %r1, 2; mov.u32 %r3, cells; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1;
  mov.u32 %r4, more; add.u32 %r4, %r4, )" +
             std::to_string(dynamic - threads * 4) + R"(; add.u32 %r4, %r4, %r2;
  st.shared.u32 [%r4], %r1; setp.lt.u32 %p1, %r1, 40; bar.red.popc.u32 %r5, 0, %p1; bar.sync 1, 96;
  xor.b32 %r2, %r2, 4; mov.u32 %r3, cells; add.u32 %r3, %r3, %r2; ld.shared.u32 %r6, [%r3];
  xor.b32 %r4, %r4, 8; ld.shared.u32 %r7, [%r4]; shfl.sync.bfly.b32 %r8, %r7, 1, 31, -1;
  mad.lo.u32 %r6, %r6, 100, %r8; mad.lo.u32 %r6, %r5, 100000, %r6; st.global.u32 [%rd1], %r6;
  ret;
})",
         launch, device->profile());
  EXPECT_EQ(info.staticSharedBytes, 416u);
  for (uint32_t t = 0; t < threads; t++) EXPECT_EQ(out.as<uint32_t>()[t], 4000000 + (t ^ 1) * 100 + (t ^ 3)) << t;
}

TEST_F(BlockPtx, BarriersOrderDeviceMemory) {
  // Each thread stores, meets the others, reads its neighbour's word, meets them again: 512 rounds, in which a word
  // that is read late or a store that comes early is seen in the sum.
  constexpr uint32_t threads = 256;
  auto words = wordsOf(R"(
    add.u32 %r1, %t, 33; and.b32 %r1, %r1, 255;
    sub.u32 %r2, %r1, %t; mul.wide.s32 %rd1, %r2, 8;
    add.u64 %rd2, %out, %rd1;                // the neighbour's
    mov.u32 %r3, 0; mov.u32 %r9, 0;
  ROUND:
    mad.lo.u32 %r4, %r3, 1000, %t;
    st.global.u32 [%out], %r4;
    bar.sync 0;
    ld.global.u32 %r5, [%rd2];
    bar.sync 0;
    mad.lo.u32 %r6, %r3, 1000, %r1;
    setp.ne.u32 %p1, %r5, %r6;
    @%p1 add.u32 %r9, %r9, 1;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, 512;
    @%p2 bra ROUND;
    st.global.u32 [%out+4], %r9;
  )",
                       2, threads);
  for (uint32_t thread = 0; thread < threads; thread++) EXPECT_EQ(words[2 * thread + 1], 0u) << thread;
}

TEST_F(BlockPtx, WarpsMeetAtNamedBarriers) {
  // Warps 0 and 1 produce, arriving without waiting; warps 2 and 3 consume. Then pairs of warps synchronise apart.
  auto words = wordsOf(R"(
    shl.b32 %r1, %t, 2; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2;
    setp.ge.u32 %p1, %t, 64;
    @%p1 bra CONSUME;
    mul.lo.u32 %r3, %t, 3;
    st.shared.u32 [%r1], %r3;
    bar.arrive 1, 128;
    mov.u32 %r4, 0;
    bar.sync 2, 64;
    bra JOIN;
  CONSUME:
    bar.sync 1, 128;
    ld.shared.u32 %r4, [%r1+-256];
    bar.sync 3, 64;
  JOIN:
    bar.sync 0;
    st.global.u32 [%out], %r4;
  )",
                       1, 128, ".shared .align 4 .b8 tile[512];");
  for (uint32_t thread = 0; thread < 128; thread++) EXPECT_EQ(words[thread], thread < 64 ? 0 : (thread - 64) * 3);
}

// Also where lanes that look at the barrier take a lock for that, which those that arrive need as well. An H100, which
// needs none, hangs in them.
TEST_F(BlockPtx, MbarriersCountPhases) {
  std::vector<TargetProfile> profiles{device->profile()};
  if (device->physical().isCpu()) {
    profiles.push_back(device->profile());
    profiles.back().name = "no 64-bit atomics in shared memory";
    profiles.back().atomicSharedInt64 = false;
  }
  for (const TargetProfile& profile : profiles) {
    auto words = wordsOf(profile, R"(
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [barrier], 64;
  READY:
    bar.sync 0;
    mov.u32 %r5, 0; mov.u32 %r6, 0;
  PHASE:
    mov.u32 %r1, sums;
    atom.shared.add.u32 %r2, [%r1], 1;
    mbarrier.arrive.shared.b64 %rd1, [barrier];
  WAIT:
    mbarrier.try_wait.shared.b64 %p2, [barrier], %rd1;
    @!%p2 bra WAIT;
    ld.shared.u32 %r3, [%r1];
    setp.lt.u32 %p3, %r3, 64;                // everybody has added
    @%p3 add.u32 %r6, %r6, 1;
    and.b32 %r7, %r5, 1;
    mbarrier.test_wait.parity.shared.b64 %p4, [barrier], %r7;
    @!%p4 add.u32 %r6, %r6, 100;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p3, %r5, 4;
    @%p3 bra PHASE;
    mbarrier.arrive.shared.b64 %rd2, [barrier];
    mbarrier.pending_count.b64 %r8, %rd2;
    st.global.u32 [%out], %r6;
  )",
                         1, 64, ".shared .align 8 .b64 barrier; .shared .align 4 .u32 sums;");
    for (uint32_t word : words) EXPECT_EQ(word, 0u) << profile.name;
  }
}

TEST_F(BlockPtx, TransactionsCompleteAPhase) {
  auto words = wordsOf(R"(
    mad.wide.u32 %rd9, %t, 16, 0; mov.u64 %rd8, source; add.u64 %rd8, %rd8, %rd9;
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [barrier], 1;
    mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [barrier], 64;
    mov.u64 %rd1, source;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 64, [barrier];
  READY:
    bar.sync 0;
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [barrier], 0;
    @!%p2 bra WAIT;
    and.b32 %r1, %t, 15; shl.b32 %r1, %r1, 2; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2;
    ld.shared.u32 %r3, [%r1];
    st.global.u32 [%out], %r3;
  )",
                       1, 32, R"(.shared .align 8 .b64 barrier; .shared .align 16 .b8 tile[64];
    .global .align 16 .u32 source[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};)");
  for (uint32_t thread = 0; thread < 32; thread++) EXPECT_EQ(words[thread], thread % 16 + 1);
}

TEST_F(BlockPtx, CopiesAsynchronouslyAndFillsWithZeros) {
  auto words = wordsOf(R"(
    mul.lo.u32 %r1, %t, 16; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2;
    mov.u64 %rd1, source;
    min.u32 %r3, %t, 16;
    cp.async.cg.shared.global [%r1], [%rd1], 16, %r3;
    cp.async.commit_group;
    cp.async.wait_group 0;
    ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1];
    st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7};
  )",
                       4, 32, R"(.shared .align 16 .b8 tile[512];
    .global .align 16 .u32 source[4] = {0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c};)");
  for (uint32_t thread = 0; thread < 32; thread++)
    for (uint32_t byte = 0; byte < 16; byte++)
      EXPECT_EQ(words[4 * thread + byte / 4] >> byte % 4 * 8 & 0xFF, byte < thread ? byte : 0) << thread;
}

// The source of partial copies ends with the buffer: what lies behind is another's.
TEST_F(BlockPtx, CopiesOnlyWhatIsAskedFor) {
  for (const TargetProfile& profile : {profiles()[0], profiles()[2]}) {
    for (uint32_t bytes : {4u, 8u, 16u}) {
      std::string body = R"(
        mul.lo.u32 %r1, %t, 16; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2;
        st.shared.v4.u32 [%r1], {-1, -1, -1, -1};
        mad.wide.u32 %rd1, %t, 16, 0; mov.u64 %rd2, source; add.u64 %rd1, %rd1, %rd2;
        and.b32 %r3, %t, BYTESLESSONE;
        cp.async.ca.shared.global [%r1], [%rd1], BYTES, %r3;
        cp.async.wait_all;
        ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1];
        st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7};
)";
      body.replace(body.find("BYTESLESSONE"), 12, std::to_string(bytes - 1));
      body.replace(body.find("BYTES"), 5, std::to_string(bytes));
      auto words =
          wordsOf(profile, body, 4, 32,
                  ".shared .align 16 .b8 tile[512];\n.global .align 16 .b8 source[512] = {" + numbers(512) + "};");
      for (uint32_t thread = 0; thread < 32; thread++) {
        for (uint32_t byte = 0; byte < 16; byte++) {
          uint32_t expected = byte >= bytes ? 0xFF : byte < thread % bytes ? (16 * thread + byte) % 251 : 0;
          EXPECT_EQ(words[4 * thread + byte / 4] >> byte % 4 * 8 & 0xFF, expected) << bytes << " " << thread;
        }
      }
    }
  }
}

// cp.reduce.async.bulk, masked cp.async.bulk and st.bulk, each by one thread, and what completes their transactions.
TEST_F(BlockPtx, BulkOperationsReduceMaskAndClear) {
  std::vector<TargetProfile> all = profiles(), locking = profilesThatLock();
  all.insert(all.end(), locking.begin(), locking.end());
  for (const TargetProfile& profile : all) {
    auto words = wordsOf(profile, R"(
      mad.wide.u32 %rd3, %t, 8, 0;
      mov.u64 %rd1, sums; mov.u64 %rd2, masked;
      mov.u32 %r1, own; mad.lo.u32 %r1, %t, 8, %r1; cvt.u32.u64 %r2, %rd3;
      st.shared.v2.u32 [%r1], {%t, %t};
      mov.u32 %r1, other; mad.lo.u32 %r1, %t, 8, %r1;
      st.shared.v2.u32 [%r1], {100, 100};
      mov.u32 %r1, cleared; mad.lo.u32 %r1, %t, 8, %r1;
      st.shared.v2.u32 [%r1], {-1, -1};
      bar.sync 0;
      setp.ne.u32 %p1, %t, 0;
      @%p1 bra READY;
      mbarrier.init.shared.b64 [barrier], 1;
      mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [barrier], 256;
      cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.u32 [other], [own], 256, [barrier];
      cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [own], 256;
      cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%rd1], [own], 128;
      mov.b16 %rs1, 0x0F03;
      cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd2], [own], 32, %rs1;
      cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
      mov.u64 %rd4, 200;
      st.bulk.weak.shared::cta [cleared], %rd4, 0;
    READY:
      bar.sync 0;
    WAIT:
      mbarrier.try_wait.parity.shared.b64 %p2, [barrier], 0;
      @!%p2 bra WAIT;
      mov.u32 %r1, other; mad.lo.u32 %r1, %t, 8, %r1; ld.shared.u32 %r3, [%r1];
      mov.u32 %r1, cleared; mad.lo.u32 %r1, %t, 8, %r1; ld.shared.u32 %r4, [%r1];
      add.u64 %rd1, %rd1, %rd3; ld.volatile.global.u32 %r5, [%rd1];
      mad.wide.u32 %rd2, %t, 4, %rd2; mov.u32 %r6, 0;
      setp.lt.u32 %p1, %t, 8; @%p1 ld.volatile.global.u32 %r6, [%rd2];
      st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6};
    )",
                         4, 32, R"(.shared .align 8 .b64 barrier; .shared .align 16 .b8 own[256];
      .shared .align 16 .b8 other[256]; .shared .align 16 .b8 cleared[256];
      .global .align 16 .b8 sums[256]; .global .align 16 .b8 masked[32];)",
                         ".version 8.7\n.target sm_100\n");
    if (HasFatalFailure()) return;
    for (uint32_t thread = 0; thread < 32; thread++) {
      EXPECT_EQ(words[4 * thread], std::max(100u, thread)) << profile.name;
      EXPECT_EQ(words[4 * thread + 1], thread < 25 ? 0 : ~0u) << profile.name;
      EXPECT_EQ(words[4 * thread + 2], thread < 16 ? 2 * thread : thread) << profile.name;
      uint32_t copied = thread / 2, mask = thread % 4 == 0 ? 0xFFFF : thread % 4 == 2 ? 0xFFFFFFFF : 0;
      EXPECT_EQ(words[4 * thread + 3], thread < 8 ? copied & mask : 0) << profile.name << " " << thread;
    }
  }
}

TEST_F(BlockPtx, RequestsForMoreBlocksAreDeclined) {
  auto words = wordsOf(device->profile(), R"(
      .reg .b128 %q;
      setp.ne.u32 %p1, %t, 0;
      @%p1 bra READY;
      mbarrier.init.shared.b64 [barrier], 1;
      mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [barrier], 16;
      clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [barrier];
    READY:
      bar.sync 0;
    WAIT:
      mbarrier.try_wait.parity.shared.b64 %p2, [barrier], 0;
      @!%p2 bra WAIT;
      ld.shared.b128 %q, [answer];
      clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
      selp.u32 %r1, 1, 2, %p3;
      st.global.u32 [%out], %r1;
    )",
                       1, 32, ".shared .align 8 .b64 barrier; .shared .align 16 .b8 answer[16];",
                       ".version 8.7\n.target sm_100\n");
  for (uint32_t word : words) EXPECT_EQ(word, 2u);
}

TEST_F(BlockPtx, AtomicsOfEveryKind) {
  for (const TargetProfile& profile : profiles()) {
    auto words = wordsOf(profile, R"(
      mov.u64 %rd1, cells; cvta.shared.u64 %rd2, shared;
      atom.global.inc.u32 %r1, [%rd1], 9;
      red.global.dec.u32 [%rd1+4], 6;
      red.global.add.f32 [%rd1+8], 0f3F800000;
      mov.b32 %r8, 0x3C003800;                                   // {0.5, 1.0}
      red.global.add.noftz.f16x2 [%rd1+12], %r8;
      mov.b16 %rs1, 0x3F80;
      red.global.add.noftz.bf16 [%rd1+18], %rs1;
      red.global.max.s32 [%rd1+20], %t;
      cvt.u16.u32 %rs2, %t; add.u16 %rs3, %rs2, 1;
    TRY:
      atom.global.cas.b16 %rs4, [%rd1+24], %rs2, %rs3;           // each thread in its turn
      setp.ne.u16 %p1, %rs4, %rs2;
      setp.ge.u16 %p2, %rs4, %rs2; and.pred %p2, %p1, %p2;
      @%p2 trap;
      @%p1 bra TRY;
      red.add.u32 [%rd2], 2;                                     // generic: shared
      red.add.u32 [%rd1+28], 3;                                  // generic: global
      red.global.add.f64 [%rd1+32], 0d3FE0000000000000;
      red.global.add.u64 [%rd1+40], 0x100000001;
      atom.global.add.f32 %f1, [%rd1+48], 0f00000000;
      bar.sync 0;
      mad.wide.u32 %rd3, %t, 4, %rd1;
      ld.volatile.global.u32 %r2, [%rd3];
      ld.shared.u32 %r3, [shared];
      st.global.v2.u32 [%out], {%r2, %r3};
    )",
                         2, 32, ".global .align 16 .u32 cells[64]; .shared .align 8 .u32 shared[2];");
    auto cell = [&](size_t index) { return words[2 * index]; };
    EXPECT_EQ(cell(0), 32u % 10) << profile.name;
    EXPECT_EQ(cell(1), 6u - (32 - 1) % 7) << profile.name;
    EXPECT_EQ(cell(2), 0x42000000u) << profile.name;
    EXPECT_EQ(cell(3), 0x50004C00u) << profile.name;  // {16, 32}
    EXPECT_EQ(cell(4), 0x42000000u) << profile.name;  // 32 as bf16, in the upper half
    EXPECT_EQ(cell(5), 31u) << profile.name;
    EXPECT_EQ(cell(6), 32u) << profile.name;
    EXPECT_EQ(cell(7), 96u) << profile.name;
    EXPECT_EQ(cell(9), 0x40300000u) << profile.name;  // 16.0
    EXPECT_EQ(cell(10), 32u) << profile.name;
    EXPECT_EQ(cell(11), 32u) << profile.name;
    EXPECT_EQ(error.error, 0u) << profile.name;
  }
}

TEST_F(BlockPtx, CallsPassStructuresAndPointersToFunctions) {
  auto words = wordsOf(R"(
    .local .align 8 .b8 depot[32];
    .param .align 8 .b8 structure[24];
    .param .align 8 .b8 returned[16];
    .param .b64 pointer;
    .param .b32 single, result;
    cvt.u64.u32 %rd1, %t;
    st.param.b64 [structure], %rd1;
    st.param.b32 [structure+8], 7;
    st.param.b32 [structure+12], %t;
    st.param.b64 [structure+16], 5;
    call (returned), swap, (structure);
    ld.param.b32 %r1, [returned];
    ld.param.b32 %r2, [returned+4];
    ld.param.b64 %rd2, [returned+8];
    cvt.u32.u64 %r3, %rd2;
    st.global.v4.u32 [%out], {%r1, %r2, %r3, 0};

    cvta.local.u64 %rd4, depot;                // the callee writes to the caller's frame
    st.param.b64 [pointer], %rd4;
    st.param.b32 [single], %t;
    call fill, (pointer, single);
    ld.local.u32 %r4, [depot+4];
    st.global.u32 [%out+12], %r4;

    and.b32 %r5, %t, 3;                      // one of four functions, from a table in memory
    mov.u64 %rd5, functions; mad.wide.u32 %rd5, %r5, 8, %rd5;
    ld.global.u64 %rd6, [%rd5];
    st.param.b32 [single], %t;
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (result), %rd6, (single), prototype;
    ld.param.b32 %r6, [result];
    st.global.u32 [%out+16], %r6;

    call (%r7), registers, (%t, 100);
    st.global.u32 [%out+20], %r7;
  )",
                       8, 64, R"(
    .func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 s[24])
    {
      .reg .b32 %r<4>; .reg .b64 %rd<4>;
      ld.param.v2.u32 {%r1, %r2}, [s+8];
      ld.param.u64 %rd1, [s];
      ld.param.u64 %rd2, [s+16];
      add.u64 %rd1, %rd1, %rd2;
      st.param.v2.b32 [r], {%r2, %r1};
      st.param.b64 [r+8], %rd1;
      ret;
    }
    .func fill(.param .b64 p, .param .b32 v)
    {
      .local .align 8 .b8 own[16];
      .reg .b64 %rd<4>; .reg .b32 %r<4>;
      ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
      st.local.u32 [own+4], 1000;
      ld.local.u32 %r2, [own+4];
      add.u32 %r1, %r1, %r2;
      st.u32 [%rd1+4], %r1;
      st.local.u32 [own+4], 1;
      ret;
    }
    .func (.param .b32 r) f0(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }
    .func (.param .b32 r) f1(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; mul.lo.u32 %r, %r, 2; st.param.b32 [r], %r; ret; }
    .func (.param .b32 r) f2(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; not.b32 %r, %r; st.param.b32 [r], %r; ret; }
    .func (.param .b32 r) f3(.param .b32 x) { st.param.b32 [r], 42; ret; }
    .func (.reg .b32 %r) registers(.reg .b32 %a, .reg .b32 %b) { sub.u32 %r, %b, %a; ret; }
    .global .align 8 .u64 functions[4] = {f0, f1, f2, f3};
  )");
  for (uint32_t thread = 0; thread < 64; thread++) {
    const uint32_t* w = &words[8 * thread];
    const uint32_t called[] = {thread + 1, thread * 2, ~thread, 42};
    EXPECT_EQ(w[0], thread);
    EXPECT_EQ(w[1], 7u);
    EXPECT_EQ(w[2], thread + 5);
    EXPECT_EQ(w[3], thread + 1000);
    EXPECT_EQ(w[4], called[thread % 4]);
    EXPECT_EQ(w[5], 100 - thread);
  }
}

TEST_F(BlockPtx, ExitInAFunctionEndsTheThread) {
  auto words = wordsOf(R"(
    .param .b32 x;
    st.global.u32 [%out], 1;
    st.param.b32 [x], %t;
    call leave, (x);
    st.global.u32 [%out], 2;
  )",
                       1, 32, R"(
    .func leave(.param .b32 x)
    {
      .reg .b32 %r; .reg .pred %p;
      ld.param.b32 %r, [x];
      setp.gt.u32 %p, %r, 20;
      @%p exit;
      ret;
    })");
  for (uint32_t thread = 0; thread < 32; thread++) EXPECT_EQ(words[thread], thread > 20 ? 1u : 2u);
}

TEST_F(BlockPtx, TrapTellsWhere) {
  wordsOf("setp.eq.u32 %p1, %t, 37; @%p1 trap; st.global.u32 [%out], 1;", 1, 64);
  EXPECT_EQ(error.error, static_cast<uint32_t>(abi::KernelError::Trap));
  EXPECT_EQ(error.thread[0], 37u);
}

TEST_F(BlockPtx, GenericAddressesReachEverySpace) {
  auto words = wordsOf(R"(
    .local .align 8 .b8 depot[16];
    cvta.local.u64 %rd1, depot; cvta.shared.u64 %rd2, shared; mov.u64 %rd3, cell;
    shl.b32 %r9, %t, 2; cvt.u64.u32 %rd9, %r9;
    add.u64 %rd2, %rd2, %rd9; add.u64 %rd3, %rd3, %rd9;
    rem.u32 %r1, %t, 3;
    setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 1;
    selp.b64 %rd4, %rd2, %rd3, %p2;
    selp.b64 %rd4, %rd1, %rd4, %p1;            // local, shared, global by turns
    st.u32 [%rd4], %t;
    ld.u32 %r2, [%rd4];
    isspacep.local %p3, %rd4; isspacep.shared %p4, %rd4; isspacep.global %p5, %rd4;
    selp.u32 %r3, 1, 0, %p3; selp.u32 %r4, 1, 0, %p4; selp.u32 %r5, 1, 0, %p5;
    ld.local.u32 %r6, [depot];
    ld.shared.u32 %r7, [shared+16];
    st.global.v4.u32 [%out], {%r2, %r3, %r4, %r5};
  )",
                       4, 32, ".shared .align 8 .u32 shared[32]; .global .align 8 .u32 cell[32];");
  for (uint32_t thread = 0; thread < 32; thread++) {
    EXPECT_EQ(words[4 * thread], thread);
    for (uint32_t which = 0; which < 3; which++) EXPECT_EQ(words[4 * thread + 1 + which], thread % 3 == which);
  }
}

TEST_F(BlockPtx, VolatileWordsOfPrivateMemory) {
  auto words = wordsOf(R"(
    .local .align 16 .b8 depot[32];
    mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; cvt.u64.u32 %rd3, %t; mul.lo.u64 %rd3, %rd3, 0x100000007;
    st.volatile.u64 [%rd2], %rd3; st.volatile.u64 [%rd2+8], %out; ld.volatile.u64 %rd4, [%rd2];
    and.b32 %r1, %t, 1; mul.wide.u32 %rd5, %r1, 16; add.u64 %rd5, %rd5, %rd2; st.volatile.u64 [%rd5], %rd4;
    ld.volatile.v2.u64 {%rd6, %rd7}, [%rd5]; ld.relaxed.sys.u64 %rd8, [%rd5]; st.volatile.u64 [%rd5], %rd8;
    ld.volatile.u64 %rd9, [%rd5]; st.global.u64 [%out], %rd9;
  )",
                       2, 64);
  for (uint32_t t = 0; t < 64; t++) {
    EXPECT_EQ(words[2 * t], t * 7) << t;
    EXPECT_EQ(words[2 * t + 1], t) << t;
  }
}

TEST_F(BlockPtx, PrintsRecords) {
  wordsOf(R"(
    .local .align 8 .b8 arguments[32];
    .param .b64 format, list; .param .b32 count;
    setp.ne.u32 %p1, %t, 3;
    @%p1 ret;
    st.local.u32 [arguments], 5; st.local.f64 [arguments+8], 0d3FF0000000000000; st.local.u32 [arguments+16], 65;
    cvta.local.u64 %rd1, arguments;
    mov.u64 %rd2, text; cvta.global.u64 %rd2, %rd2;
    st.param.b64 [format], %rd2; st.param.b64 [list], %rd1;
    call (count), vprintf, (format, list);
    ld.param.b32 %r1, [count];
    st.global.u32 [%out], %r1;
  )",
          1, 32, R"(.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
    .global .align 1 .b8 text[] = {37, 45, 42, 100, 37, 37, 37, 46, 50, 102, 0};)");  // "%-*d%%%.2f"
  ASSERT_EQ(printed.size(), 40u - 8 + 0);
  uint32_t words[4];
  std::memcpy(words, printed.data(), sizeof words);
  EXPECT_EQ(words[0], printed.size());
  EXPECT_EQ(words[1], 16u);
}

// The host can read neither shared nor local memory: the text of %s is in the record.
TEST_F(BlockPtx, PrintsStringsOfEverySpace) {
  wordsOf(R"(
    .local .align 8 .b8 arguments[32]; .local .b8 mine[4]; .shared .b8 ours[1100];
    .param .b64 format, list; .param .b32 count;
    mov.u32 %r1, 0;
  FILL:
    mov.u32 %r2, ours; add.u32 %r2, %r2, %r1; mov.u32 %r3, 120; st.shared.u8 [%r2], %r3; add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 1100; @%p1 bra FILL;
    bar.sync 0;
    setp.ne.u32 %p1, %t, 3; @%p1 ret;
    mov.u32 %r1, 6906221; st.local.b32 [mine], %r1;
    mov.u64 %rd1, mine; cvta.local.u64 %rd1, %rd1; mov.u64 %rd2, ours; cvta.shared.u64 %rd2, %rd2;
    mov.u64 %rd3, text; cvta.global.u64 %rd3, %rd3; mov.u64 %rd4, 0;
    st.local.u64 [arguments], %rd1; st.local.u64 [arguments+8], %rd4; st.local.u64 [arguments+16], %rd2;
    st.local.u64 [arguments+24], %rd3;
    cvta.local.u64 %rd1, arguments;
    st.param.b64 [format], %rd3; st.param.b64 [list], %rd1;
    call (count), vprintf, (format, list);
    ld.param.b32 %r1, [count];
    st.global.u32 [%out], %r1;
  )",
          1, 32, R"(.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
    .global .align 1 .b8 text[] = {37, 115, 37, 115, 37, 115, 37, 115, 0};)");  // "%s%s%s%s"
  using namespace std::string_literals;
  const std::string expected = "mai\0"s + std::string(1023, 'x') + "\0%s%s%s%s\0"s;
  ASSERT_EQ(printed.size(), (16 + 32 + expected.size() + 7) / 8 * 8);
  EXPECT_EQ(std::string(printed.begin() + 48, printed.begin() + 48 + static_cast<ptrdiff_t>(expected.size())),
            expected);
}

TEST_F(BlockPtx, AllocatesAndFrees) {
  auto words = wordsOf(R"(
    .param .b64 size, pointer;
    mov.u32 %r9, 0; mov.u32 %r8, 0;
  AGAIN:
    add.u32 %r1, %t, 1; mul.wide.u32 %rd1, %r1, 24;
    st.param.b64 [size], %rd1;
    call (pointer), malloc, (size);
    ld.param.b64 %rd2, [pointer];
    setp.eq.u64 %p1, %rd2, 0;
    @%p1 trap;
    st.u32 [%rd2], %t; st.u32 [%rd2+4], %r9; st.u32 [%rd2+20], %t;
    bar.sync 0;
    ld.u32 %r2, [%rd2]; ld.u32 %r3, [%rd2+4]; ld.u32 %r4, [%rd2+20];
    setp.ne.u32 %p1, %r2, %t; @%p1 add.u32 %r8, %r8, 1;
    setp.ne.u32 %p1, %r3, %r9; @%p1 add.u32 %r8, %r8, 1;
    setp.ne.u32 %p1, %r4, %t; @%p1 add.u32 %r8, %r8, 1;
    st.param.b64 [pointer], %rd2;
    call free, (pointer);
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p1, %r9, 30;
    @%p1 bra AGAIN;
    st.global.u32 [%out], %r8;
  )",
                       1, 128, R"(.extern .func (.param .b64 r) malloc(.param .b64 s);
    .extern .func free(.param .b64 p);)");
  EXPECT_EQ(std::accumulate(words.begin(), words.end(), 0u), 0u);
  EXPECT_EQ(error.error, 0u);
}

}  // namespace
}  // namespace mulciber::test
