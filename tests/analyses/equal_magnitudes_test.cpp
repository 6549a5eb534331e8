#include "translator/analyses/equal_magnitudes.h"

#include <gtest/gtest.h>

#include "support/run_pass.h"

namespace mulciber::analyses {
namespace {

// Whether two floats, the last two values of the block, may be equal. %1 and %2 are floats of memory, %3 an integer of
// it, %4 and %5 constants.
bool mayBeEqual(const std::string& body) {
  auto program = test::parseIr(R"(kernel @k local=64 structured ssa {
b0:
  %90 = const i64 64
  %91 = const i64 128
  %92 = const i64 192
  %1 = load f32 %90 [global]
  %2 = load f32 %91 [global]
  %3 = load i32 %92 [global]
  %4 = const i32 5
  %5 = const i32 16
)" + body + "  ret\n}\n");
  if (!program) return false;
  const ir::Function& function = *program->functions[0];
  const KnownValues known(function, KnownValues::Count::Numbers);
  const EqualMagnitudes equal(function, known);
  const auto& values = function.blocks.back()->instructions;
  return equal.name(values[values.size() - 2]) == equal.name(values.back());
}

TEST(EqualMagnitudes, OtherNumbersDiffer) {
  EXPECT_FALSE(mayBeEqual("  %10 = fadd f32 %1, %1\n  %11 = fadd f32 %1, %2\n"));
  EXPECT_FALSE(mayBeEqual("  %10 = fadd f32 %1, %2\n  %11 = fmul f32 %1, %2\n"));
  EXPECT_FALSE(mayBeEqual("  %10 = load f32 %90 [global]\n  %11 = load f32 %91 [global]\n"));
  EXPECT_FALSE(mayBeEqual("  %10 = load f32 %4 [local]\n  %11 = load f32 %4 [shared]\n"));
}

TEST(EqualMagnitudes, NorDoZerosThatAreAdded) {
  EXPECT_TRUE(mayBeEqual("  %9 = const f32 0\n  %10 = fadd f32 %9, %1\n  %11 = fsub f32 %1, %9\n"));
  const std::string zero = "  %8 = const f32 0\n  %9 = select f32 %6, %8, %1\n";
  EXPECT_TRUE(mayBeEqual("  %6 = flt bool %1, %2\n" + zero + "  %10 = fneg f32 %2\n  %11 = fadd f32 %2, %9\n"));
  EXPECT_FALSE(mayBeEqual("  %9 = const f32 1\n  %10 = fneg f32 %1\n  %11 = fadd f32 %1, %9\n"));
}

TEST(EqualMagnitudes, SignsDoNotCount) {
  EXPECT_TRUE(mayBeEqual("  %10 = fabs f32 %1\n  %11 = fneg f32 %1\n"));
  EXPECT_TRUE(
      mayBeEqual("  %6 = const i32 0x80000000\n  %7 = bitcast i32 %1\n  %8 = xor i32 %7, %6\n  %9 = fneg f32 %1\n"
                 "  %10 = bitcast f32 %8\n"));
}

TEST(EqualMagnitudes, FactorsMayStandTheOtherWayRound) {
  EXPECT_TRUE(mayBeEqual("  %10 = fmul f32 %1, %2\n  %11 = fmul f32 %2, %1\n"));
  EXPECT_FALSE(mayBeEqual("  %10 = fsub f32 %1, %2\n  %11 = fsub f32 %2, %1\n"));
}

TEST(EqualMagnitudes, MemoryKeepsThem) {
  EXPECT_TRUE(mayBeEqual("  %6 = load f32 %91 [global]\n  %7 = fneg f32 %2\n"));
  EXPECT_TRUE(mayBeEqual("  store %4, %1 [local align 4]\n  %6 = fneg f32 %1\n  %7 = load f32 %4 [local align 4]\n"));
}

TEST(EqualMagnitudes, SumsOfIntegersAreWhatIsLeft) {
  EXPECT_TRUE(
      mayBeEqual("  %6 = add i32 %3, %4\n  %7 = mul i32 %6, %4\n  %8 = sub i32 %7, %3\n  %9 = const i32 25\n"
                 "  %10 = const i32 2\n  %11 = shl i32 %3, %10\n  %12 = add i32 %9, %11\n  %13 = utof f32 %8\n"
                 "  %14 = utof f32 %12\n"));
  EXPECT_FALSE(mayBeEqual("  %6 = add i32 %3, %4\n  %7 = utof f32 %6\n  %8 = utof f32 %3\n"));
  EXPECT_TRUE(
      mayBeEqual("  %6 = zext i64 %3\n  %7 = add i64 %6, %90\n  %8 = sub i64 %7, %6\n"
                 "  %9 = load f32 %8 [global]\n  %10 = fneg f32 %1\n"));
}

TEST(EqualMagnitudes, HalvesOfANumberMakeItAgain) {
  EXPECT_TRUE(
      mayBeEqual("  %6 = bitcast i32 %1\n  %7 = shr.u i32 %6, %5\n  %8 = shl i32 %7, %5\n  %9 = const i32 0xFFFF\n"
                 "  %10 = and i32 %6, %9\n  %11 = or i32 %10, %8\n  %12 = fneg f32 %1\n  %13 = bitcast f32 %11\n"));
}

// A generator of random numbers: each step has the number before twice.
TEST(EqualMagnitudes, LongChainsOfBitsTakeNoLonger) {
  std::string steps = "  %100 = bitcast i32 %1\n";
  for (int n = 100; n < 1100; n += 2)
    steps += "  %" + std::to_string(n + 1) + " = shr.u i32 %" + std::to_string(n) + ", %4\n  %" +
             std::to_string(n + 2) + " = xor i32 %" + std::to_string(n) + ", %" + std::to_string(n + 1) + "\n";
  EXPECT_TRUE(mayBeEqual(steps + "  %2000 = fneg f32 %1\n  %2001 = bitcast f32 %1100\n"));
}

TEST(EqualMagnitudes, ChoicesAndLanesGiveThem) {
  EXPECT_TRUE(mayBeEqual("  %6 = shuffle f32 %1, %4\n  %7 = fneg f32 %1\n"));
  EXPECT_TRUE(
      mayBeEqual("  %6 = flt bool %1, %2\n  %7 = fneg f32 %1\n  %8 = select f32 %6, %1, %7\n  %9 = fneg f32 %7\n"));
  EXPECT_FALSE(mayBeEqual("  %6 = flt bool %1, %2\n  %7 = select f32 %6, %1, %2\n  %8 = fneg f32 %1\n"));
}

TEST(EqualMagnitudes, APhiOfALoopIsItsOwn) {
  EXPECT_FALSE(mayBeEqual(R"(  br b1
b1:
  %6 = phi f32 [%1, b0], [%7, b3]
  loop b2 continue b3
  %8 = flt bool %6, %2
  br %8, b3, b2
b3:
  %7 = fadd f32 %6, %2
  br b1
b2:
  %9 = fneg f32 %1
  %10 = fneg f32 %6
)"));
}

}  // namespace
}  // namespace mulciber::analyses
