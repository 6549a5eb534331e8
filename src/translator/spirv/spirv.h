// From structured SSA IR to a SPIR-V 1.6 module for Vulkan 1.3 with the Vulkan memory model: one entry point "main".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mulciber/translator.h"
#include "translator/ir/ir.h"

namespace mulciber::spirv {

// The size of the uniform buffer of a kernel that reads constants through one: up to the end of the module's.
uint32_t constantBlockBytes(const ir::Program& program);

struct Refusal {
  std::string reason;   // a clause: "the device has no 64-bit floats"
  uint32_t source = 0;  // offset in the PTX text
};

// Needs functions[0] structured and in SSA form, with calls inlined. Nothing, and why, when the target cannot do it.
std::optional<std::vector<uint32_t>> emit(const ir::Program& program, const TargetProfile& profile,
                                          const TranslateOptions& options, Refusal& refusal);

}  // namespace mulciber::spirv
