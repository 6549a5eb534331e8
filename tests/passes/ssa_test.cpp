#include "translator/passes/ssa.h"

#include "support/run_pass.h"
#include "translator/ir/builder.h"
#include "translator/passes/structurize.h"

namespace mulciber {
namespace {

std::string ssa(std::string_view text) {
  return test::runPass(text, [](ir::Function& function) {
    passes::structurize(function);
    passes::buildSsa(function);
  });
}

TEST(Ssa, AVariableWrittenOnBothSidesBecomesAPhi) {
  EXPECT_EQ(ssa(R"(kernel @k {
  var v0 i32
  var v1 bool
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 1
  %2 = eq bool %0, %1
  br %2, b1, b2
b1:
  %3 = const i32 7
  write v0, %3
  br b3
b2:
  %4 = const i32 8
  write v0, %4
  br b3
b3:
  %5 = read i32 v0
  %6 = const i64 0
  store %6, %5 [global]
  ret
})"),
            R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 1
  %2 = eq bool %0, %1
  merge b3
  br %2, b1, b2
b1:
  %3 = const i32 7
  br b3
b2:
  %4 = const i32 8
  br b3
b3:
  %5 = phi i32 [%3, b1], [%4, b2]
  %6 = const i64 0
  store %6, %5 [global]
  ret
}
)");
}

TEST(Ssa, AVariableThatIsNotReadAgainNeedsNoPhi) {
  std::string text = ssa(R"(kernel @k {
  var v0 i32
  var v1 bool
b0:
  %0 = read bool v1
  br %0, b1, b2
b1:
  %1 = const i32 7
  write v0, %1
  br b2
b2:
  ret
})");
  EXPECT_EQ(text.find("phi"), std::string::npos) << text;
}

TEST(Ssa, WhatWasNeverWrittenIsUndefined) {
  std::string text = ssa("kernel @k { var v0 i32 b0: %0 = read i32 v0 %1 = const i64 0 store %1, %0 [global] ret }");
  EXPECT_NE(text.find("%0 = undef i32"), std::string::npos) << text;
}

TEST(Ssa, ALoopThatOnlyReadsAVariableNeedsNoPhi) {
  std::string text = ssa(R"(kernel @k {
  var v0 i32
b0:
  %0 = input i32 LocalIndex
  write v0, %0
  br b1
b1:
  %1 = read i32 v0
  %2 = const i32 0
  %3 = eq bool %1, %2
  write v0, %1
  br %3, b1, b2
b2:
  ret
})");
  EXPECT_EQ(text.find("phi"), std::string::npos) << text;
}

// As large as the largest kernels of common libraries: must take a fraction of a second, without deep recursion.
TEST(Ssa, LargeFunctionsAreQuick) {
  ir::Function function;
  constexpr uint32_t diamonds = 2700, variables = 3000;
  for (uint32_t i = 0; i < variables; ++i) function.addVariable(ir::I32);
  ir::Builder b(function, function.addBlock());
  for (uint32_t i = 0; i < diamonds; ++i) {
    ir::Block *left = function.addBlock(), *right = function.addBlock(), *join = function.addBlock();
    ir::Instruction* x = b.read(i % variables);
    for (uint32_t k = 0; k < 8; ++k) x = b.add(x, b.read((i * 7 + k * 131) % variables));
    b.branch(b.compare(ir::Op::IEq, x, b.i32(i)), left, right);
    b.setBlock(left);
    b.write(i * 13 % variables, b.i32(i));
    b.branch(join);
    b.setBlock(right);
    b.branch(i % 50 == 49 ? function.blocks[1] : join);
    b.setBlock(join);
  }
  b.ret();
  passes::structurize(function);
  passes::buildSsa(function);
  EXPECT_EQ(ir::verify(function), "");
}

}  // namespace
}  // namespace mulciber
