// Shifts of sign-extended numbers of 8 and 16 bits that were loaded before a barrier, in branches behind an atomic
// operation. Compilers of devices may keep such a number with other bits above its own, and forget that a shift brings
// these down.
#include <cstring>
#include <random>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 64, stride = 48;

// Makes the word %r9 of the number %rs1; %r8 is 7. The word's lower half is then written to %rs1, so that behind the
// branch %rs1 is either what was loaded or what was shifted.
struct Shift {
  const char* text;
  std::function<uint32_t(int32_t x)> value;
};
uint32_t bitsOf(int32_t x) { return static_cast<uint32_t>(x); }
const Shift shifts[] = {
    {"shr.s16 %rs2, %rs1, 3; cvt.u32.u16 %r9, %rs2;", [](int32_t x) { return bitsOf(x >> 3) & 0xFFFF; }},
    {"shr.s16 %rs2, %rs1, 15; cvt.u32.u16 %r9, %rs2;", [](int32_t x) { return bitsOf(x >> 15) & 0xFFFF; }},
    {"shr.s16 %rs2, %rs1, %r8; cvt.u32.u16 %r9, %rs2;", [](int32_t x) { return bitsOf(x >> 7) & 0xFFFF; }},
    {"cvt.s32.s16 %r9, %rs1; shr.s32 %r9, %r9, 7;", [](int32_t x) { return bitsOf(x >> 7); }},
    {"cvt.s32.s16 %r9, %rs1; shr.u32 %r9, %r9, 16;", [](int32_t x) { return bitsOf(x) >> 16; }},
    {"cvt.s32.s16 %r9, %rs1; shr.s32 %r9, %r9, %r8;", [](int32_t x) { return bitsOf(x >> 7); }},
    {"cvt.s32.s16 %r9, %rs1; shl.b32 %r9, %r9, 3;", [](int32_t x) { return bitsOf(x) << 3; }},
    {"cvt.s32.s16 %r9, %rs1; mul.lo.s32 %r9, %r9, 8;", [](int32_t x) { return bitsOf(x) * 8; }},
    {"mul.wide.s16 %r9, %rs1, 4;", [](int32_t x) { return bitsOf(x) * 4; }},
    {"cvt.s32.s16 %r9, %rs1; bfe.u32 %r9, %r9, 10, 12;", [](int32_t x) { return bitsOf(x) >> 10 & 0xFFF; }},
    {"cvt.s32.s16 %r9, %rs1; shf.r.wrap.b32 %r9, %r9, %r8, 8;", [](int32_t x) { return bitsOf(x) >> 8 | 7U << 24; }},
    {"cvt.s32.s16 %r9, %rs1; set.lt.u32.s32 %r9, %r9, 0;", [](int32_t x) { return x < 0 ? ~0U : 0; }},
    {"set.lt.u32.s16 %r9, %rs1, 0;", [](int32_t x) { return x < 0 ? ~0U : 0; }},
    {"set.ge.u32.s16 %r9, %rs1, 0;", [](int32_t x) { return x >= 0 ? ~0U : 0; }},
    {"set.lt.u32.s16 %r9, %rs1, 0; and.b32 %r9, %r9, 0xFFFF;", [](int32_t x) { return x < 0 ? 0xFFFFU : 0; }},
    {"cvt.s64.s16 %rd5, %rs1; shr.u64 %rd5, %rd5, 24; cvt.u32.u64 %r9, %rd5;",
     [](int32_t x) { return bitsOf(x >> 24); }},
    {"cvt.s64.s16 %rd5, %rs1; shl.b64 %rd5, %rd5, 20; shr.s64 %rd5, %rd5, 30; cvt.u32.u64 %r9, %rd5;",
     [](int32_t x) { return bitsOf(x >> 10); }},
    {"cvt.s32.s16 %r9, %rs1; add.s32 %r9, %r9, 5; shr.s32 %r9, %r9, 4;",
     [](int32_t x) { return bitsOf((x + 5) >> 4); }},
    {"cvt.s32.s16 %r9, %rs1;", [](int32_t x) { return bitsOf(x); }},
};
const char* const before[] = {"atom.global.add.u32 %r7, [%rd2+40], %r5;", "red.shared.add.u32 [words], %r5;"};
const char* const beside[] = {"", "st.global.u8 [%rd2+36], %rd4;", "st.local.u8 [%rd6+4], %rd4;",
                              "st.global.u32 [%rd2+36], %r5;"};

class ShiftedExtensionsPtx : public PtxTest {
 protected:
  void expectShifts(const TargetProfile& profile) {
    std::mt19937 random(10);
    Buffer in(*device, threads * stride);
    for (uint32_t i = 0; i < threads * stride / 4; ++i) in.as<uint32_t>()[i] = static_cast<uint32_t>(random());
    for (const char* load : {"b16", "s8"})
      for (const char* first : before)
        for (const char* other : beside)
          for (const Shift& shift : shifts) {
            // All of them take such a driver long.
            if (device->physical().isCpu() && (first != before[0] || std::strstr(other, ".u8") == nullptr)) continue;
            Buffer out(*device, threads * stride);
            Launch launch;
            launch.block[0] = threads;
            launch.add(in.address()).add(out.address());
            const std::string body =
                std::string(first) + " @!%p1 bra met; " + other + " " + shift.text + " cvt.u16.u32 %rs1, %r9; met:";
            runPtx(std::string(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .shared .b32 words[4]; .local .b32 place[4];
  .reg .b16 %rs<3>; .reg .b32 %r<10>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 48, %rd1;
  mad.wide.u32 %rd2, %r1, 48, %rd2; mov.u64 %rd6, place;
  ld.global.u32 %r5, [%rd1]; and.b32 %r6, %r5, 3; setp.ne.u32 %p1, %r6, 0; mov.u32 %r8, 7; mov.u32 %r9, 1;
  ld.global.)") + load +
                       " %rs1, [%rd1+8]; ld.global.u64 %rd4, [%rd1+16]; bar.sync 0;\n" + body + R"(
  cvt.u64.u16 %rd5, %rs1; st.global.u64 [%rd2+8], %rd5; ld.local.u32 %r9, [%rd6+4]; st.global.u32 [%rd2+16], %r9;
  ret;
})",
                   launch, profile);
            for (uint32_t i = 0; i < threads; ++i) {
              const auto* bytes = in.as<uint8_t>() + i * stride;
              const uint32_t pattern = bytes[8] | uint32_t{bytes[9]} << 8;
              const int32_t x = load[0] == 's' ? static_cast<int8_t>(pattern) : static_cast<int16_t>(pattern);
              const uint32_t unshifted = bitsOf(x) & 0xFFFF;
              const uint32_t right = bytes[0] % 4 != 0 ? shift.value(x) & 0xFFFF : unshifted;
              const uint32_t result = *reinterpret_cast<const uint32_t*>(out.as<uint8_t>() + i * stride + 8);
              EXPECT_EQ(result, right) << "lane " << i << ", of " << x << " loaded by " << load << "\n" << body;
              if (result != right) break;
            }
          }
  }
};

TEST_F(ShiftedExtensionsPtx, HaveTheBitsOfTheExtension) { expectShifts(device->profile()); }

TEST_F(ShiftedExtensionsPtx, WithHiddenNumbersAreTheSame) {
  TargetProfile profile = device->profile();
  profile.shiftsBeyondNarrow = true;
  expectShifts(profile);
}

}  // namespace
}  // namespace mulciber::test
