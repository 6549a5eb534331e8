// Where the functions of an ELF file begin and end: from .eh_frame, which unwinding needs and stripping leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/fatbin/elf.h"

namespace mulciber::redirect {

struct FunctionBounds {
  uint64_t address = 0, size = 0;
  uint64_t end() const { return address + size; }
};

// In the order of their addresses; empty when the file has no .eh_frame or a damaged one.
std::vector<FunctionBounds> functionBounds(const fatbin::Elf& elf);

// The function around an address, or null.
const FunctionBounds* functionAround(const std::vector<FunctionBounds>& functions, uint64_t address);

}  // namespace mulciber::redirect
