#include "translator/ptx/small_float.h"

#include <algorithm>
#include <cmath>

namespace mulciber::ptx {

uint16_t halfBits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7FFF;
  if (magnitude >= 65520) return sign | 0x7C00;  // rounds to infinity
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // Normal numbers have 11 significant bits, denormal ones a fixed unit of 2^-24.
  const int unit = std::max(exponent - 11, -24);
  const auto scaled = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  if (unit == -24) return sign | static_cast<uint16_t>(scaled);  // a carry gives the smallest normal number
  return sign | static_cast<uint16_t>(((unit + 24) << 10) + scaled);
}

}  // namespace mulciber::ptx
