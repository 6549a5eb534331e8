#include "translator/passes/byte_swaps.h"

#include "support/run_pass.h"
#include "translator/passes/cse.h"

namespace mulciber {
namespace {

std::string hidden(const std::string& text) {
  return test::runPass(text, [](ir::Function& function) {
    passes::hideSwappedBytes(function);
    passes::removeCommonSubexpressions(function);
  });
}

// A kernel that reads %1, whose bytes `body` makes %9 of.
std::string kernel(const std::string& type, const std::string& body) {
  return "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load " + type +
         " %0 [global align 4]\n  %2 = const i32 8\n" + body + "  store %0, %9 [global align 4]\n  ret\n}\n";
}
bool hides(const std::string& type, const std::string& body) {
  return hidden(kernel(type, body)).find("GridDimY") != std::string::npos;
}

TEST(ByteSwaps, OneByteIsHidden) {
  EXPECT_EQ(hidden(kernel("i16", R"(  %3 = shr.u i16 %1, %2
  %4 = shl i16 %1, %2
  %9 = or i16 %3, %4
)")),
            R"(kernel @k structured ssa {
b0:
  %0 = input i32 GridDimY
  %1 = input i32 GridDimZ
  %2 = const i32 0xffff0000
  %3 = and i32 %0, %2
  %4 = const i32 16
  %5 = shr.u i32 %1, %4
  %6 = or i32 %3, %5
  %7 = trunc i16 %6
  %8 = input i64 LaunchState
  %9 = load i16 %8 [global align 4]
  %10 = const i32 8
  %11 = shr.u i16 %9, %10
  %12 = shl i16 %9, %10
  %13 = not i16 %7
  %14 = and i16 %12, %13
  %15 = or i16 %11, %14
  store %8, %15 [global align 4]
  ret
}
)");
}

TEST(ByteSwaps, OfWordsToo) {
  const std::string bytes = R"(  %3 = shr.u i32 %1, %2
  %4 = const i32 255
  %5 = and i32 %3, %4
  %6 = shl i32 %1, %2
  %7 = const i32 65280
  %8 = and i32 %6, %7
)";
  for (const char* join : {"or", "xor", "add"})
    EXPECT_TRUE(hides("i32", bytes + "  %9 = " + join + " i32 %5, %8\n")) << join;
  EXPECT_TRUE(hides("i32", bytes + "  %9 = or i32 %8, %5\n"));
}

// Of a sum, through extracted fields and other widths.
TEST(ByteSwaps, WhereverTheBytesComeFrom) {
  EXPECT_TRUE(hides("i32", R"(  %3 = add i32 %1, %1
  %4 = trunc i16 %3
  %5 = zext i32 %4
  %6 = bits.u i32 %3, %2, %2
  %7 = shl i32 %5, %2
  %9 = or i32 %6, %7
)"));
}

// The bytes above one of which two are added are the sum's own.
TEST(ByteSwaps, OfSumsThatCarry) {
  EXPECT_TRUE(hides("i32", R"(  %3 = const i32 0x80000001
  %4 = add i32 %1, %3
  %5 = shr.u i32 %4, %2
  %6 = const i32 255
  %7 = and i32 %5, %6
  %8 = shl i32 %4, %2
  %10 = const i32 0xff00
  %11 = and i32 %8, %10
  %9 = or i32 %7, %11
)"));
}

TEST(ByteSwaps, OtherBytesStay) {
  // Of two values.
  EXPECT_FALSE(hides("i16", R"(  %3 = shr.u i16 %1, %2
  %4 = load i16 %0 [global align 4]
  %5 = shl i16 %4, %2
  %9 = or i16 %3, %5
)"));
  // In their own places.
  EXPECT_FALSE(hides("i32", R"(  %3 = const i32 255
  %4 = and i32 %1, %3
  %5 = const i32 65280
  %6 = and i32 %1, %5
  %9 = or i32 %4, %6
)"));
  // Other bytes are added to the second one.
  EXPECT_FALSE(hides("i32", R"(  %3 = shr.u i32 %1, %2
  %4 = shl i32 %1, %2
  %9 = add i32 %3, %4
)"));
}

TEST(ByteSwaps, RotationsStay) {
  for (const auto& [type, bits] : {std::pair{"i32", 32}, {"i64", 64}})
    for (int distance = 8; distance < bits; distance += 8) {
      const std::string t = type;
      EXPECT_FALSE(hides(t, "  %3 = const i32 " + std::to_string(distance) + "\n  %4 = const i32 " +
                                std::to_string(bits - distance) + "\n  %5 = shl " + t + " %1, %3\n  %6 = shr.u " + t +
                                " %1, %4\n  %9 = or " + t + " %5, %6\n"))
          << t << " by " << distance;
    }
}

TEST(ByteSwaps, WhereOthersAreZero) {
  // The second and the third byte of a sum of two.
  EXPECT_TRUE(hides("i32", R"(  %3 = const i32 0xffff00
  %4 = and i32 %1, %3
  %5 = or i32 %4, %4
  %6 = shl i32 %5, %2
  %7 = const i32 0xff0000
  %8 = and i32 %6, %7
  %10 = shr.u i32 %5, %2
  %11 = const i32 0xff00
  %12 = and i32 %10, %11
  %9 = or i32 %8, %12
)"));
}

// A driver would take what two bytes have in common out of their sum.
TEST(ByteSwaps, BytesAreHiddenInDifferentWays) {
  const std::string text = hidden(kernel("i32", R"(  %3 = const i32 24
  %4 = shr.u i32 %1, %3
  %5 = shl i32 %1, %3
  %6 = xor i32 %4, %5
  %7 = shr.u i32 %1, %2
  %8 = const i32 65280
  %10 = and i32 %7, %8
  %9 = xor i32 %6, %10
)"));
  size_t masks = 0;
  for (size_t at = 0; (at = text.find(" = not i32 ", at)) != std::string::npos; ++at) ++masks;
  EXPECT_EQ(masks, 2U) << text;
}

TEST(ByteSwaps, ZerosHideNoneOfThem) {
  EXPECT_TRUE(hides("i16", R"(  %3 = const i16 255
  %4 = and i16 %1, %3
  %5 = shr.u i16 %4, %2
  %6 = shl i16 %1, %2
  %7 = or i16 %5, %6
  %8 = shr.u i16 %1, %2
  %9 = or i16 %7, %8
)"));
}

TEST(ByteSwaps, OfSixBytes) {
  const std::string bytes = R"(  %3 = const i32 40
  %4 = const i64 255
  %5 = and i64 %1, %4
  %6 = shl i64 %5, %3
  %7 = shr.u i64 %1, %3
  %8 = and i64 %7, %4
)";
  EXPECT_TRUE(hides("i64", bytes + "  %9 = or i64 %6, %8\n"));
  EXPECT_FALSE(hides("i64", bytes + "  %9 = sub i64 %6, %8\n"));
}

}  // namespace
}  // namespace mulciber
