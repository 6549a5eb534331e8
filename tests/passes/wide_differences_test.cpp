#include "translator/passes/wide_differences.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// Whether anything is hidden of a kernel that makes %9 of %1 and %2.
bool hides(const std::string& type, const std::string& body) {
  const std::string text = "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load " + type +
                           " %0 [global align 8]\n  %2 = load " + type + " %0 [global align 8]\n" + body +
                           "  store %0, %9 [global align 8]\n  ret\n}\n";
  return test::runPass(text, passes::hideWideSums).find("GridDimY") != std::string::npos;
}

TEST(WideDifferences, TheirSumsAreHidden) {
  EXPECT_TRUE(hides("i64", "  %3 = add i64 %1, %1\n  %9 = sub i64 %3, %2\n"));
  EXPECT_TRUE(hides("i64", "  %3 = add i64 %1, %1\n  %9 = sub i64 %2, %3\n"));
  EXPECT_TRUE(hides("i64", "  %3 = sub i64 %1, %2\n  %9 = add i64 %3, %1\n"));
  EXPECT_TRUE(hides("i64", "  %3 = sub i64 %1, %2\n  %9 = sub i64 %3, %1\n"));
}

TEST(WideDifferences, OthersStay) {
  EXPECT_FALSE(hides("i64", "  %3 = add i64 %1, %1\n  %9 = add i64 %3, %2\n"));
  EXPECT_FALSE(hides("i64", "  %3 = xor i64 %1, %1\n  %9 = sub i64 %3, %2\n"));
  EXPECT_FALSE(hides("i32", "  %3 = add i32 %1, %1\n  %9 = sub i32 %3, %2\n"));
}

}  // namespace
}  // namespace mulciber
