// Sums of what does not change that some lanes make again and again, in loops and without, while others do something
// else. Compilers of devices make one instruction of a shift and a sum, whose operand of 64 bits has a half that stays.
#include <random>

#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 64;
__extension__ using Wide = unsigned __int128;

struct Words {
  uint32_t low, high;
};
Words wordsOf(uint64_t x) { return {static_cast<uint32_t>(x), static_cast<uint32_t>(x >> 32)}; }
uint64_t joined(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }

// Of unsigned bytes with signed ones.
uint32_t dotOfBytes(uint32_t x, uint32_t y) {
  uint32_t sum = 0;
  for (unsigned at = 0; at < 32; at += 8)
    sum += (x >> at & 0xFF) * static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(y >> at)));
  return sum;
}

// Makes the words %r6 and %r7 of themselves and of x and y, %r3 and %r4, which %rd9 has together.
struct Sum {
  const char* text;
  std::function<Words(Words, uint32_t x, uint32_t y)> value;
};
const Sum sums[] = {
    {"add.cc.u32 %r6, %r3, %r3; addc.u32 %r7, %r7, %r4;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(x, w.high) + joined(x, y)); }},
    {"add.cc.u32 %r6, %r3, %r4; addc.u32 %r7, %r7, %r3;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(x, w.high) + joined(y, x)); }},
    {"sub.cc.u32 %r6, %r3, %r4; subc.u32 %r7, %r7, %r3;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(x, w.high) - joined(y, x)); }},
    {"mov.b64 %rd6, {%r6, %r7}; mad.wide.u32 %rd6, %r3, %r4, %rd6; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(w.low, w.high) + uint64_t{x} * y); }},
    {"mov.b64 %rd6, {%r3, %r7}; mad.wide.u32 %rd6, %r3, %r4, %rd6; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(x, w.high) + uint64_t{x} * y); }},
    {"mov.b64 %rd6, {%r6, %r3}; mad.wide.u32 %rd6, %r3, %r4, %rd6; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(w.low, x) + uint64_t{x} * y); }},
    {"mov.b64 %rd6, {5, %r7}; mad.wide.u32 %rd6, %r3, %r4, %rd6; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(5, w.high) + uint64_t{x} * y); }},
    {"mov.b64 %rd6, {%r3, %r7}; mov.b64 %rd7, {%r4, %r3}; add.u64 %rd6, %rd6, %rd7; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(x, w.high) + joined(y, x)); }},
    {"add.u32 %r7, %r7, %r4; shr.u32 %r9, %r3, 29; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + y + (x >> 29)};
     }},
    {"add.u32 %r7, %r7, %r4; shr.s32 %r9, %r3, 29; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + y + static_cast<uint32_t>(static_cast<int32_t>(x) >> 29)};
     }},
    {"add.u32 %r7, %r7, %r4; shr.u32 %r9, %r3, 7; sub.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + y - (x >> 7)};
     }},
    {"add.u32 %r7, %r7, %r4; shr.u32 %r9, %r3, 3; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + y + (x >> 3)};
     }},
    {"xor.b32 %r7, %r7, %r4; shr.u32 %r9, %r3, 3; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, (w.high ^ y) + (x >> 3)};
     }},
    {"add.u32 %r7, %r7, %r4; bfe.u32 %r9, %r3, 3, 9; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + y + (x >> 3 & 511)};
     }},
    {"add.u32 %r7, %r7, %r4; mul.hi.u32 %r9, %r3, %r4; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + y + static_cast<uint32_t>(uint64_t{x} * y >> 32)};
     }},
    {"add.u32 %r7, %r7, %r4; mul.hi.u32 %r9, %r3, 100000; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + y + static_cast<uint32_t>(uint64_t{x} * 100000 >> 32)};
     }},
    {"add.u32 %r7, %r7, %r4; mad.lo.u32 %r7, %r3, %r4, %r7;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + y + x * y};
     }},
    {"shl.b32 %r9, %r3, 3; add.u32 %r7, %r7, %r4; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + y + (x << 3)};
     }},
    {"add.u32 %r7, %r7, %r4; div.u32 %r9, %r3, 10; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + y + x / 10};
     }},
    {"add.u32 %r7, %r7, %r4; mul24.hi.u32 %r9, %r3, %r4; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + y + static_cast<uint32_t>(uint64_t{x & 0xFFFFFF} * (y & 0xFFFFFF) >> 16)};
     }},
    {"shf.l.wrap.b32 %r7, %r3, %r7, 3; mov.u32 %r6, %r4;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{y, w.high << 3 | x >> 29};
     }},
    {"shf.l.wrap.b32 %r9, %r3, %r4, 3; add.u32 %r7, %r7, %r3; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + x + (y << 3 | x >> 29)};
     }},
    {"mov.b64 %rd6, {%r6, %r7}; mov.b64 %rd7, {%r4, 7}; shr.u64 %rd8, %rd9, 9; add.u64 %rd6, %rd6, %rd7; add.u64 %rd6, "
     "%rd6, %rd8; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) {
       return wordsOf(joined(w.low, w.high) + joined(y, 7) + (joined(x, y) >> 9));
     }},
    {"mov.b64 %rd6, {%r6, %r7}; mov.b64 %rd7, {%r4, 7}; shr.u64 %rd8, %rd9, 41; add.u64 %rd6, %rd6, %rd7; add.u64 "
     "%rd6, %rd6, %rd8; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) {
       return wordsOf(joined(w.low, w.high) + joined(y, 7) + (joined(x, y) >> 41));
     }},
    {"mul.lo.u32 %r9, %r6, %r4; shr.u32 %r2, %r3, 9; add.u32 %r9, %r9, %r2; xor.b32 %r7, %r7, %r9; add.u32 %r6, %r6, "
     "1;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low + 1, w.high ^ (w.low * y + (x >> 9))};
     }},
    {"shr.u32 %r9, %r3, 3; add.u32 %r7, %r7, %r4; add.u32 %r7, %r7, %r9; xor.b32 %r7, %r7, %r4; add.u32 %r7, %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, ((w.high + y + (x >> 3)) ^ y) + (x >> 3)};
     }},
    {"cvt.u32.u16 %r9, %rs1; mov.b64 %rd6, {%r6, %r7}; mad.wide.u32 %rd6, %r9, %r4, %rd6; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(w.low, w.high) + uint64_t{x & 0xFFFF} * y); }},
    {"cvt.u32.u8 %r9, %r3; mov.b64 %rd6, {%r9, %r7}; mad.wide.u32 %rd6, %r9, %r9, %rd6; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t) { return wordsOf(joined(x & 0xFF, w.high) + uint64_t{x & 0xFF} * (x & 0xFF)); }},
    {"and.b32 %r9, %r3, 0xFFFFF; mov.b64 %rd6, {%r4, %r7}; mad.wide.s32 %rd6, %r9, -77, %rd6; mov.b64 {%r6, %r7}, "
     "%rd6;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(y, w.high) - uint64_t{x & 0xFFFFF} * 77); }},
    {"mov.b64 %rd6, {%r3, %r7}; mad.wide.u32 %rd6, %r3, 0x200000, %rd6; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t) { return wordsOf(joined(x, w.high) + (uint64_t{x} << 21)); }},
    {"mov.b64 %rd6, {%r3, %r7}; shl.b64 %rd7, %rd9, 5; add.u64 %rd6, %rd6, %rd7; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(x, w.high) + (joined(x, y) << 5)); }},
    {"mov.b64 %rd6, {%r4, %r7}; mad.lo.u64 %rd6, %rd9, %rd9, %rd6; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(y, w.high) + joined(x, y) * joined(x, y)); }},
    {"mov.b64 %rd6, {%r4, %r7}; mul.hi.u64 %rd7, %rd9, %rd9; add.u64 %rd6, %rd6, %rd7; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) {
       const Wide square = Wide{joined(x, y)} * joined(x, y);
       return wordsOf(joined(y, w.high) + static_cast<uint64_t>(square >> 64));
     }},
    {"mad.wide.u16 %r9, %rs1, %rs2, %r7; mov.u32 %r6, %r7; mov.u32 %r7, %r9;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.high, w.high + (x & 0xFFFF) * (y & 0xFFFF)};
     }},
    {"dp4a.u32.s32 %r7, %r3, %r4, %r7;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + dotOfBytes(x, y)};
     }},
    {"dp4a.u32.s32 %r7, %r3, %r4, %r7; dp4a.u32.s32 %r7, %r3, %r4, %r7;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low, w.high + 2 * dotOfBytes(x, y)};
     }},
    {"dp4a.u32.s32 %r7, %r3, %r4, %r7; add.u32 %r7, %r7, %r6; dp4a.u32.s32 %r7, %r3, %r4, %r7; add.u32 %r6, %r6, 1;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low + 1, w.high + 2 * dotOfBytes(x, y) + w.low};
     }},
    {"add.u32 %r9, %r3, %r6; dp4a.u32.s32 %r7, %r9, %r4, %r7; dp4a.u32.s32 %r7, %r9, %r4, %r7; add.u32 %r6, %r6, 1;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low + 1, w.high + 2 * dotOfBytes(x + w.low, y)};
     }},
    {"add.u32 %r9, %r3, %r6; dp4a.u32.s32 %r7, %r9, 0xFFF00000, %r7; dp4a.u32.s32 %r7, %r9, 0xFFF00000, %r7; add.u32 "
     "%r6, %r6, 1;",
     [](Words w, uint32_t x, uint32_t) {
       return Words{w.low + 1, w.high + 2 * dotOfBytes(x + w.low, 0xFFF00000)};
     }},
    {"add.u32 %r9, %r3, %r6; mad.lo.u32 %r7, %r9, %r4, %r7; mad.lo.u32 %r7, %r9, %r4, %r7; add.u32 %r6, %r6, 1;",
     [](Words w, uint32_t x, uint32_t y) {
       return Words{w.low + 1, w.high + 2 * (x + w.low) * y};
     }},
    {"mov.b64 %rd6, {%r6, %r7}; mad.wide.u32 %rd6, %r3, %r4, %rd6; mad.wide.u32 %rd6, %r3, %r4, %rd6; mov.b64 {%r6, "
     "%r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(joined(w.low, w.high) + 2 * (uint64_t{x} * y)); }},
    {"add.u32 %r9, %r3, %r6; shr.u32 %r9, %r9, 3; add.u32 %r7, %r7, %r9; add.u32 %r7, %r7, %r9; add.u32 %r6, %r6, 1;",
     [](Words w, uint32_t x, uint32_t) {
       return Words{w.low + 1, w.high + 2 * ((x + w.low) >> 3)};
     }},
    {"mov.b64 %rd6, {%r3, %r4}; mov.b64 %rd7, {%r6, %r7}; max.u64 %rd6, %rd6, %rd7; mov.b64 {%r6, %r7}, %rd6;",
     [](Words w, uint32_t x, uint32_t y) { return wordsOf(std::max(joined(w.low, w.high), joined(x, y))); }},
};

