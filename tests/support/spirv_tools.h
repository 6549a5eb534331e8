// SPIRV-Tools for tests: is a module valid, and what does it look like?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mulciber::test {

// Empty when valid for Vulkan 1.3, else what the validator says.
std::string validate(const std::vector<uint32_t>& spirv);

// With friendly names and without the header.
std::string disassemble(const std::vector<uint32_t>& spirv);

}  // namespace mulciber::test
