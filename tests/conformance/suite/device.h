// A CUDA driver, NVIDIA's or Mulciber's: whichever library is given.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>
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

class Device {
 public:
  // Null when the library cannot be loaded or there is no device; `error` says why.
  static std::unique_ptr<Device> open(const std::string& library, std::string& error);
  ~Device();

  const std::string& name() const { return name_; }
  const std::string& driver() const { return driver_; }

  // Safe to call from many threads. A batch that cannot be run is halved until only the cases to blame are refused.
  void run(const Batch& batch, const InputTable& inputs, const std::function<void(const Case&, Outcome)>& take);

 private:
  struct Functions;
  Device();
  bool launch(const Batch& batch, const InputTable& inputs, std::vector<uint64_t>& results, std::string& error);

  std::unique_ptr<Functions> cu_;
  CUcontext context_ = nullptr;
  std::string name_, driver_;
};

struct RunOptions {
  unsigned threads = 1;
  unsigned shard = 0, shards = 1;  // only the kernels of this shard
  // Called with a line of text every few seconds, and for each kernel that runs for long.
  std::function<void(const std::string&)> progress;
};

// Runs the cases. `take` is called from one thread at a time. Cases for which `isAlone` says so do not share a kernel.
void runCases(Device& device, std::span<const Case* const> cases, const RunOptions& options,
              const std::function<bool(const Case&)>& isAlone, const std::function<void(const Case&, Outcome)>& take);

}  // namespace mulciber::conformance
