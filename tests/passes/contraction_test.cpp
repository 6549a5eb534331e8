#include "translator/passes/contraction.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// %1 to %4 are numbers; what is in v1 to v3 at the end is looked at in another block.
std::string contracted(const std::string& body) {
  return test::runPass(R"(kernel @k {
  var v0 f32
  var v1 f32
  var v2 f32
  var v3 f32
b0:
  %0 = const i64 64
  %1 = load f32 %0 [global]
  %2 = load f32 %0 [global]
  %3 = load f32 %0 [global]
  %4 = load f32 %0 [global]
)" + body + R"(
  br b1
b1:
  %100 = const i64 64
  %101 = read f32 v1
  %102 = read f32 v2
  %103 = read f32 v3
  store %100, %101 [global]
  store %100, %102 [global]
  store %100, %103 [global]
  ret
})",
                       passes::contractProducts);
}

size_t count(const std::string& text, const std::string& what) {
  size_t result = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) result++;
  return result;
}

struct Shape {
  size_t fma, products, sums, signs;
  bool operator==(const Shape&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.fma << " fma, " << s.products << " mul, " << s.sums << " add or sub, " << s.signs << " neg";
}
Shape shapeOf(const std::string& body) {
  const std::string text = contracted(body);
  EXPECT_EQ(count(text, "contract"), 0u) << text;
  return {count(text, " fma "), count(text, " fmul "), count(text, " fadd ") + count(text, " fsub "),
          count(text, " fneg ")};
}

TEST(Contraction, TakesAProductIntoTheSum) {
  EXPECT_EQ(shapeOf(R"(
  %10 = fmul f32 %1, %2 {contract}
  write v0, %10
  %11 = read f32 v0
  %12 = fadd f32 %11, %3 {contract}
  write v1, %12)"),
            (Shape{1, 0, 0, 0}));
}

TEST(Contraction, LeavesWhatHasARounding) {
  for (const char* flags : {" {contract}", ""})
    EXPECT_EQ(shapeOf(std::string("  %10 = fmul f32 %1, %2") + (*flags ? "" : " {contract}") +
                      "\n  %11 = fadd f32 %10, %3" + flags + "\n  write v1, %11"),
              (Shape{0, 1, 1, 0}));
}

TEST(Contraction, TakesTheFirstOfTwoProducts) {
  const std::string text = contracted(R"(
  %10 = fmul f32 %1, %2 {contract}
  %11 = fmul f32 %3, %4 {contract}
  %12 = fsub f32 %10, %11 {contract}
  write v1, %12)");
  EXPECT_NE(text.find("%5 = fmul f32 %3, %4\n  %6 = fneg f32 %5\n  %7 = fma f32 %1, %2, %6\n"), std::string::npos)
      << text;
}

TEST(Contraction, PrefersTheProductThatIsUsedOnce) {
  const std::string text = contracted(R"(
  %10 = fmul f32 %1, %2 {contract}
  %11 = fmul f32 %3, %4 {contract}
  %12 = fsub f32 %10, %11 {contract}
  %13 = fadd f32 %10, %1 {contract}
  write v1, %12
  write v2, %13)");
  EXPECT_NE(text.find("%5 = fmul f32 %1, %2\n  %6 = fneg f32 %3\n  %7 = fma f32 %6, %4, %5\n  %8 = fadd f32 %5, %1\n"),
            std::string::npos)
      << text;
}

// Error-free sums of products: both are used more than once.
TEST(Contraction, PrefersTheProductWithFewerUses) {
  const std::string text = contracted(R"(
  %10 = fmul f32 %1, %2 {contract}
  %11 = fmul f32 %3, %4 {contract}
  %12 = fadd f32 %10, %11 {contract}
  %13 = fsub f32 %12, %10 {contract}
  %14 = fadd f32 %10, %13 {contract}
  %15 = fsub f32 %11, %13 {contract}
  write v1, %14
  write v2, %15)");
  EXPECT_NE(text.find("%5 = fmul f32 %1, %2\n  %6 = fma f32 %3, %4, %5\n  %7 = fsub f32 %6, %5\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("= fma f32 %3, %4, %9\n"), std::string::npos) << text;
}

// A product that is used once goes first wherever it stands, and what it is added to cannot be taken any more.
TEST(Contraction, LooksAtAllSumsForProductsThatAreUsedOnce) {
  EXPECT_EQ(shapeOf(R"(
  %10 = fmul f32 %1, %2 {contract}
  %11 = fadd f32 %10, %3 {contract}
  %12 = fmul f32 %3, %4 {contract}
  %13 = fadd f32 %10, %12 {contract}
  write v1, %11
  write v2, %13)"),
            (Shape{1, 1, 1, 0}));
}

TEST(Contraction, TakesAProductOfSeveralSumsIntoAllOrNone) {
  const std::string two = R"(
  %10 = fmul f32 %1, %2 {contract}
  %11 = fadd f32 %10, %3 {contract}
  %12 = fsub f32 %4, %10 {contract}
  write v1, %11
  write v2, %12)";
  EXPECT_EQ(shapeOf(two), (Shape{2, 0, 0, 1}));
  EXPECT_EQ(shapeOf(two + "\n  write v3, %10"), (Shape{0, 1, 2, 0}));
  EXPECT_EQ(shapeOf(two + "\n  %13 = fmul f32 %10, %10 {contract}\n  write v3, %13"), (Shape{0, 2, 2, 0}));
  EXPECT_EQ(shapeOf("  %10 = fmul f32 %1, %2 {contract}\n  %11 = fadd f32 %10, %10 {contract}\n  write v1, %11"),
            (Shape{0, 1, 1, 0}));
}

TEST(Contraction, SeesThroughSignsAndCopies) {
  EXPECT_EQ(shapeOf(R"(
  %10 = fmul f32 %1, %2 {contract}
  %11 = fneg f32 %10
  %12 = bitcast i32 %11
  %13 = bitcast f32 %12
  %14 = fsub f32 %3, %13 {contract}
  write v1, %14)"),
            (Shape{1, 0, 0, 0}));
}

TEST(Contraction, EndsWithTheBlock) {
  EXPECT_EQ(shapeOf(R"(
  %10 = fmul f32 %1, %2 {contract}
  write v0, %10
  br b2
b2:
  %11 = read f32 v0
  %12 = fadd f32 %11, %11 {contract}
  write v1, %12)"),
            (Shape{0, 1, 1, 0}));
}

TEST(Contraction, EndsWhereThePtxAssemblerCalls) {
  for (const auto& [between, isCall] : {std::pair("fdiv f32 %3, %4", true),
                                        {"fsqrt f32 %3", true},
                                        {"fsqrt f32 %3 {approx}", false},
                                        {"fadd f32 %3, %4", false}}) {
    const Shape shape = shapeOf(std::string("  %10 = fmul f32 %1, %2 {contract}\n  %11 = ") + between +
                                "\n  %12 = fadd f32 %10, %3 {contract}\n  write v1, %12\n  write v2, %11");
    EXPECT_EQ(shape.fma, isCall ? 0u : 1u) << between;
  }
}

// Of a parameter or a constant, whatever lies between: ptxas computes such a product again where it is added.
TEST(Contraction, TakesProductsOfConstantsEverywhere) {
  const auto shapeBeyond = [](const std::string& factor, const std::string& between, const std::string& uses) {
    const std::string text = test::runPass(R"(kernel @k {
  var v0 f32
  var v1 f32
  var v2 f32
  var v3 f32
b0:
  %0 = const i64 64
  %1 = load f32 %0 [global]
  %2 = load f32 %0 [global]
)" + factor + R"(
  write v0, %5
  %6 = read f32 v0
  %7 = fmul f32 %1, %6 {contract}
  write v1, %7
)" + between + R"(
  br b1
b1:
  %20 = const i64 64
)" + uses + R"(
  ret
})",
                                           passes::contractProducts);
    return Shape{count(text, " fma "), count(text, " fmul "), count(text, " fadd ") + count(text, " fsub "),
                 count(text, " fneg ")};
  };
  const std::string parameter = "  %4 = const i32 8\n  %5 = load f32 %4 [param]",
                    constant = "  %5 = const f32 0x3fa00000",
                    loaded = "  %4 = const i64 8\n  %5 = load f32 %4 [global]",
                    variable = "  %3 = load i32 %0 [global]\n  %5 = load f32 %3 [param]",
                    negated =
                        "  %8 = input i64 ModuleData\n  %9 = const i64 8\n  %3 = add i64 %8, %9\n"
                        "  %4 = load f32 %3 [global const]\n  %5 = fneg f32 %4";
  const std::string sum = "  %21 = read f32 v1\n  %22 = fadd f32 %21, %2 {contract}\n  store %20, %22 [global]\n";
  const std::string difference =
      "  %23 = read f32 v1\n  %24 = fsub f32 %2, %23 {contract}\n  store %20, %24 [global]\n";
  EXPECT_EQ(shapeBeyond(parameter, "", sum), (Shape{1, 0, 0, 0}));
  EXPECT_EQ(shapeBeyond(constant, "", sum), (Shape{1, 0, 0, 0}));
  EXPECT_EQ(shapeBeyond(negated, "", sum), (Shape{1, 0, 0, 1}));
  EXPECT_EQ(shapeBeyond(loaded, "", sum), (Shape{0, 1, 1, 0}));
  EXPECT_EQ(shapeBeyond(variable, "", sum), (Shape{0, 1, 1, 0}));
  EXPECT_EQ(shapeBeyond(parameter, "", sum + difference), (Shape{2, 0, 0, 1}));
  // Behind a call; all uses have to be sums that take it; and a register may hold something else.
  const std::string call = "  %10 = fdiv f32 %1, %2\n  write v2, %10\n";
  EXPECT_EQ(shapeBeyond(parameter, call + "  %11 = fadd f32 %7, %10 {contract}\n  write v3, %11\n", ""),
            (Shape{1, 0, 0, 0}));
  EXPECT_EQ(shapeBeyond(parameter, "", sum + "  store %20, %21 [global]\n"), (Shape{0, 1, 1, 0}));
  EXPECT_EQ(shapeBeyond(parameter, "  write v1, %2\n", sum), (Shape{0, 1, 1, 0}));
  EXPECT_EQ(shapeBeyond(parameter, "", sum + "  write v0, %2\n"), (Shape{0, 1, 1, 0}));
  EXPECT_EQ(shapeBeyond(parameter + "\n  write v1, %2", "", sum), (Shape{1, 0, 0, 0}));
}

