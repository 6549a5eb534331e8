#include "translator/passes/dot_products.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// What becomes of operations on two numbers from memory, %1 and %2, and constants of 3 and 0.7, %3 and %4.
std::string given(const std::string& operations) {
  return test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = const i64 64
  %1 = load f32 %0 [global]
  %2 = load f32 %0 [global]
  %3 = const f32 3
  %4 = const f32 0.7
)" + operations + R"(  ret
})",
                       passes::giveAsDotProducts);
}

size_t countOf(const std::string& word, const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(DotProducts, StayAsTheyAreWithoutConstants) {
  const std::string text = given("  %5 = fma f32 %1, %2, %1 {dot}\n  store %0, %5 [global]\n");
  EXPECT_NE(text.find("= fma f32 %1, %2, %1 {dot}"), std::string::npos) << text;
  EXPECT_EQ(countOf("= xor", text), 0u) << text;
}

TEST(DotProducts, OtherProductsBecomeSuch) {
  const std::string text = given(
      "  %5 = fma f32 %1, %1, %2 {dot}\n  %6 = fmul f32 %1, %2\n  %7 = fadd f32 %6, %5\n"
      "  store %0, %7 [global]\n");
  EXPECT_EQ(countOf("= fmul", text), 0u) << text;
  EXPECT_EQ(countOf("{dot}", text), 2u) << text;
  EXPECT_EQ(countOf("= fadd", text), 1u) << text;
  EXPECT_NE(text.find("0x80000000"), std::string::npos) << text;
}

TEST(DotProducts, SoDoesTwiceANumber) {
  const std::string text = given("  %5 = fma f32 %1, %1, %2 {dot}\n  %6 = fadd f32 %5, %5\n  store %0, %6 [global]\n");
  EXPECT_EQ(countOf("= fadd", text), 0u) << text;
  EXPECT_EQ(countOf("{dot}", text), 2u) << text;
}

TEST(DotProducts, ConstantsAreHidden) {
  for (const char* operands : {"%3, %1, %2", "%1, %3, %2", "%1, %2, %3", "%3, %1, %4"}) {
    const std::string text = given(std::string("  %5 = fma f32 ") + operands + " {dot}\n  store %0, %5 [global]\n");
    const size_t at = text.find("= fma f32");
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_EQ(text.substr(at, text.find('\n', at) - at).find("%3"), std::string::npos) << text;
    EXPECT_GE(countOf("= xor", text), 1u) << text;
  }
}

TEST(DotProducts, AFactorIsHiddenOfAProductThatIsAnotherOnesToo) {
  for (const char* product : {"%1, %2", "%2, %1", "%5, %2"}) {
    const std::string text = given("  %5 = fneg f32 %1\n  %6 = fma f32 %1, %2, %1 {dot}\n  %7 = fma f32 " +
                                   std::string(product) + ", %6 {dot}\n  store %0, %7 [global]\n");
    EXPECT_EQ(countOf("= xor", text), 1u) << text;
  }
  EXPECT_EQ(countOf("= xor", given("  %5 = fma f32 %1, %2, %1 {dot}\n  %6 = fma f32 %1, %5, %1 {dot}\n"
                                   "  store %0, %6 [global]\n")),
            0u);
}

TEST(DotProducts, AProductThatIsAddedIsHidden) {
  for (const char* added : {"%5", "%6"}) {
    const std::string text = given("  %5 = fmul f32 %1, %1\n  %6 = fneg f32 %5\n  %7 = fma f32 %1, %2, " +
                                   std::string(added) + " {dot}\n  store %0, %7 [global]\n");
    EXPECT_EQ(countOf("= xor", text), 2u) << text;  // and its -0
  }
}

TEST(DotProducts, OtherKernelsStay) {
  const std::string text = given("  %5 = fmul f32 %1, %3\n  %6 = fma f32 %5, %5, %3\n  store %0, %6 [global]\n");
  EXPECT_EQ(countOf("= fmul", text), 1u) << text;
  EXPECT_EQ(countOf("= xor", text), 0u) << text;
}

}  // namespace
}  // namespace mulciber
