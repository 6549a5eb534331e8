// Kernels with more shared or private memory than the device has, on a device said to have little: they must do the
// same.
#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 64, blocksX = 3, blocksY = 2, bytes = 65536, results = 8;

class ScratchPtx : public PtxTest {
 protected:
  // A block writes its array as words, then single bytes and halves of it, and reads it as vectors and generic 64-bit
  // words; then atomics of several types on one cell each, by all threads.
  static std::string text(bool isDynamic) {
    std::string array = isDynamic ? ".extern .shared .align 16 .b8 big[];\n.shared .align 16 .b8 before[48];\n"
                                  : ".shared .align 16 .b8 big[65536];\n.shared .align 16 .b8 before[48];\n";
    return ".version 8.4\n.target sm_90\n.address_size 64\n" + array + R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>, %t, %block, %big; .reg .b64 %rd<20>, %out, %generic;
  .reg .f32 %f<9>;
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mad.lo.u32 %block, %r2, 3, %r1;
  mad.lo.u32 %r3, %block, 64, %t; mad.wide.u32 %out, %r3, 32, %out;
  mov.u32 %big, big; cvta.shared.u64 %generic, big;
  setp.lt.u32 %p1, %t, 12; mov.u32 %r4, before; mad.lo.u32 %r4, %t, 4, %r4;
  @%p1 st.shared.u32 [%r4], %block;
  mov.u32 %r5, %t;
WORDS:
  mad.lo.u32 %r6, %r5, 4, %big; mad.lo.u32 %r7, %r5, 0x9E3779B1, %block;
  st.shared.u32 [%r6], %r7;
  add.u32 %r5, %r5, 64; setp.lt.u32 %p2, %r5, 16384; @%p2 bra WORDS;
  bar.sync 0;
  mov.u32 %r5, %t;
PARTS:
  mad.lo.u32 %r6, %r5, 16, %big; cvt.u16.u32 %h1, %r5;
  st.shared.u8 [%r6+5], %h1;
  st.shared.u16 [%r6+10], %h1;
  add.u32 %r5, %r5, 64; setp.lt.u32 %p2, %r5, 4096; @%p2 bra PARTS;
  bar.sync 0;
  mul.lo.u32 %r5, %t, 64; add.u32 %r8, %r5, 64; mov.u32 %r20, 0; mov.u64 %rd5, 0;
SUMS:
  mad.lo.u32 %r6, %r5, 16, %big; mad.wide.u32 %rd6, %r5, 16, %generic;
  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r6];
  mad.lo.u32 %r20, %r20, 31, %r10; mad.lo.u32 %r20, %r20, 31, %r11;
  mad.lo.u32 %r20, %r20, 31, %r12; mad.lo.u32 %r20, %r20, 31, %r13;
  ld.u64 %rd7, [%rd6+8]; xor.b64 %rd5, %rd5, %rd7;
  add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r8; @%p2 bra SUMS;
  bar.sync 0;
  setp.lt.u32 %p3, %t, 16; mad.lo.u32 %r6, %t, 4, %big;
  @%p3 st.shared.u32 [%r6], 0;
  bar.sync 0;
  atom.shared.add.u32 %r14, [%big], 1;
  cvt.rn.f32.u32 %f1, %t; red.shared.add.f32 [%big+4], %f1;
  cvt.u64.u32 %rd8, %t; red.add.u64 [%generic+8], %rd8;
  red.shared.max.s32 [%big+16], %t;
  mov.b16 %h2, 0x3C00; red.shared.add.noftz.f16 [%big+22], %h2;
  setp.ne.u32 %p4, %t, 7;
  bar.red.popc.u32 %r15, 0, %p4;
  ld.shared.v4.u32 {%r16, %r17, %r18, %r19}, [%big]; ld.shared.v2.u32 {%r21, %r22}, [%big+16];
  ld.shared.u32 %r23, [before+44];
  add.u32 %r22, %r22, %r23;
  cvt.u32.u64 %r24, %rd5;
  add.u32 %r18, %r18, %r15;
  st.global.v4.u32 [%out], {%r20, %r24, %r16, %r17};
  st.global.v4.u32 [%out+16], {%r18, %r21, %r22, %r19};
  ret;
}
)";
  }

  void check(const TargetProfile& profile, bool isDynamic) {
    Buffer out(*device, blocksX * blocksY * threads * results * 4);
    Launch launch;
    launch.grid[0] = blocksX;
    launch.grid[1] = blocksY;
    launch.block[0] = threads;
    launch.dynamicSharedBytes = isDynamic ? bytes : 0;
    launch.add(out.address());
    runPtx(text(isDynamic), launch, profile);
    if (HasFatalFailure()) return;
    EXPECT_TRUE(info.sharedInScratch) << profile.name;
    std::vector<uint32_t> array(bytes / 4);
    for (uint32_t block = 0; block < blocksX * blocksY; block++) {
      for (uint32_t i = 0; i < array.size(); i++) array[i] = i * 0x9E3779B1 + block;
      auto* raw = reinterpret_cast<uint8_t*>(array.data());
      for (uint32_t j = 0; j < bytes / 16; j++) {
        raw[16 * j + 5] = static_cast<uint8_t>(j);
        raw[16 * j + 10] = static_cast<uint8_t>(j);
        raw[16 * j + 11] = static_cast<uint8_t>(j >> 8);
      }
      for (uint32_t t = 0; t < threads; t++) {
        uint32_t sum = 0, mixed = 0;
        for (uint32_t j = 64 * t; j < 64 * t + 64; j++) {
          for (uint32_t k = 0; k < 4; k++) sum = sum * 31 + array[4 * j + k];
          mixed ^= array[4 * j + 2];
        }
        // 64 of f16 in the upper half of the last word but one; 63 threads of the reduction
        const uint32_t expected[results] = {sum, mixed, 64, 0x44FC0000, 2016 + 63, 63, 0x54000000 + block, 0};
        for (uint32_t i = 0; i < results; i++)
          ASSERT_EQ(out.as<uint32_t>()[(block * threads + t) * results + i], expected[i])
              << profile.name << ", block " << block << ", thread " << t << ", result " << i;
      }
    }
  }

  // The device's profiles with little shared memory.
  std::vector<TargetProfile> small(uint32_t most) const {
    std::vector<TargetProfile> result = profiles();
    for (TargetProfile& profile : result) profile.maxSharedBytes = most;
    return result;
  }
};

