// What passes a transform takes, and what they need.
#pragma once

#include <complex>
#include <vector>

#include "libraries/fft/pass.h"
#include "libraries/fft/problem.h"

namespace mulciber::fft {

struct Plan {
  std::vector<Pass> passes;
  std::vector<std::complex<double>> tables;
  // Sizes of the places in elements of complex numbers.
  int64_t middle = 0, work = 0, otherWork = 0;
};

// What a kernel may take of the shared memory of a block at most, so that several blocks find room on a multiprocessor.
constexpr int mostShared = 36 << 10;

inline size_t workBytesOf(const Plan& plan, bool isDouble) {
  return (plan.middle + plan.work + plan.otherWork) * (isDouble ? 16 : 8);
}

// `shared`: bytes of shared memory that a block of the device may have.
Plan makePlan(const Problem& problem, int64_t shared);
// Without its tables, for what it needs on a device like any other.
Plan planSizes(const Problem& problem);

}  // namespace mulciber::fft
