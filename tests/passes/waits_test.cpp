// Where threads wait by looking at memory, and where they only look.
#include "translator/passes/waits.h"

#include <gtest/gtest.h>

#include "support/run_pass.h"

namespace mulciber {
namespace {

// The loop reads a word by `load` and is left when it is not zero, or after `rounds` rounds.
std::string yieldsOf(const std::string& load, const std::string& exit) {
  auto program = test::parseIr(R"(kernel @k {
  var v0 i64 "place"
  var v1 i32 "word"
  var v2 i32 "rounds"
b0:
  br b1
b1:
  %0 = read i64 v0
  %1 = trunc i32 %0
  )" + load + R"(
  write v1, %2
  br b2
b2:
  %3 = read i32 v2
  %4 = const i32 1
  %5 = add i32 %3, %4
  write v2, %5
  %6 = read i32 )" + exit + R"(
  %7 = const i32 0
  %8 = eq bool %6, %7
  br %8, b1, b3
b3:
  ret
})");
  EXPECT_TRUE(program);
  if (!program) return {};
  const bool has = passes::yieldInWaits(*program);
  const std::string text = ir::print(*program->functions[0]);
  const size_t yield = text.find("  yield\n");
  EXPECT_EQ(has, yield != std::string::npos) << text;
  return has ? text.substr(yield + 8, text.find('\n', yield + 8) - yield - 8) : "";
}

TEST(Waits, AFlagOfTheBlock) {
  const std::string flag = "%2 = load i32 %1 [shared volatile align 4]";
  EXPECT_EQ(yieldsOf(flag, "v1"), "  " + flag);
  EXPECT_NE(yieldsOf("%2 = load i32 %1 [shared acquire block align 4]", "v1"), "");
  EXPECT_NE(yieldsOf("%2 = load i32 %0 [generic acquire block align 4]", "v1"), "");
  EXPECT_NE(yieldsOf("%2 = load i32 %0 [global acquire block align 4]", "v1"), "");
}

TEST(Waits, OtherBlocksRunAnyway) {
  EXPECT_EQ(yieldsOf("%2 = load i32 %0 [global volatile align 4]", "v1"), "");
  EXPECT_EQ(yieldsOf("%2 = load i32 %0 [global acquire device align 4]", "v1"), "");
}

TEST(Waits, LoopsThatDoNotWait) {
  EXPECT_EQ(yieldsOf("%2 = load i32 %1 [shared align 4]", "v1"), "");           // nobody else writes it
  EXPECT_EQ(yieldsOf("%2 = load i32 %1 [shared volatile align 4]", "v2"), "");  // left by a count
}

// A thread that fails to get a user's lock yields: who has it may have stopped. Our own locks are given back before
// that.
TEST(Waits, LocksOfWideAtomics) {
  const auto yields = [](const std::string& lock) {
    auto program = test::parseIr(R"(kernel @k {
b0:
  %0 = const i64 64
  %1 = input i64 LaunchState
  %2 = add i64 %1, %0
  %3 = load i64 %2 [global readonly align 8]
  %5 = const i32 0
  %4 = load i64 %5 [param align 8]
  %6 = const i32 1
  br b1
b1:
  %7 = add i64 )" + lock + R"(, %0
  %8 = atomic.cas i32 %7, %5, %6 [global acquire device align 4]
  %9 = eq bool %8, %5
  br %9, b2, b3
b2:
  %10 = atomic.exchange i32 %7, %5 [global release device align 4]
  br b3
b3:
  %11 = ne bool %8, %5
  br %11, b1, b4
b4:
  ret
})");
    EXPECT_TRUE(program);
    if (!program) return false;
    passes::yieldInLocks(*program);
    return ir::print(*program->functions[0]).find("  yield\n") != std::string::npos;
  };
  EXPECT_TRUE(yields("%4"));
  EXPECT_FALSE(yields("%3"));
}

// Loops around a call may wait by what it loads: one yield in each call is enough, and none where no loop calls.
TEST(Waits, FunctionsThatLoad) {
  const auto yields = [](const std::string& again) {
    auto program = test::parseIr(R"(kernel @k {
  var v0 i32 "word"
b0:
  br b1
b1:
  call @f returns v0
  %0 = read i32 v0
  %1 = const i32 0
  %2 = eq bool %0, %1
  br %2, )" + again + R"(, b2
b2:
  ret
}
function @f {
  var v0 i32 "first"
  var v1 i32 "both"
  returns v1
b0:
  %0 = const i32 64
  %1 = load i32 %0 [shared volatile align 4]
  write v0, %1
  %2 = load i32 %0 [shared volatile align 4]
  %3 = read i32 v0
  %4 = add i32 %2, %3
  write v1, %4
  ret
})");
    EXPECT_TRUE(program);
    if (!program) return size_t{0};
    passes::yieldInWaits(*program, true);
    const std::string text = ir::print(*program->functions[1]);
    size_t count = 0;
    for (size_t at = 0; (at = text.find("  yield\n", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(yields("b1"), 1u);
  EXPECT_EQ(yields("b2"), 0u);
}

}  // namespace
}  // namespace mulciber
