// Tables of roots of unity and of what Bluestein's algorithm multiplies by, each once.
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace mulciber::fft {

class Tables {
 public:
  // `isFilled`: whether anybody is going to read them.
  Tables(bool isInverse, bool isFilled) : isInverse_(isInverse), isFilled_(isFilled) {}

  // The roots of that order to the powers of 0, step, 2 * step and so on: `count` of them.
  int64_t roots(int64_t order, int64_t step, int64_t count, bool isInverse);
  // exp(-+i pi n^2 / length) for each n below the length.
  int64_t chirp(int64_t length);
  // The transform of its conjugate, repeated for a convolution of that length, and divided by it.
  int64_t chirpTransform(int64_t length, int64_t convolution);

  std::vector<std::complex<double>> take() { return std::move(values_); }

 private:
  std::vector<std::complex<double>> chirpValues(int64_t length) const;
  template <class Make>
  int64_t find(const std::tuple<int, int64_t, int64_t, int64_t>& key, Make&& make);

  const bool isInverse_, isFilled_;
  std::vector<std::complex<double>> values_;
  std::map<std::tuple<int, int64_t, int64_t, int64_t>, int64_t> known_;
};

}  // namespace mulciber::fft
