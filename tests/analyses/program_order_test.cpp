#include "translator/analyses/program_order.h"

#include <gtest/gtest.h>

#include "support/run_pass.h"

namespace mulciber::analyses {
namespace {

// The names of the blocks in program order.
std::string order(const std::string& body) {
  auto program = test::parseIr("kernel @k {\n" + body + "}\n");
  std::string names;
  if (program)
    for (const ir::Block* block : programOrder(*program->functions[0])) names += block->name + " ";
  return names;
}

TEST(ProgramOrder, BranchesComeBeforeWhereTheyMeet) {
  EXPECT_EQ(order("b0 \"entry\":\n  %0 = const bool true\n  br %0, b1, b2\nb1 \"meet\":\n  ret\n"
                  "b2 \"branch\":\n  br b1\n"),
            "entry branch meet ");
}

TEST(ProgramOrder, WhatFollowsALoopComesAfterAllOfIt) {
  // The loop is left from its middle, and the way out is the first target everywhere.
  EXPECT_EQ(order("b0 \"entry\":\n  %0 = const bool true\n  br b1\nb1 \"header\":\n  br %0, b3, b2\n"
                  "b2 \"middle\":\n  br %0, b5, b4\nb3 \"other\":\n  br b4\nb4 \"latch\":\n  br b1\n"
                  "b5 \"after\":\n  ret\n"),
            "entry header middle other latch after ");
}

TEST(ProgramOrder, LoopsWithinLoopsStandTogether) {
  EXPECT_EQ(order("b0 \"entry\":\n  %0 = const bool true\n  br b1\nb1 \"outer\":\n  br b2\n"
                  "b2 \"inner\":\n  br %0, b4, b3\nb3 \"body\":\n  br b2\nb4 \"end\":\n  br %0, b5, b1\n"
                  "b5 \"after\":\n  ret\n"),
            "entry outer inner body end after ");
}

TEST(ProgramOrder, TakesALoopOfTwoEntries) {
  EXPECT_EQ(order("b0 \"entry\":\n  %0 = const bool true\n  br %0, b1, b2\nb1 \"a\":\n  br %0, b2, b3\n"
                  "b2 \"b\":\n  br b1\nb3 \"after\":\n  ret\n"),
            "entry a b after ");
}

}  // namespace
}  // namespace mulciber::analyses
