#include "translator/passes/half_magnitudes.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// A kernel that makes %9 of %1 and %2.
std::string result(const std::string& body) {
  return test::runPass(
      "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load f16 %0 [global align 2]\n"
      "  %2 = load i16 %0 [global align 2]\n" +
          body + "  store %0, %9 [global align 2]\n  ret\n}\n",
      passes::hideHalfMagnitudes);
}
bool hides(const std::string& body) { return result(body).find("GridDimY") != std::string::npos; }

TEST(HalfMagnitudes, AreIntegers) {
  for (const char* body : {"  %9 = fabs f16 %1\n", "  %3 = vec <2 x f16> %1, %1\n  %9 = fabs <2 x f16> %3\n"}) {
    EXPECT_TRUE(hides(body));
    EXPECT_EQ(result(body).find("fabs"), std::string::npos);
  }
}

TEST(HalfMagnitudes, SignBitsToo) {
  EXPECT_TRUE(hides("  %3 = bitcast i16 %1\n  %4 = const i16 0x7fff\n  %9 = and i16 %3, %4\n"));
  EXPECT_TRUE(hides("  %3 = bitcast i16 %1\n  %4 = const i16 0x8000\n  %9 = or i16 %4, %3\n"));
}

TEST(HalfMagnitudes, OtherValuesStay) {
  EXPECT_FALSE(hides("  %4 = const i16 0x7fff\n  %9 = and i16 %2, %4\n"));
  EXPECT_FALSE(hides("  %3 = bitcast i16 %1\n  %4 = const i16 0x7ff0\n  %9 = and i16 %3, %4\n"));
  EXPECT_FALSE(hides("  %3 = bitcast i16 %1\n  %4 = const i16 0x8000\n  %9 = xor i16 %3, %4\n"));
  EXPECT_FALSE(hides("  %9 = fneg f16 %1\n"));
}

}  // namespace
}  // namespace mulciber
