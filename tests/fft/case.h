// One transform of random numbers by libcufft, and the sums that it should give.
#pragma once

#include <cufft.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mulciber::test {

struct FftLayout {
  std::vector<int> embed;
  int stride = 1, distance = 0;
};

struct FftCase {
  cufftType type = CUFFT_C2C;
  std::vector<int> lengths;
  int batch = 1;
  bool isInverse = false, isInPlace = false;
  std::optional<FftLayout> input = {}, output = {};  // both or none
  int shift = 0;  // of the array of real numbers from where complex ones could be, in numbers
  uint32_t seed = 1;

  bool isDouble() const { return (type & 0x40) != 0; }
  bool fromReal() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool toReal() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  std::string text() const;
};

// What is wrong, or "". Of large transforms some elements are compared, of small ones all.
std::string problemOf(const FftCase& given);

FftCase randomCase(uint32_t seed);

}  // namespace mulciber::test
