#include "translator/passes/constant_zeros.h"

#include <string>
#include <vector>

#include "support/run_pass.h"
#include "translator/passes/lone_stores.h"

namespace mulciber {
namespace {

// What becomes of an operation %7 on a number %1 from memory, +0, -0, 1, 0.3 and 0.7 (%2 to %6).
std::string hidden(const std::string& operation) {
  return test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = const i64 64
  %1 = load f32 %0 [global]
  %2 = const f32 0x0
  %3 = const f32 0x80000000
  %4 = const f32 0x3f800000
  %5 = const f32 0.3
  %6 = const f32 0.7
  )" + operation + R"(
  store %0, %7 [global]
  ret
})",
                       passes::hideConstantZeros);
}

bool hides(const std::string& operation) { return hidden(operation).find("= xor") != std::string::npos; }

TEST(ConstantZeros, AreHiddenWhereTheyMatter) {
  for (const char* operation :
       {"fadd f32 %1, %2", "fadd f32 %2, %1", "fsub f32 %2, %1", "fsub f32 %1, %3", "fma f32 %1, %4, %2",
        "fdiv f32 %1, %2", "fdiv f32 %1, %3", "fdiv f32 %2, %1", "fdiv f32 %3, %1"})
    EXPECT_TRUE(hides(std::string("%7 = ") + operation)) << operation;
}

TEST(ConstantZeros, OtherOperationsStay) {
  for (const char* operation :
       {"fadd f32 %1, %3", "fadd f32 %1, %4", "fsub f32 %1, %2", "fsub f32 %3, %1", "fmul f32 %1, %2",
        "fma f32 %1, %1, %2", "fma f32 %1, %5, %4", "fdiv f32 %1, %4", "fdiv f32 %4, %1"})
    EXPECT_FALSE(hides(std::string("%7 = ") + operation)) << operation;
}

TEST(ConstantZeros, ProductsOfConstantsAreRoundedWithTheirSum) {
  EXPECT_TRUE(hides("%7 = fma f32 %5, %6, %1"));
  EXPECT_FALSE(hides("%7 = fma f32 %5, %1, %6"));
}

TEST(ConstantZeros, ProductsOfConstantsMayBeZeros) {
  EXPECT_TRUE(hides("%7 = fma f32 %2, %4, %1"));
  EXPECT_TRUE(hides("%7 = fma f32 %4, %3, %1"));
  EXPECT_FALSE(hides("%7 = fma f32 %2, %1, %4"));
}

TEST(ConstantZeros, ChoicesBetweenOneAndTheOtherZero) {
  const auto choice = [](const std::string& values) {
    return "%10 = flt bool %1, %5\n  %11 = const f32 0xbf800000\n  %7 = select f32 %10, " + values;
  };
  EXPECT_TRUE(hides(choice("%4, %3")));
  EXPECT_TRUE(hides(choice("%2, %11")));
  EXPECT_FALSE(hides(choice("%4, %2")));
  EXPECT_FALSE(hides(choice("%3, %11")));
  EXPECT_FALSE(hides(choice("%5, %3")));
  const std::string ofBits =
      "%10 = flt bool %1, %5\n  %11 = const i32 0xbf800000\n  %12 = const i32 0\n  %7 = select i32 %10, %11, %12";
  EXPECT_TRUE(hides(ofBits));
}

TEST(ConstantZeros, SoAreThoseThatPrivateMemoryMakes) {
  const auto stores = [](const std::string& first, const std::string& second) {
    return hides("%10 = const f32 0xbf800000\n  %12 = const i32 0\n  store %12, " + first +
                 " [local align 4]\n  store %12, " + second + " [local align 4]\n  %7 = load f32 %12 [local align 4]");
  };
  EXPECT_TRUE(stores("%4", "%3"));
  EXPECT_TRUE(stores("%2", "%10"));
  EXPECT_FALSE(stores("%4", "%2"));
  EXPECT_FALSE(stores("%5", "%3"));
}

TEST(ConstantZeros, IntegersMayBeKnown) {
  const std::string sum =
      "%10 = load i32 %0 [global]\n  %11 = const i32 0x40490fdb\n  %12 = add i32 %11, %10\n"
      "  %13 = sub i32 %12, %10\n  %14 = bitcast f32 %13\n  %7 = ";
  EXPECT_TRUE(hides(sum + "fma f32 %14, %6, %1"));
  EXPECT_TRUE(hides(sum + "fma f32 %6, %14, %1"));
  EXPECT_TRUE(hides(sum + "fsub f32 %1, %14"));
  EXPECT_FALSE(hides(sum + "fma f32 %1, %14, %6"));
  EXPECT_FALSE(hides(sum + "fmul f32 %1, %14"));
}

