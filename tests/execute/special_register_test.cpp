// Special registers: what has a defined value has it, what changes changes as it should (docs/special_registers.md).
#include <chrono>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

class SpecialRegisterPtx : public PtxTest {
 protected:
  // The register's value in each thread of one block, as a word or, for 64 bits, two.
  std::vector<uint32_t> values(const std::string& name, bool isWide = false, const std::string& declarations = "") {
    if (isWide) return wordsOf("mov.u64 %rd1, " + name + "; st.global.u64 [%out], %rd1;", 2, 64, declarations);
    return wordsOf("mov.u32 %r1, " + name + "; st.global.u32 [%out], %r1;", 1, 64, declarations);
  }
  void expectAll(const std::string& name, uint32_t value, bool isWide = false) {
    for (uint32_t word : values(name, isWide)) ASSERT_EQ(word, value) << name;
  }
};

TEST_F(SpecialRegisterPtx, OneBlockIsTheGridAndItsOwnCluster) {
  for (const char* name :
       {"%ctaid.x", "%ctaid.y", "%ctaid.z", "%tid.y", "%tid.z", "%clusterid.x", "%clusterid.y", "%clusterid.z",
        "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z", "%cluster_ctarank"})
    expectAll(name, 0);
  for (const char* name :
       {"%nctaid.x", "%nctaid.y", "%nctaid.z", "%ntid.y", "%ntid.z", "%nclusterid.x", "%nclusterid.y", "%nclusterid.z",
        "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z", "%cluster_nctarank"})
    expectAll(name, 1);
  expectAll("%ntid.x", 64);
}

TEST_F(SpecialRegisterPtx, NothingIsCounted) {
  for (unsigned i = 0; i < 8; i++) expectAll("%pm" + std::to_string(i), 0);
  expectAll("%pm3_64", 0, true);
  expectAll("%current_graph_exec", 0, true);
  expectAll("%envreg31", 0);
}

// Groups of more than a warp meet in it: it must be no variable's.
TEST_F(SpecialRegisterPtx, ReservedMemoryIsNobodyElses) {
  auto words = wordsOf(R"(
    mov.u32 %r1, cells; st.shared.u32 [%r1], 7; mov.u32 %r2, %reserved_smem_offset_1; st.shared.u32 [%r2], 9;
    ld.shared.u32 %r1, [%r1]; mov.u32 %r3, %reserved_smem_offset_begin; mov.u32 %r4, %reserved_smem_offset_end;
    sub.u32 %r4, %r4, %r3; setp.le.u32 %p1, %r3, %r2; selp.u32 %r2, 1, 0, %p1; mov.u32 %r3, %reserved_smem_offset_cap;
    st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};
  )",
                       4, 32, ".shared .align 4 .b8 cells[200];");
  EXPECT_EQ(words[0], 7u);
  EXPECT_EQ(words[1], 1u);
  EXPECT_EQ(words[2], words[3]);
  EXPECT_GE(words[3], 512u);
}

TEST_F(SpecialRegisterPtx, EnvironmentRegistersHoldTheGridsWorkspace) {
  // An ordinary launch has none.
  expectAll("%envreg1", 0);
  expectAll("%envreg2", 0);
}

TEST_F(SpecialRegisterPtx, SharedMemoryIsCountedInUnits) {
  auto words = wordsOf(R"(
    mov.u32 %r1, cells; st.shared.u32 [%r1], %t; mov.u32 %r2, %total_smem_size; mov.u32 %r3, %dynamic_smem_size;
    mov.u32 %r4, %aggr_smem_size; st.global.v4.u32 [%out], {%r2, %r3, %r4, 0};
  )",
                       4, 32, ".shared .align 4 .b8 cells[200];");
  EXPECT_EQ(words[0], 256u);
  EXPECT_EQ(words[1], 0u);
  EXPECT_GE(words[2], words[0]);
}

