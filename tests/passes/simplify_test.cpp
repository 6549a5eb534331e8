#include "translator/passes/simplify.h"

#include <random>

#include "support/ir_interpreter.h"
#include "support/run_pass.h"
#include "translator/ir/builder.h"
#include "translator/passes/cse.h"
#include "translator/passes/dce.h"
#include "translator/passes/fold.h"

namespace mulciber {
namespace {

// What is stored to global memory in place of the last value of `body`, which may use %0: i32, %1: i64, %2: bool.
std::string simplified(const std::string& body) {
  std::string text = test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = input i64 ModuleData
  %2 = input i32 GridDimX
  %3 = lt.u bool %0, %2
  )" + body + R"(
  store %1, %9 [global]
  ret
})",
                                   [](ir::Function& function) {
                                     passes::simplify(function);
                                     passes::removeDeadInstructions(function);
                                   });
  size_t begin = text.find("b0:\n") + 4, end = text.find("  ret");
  return text.substr(begin, end - begin);
}

struct Case {
  const char *before, *after;
};

class Simplifies : public testing::TestWithParam<Case> {};

TEST_P(Simplifies, ToTheCheaperForm) {
  std::string after = simplified(GetParam().before);
  EXPECT_NE(after.find(GetParam().after), std::string::npos) << after;
}

constexpr const char* storesLane = "%0 = input i32 LocalIndex\n  %1 = input i64 ModuleData\n  store %1, %0 [global]";
constexpr const char* storesCondition = "%3 = lt.u bool %0, %2\n  %4 = zext i32 %3\n  store %1, %4 [global]";