TEST(ConstantZeros, WhatLanesGetOfEachOtherMayBeKnown) {
  EXPECT_TRUE(hides("%10 = const i32 3\n  %11 = shuffle f32 %5, %10\n  %7 = fma f32 %11, %6, %1"));
  EXPECT_TRUE(hides(
      "%10 = load i32 %0 [global]\n  %11 = const i32 0x40490fdb\n  %12 = add i32 %11, %10\n  %13 = sub i32 %12, %10\n"
      "  %14 = const i32 3\n  %15 = shuffle i32 %13, %14\n  %16 = bitcast f32 %15\n  %7 = fma f32 %16, %6, %1"));
}

TEST(ConstantZeros, WhatIsComparedWithAKnownNumberMayBeThat) {
  const auto compared = [](const std::string& comparison) {
    return "%10 = load i32 %0 [global]\n  %11 = const i32 0\n  %12 = " + comparison +
           " bool %10, %11\n  %13 = stof f32 %10\n  %7 = fadd f32 %13, %1";
  };
  EXPECT_TRUE(hides(compared("eq")));
  EXPECT_TRUE(hides(compared("ne")));
  EXPECT_FALSE(hides(compared("lt.s")));
  // What the comparison itself gives may be known as well.
  EXPECT_TRUE(
      hides("%10 = input i32 ThreadIdX\n  %11 = const i32 0\n  %12 = eq bool %10, %11\n  %13 = zext i32 %12\n"
            "  %14 = utof f32 %13\n  %7 = fsub f32 %14, %1"));
  EXPECT_TRUE(hides("%10 = feq bool %1, %5\n  %7 = fma f32 %1, %6, %1"));
}

TEST(ConstantZeros, AChoiceMayBeOfWhatTheDriverComputes) {
  EXPECT_TRUE(hides("%10 = flt bool %1, %5\n  %11 = fma f32 %4, %4, %4\n  %7 = select f32 %10, %11, %4"));
  EXPECT_FALSE(hides(
      "%10 = flt bool %1, %5\n  %11 = input i32 GridDimX\n  %12 = bitcast f32 %11\n  %13 = fma f32 %12, %12, %12\n"
      "  %7 = select f32 %10, %13, %4"));
}

// A zero that is hidden in a choice, which is hidden itself, and one that another pass hides again.
TEST(ConstantZeros, AreHiddenTwiceByDifferentZeros) {
  const auto masks = [](const std::string& text) {
    std::vector<std::string> found;
    for (size_t at = text.find("= xor i32 "); at != std::string::npos; at = text.find("= xor i32 ", at + 1))
      found.push_back(text.substr(text.find(',', at), text.find('\n', at) - text.find(',', at)));
    return found;
  };
  const std::string choice = "%10 = flt bool %1, %5\n  %11 = const f32 0xbf800000\n  %12 = select f32 %10, %2, %11\n  ";
  const auto ofChoice = masks(hidden(choice + "%7 = fadd f32 %1, %12"));
  ASSERT_EQ(ofChoice.size(), 2u);
  EXPECT_NE(ofChoice[0], ofChoice[1]);

  const auto ofPasses = masks(test::runPass(R"(kernel @k local=16 structured ssa {
b0:
  %0 = const i32 4
  %1 = input i32 GridDimX
  store %0, %1 [local align 4]
  ret
})",
                                            [](ir::Function& function) {
                                              passes::hideLoneStores(function);
                                              passes::hideLoneStores(function);
                                            }));
  ASSERT_EQ(ofPasses.size(), 2u);
  EXPECT_NE(ofPasses[0], ofPasses[1]);
}

// Zeros that only the driver sees: in memory of the thread, and chosen.
TEST(ConstantZeros, OthersMayBeFound) {
  EXPECT_TRUE(hides(R"(%10 = const i32 4
  store %10, %2 [local align 4]
  %11 = load f32 %10 [local align 4]
  %7 = fsub f32 %11, %1)"));
  EXPECT_TRUE(hides(R"(%10 = flt bool %1, %5
  %11 = select f32 %10, %2, %1
  %7 = fadd f32 %1, %11)"));
}

}  // namespace
}  // namespace mulciber
