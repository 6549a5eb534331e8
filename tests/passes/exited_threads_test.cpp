// Which kernels need barriers that do not wait for threads that have ended.
#include "translator/passes/exited_threads.h"

#include <gtest/gtest.h>

#include "support/run_pass.h"

namespace mulciber::passes {
namespace {

// Whether threads of the kernel may come to a barrier when others have ended.
bool isMissed(const std::string& body) {
  auto program = test::parseIr("kernel @k structured ssa {\n" + body + "}\n");
  return program && findBarrierWithoutExited(*program->functions[0]);
}

// if (value < 7) { first } second
std::string guarded(const std::string& value, const std::string& first, const std::string& second) {
  return "b0:\n  %0 = const i32 7\n  %1 = const i64 4096\n" + value + "  %3 = lt.u bool %2, %0\n  merge b2\n" +
         "  br %3, b1, b2\nb1:\n" + first + "  br b2\nb2:\n" + second + "  ret\n";
}
constexpr const char* thread = "  %2 = input i32 LocalIndex\n";
constexpr const char* block = "  %2 = input i32 BlockIdX\n";
constexpr const char* barrier = "  barrier\n";
constexpr const char* store = "  store %1, %0 [global align 4]\n";

TEST(ExitedThreads, AReturnBeforeABarrierIsRefused) { EXPECT_TRUE(isMissed(guarded(thread, barrier, ""))); }

TEST(ExitedThreads, AReturnOfTheWholeBlockIsNot) { EXPECT_FALSE(isMissed(guarded(block, barrier, ""))); }

TEST(ExitedThreads, AReturnInAKernelWithoutBarriersIsNot) { EXPECT_FALSE(isMissed(guarded(thread, store, ""))); }

TEST(ExitedThreads, ThreadsThatMeetAgainBeforeTheBarrierAreNot) {
  EXPECT_FALSE(isMissed(guarded(thread, store, barrier)));
}

TEST(ExitedThreads, AReturnAfterTheLastBarrierIsNot) {
  EXPECT_FALSE(isMissed(guarded(std::string(thread) + barrier, store, "")));
}

TEST(ExitedThreads, WhatABlockReadsTogetherIsTheSameForAll) {
  EXPECT_FALSE(isMissed(guarded("  %2 = load i32 %1 [global align 4]\n", barrier, "")));
  EXPECT_TRUE(isMissed(guarded("  %2 = load i32 %1 [global volatile align 4]\n", barrier, "")));
  EXPECT_TRUE(isMissed(guarded("  %2 = load i32 %1 [global relaxed device align 4]\n", barrier, "")));
  EXPECT_TRUE(isMissed(guarded("  %2 = atomic.add i32 %1, %0 [global relaxed device align 4]\n", barrier, "")));
  EXPECT_TRUE(isMissed(
      guarded("  %4 = input i32 LocalIndex\n  %5 = zext i64 %4\n  %2 = load i32 %5 [global align 4]\n", barrier, "")));
}

TEST(ExitedThreads, AValueChosenByThreadsThatWentApartDiffers) {
  auto chosenBy = [](const std::string& value) {
    return isMissed("b0:\n  %0 = const i32 7\n  %1 = const i32 9\n" + value +
                    "  %3 = lt.u bool %2, %0\n  merge b2\n  br %3, b1, b2\nb1:\n  br b2\nb2:\n"
                    "  %4 = phi i32 [%0, b0], [%1, b1]\n  %5 = eq bool %4, %0\n  merge b4\n  br %5, b3, b4\nb3:\n"
                    "  barrier\n  br b4\nb4:\n  ret\n");
  };
  EXPECT_TRUE(chosenBy(thread));
  EXPECT_FALSE(chosenBy(block));
}

// for (i = 0; i < value; i++) { body }
std::string loop(const std::string& value, const std::string& body, const std::string& tail = "") {
  return "b0:\n  %0 = const i32 0\n  %1 = const i32 1\n  %9 = const i64 4096\n" + value +
         "  br b1\nb1:\n  %3 = phi i32 [%0, b0], [%4, b6]\n  loop b5 continue b6\n  br b2\n"
         "b2:\n  %5 = lt.u bool %3, %2\n  merge b4\n  br %5, b4, b3\nb3:\n  br b5\nb4:\n" +
         body + "  br b6\nb6:\n  %4 = add i32 %3, %1\n  br b1\nb5:\n" + tail + "  ret\n";
}

TEST(ExitedThreads, RoundsOfALoopThatAllGoTogetherAreNotRefused) {
  EXPECT_FALSE(isMissed(loop(block, barrier)));
  EXPECT_FALSE(isMissed(loop(block, barrier, std::string(barrier) + "  store %9, %3 [global align 4]\n")));
}

TEST(ExitedThreads, ALoopThatThreadsLeaveAtDifferentRoundsIsRefused) {
  EXPECT_TRUE(isMissed(loop(thread, barrier)));
  EXPECT_FALSE(isMissed(loop(thread, "")));
}

TEST(ExitedThreads, ThreadsThatMeetAgainWithinARoundAreNotRefused) {
  auto round = [](const std::string& first, const std::string& apart) {
    return first + "  %6 = input i32 LocalIndex\n  %7 = eq bool %6, %1\n  merge b8\n  br %7, b7, b8\nb7:\n" + apart +
           "  br b8\nb8:\n";
  };
  EXPECT_FALSE(isMissed(loop(block, round(barrier, "  store %9, %6 [global align 4]\n"))));
  EXPECT_TRUE(isMissed(loop(block, round("", barrier))));
}

TEST(ExitedThreads, WhatIsReadInALoopDiffersWhereItIsLeftAtDifferentRounds) {
  // The counter is the same for all in each round, yet not for those that have left the loop.
  auto afterLoop = [](const char* bound) {
    return isMissed(
        loop(bound, "", "  %6 = eq bool %3, %1\n  merge b8\n  br %6, b7, b8\nb7:\n  barrier\n  br b8\nb8:\n"));
  };
  EXPECT_TRUE(afterLoop(thread));
  EXPECT_FALSE(afterLoop(block));
}

}  // namespace
}  // namespace mulciber::passes
