#include "translator/passes/loop_invariants.h"

#include <regex>

#include "support/run_pass.h"

namespace mulciber {
namespace {

// A loop that lanes leave at two places. %4, %5 and %6 are the same in each round; %9 is what they leave with.
std::string loop(const std::string& chosen, const std::string& behind) {
  return R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 48
  %2 = const i32 1
  br b1
b1:
  %3 = phi i32 [%0, b0], [%10, b8]
  loop b9 continue b8
  br b2
b2:
  %4 = add i32 %0, %1
  %5 = not i32 %4
  %6 = sub i32 %5, %0
  %10 = sub i32 %3, %2
  %7 = eq bool %10, %0
  merge b4
  br %7, b3, b4
b3:
  br b9
b4:
  %8 = le.s bool %10, %1
  merge b6
  br %8, b5, b6
b5:
  br b9
b6:
  br b7
b7:
  br b8
b8:
  br b1
b9:
  %9 = phi i32 [)" +
         chosen + R"(, b3], [%1, b5]
  store %9, )" +
         behind + R"( [shared]
  ret
})";
}

std::string told(const std::string& text) { return test::runPass(text, passes::tellRoundsApart); }
bool changes(const std::string& text) { return told(text).find("GridDimY") != std::string::npos; }

// Lanes that have left with %1 may have it in the register of what %6 is made of when the others make %6 again.
TEST(LoopInvariants, WhatEachRoundMakesAlikeIsTakenFromTheRoundThatALaneLeaves) {
  EXPECT_TRUE(changes(loop("%5", "%6")));
  EXPECT_TRUE(changes(loop("%4", "%6")));
  EXPECT_TRUE(changes(loop("%0", "%6")));   // made before the loop
  EXPECT_TRUE(changes(loop("%10", "%6")));  // the loop may lie in another, whose next round has the register
}

TEST(LoopInvariants, TheCopyIsMadeInTheLoopWithWhatItCarries) {
  const std::string text = told(loop("%5", "%6"));
  std::smatch carried, copy;
  ASSERT_TRUE(
      std::regex_search(text, carried, std::regex("(%[0-9]+) = phi i32 \\[(%[0-9]+), b0\\], \\[(%[0-9]+), b8\\]\n")))
      << text;
  const std::string zero = carried[1], first = carried[2], next = carried[3];
  EXPECT_NE(text.find(next + " = xor i32 " + zero + ", " + first), std::string::npos) << text;
  ASSERT_TRUE(std::regex_search(text, copy,
                                std::regex("(%[0-9]+) = sub i32 .*\n *(%[0-9]+) = xor i32 (%[0-9]+), " + zero + "\n")))
      << text;
  EXPECT_EQ(copy[1], copy[3]) << text;
  EXPECT_NE(text.find(", " + std::string(copy[2]) + " [shared]"), std::string::npos) << text;
}

// Two numbers of 64 bits, as instructions of 128 bits have them: no integer is as wide.
TEST(LoopInvariants, EachNumberOfAVectorIsTakenByItself) {
  const std::string pair = "%11 = zext i64 %5\n  %6 = vec <2 x i64> %11, %11";
  const std::string text = told(std::regex_replace(loop("%5", "%6"), std::regex("%6 = sub i32 %5, %0"), pair));
  EXPECT_EQ(text.find("i128"), std::string::npos) << text;
  EXPECT_TRUE(std::regex_search(
      text, std::regex("extract i64 .*\n.* = xor i64 .*\n.* = extract i64 .*\n.* = xor i64 .*\n.* = vec <2 x i64>")))
      << text;
}

TEST(LoopInvariants, OthersStay) {
  EXPECT_FALSE(changes(loop("%5", "%10")));  // differs from round to round
  EXPECT_FALSE(changes(loop("%5", "%9")));   // chosen where lanes leave
  EXPECT_FALSE(changes(loop("%5", "%0")));   // made before the loop
}

}  // namespace
}  // namespace mulciber
