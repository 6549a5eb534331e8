// Sign extensions of the lowest 8 and 16 bits of sums and differences, in the ways in which PTX can say both. Compilers
// of devices move extensions past negations, and know of many differences that their lowest bits are a negated
// number's.
#include <functional>
#include <random>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 128;

// Makes %r5 of %r3 and %r4.
struct Number {
  const char* text;
  std::function<uint32_t(uint32_t, uint32_t)> value;
};
const Number numbers[] = {
    {"neg.s32 %r5, %r3;", [](uint32_t x, uint32_t) { return 0 - x; }},
    {"sub.s32 %r5, %r4, %r3;", [](uint32_t x, uint32_t y) { return y - x; }},
    {"mul.lo.s32 %r5, %r3, -1;", [](uint32_t x, uint32_t) { return 0 - x; }},
    {"not.b32 %r5, %r3; add.s32 %r5, %r5, 1;", [](uint32_t x, uint32_t) { return 0 - x; }},
    {"not.b32 %r5, %r3; sub.s32 %r5, %r5, -1;", [](uint32_t x, uint32_t) { return 0 - x; }},
    {"shl.b32 %r5, %r4, 8; sub.s32 %r5, %r5, %r3;", [](uint32_t x, uint32_t y) { return (y << 8) - x; }},
    {"shl.b32 %r5, %r4, 16; sub.s32 %r5, %r5, %r3;", [](uint32_t x, uint32_t y) { return (y << 16) - x; }},
    {"mul.lo.u32 %r5, %r4, 768; sub.s32 %r5, %r5, %r3;", [](uint32_t x, uint32_t y) { return y * 768 - x; }},
    {"and.b32 %r5, %r4, 0xFFFF0000; sub.s32 %r5, %r5, %r3;",
     [](uint32_t x, uint32_t y) { return (y & 0xFFFF0000) - x; }},
    {"prmt.b32 %r5, %r4, 0, 0x1044; sub.s32 %r5, %r5, %r3;", [](uint32_t x, uint32_t y) { return (y << 16) - x; }},
    {"mov.b32 %r5, {0, %rs2}; sub.s32 %r5, %r5, %r3;", [](uint32_t x, uint32_t y) { return (y << 16) - x; }},
    {"shl.b32 %r5, %r4, 16; sub.s32 %r5, %r3, %r5;", [](uint32_t x, uint32_t y) { return x - (y << 16); }},
    {"sub.s32 %r5, 0x7F00, %r3;", [](uint32_t x, uint32_t) { return 0x7F00 - x; }},
    {"sub.s32 %r5, 0x10000, %r3;", [](uint32_t x, uint32_t) { return 0x10000 - x; }},
    {"shl.b32 %r5, %r4, 16; add.s32 %r5, %r5, %r3; neg.s32 %r5, %r5;",
     [](uint32_t x, uint32_t y) { return 0 - (x + (y << 16)); }},
};

// Makes %rd9 of %r5.
struct Extension {
  const char* text;
  std::function<int64_t(uint32_t)> value;
};
int64_t of8(uint32_t x) { return static_cast<int8_t>(x); }
int64_t of16(uint32_t x) { return static_cast<int16_t>(x); }
const Extension extensions[] = {
    {"cvt.s64.s8 %rd9, %r5;", of8},
    {"cvt.u16.u32 %rs1, %r5; cvt.s64.s16 %rd9, %rs1;", of16},
    {"cvt.s32.s8 %r6, %r5; cvt.s64.s32 %rd9, %r6;", of8},
    {"cvt.u16.u32 %rs1, %r5; cvt.s16.s8 %rs1, %rs1; cvt.s64.s16 %rd9, %rs1;", of8},
    {"bfe.s32 %r6, %r5, 0, 8; cvt.s64.s32 %rd9, %r6;", of8},
    {"bfe.s32 %r6, %r5, 0, 16; cvt.s64.s32 %rd9, %r6;", of16},
    {"shl.b32 %r6, %r5, 24; shr.s32 %r6, %r6, 24; cvt.s64.s32 %rd9, %r6;", of8},
    {"cvt.s64.s32 %rd9, %r5; shl.b64 %rd9, %rd9, 48; shr.s64 %rd9, %rd9, 48;", of16},
};

class ExtendedPartPtx : public PtxTest {
 protected:
  void expectExtensions(const TargetProfile& profile) {
    std::mt19937 random(8);
    constexpr uint32_t special[] = {0, 0x80, 0x7F, 0x81, 0x8000, 0x7FFF, 0x8001, 0xFF80, 0x80000000, ~0u};
    Buffer in(*device, threads * 8);
    for (uint32_t i = 0; i < threads; ++i) {
      in.as<uint32_t>()[2 * i] = i < 40 ? special[i % std::size(special)] : static_cast<uint32_t>(random());
      in.as<uint32_t>()[2 * i + 1] = static_cast<uint32_t>(random()) >> random() % 32;
    }
    std::string body;
    for (const Number& number : numbers)
      for (const Extension& extension : extensions)
        body += std::string(number.text) + " " + extension.text + " st.global.u64 [%rd2], %rd9; add.u64 %rd2, %rd2, " +
                std::to_string(8 * threads) + ";\n";
    Buffer out(*device, std::size(numbers) * std::size(extensions) * threads * 8);
    Launch launch;
    launch.block[0] = threads;
    launch.add(in.address()).add(out.address());
    runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b16 %rs<3>; .reg .b32 %r<7>; .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd1, %r1, 8, %rd1; mad.wide.u32 %rd2, %r1, 8, %rd2; ld.global.v2.u32 {%r3, %r4}, [%rd1];
  cvt.u16.u32 %rs2, %r4;
)" + body + "ret;\n}\n",
           launch, profile);
    const int64_t* result = out.as<int64_t>();
    for (const Number& number : numbers)
      for (const Extension& extension : extensions)
        for (uint32_t i = 0; i < threads; ++i, ++result) {
          const uint32_t x = in.as<uint32_t>()[2 * i], y = in.as<uint32_t>()[2 * i + 1];
          ASSERT_EQ(*result, extension.value(number.value(x, y)))
              << number.text << " " << extension.text << " of " << x << " and " << y;
        }
  }
};

TEST_F(ExtendedPartPtx, OfSumsAndDifferences) { expectExtensions(device->profile()); }

TEST_F(ExtendedPartPtx, HiddenNumbersAreTheSame) {
  TargetProfile profile = device->profile();
  profile.movesNegations = true;
  expectExtensions(profile);
}

}  // namespace
}  // namespace mulciber::test