// Nor where another way brings another number to the sum.
TEST(Contraction, LeavesProductsThatOnlySomeWaysBring) {
  const auto text = [](const std::string& other) {
    return test::runPass(R"(kernel @k {
  var v0 f32
b0:
  %0 = const i64 64
  %1 = load f32 %0 [global]
  %2 = const i32 8
  %3 = load f32 %2 [param]
  %4 = flt bool %1, %3
  br %4, b1, b2
b1:
  %5 = fmul f32 %1, %3 {contract}
  write v0, %5
  br b3
b2:
)" + other + R"(
  br b3
b3:
  %8 = read f32 v0
  %9 = fadd f32 %8, %1 {contract}
  store %0, %9 [global]
  ret
})",
                         passes::contractProducts);
  };
  EXPECT_EQ(count(text("  write v0, %1\n"), " fma "), 0u);
  EXPECT_EQ(count(text("  %6 = fmul f32 %1, %3 {contract}\n  write v0, %6\n"), " fma "), 0u);
  EXPECT_EQ(count(text(""), " fma "), 1u);
}

// Behind the loop, v1 holds the product of the round before the last.
TEST(Contraction, LeavesProductsOfEarlierRounds) {
  const std::string text = test::runPass(R"(kernel @k {
  var v0 f32
  var v1 f32
b0:
  br b1
b1:
  %0 = const i64 64
  %1 = load f32 %0 [global]
  %2 = const i32 8
  %3 = load f32 %2 [param]
  %4 = fmul f32 %1, %3 {contract}
  write v0, %4
  %5 = flt bool %1, %3
  br %5, b2, b3
b2:
  %6 = read f32 v0
  write v1, %6
  br b1
b3:
  %7 = read f32 v1
  %8 = fadd f32 %7, %3 {contract}
  %9 = const i64 64
  store %9, %8 [global]
  ret
})",
                                         passes::contractProducts);
  EXPECT_EQ(count(text, " fma "), 0u) << text;
}

TEST(Contraction, KnowsWhichValueARegisterHas) {
  // The sum reads what was written before the product.
  EXPECT_EQ(shapeOf(R"(
  write v0, %4
  %10 = fmul f32 %1, %2 {contract}
  %11 = read f32 v0
  write v0, %10
  %12 = fadd f32 %11, %3 {contract}
  write v1, %12)")
                .fma,
            0u);
  // The register is used again for what comes out.
  EXPECT_EQ(shapeOf(R"(
  %10 = fmul f32 %1, %2 {contract}
  write v1, %10
  %11 = read f32 v1
  %12 = fadd f32 %11, %3 {contract}
  write v1, %12)"),
            (Shape{1, 0, 0, 0}));
}

TEST(Contraction, OfOneFlushing) {
  for (const auto& [product, sum, fused] : {std::tuple("ftz contract", "ftz contract", 1u),
                                            {"ftz contract", "contract", 0u},
                                            {"contract", "ftz contract", 0u}})
    EXPECT_EQ(shapeOf(std::string("  %10 = fmul f32 %1, %2 {") + product + "}\n  %11 = fadd f32 %10, %3 {" + sum +
                      "}\n  write v1, %11")
                  .fma,
              fused);
}

}  // namespace
}  // namespace mulciber
