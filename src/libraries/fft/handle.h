// A handle of cuFFT's: the transforms that its plan may be asked for, and what they work with.
#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "libraries/fft/transform.h"

namespace mulciber::fft {

// As a program gives it: lengths, and layouts where it has its own.
struct Request {
  Kind kind = Kind::ComplexToComplex;
  bool isDouble = false;
  std::vector<int64_t> lengths;
  int64_t batch = 1;
  struct Side {
    std::vector<int64_t> embed;  // empty: arrays without gaps
    int64_t stride = 1, distance = 0;
  } input, output;
};

// The transform of a request in one direction, of two arrays or in place. Rows of real numbers that share their memory
// with complex ones are padded to their length.
Problem problemOf(const Request& request, bool isInverse, bool isInPlace);

// What a plan of it works in, on a device like any other.
size_t workBytesOf(const Request& request);

class Handle {
 public:
  ~Handle();

  cufftResult make(const Request& request);
  cufftResult run(Kind kind, bool isDouble, bool isInverse, CUdeviceptr input, CUdeviceptr output);
  // Whatever the plan is. The direction is that of complex transforms; the others have one alone.
  cufftResult run(std::optional<bool> isInverse, CUdeviceptr input, CUdeviceptr output);

  size_t workBytes() const { return workBytes_; }
  cufftResult setWork(CUdeviceptr work);
  cufftResult setStream(CUstream stream);
  cufftResult allocateWork(bool isAutomatic);

 private:
  cufftResult runLocked(bool isInverse, CUdeviceptr input, CUdeviceptr output);

  std::mutex mutex_;
  bool isMade_ = false, allocates_ = true;
  Request request_;
  // Forward and inverse; of two arrays, and of one if that is another transform.
  std::unique_ptr<Transform> transforms_[2][2];
  // Of real arrays that start where complex ones could not; made when the first comes, which is seldom.
  std::unique_ptr<Transform> unaligned_[2];
  size_t workBytes_ = 0;
  CUdeviceptr ownWork_ = 0, work_ = 0;
  CUstream stream_ = nullptr;
};

}  // namespace mulciber::fft