TEST_F(SpecialRegisterPtx, MultiprocessorsAreNumberedBelowTheirCount) {
  auto words = wordsOf(
      "mov.u32 %r1, %smid; mov.u32 %r2, %nsmid; mov.u32 %r3, %warpid; mov.u32 %r4, %nwarpid;\n"
      "st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};",
      4, 64);
  for (uint32_t t = 0; t < 64; t++) {
    EXPECT_LT(words[4 * t], words[4 * t + 1]);
    EXPECT_EQ(words[4 * t], words[0]);  // a block stays on one
    EXPECT_EQ(words[4 * t + 2], t / 32);
    EXPECT_LT(words[4 * t + 2], words[4 * t + 3]);
  }
  EXPECT_GT(words[1], device->profile().smBuiltins ? 1u : 0u);
}

TEST_F(SpecialRegisterPtx, ClocksGoForward) {
  const TargetProfile& profile = device->profile();
  if (!profile.shaderSubgroupClock || !profile.shaderDeviceClock) GTEST_SKIP() << "skipped: no clocks";
  auto words = wordsOf(R"(
    mov.u64 %rd1, %clock64; mov.u64 %rd2, %globaltimer; mov.u32 %r9, 0; mov.u32 %r8, %t;
  SPIN:
    mad.lo.u32 %r8, %r8, 1664525, 1013904223; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 10000; @%p1 bra SPIN;
    mov.u64 %rd3, %clock64; mov.u64 %rd4, %globaltimer;
    setp.gt.u64 %p2, %rd3, %rd1; setp.ge.u64 %p3, %rd4, %rd2; selp.u32 %r1, 1, 0, %p2; selp.u32 %r2, 1, 0, %p3;
    mov.u32 %r3, %clock; mov.u32 %r4, %clock_hi; mov.u32 %r5, %globaltimer_lo; mov.u32 %r6, %globaltimer_hi;
    st.global.v4.u32 [%out], {%r1, %r2, %r8, 0};
  )",
                       4);
  for (uint32_t lane = 0; lane < 32; lane++) {
    EXPECT_EQ(words[4 * lane], 1u);
    EXPECT_EQ(words[4 * lane + 1], 1u);
  }
}

// Mesa's driver for processors tells the host's clock, and of that, without our patch, the lower half alone.
TEST_F(SpecialRegisterPtx, TheClockHasBothItsHalves) {
  const bool isPatched = device->physical().isCpu() && device->profile().subgroupSize == 32;
  if (!isPatched) GTEST_SKIP() << "skipped: not the driver that third_party/lavapipe builds";
  const auto now = [] { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  for (const char* name : {"%clock64", "%globaltimer"}) {
    const auto before = static_cast<uint64_t>(now());
    const auto words = values(name, true);
    const uint64_t told = words[0] | uint64_t{words[1]} << 32;
    EXPECT_GE(told, before) << name;
    EXPECT_LE(told, static_cast<uint64_t>(now())) << name;
  }
}

// A CPU's driver may run one warp at a time: there a sleep takes no time.
TEST_F(SpecialRegisterPtx, SleepTakesTimeWhereWarpsProgress) {
  const TargetProfile& profile = device->profile();
  if (!profile.shaderSubgroupClock) GTEST_SKIP() << "skipped: no clocks";
  auto words = wordsOf(R"(
    setp.lt.u32 %p1, %t, 16; mov.u64 %rd1, %clock64;
    @%p1 nanosleep.u32 50000; @!%p1 nanosleep.u32 %t;
    mov.u64 %rd2, %clock64; sub.u64 %rd2, %rd2, %rd1; st.global.u64 [%out], %rd2;
  )",
                       2);
  const uint32_t least = profile.warpsProgress ? 50000 : 0;
  for (uint32_t lane = 0; lane < 16; lane++) EXPECT_GE(words[2 * lane], least) << lane;
}

}  // namespace
}  // namespace mulciber::test
