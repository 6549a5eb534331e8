#include "translator/passes/dot_products.h"

#include <sstream>

#include "mulciber/kernel_abi.h"
#include "support/run_pass.h"

namespace mulciber {
namespace {

// What becomes of operations on two numbers from memory, %1 and %2, and constants of 3 and 0.7, %3 and %4.
std::string given(const std::string& operations) {
  return test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = const i64 64
  %90 = const i64 128
  %1 = load f32 %0 [global]
  %2 = load f32 %90 [global]
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
  EXPECT_NE(text.find("= fma f32 %2, %3, %2 {dot}"), std::string::npos) << text;
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

TEST(DotProducts, TwiceAConstantStays) {
  const std::string text = given(
      "  %5 = fadd f32 %3, %3\n  %6 = fma f32 %1, %5, %2 {dot}\n  %7 = fadd f32 %3, %3\n"
      "  %8 = fma f32 %7, %2, %6 {dot}\n  store %0, %8 [global]\n");
  EXPECT_EQ(countOf("= fadd", text), 2u) << text;
}

TEST(DotProducts, ConstantsAreHidden) {
  for (const char* operands : {"%3, %1, %2", "%1, %3, %2", "%1, %2, %3", "%3, %1, %4"}) {
    const std::string text = given(std::string("  %5 = fma f32 ") + operands + " {dot}\n  store %0, %5 [global]\n");
    const size_t at = text.find("= fma f32");
    ASSERT_NE(at, std::string::npos) << text;
    std::istringstream words(text.substr(at + 9, text.find('{', at) - at - 9));
    for (std::string operand; words >> operand;) {
      operand = operand.substr(0, operand.find(','));
      EXPECT_EQ(text.find(operand + " = const"), std::string::npos) << operand << " of\n" << text;
    }
    EXPECT_GE(countOf("= xor", text), 1u) << text;
  }
}

TEST(DotProducts, LaunchesCarryConstantsWhileThereIsRoom) {
  const auto program = test::parseIr(R"(kernel @k structured ssa {
b0:
  %0 = const i64 64
  %1 = load f32 %0 [global]
  %2 = const f32 3
  %3 = const f32 0.7
  %4 = const f32 5
  %5 = fma f32 %1, %2, %3 {dot}
  %6 = fma f32 %5, %4, %2 {dot}
  store %0, %6 [global]
  ret
})");
  ASSERT_TRUE(program);
  program->parameterBytes = 6;
  TargetProfile profile;
  profile.maxPushConstants = abi::parameterOffset + 16;
  const TranslateOptions options;
  passes::PassContext context{profile, options, *program};
  passes::DotProducts().run(*program->functions[0], context);
  EXPECT_EQ(program->carriedWords, (std::vector<uint32_t>{0x40400000, 0x3F333333}));
  EXPECT_EQ(ir::verify(*program->functions[0]), "");
  const std::string text = ir::print(*program->functions[0]);
  EXPECT_EQ(countOf("[param align 4]", text), 2u) << text;
  EXPECT_EQ(countOf("= xor", text), 1u) << text;  // of 5
}

// Of x + k * y + k * y the driver would make x + 2k * y.
TEST(DotProducts, FactorsThatMayBeKnownAreHidden) {
  const std::string sums =
      "  %7 = fma f32 %6, %2, %1 {dot}\n  %8 = fma f32 %6, %2, %7 {dot}\n  store %0, %8 [global]\n";
  const auto hidden = [&](const std::string& factor) {
    return countOf("= xor", given("  %5 = const i32 100\n" + factor + sums));
  };
  EXPECT_EQ(hidden("  %6 = stof f32 %5\n"), 3u);  // in two ways, and the sum with a common factor
  EXPECT_EQ(hidden("  %6 = fneg f32 %2\n"), 2u);  // one product of the two
}

TEST(DotProducts, WhatIsKnownIsHiddenWhereItComesFrom) {
  const std::string text = given(R"(  %5 = const i32 100
  %6 = stof f32 %5
  %7 = fma f32 %6, %2, %1 {dot}
  %8 = fadd f32 %6, %3
  %9 = fma f32 %8, %1, %7 {dot}
  %10 = fma f32 %8, %8, %9 {dot}
  %11 = stof f32 %5
  %12 = fadd f32 %10, %11
  store %0, %12 [global]
)");
  EXPECT_EQ(countOf("= xor", text), 2u) << text;  // and the sum with a common factor
}

TEST(DotProducts, ComparisonsDoNotTellIt) {
  const std::string text = given(R"(  %5 = feq bool %1, %3
  %6 = fma f32 %1, %2, %2 {dot}
  %7 = select f32 %5, %6, %2
  store %0, %7 [global]
)");
  EXPECT_EQ(countOf("= xor", text), 1u) << text;
  const size_t at = text.find("= feq bool ") + 11;
  EXPECT_NE(text.find(text.substr(at, text.find(',', at) - at) + " = load f32"), std::string::npos) << text;
}

TEST(DotProducts, SoAreThoseOfTwoConstants) {
  const std::string text =
      given("  %5 = fma f32 %3, %3, %1 {dot}\n  %6 = fma f32 %3, %3, %5 {dot}\n  store %0, %6 [global]\n");
  EXPECT_EQ(countOf("= xor", text), 3u) << text;  // the constant in two ways, and the sum with a common factor
}

// The driver knows which loops do not run, and unrolls others.
TEST(DotProducts, ConstantsOfChoicesAreHidden) {
  const std::string text = given(R"(  %5 = flt bool %1, %2
  br b1
b1:
  %7 = phi f32 [%3, b0], [%10, b2]
  loop b3 continue b2
  br b4
b4:
  %9 = select f32 %5, %4, %7
  %10 = fma f32 %9, %9, %1 {dot}
  merge b5
  br %5, b5, b6
b6:
  br b3
b5:
  br b2
b2:
  br b1
b3:
  store %0, %10 [global]
)");
  EXPECT_EQ(countOf("= xor", text), 2u) << text;
  const auto valueOf = [&](const std::string& before) {
    const size_t at = text.find(before);
    return at == std::string::npos ? "" : text.substr(at + before.size(), text.find(',', at) - at - before.size());
  };
  EXPECT_NE(text.find(valueOf("= phi f32 [") + " = bitcast f32"), std::string::npos) << text;
  const size_t select = text.find("= select");
  ASSERT_NE(select, std::string::npos) << text;
  const size_t operand = text.find(", ", select) + 2;
  EXPECT_NE(text.find(text.substr(operand, text.find(',', operand) - operand) + " = bitcast f32"), std::string::npos)
      << text;
}

TEST(DotProducts, AFactorIsHiddenOfAProductThatIsAnotherOnesToo) {
  const auto hidden = [](const std::string& product) {
    return countOf("= xor", given("  %5 = fneg f32 %1\n  %6 = fma f32 %1, %2, %1 {dot}\n  %7 = fma f32 " + product +
                                  ", %2 {dot}\n  %8 = fadd f32 %6, %7\n  store %0, %8 [global]\n"));
  };
  for (const char* product : {"%1, %2", "%2, %1", "%5, %2"}) EXPECT_EQ(hidden(product), 1u) << product;
  EXPECT_EQ(hidden("%1, %5"), 0u);
}

TEST(DotProducts, AProductThatIsAddedIsHidden) {
  for (const char* added : {"%5", "%6"}) {
    const std::string text = given("  %5 = fmul f32 %1, %1\n  %6 = fneg f32 %5\n  %7 = fma f32 %1, %2, " +
                                   std::string(added) + " {dot}\n  store %0, %7 [global]\n");
    EXPECT_EQ(countOf("= xor", text), 2u) << text;  // and its -0
  }
}

// The driver would see it through bits, and make 0 of x * y - (x * y - 0).
TEST(DotProducts, SoIsOneOfFactorsThatMayBeTheSame) {
  const std::string text = given(R"(  %5 = fmul f32 %1, %2
  %6 = const i32 0xFFFF0000
  %7 = const i32 0xFFFF
  %8 = bitcast i32 %1
  %9 = and i32 %8, %6
  %10 = and i32 %8, %7
  %11 = or i32 %9, %10
  %12 = bitcast f32 %11
  %13 = fneg f32 %5
  %14 = fma f32 %12, %2, %13 {dot}
  store %0, %14 [global]
)");
  EXPECT_EQ(countOf("= xor", text), 3u) << text;  // the product's -0, a factor and the product
}

TEST(DotProducts, ASumWithACommonFactorIsHidden) {
  const auto chain = [](const std::string& last) {
    return countOf(
        "= xor",
        given("  %5 = fneg f32 %1\n  %6 = fadd f32 %1, %2\n  %7 = fma f32 %1, %2, %6 {dot}\n  %8 = fneg f32 %7\n"
              "  %9 = fma f32 " +
              last + ", %8 {dot}\n  store %0, %9 [global]\n"));
  };
  EXPECT_EQ(chain("%5, %6"), 1u);
  EXPECT_EQ(chain("%6, %2"), 1u);
  EXPECT_EQ(chain("%6, %6"), 0u);
}

// What is hidden in a loop that carries a sum, %7, and the number of the round before, %5. %8 is another number in each
// round.
size_t hiddenInLoop(const std::string& body) {
  return countOf("= xor", given(R"(  %20 = flt bool %1, %2
  %22 = const i64 256
  br b1
b1:
  %5 = phi f32 [%1, b0], [%8, b2]
  %7 = phi f32 [%2, b0], [%10, b2]
  loop b3 continue b2
  br b4
b4:
  %8 = load f32 %22 [global volatile]
)" + body + R"(  merge b5
  br %20, b5, b6
b6:
  br b3
b5:
  br b2
b2:
  br b1
b3:
  store %90, %10 [global]
)"));
}

// The driver would take a common factor out of two rounds.
TEST(DotProducts, SoIsOneThatALoopCarries) {
  const auto hidden = [](const std::string& sum) {
    return hiddenInLoop("  %9 = select f32 %20, " + sum + "\n  %10 = fma f32 %2, %8, %9 {dot}\n");
  };
  EXPECT_EQ(hidden("%7, %1"), 1u);
  EXPECT_EQ(hidden("%1, %7"), 1u);
  EXPECT_EQ(hidden("%1, %2"), 0u);
}

TEST(DotProducts, FactorsOfEachRoundAreNotCommon) { EXPECT_EQ(hiddenInLoop("  %10 = fma f32 %8, %8, %7 {dot}\n"), 0u); }

TEST(DotProducts, ANumberOfAnEarlierRoundMayBeOne) {
  EXPECT_EQ(hiddenInLoop("  %9 = fma f32 %8, %1, %7 {dot}\n  %10 = fma f32 %5, %2, %9 {dot}\n"), 2u);
  EXPECT_EQ(hiddenInLoop("  %9 = fma f32 %8, %8, %7 {dot}\n  %10 = fadd f32 %9, %5\n"), 0u);
}

TEST(DotProducts, WhatIsMadeOfHiddenNumbersMayBeOne) {
  const auto hidden = [](const std::string& factor) {
    return countOf("= xor", given("  %5 = const i32 100\n  %6 = stof f32 %5\n  %7 = fneg f32 %6\n"
                                  "  %8 = fma f32 %6, %1, %2 {dot}\n  %9 = fma f32 " +
                                  factor + ", %2, %8 {dot}\n  store %0, %9 [global]\n"));
  };
  EXPECT_EQ(hidden("%7"), 2u);  // and the number itself
  EXPECT_EQ(hidden("%2"), 1u);
}

TEST(DotProducts, ChoicesMayBeTheCommonFactor) {
  const auto hidden = [](const std::string& factor) {
    return countOf("= xor", given("  %5 = flt bool %1, %2\n  %6 = fadd f32 %1, %2\n  %7 = fsub f32 %1, %2\n"
                                  "  %8 = select f32 %5, %6, %1\n  %9 = fma f32 %6, %2, %1 {dot}\n"
                                  "  %10 = fma f32 " +
                                  factor + ", %7, %9 {dot}\n  store %0, %10 [global]\n"));
  };
  EXPECT_EQ(hidden("%8"), 1u);
  EXPECT_EQ(hidden("%7"), 0u);
}

TEST(DotProducts, OtherKernelsStay) {
  const std::string text = given("  %5 = fmul f32 %1, %3\n  %6 = fma f32 %5, %5, %3\n  store %0, %6 [global]\n");
  EXPECT_EQ(countOf("= fmul", text), 1u) << text;
  EXPECT_EQ(countOf("= xor", text), 0u) << text;
}

}  // namespace
}  // namespace mulciber
