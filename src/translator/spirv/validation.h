// What SPIRV-Tools says about a module.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mulciber::spirv {

// Empty when valid for Vulkan 1.3, else what the validator says.
std::string validate(const std::vector<uint32_t>& spirv);

// With friendly names and without the header.
std::string disassemble(const std::vector<uint32_t>& spirv);

}  // namespace mulciber::spirv
