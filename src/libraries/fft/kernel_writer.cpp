#include "libraries/fft/kernel_writer.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace mulciber::fft {

std::string KernelWriter::number(double value) const {
  if (isDouble_) return fmt::format("0d{:016X}", std::bit_cast<uint64_t>(value));
  return fmt::format("0f{:08X}", std::bit_cast<uint32_t>(static_cast<float>(value)));
}

std::string KernelWriter::binary(const char* operation, const std::string& a, const std::string& b) {
  const std::string result = real();
  line("{}.rn.{} {}, {}, {}", operation, type(), result, a, b);
  return result;
}

// Devices' own f32 fma may flush denormals. Keeping these would cost a kernel many times what it saves here.
std::string KernelWriter::multiplyAdd(const std::string& a, const std::string& b, const std::string& c) {
  if (!isDouble_) return binary("add", binary("mul", a, b), c);
  const std::string result = real();
  line("fma.rn.{} {}, {}, {}, {}", type(), result, a, b, c);
  return result;
}

std::string KernelWriter::negative(const std::string& a) {
  const std::string result = real();
  line("neg.{} {}, {}", type(), result, a);
  return result;
}

Complex KernelWriter::multiply(const Complex& a, const Complex& b) {
  const std::string product = binary("mul", a.im, b.im);
  if (!isDouble_)
    return {binary("sub", binary("mul", a.re, b.re), product), multiplyAdd(a.re, b.im, binary("mul", a.im, b.re))};
  return {multiplyAdd(a.re, b.re, negative(product)), multiplyAdd(a.re, b.im, binary("mul", a.im, b.re))};
}

Complex KernelWriter::turn(const Complex& value, int power, int order, bool isInverse) {
  power = (power % order + order) % order;
  if (isInverse) power = (order - power) % order;
  if (power == 0) return value;
  if (power * 2 == order) return {negative(value.re), negative(value.im)};
  if (power * 4 == order) return {value.im, negative(value.re)};
  if (power * 4 == order * 3) return {negative(value.im), value.re};
  const double angle = -2 * std::numbers::pi * power / order;
  if (power * 8 % order == 0) {  // both parts have one magnitude
    const double half = std::numbers::sqrt2 / 2;
    const std::string sum = binary("add", value.re, value.im), difference = binary("sub", value.im, value.re);
    const std::string plus = number(half), minus = number(-half);
    switch (power * 8 / order) {
      case 1: return {binary("mul", sum, plus), binary("mul", difference, plus)};
      case 3: return {binary("mul", difference, plus), binary("mul", sum, minus)};
      case 5: return {binary("mul", sum, minus), binary("mul", difference, minus)};
      default: return {binary("mul", difference, minus), binary("mul", sum, plus)};
    }
  }
  const std::string cosine = number(std::cos(angle)), sine = number(std::sin(angle)), minus = number(-std::sin(angle));
  return {multiplyAdd(value.re, cosine, binary("mul", value.im, minus)),
          multiplyAdd(value.re, sine, binary("mul", value.im, cosine))};
}

// Pairs of elements as far from both ends share their products.
std::vector<Complex> KernelWriter::transformPrime(const std::vector<Complex>& values, bool isInverse) {
  const int length = static_cast<int>(values.size());
  const int half = (length - 1) / 2;
  std::vector<Complex> sums, differences;
  Complex total = values[0];
  for (int i = 1; i <= half; ++i) {
    sums.push_back(add(values[i], values[length - i]));
    differences.push_back(subtract(values[i], values[length - i]));
    total = add(total, sums.back());
  }
  std::vector<Complex> result(length);
  result[0] = total;
  for (int k = 1; k <= half; ++k) {
    Complex even = values[0], odd;
    for (int i = 1; i <= half; ++i) {
      const double angle = 2 * std::numbers::pi * (k * i % length) / length;
      const std::string cosine = number(std::cos(angle)), sine = number(std::sin(angle));
      even = {multiplyAdd(sums[i - 1].re, cosine, even.re), multiplyAdd(sums[i - 1].im, cosine, even.im)};
      if (i == 1) odd = {binary("mul", differences[0].re, sine), binary("mul", differences[0].im, sine)};
      else odd = {multiplyAdd(differences[i - 1].re, sine, odd.re), multiplyAdd(differences[i - 1].im, sine, odd.im)};
    }
    // Forward, an element is even - i * odd.
    const Complex minus{binary("add", even.re, odd.im), binary("sub", even.im, odd.re)};
    const Complex plus{binary("sub", even.re, odd.im), binary("add", even.im, odd.re)};
    result[k] = isInverse ? plus : minus;
    result[length - k] = isInverse ? minus : plus;
  }
  return result;
}

std::vector<Complex> KernelWriter::transform(const std::vector<Complex>& values, bool isInverse) {
  const int length = static_cast<int>(values.size());
  if (length == 1) return values;
  if (length == 2) return {add(values[0], values[1]), subtract(values[0], values[1])};
  int factor = length % 4 == 0 && length > 4 ? 4 : 2;
  while (length % factor != 0) ++factor;
  if (factor == length) return transformPrime(values, isInverse);
  const int rest = length / factor;
  std::vector<std::vector<Complex>> columns(factor);
  for (int column = 0; column < rest; ++column) {
    std::vector<Complex> part;
    for (int i = 0; i < factor; ++i) part.push_back(values[i * rest + column]);
    part = transform(part, isInverse);
    for (int k = 0; k < factor; ++k) columns[k].push_back(turn(part[k], k * column, length, isInverse));
  }
  std::vector<Complex> result(length);
  for (int k = 0; k < factor; ++k) {
    const std::vector<Complex> row = transform(columns[k], isInverse);
    for (int i = 0; i < rest; ++i) result[k + factor * i] = row[i];
  }
  return result;
}

std::string KernelWriter::registers() const {
  return fmt::format("  .reg .b32 %r<{}>;\n  .reg .b64 %rd<{}>;\n  .reg .{} %f<{}>;\n  .reg .pred %p<{}>;\n",
                     words_ + 1, wides_ + 1, type(), reals_ + 1, predicates_ + 1);
}

}  // namespace mulciber::fft
