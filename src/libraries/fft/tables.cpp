#include "libraries/fft/tables.h"

#include <cmath>
#include <numbers>

namespace mulciber::fft {

namespace {

using Complex = std::complex<double>;

// The root of unity of that order to that power. Exact where it is a number of eighths of a turn.
Complex root(int64_t order, int64_t power) {
  power %= order;
  const auto part = static_cast<long double>(power) / static_cast<long double>(order);
  // Of the first eighth of a turn, where both functions are best.
  const auto eighth = static_cast<int>(part * 8);
  const long double left = (static_cast<long double>(power) * 8 - static_cast<long double>(order) * eighth) /
                           (static_cast<long double>(order) * 4);  // of half a turn
  const bool isMirrored = eighth % 2 != 0;
  const long double angle = (isMirrored ? 0.25L - left : left) * std::numbers::pi_v<long double>;
  long double x = std::cos(angle), y = std::sin(angle);
  if (isMirrored) std::swap(x, y);
  switch (eighth / 2) {
    case 1: std::swap(x, y), x = -x; break;
    case 2: x = -x, y = -y; break;
    case 3: std::swap(x, y), y = -y; break;
    default: break;
  }
  return {static_cast<double>(x), static_cast<double>(-y)};
}

// Of a length that is a product of small numbers. `roots` are those of a multiple of it.
std::vector<Complex> transform(const std::vector<Complex>& in, const std::vector<Complex>& roots) {
  const auto length = static_cast<int64_t>(in.size());
  if (length == 1) return in;
  int64_t factor = 2;
  while (length % factor != 0) ++factor;
  const int64_t rest = length / factor, step = static_cast<int64_t>(roots.size()) / length;
  std::vector<Complex> out(length), part(rest);
  for (int64_t i = 0; i < factor; ++i) {
    for (int64_t j = 0; j < rest; ++j) part[j] = in[j * factor + i];
    const std::vector<Complex> transformed = transform(part, roots);
    for (int64_t k = 0; k < length; ++k) out[k] += transformed[k % rest] * roots[k * i % length * step];
  }
  return out;
}

}  // namespace

// Where the table is. It is made where it is not there yet.
template <class Make>
int64_t Tables::find(const std::tuple<int, int64_t, int64_t, int64_t>& key, Make&& make) {
  const auto [place, isNew] = known_.try_emplace(key, static_cast<int64_t>(values_.size()));
  if (isNew && isFilled_) {
    const std::vector<Complex> values = make();
    values_.insert(values_.end(), values.begin(), values.end());
  }
  return place->second;
}

int64_t Tables::roots(int64_t order, int64_t step, int64_t count, bool isInverse) {
  return find({isInverse ? 1 : 0, order, step, count}, [&] {
    std::vector<Complex> values(count);
    for (int64_t i = 0; i < count; ++i) {
      const Complex value = root(order, i * step);
      values[i] = isInverse ? std::conj(value) : value;
    }
    return values;
  });
}

std::vector<Complex> Tables::chirpValues(int64_t length) const {
  std::vector<Complex> values(length);
  int64_t square = 0;  // of n, less whole turns
  for (int64_t n = 0; n < length; ++n) {
    const Complex value = root(2 * length, square);
    values[n] = isInverse_ ? std::conj(value) : value;
    square = (square + 2 * n + 1) % (2 * length);
  }
  return values;
}

int64_t Tables::chirp(int64_t length) {
  return find({2, length, 0, 0}, [&] { return chirpValues(length); });
}

int64_t Tables::chirpTransform(int64_t length, int64_t convolution) {
  const int64_t values = chirp(length);
  return find({3, length, convolution, 0}, [&] {
    std::vector<Complex> repeated(convolution), roots(convolution);
    for (int64_t n = 0; n < length; ++n) {
      repeated[n] = std::conj(values_[values + n]) / static_cast<double>(convolution);
      if (n > 0) repeated[convolution - n] = repeated[n];
    }
    for (int64_t k = 0; k < convolution; ++k) roots[k] = root(convolution, k);
    return transform(repeated, roots);
  });
}

}  // namespace mulciber::fft