INSTANTIATE_TEST_SUITE_P(
    Identities, Simplifies,
    testing::Values(
        Case{"%5 = const i32 0 %9 = add i32 %5, %0", storesLane},
        Case{"%5 = const i32 0 %9 = sub i32 %0, %5", storesLane},
        Case{"%5 = const i32 1 %9 = mul i32 %0, %5", storesLane},
        Case{"%5 = const i32 -1 %9 = and i32 %0, %5", storesLane}, Case{"%9 = or i32 %0, %0", storesLane},
        Case{"%5 = const i32 0 %9 = shl i32 %0, %5", storesLane}, Case{"%9 = min.u i32 %0, %0", storesLane},
        Case{"%5 = const i32 12 %6 = const i32 6 %7 = and i32 %0, %5 %9 = and i32 %7, %6", "const i32 4"},
        Case{"%5 = const i32 0x7777 %6 = const i32 0x8888 %7 = and i32 %0, %5 %8 = and i32 %7, %6 %9 = or i32 %8, %0",
             storesLane},
        Case{"%5 = const i32 31 %6 = and i32 %2, %5 %9 = min.u i32 %6, %5",
             "%3 = and i32 %1, %2\n  store %0, %3 [global]"},
        Case{"%5 = const i32 31 %6 = and i32 %2, %5 %7 = zext i64 %0 %8 = shl i64 %7, %6 %9 = trunc i32 %8",
             "= shl i32 %0, %4\n"},
        Case{"%5 = const i32 63 %6 = and i32 %2, %5 %7 = zext i64 %0 %8 = shl i64 %7, %6 %9 = trunc i32 %8",
             "%6 = shl i64 %5, %4\n  %7 = trunc i32 %6"},
        Case{"%5 = const i32 30 %6 = const i32 31 %7 = and i32 %2, %6 %9 = min.u i32 %7, %5", "%5 = min.u i32 %4, %2"},
        Case{"%5 = not i32 %0 %9 = not i32 %5", storesLane}, Case{"%5 = zext i64 %0 %9 = trunc i32 %5", storesLane},
        Case{"%5 = bitcast f32 %0 %9 = bitcast i32 %5", storesLane},
        Case{"%5 = vec <2 x i32> %2, %0 %9 = extract i32 %5, 1", storesLane},
        Case{"%5 = vec <2 x i32> %2, %2 %6 = insert <2 x i32> %5, %0, 1 %9 = extract i32 %6, 1", storesLane},
        Case{"%5 = const i16 0x4301 %6 = const i16 0x3f7f %7 = vec <2 x i16> %5, %6 %9 = bitcast i32 %7",
             "const i32 0x3f7f4301"},
        Case{"%9 = select i32 %3, %0, %0", storesLane},
        Case{"%5 = const f32 0xff800001 %6 = isnan bool %5 %9 = select i32 %6, %0, %2", storesLane},
        Case{"%5 = const f16 0xfc00 %6 = isnan bool %5 %9 = select i32 %6, %2, %0", storesLane},
        Case{"%5 = const f64 0xfff0000000000000 %6 = isinf bool %5 %9 = select i32 %6, %0, %2", storesLane},
        // A NaN is unlike itself: the driver of an H200 has been seen to say otherwise in f16.
        Case{"%5 = const i32 0x7fffffff %6 = bitcast <2 x f16> %5 %7 = extract f16 %6, 1 %8 = fne.u bool %7, %7 "
             "%9 = select i32 %8, %0, %2",
             storesLane},
        Case{"%5 = const f16 0x7fff %6 = feq.u bool %5, %5 %9 = select i32 %6, %0, %2", storesLane},
        Case{"%5 = const f16 0x7fff %6 = fne bool %5, %5 %9 = select i32 %6, %2, %0", storesLane},
        Case{"%5 = const f32 0x7fc00000 %6 = fle bool %5, %5 %9 = select i32 %6, %2, %0", storesLane},
        Case{"%5 = const f16 0xfc00 %6 = const f16 0x3c00 %7 = flt bool %5, %6 %9 = select i32 %7, %0, %2", storesLane},
        Case{"%5 = const f64 0x7ff0000000000000 %6 = flt.u bool %5, %5 %9 = select i32 %6, %2, %0", storesLane},
        Case{"%5 = const f32 0xff800001 %6 = fabs f32 %5 %9 = bitcast i32 %6", "const i32 0x7f800001"},
        Case{"%5 = const f32 0x7f800001 %6 = fneg f32 %5 %9 = bitcast i32 %6", "const i32 0xff800001"},
        Case{"%5 = const bool true %9 = select i32 %5, %0, %2", storesLane}, Case{"%9 = xor i32 %0, %0", "const i32 0"},
        Case{"%9 = sub i64 %1, %1", "const i64 0"},
        Case{"%5 = const i32 8 %9 = div.u i32 %0, %5", "const i32 3\n  %3 = shr.u i32 %0, %2"},
        Case{"%5 = const i32 8 %9 = rem.u i32 %0, %5", "const i32 7\n  %3 = and i32 %0, %2"},
        Case{"%5 = const i32 4 %6 = add i32 %0, %5 %7 = const i32 8 %9 = add i32 %6, %7",
             "const i32 12\n  %3 = add i32 %0, %2"},
        Case{"%5 = zext i32 %3 %6 = const i32 0 %7 = ne bool %5, %6 %9 = zext i32 %7", storesCondition},
        Case{"%5 = const i32 -1 %6 = const i32 0 %7 = select i32 %3, %5, %6 %8 = ne bool %7, %6 %9 = zext i32 %8",
             storesCondition},
        Case{"%5 = const bool true %6 = const bool false %7 = select bool %3, %5, %6 %9 = zext i32 %7",
             storesCondition},
        Case{"%5 = not bool %3 %9 = zext i32 %5", "le.u bool %2, %0"},
        Case{"%4 = lt.u bool %2, %0 %5 = or bool %3, %4 %6 = not bool %5 %9 = select i32 %6, %2, %0",
             "select i32 %5, %0, %2"},
        Case{"%5 = trunc i8 %0 %6 = zext i32 %5 %9 = zext i64 %6", "zext i64 %2"},
        Case{"%5 = trunc i8 %0 %6 = sext i64 %5 %9 = trunc i16 %6", "sext i16 %2"},
        Case{"%4 = const i32 16 %5 = shr.u i32 %0, %4 %6 = trunc i16 %5 %7 = zext i32 %6 %9 = shl i32 %7, %4",
             "const i32 0xffff0000\n  %3 = and i32 %0, %2"},
        Case{"%4 = const i32 8 %5 = shr.u i32 %0, %4 %6 = trunc i16 %5 %7 = zext i32 %6 %9 = shl i32 %7, %4",
             "const i32 0xffff00\n  %3 = and i32 %0, %2"}));

