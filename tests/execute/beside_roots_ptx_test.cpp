// What integers are made of a single bit, in kernels that have a root or a quotient too. Compilers of devices call
// routines for these and translate such kernels in another way than others.
#include <cmath>
#include <random>

#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 64;

// Makes {b} of {x}, both of 64 bits or of 32.
struct Bit {
  const char* text;
  std::function<uint64_t(uint64_t x, unsigned width)> value;
};
const Bit bits[] = {
    {"and.b{w} {b}, {x}, 1;", [](uint64_t x, unsigned) { return x & 1; }},
    {"bfe.u{w} {b}, {x}, 0, 1;", [](uint64_t x, unsigned) { return x & 1; }},
    {"bfe.u{w} {b}, {x}, 3, 1;", [](uint64_t x, unsigned) { return x >> 3 & 1; }},
    {"shr.u{w} {b}, {x}, 3; and.b{w} {b}, {b}, 1;", [](uint64_t x, unsigned) { return x >> 3 & 1; }},
    {"shr.u{w} {b}, {x}, {w}-1;", [](uint64_t x, unsigned width) { return x >> (width - 1); }},
    {"rem.u{w} {b}, {x}, 2;", [](uint64_t x, unsigned) { return x & 1; }},
    {"not.b{w} {b}, {x}; and.b{w} {b}, {b}, 1;", [](uint64_t x, unsigned) { return ~x & 1; }},
    {"and.b{w} {b}, {x}, 1; xor.b{w} {b}, {b}, 1;", [](uint64_t x, unsigned) { return ~x & 1; }},
    {"and.b{w} {b}, {x}, 2;", [](uint64_t x, unsigned) { return x & 2; }},
    {"and.b{w} {b}, {x}, 3;", [](uint64_t x, unsigned) { return x & 3; }},
    {"setp.gt.u{w} %p1, {x}, 99; selp.b{w} {b}, 1, 0, %p1;", [](uint64_t x, unsigned) { return uint64_t{x > 99}; }},
    {"{ setp.gt.u{w} %p1, {x}, 99; @%p1 bra L; xor.b{w} {x}, {x}, 7; L: and.b{w} {b}, {x}, 1; }",
     [](uint64_t x, unsigned) { return (x > 99 ? x : x ^ 7) & 1; }},
    {"setp.lt.u{w} %p1, {x}, 99; selp.b{w} {b}, 1, 0, %p1; sub.u{w} {b}, {x}, {b}; and.b{w} {b}, {b}, 1;",
     [](uint64_t x, unsigned) { return (x ^ uint64_t{x < 99}) & 1; }},
    {"sub.cc.u{w} {b}, {x}, 99; subc.cc.u{w} {b}, {x}, 5; subc.u{w} {b}, {b}, 0; and.b{w} {b}, {b}, 1;",
     [](uint64_t x, unsigned width) {
       const uint64_t all = ~uint64_t{0} >> (64 - width), borrow = x < 99, rest = (x - 5 - borrow) & all;
       return (rest ^ uint64_t{x < 5 + borrow}) & 1;
     }},
    {"add.cc.u{w} {b}, {x}, 0x7FFFFFF0; addc.u{w} {b}, 0, 0;",
     [](uint64_t x, unsigned width) { return uint64_t{x > (~uint64_t{0} >> (64 - width)) - 0x7FFF'FFF0}; }},
};

// Makes {z} of {b} and {y}.
struct Use {
  const char* text;
  std::function<uint64_t(uint64_t b, uint64_t y)> value;
};
const Use uses[] = {
    {"mul.lo.u{w} {z}, {b}, 3;", [](uint64_t b, uint64_t) { return b * 3; }},
    {"mul.lo.u{w} {z}, {b}, {y};", [](uint64_t b, uint64_t y) { return b * y; }},
    {"mad.lo.u{w} {z}, {b}, 77, {y};", [](uint64_t b, uint64_t y) { return b * 77 + y; }},
    {"mul.lo.u{w} {z}, {b}, 0x10000;", [](uint64_t b, uint64_t) { return b << 16; }},
    {"shl.b{w} {z}, {b}, 5; add.u{w} {z}, {z}, {y};", [](uint64_t b, uint64_t y) { return (b << 5) + y; }},
    {"neg.s{w} {z}, {b}; and.b{w} {z}, {z}, {y};", [](uint64_t b, uint64_t y) { return (0 - b) & y; }},
    {"sub.u{w} {z}, {b}, 1; and.b{w} {z}, {z}, {y};", [](uint64_t b, uint64_t y) { return (b - 1) & y; }},
    {"setp.ne.u{w} %p2, {b}, 0; selp.b{w} {z}, {y}, 5, %p2;", [](uint64_t b, uint64_t y) { return b ? y : 5; }},
    {"setp.eq.u{w} %p2, {b}, 1; selp.b{w} {z}, {y}, 5, %p2;", [](uint64_t b, uint64_t y) { return b == 1 ? y : 5; }},
    {"cvt.rn.f64.u{w} %fd3, {b}; mul.rn.f64 %fd3, %fd3, 0d4008000000000000; cvt.rzi.u{w}.f64 {z}, %fd3;",
     [](uint64_t b, uint64_t) { return b * 3; }},
    {"add.u{w} {z}, {b}, {y};", [](uint64_t b, uint64_t y) { return b + y; }},
    {"sub.u{w} {z}, {y}, {b};", [](uint64_t b, uint64_t y) { return y - b; }},
    {"xor.b{w} {z}, {b}, {y};", [](uint64_t b, uint64_t y) { return b ^ y; }},
    {"shl.b{w} {z}, {y}, %r9;", [](uint64_t b, uint64_t y) { return y << b; }},
    {"max.u{w} {z}, {b}, {y};", [](uint64_t b, uint64_t y) { return std::max(b, y); }},
    {"and.b{w} {z}, {b}, 0xFF; add.u{w} {z}, {z}, {y};", [](uint64_t b, uint64_t y) { return (b & 0xFF) + y; }},
    {"{ .reg .b32 %i; min.u{w} {b}, {b}, 1; cvt.u32.u{w} %i, {b}; T: .branchtargets Y, N; brx.idx %i, T; "
     "N: mov.b{w} {z}, 7; bra D; Y: mov.b{w} {z}, {y}; D: }",
     [](uint64_t b, uint64_t y) { return b == 0 ? y : 7; }},
    {"{ setp.ne.u{w} %p2, {b}, 0; mov.b{w} {z}, {y}; @%p2 bra D; add.u{w} {z}, {z}, 9; D: }",
     [](uint64_t b, uint64_t y) { return b == 0 ? y + 9 : y; }},
};

const char* const routines[] = {"sqrt.rn.f64 %fd2, %fd1;", "div.rn.f64 %fd2, 0d3FF0000000000000, %fd1;",
                                "cvt.rn.f32.f64 %f1, %fd1; sqrt.rp.f32 %f1, %f1; cvt.f64.f32 %fd2, %f1;"};

class BesideRootsPtx : public PtxTest {
 protected:
  // Each use of a bit has a variable of its own.
  void expectUses(const TargetProfile& profile, unsigned width) {
    std::mt19937_64 random(11);
    constexpr size_t count = std::size(uses);
    Buffer in(*device, (count + 1) * threads * 8);
    for (uint32_t i = 0; i < (count + 1) * threads; ++i)
      in.as<uint64_t>()[i] = i % 9 == 0 ? i % 2 * 10 : random() >> random() % 64;
    const std::string letters = width == 64 ? "%rd" : "%r";
    for (const char* routine : routines)
      for (const Bit& bit : bits) {
        if (isLeftOut(5)) continue;
        Buffer out(*device, (count + 1) * threads * 8);
        Launch launch;
        launch.block[0] = threads;
        launch.add(in.address()).add(out.address());
        std::string body;
        for (const Use& use : uses)
          body += "add.u64 %rd1, %rd1, 512; add.u64 %rd2, %rd2, 512; ld.global.u" + std::to_string(width) +
                  " {x}, [%rd1];\n" + bit.text + (width == 64 ? " cvt.u32.u64 %r9, {b}; " : " ") + use.text +
                  " st.global.u" + std::to_string(width) + " [%rd2], {z};\n";
        body = replaced(replaced(body, "{w}-1", std::to_string(width - 1)), "{w}", std::to_string(width));
        unsigned number = 4;
        for (const char* name : {"{x}", "{y}", "{b}", "{z}"})
          body = replaced(body, name, letters + std::to_string(width == 32 && name[1] == 'b' ? 9 : number++));
        runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f64 %fd<4>; .reg .f32 %f<2>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd1, %r1, 8, %rd1; mad.wide.u32 %rd2, %r1, 8, %rd2; ld.global.u64 %rd5, [%rd1]; ld.global.u32 %r5, [%rd1];
  cvt.rn.f64.u32 %fd1, %r1; )" +
                   std::string(routine) + " st.global.f64 [%rd2], %fd2;\n" + body + "ret;\n}\n",
               launch, profile);
        const uint64_t mask = width == 64 ? ~uint64_t{0} : 0xFFFFFFFF;
        for (size_t use = 0; use < count; ++use)
          for (uint32_t i = 0; i < threads; ++i) {
            const uint64_t x = in.as<uint64_t>()[(use + 1) * threads + i] & mask, y = in.as<uint64_t>()[i] & mask;
            const uint64_t right = uses[use].value(bit.value(x, width), y) & mask;
            const uint64_t stored = out.as<uint64_t>()[(use + 1) * threads + i] & mask;
            EXPECT_EQ(stored, right) << bit.text << " " << uses[use].text << " of " << x << " and " << y << " beside "
                                     << routine;
            if (stored != right) break;
          }
      }
  }
};

TEST_F(BesideRootsPtx, Words) { expectUses(device->profile(), 32); }
TEST_F(BesideRootsPtx, DoubleWords) { expectUses(device->profile(), 64); }

TEST_F(BesideRootsPtx, HiddenBitsAreTheSame) {
  TargetProfile profile = device->profile();
  profile.mistakesLowBits = true;
  for (const unsigned width : {32, 64}) expectUses(profile, width);
}

}  // namespace
}  // namespace mulciber::test
