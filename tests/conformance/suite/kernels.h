// Kernels that run many cases: every thread takes one row of input values through each of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/suite/case.h"

namespace mulciber::conformance {

inline constexpr unsigned kBlockThreads = 256;

// Cases that one kernel runs: all of one signature.
using Batch = std::vector<const Case*>;
std::vector<Batch> makeBatches(std::span<const Case* const> cases, size_t most);

// Columns of 64 bits that a case's results take.
unsigned columnsOf(const Case& one);
unsigned columnsOf(const Batch& batch);

// Bytes of device memory that each thread may write to: the %global of memory cases.
inline constexpr unsigned kThreadBytes = 64;

// Bytes of the last parameter, for loads from parameter memory: byte i holds i * 37 + 11.
inline constexpr unsigned kExtraBytes = 64;

// A module with the kernel `cases(inputs, results, memory, extra)`. inputs and results are columns of 64-bit values.
std::string kernelText(const Batch& batch, unsigned rows);

}  // namespace mulciber::conformance
