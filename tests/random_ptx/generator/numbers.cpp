#include "random_ptx/generator/numbers.h"

#include <array>
#include <bit>
#include <cmath>

namespace mulciber::random_ptx {
namespace {

constexpr uint32_t kSign = 0x80000000;

uint32_t bitsOf(float number) { return std::bit_cast<uint32_t>(number); }

// A random number with an exponent of that range: what is too small for normal numbers is denormal.
uint32_t numberBetween(Random& random, int lowest, int highest) {
  const float mantissa = std::bit_cast<float>(0x3F800000 | static_cast<uint32_t>(random.bits()) >> 9);
  const uint32_t sign = random.chance(50) ? kSign : 0;
  return bitsOf(std::ldexp(mantissa, random.between(lowest, highest))) | sign;
}

}  // namespace

uint32_t knownNumber(Random& random) {
  static constexpr std::array<float, 16> kUsual = {0.0f,  1.0f,  -1.0f,       2.0f,      0.5f,     -2.0f,
                                                   4.0f,  0.25f, 0.1f,        3.0f,      1.0f / 3, 3.14159265f,
                                                   -0.7f, 1.5f,  0.99999994f, 1.0000001f};
  static constexpr std::array<float, 13> kRare = {-0.0f,   0x1p-63f,   0x1p-126f,      0x1.2345p-133f, -0x1p-149f,
                                                  1e10f,   0x1p24f,    0x1.fffffep23f, -0x1p63f,       0x1p-24f,
                                                  4097.0f, 0x1.001p0f, -0.0f};
  return bitsOf(random.chance(75) ? random.pick(kUsual) : random.pick(kRare));
}

std::vector<uint32_t> factorsOfThread(Random& random, unsigned count) {
  std::vector<uint32_t> all(count);
  const auto any = [&]() -> uint32_t& { return all[random.below(count)]; };
  const auto fill = [&](int lowest, int highest) {
    for (uint32_t& one : all) one = numberBetween(random, lowest, highest);
  };
  const auto change = [&](unsigned percent, auto make) {
    for (uint32_t& one : all)
      if (random.chance(percent)) one = make();
  };
  fill(-3, 3);
  switch (random.below(12)) {
    case 0:
    case 1:  // a product and an addend cancel but for what rounding leaves of the product
      for (unsigned i = 0; i < 3; ++i) {
        const float product = std::bit_cast<float>(any()) * std::bit_cast<float>(any());
        any() = bitsOf(-product);
      }
      break;
    case 2: fill(-69, -58); break;  // products are denormal
    case 3:                         // and are as small as the addends
      fill(-69, -60);
      change(40, [&] { return numberBetween(random, -149, -122); });
      break;
    case 4: fill(-149, -120); break;
    case 5: change(50, [&] { return numberBetween(random, -149, -125); }); break;
    case 6: change(65, [&] { return knownNumber(random); }); break;
    case 7: change(40, [&] { return random.chance(50) ? kSign : 0u; }); break;
    case 8:  // equal ones, and those that differ in the sign
      for (unsigned i = 0; i < 2; ++i) any() = any(), any() = any() ^ kSign;
      break;
    case 9:  // products that are exact or halfway between two numbers
      for (uint32_t& one : all) one &= random.chance(50) ? 0xFFFFF000 : 0xFFFFF800;
      break;
    case 10:
      if (random.chance(50)) change(40, [&] { return numberBetween(random, 60, 70); });
      break;
    default: break;
  }
  return all;
}

}  // namespace mulciber::random_ptx
