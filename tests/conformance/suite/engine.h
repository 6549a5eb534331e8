// Whatever runs the cases' kernels: a CUDA driver, or an interpreter.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/suite/inputs.h"
#include "conformance/suite/kernels.h"

namespace mulciber::conformance {

// What a case gave: its columns one after the other, each as long as the inputs. Refused when `message` is not empty.
struct Outcome {
  std::vector<uint64_t> values;
  std::string message;
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Runs one kernel; says what was wrong, or nothing. Safe to call from many threads.
  virtual std::string launch(const Batch& batch, const InputTable& inputs, std::vector<uint64_t>& results) = 0;
  // A batch that cannot be run is halved until only the cases to blame are refused.
  void run(const Batch& batch, const InputTable& inputs, const std::function<void(const Case&, Outcome)>& take);
};

// The bytes of the kernel's last parameter.
std::array<uint8_t, kExtraBytes> extraBytes();

struct RunOptions {
  unsigned threads = 1;
  unsigned shard = 0, shards = 1;  // only the kernels of this shard
  // Called with a line of text every few seconds, and for each kernel that runs for long.
  std::function<void(const std::string&)> progress;
};

// Runs the cases. `take` is called from one thread at a time. Cases for which `isAlone` says so do not share a kernel.
void runCases(Engine& engine, std::span<const Case* const> cases, const RunOptions& options,
              const std::function<bool(const Case&)>& isAlone, const std::function<void(const Case&, Outcome)>& take);

}  // namespace mulciber::conformance
