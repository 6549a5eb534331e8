// A plan on a device: its kernels, its tables, and the memory that it works in. Through the CUDA driver API alone.
#pragma once

#include <cuda.h>
#include <cufft.h>

#include <vector>

#include "libraries/fft/plan.h"

namespace mulciber::fft {

class Transform {
 public:
  Transform() = default;
  ~Transform();
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  cufftResult prepare(const Problem& problem);
  size_t workBytes() const { return workBytes_; }
  // Whether arrays of pairs of real numbers start where its kernels need them.
  bool takes(CUdeviceptr input, CUdeviceptr output) const {
    return input % inputAlignment_ == 0 && output % outputAlignment_ == 0;
  }
  cufftResult run(CUdeviceptr input, CUdeviceptr output, CUdeviceptr work, CUstream stream) const;

 private:
  struct Kernel {
    CUfunction function;
    Place from, to;
    unsigned blocks, threads;
  };

  CUmodule module_ = nullptr;
  CUdeviceptr tables_ = 0;
  std::vector<Kernel> kernels_;
  size_t workBytes_ = 0, otherWork_ = 0, middle_ = 0;
  size_t inputAlignment_ = 1, outputAlignment_ = 1;
};

}  // namespace mulciber::fft