INSTANTIATE_TEST_SUITE_P(
    Constants, Simplifies,
    testing::Values(Case{"%5 = const i64 0x100000000 %6 = const i64 -1 %9 = mul i64 %5, %6",
                         "const i64 0xffffffff00000000"},
                    Case{"%5 = const i8 0x80 %9 = sext i32 %5", "const i32 0xffffff80"},
                    Case{"%5 = const i32 0x80000000 %6 = const i32 -1 %9 = mulhi.s i32 %5, %6", "const i32 0\n"},
                    Case{"%5 = const i32 0 %9 = findmsb.u i32 %5", "const i32 0xffffffff"},
                    Case{"%5 = const f32 1.5 %6 = const f32 2.25 %9 = fmul f32 %5, %6", "const f32 0x40580000"},
                    // Denormals and NaN are left to the target, and so are divisions by zero.
                    Case{"%5 = const f32 0x00000001 %6 = const f32 1.0 %9 = fadd f32 %5, %6", "fadd f32"},
                    Case{"%5 = const f16 0x0001 %6 = feq bool %5, %5 %9 = zext i32 %6", "feq bool"},
                    Case{"%5 = const f32 -4097 %6 = const f32 4097 %7 = const f32 16785408 %9 = fma f32 %5, %6, %7",
                         "const f32 0xbf800000"},
                    Case{"%5 = const f32 0x1f000000 %9 = fmul f32 %5, %5", "fmul f32"},
                    Case{"%5 = const f32 1.5 %9 = fconvert f64 %5", "const f64 0x3ff8000000000000"},
                    Case{"%5 = const f64 0x3ff0000010000000 %9 = fconvert f32 %5", "const f32 0x3f800000"},
                    Case{"%5 = const f64 0x3ff0000030000000 %9 = fconvert f32 %5", "const f32 0x3f800002"},
                    Case{"%5 = const f64 0x3ff0000010000000 %9 = fconvert f32 %5 {rp}", "fconvert f32"},
                    Case{"%5 = const f64 0x3800000000000000 %9 = fconvert f32 %5", "fconvert f32"},
                    Case{"%5 = const f64 0x7ff0000000000000 %9 = fconvert f32 %5", "fconvert f32"},
                    Case{"%5 = const f32 0x00000001 %9 = fconvert f64 %5", "fconvert f64"},
                    Case{"%5 = const f32 0x7fc00001 %9 = fadd f32 %5, %5", "fadd f32"},
                    Case{"%5 = const f32 1.0 %6 = const f32 0x33000000 %9 = fadd f32 %5, %6 {rz}", "fadd f32"},
                    Case{"%5 = const i32 1 %6 = const i32 0 %9 = div.u i32 %5, %6", "div.u i32"}));

