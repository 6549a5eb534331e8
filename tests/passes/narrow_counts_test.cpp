#include "translator/passes/narrow_counts.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// Whether anything is hidden of a kernel that makes %9 of %1, a number of the type that was loaded.
bool hides(const std::string& type, const std::string& body) {
  const std::string text = "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load " + type +
                           " %0 [global align 2]\n" + body + "  store %0, %9 [global align 4]\n  ret\n}\n";
  return test::runPass(text, passes::hideNarrowCounted).find("GridDimY") != std::string::npos;
}

TEST(NarrowCounts, OfExtendedNumbersAreHidden) {
  EXPECT_TRUE(hides("i16", "  %2 = zext i64 %1\n  %9 = popcount i32 %2\n"));
  EXPECT_TRUE(hides("i16", "  %2 = zext i32 %1\n  %9 = popcount i32 %2\n"));
  EXPECT_TRUE(hides("i8", "  %2 = zext i32 %1\n  %3 = zext i64 %2\n  %9 = popcount i32 %3\n"));
}

TEST(NarrowCounts, AlsoWhereOnlyOneOfSeveralIsExtended) {
  EXPECT_TRUE(hides("i16", R"(  %2 = zext i64 %1
  %3 = const i64 77
  %4 = const bool 1
  %5 = select i64 %4, %3, %2
  %9 = popcount i32 %5
)"));
}

TEST(NarrowCounts, OthersStay) {
  EXPECT_FALSE(hides("i32", "  %9 = popcount i32 %1\n"));
  EXPECT_FALSE(hides("i32", "  %2 = zext i64 %1\n  %9 = popcount i32 %2\n"));
  EXPECT_FALSE(hides("i16", "  %2 = sext i32 %1\n  %9 = add i32 %2, %2\n"));
}

}  // namespace
}  // namespace mulciber
