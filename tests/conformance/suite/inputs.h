// The operand values of a case: special ones in all combinations first, then random ones.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/suite/case.h"

namespace mulciber::conformance {

// Results are hashed in blocks of this many rows.
inline constexpr unsigned kBlockRows = 1024;

struct InputTable {
  unsigned rows = 0;                           // a multiple of kBlockRows
  std::vector<std::vector<uint64_t>> columns;  // one for each input, `rows` long
};

InputTable makeInputs(const std::vector<Input>& inputs);
unsigned rowsOf(const std::vector<Input>& inputs);

// The values worth meeting: zeros, limits, denormals, infinities, NaNs, the boundaries of conversions and shifts.
std::vector<uint64_t> specialValues(Values values);
// A shorter list, for combinations.
std::vector<uint64_t> fewSpecialValues(Values values);

// The value with NVIDIA's NaN in place of any other.
uint64_t withOneNan(Values values, uint64_t bits);

uint64_t hashOf(const std::string& text);

}  // namespace mulciber::conformance
