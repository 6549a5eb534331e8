// Operations with .ftz, of denormals and of other numbers. Many only move a number, but for a denormal, of which they
// make a zero: additions of zero, products by one and their kin. Compilers of devices take them for nothing at all.
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

// Makes {a} of the loaded {x} and does not flush it.
struct Maker {
  const char* text;
  std::function<uint32_t(uint32_t x)> value;
};
const Maker makers[] = {
    {"mov.b32 {a}, {x};", [](uint32_t x) { return x; }},
    {"and.b32 {a}, {x}, 0x7FFFFFFF;", [](uint32_t x) { return x & 0x7FFF'FFFF; }},
    {"or.b32 {a}, {x}, 0x80000000;", [](uint32_t x) { return x | 0x8000'0000; }},
    {"xor.b32 {a}, {x}, 0x80000000;", [](uint32_t x) { return x ^ 0x8000'0000; }},
    {"setp.lt.s32 %p1, {x}, 77; selp.f32 {a}, {x}, 0f00000001, %p1;",
     [](uint32_t x) { return static_cast<int32_t>(x) < 77 ? x : 1u; }},
    {"setp.ge.s32 %p1, {x}, 77; mov.b32 {a}, {x}; @%p1 mov.b32 {a}, 0f807FFFFF;",
     [](uint32_t x) { return static_cast<int32_t>(x) < 77 ? x : 0x807F'FFFFu; }},
    {"setp.lt.s32 %p1, {x}, 77; selp.b32 {a}, 5, {x}, %p1; xor.b32 {a}, {a}, 0x80000000;",
     [](uint32_t x) { return (static_cast<int32_t>(x) < 77 ? 5u : x) ^ 0x8000'0000; }},
    {"setp.lt.s32 %p1, {x}, 77; mov.b32 {a}, 0f00000009; @%p1 bra some$; mov.b32 {a}, 0f80000006; some$:",
     [](uint32_t x) { return static_cast<int32_t>(x) < 77 ? 9u : 0x8000'0006u; }},
    {"and.b32 {a}, {x}, 0x807FFFFF;", [](uint32_t x) { return x & 0x807F'FFFF; }},
};

// Makes {m} of {a}; `value` is given zeros for denormals and may give denormals, of which zeros are made.
struct Move {
  const char* text;
  std::function<float(float x)> value;
};
float isZero(float x) { return x == 0 ? 2.0f : 1.0f; }
float clamped(float x) { return x > 0 ? std::min(x, 1.0f) : 0; }
const Move moves[] = {
    {"add.ftz.f32 {m}, {a}, 0f00000000;", [](float x) { return x + 0.0f; }},
    {"add.ftz.f32 {m}, {a}, 0f80000000;", [](float x) { return x; }},
    {"add.ftz.f32 {m}, {a}, 0f00000001;", [](float x) { return x + 0.0f; }},
    {"add.ftz.f32 {m}, {a}, 0f807FFFFF;", [](float x) { return x; }},
    {"add.ftz.f32 {m}, 0f807FFFFF, {a};", [](float x) { return x; }},
    {"sub.ftz.f32 {m}, {a}, 0f00000000;", [](float x) { return x; }},
    {"sub.ftz.f32 {m}, {a}, 0f80000000;", [](float x) { return x + 0.0f; }},
    {"sub.ftz.f32 {m}, {a}, 0f00000007;", [](float x) { return x; }},
    {"sub.ftz.f32 {m}, 0f80000000, {a};", [](float x) { return -x; }},
    {"sub.ftz.f32 {m}, 0f00000000, {a};", [](float x) { return 0.0f - x; }},
    {"add.rz.ftz.f32 {m}, {a}, 0f80000000;", [](float x) { return x; }},
    {"add.sat.ftz.f32 {m}, {a}, 0f80000000;", clamped},
    {"mul.ftz.f32 {m}, {a}, 0f3F800000;", [](float x) { return x; }},
    {"mul.ftz.f32 {m}, 0f3F800000, {a};", [](float x) { return x; }},
    {"mul.ftz.f32 {m}, {a}, 0fBF800000;", [](float x) { return -x; }},
    {"mul.rm.ftz.f32 {m}, {a}, 0f3F800000;", [](float x) { return x; }},
    // Compilers resolve selections, unroll loops and know a block's shape.
    {"setp.lt.s32 %p1, {x}, {x}; selp.f32 {z}, 0f40000000, 0f3F800000, %p1; mul.ftz.f32 {m}, {a}, {z};",
     [](float x) { return x; }},
    {"setp.lt.s32 %p1, {x}, {x}; selp.f32 {z}, 0f40000000, 0f80000000, %p1; add.ftz.f32 {m}, {a}, {z};",
     [](float x) { return x; }},
    {"setp.lt.s32 %p1, {x}, {x}; selp.f32 {z}, 0f40000000, 0f00000000, %p1; sub.ftz.f32 {m}, {a}, {z};",
     [](float x) { return x; }},
    {"setp.lt.s32 %p1, {x}, {x}; selp.f32 {z}, 0f40000000, 0f80000000, %p1; "
     "fma.rn.ftz.f32 {m}, {a}, 0fBF800000, {z};",
     [](float x) { return -x; }},
    {"setp.lt.s32 %p1, {x}, 5; selp.f32 {z}, 0fBF800000, 0f3F800000, %p1; mul.ftz.f32 {m}, {a}, {z}; "
     "mul.ftz.f32 {m}, {m}, {z};",
     [](float x) { return x; }},
    {"mov.f32 {z}, 0f00800000; mov.f32 {m}, 0f00000000; mov.u32 %r2, 0; round$: mul.ftz.f32 {z}, {z}, 0f3F000000; "
     "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra round$; mov.f32 {m}, {z};",
     [](float) { return 0.0f; }},
    {"mov.u32 %r2, 3; round$: sub.u32 %r2, %r2, 1; cvt.rn.f32.u32 {z}, %r2; setp.ne.u32 %p1, %r2, 1; "
     "@%p1 bra round$; mul.ftz.f32 {m}, {a}, {z};",
     [](float x) { return x; }},
    {"mov.u32 %r2, 2; round$: sub.u32 %r2, %r2, 1; cvt.rn.f32.u32 {z}, %r2; sub.ftz.f32 {m}, {a}, {z}; "
     "setp.ne.u32 %p1, %r2, 0; @%p1 bra round$;",
     [](float x) { return x; }},
    {"mov.u32 %r2, %ntid.y; cvt.rn.f32.u32 {z}, %r2; mul.ftz.f32 {m}, {a}, {z};", [](float x) { return x; }},
    {"mov.u32 %r2, %tid.z; cvt.rn.f32.u32 {z}, %r2; sub.ftz.f32 {m}, {a}, {z};", [](float x) { return x; }},
    {"mul.sat.ftz.f32 {m}, {a}, 0f3F800000;", clamped},
    {"fma.rn.ftz.f32 {m}, {a}, 0f3F800000, 0f80000000;", [](float x) { return x; }},
    {"fma.rn.ftz.f32 {m}, {a}, 0f3F800000, 0f00000000;", [](float x) { return x + 0.0f; }},
    {"fma.rn.ftz.f32 {m}, {a}, 0fBF800000, 0f80000000;", [](float x) { return -x; }},
    {"fma.rn.ftz.f32 {m}, 0f3F800000, {a}, 0f80000001;", [](float x) { return x; }},
    {"fma.rn.ftz.f32 {m}, 0f00000003, 0f3F800000, {a};", [](float x) { return x + 0.0f; }},
    {"fma.rn.ftz.f32 {m}, 0f80000003, 0f3F800000, {a};", [](float x) { return x; }},
    {"fma.rz.ftz.f32 {m}, {a}, 0f3F800000, 0f80000000;", [](float x) { return x; }},
    {"div.rn.ftz.f32 {m}, {a}, 0f3F800000;", [](float x) { return x; }},
    {"min.ftz.f32 {m}, {a}, 0f7F800000;", [](float x) { return x; }},
    {"max.ftz.f32 {m}, {a}, 0fFF800000;", [](float x) { return x; }},
    {"min.ftz.f32 {m}, {a}, {a};", [](float x) { return x; }},
    {"max.ftz.f32 {m}, {a}, 0f80000000;", [](float x) { return x > 0    ? x
                                                               : x == 0 ? x
                                                                        : -0.0f; }},
    {"abs.ftz.f32 {m}, {a};", [](float x) { return std::fabs(x); }},
    {"neg.ftz.f32 {m}, {a};", [](float x) { return -x; }},
    {"neg.ftz.f32 {m}, {a}; neg.ftz.f32 {m}, {m};", [](float x) { return x; }},
    {"abs.ftz.f32 {m}, {a}; abs.ftz.f32 {m}, {m};", [](float x) { return std::fabs(x); }},
    {"cvt.ftz.f32.f32 {m}, {a};", [](float x) { return x; }},
    {"mul.ftz.f32 {m}, {a}, 0f40000000; mul.ftz.f32 {m}, {m}, 0f3F000000;",
     [](float x) { return std::isinf(x * 2) ? x * 2 : x; }},
    {"add.ftz.f32 {m}, {a}, 0f80000000; add.ftz.f32 {m}, {m}, 0f80000000;", [](float x) { return x; }},
    {"mul.ftz.f32 {m}, {a}, 0fBF800000; mul.ftz.f32 {m}, {m}, 0fBF800000;", [](float x) { return x; }},
    {"sub.ftz.f32 {m}, 0f80000000, {a}; sub.ftz.f32 {m}, 0f80000000, {m};", [](float x) { return x; }},
    {"mul.ftz.f32 {m}, {a}, 0fBF800000; xor.b32 {m}, {m}, 0x80000000;", [](float x) { return x; }},
    {"fma.rn.ftz.f32 {m}, {a}, 0fBF800000, 0f80000000; sub.ftz.f32 {m}, 0f80000000, {m};", [](float x) { return x; }},
    {"sub.ftz.f32 {m}, 0f00000000, {a}; sub.ftz.f32 {m}, 0f00000000, {m};", [](float x) { return x + 0.0f; }},
    {"add.ftz.f32 {m}, {a}, 0f00000000; add.ftz.f32 {m}, {m}, 0f00000000;", [](float x) { return x + 0.0f; }},
    {"mul.ftz.f32 {m}, {a}, 0fC0000000; mul.ftz.f32 {m}, {m}, 0fBF000000;",
     [](float x) { return std::isinf(x * 2) ? x * 2 : x; }},
    {"mul.ftz.f32 {m}, {a}, 0f3F000000; mul.ftz.f32 {m}, {m}, 0f40000000;",
     [](float x) { return std::fabs(x) < 0x1p-125f ? std::copysign(0.0f, x) : x; }},
    {"mul.ftz.f32 {m}, {a}, 0f3F000000; add.ftz.f32 {m}, {m}, {m};",
     [](float x) { return std::fabs(x) < 0x1p-125f ? std::copysign(0.0f, x) : x; }},
    {"mul.ftz.f32 {m}, {a}, {a}; sqrt.rn.ftz.f32 {m}, {m};",
     [](float x) {
       const float square = x * x;
       return std::sqrt(std::fabs(square) < 0x1p-126f ? 0.0f : square);
     }},
    {"setp.eq.ftz.f32 %p1, {a}, 0f00000000; selp.f32 {m}, 0f40000000, 0f3F800000, %p1;", isZero},
    {"setp.eq.ftz.f32 %p1, {a}, 0f80000005; selp.f32 {m}, 0f40000000, 0f3F800000, %p1;", isZero},
    {"setp.ltu.ftz.f32 %p1, {a}, 0f00000001; selp.f32 {m}, 0f40000000, 0f3F800000, %p1;",
     [](float x) { return x < 0 ? 2.0f : 1.0f; }},
    {"setp.gt.ftz.f32 %p1, {a}, 0f80000001; selp.f32 {m}, 0f40000000, 0f3F800000, %p1;",
     [](float x) { return x > 0 ? 2.0f : 1.0f; }},
    {"setp.le.ftz.f32 %p1, 0f007FFFFF, {a}; selp.f32 {m}, 0f40000000, 0f3F800000, %p1;",
     [](float x) { return x >= 0 ? 2.0f : 1.0f; }},
    {"set.ne.ftz.f32.f32 {m}, {a}, 0f00000000;", [](float x) { return x != 0 ? 1.0f : 0.0f; }},
    {"slct.ftz.f32.f32 {m}, 0f3F800000, 0f40000000, {a};", [](float x) { return x >= 0 ? 1.0f : 2.0f; }},
    {"cvt.rpi.ftz.f32.f32 {m}, {a};", [](float x) { return std::ceil(x); }},
    {"cvt.rmi.ftz.f32.f32 {m}, {a};", [](float x) { return std::floor(x); }},
    {"cvt.rpi.ftz.s32.f32 %r2, {a}; cvt.rn.f32.s32 {m}, %r2;",
     [](float x) { return std::min(std::max(std::ceil(x), -0x1p31f), 0x1p31f) + 0.0f; }},
    {"min.ftz.f32 {m}, {a}, 0f00000001;", [](float x) { return x > 0 ? 0.0f : x; }},
    {"max.ftz.f32 {m}, {a}, 0f80000001;", [](float x) { return x >= 0 && !std::signbit(x) ? x : -0.0f; }},
    {"mul.ftz.f32 {m}, {a}, 0f00400000;", [](float x) { return x * 0.0f; }},
    {"div.rn.ftz.f32 {m}, 0f80000009, {a};", [](float x) { return -0.0f / x; }},
    {"add.ftz.f32 {m}, {a}, {a};", [](float x) { return x + x; }},
    {"mov.f32 {a}, 0f3A07FFFF; mul.ftz.f32 {m}, {a}, 0f80800000;", [](float) { return -0.0f; }},
    {"mov.f32 {a}, 0f00800001; sub.ftz.f32 {m}, {a}, 0f00800000;", [](float) { return 0.0f; }},
};

// With these a kernel keeps denormals, and its other operations flush by the numbers' bits.
const Move approximations[] = {
    {"div.approx.ftz.f32 {m}, {a}, 0f3F800000;", [](float x) { return x; }},
    {"div.full.ftz.f32 {m}, {a}, 0fBF800000;", [](float x) { return -x; }},
    {"rcp.approx.ftz.f32 {m}, {a}; abs.ftz.f32 {m}, {m}; setp.eq.ftz.f32 %p1, {m}, 0f7F800000; "
     "selp.f32 {m}, 0f40000000, 0f3F800000, %p1;",
     isZero},
    {"rsqrt.approx.ftz.f32 {m}, {a}; abs.ftz.f32 {m}, {m}; setp.eq.ftz.f32 %p1, {m}, 0f7F800000; "
     "selp.f32 {m}, 0f40000000, 0f3F800000, %p1;",
     isZero},
    {"lg2.approx.ftz.f32 {m}, {a}; setp.eq.ftz.f32 %p1, {m}, 0fFF800000; selp.f32 {m}, 0f40000000, 0f3F800000, %p1;",
     isZero},
    {"sqrt.approx.ftz.f32 {m}, {a}; setp.eq.ftz.f32 %p1, {m}, 0f00000000; selp.f32 {m}, 0f40000000, 0f3F800000, %p1;",
     isZero},
};

// What is stored, {z} of {m} and {x}. With an operation without .ftz the kernel keeps denormals.
struct Use {
  const char* text;
  std::function<float(float m, uint32_t x)> value;
};
const Use uses[] = {
    {"mov.b32 {z}, {m};", [](float m, uint32_t) { return m; }},
    {"mul.f32 {z}, {m}, 0f4B800000;", [](float m, uint32_t) { return m * 0x1p24f; }},
    {"xor.b32 {z}, {m}, 0x80000000;", [](float m, uint32_t) { return -m; }},
    {"mul.ftz.f32 {z}, {m}, 0f4B800000;", [](float m, uint32_t) { return m * 0x1p24f; }},
    {"testp.notanumber.f32 %p1, {m}; selp.f32 {z}, 0f7FFFFFFF, {m}, %p1;", [](float m, uint32_t) { return m; }},
    {"setp.gt.ftz.f32 %p1, {m}, 0f40000000; selp.f32 {z}, 0f40000000, {m}, %p1;",
     [](float m, uint32_t) { return m > 2 ? 2 : m; }},
    {"setp.gt.s32 %p1, {x}, 9; selp.f32 {z}, {x}, {m}, %p1;",
     [](float m, uint32_t x) { return static_cast<int32_t>(x) > 9 ? std::bit_cast<float>(x) : m; }},
    {"setp.gt.s32 %p1, {x}, 0x1000; selp.f32 {z}, 0f41200000, {m}, %p1;",
     [](float m, uint32_t x) { return static_cast<int32_t>(x) > 0x1000 ? 10 : m; }},
};

const uint32_t inputs[] = {0,           0x8000'0000, 1,           0x8000'0001, 0x0042'7079, 0x8042'7079,
                           0x007F'FFFF, 0x807F'FFFF, 0x0080'0000, 0x8080'0000, 0x3F80'0000, 0xBF80'0000,
                           0x4049'0FDB, 0x7F00'0000, 0x7F80'0000, 0xFF80'0000};

float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t flushed(uint32_t bits) { return (bits & 0x7F80'0000) == 0 ? bits & 0x8000'0000 : bits; }

class FlushedMovesPtx : public PtxTest {
 protected:
  void expectMoves(const TargetProfile& profile) {
    for (const Maker& maker : makers)
      for (const Use& use : uses) {
        if (isLeftOut(13)) continue;
        for (std::span<const Move> left(moves); !left.empty();) {
          const size_t count = std::min(movesOfKernel, left.size());
          expectMoves(profile, maker, use, left.first(count));
          left = left.subspan(count);
        }
        expectMoves(profile, maker, use, approximations);
      }
  }

 private:
  static constexpr uint32_t threads = std::size(inputs);
  static constexpr size_t movesOfKernel = 18;

  // Each move has a variable of its own.
  void expectMoves(const TargetProfile& profile, const Maker& maker, const Use& use, std::span<const Move> some) {
    Buffer in(*device, some.size() * threads * 4), out(*device, some.size() * threads * 4);
    for (size_t i = 0; i < some.size() * threads; ++i) in.as<uint32_t>()[i] = inputs[i % threads];
    Launch launch;
    launch.block[0] = threads;
    launch.add(in.address()).add(out.address());
    std::string body;
    for (const Move& move : some)
      body += "ld.global.b32 {x}, [%rd1]; " + replaced(maker.text, "$", std::to_string(&move - some.data())) + " " +
              replaced(move.text, "$", std::to_string(&move - some.data())) + " " + use.text +
              " st.global.b32 [%rd2], {z}; add.u64 %rd1, %rd1, 64; add.u64 %rd2, %rd2, 64;\n";
    for (const char* name : {"{x}", "{a}", "{m}", "{z}"}) body = replaced(body, name, std::string("%f") + name[1]);
    runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<3>, %fx, %fa, %fm, %fz; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd1, %r1, 4, %rd1; mad.wide.u32 %rd2, %r1, 4, %rd2;
)" + body + "ret;\n}\n",
           launch, profile);
    for (size_t move = 0; move < some.size(); ++move)
      for (uint32_t i = 0; i < threads; ++i) {
        const uint32_t made = maker.value(inputs[i]);
        const float moved = some[move].value(asFloat(flushed(made)));
        const float result = use.value(asFloat(flushed(std::bit_cast<uint32_t>(moved))), inputs[i]);
        if (std::isnan(result)) continue;
        const uint32_t right = std::bit_cast<uint32_t>(result), stored = out.as<uint32_t>()[move * threads + i];
        EXPECT_EQ(stored, right) << maker.text << " " << some[move].text << " " << use.text << " of " << std::hex
                                 << inputs[i] << ": " << stored << ", right is " << right;
        if (stored != right) break;
      }
  }
};

TEST_F(FlushedMovesPtx, MakeZerosOfDenormals) { expectMoves(device->profile()); }

// An f16 operation on constants or on numbers from memory, beside .ftz operations, gives what it gives on numbers from
// memory in a kernel without.
TEST_F(FlushedMovesPtx, HalvesKeepDenormals) {
  constexpr uint16_t pairs[][2] = {{0x0001, 0x687D}, {0xE87D, 0x0001}, {0x8003, 0x0001},
                                   {0x03FF, 0x0001}, {0x0400, 0x3800}, {0x3C00, 0x8001}};
  const char* const operations[] = {
      "add.rn.f16 %h3, %h1, %h2;",
      "sub.rn.f16 %h3, %h1, %h2;",
      "mul.rn.f16 %h3, %h1, %h2;",
      "min.f16 %h3, %h1, %h2;",
      "max.f16 %h3, %h1, %h2;",
      "min.xorsign.abs.f16 %h3, %h1, %h2;",
      "fma.rn.f16 %h3, %h1, %h2, %h1;",
      "mov.b32 %r2, {%h1, %h2}; mov.b32 %r3, {%h2, %h1}; min.f16x2 %r2, %r2, %r3; mov.b32 {%h3, %h4}, %r2;",
      "mov.b32 %r2, {%h1, %h2}; mov.b32 %r3, {%h2, %h1}; min.xorsign.abs.f16x2 %r2, %r2, %r3; mov.b32 {%h3, %h4}, %r2;",
      "mov.b32 %r2, {%h1, %h2}; mov.b32 %r3, {%h2, %h1}; add.rn.f16x2 %r2, %r2, %r3; mov.b32 {%h4, %h3}, %r2;",
      "cvt.f32.f16 %f2, %h1; mul{ftz}.f32 %f2, %f2, 0f45800000; cvt.rn.f16.f32 %h3, %f2;",
      "neg.f16 %h3, %h1; max.f16 %h3, %h3, %h2;",
      "abs.f16 %h3, %h1;",
      "min.f16 %h3, %h1, %h2; abs.f16 %h3, %h3;",
      "min.f16 %h3, %h1, %h2; and.b16 %h3, %h3, 0x7FFF;",
      "max.f16 %h3, %h1, %h2; or.b16 %h3, %h3, 0x8000;",
      "max.f16 %h3, %h1, %h2; xor.b16 %h3, %h3, 0x8000;",
      "min.f16 %h3, %h1, %h2; abs.f16 %h3, %h3; neg.f16 %h3, %h3;",
      "add.rn.f16 %h3, %h1, %h2; abs.f16 %h3, %h3; max.f16 %h3, %h3, %h2;",
      "mov.b32 %r2, {%h2, %h1}; abs.f16x2 %r2, %r2; mov.b32 {%h3, %h4}, %r2;",
      "mov.b32 %r2, {%h1, %h2}; mov.b32 %r3, {%h2, %h1}; max.f16x2 %r2, %r2, %r3; abs.f16x2 %r2, %r2;"
      "mov.b32 {%h3, %h4}, %r2;",
      "mov.b32 %r2, {%h1, %h2}; mov.b32 %r3, {%h2, %h1}; min.f16x2 %r2, %r2, %r3; and.b32 %r2, %r2, 0x7FFF7FFF;"
      "mov.b32 {%h3, %h4}, %r2;",
      "mov.b32 %r2, {%h1, %h2}; mov.b32 %r3, {%h2, %h1}; min.f16x2 %r2, %r2, %r3; or.b32 %r2, %r2, 0x80008000;"
      "mov.b32 {%h3, %h4}, %r2;",
  };
  constexpr size_t count = std::size(operations), lanes = 2;
  for (const uint16_t(&pair)[2] : pairs)
    for (const std::string choice : {"", "selp.b16 %h1, %h1, %h5, %p1;", "@!%p1 mov.b16 %h2, %h5;"}) {
      if (isLeftOut(7)) continue;
      Buffer in(*device, 16);
      std::memcpy(in.as<uint16_t>(), pair, sizeof pair);
      const auto results = [&](bool constant, bool flushes) {
        std::string body;
        for (const char* operation : operations)
          body +=
              (constant ? "mov.b16 %h1, " + std::to_string(pair[0]) + "; mov.b16 %h2, " + std::to_string(pair[1]) + ";"
                        : "ld.global.v2.b16 {%h1, %h2}, [%rd1];") +
              choice + operation + " st.global.b16 [%rd2], %h3; add.u64 %rd2, %rd2, 2;\n";
        Buffer out(*device, count * lanes * 2);
        Launch launch;
        launch.block[0] = lanes;
        launch.add(in.address()).add(out.address());
        const std::string text = R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b16 %h<6>; .reg .b64 %rd<3>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
  ld.global.f32 %f1, [%rd1]; add{ftz}.f32 %f1, %f1, 0f3F800000; cvt.rn.f16.f32 %h5, %f1;
)" + ("mad.wide.u32 %rd2, %r1, " + std::to_string(count * 2) + ", %rd2;\n") +
                                 body + "ret;\n}\n";
        runPtx(replaced(text, "{ftz}", flushes ? ".ftz" : ""), launch, device->profile());
        return std::vector(out.as<uint16_t>(), out.as<uint16_t>() + count * lanes);
      };
      const std::vector<uint16_t> right = results(false, false);
      for (const bool constant : {true, false}) {
        const std::vector<uint16_t> stored = results(constant, true);
        for (size_t i = 0; i < count * lanes; ++i)
          EXPECT_EQ(stored[i], right[i]) << choice << operations[i % count] << " of " << pair[0] << " and " << pair[1]
                                         << (constant ? ", constant," : "") << " in thread " << i / count;
      }
    }
}

}  // namespace
}  // namespace mulciber::test
