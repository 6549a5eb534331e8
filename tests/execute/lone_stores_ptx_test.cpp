// Private memory to which a kernel stores one value, read at places that are computed and that are not. Compilers of
// devices may read such a value where it came from.
#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 64, blocks = 3, given = 0x4123'4567, ofModule = 0x1234'5679;

// Sets %r9.
struct Source {
  const char* text;
  uint32_t (*value)(uint32_t block);
};
const Source sources[] = {
    {"ld.param.u32 %r9, [word];", [](uint32_t) { return given; }},
    {"ld.param.f32 %f1, [word]; mov.b32 %r9, %f1;", [](uint32_t) { return given; }},
    {"ld.param.u16 %rs1, [word]; cvt.u32.u16 %r9, %rs1;", [](uint32_t) { return given & 0xFFFF; }},
    {"ld.param.u64 %rd7, [in]; shr.u64 %rd7, %rd7, 60; cvt.u32.u64 %r9, %rd7;", [](uint32_t) { return 0u; }},
    {"ld.const.u32 %r9, [number];", [](uint32_t) { return ofModule; }},
    {"mov.u32 %r9, %nctaid.x;", [](uint32_t) { return blocks; }},
    {"mov.u32 %r9, %ntid.x;", [](uint32_t) { return threads; }},
    {"mov.u32 %r9, %ctaid.x;", [](uint32_t block) { return block; }},
    {"ld.global.u32 %r9, [%rd1+4];", [](uint32_t) { return 11u; }},
    {"ld.param.u32 %r9, [word]; add.u32 %r9, %r9, %r2;", [](uint32_t block) { return given + block; }},
};

// Store %r9 at array + 8. %p1 holds in even lanes.
const char* const stores[] = {
    "st.local.u32 [array+8], %r9;",
    "@%p1 st.local.u32 [array+8], %r9;",
    "@%p1 bra A; st.local.u32 [array+8], %r9; bra B; A: st.local.u32 [array+8], %r9; B:",
    "mov.u32 %r5, 0; A: st.local.u32 [array+8], %r9; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r3; @%p2 bra A;",
    "st.local.u32 [%rd5], %r9;",
    "cvt.u64.u32 %rd7, %r9; st.local.u64 [array+8], %rd7;",
    "st.local.u16 [array+8], %r9; shr.u32 %r5, %r9, 16; st.local.u16 [array+10], %r5;",
    "st.local.u32 [array+8], %r9; st.local.u32 [array+12], %r9;",
    "st.local.u32 [array+8], %r9; st.local.u32 [array+12], %r2;",
};

// Of what was stored into %r10.
const char* const loads[] = {
    "ld.local.u32 %r10, [%rd5];",
    "ld.local.u32 %r10, [array+8];",
    "ld.local.u32 %r10, [%rd5]; ld.local.u32 %r6, [array+8]; xor.b32 %r6, %r6, %r10; add.u32 %r10, %r10, %r6;",
};

class LoneStoresPtx : public PtxTest {
 protected:
  void expectStored(const TargetProfile& profile) {
    Buffer in(*device, 8);
    in.as<uint32_t>()[0] = 2;  // the place, which no compiler knows
    in.as<uint32_t>()[1] = 11;
    for (const Source& source : sources)
      for (const std::string store : stores)
        for (const char* load : loads) {
          if (isLeftOut(3)) continue;
          Buffer out(*device, threads * blocks * 4);
          Launch launch;
          launch.block[0] = threads;
          launch.grid[0] = blocks;
          launch.add(in.address()).add(out.address()).add(given);
          const std::string body = source.text + ("\n" + store) + "\n" + load + "\n";
          runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.const .u32 number = 0x12345679;
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 word)
{
  .reg .b16 %rs<3>; .reg .b32 %r<11>; .reg .f32 %f<3>; .reg .b64 %rd<10>; .reg .pred %p<4>;
  .local .align 16 .b8 array[64];
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r4, %r2, 64, %r1; mad.wide.u32 %rd2, %r4, 4, %rd2;
  and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0;
  ld.global.u32 %r3, [%rd1]; mov.u64 %rd5, array; mad.wide.u32 %rd5, %r3, 4, %rd5;
)" + body + "st.global.u32 [%rd2], %r10;\nret;\n}\n",
                 launch, profile);
          for (uint32_t i = 0; i < threads * blocks; ++i) {
            if (store.starts_with("@%p1 st") && i % 2 != 0) continue;  // never stored
            ASSERT_EQ(out.as<uint32_t>()[i], source.value(i / threads)) << "thread " << i << "\n" << body;
          }
        }
  }
};

TEST_F(LoneStoresPtx, AreReadAtAnyPlace) { expectStored(device->profile()); }

TEST_F(LoneStoresPtx, HiddenOnesAreTheSame) {
  TargetProfile profile = device->profile();
  profile.readsLoneStoresElsewhere = true;
  expectStored(profile);
}

}  // namespace
}  // namespace mulciber::test
