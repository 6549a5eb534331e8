// Floating-point arithmetic on bit patterns, correctly rounded in every mode: done by the host's own unit.
#pragma once

#include <cstdint>

#include "translator/ir/ir.h"

namespace mulciber::test {

enum class FloatOp : uint8_t { Add, Sub, Mul, Div, Fma, Sqrt };

// `bits` is 16, 32 or 64.
uint64_t referenceFloat(FloatOp op, unsigned bits, ir::Rounding rounding, uint64_t a, uint64_t b, uint64_t c);
uint64_t referenceConvert(unsigned fromBits, unsigned toBits, ir::Rounding rounding, uint64_t a);
uint64_t referenceFromInteger(unsigned toBits, ir::Rounding rounding, bool isSigned, uint64_t value);

// An f64 number's bits rounded to an IEEE format of the given width, NaN as NVIDIA's hardware makes it.
uint64_t roundToFormat(uint64_t number, unsigned bits, unsigned mantissa, ir::Rounding rounding);

bool isNanBits(unsigned bits, uint64_t a);
bool isDenormalBits(unsigned bits, uint64_t a);
double toDouble(unsigned bits, uint64_t a);    // exact
uint64_t fromDouble(unsigned bits, double a);  // rounds to nearest

}  // namespace mulciber::test
