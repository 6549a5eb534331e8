#include "translator/passes/bounded_sums.h"

#include <random>

#include "support/ir_interpreter.h"
#include "support/run_pass.h"
#include "translator/passes/dce.h"

namespace mulciber {
namespace {

void compareWithDifferences(ir::Function& function) {
  passes::compareWithDifferences(function);
  passes::removeDeadInstructions(function);
}

std::string kernel(const std::string& body) { return "kernel @k structured ssa {\nb0:\n" + body + "  ret\n}\n"; }

// Items of a thread: %2 is at most 31, %4 is the bound.
const std::string items = R"(  %0 = input i32 LocalIndex
  %1 = const i32 31
  %2 = and i32 %0, %1
  %3 = input i64 ModuleData
  %4 = load i32 %3 [global align 4]
)";

// `compare` compares a sum %s with the bound.
std::string item(unsigned number, const std::string& value, const std::string& constant, std::string compare) {
  const auto id = [&](unsigned n) { return "%" + std::to_string(10 * number + n); };
  compare.replace(compare.find("%s"), 2, id(1));
  return "  " + id(0) + " = const i32 " + constant + "\n  " + id(1) + " = add i32 " + value + ", " + id(0) + "\n  " +
         id(2) + " = " + compare + "\n  " + id(3) + " = zext i8 " + id(2) + "\n  store %3, " + id(3) + " [global]\n";
}

TEST(BoundedSums, OneDifferenceStandsForAllSums) {
  EXPECT_EQ(test::runPass(kernel(items + "  %8 = lt.s bool %2, %4\n  %9 = zext i8 %8\n  store %3, %9 [global]\n" +
                                 item(2, "%2", "32", "le.s bool %4, %s") + item(3, "%2", "64", "lt.s bool %4, %s") +
                                 item(4, "%2", "96", "le.s bool %s, %4") + item(5, "%2", "128", "lt.s bool %s, %4") +
                                 item(6, "%2", "160", "lt.s bool %s, %4") + item(7, "%2", "192", "lt.s bool %s, %4")),
                          compareWithDifferences),
            kernel(R"(  %0 = input i32 LocalIndex
  %1 = const i32 31
  %2 = and i32 %0, %1
  %3 = input i64 ModuleData
  %4 = load i32 %3 [global align 4]
  %5 = const i32 0xffffffff
  %6 = max.s i32 %4, %5
  %7 = sub i32 %6, %2
  %8 = const i32 0
  %9 = lt.s bool %8, %7
  %10 = zext i8 %9
  store %3, %10 [global]
  %11 = const i32 32
  %12 = le.s bool %7, %11
  %13 = zext i8 %12
  store %3, %13 [global]
  %14 = const i32 64
  %15 = lt.s bool %7, %14
  %16 = zext i8 %15
  store %3, %16 [global]
  %17 = const i32 96
  %18 = le.s bool %17, %7
  %19 = zext i8 %18
  store %3, %19 [global]
  %20 = const i32 128
  %21 = lt.s bool %20, %7
  %22 = zext i8 %21
  store %3, %22 [global]
  %23 = const i32 160
  %24 = lt.s bool %23, %7
  %25 = zext i8 %24
  store %3, %25 [global]
  %26 = const i32 192
  %27 = lt.s bool %26, %7
  %28 = zext i8 %27
  store %3, %28 [global]
)"));
}

// Six sums; `value` and the last constant as given.
std::string sixSums(const std::string& before, const std::string& value, const std::string& last,
                    const std::string& after, const std::string& compare = "lt.s bool %s, %4") {
  std::string text = items + before;
  for (unsigned i = 2; i < 7; ++i) text += item(i, value, std::to_string(i), compare);
  return kernel(text + item(7, value, last, compare) + after);
}

TEST(BoundedSums, WithUnsignedBoundsToo) {
  const std::string text = test::runPass(sixSums("", "%2", "7", "", "lt.u bool %s, %4"), compareWithDifferences);
  EXPECT_NE(text.find("min.u"), std::string::npos) << text;
  EXPECT_EQ(text.find("lt.u"), std::string::npos) << text;
  EXPECT_EQ(text.find("add"), std::string::npos) << text;
}

TEST(BoundedSums, OnlyWhereTheSumsAreKnownAndGoAway) {
  auto changes = [](const std::string& text) {
    return test::runPass(text, compareWithDifferences).find("max.s") != std::string::npos;
  };
  EXPECT_TRUE(changes(sixSums("", "%2", "7", "")));
  // Five sums only, then one with another use.
  EXPECT_FALSE(changes(kernel(items + item(2, "%2", "2", "lt.s bool %s, %4") + item(3, "%2", "3", "lt.s bool %s, %4") +
                              item(4, "%2", "4", "lt.s bool %s, %4") + item(5, "%2", "5", "lt.s bool %s, %4") +
                              item(6, "%2", "6", "lt.s bool %s, %4"))));
  EXPECT_FALSE(changes(sixSums("", "%2", "7", "  store %3, %41 [global]\n")));
  // Values of any size; constants that may lead beyond the signed numbers or below zero.
  EXPECT_FALSE(changes(sixSums("  %10 = shl i32 %0, %1\n", "%10", "7", "")));
  EXPECT_TRUE(changes(sixSums("", "%2", "0x7fffffdf", "")));
  EXPECT_FALSE(changes(sixSums("", "%2", "0x7fffffe0", "")));
  EXPECT_FALSE(changes(sixSums("", "%2", "0xffffffff", "")));
}

TEST(BoundedSums, TheDifferenceStandsWhereBothAreKnown) {
  std::string text = R"(kernel @k structured ssa {
b0:
  %3 = input i64 ModuleData
  %1 = load i32 %3 [global align 4]
  %5 = const i32 1
  %6 = ne bool %1, %5
  merge b3
  br %6, b1, b2
b1:
  br b3
b2:
  br b3
b3:
  %4 = phi i32 [%1, b1], [%5, b2]
  %7 = phi i32 [%5, b1], [%1, b2]
  %2 = and i32 %7, %5
)";
  for (unsigned i = 2; i < 8; ++i) text += item(i, "%2", std::to_string(i), "lt.s bool %s, %4");
  text = test::runPass(text + "  ret\n}\n", compareWithDifferences);
  EXPECT_LT(text.find("and i32"), text.find("max.s")) << text;
  EXPECT_LT(text.find("max.s"), text.find("lt.s")) << text;
}

// Bounds around zero, the sums and the ends of the numbers.
TEST(BoundedSums, CompareAsBefore) {
  std::mt19937_64 random(7);
  std::vector<uint32_t> bounds;
  for (uint32_t center : {0u, 31u, 62u, 1000u, 0x7FFF'FFDFu, 0x7FFF'FFFFu, 0x8000'0000u, 0xFFFF'FFFFu})
    for (uint32_t distance = 0; distance < 5; ++distance) bounds.push_back(center + distance - 2);
  for (int i = 0; i < 100; ++i) bounds.push_back(static_cast<uint32_t>(random()));
  for (const std::string operation : {"lt.s", "le.s", "lt.u", "le.u"}) {
    for (const std::string operands : {"%s, %4", "%4, %s"}) {
      const std::string compare = operation + " bool " + operands;
      std::string plain = compare;
      plain.replace(plain.find("%s"), 2, "%2");
      std::string text = "  %8 = " + plain + "\n  %9 = zext i8 %8\n  store %3, %9 [global]\n";
      unsigned number = 2;
      for (const char* constant : {"1", "31", "33", "1000", "0x7ffffff", "0x7fffffdf"})
        text += item(number++, "%2", constant, compare);
      for (uint32_t bound : bounds) {
        std::string whole = items;
        whole.replace(whole.find("  %4"), std::string::npos,
                      "  %5 = const i32 " + std::to_string(bound) +
                          "\n  store %3, %5 [global]\n  %4 = load i32 %3 [global align 4]\n");
        whole = kernel(whole + text);
        auto program = test::parseIr(whole), before = test::parseIr(whole);
        ASSERT_TRUE(program && before);
        ASSERT_TRUE(passes::compareWithDifferences(*program->functions[0]));
        ASSERT_EQ(ir::verify(*program->functions[0]), "");
        for (uint32_t lane : {0u, 1u, 30u, 31u}) {
          const test::LaneResult expected = test::runLane(*before->functions[0], lane, 100);
          const test::LaneResult actual = test::runLane(*program->functions[0], lane, 100);
          ASSERT_EQ(expected.error + actual.error, "");
          ASSERT_EQ(actual.stores, expected.stores) << "bound " << bound << ", lane " << lane << "\n" << whole;
        }
      }
    }
  }
}

}  // namespace
}  // namespace mulciber