// Random expressions of all widths; the interpreter must store the same before and after.
TEST(Simplify, KeepsTheValueOfRandomExpressions) {
  using ir::Op;
  const Op operations[] = {Op::Add,  Op::Sub,      Op::Mul,      Op::MulHiU,      Op::MulHiS,   Op::And,   Op::Or,
                           Op::Xor,  Op::UMin,     Op::UMax,     Op::SMin,        Op::SMax,     Op::IEq,   Op::INe,
                           Op::ULt,  Op::ULe,      Op::SLt,      Op::SLe,         Op::Shl,      Op::LShr,  Op::AShr,
                           Op::Not,  Op::Neg,      Op::Select,   Op::ZExt,        Op::SExt,     Op::Trunc, Op::UDiv,
                           Op::URem, Op::PopCount, Op::FindMsbU, Op::BitExtractS, Op::BitInsert};
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    ir::Function function;
    function.isStructured = function.isSsa = true;
    ir::Builder b(function, function.addBlock());
    auto pick = [&](uint64_t bound) { return random() % bound; };
    const ir::Type widths[] = {ir::I8, ir::I16, ir::I32, ir::I64};
    std::vector<ir::Instruction*> values{b.input(ir::InputKind::LocalIndex)};
    const uint64_t special[] = {0, 1, 2, 7, 8, 0x80, 0x7FFF'FFFF, 0x8000'0000, ~uint64_t(0), random()};
    for (int i = 0; i < 8; ++i) values.push_back(b.constant(widths[pick(4)], special[pick(10)]));
    auto choose = [&](ir::Type type) {
      std::vector<ir::Instruction*> fitting;
      for (ir::Instruction* value : values)
        if (value->type == type) fitting.push_back(value);
      return fitting.empty() ? b.constant(type, special[pick(10)]) : fitting[pick(fitting.size())];
    };
    for (int i = 0; i < 30; ++i) {
      ir::Type type = widths[pick(4)];
      Op op = operations[pick(std::size(operations))];
      ir::Instruction* x = choose(type);
      ir::Instruction* result;
      switch (op) {
        case Op::Shl:
        case Op::LShr:
        case Op::AShr: result = b.emit(op, type, {x, b.i32(uint32_t(pick(type.bits)))}); break;
        case Op::Not:
        case Op::Neg: result = b.unary(op, x); break;
        case Op::Select: result = b.select(choose(ir::Bool), x, choose(type)); break;
        case Op::ZExt:
        case Op::SExt: result = type.bits < 64 ? b.convert(op, ir::I64, x) : x; break;
        case Op::Trunc: result = type.bits > 8 ? b.convert(op, ir::I8, x) : x; break;
        case Op::UDiv:
        case Op::URem: result = b.binary(op, x, b.constant(type, 1 + pick(100))); break;
        case Op::PopCount:
        case Op::FindMsbU: result = b.emit(op, ir::I32, {x}); break;
        case Op::BitExtractS:
        case Op::BitInsert: {
          uint64_t offset = pick(type.bits), count = pick(type.bits - offset + 1);
          ir::Instruction *at = b.i32(uint32_t(offset)), *bits = b.i32(uint32_t(count));
          result =
              op == Op::BitInsert ? b.emit(op, type, {x, choose(type), at, bits}) : b.emit(op, type, {x, at, bits});
          break;
        }
        default: result = b.binary(op, x, choose(type)); break;
      }
      values.push_back(result);
    }
    for (ir::Instruction* value : values)
      if (value->type.isInt()) b.store(b.i64(values.size()), value, {});
    b.ret();
    ASSERT_EQ(ir::verify(function), "");
    std::string before = ir::print(function);
    std::vector<test::LaneResult> expected;
    for (uint32_t lane = 0; lane < 3; ++lane) expected.push_back(test::runLane(function, lane, 100));
    passes::simplify(function);
    passes::removeCommonSubexpressions(function);
    passes::removeDeadInstructions(function);
    ASSERT_EQ(ir::verify(function), "");
    for (uint32_t lane = 0; lane < 3; ++lane) {
      ASSERT_EQ(expected[lane].error, "");
      ASSERT_EQ(test::runLane(function, lane, 100).stores, expected[lane].stores)
          << "seed " << seed << " lane " << lane << "\n"
          << before << ir::print(function);
    }
  }
}

}  // namespace
}  // namespace mulciber