TEST_F(ScratchPtx, HoldsStaticSharedMemory) {
  for (const TargetProfile& profile : small(49152)) check(profile, false);
}

TEST_F(ScratchPtx, HoldsDynamicSharedMemory) {
  for (const TargetProfile& profile : small(16384)) check(profile, true);
}

// Each thread fills an array of its own by words, changes bytes of it through a generic address, gives some of it to
// its neighbour through shared memory, and adds up what it reads back as vectors.
constexpr const char* privateArrays = R"(.version 8.4
.target sm_90
.address_size 64
.shared .align 16 .b8 exchange[20000];
.visible .entry k(.param .u64 out)
{
  .local .align 16 .b8 own[20000];
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<30>, %t, %all, %own, %place; .reg .b64 %rd<9>, %out, %generic;
  ld.param.u64 %out, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mad.lo.u32 %t, %r2, 8, %r1;
  mov.u32 %r1, %ctaid.x; mad.lo.u32 %all, %r1, 32, %t;
  mad.wide.u32 %out, %all, 8, %out;
  mov.u32 %own, own; cvta.local.u64 %generic, own;
  mov.u32 %r5, 0;
WORDS:
  mad.lo.u32 %r6, %r5, 4, %own; mad.lo.u32 %r7, %r5, 0x9E3779B1, %all;
  st.local.u32 [%r6], %r7;
  add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 5000; @%p2 bra WORDS;
  mul.wide.u32 %rd1, %t, 16; add.u64 %rd1, %generic, %rd1; cvt.u16.u32 %h1, %t;
  st.u8 [%rd1+1], %h1;
  mov.u32 %r8, exchange; mad.lo.u32 %place, %t, 4, %r8;
  ld.local.u32 %r9, [own+400]; st.shared.u32 [%place], %r9;
  bar.sync 0;
  xor.b32 %r10, %t, 1; mad.lo.u32 %r11, %r10, 4, %r8; ld.shared.u32 %r12, [%r11];
  mov.u32 %r20, 0; mov.u32 %r5, 0;
SUMS:
  mad.lo.u32 %r6, %r5, 16, %own;
  ld.local.v4.u32 {%r13, %r14, %r15, %r16}, [%r6];
  mad.lo.u32 %r20, %r20, 31, %r13; mad.lo.u32 %r20, %r20, 31, %r14;
  mad.lo.u32 %r20, %r20, 31, %r15; mad.lo.u32 %r20, %r20, 31, %r16;
  add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 1250; @%p2 bra SUMS;
  st.global.v2.u32 [%out], {%r20, %r12};
  ret;
}
)";

