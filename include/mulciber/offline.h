// What translating ahead of time needs besides translator.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mulciber/translator.h"

namespace mulciber {

// Kernels that were translated for `made` may be wrong on a device of the other profile. Gives the members of the
// profile that are the reason, separated by commas; empty when the kernels are right there. More abilities do no harm.
std::string whatKeepsFrom(const TargetProfile& made, const TargetProfile& device);

// For kernels that run on every device that Mulciber can use: these profiles promise the least and have every fault,
// and between them each device finds its own way with floats. `usesMore`: but f64, textures and surfaces are there.
std::vector<TargetProfile> portableProfiles(bool usesMore);

// As JSON, but only the members that are not at their defaults.
std::string toBriefJson(const TargetProfile& profile);

// How a kernel's parameters were declared. KernelInfo::parameters has where they lie.
enum class ParameterKind : uint8_t { Integer, Float, Bytes };
std::vector<ParameterKind> parameterKinds(const ParsedModule& module, std::string_view kernel);

}  // namespace mulciber
