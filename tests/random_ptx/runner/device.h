// Runs programs on a CUDA driver: NVIDIA's or Mulciber's.
#pragma once

#include <string>

#include "random_ptx/generator/kernel.h"
#include "support/cuda_driver.h"

namespace mulciber::random_ptx {

// Changes the buffers as the kernel does. Empty, or the CUDA function that failed and how.
std::string runOnDevice(const test::CudaDriver& cu, const Program& program, const std::string& text, Buffers& buffers);

}  // namespace mulciber::random_ptx
