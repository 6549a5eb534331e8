// Arithmetic with numbers that a device's compiler may know beforehand: constants, selections between constants, also
// by a branch or with one that is computed, constants that lanes exchange, and constants that remain when integers are
// simplified. The other operands are zeros, infinities and NaNs, which show a wrong simplification, and numbers whose
// product must not be rounded before it is added.
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 64;

constexpr float infinity = std::numeric_limits<float>::infinity();
const float numbers[] = {0.0f, -0.0f, 1.5f, -2.25f, infinity, -infinity, std::nanf(""), 1.1f, -0x1.8p-3f, 3.0f};

// Of %f1, which is one number in even lanes and another in odd ones, or the one everywhere.
struct Origin {
  const char* text;
  bool isChoice;
};
const Origin origins[] = {
    {"mov.f32 %f1, {even};", false},
    {"selp.f32 %f1, {even}, {odd}, %p1;", true},
    {"@%p1 bra A; mov.f32 %f1, {odd}; bra B; A: mov.f32 %f1, {even}; B:", true},
    {"mov.f32 %f1, {even}; shfl.sync.idx.b32 %f1, %f1, %r3, 31, 0xFFFFFFFF;", false},
    {"mov.b32 %r4, {even}; add.u32 %r4, %r4, %r5; sub.u32 %r4, %r4, %r5; mov.b32 %f1, %r4;", false},
    {"mov.b32 %r4, {even}; add.u32 %r4, %r4, %r5; sub.u32 %r4, %r4, %r5; "
     "shfl.sync.idx.b32 %r4, %r4, %r3, 31, 0xFFFFFFFF; mov.b32 %f1, %r4;",
     false},
    {"mov.f32 %f1, {even}; @!%p1 fma.rn.f32 %f1, {odd}, 0f3F800000, 0f80000000;", true},
    {"selp.f32 %f1, {even}, {odd}, %p1; shfl.sync.idx.b32 %f1, %f1, %r3, 31, 0xFFFFFFFF;", true},
};

// %f3 of %f1 and of %f2, which is loaded.
struct Operation {
  const char* text;
  float (*value)(float known, float x, float other);
};
const Operation operations[] = {
    {"mul.rn.f32 %f3, %f1, %f2;", [](float c, float x, float) { return c * x; }},
    {"mul.rn.f32 %f3, %f2, %f1; neg.f32 %f3, %f3;", [](float c, float x, float) { return -(x * c); }},
    {"add.rn.f32 %f3, %f1, %f2;", [](float c, float x, float) { return c + x; }},
    {"sub.rn.f32 %f3, %f2, %f1;", [](float c, float x, float) { return x - c; }},
    {"sub.rn.f32 %f3, %f1, %f2;", [](float c, float x, float) { return c - x; }},
    {"fma.rn.f32 %f3, %f1, %f2, %f4;", [](float c, float x, float z) { return std::fma(c, x, z); }},
    {"fma.rn.f32 %f3, %f2, %f4, %f1;", [](float c, float x, float z) { return std::fma(x, z, c); }},
    {"fma.rn.f32 %f3, %f1, %f1, %f2;", [](float c, float x, float) { return std::fma(c, c, x); }},
    {"fma.rn.f32 %f3, %f1, 0f40490FDB, %f2;",
     [](float c, float x, float) { return std::fma(c, std::bit_cast<float>(0x4049'0FDBu), x); }},
    {"fma.rn.f32 %f3, %f1, 0f45800800, 0f4B801000; add.rn.f32 %f3, %f3, 0f4B801000;",
     [](float c, float, float) { return std::fma(c, 4097.0f, 16785408.0f) + 16785408.0f; }},
    {"mul.rn.f32 %f3, %f1, %f1; neg.f32 %f3, %f3; fma.rn.f32 %f3, %f1, %f1, %f3;",
     [](float c, float, float) { return std::fma(c, c, -(c * c)); }},
    {"mul.rn.f32 %f3, %f1, 0f501502F9; neg.f32 %f5, %f3; fma.rn.f32 %f5, %f1, 0f501502F9, %f5; add.rn.f32 %f3, %f3, "
     "%f5;",
     [](float c, float, float) { return c * 1e10f + std::fma(c, 1e10f, -(c * 1e10f)); }},
    {"add.rn.f32 %f3, %f1, 0f4B801000;", [](float c, float, float) { return c + 16785408.0f; }},
    {"div.rn.f32 %f3, %f1, %f2;", [](float c, float x, float) { return c / x; }},
};

const float known[][2] = {{1, 0},     {-1, 0},    {0, 1},         {-0.0f, 1},    {2, -0.0f}, {0, -0.0f},
                          {-4097, 1}, {-1, 4097}, {1.1f, -0.35f}, {0.5f, -1.1f}, {3, 3},     {3.1415927f, 0}};

std::string word(float x) {
  char text[16];
  std::snprintf(text, sizeof(text), "0f%08X", std::bit_cast<uint32_t>(x));
  return text;
}

class KnownFactorsPtx : public PtxTest {};

TEST_F(KnownFactorsPtx, GiveWhatTheHostGets) {
  Buffer in(*device, threads * 8);
  for (uint32_t i = 0; i < threads; ++i) {
    in.as<float>()[i * 2] = numbers[i / 2 % std::size(numbers)];
    in.as<float>()[i * 2 + 1] = numbers[(i / 2 + i / 20) % std::size(numbers)] * 0.7f;
  }
  for (const Origin& origin : origins)
    for (const Operation& operation : operations)
      for (const auto& [even, odd] : known) {
        if (isLeftOut(3)) continue;
        Buffer out(*device, threads * 4);
        Launch launch;
        launch.block[0] = threads;
        launch.add(in.address()).add(out.address());
        const std::string body =
            replaced(replaced(origin.text, "{even}", word(even)), "{odd}", word(odd)) + "\n" + operation.text + "\n";
        runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<6>; .reg .f32 %f<6>; .reg .b64 %rd<6>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd1, %r1, 8, %rd1; mad.wide.u32 %rd2, %r1, 4, %rd2;
  and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; and.b32 %r3, %r1, 31;
  ld.global.v2.f32 {%f2, %f4}, [%rd1]; ld.global.u32 %r5, [%rd1+4];
)" + body + "st.global.f32 [%rd2], %f3;\nret;\n}\n",
               launch, device->profile());
        for (uint32_t i = 0; i < threads; ++i) {
          const float c = origin.isChoice && i % 2 != 0 ? odd : even;
          const float right = operation.value(c, in.as<float>()[i * 2], in.as<float>()[i * 2 + 1]);
          const float found = out.as<float>()[i];
          const bool isSame =
              std::isnan(right) ? std::isnan(found) : std::bit_cast<uint32_t>(right) == std::bit_cast<uint32_t>(found);
          EXPECT_TRUE(isSame) << right << " of " << in.as<float>()[i * 2] << " and " << in.as<float>()[i * 2 + 1]
                              << ", found " << found << "\n"
                              << body;
        }
      }
}

}  // namespace
}  // namespace mulciber::test
