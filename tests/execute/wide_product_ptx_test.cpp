// Products in 64 bits of extended numbers of 8, 16 and 32 bits by constants, in the ways in which PTX can say them.
// Compilers of devices choose other instructions for many of the constants.
#include <array>
#include <functional>
#include <random>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 128;

struct Extension {
  const char* text;  // makes %rd8 of %r3
  std::function<uint64_t(uint32_t)> value;
};
const Extension extensions[] = {
    {"cvt.s64.s32 %rd8, %r3;", [](uint32_t x) { return static_cast<uint64_t>(int64_t{static_cast<int32_t>(x)}); }},
    {"cvt.u64.u32 %rd8, %r3;", [](uint32_t x) { return uint64_t{x}; }},
    {"cvt.u16.u32 %rs1, %r3; cvt.s64.s16 %rd8, %rs1;",
     [](uint32_t x) { return static_cast<uint64_t>(int64_t{static_cast<int16_t>(x)}); }},
    {"cvt.u16.u32 %rs1, %r3; cvt.u64.u16 %rd8, %rs1;", [](uint32_t x) { return uint64_t{static_cast<uint16_t>(x)}; }},
    {"cvt.s64.s8 %rd8, %r3;", [](uint32_t x) { return static_cast<uint64_t>(int64_t{static_cast<int8_t>(x)}); }},
    {"cvt.u64.u32 %rd8, %r3; shl.b64 %rd8, %rd8, 32; shr.s64 %rd8, %rd8, 32;",
     [](uint32_t x) { return static_cast<uint64_t>(int64_t{static_cast<int32_t>(x)}); }},
};

// What a case makes of %rd8, in %rd9, for a power of two.
struct Form {
  std::function<std::string(unsigned)> text;
  std::function<uint64_t(uint64_t, unsigned)> value;
};
std::string number(uint64_t x) { return std::to_string(static_cast<int64_t>(x)); }
const Form forms[] = {
    {[](unsigned k) { return "shl.b64 %rd9, %rd8, " + std::to_string(k) + ";"; },
     [](uint64_t x, unsigned k) { return x << k; }},
    {[](unsigned k) { return "mul.lo.s64 %rd9, %rd8, " + number(uint64_t{1} << k) + ";"; },
     [](uint64_t x, unsigned k) { return x << k; }},
    {[](unsigned k) { return "mul.lo.s64 %rd9, %rd8, " + number(0 - (uint64_t{1} << k)) + ";"; },
     [](uint64_t x, unsigned k) { return 0 - (x << k); }},
    {[](unsigned k) { return "mul.lo.s64 %rd9, %rd8, " + number((uint64_t{1} << k) + 1) + ";"; },
     [](uint64_t x, unsigned k) { return (x << k) + x; }},
    {[](unsigned k) { return "mad.lo.s64 %rd9, %rd8, " + number(uint64_t{1} << k) + ", 77;"; },
     [](uint64_t x, unsigned k) { return (x << k) + 77; }},
    {[](unsigned k) {
       const unsigned half = k / 2;
       return "shl.b64 %rd9, %rd8, " + std::to_string(half) + "; add.s64 %rd9, %rd9, 5; shl.b64 %rd9, %rd9, " +
              std::to_string(k - half) + ";";
     },
     [](uint64_t x, unsigned k) { return ((x << k / 2) + 5) << (k - k / 2); }},
};

class WideProductPtx : public PtxTest {
 protected:
  void expectProducts(const TargetProfile& profile) {
    const unsigned step = device->physical().isCpu() ? 9 : 1;  // all of them take such a driver long
    std::mt19937 random(31);
    Buffer in(*device, threads * 4);
    constexpr uint32_t special[] = {0,          1,          2,          ~0u,    ~1u,  0x7FFFFFFF,
                                    0x80000000, 0x80000001, 0xFFFF8000, 0x7FFF, 0x80, 0x7F};
    for (uint32_t i = 0; i < threads; ++i)
      in.as<uint32_t>()[i] = i < std::size(special) ? special[i] : static_cast<uint32_t>(random()) >> random() % 32;
    for (const Extension& extension : extensions) {
      std::string body;
      for (const Form& form : forms)
        for (unsigned k = 0; k < 64; k += step)
          body +=
              form.text(k) + " st.global.u64 [%rd2], %rd9; add.u64 %rd2, %rd2, " + std::to_string(8 * threads) + ";\n";
      Buffer out(*device, std::size(forms) * 64 * threads * 8);
      Launch launch;
      launch.block[0] = threads;
      launch.add(in.address()).add(out.address());
      runPtx(std::string(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b16 %rs<2>; .reg .b32 %r<4>; .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd1, %r1, 4, %rd1; mad.wide.u32 %rd2, %r1, 8, %rd2; ld.global.u32 %r3, [%rd1];
  )") + extension.text +
                 "\n" + body + "ret;\n}\n",
             launch, profile);
      const uint64_t* result = out.as<uint64_t>();
      for (const Form& form : forms)
        for (unsigned k = 0; k < 64; k += step)
          for (uint32_t i = 0; i < threads; ++i, ++result) {
            const uint32_t x = in.as<uint32_t>()[i];
            ASSERT_EQ(*result, form.value(extension.value(x), k))
                << extension.text << " " << form.text(k) << " of " << x;
          }
    }
  }
};

TEST_F(WideProductPtx, OfEveryPowerOfTwo) { expectProducts(device->profile()); }

TEST_F(WideProductPtx, HiddenNumbersAreTheSame) {
  TargetProfile profile = device->profile();
  profile.negatesWideShifts = true;
  expectProducts(profile);
}

}  // namespace
}  // namespace mulciber::test
