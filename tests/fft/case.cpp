#include "fft/case.h"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>
#include <numeric>
#include <random>

namespace mulciber::test {

namespace {

using Complex = std::complex<long double>;  // of more digits than what is tested

constexpr int64_t mostForAll = 3000;  // elements of a transform
constexpr int compared = 24;          // elements of a larger one
constexpr double untouched = 12345;

struct Side {
  std::vector<int64_t> strides;
  int64_t distance = 0;
  bool isReal = false;
  int64_t inner = 0;  // elements of a row
  int64_t size = 0;   // real numbers in all

  int64_t place(int64_t transform, const std::vector<int64_t>& at) const {
    int64_t place = transform * distance;
    for (size_t axis = 0; axis < at.size(); ++axis) place += at[axis] * strides[axis];
    return place;
  }
};

Side sideOf(const FftCase& given, bool isInput) {
  const std::optional<FftLayout>& layout = isInput ? given.input : given.output;
  Side side;
  const size_t rank = given.lengths.size();
  const int64_t inner = given.lengths.back(), half = inner / 2 + 1;
  const bool isHalf = isInput ? given.toReal() : given.fromReal();
  side.isReal = isInput ? given.fromReal() : given.toReal();
  side.inner = isHalf ? half : inner;
  side.strides.resize(rank);
  int64_t stride = layout ? layout->stride : 1;
  for (size_t axis = rank; axis-- > 0;) {
    side.strides[axis] = stride;
    const bool isLast = axis + 1 == rank;
    if (layout) stride *= axis > 0 ? layout->embed[axis] : 1;
    else stride *= !isLast ? given.lengths[axis] : side.isReal && given.isInPlace ? 2 * half : side.inner;
  }
  side.distance = layout ? layout->distance : stride;
  std::vector<int64_t> last;
  for (size_t axis = 0; axis < rank; ++axis) last.push_back((axis + 1 == rank ? side.inner : given.lengths[axis]) - 1);
  side.size = (side.place(given.batch - 1, last) + 1) * (side.isReal ? 1 : 2);
  return side;
}

void forEach(const FftCase& given, const Side& side,
             const std::function<void(int64_t, const std::vector<int64_t>&)>& visit) {
  std::vector<int64_t> at(given.lengths.size());
  const auto length = [&](size_t axis) { return axis + 1 == at.size() ? side.inner : int64_t{given.lengths[axis]}; };
  for (int64_t transform = 0; transform < given.batch; ++transform) {
    std::ranges::fill(at, 0);
    for (bool isOver = false; !isOver;) {
      visit(transform, at);
      size_t axis = at.size();
      while (axis > 0 && ++at[axis - 1] == length(axis - 1)) at[--axis] = 0;
      isOver = axis == 0;
    }
  }
}

// Numbers on the device, of the case's precision. The shift is from the start of their memory, in numbers.
class Array {
 public:
  Array(const std::vector<double>& values, bool isDouble, int shift) : isDouble_(isDouble), count_(values.size()) {
    if (cuMemAlloc(&memory_, (count_ + shift) * bytes()) != CUDA_SUCCESS) return;
    address = memory_ + shift * bytes();
    const std::vector<float> narrow(values.begin(), values.end());
    cuMemcpyHtoD(address, isDouble ? static_cast<const void*>(values.data()) : narrow.data(), count_ * bytes());
  }
  ~Array() { cuMemFree(memory_); }
  std::vector<double> values() const {
    std::vector<double> wide(count_);
    std::vector<float> narrow(isDouble_ ? 0 : count_);
    cuMemcpyDtoH(isDouble_ ? static_cast<void*>(wide.data()) : narrow.data(), address, count_ * bytes());
    if (!isDouble_) wide.assign(narrow.begin(), narrow.end());
    return wide;
  }
  CUdeviceptr address = 0;

 private:
  size_t bytes() const { return isDouble_ ? 8 : 4; }
  CUdeviceptr memory_ = 0;
  bool isDouble_;
  size_t count_;
};

// The sum that defines an element of the output.
class Sums {
 public:
  Sums(const FftCase& given, const Side& side, const std::vector<double>& input)
      : given_(given), side_(side), input_(input) {
    for (const int length : given.lengths) {
      std::vector<Complex>& roots = roots_.emplace_back(length);
      for (int k = 0; k < length; ++k)
        roots[k] = std::polar(1.0L, (given.isInverse ? 2 : -2) * std::numbers::pi_v<long double> * k / length);
    }
  }

