#include "translator/passes/repeated_checks.h"

#include "passes/flushing_device.h"
#include "support/run_pass.h"

namespace mulciber {
namespace {

using test::count;

size_t checksLeft(const std::string& text) {
  return count(test::runPass(text, passes::removeRepeatedChecks), "  br %");
}

// v0 is written once; each check reads it anew, as instructions of PTX do.
TEST(RepeatedChecks, MakesACheckOfTheSameRegisterOnce) {
  EXPECT_EQ(test::runPass(R"(kernel @k {
  var v0 i32
b0:
  %0 = const i32 16
  %1 = load i32 %0 [param align 4]
  write v0, %1
  %2 = read i32 v0
  %3 = const i32 7
  %4 = eq bool %2, %3
  br %4, b1, b2
b1:
  fence [device]
  ret
b2:
  %5 = read i32 v0
  %6 = const i32 7
  %7 = eq bool %5, %6
  br %7, b3, b4
b3:
  fence [device]
  ret
b4:
  fence [block]
  ret
})",
                          passes::removeRepeatedChecks),
            R"(kernel @k {
  var v0 i32
b0:
  %0 = const i32 16
  %1 = load i32 %0 [param align 4]
  write v0, %1
  %2 = read i32 v0
  %3 = const i32 7
  %4 = eq bool %2, %3
  br %4, b1, b2
b1:
  fence [device]
  ret
b2:
  %5 = read i32 v0
  %6 = const i32 7
  %7 = eq bool %5, %6
  br b3
b3:
  fence [block]
  ret
}
)");
}

// Two checks of v0 against 7; what stands between them is given.
std::string twoChecks(const std::string& between) {
  return R"(kernel @k {
  var v0 i32
b0:
  %0 = input i32 ThreadIdX
  write v0, %0
  %1 = const i32 7
  %2 = const i64 64
  %3 = read i32 v0
  %4 = eq bool %3, %1
  br %4, b1, b2
b1:
  ret
b2:
)" + between +
         R"(  %20 = read i32 v0
  %21 = eq bool %20, %1
  br %21, b3, b4
b3:
  ret
b4:
  fence [block]
  ret
})";
}

TEST(RepeatedChecks, KnowsNoRegisterThatIsWrittenTwice) {
  EXPECT_EQ(checksLeft(twoChecks("")), 1u);
  EXPECT_EQ(checksLeft(twoChecks("  write v0, %1\n")), 2u);
}

TEST(RepeatedChecks, KnowsOnlyLoadsOfWhatDoesNotChange) {
  const auto loads = [](const std::string& access) {
    const std::string check = "  %A = load i32 %0 [" + access + "]\n  %B = eq bool %A, %1\n";
    const auto numbered = [&](const std::string& a, const std::string& b) {
      std::string text = check;
      text.replace(text.find("%A"), 2, a).replace(text.find("%A"), 2, a);
      for (size_t at; (at = text.find("%B")) != std::string::npos;) text.replace(at, 2, b);
      return text;
    };
    return checksLeft("kernel @k {\nb0:\n  %0 = const i64 64\n  %1 = const i32 7\n" + numbered("%2", "%3") +
                      "  br %3, b1, b2\nb1:\n  ret\nb2:\n" + numbered("%4", "%5") +
                      "  br %5, b3, b4\nb3:\n  ret\nb4:\n  fence [block]\n  ret\n}");
  };
  EXPECT_EQ(loads("global readonly align 4"), 1u);
  EXPECT_EQ(loads("global align 4"), 2u);
  EXPECT_EQ(loads("global readonly volatile align 4"), 2u);
}

// In a loop: what is checked was written in the round before, or in the same one.
TEST(RepeatedChecks, TakesNoRoundForAnother) {
  const auto loop = [](const std::string& first, const std::string& last) {
    return checksLeft(R"(kernel @k {
  var v0 i32
  var v1 i32
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 7
  %2 = const i64 64
  write v1, %0
  %3 = eq bool %0, %1
  br %3, b5, b1
b1:
)" + first + R"(  %10 = read i32 v0
  %11 = eq bool %10, %1
  br %11, b5, b2
b2:
  %12 = read i32 v0
  %13 = eq bool %12, %1
  br %13, b5, b3
b3:
)" + last + R"(  br b1
b5:
  ret
})");
  };
  const std::string write = "  %5 = load i32 %2 [global align 4]\n  write v0, %5\n";
  EXPECT_EQ(loop(write, ""), 2u);
  EXPECT_EQ(loop("", write), 3u);
}

// A side that other blocks lead to as well decides nothing.
TEST(RepeatedChecks, ASideWithAnotherWayInKnowsNothing) {
  EXPECT_EQ(checksLeft(R"(kernel @k {
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 7
  %2 = eq bool %0, %1
  %3 = ne bool %0, %1
  br %2, b1, b2
b1:
  fence [block]
  br b2
b2:
  br %2, b3, b4
b3:
  ret
b4:
  br %3, b5, b6
b5:
  fence [device]
  ret
b6:
  ret
})"),
            3u);
}

}  // namespace
}  // namespace mulciber
