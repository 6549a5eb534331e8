// Writes the instructions of a kernel in PTX: complex numbers in registers, and transforms of a few of them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mulciber::fft {

// Names of two registers.
struct Complex {
  std::string re, im;
};

class KernelWriter {
 public:
  explicit KernelWriter(bool isDouble) : isDouble_(isDouble) {}

  const char* type() const { return isDouble_ ? "f64" : "f32"; }
  int64_t realBytes() const { return isDouble_ ? 8 : 4; }

  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += "  " + fmt::format(format, std::forward<Arguments>(arguments)...) + ";\n";
  }

  std::string word() { return fmt::format("%r{}", words_++); }
  std::string wide() { return fmt::format("%rd{}", wides_++); }
  std::string real() { return fmt::format("%f{}", reals_++); }
  std::string predicate() { return fmt::format("%p{}", predicates_++); }
  Complex complex() { return {real(), real()}; }
  std::string number(double value) const;

  Complex add(const Complex& a, const Complex& b) { return {binary("add", a.re, b.re), binary("add", a.im, b.im)}; }
  Complex subtract(const Complex& a, const Complex& b) {
    return {binary("sub", a.re, b.re), binary("sub", a.im, b.im)};
  }
  Complex conjugate(const Complex& a) { return {a.re, negative(a.im)}; }
  Complex halve(const Complex& a) { return {binary("mul", a.re, number(0.5)), binary("mul", a.im, number(0.5))}; }
  Complex multiply(const Complex& a, const Complex& b);
  // By the root of unity of that order to that power.
  Complex turn(const Complex& value, int power, int order, bool isInverse);
  std::vector<Complex> transform(const std::vector<Complex>& values, bool isInverse);

  std::string registers() const;
  const std::string& instructions() const { return text_; }

 private:
  std::string binary(const char* operation, const std::string& a, const std::string& b);
  std::string multiplyAdd(const std::string& a, const std::string& b, const std::string& c);
  std::string negative(const std::string& a);
  std::vector<Complex> transformPrime(const std::vector<Complex>& values, bool isInverse);

  const bool isDouble_;
  int words_ = 0, wides_ = 0, reals_ = 0, predicates_ = 0;
  std::string text_;
};

}  // namespace mulciber::fft