// What the lanes do that make no sum.
struct Other {
  const char* text;
  std::function<Words(Words)> value;
};
const Other others[] = {
    {"mov.u32 %r6, 77;",
     [](Words w) {
       return Words{77, w.high};
     }},
    {"", [](Words w) { return w; }},
    {"mov.u32 %r6, 77; mov.u32 %r7, 5;",
     [](Words) {
       return Words{77, 5};
     }},
};

// Which lanes make no sum in a round, of which %r5 says how many are left.
struct Condition {
  const char* text;
  std::function<bool(uint32_t y, uint32_t left)> makesSum;
};
const Condition conditions[] = {
    {"@!%p1 bra other$;", [](uint32_t y, uint32_t) { return y % 2 == 1; }},
    {"xor.b32 %r8, %r5, %r4; and.b32 %r8, %r8, 1; setp.eq.u32 %p3, %r8, 1; @!%p3 bra other$;",
     [](uint32_t y, uint32_t left) { return (left ^ y) % 2 == 1; }},
    {"", [](uint32_t, uint32_t) { return true; }},
};

enum class Shape { Counted, OfThree, Straight, Nested };  // in the last x changes with a loop around the loop

std::string bodyOf(const Sum& sum, const Other& other, const Condition& condition, Shape shape) {
  const std::string round = std::string("sub.s32 %r5, %r5, 1; ") + condition.text + "\n" + sum.text +
                            "\nbra met$;\nother$: " + other.text + "\nmet$:\n";
  const std::string count =
      shape == Shape::Counted ? "and.b32 %r5, %r3, 3; add.s32 %r5, %r5, 1;\n" : "mov.u32 %r5, 3;\n";
  if (shape == Shape::Straight)
    return count + replaced(round, "$", "1") + replaced(round, "$", "2") + replaced(round, "$", "3");
  if (shape == Shape::Nested)
    return "mov.u32 %r10, 2;\nouter: " + count + "again:\n" + replaced(round, "$", "1") +
           "setp.gt.s32 %p2, %r5, 0; @%p2 bra again;\nmov.u32 %r3, %r7; mov.b64 %rd9, {%r3, %r4}; cvt.u16.u32 %rs1, "
           "%r3;\n"
           "sub.s32 %r10, %r10, 1; setp.gt.s32 %p2, %r10, 0; @%p2 bra outer;\n";
  return count + "again:\n" + replaced(round, "$", "1") + "setp.gt.s32 %p2, %r5, 0; @%p2 bra again;\n";
}

