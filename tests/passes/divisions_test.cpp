#include "translator/passes/divisions.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// A kernel with one division: %0 and %1 vary, %2 is a specialisation constant.
std::string divided(const std::string& division) {
  return test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = input i32 GridDimX
  %2 = input i32 BlockDimX
  %3 = const i32 10
  %4 = const i64 64
  %5 = zext i64 %1
  )" + division + R"(
  store %4, %6 [global]
  ret
})",
                       passes::divideByReciprocals);
}

size_t count(const std::string& text, const std::string& what) {
  size_t result = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) result++;
  return result;
}

TEST(Divisions, ByVariablesTakeAReciprocal) {
  for (const char* operation : {"div.u", "rem.u", "div.s", "rem.s"}) {
    std::string text = divided(std::string("%6 = ") + operation + " i32 %0, %1");
    EXPECT_EQ(count(text, operation), 0u) << text;
    EXPECT_EQ(count(text, "frcp"), 1u) << text;
  }
}

TEST(Divisions, ByWhatTheDriverKnowsStay) {
  for (const char* divisor : {"%2", "%3"}) {
    std::string text = divided(std::string("%6 = div.u i32 %0, ") + divisor);
    EXPECT_EQ(count(text, "div.u"), 1u) << text;
    EXPECT_EQ(count(text, "frcp"), 0u) << text;
  }
}

TEST(Divisions, OfOtherWidthsStay) {
  std::string text = divided("%6 = rem.u i64 %4, %5");
  EXPECT_EQ(count(text, "rem.u"), 1u) << text;
}

}  // namespace
}  // namespace mulciber
