// What a plan of cuFFT's asks for.
#pragma once

#include <cstdint>
#include <vector>

namespace mulciber::fft {

enum class Kind { ComplexToComplex, RealToComplex, ComplexToReal };

// Where one side's elements lie, counted in elements of its own type.
struct Layout {
  std::vector<int64_t> strides;  // of each axis
  int64_t distance = 0;          // from one transform of the batch to the next
};

struct Problem {
  Kind kind = Kind::ComplexToComplex;
  bool isDouble = false;
  bool isInverse = false;
  bool isInPlace = false;        // both sides are one array
  bool isAligned = true;         // real arrays start where complex ones could
  std::vector<int64_t> lengths;  // the last axis is the innermost
  int64_t batch = 1;
  Layout input, output;
};

// Whether transforms of one array would write over what others still have to read.
inline bool needsCopy(const Problem& problem) {
  if (!problem.isInPlace) return false;
  const bool fromReal = problem.kind == Kind::RealToComplex, toReal = problem.kind == Kind::ComplexToReal;
  const auto isShared = [&](int64_t in, int64_t out) { return (toReal ? 2 : 1) * in == (fromReal ? 2 : 1) * out; };
  const size_t inner = problem.lengths.size() - 1;
  if (fromReal || toReal ? problem.input.strides[inner] != 1 || problem.output.strides[inner] != 1
                         : problem.input.strides[inner] != problem.output.strides[inner])
    return true;
  for (size_t axis = 0; axis < inner; ++axis)
    if (!isShared(problem.input.strides[axis], problem.output.strides[axis])) return true;
  return problem.batch > 1 && !isShared(problem.input.distance, problem.output.distance);
}

// The layout of arrays without gaps, whose rows take that many elements.
inline Layout packed(const std::vector<int64_t>& lengths, int64_t row) {
  Layout layout;
  layout.strides.assign(lengths.size(), 1);
  layout.distance = row;
  for (size_t axis = lengths.size() - 1; axis-- > 0;) {
    layout.strides[axis] = layout.distance;
    layout.distance *= lengths[axis];
  }
  return layout;
}

}  // namespace mulciber::fft
