// Products of matrices on devices with matrix units (TargetProfile::matricesF16F32 and its like).
#include <algorithm>

#include "lower/lowered.h"
#include "translator/ir/printer.h"

namespace mulciber {
namespace {

using test::kernelText;
using test::lowerText;

TargetProfile unitsProfile() {
  TargetProfile profile = test::fullProfile();
  profile.matricesF16F32 = profile.matricesF16F16 = profile.matricesBF16 = profile.matricesS8 = profile.matricesU8 =
      true;
  return profile;
}

TEST(MatrixUnits, TakeAFragmentInEachOperand) {
  auto result = lowerText(kernelText(R"(
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
      {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};
  )"),
                          unitsProfile());
  ASSERT_TRUE(result.program) << result.errors;
  EXPECT_EQ(ir::print(result.kernel()), R"(kernel @k {
  var v0 i32 "%r0"
  var v1 i32 "%r1"
  var v2 i32 "%r2"
  var v3 i32 "%r3"
  var v4 i32 "%r4"
  var v5 i32 "%r5"
  var v6 f32 "%f0"
  var v7 f32 "%f1"
  var v8 f32 "%f2"
  var v9 f32 "%f3"
b0:
  %0 = const i32 0xffffffff
  %1 = input i32 LocalIndex
  %2 = const i32 31
  %3 = and i32 %1, %2
  %4 = read i32 v0
  %5 = read i32 v1
  %6 = read i32 v2
  %7 = read i32 v3
  %8 = read i32 v4
  %9 = read i32 v5
  %10 = read f32 v6
  %11 = read f32 v7
  %12 = read f32 v8
  %13 = read f32 v9
  %14 = vec <4 x f32> %10, %11, %12, %13
  %15 = vec <4 x i32> %4, %5, %6, %7
  %16 = vec <2 x i32> %8, %9
  %17 = matrix.product <4 x f32> f16, %15, %16, %14
  %18 = extract f32 %17, 0
  %19 = extract f32 %17, 1
  %20 = extract f32 %17, 2
  %21 = extract f32 %17, 3
  write v6, %18
  write v7, %19
  write v8, %20
  write v9, %21
  ret
}
)");
}

struct Expected {
  const char* instruction;
  int products;
};

int countOf(ir::Op op, const std::string& instruction, const TargetProfile& profile) {
  auto result = lowerText(kernelText(instruction), profile);
  EXPECT_TRUE(result.program) << result.errors;
  int count = 0;
  if (!result.program) return count;
  for (const ir::Block* block : result.kernel().blocks)
    count += static_cast<int>(std::ranges::count(block->instructions, op, &ir::Instruction::op));
  return count;
}

int productsOf(const std::string& instruction, const TargetProfile& profile) {
  return countOf(ir::Op::MatrixProduct, instruction, profile);
}

TEST(MatrixUnits, MultiplyWhatTheyHaveTheTypesFor) {
  const Expected cases[] = {
      {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r2, %r3}, {%r4}, {%r0, %r1};", 1},
      {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0, %r1}, {%r2}, {%r4}, {%r0, %r1};", 1},
      {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32"
       " {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};",
       1},
      // As bytes, of which one product takes 32 along k.
      {"mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32"
       " {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};",
       2},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7},"
       " {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15},"
       " {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};",
       2},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
       " {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};",
       1},
      // Each number as two of bf16, multiplied with both of the other matrix's.
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
       " {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};",
       2},
      {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32"
       " {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r4}, {%f0, %f1, %f2, %f3};",
       1},
      // Types without a unit, and fragments that lie otherwise.
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32"
       " {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};",
       0},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"
       " {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};",
       0},
      {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7},"
       " {%r0, %r1}, {%r2, %r3}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};",
       0},
  };
  for (const Expected& one : cases) {
    EXPECT_EQ(productsOf(one.instruction, unitsProfile()), one.products) << one.instruction;
    EXPECT_EQ(productsOf(one.instruction, test::fullProfile()), 0) << one.instruction;
  }
}

// A's signs and B's may differ: a product makes a byte of a signed half of one.
TEST(MatrixUnits, TakeNumbersOfFourBitsByTheTypeOfTheirMatrix) {
  auto product = [](const char* types) {
    return std::string("mma.sync.aligned.m16n8k64.row.col.s32.") + types +
           ".s32 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};";
  };
  EXPECT_EQ(countOf(ir::Op::Mul, product("u4.u4"), unitsProfile()), 0);
  EXPECT_EQ(countOf(ir::Op::Mul, product("s4.u4"), unitsProfile()), 8);  // four registers of A
  EXPECT_EQ(countOf(ir::Op::Mul, product("u4.s4"), unitsProfile()), 4);  // two registers of B
  EXPECT_EQ(countOf(ir::Op::Mul, product("s4.s4"), unitsProfile()), 12);
}

// Sums of f16 in single precision lose nothing where the device has no unit for the former.
TEST(MatrixUnits, SumHalvesInSinglePrecisionWhereTheyMust) {
  TargetProfile profile = unitsProfile();
  profile.matricesF16F16 = false;
  const char* product =
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%r0, %r1};";
  EXPECT_EQ(productsOf(product, profile), 1);
  profile.matricesF16F32 = false;
  EXPECT_EQ(productsOf(product, profile), 0);
}

TEST(MatrixUnits, LoadRowsOfSeveralMatrices) {
  TargetProfile profile = unitsProfile();
  auto count = [&](const char* shape, const char* words) {
    return countOf(ir::Op::LoadRows,
                   std::string("ldmatrix.sync.aligned.m8n8.") + shape + ".shared.b16 {" + words + "}, [%r9];", profile);
  };
  EXPECT_EQ(count("x4", "%r0, %r1, %r2, %r3"), 0);
  profile.loadsMatrixRows = true;
  EXPECT_EQ(count("x4", "%r0, %r1, %r2, %r3"), 1);
  EXPECT_EQ(count("x4.trans", "%r0, %r1, %r2, %r3"), 1);
  EXPECT_EQ(count("x2", "%r0, %r1"), 1);
  EXPECT_EQ(count("x1", "%r0"), 0);  // the device has no such matrix
  profile.sharedExplicitLayout = false;
  EXPECT_EQ(count("x4", "%r0, %r1, %r2, %r3"), 0);
}

TEST(MatrixUnits, NeedWarpsAndTheTypesOfTheirComponents) {
  const char* halves =
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
      " {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};";
  const char* bytes = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0, %r1}, {%r2}, {%r4}, {%r0, %r1};";
  TargetProfile narrow = unitsProfile(), withoutHalves = unitsProfile(), withoutBytes = unitsProfile();
  narrow.subgroupSize = 8;
  withoutHalves.float16 = withoutBytes.int8 = false;
  EXPECT_EQ(productsOf(halves, narrow), 0);
  EXPECT_EQ(productsOf(halves, withoutHalves), 0);
  EXPECT_EQ(productsOf(bytes, withoutBytes), 0);
}

}  // namespace
}  // namespace mulciber
