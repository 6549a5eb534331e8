// Whole programs: a kernel with its functions, and what it is run on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "random_ptx/generator/program.h"
#include "random_ptx/generator/random.h"
#include "random_ptx/generator/registers.h"

namespace mulciber::random_ptx {

struct ProgramOptions {
  bool hasSplitBarriers = true;   // some devices cannot have lanes of one warp wait at different places
  std::optional<Kind> kind = {};  // any
};

// The program of a seed, with the numbers of its nodes.
Program makeProgram(uint64_t seed, const ProgramOptions& options = {});

// The buffers of a program: `inputs` are rows of 64-bit values, one row for each thread, read by the kernel into its
// registers; `results` likewise, written by it; `memory` has the threads' windows and the grid's cells, both.
struct Buffers {
  std::vector<uint8_t> inputs, results, memory, extra;
};
Buffers makeBuffers(const Program& program);

// The names of its parameters are `inputs`, `results`, `memory`, in this order, and `extra`, an array of bytes.
inline constexpr const char* kKernelName = "kernel";

// Code that puts a value of the pool into a register.
std::string constantValue(Random& random, const Pool& pool, const std::string& name);

}  // namespace mulciber::random_ptx
