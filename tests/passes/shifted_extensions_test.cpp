#include "translator/passes/shifted_extensions.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// Whether anything is hidden of a kernel that makes %9 of %1, a number of the type that was loaded.
bool hides(const std::string& type, const std::string& body) {
  const std::string text = "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load " + type +
                           " %0 [global align 2]\n  %8 = const i32 4\n" + body +
                           "  store %0, %9 [global align 2]\n  ret\n}\n";
  return test::runPass(text, passes::hideShiftedExtensions).find("GridDimY") != std::string::npos;
}

TEST(ShiftedExtensions, OfNarrowNumbersAreHidden) {
  for (const char* shift : {"shl", "shr.u", "shr.s", "mul"})
    EXPECT_TRUE(hides("i16", std::string("  %2 = sext i32 %1\n  %9 = ") + shift + " i32 %2, %8\n")) << shift;
  EXPECT_TRUE(hides("i8", "  %2 = sext i64 %1\n  %9 = shr.u i64 %2, %8\n"));
  EXPECT_TRUE(hides("i16", "  %2 = sext i32 %1\n  %3 = sext i64 %2\n  %9 = shl i64 %3, %8\n"));
  EXPECT_TRUE(hides("i16", "  %2 = sext i32 %1\n  %9 = bits.u i32 %2, %8, %8\n"));
}

TEST(ShiftedExtensions, AreHiddenWhereOnlyTheSignIsAskedFor) {
  EXPECT_TRUE(hides("i16", R"(  %2 = sext i32 %1
  %3 = const i32 0
  %4 = lt.s bool %2, %3
  %9 = select i32 %4, %8, %3
)"));
}

TEST(ShiftedExtensions, SignsOfNarrowNumbersAreAskedForWithoutThem) {
  const std::string text = test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i64 LaunchState
  %1 = load i16 %0 [global align 2]
  %2 = const i16 0
  %3 = lt.s bool %1, %2
  %4 = le.s bool %2, %1
  %5 = const i32 1
  %6 = select i32 %3, %5, %5
  %7 = select i32 %4, %6, %5
  store %0, %7 [global align 4]
  ret
}
)",
                                         passes::hideShiftedExtensions);
  EXPECT_EQ(text.find(".s bool"), std::string::npos) << text;
  EXPECT_NE(text.find("const i32 32767"), std::string::npos) << text;
}

TEST(ShiftedExtensions, AreHiddenWhereOneOfSeveralIsExtended) {
  EXPECT_TRUE(hides("i16", R"(  %2 = sext i32 %1
  %3 = const bool 1
  %4 = select i32 %3, %8, %2
  %9 = shr.s i32 %4, %8
)"));
}

TEST(ShiftedExtensions, ShiftsOf16BitsAreMadeIn32) {
  const std::string text = test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i64 LaunchState
  %1 = load i16 %0 [global align 2]
  %2 = const i32 4
  %3 = shr.s i16 %1, %2
  store %0, %3 [global align 2]
  ret
}
)",
                                         passes::hideShiftedExtensions);
  EXPECT_EQ(text.find("shr.s i16"), std::string::npos) << text;
  EXPECT_NE(text.find("shr.s i32"), std::string::npos) << text;
}

TEST(ShiftedExtensions, OthersStay) {
  EXPECT_FALSE(hides("i32", "  %9 = shr.s i32 %1, %8\n"));
  EXPECT_FALSE(hides("i32", "  %2 = sext i64 %1\n  %9 = shl i64 %2, %8\n"));
  EXPECT_FALSE(hides("i16", "  %2 = zext i32 %1\n  %9 = shl i32 %2, %8\n"));
  EXPECT_FALSE(hides("i16", "  %2 = sext i32 %1\n  %9 = add i32 %2, %8\n"));
  EXPECT_FALSE(hides("i16", "  %2 = sext i32 %1\n  %9 = shr.s i32 %8, %2\n"));
}

}  // namespace
}  // namespace mulciber
