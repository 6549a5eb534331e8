// Addition to square root in every rounding mode, for every kind of device. MATH-01 to MATH-04.
#include "support/float_checks.h"

namespace mulciber::test {
namespace {

struct Operation {
  const char* name;
  FloatOp op;
  unsigned operands;
};
constexpr Operation operations[] = {{"add", FloatOp::Add, 2}, {"sub", FloatOp::Sub, 2}, {"mul", FloatOp::Mul, 2},
                                    {"fma", FloatOp::Fma, 3}, {"div", FloatOp::Div, 2}, {"sqrt", FloatOp::Sqrt, 1},
                                    {"rcp", FloatOp::Div, 1}};

uint64_t compute(const Operation& operation, unsigned bits, Rounding rounding, const Inputs& x) {
  if (std::string(operation.name) == "rcp")
    return exactFloat(FloatOp::Div, bits, rounding, fromDouble(bits, 1), x[0], 0);
  return exactFloat(operation.op, bits, rounding, x[0], x.size() > 1 ? x[1] : 0, x.size() > 2 ? x[2] : 0);
}

TEST(ArithFloat, RoundsSinglesInEveryMode) {
  for (const Operation& operation : operations)
    for (auto [suffix, rounding] : roundings) {
      Rounding mode = rounding;
      checkFloat(operation.name + std::string(suffix) + ".f32" + registers(operation.operands), "f32",
                 repeated("f32", operation.operands), [&](const Inputs& x) { return compute(operation, 32, mode, x); });
      checkFloat(operation.name + std::string(suffix) + ".ftz.f32" + registers(operation.operands), "f32",
                 repeated("f32", operation.operands), [&](Inputs x) {
                   for (uint64_t& v : x) v = flushed(v);
                   return flushed(compute(operation, 32, mode, x));
                 });
    }
}

TEST(ArithFloat, RoundsDoublesInEveryMode) {
  for (const Operation& operation : operations)
    for (auto [suffix, rounding] : roundings) {
      Rounding mode = rounding;
      checkFloat(operation.name + std::string(suffix) + ".f64" + registers(operation.operands), "f64",
                 repeated("f64", operation.operands), [&](const Inputs& x) { return compute(operation, 64, mode, x); });
    }
}

}  // namespace
}  // namespace mulciber::test
