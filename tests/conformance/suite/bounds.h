// How far approximate instructions may be from the exact result, as the PTX manual states it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/suite/inputs.h"

namespace mulciber::conformance {

// Nothing when the instruction is exact. Otherwise empty, or the first row that is further off than allowed. `values`
// are the results of the rows given, or of all.
std::optional<std::string> beyondBound(const Case& one, const InputTable& inputs, const std::vector<uint64_t>& values,
                                       const std::vector<unsigned>& rows = {});

// The bound of an approximate instruction in words: "2 units in the last place".
std::string boundOf(const Case& one);

}  // namespace mulciber::conformance
