// Emits floating-point operations with one correct rounding in any mode, out of operations that round to nearest.
//
// The common idea: compute the nearest result r, find the sign of what is left (exact - r), and step r to its
// neighbour where the mode asks for it. rounded_arithmetic_fast.cpp finds the remainder of usual operands by additions
// and fused multiply-adds of the same type. For all others rounded_arithmetic.cpp finds that of f32 in f64; without f64
// or a fused f64 multiply-add the whole operation is done in integers (soft_float.h).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mulciber/translator.h"
#include "translator/analyses/float_ranges.h"
#include "translator/ir/builder.h"

namespace mulciber::passes {

class RoundedArithmetic {
 public:
  using Value = ir::Instruction*;
  RoundedArithmetic(ir::Builder& builder, const TargetProfile& profile) : b(builder), profile_(profile) {}

  // Scalars of f16, f32 or f64. `op` is FAdd, FSub, FMul, FDiv, Fma, FSqrt or FRcp.
  Value compute(ir::Op op, ir::Rounding rounding, std::initializer_list<Value> operands);
  Value compute(ir::Op op, ir::Rounding rounding, const std::vector<Value>& operands);
  Value convert(ir::Type to, Value x, ir::Rounding rounding);                     // float to float
  Value fromInteger(ir::Type to, Value x, bool isSigned, ir::Rounding rounding);  // to f32 or f64

  // A guess is right unless `isRare`; null is never. Where the rare ones are many, a closer guess is made of them.
  struct Closer {
    Value result, isRare;
  };
  struct Guess {
    Value result, isRare;
    std::function<Closer()> closer = nullptr;
  };
  struct Operand {
    Value value;
    analyses::FloatRange range;
  };
  // In f32, with a fused multiply-add, for a device whose own reciprocals are off by at most three units, or refined in
  // one step (TargetProfile::refinesInOneStep32), and roots by two.
  Guess quickReciprocal(const Operand& y);
  Guess quickQuotient(const Operand& x, const Operand& y);
  Guess quickRoot(Value x);
  // In the directed modes, where fma is fused (but for f32's sums) and may flush f32's denormals.
  Guess quickSum(ir::Rounding rounding, Value x, Value y, bool flushes);
  Guess quickProduct(ir::Rounding rounding, Value x, Value y);
  Guess quickFma(ir::Rounding rounding, Value x, Value y, Value z);
  // Where z is a constant of ordinary size and the sum stays near it; `product` is what x * y is known to be.
  std::optional<Guess> quickFmaNear(ir::Rounding rounding, Value x, Value y, Value z,
                                    const analyses::FloatRange& product);
  // To nearest, for a device that keeps denormals but in fma: exact where operands or the result are small.
  Guess quickSmallFma(Value x, Value y, Value z);
  // Of bf16 numbers in f32: the result may be rounded to bf16 again. Denormals are kept.
  Guess quickBfloatFma(Value x, Value y, Value z);

  // 2^x within two units, denormals included, for devices whose own is not.
  Value power(Value x);

  Value flush(Value x);                        // denormals to zeros of their sign
  Value isDenormal(Value x);                   // zeros count: the exponent field is empty
  Value minMax(bool isMin, Value x, Value y);  // -0 < +0 whatever the device says
  Value oneNan(Value x);                       // NVIDIA's NaN for any of f16 and f32

  // Whether the result of FMul, Fma, FDiv or FRcp, rounded with an exponent that has no lower end, is less than the
  // smallest normal number: what .ftz makes a zero. A result rounded among denormals may have been raised to it.
  Value isTiny(ir::Op op, ir::Rounding rounding, bool isNative, std::vector<Value> operands, Value result);

 private:
  Value widenHalf(Value x);
  Value step(Value result, Value remainder, ir::Rounding rounding);
  Value withSignOf(Value x, Value y);
  Value signedZero(Value result, Value x, Value y, ir::Rounding rounding);

  Value widen(Value x);
  Value sumOdd(Value x, Value y, ir::Rounding zeroSign);
  Value single(ir::Op op, ir::Rounding rounding, std::initializer_list<Value> operands);
  Value softSingle(ir::Op op, ir::Rounding rounding, std::initializer_list<Value> operands);
  Value zeroOfProduct(Value x, Value y);
  Value half(ir::Op op, ir::Rounding rounding, std::initializer_list<Value> operands);
  Value sum(ir::Rounding rounding, Value x, Value y);
  Value wideProduct(ir::Rounding rounding, Value x, Value y);
  Value wideQuotient(ir::Rounding rounding, Value x, Value y);
  Value wideRoot(ir::Rounding rounding, Value x);
  Value residual(Value x, Value q, Value y);  // x - q * y, its sign right
  Value refinedQuotient(ir::Rounding rounding, Value x, Value y);
  Value refinedRoot(ir::Rounding rounding, Value x);
  struct Scaled {
    Value value, exponent;
  };
  Scaled scaled(Value x);
  Value assemble(ir::Rounding rounding, Value isNegative, Value exponent, Value value, Value isHalf, Value beyond);
  Value stepBelow(Value value, Value remainder);
  Value halfUnit(Value value);
  Value isSpecial(Value x);
  Value fma64(Value x, Value y, Value z);

  Value isBetween(Value x, float lowest, float highest);
  Value isBeyond(std::initializer_list<Operand> operands, float lowest, float highest);
  Value remainder(Value x, Value q, Value y);
  Value lostBySum(Value sum, Value x, Value y);
  Value estimatedReciprocal(Value y);
  Value refinedReciprocal(Value estimate, Value y);
  Closer quotientOfZero(Value x, Value y);
  static std::optional<float> knownReciprocal(const Operand& y);
  Value reciprocalByRoot(Value y);
  Value longerRoot(Value x);
  Value isEasyDivisor(Value y);

  Value bits(Value x) { return b.bitcast(x->type.asInt(), x); }
  Value like(Value x, uint64_t pattern) { return b.constant(x->type, pattern); }
  Value magnitudeBits(Value x);

  ir::Builder& b;
  const TargetProfile& profile_;
};

}  // namespace mulciber::passes
