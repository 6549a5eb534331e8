#include "translator/passes/known_sums.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// Whether the sum hides an operand. %1 is loaded, %2 a constant of another lane, %3 and %4 are constants.
bool hides(const std::string& sum, const std::string& before = {}) {
  const std::string text = R"(kernel @k structured ssa {
b0:
  %0 = const i64 64
  %3 = const f32 1.5
  %4 = const f32 3
  %5 = const i32 0
  %1 = load f32 %5 [shared align 4]
  %2 = shuffle f32 %3, %5
)" + before + "  %9 = " + sum +
                           "\n  store %0, %9 [global]\n  ret\n}\n";
  return test::runPass(text, passes::hideKnownSums).find("xor") != std::string::npos;
}

TEST(KnownSums, AreHidden) {
  EXPECT_TRUE(hides("fadd f32 %2, %4"));
  EXPECT_TRUE(hides("fsub f32 %4, %2"));
  EXPECT_TRUE(hides("fadd f32 %2, %2"));
  EXPECT_TRUE(hides("fadd f32 %8, %4", "  %6 = fconvert f64 %3\n  %8 = fconvert f32 %6\n"));
  EXPECT_TRUE(hides("fadd f32 %8, %4", "  %6 = sub i32 %5, %5\n  %7 = shuffle i32 %6, %5\n  %8 = bitcast f32 %7\n"));
}

TEST(KnownSums, OthersStay) {
  EXPECT_FALSE(hides("fadd f32 %1, %4"));
  EXPECT_FALSE(hides("fsub f32 %2, %1"));
  EXPECT_FALSE(hides("fmul f32 %2, %4"));
  EXPECT_FALSE(hides("fadd f32 %3, %4"));
  // What is chosen beside zeros does not make sums that are rounded.
}

// What is chosen beside zeros, or numbers that are not known, makes no sum that is worked out and rounded.
TEST(KnownSums, NorDoChoicesCount) {
  const auto choice = [](const std::string& number) {
    return "  %10 = flt bool %1, %3\n  %6 = const f32 0\n  %7 = select f32 %10, " + number +
           "\n  %8 = shuffle f32 %7, %5\n";
  };
  EXPECT_FALSE(hides("fadd f32 %8, %4", choice("%6, %1")));
  EXPECT_FALSE(hides("fadd f32 %8, %4", choice("%3, %1")));
  EXPECT_FALSE(hides("fadd f32 %8, %7", choice("%6, %6")));
  EXPECT_TRUE(hides("fadd f32 %8, %4", choice("%3, %4")));
  EXPECT_TRUE(hides("fadd f32 %8, %4", "  %11 = const f32 0x7fffffff\n" + choice("%3, %11")));
}

}  // namespace
}  // namespace mulciber
