#include "translator/passes/constant_zeros.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

std::string protect(const std::string& operation) {
  return test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = const i64 64
  %1 = load f32 %0 [global]
  %2 = const f32 0x0
  %3 = const f32 0x80000000
  %4 = const f32 0x3f800000
  )" + operation + R"(
  store %0, %5 [global]
  ret
})",
                       passes::protectConstantZeros);
}

bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

TEST(ConstantZeros, SumsAreNoMinusZero) {
  for (const char* operation :
       {"fadd f32 %1, %2", "fadd f32 %2, %1", "fsub f32 %2, %1", "fsub f32 %1, %3", "fma f32 %1, %4, %2"}) {
    const std::string text = protect(std::string("%5 = ") + operation);
    EXPECT_TRUE(has(text, operation)) << text;
    EXPECT_TRUE(has(text, "= select")) << text;
  }
}

TEST(ConstantZeros, QuotientsAreMadeOfOtherOperations) {
  for (const char* operation : {"fdiv f32 %1, %2", "fdiv f32 %1, %3", "fdiv f32 %2, %1", "fdiv f32 %3, %1"})
    EXPECT_FALSE(has(protect(std::string("%5 = ") + operation), "fdiv")) << operation;
}

TEST(ConstantZeros, TheMagnitudeIsPositive) {
  EXPECT_FALSE(has(protect("%5 = fabs f32 %3"), "fabs"));
  EXPECT_TRUE(has(protect("%5 = fabs f32 %1"), "fabs"));
}

TEST(ConstantZeros, OtherOperationsStay) {
  for (const char* operation :
       {"fadd f32 %1, %3", "fadd f32 %1, %4", "fsub f32 %1, %2", "fsub f32 %3, %1", "fmul f32 %1, %2",
        "fma f32 %1, %1, %2", "fma f32 %1, %4, %3", "fdiv f32 %1, %4", "fdiv f32 %4, %1"})
    EXPECT_FALSE(has(protect(std::string("%5 = ") + operation), "select")) << operation;
}

}  // namespace
}  // namespace mulciber
