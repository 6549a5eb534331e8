// A CUDA driver, NVIDIA's or Mulciber's: whichever library is given.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>
#include <vector>

#include "conformance/suite/engine.h"

namespace mulciber::conformance {

class Device : public Engine {
 public:
  // Null when the library cannot be loaded or there is no device; `error` says why.
  static std::unique_ptr<Device> open(const std::string& library, std::string& error);
  ~Device() override;

  const std::string& name() const { return name_; }
  const std::string& driver() const { return driver_; }

  std::string launch(const Batch& batch, const InputTable& inputs, std::vector<uint64_t>& results) override;

 private:
  struct Functions;
  Device();

  std::unique_ptr<Functions> cu_;
  CUcontext context_ = nullptr;
  std::string name_, driver_;
};

}  // namespace mulciber::conformance
