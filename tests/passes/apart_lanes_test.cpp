// Which kernels have lanes of one warp that wait at different places of the code.
#include "translator/passes/apart_lanes.h"

#include <gtest/gtest.h>

#include "support/run_pass.h"

namespace mulciber::passes {
namespace {

template <class Question>
bool ask(const std::string& body, const Question& question) {
  auto program = test::parseIr("kernel @k {\n" + body + "}\n");
  return program && question(*program->functions[0]);
}

// What `condition` makes of a thread's number %0 decides between two sides, which end in a common one.
std::string branch(const std::string& condition, const std::string& first, const std::string& second,
                   const std::string& after = "") {
  return "b0:\n  %0 = input i32 LocalIndex\n  %1 = const i32 64\n  %2 = const i32 1\n  %3 = const i32 5\n" + condition +
         "  br %9, b1, b2\nb1:\n" + first + "  br b3\nb2:\n" + second + "  br b3\nb3:\n" + after + "  ret\n";
}
constexpr const char* byLane = "  %8 = and i32 %0, %2\n  %9 = eq bool %8, %2\n";
constexpr const char* byWarp = "  %9 = lt.u bool %0, %1\n";
constexpr const char* byWarpNumber = "  %8 = shr.u i32 %0, %3\n  %9 = eq bool %8, %2\n";
constexpr const char* byBlock = "  %8 = input i32 BlockIdX\n  %9 = eq bool %8, %2\n";
constexpr const char* apart = "  barrier apart\n";
constexpr const char* aligned = "  barrier\n";

bool areApart(const std::string& body) { return ask(body, haveBarriersApart); }

TEST(ApartLanes, BarriersOnTwoSidesOfABranch) {
  EXPECT_TRUE(areApart(branch(byLane, apart, apart)));
  EXPECT_TRUE(areApart(branch(byLane, apart, "", apart)));
  EXPECT_TRUE(areApart(branch(byLane, apart, aligned)));
  EXPECT_FALSE(areApart(branch(byLane, aligned, aligned)));
}

TEST(ApartLanes, WholeWarpsOnEachSide) {
  for (const char* condition : {byWarp, byWarpNumber, byBlock}) EXPECT_FALSE(areApart(branch(condition, apart, apart)));
}

TEST(ApartLanes, ThoseThatEndAreNotWaitedFor) {
  EXPECT_FALSE(areApart(branch(byLane, "", "", apart)));
  EXPECT_FALSE(areApart(branch(byLane, apart, "")));
}

// The header b1 is left by a lane's own count where `condition` says so; the barrier stands in the loop or behind it.
std::string loop(const std::string& inside, const std::string& behind) {
  return "  var v0 i32 \"i\"\nb0:\n  %0 = input i32 LocalIndex\n  %1 = const i32 0\n  write v0, %1\n  br b1\n"
         "b1:\n  %2 = read i32 v0\n  %3 = lt.u bool %2, %0\n  br %3, b2, b3\nb2:\n" +
         inside + "  %4 = const i32 1\n  %5 = add i32 %2, %4\n  write v0, %5\n  br b1\nb3:\n" + behind + "  ret\n";
}

TEST(ApartLanes, LoopsThatLanesLeaveAtDifferentTimes) {
  EXPECT_TRUE(areApart(loop(apart, apart)));
  EXPECT_FALSE(areApart(loop(apart, "")));
  EXPECT_FALSE(areApart(loop("", apart)));
}

TEST(ApartLanes, TheSameBarrierARoundLater) {
  EXPECT_TRUE(
      areApart("b0:\n  %0 = input i32 LocalIndex\n  %1 = const i32 1\n  br b1\nb1:\n"
               "  %2 = load i32 %1 [shared volatile align 4]\n  %3 = and i32 %2, %0\n  %4 = eq bool %3, %1\n"
               "  br %4, b1, b2\nb2:\n  barrier apart\n  br b1\n"));
}

// Waits until the word at `place` has been written.
std::string wait(const std::string& label, const std::string& next, const std::string& place) {
  return "  br " + label + "\n" + label + ":\n  " + place + "  %7" + label.substr(1) +
         " = load i32 %4 [shared volatile align 4]\n  %6" + label.substr(1) + " = eq bool %7" + label.substr(1) +
         ", %2\n  br %6" + label.substr(1) + ", " + next + ", " + label + "\n" + next + ":\n";
}
constexpr const char* place = "  %4 = const i32 128\n";
constexpr const char* signal = "  store %4, %2 [shared volatile align 4]\n";

bool waits(const std::string& body) { return ask(body, waitForEachOther); }

TEST(ApartLanes, OneSideWaitsForTheOther) {
  const std::string waiting = wait("b5", "b6", "");
  EXPECT_TRUE(waits(branch(std::string(place) + byLane, waiting, signal)));
  EXPECT_TRUE(waits(branch(std::string(place) + byLane, signal, waiting)));
  EXPECT_FALSE(waits(branch(std::string(place) + byWarp, waiting, signal)));
  EXPECT_FALSE(waits(branch(std::string(place) + byLane, waiting + signal, "")));
  EXPECT_FALSE(waits(branch(std::string(place) + byLane, signal, "", waiting)));
  EXPECT_FALSE(waits(branch(std::string(place) + byLane, waiting, "  store %4, %2 [shared align 4]\n")));
}

}  // namespace
}  // namespace mulciber::passes
