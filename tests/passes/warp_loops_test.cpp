#include "translator/passes/warp_loops.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// A loop that is left by %5, with `body` in it.
std::string joined(const std::string& body, const std::string& condition) {
  return test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i64 LaunchState
  %1 = load i32 %0 [global align 4]
  %2 = input i32 LocalIndex
  %3 = const i32 3
  br b1
b1:
  %4 = phi i32 [%3, b0], [%6, b2]
)" + body + "  %5 = eq bool " +
                           condition +
                           R"(
  loop b3 continue b2
  br %5, b3, b2
b2:
  %6 = add i32 %4, %3
  br b1
b3:
  store %0, %4 [global align 4]
  ret
}
)",
                       passes::joinLanesBehindLoops);
}

TEST(WarpLoops, LanesAreJoinedBehindALoopThatTheyLeaveApart) {
  const std::string text = joined("  %7 = eq bool %4, %3\n  %8 = ballot i32 %7\n", "%4, %2");
  EXPECT_NE(text.find("b3:\n  warpbarrier\n"), std::string::npos) << text;
}

TEST(WarpLoops, OthersStay) {
  EXPECT_EQ(joined("", "%4, %2").find("warpbarrier"), std::string::npos);
  EXPECT_EQ(joined("  %7 = eq bool %4, %3\n  %8 = ballot i32 %7\n", "%4, %3").find("warpbarrier"), std::string::npos);
}

}  // namespace
}  // namespace mulciber
