// A CUDA driver, NVIDIA's or Mulciber's: whichever library is given.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/suite/engine.h"
#include "support/cuda_driver.h"

namespace mulciber::conformance {

class Device : public Engine {
 public:
  // Null when the library cannot be loaded or there is no device; `error` says why.
  static std::unique_ptr<Device> open(const std::string& library, std::string& error);

  const std::string& name() const { return cu_->device; }
  const std::string& driver() const { return cu_->version; }

  std::string launch(const Batch& batch, const InputTable& inputs, std::vector<uint64_t>& results) override;

 private:
  explicit Device(std::unique_ptr<test::CudaDriver> cu) : cu_(std::move(cu)) {}

  std::unique_ptr<test::CudaDriver> cu_;
};

}  // namespace mulciber::conformance
