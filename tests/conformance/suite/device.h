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

// Runs the cases on `threads` threads. `take` is called from one thread at a time.
void runCases(Device& device, std::span<const Case* const> cases, unsigned threads,
              const std::function<void(const Case&, Outcome)>& take);

}  // namespace mulciber::conformance
