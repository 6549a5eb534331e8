// What the code of one function shows about it, without any symbol: the only file that disassembles.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/fatbin/elf.h"

namespace mulciber::redirect {

struct FunctionSigns {
  std::vector<uint32_t> firstArguments;  // the constants it loads into edi, in order
  std::vector<uint64_t> calls;           // the targets of its direct calls, in order
  uint64_t tailCall = 0;                 // where it jumps at its end, outside of itself
  unsigned argumentRegisters = 0;        // of rdi, rsi, rdx, rcx, r8, r9: how many it reads before its first call
  unsigned stackArguments = 0;           // how many of its arguments on the stack it reads
  unsigned instructions = 0;
  bool isIntact = false;  // every byte was an instruction's

  bool calledFirst(uint64_t target) const { return !calls.empty() && calls.front() == target; }
  bool calledAnywhere(uint64_t target) const;
};

FunctionSigns readSigns(fatbin::Bytes code, uint64_t address);

}  // namespace mulciber::redirect