class LoopedSumsPtx : public PtxTest {
 protected:
  void expectSums(const TargetProfile& profile) {
    std::mt19937 random(10);
    Buffer in(*device, threads * 8);
    for (uint32_t i = 0; i < threads * 2; ++i) in.as<uint32_t>()[i] = static_cast<uint32_t>(random()) >> random() % 32;
    for (const Sum& sum : sums)
      for (const Other& other : others)
        for (const Condition& condition : conditions)
          for (const Shape shape : {Shape::Counted, Shape::OfThree, Shape::Straight, Shape::Nested}) {
            if (isLeftOut(13)) continue;
            Buffer out(*device, threads * 8);
            Launch launch;
            launch.block[0] = threads;
            launch.add(in.address()).add(out.address());
            const std::string body = bodyOf(sum, other, condition, shape);
            runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b16 %rs<3>; .reg .b32 %r<11>; .reg .b64 %rd<10>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 8, %rd1;
  mad.wide.u32 %rd2, %r1, 8, %rd2; ld.global.v2.u32 {%r3, %r4}, [%rd1]; mov.b64 %rd9, {%r3, %r4};
  and.b32 %r8, %r4, 1; setp.eq.u32 %p1, %r8, 1; mov.u32 %r6, %r4; mov.u32 %r7, %r3;
  cvt.u16.u32 %rs1, %r3; cvt.u16.u32 %rs2, %r4;
)" + body + "st.global.v2.u32 [%rd2], {%r6, %r7};\nret;\n}\n",
                   launch, profile);
            for (uint32_t i = 0; i < threads; ++i) {
              uint32_t x = in.as<uint32_t>()[2 * i];
              const uint32_t y = in.as<uint32_t>()[2 * i + 1];
              Words right{y, x};
              for (int turns = shape == Shape::Nested ? 2 : 1; turns > 0; --turns, x = right.high)
                for (uint32_t left = shape == Shape::Counted ? (x & 3) + 1 : 3; left-- > 0;)
                  right = condition.makesSum(y, left) ? sum.value(right, x, y) : other.value(right);
              const Words result = out.as<Words>()[i];
              const bool isRight = result.low == right.low && result.high == right.high;
              EXPECT_TRUE(isRight) << "lane " << i << " has " << result.low << " and " << result.high << ", right is "
                                   << right.low << " and " << right.high << ", of " << x << " and " << y << "\n"
                                   << body;
              if (!isRight) break;
            }
          }
  }
};

TEST_F(LoopedSumsPtx, AreMadeInEachRound) { expectSums(device->profile()); }

TEST_F(LoopedSumsPtx, WithHiddenPartsAreTheSame) {
  TargetProfile profile = device->profile();
  profile.losesHighSums = true;
  expectSums(profile);
}

}  // namespace
}  // namespace mulciber::test