  Complex at(int64_t transform, const std::vector<int64_t>& k) const {
    Complex sum;
    std::vector<int64_t> n(k.size()), mirrored(k.size());
    const int64_t all = std::accumulate(given_.lengths.begin(), given_.lengths.end(), int64_t{1}, std::multiplies<>());
    for (int64_t i = 0; i < all; ++i) {
      int64_t rest = i;
      Complex factor = 1;
      for (size_t axis = k.size(); axis-- > 0;) {
        const int64_t length = given_.lengths[axis];
        n[axis] = rest % length;
        rest /= length;
        mirrored[axis] = (length - n[axis]) % length;
        factor *= roots_[axis][n[axis] * k[axis] % length];
      }
      if (side_.isReal) sum += static_cast<long double>(input_[side_.place(transform, n)]) * factor;
      else if (n.back() < side_.inner) sum += complexAt(side_.place(transform, n)) * factor;
      else sum += std::conj(complexAt(side_.place(transform, mirrored))) * factor;
    }
    return given_.toReal() ? Complex(sum.real()) : sum;
  }

 private:
  Complex complexAt(int64_t place) const {
    return {static_cast<long double>(input_[2 * place]), static_cast<long double>(input_[2 * place + 1])};
  }

  const FftCase& given_;
  const Side& side_;
  const std::vector<double>& input_;
  std::vector<std::vector<Complex>> roots_;
};

cufftResult makePlan(const FftCase& given, cufftHandle& plan) {
  std::vector<int> lengths = given.lengths;
  if (!given.input) {
    if (lengths.size() == 1) return cufftPlan1d(&plan, lengths[0], given.type, given.batch);
    return cufftPlanMany(&plan, static_cast<int>(lengths.size()), lengths.data(), nullptr, 1, 0, nullptr, 1, 0,
                         given.type, given.batch);
  }
  FftLayout in = *given.input, out = *given.output;
  return cufftPlanMany(&plan, static_cast<int>(lengths.size()), lengths.data(), in.embed.data(), in.stride, in.distance,
                       out.embed.data(), out.stride, out.distance, given.type, given.batch);
}

cufftResult execute(const FftCase& given, cufftHandle plan, void* input, void* output) {
  const int direction = given.isInverse ? CUFFT_INVERSE : CUFFT_FORWARD;
  switch (given.type) {
    case CUFFT_C2C:
      return cufftExecC2C(plan, static_cast<cufftComplex*>(input), static_cast<cufftComplex*>(output), direction);
    case CUFFT_R2C: return cufftExecR2C(plan, static_cast<cufftReal*>(input), static_cast<cufftComplex*>(output));
    case CUFFT_C2R: return cufftExecC2R(plan, static_cast<cufftComplex*>(input), static_cast<cufftReal*>(output));
    case CUFFT_Z2Z:
      return cufftExecZ2Z(plan, static_cast<cufftDoubleComplex*>(input), static_cast<cufftDoubleComplex*>(output),
                          direction);
    case CUFFT_D2Z:
      return cufftExecD2Z(plan, static_cast<cufftDoubleReal*>(input), static_cast<cufftDoubleComplex*>(output));
    default: return cufftExecZ2D(plan, static_cast<cufftDoubleComplex*>(input), static_cast<cufftDoubleReal*>(output));
  }
}

// What the elements of the input are, and the rest untouched.
std::vector<double> randomInput(const FftCase& given, const Side& side, int64_t size) {
  std::mt19937 random(given.seed);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<double> values(size, untouched);
  forEach(given, side, [&](int64_t transform, const std::vector<int64_t>& at) {
    const int64_t place = side.place(transform, at);
    if (side.isReal) values[place] = number(random);
    else values[2 * place] = number(random), values[2 * place + 1] = number(random);
  });
  return values;
}

}  // namespace

std::string FftCase::text() const {
  std::string result = fmt::format("{:#x} of", static_cast<int>(type));
  for (const int length : lengths) result += fmt::format(" {}", length);
  result += fmt::format(", batch {}{}{}", batch, isInverse ? ", inverse" : "", isInPlace ? ", in place" : "");
  for (const auto& layout : {input, output})
    if (layout) {
      result += ", embed";
      for (const int length : layout->embed) result += fmt::format(" {}", length);
      result += fmt::format(" stride {} distance {}", layout->stride, layout->distance);
    }
  return result + fmt::format(", shift {}, seed {}", shift, seed);
}

std::string problemOf(const FftCase& given) {
  const Side in = sideOf(given, true), out = sideOf(given, false);
  const int64_t size = given.isInPlace ? std::max(in.size, out.size) : in.size;
  constexpr int64_t beyond = 64;  // numbers behind the arrays, which stay
  const std::vector<double> input = randomInput(given, in, size + beyond);
  const Array source(input, given.isDouble(), in.isReal ? given.shift : 0);
  const std::vector<double> nothing(given.isInPlace ? 1 : out.size + beyond, untouched);
  const Array target(nothing, given.isDouble(), out.isReal ? given.shift : 0);
  const Array& result = given.isInPlace ? source : target;
  if (!source.address || !target.address) return "no memory";

  cufftHandle plan = 0;
  if (const cufftResult error = makePlan(given, plan); error != CUFFT_SUCCESS)
    return fmt::format("plan: {}", static_cast<int>(error));
  const cufftResult error =
      execute(given, plan, reinterpret_cast<void*>(source.address), reinterpret_cast<void*>(result.address));
  const CUresult ended = cuCtxSynchronize();
  const cufftResult destroyed = cufftDestroy(plan);
  if (error != CUFFT_SUCCESS || ended != CUDA_SUCCESS || destroyed != CUFFT_SUCCESS)
    return fmt::format("run: {}, {}, {}", static_cast<int>(error), static_cast<int>(ended),
                       static_cast<int>(destroyed));
  const std::vector<double> seen = result.values();
  if (!given.isInPlace && source.values() != input) return "the input has changed";

  int64_t all = 1;
  for (const int length : given.lengths) all *= length;
  const double logarithm = std::log2(static_cast<double>(all) + 1);
  const double tolerance =
      (given.isDouble() ? 1.2e-16 : 6e-8) * (6 + 3 * logarithm) * std::sqrt(static_cast<double>(all));
  const Sums sums(given, in, input);
  const bool comparesAll = all * given.batch <= mostForAll;
  std::mt19937 random(given.seed + 1);
  std::vector<bool> isElement(seen.size());
  int64_t number = 0, next = 0;
  const int64_t elements = all / given.lengths.back() * out.inner * given.batch;
  std::string problem;
  forEach(given, out, [&](int64_t transform, const std::vector<int64_t>& at) {
    const int64_t place = out.place(transform, at);
    for (int part = 0; part < (out.isReal ? 1 : 2); ++part) isElement[out.isReal ? place : 2 * place + part] = true;
    if (!problem.empty() || (!comparesAll && number++ != next)) return;
    next = number + static_cast<int64_t>(random() % (2 * elements / compared + 1));
    const Complex expected = sums.at(transform, at);
    const Complex value = out.isReal ? Complex(seen[place]) : Complex(seen[2 * place], seen[2 * place + 1]);
    if (!(std::abs(value - expected) <= tolerance))
      problem = fmt::format("element {} of transform {} is {} {} instead of {} {}", fmt::join(at, " "), transform,
                            value.real(), value.imag(), expected.real(), expected.imag());
  });
  for (size_t i = given.isInPlace ? size : 0; problem.empty() && i < seen.size(); ++i)
    if (!isElement[i] && seen[i] != untouched) problem = fmt::format("number {} was written, which is no element", i);
  return problem;
}

FftCase randomCase(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t limit) { return static_cast<int>(random() % limit); };
  FftCase result;
  result.seed = seed;
  const cufftType types[] = {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D};
  result.type = types[below(6)];
  const int rank = 1 + below(3);
  const int most[] = {5000, 90, 24};
  for (int axis = 0; axis < rank; ++axis) {
    const int limit = below(3) == 0 ? most[rank - 1] : 32;
    result.lengths.push_back(1 + below(std::min(limit, most[rank - 1])));
  }
  result.batch = 1 + below(4) * below(5);
  const bool isComplex = !result.fromReal() && !result.toReal();
  result.isInverse = isComplex ? below(2) == 1 : result.toReal();
  result.isInPlace = below(3) == 0;
  result.shift = isComplex || result.isInPlace ? 0 : below(2);
  if (below(2) == 0) return result;
  const auto layout = [&](bool isHalf) {
    FftLayout made;
    made.stride = below(2) == 0 ? 1 : 1 + below(4);
    for (int axis = 0; axis < rank; ++axis)
      made.embed.push_back((isHalf && axis + 1 == rank ? result.lengths[axis] / 2 + 1 : result.lengths[axis]) +
                           below(3));
    made.distance = made.stride + below(3);
    for (const int length : made.embed) made.distance *= length;
    if (below(3) == 0) made.embed[0] = 0;  // which nobody reads
    // Or the transforms lie between each other.
    if (below(4) == 0 && !result.isInPlace) {
      made.distance = 1;
      made.stride = result.batch + below(2);
    }
    return made;
  };
  result.input = layout(result.toReal());
  result.output = layout(result.fromReal());
  if (!result.isInPlace) return result;
  // One array for both: the same places for complex numbers, and twice as many for real ones.
  if (isComplex) {
    if (below(2) == 0) result.output = result.input;
  } else {
    FftLayout& real = result.fromReal() ? *result.input : *result.output;
    const FftLayout& complex = result.fromReal() ? *result.output : *result.input;
    real = complex;
    if (rank > 1) real.embed.back() *= 2;
    real.distance *= 2;
  }
  return result;
}

}  // namespace mulciber::test