TEST_F(ScratchPtx, HoldsPrivateMemory) {
  for (uint32_t mostShared : {32768u, 16384u})
    for (TargetProfile& profile : small(mostShared)) {
      Buffer out(*device, 3 * 32 * 8);
      Launch launch;
      launch.grid[0] = 3;
      launch.block[0] = 8;
      launch.block[1] = 4;
      launch.add(out.address());
      runPtx(privateArrays, launch, profile);
      if (HasFatalFailure()) return;
      EXPECT_TRUE(info.localInScratch);
      EXPECT_EQ(info.sharedInScratch, mostShared == 16384);
      for (uint32_t all = 0; all < 3 * 32; ++all) {
        std::vector<uint32_t> own(5000);
        for (uint32_t i = 0; i < own.size(); ++i) own[i] = i * 0x9E3779B1 + all;
        reinterpret_cast<uint8_t*>(own.data())[all % 32 * 16 + 1] = static_cast<uint8_t>(all % 32);
        uint32_t sum = 0;
        for (uint32_t word : own) sum = sum * 31 + word;
        ASSERT_EQ(out.as<uint32_t>()[2 * all], sum) << profile.name << ", thread " << all;
        // The neighbour's word, in which no thread changed the second byte but number 25.
        const uint32_t neighbour = 100 * 0x9E3779B1 + (all ^ 1);
        const uint32_t given = (all ^ 1) % 32 == 25 ? (neighbour & ~0xFF00u) | 25u << 8 : neighbour;
        ASSERT_EQ(out.as<uint32_t>()[2 * all + 1], given) << profile.name << ", thread " << all;
      }
    }
}

// Each access at a place that only the thread knows adds to what a driver has to compile.
TEST_F(ScratchPtx, HoldsPrivateMemoryOfManyAccessesWhereDriversCompileThemSlowly) {
  for (uint32_t accesses : {8u, 200u})
    for (TargetProfile profile : profiles()) {
      profile.slowPrivateArrays = true;
      std::string text = R"(.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .local .align 16 .b8 own[64];
  .reg .b32 %r<9>, %own, %at, %sum; .reg .b64 %out;
  ld.param.u64 %out, [out];
  mov.u32 %r1, %tid.x; mad.wide.u32 %out, %r1, 4, %out;
  mov.u32 %own, own; mov.u32 %sum, %r1;
  st.local.v4.u32 [own], {%r1, 1, 2, 3}; st.local.v4.u32 [own+16], {4, 5, 6, 7};
  st.local.v4.u32 [own+32], {8, 9, 10, 11}; st.local.v4.u32 [own+48], {12, 13, 14, 15};
)";
      for (uint32_t i = 0; i < accesses / 2; ++i)
        text +=
            "  and.b32 %at, %sum, 15; mad.lo.u32 %at, %at, 4, %own; ld.local.u32 %r2, [%at];\n"
            "  mad.lo.u32 %sum, %sum, 5, %r2; st.local.u32 [%at], %sum;\n";
      text += "  st.global.u32 [%out], %sum;\n  ret;\n}\n";
      Buffer out(*device, threads * 4);
      Launch launch;
      launch.block[0] = threads;
      launch.add(out.address());
      runPtx(text, launch, profile);
      if (HasFatalFailure()) return;
      EXPECT_EQ(info.localInScratch, accesses == 200) << profile.name;
      for (uint32_t t = 0; t < threads; ++t) {
        uint32_t own[16] = {t, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, sum = t;
        for (uint32_t i = 0; i < accesses / 2; ++i) {
          uint32_t& word = own[sum % 16];
          word = sum = sum * 5 + word;
        }
        ASSERT_EQ(out.as<uint32_t>()[t], sum) << profile.name << ", " << accesses << " accesses, thread " << t;
      }
    }
}

}  // namespace
}  // namespace mulciber::test
