// What translating ahead of time needs besides translator.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mulciber/translator.h"

namespace mulciber {

// Which members of the profile keep kernels that were translated for `made` from being right on a device of the other
// profile, separated by commas; empty when they are right there. Whatever a device can do more does no harm.
std::string whatKeepsFrom(const TargetProfile& made, const TargetProfile& device);

// How a kernel's parameters were declared. KernelInfo::parameters has where they lie.
enum class ParameterKind : uint8_t { Integer, Float, Bytes };
std::vector<ParameterKind> parameterKinds(const ParsedModule& module, std::string_view kernel);

}  // namespace mulciber
