// What the IR's arithmetic operations give, one at a time: the reference that lowerings and passes are tested with.
//
// Values are bits, zero-extended to 64; a vector of up to 64 bits has lane 0 lowest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "translator/ir/ir.h"

namespace mulciber::test {

// How a device falls short of the IR's definitions. The defaults are a perfect one.
struct FloatModel {
  bool fusesFma = true;             // rounds once
  bool fmaKeepsDenormals32 = true;  // otherwise f32 fma reads and gives zeros for them
  bool keepsDenormals32 = true;     // the same for the other f32 operations
  int divisionError = 0;            // units in the last place that div, rcp, sqrt and rsqrt may be off by
  bool approximationsFlush32 = false;
  bool minMaxKnowsZeros = true;  // -0 < +0
  bool onlyNearest = false;      // an operation with another rounding or with .ftz is an error
};

// Empty for operations that are no arithmetic, or that the model's device does not have.
std::optional<uint64_t> evaluate(const ir::Instruction& instruction, std::span<const uint64_t> operands,
                                 const FloatModel& model = {});

}  // namespace mulciber::test
