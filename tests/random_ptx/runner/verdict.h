// What came of a program: on a device, and by the interpreter.
#pragma once

#include <string>

#include "random_ptx/generator/kernel.h"
#include "support/cuda_driver.h"

namespace mulciber::random_ptx {

enum class Verdict : uint8_t {
  Agrees,
  Differs,
  Fails,     // the device refuses it or reports an error
  Crashes,   // the process that ran it ended
  Hangs,     // it made no progress
  Unjudged,  // the interpreter gives no result: a fault of the generator or of the interpreter
};
inline constexpr unsigned kVerdicts = 6;
const char* nameOf(Verdict verdict);

struct Outcome {
  Verdict verdict = Verdict::Agrees;
  std::string detail;  // lines that say how it differs or why it fails
};

// Changes the buffers as the program does by the interpreter. Empty, or why there is no result.
std::string interpret(const Program& program, const std::string& text, Buffers& buffers);

// The interpreter runs first: what it cannot judge does not run on a device.
Outcome judge(const test::CudaDriver& cu, const Program& program);

}  // namespace mulciber::random_ptx
