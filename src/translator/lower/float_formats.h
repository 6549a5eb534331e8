// Binary floating-point formats, and PTX float values as lanes in types with which the IR can compute.
#pragma once

#include "translator/lower/arithmetic.h"

namespace mulciber::lower {

struct FloatFormat {
  unsigned bits;      // in all
  unsigned mantissa;  // explicit bits
  enum class Special : uint8_t {
    InfinityAndNan,  // all-ones exponent, as IEEE
    NanOnly,         // all ones is NaN, the rest of that exponent are numbers: e4m3
    None,            // every code is a number: e2m1, e2m3, e3m2
  } special = Special::InfinityAndNan;

  constexpr unsigned exponentBits() const { return bits - 1 - mantissa; }
  constexpr int bias() const { return (1 << (exponentBits() - 1)) - 1; }
  constexpr uint64_t signBit() const { return uint64_t(1) << (bits - 1); }
  constexpr uint64_t smallestNormal() const { return uint64_t(1) << mantissa; }
  constexpr uint64_t infinity() const { return ((uint64_t(1) << exponentBits()) - 1) << mantissa; }
  constexpr uint64_t largestFinite() const {
    if (special == Special::InfinityAndNan) return infinity() - 1;
    return signBit() - (special == Special::NanOnly ? 2 : 1);
  }
  constexpr uint64_t nan() const { return signBit() - 1; }  // as NVIDIA's hardware makes it
};

inline constexpr FloatFormat half{16, 10}, single{32, 23}, doublePrecision{64, 52}, bfloat{16, 7}, tensorFloat{19, 10};
inline constexpr FloatFormat e5m2{8, 2}, e4m3{8, 3, FloatFormat::Special::NanOnly};
inline constexpr FloatFormat e2m3{6, 3, FloatFormat::Special::None}, e3m2{6, 2, FloatFormat::Special::None};
inline constexpr FloatFormat e2m1{4, 1, FloatFormat::Special::None};

const FloatFormat& formatOf(ir::Type type);  // f16, f32, f64

ir::Rounding roundingOf(const ptx::Instruction& instruction, ir::Rounding otherwise = ir::Rounding::NearestEven);
bool flushes(FunctionLowering& f, const ptx::Instruction& instruction);

// An operand's lanes as the type they are computed in: f16, f32, f64; bf16 and tf32 become f32.
std::vector<Value> unpackFloats(FunctionLowering& f, const ptx::Operand& operand, ptx::Type type);
// Writes lanes of the type they were computed in. bf16 is rounded to nearest, unless `fits` says that it need not be.
void writeFloats(FunctionLowering& f, const ptx::Operand& destination, ptx::Type type, std::vector<Value> lanes,
                 bool fits = false);

Value bitsOf(ir::Builder& b, Value x);  // as an integer
Value isNan(ir::Builder& b, Value x);
Value floatConstant(ir::Builder& b, ir::Type type, double number);  // exactly representable, scalar
Value orNan(ir::Builder& b, Value condition, Value x);              // the canonical NaN under the condition, else x
Value clampToUnit(ir::Builder& b, Value x, bool flush = false);     // .sat: [0, 1], and 0 for a NaN
Value rectify(ir::Builder& b, Value x);                             // .relu: 0 for negative ones, the NaN for a NaN

// f32 to a narrower format's bits (i32), and back. Rounding may be nearest, toward zero, down or up.
struct Narrowing {
  ir::Rounding rounding = ir::Rounding::NearestEven;
  bool tiesAway = false;        // .rna
  bool saturateFinite = false;  // .satfinite: out of range gives the largest number
  bool fits = false;            // it is a number of the narrower format, or the NaN
};
Value narrowFloat(ir::Builder& b, Value x, const FloatFormat& format, Narrowing how);
Value widenFloat(ir::Builder& b, Value bits, const FloatFormat& format);
// f32 to the bits (i32) of a format of 8 bits or fewer: to nearest, and the largest number for what is out of range.
Value narrowToSmall(ir::Builder& b, Value x, const FloatFormat& format);
// Two numbers of such a format, whose codes stand in bits (i32) that are otherwise zeros, as f16.
std::vector<Value> widenSmallPair(ir::Builder& b, Value low, Value high, const FloatFormat& format);
// One or two f32 numbers as they are stored in bf16: i16 or i32.
Value packBfloats(FunctionLowering& f, std::span<const Value> lanes, Narrowing how);
Value bfloatToSingle(ir::Builder& b, Value bits);  // of an i16 or the low half of an i32

}  // namespace mulciber::lower
