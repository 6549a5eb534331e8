#include "conformance/suite/inputs.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace mulciber::conformance {
namespace {

constexpr unsigned kManyRows = 8 * kBlockRows, kRows = 4 * kBlockRows;

// SplitMix64: the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t limit) { return next() % limit; }

 private:
  uint64_t state_;
};

struct FloatFormat {
  unsigned bits, mantissa;
  uint64_t exponentMask() const { return (uint64_t(1) << (bits - 1 - mantissa)) - 1; }
  uint64_t bias() const { return exponentMask() >> 1; }
  uint64_t infinity() const { return exponentMask() << mantissa; }
  uint64_t sign() const { return uint64_t(1) << (bits - 1); }
  uint64_t one() const { return bias() << mantissa; }
};

FloatFormat formatOf(Values values) {
  switch (values) {
    case Values::F16: return {16, 10};
    case Values::Bf16: return {16, 7};
    case Values::F64: return {64, 52};
    default: return {32, 23};
  }
}

unsigned bitsOf(Values values) {
  switch (values) {
    case Values::Bit: return 1;
    case Values::Int8: return 8;
    case Values::Int16:
    case Values::F16:
    case Values::Bf16: return 16;
    case Values::Int64:
    case Values::F64: return 64;
    default: return 32;
  }
}

bool isFloat(Values v) {
  return v == Values::F16 || v == Values::Bf16 || v == Values::F32 || v == Values::F64 || v == Values::DenseF32;
}
bool isPacked(Values v) { return v == Values::F16x2 || v == Values::Bf16x2; }
Values elementOf(Values v) { return v == Values::F16x2 ? Values::F16 : Values::Bf16; }

uint64_t cut(uint64_t value, unsigned bits) { return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1); }

std::vector<uint64_t> fewFloats(FloatFormat f) {
  const uint64_t inf = f.infinity(), one = f.one(), ulp = 1, half = (f.bias() - 1) << f.mantissa;
  std::vector<uint64_t> list = {0,
                                one,
                                one + ulp,
                                one - ulp,
                                half,
                                one | uint64_t(1) << (f.mantissa - 1),  // 1.5
                                (f.bias() + 1) << f.mantissa,           // 2
                                1,                                      // smallest denormal
                                uint64_t(1) << (f.mantissa - 1),        // a denormal in the middle
                                (uint64_t(1) << f.mantissa) - 1,        // largest denormal
                                uint64_t(1) << f.mantissa,              // smallest normal
                                (uint64_t(1) << f.mantissa) + 1,
                                inf - 1,  // largest
                                inf,
                                inf | uint64_t(1) << (f.mantissa - 1),         // quiet NaN
                                inf | uint64_t(1) << (f.mantissa - 1) | 0x2A,  // with a payload
                                inf | 1,                                       // signalling NaN
                                inf | ((uint64_t(1) << f.mantissa) - 1),       // NVIDIA's NaN
                                (f.bias() + f.mantissa) << f.mantissa | 1,     // no bits behind the point
                                (f.bias() + f.mantissa + 1) << f.mantissa};
  if (f.bits == 16) list.push_back(0x7FF7);  // out of bounds, to fma.oob
  for (size_t i = 0, n = list.size(); i < n; ++i) list.push_back(list[i] | f.sign());
  return list;
}

// The boundaries of conversions: around every power of two, and around the middles between small integers.
std::vector<uint64_t> manyFloats(FloatFormat f) {
  std::vector<uint64_t> list = fewFloats(f);
  auto around = [&](uint64_t bits) {
    for (uint64_t near : {bits - 1, bits, bits + 1})
      if (near < f.infinity()) {
        list.push_back(near);
        list.push_back(near | f.sign());
      }
  };
  for (int power = -30; power <= 66; ++power)
    if (int64_t exponent = int64_t(f.bias()) + power; exponent > 0 && uint64_t(exponent) < f.exponentMask()) {
      const uint64_t base = uint64_t(exponent) << f.mantissa;
      around(base);
      for (unsigned bit = 1; bit <= 12 && bit <= f.mantissa; ++bit) around(base | uint64_t(1) << (f.mantissa - bit));
      // 2^power - 1 and 2^power - 1/2: the largest integers of a width, and what rounds to the next
      for (int ones : {power - 1, power})
        if (ones > 0 && ones <= int(f.mantissa))
          around((uint64_t(exponent) - 1) << f.mantissa | ((uint64_t(1) << ones) - 1) << (int(f.mantissa) - ones));
    }
  for (uint64_t exponent = 1; exponent < f.exponentMask(); exponent += std::max<uint64_t>(1, f.exponentMask() / 64))
    around(exponent << f.mantissa);
  return list;
}

std::vector<uint64_t> integers(unsigned bits, bool many) {
  std::vector<uint64_t> list = {0, 1, 2, 3, 7, 10, 0x55, 0xAA, ~uint64_t(0), ~uint64_t(1), ~uint64_t(2)};
  for (unsigned power = 0; power < bits; ++power) {
    if (!many && power % 8 != 7 && power % 16 != 0 && power + 1 != bits) continue;
    const uint64_t p = uint64_t(1) << power;
    for (uint64_t v : {p - 1, p, p + 1}) {
      list.push_back(v);
      if (many) list.push_back(0 - v);
    }
  }
  list.push_back(0x5555555555555555);
  list.push_back(0xAAAAAAAAAAAAAAAA);
  list.push_back(0x0123456789ABCDEF);
  list.push_back(0xFEDCBA9876543210);
  if (bits > 32) list.push_back(0xFFFFFFFF00000000);
  for (uint64_t& v : list) v = cut(v, bits);
  return list;
}

std::vector<uint64_t> unique(std::vector<uint64_t> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

// Draws come first: the order in which operands are evaluated is the compiler's choice.
uint64_t randomFloat(Random& random, FloatFormat f) {
  const uint64_t kind = random.below(12), x = random.next(), fraction = cut(random.next(), f.mantissa);
  const uint64_t sign = (random.next() & 1) << (f.bits - 1), anyExponent = x % f.exponentMask();
  switch (kind) {
    case 0: return sign | x % 2 * f.infinity();
    case 1: return sign | f.infinity() | fraction;
    case 2: return sign | fraction >> x % f.mantissa;
    case 3: return sign | (f.exponentMask() - 1) << f.mantissa | fraction;
    case 4: return sign | (1 + x % 3) << f.mantissa | fraction;
    case 5: return sign | anyExponent << f.mantissa | cut(0 - fraction % 4, f.mantissa);
    case 6: return sign | (f.bias() - 3 + x % 7) << f.mantissa | (fraction & uint64_t(0xF) << (f.mantissa - 4));
    case 7: return sign | anyExponent << f.mantissa | fraction;
    default: return sign | (f.bias() - 8 + x % 16) << f.mantissa | fraction;
  }
}

uint64_t randomInteger(Random& random, unsigned bits) {
  const uint64_t kind = random.below(5), x = random.next(), y = random.next();
  switch (kind) {
    case 0: return cut(x % 70, bits);
    case 1: return cut((uint64_t(1) << x % 64) + y % 3 - 1, bits);
    case 2: return cut(0 - x % 70, bits);
    case 3: return cut(x >> y % 64, bits);
    default: return cut(x, bits);
  }
}

uint64_t randomValue(Random& random, Values values) {
  if (isFloat(values)) return randomFloat(random, formatOf(values));
  if (isPacked(values)) {
    const FloatFormat f = formatOf(elementOf(values));
    const uint64_t low = randomFloat(random, f);
    return low | randomFloat(random, f) << 16;
  }
  if (values == Values::Bit) return random.below(2);
  if (values == Values::Count && random.below(2)) return random.below(80);
  return randomInteger(random, bitsOf(values));
}

template <class T, class Bits>
T fromBits(uint64_t bits) {
  return std::bit_cast<T>(static_cast<Bits>(bits));
}

// Makes some rows hard for what multiplies, divides and adds: quotients that are nearly exact, sums that cancel.
template <class T, class Bits>
void relate(Random& random, std::vector<uint64_t*>& row) {
  const T a = fromBits<T, Bits>(*row[0]), b = fromBits<T, Bits>(*row[1]);
  const T product = a * b;
  const auto off = static_cast<Bits>(random.below(3)) - 1;
  const auto bits = static_cast<Bits>(std::bit_cast<Bits>(product) + off);
  if (std::isnan(product) || std::isinf(product)) return;
  if (row.size() == 2) *row[0] = bits;
  else *row[2] = bits ^ (Bits(1) << (sizeof(Bits) * 8 - 1));
}

}  // namespace

std::vector<uint64_t> specialValues(Values values) {
  if (isFloat(values)) return unique(manyFloats(formatOf(values)));
  if (isPacked(values)) return fewSpecialValues(values);
  if (values == Values::Bit) return {0, 1};
  std::vector<uint64_t> list = integers(bitsOf(values), true);
  if (values == Values::Count)
    for (uint64_t v = 0; v < 300; ++v) list.push_back(v);
  return unique(list);
}

std::vector<uint64_t> fewSpecialValues(Values values) {
  if (isFloat(values)) return unique(fewFloats(formatOf(values)));
  if (isPacked(values)) {
    const std::vector<uint64_t> halves = fewFloats(formatOf(elementOf(values)));
    std::vector<uint64_t> list;
    for (size_t i = 0; i < halves.size(); ++i) list.push_back(halves[i] | halves[(i * 7 + 3) % halves.size()] << 16);
    return unique(list);
  }
  if (values == Values::Bit) return {0, 1};
  if (values == Values::Count)
    return {0,  1,  2,   7,   8,   15,  16,  17,  23,     24,      31,         32,         33,         40,        63,
            64, 65, 127, 128, 255, 256, 257, 288, 0x1F00, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFE0, 0xFFFFFFFF};
  return unique(integers(bitsOf(values), false));
}

unsigned rowsOf(const std::vector<Input>& inputs) {
  if (inputs.empty()) return kBlockRows;
  const unsigned bits = bitsOf(inputs[0].values);
  if (inputs[0].values == Values::DenseF32) return 65536;
  if (inputs.size() == 1) return bits == 16 ? 65536 : bits < 16 ? kBlockRows : kManyRows;
  if (inputs.size() == 2 && bits <= 8 && bitsOf(inputs[1].values) <= 8) return 65536;
  return kRows;
}

InputTable makeInputs(const std::vector<Input>& inputs) {
  InputTable table;
  table.rows = rowsOf(inputs);
  table.columns.resize(inputs.size(), std::vector<uint64_t>(table.rows));
  if (inputs.empty()) return table;
  std::string seed;
  for (const Input& input : inputs) seed += static_cast<char>('a' + static_cast<int>(input.values));
  Random random(hashOf(seed));

  if (inputs.size() == 1) {
    const Values values = inputs[0].values;
    const std::vector<uint64_t> special = specialValues(values);
    for (unsigned row = 0; row < table.rows; ++row) {
      uint64_t& value = table.columns[0][row];
      if (bitsOf(values) <= 16) value = cut(row, bitsOf(values));
      else if (values == Values::DenseF32) value = uint64_t(row) << 16 | random.below(65536);
      else value = row < special.size() ? special[row] : randomValue(random, values);
    }
    return table;
  }
  if (bitsOf(inputs[0].values) <= 8 && table.rows == 65536) {  // two small ones: all pairs
    for (unsigned row = 0; row < table.rows; ++row)
      for (unsigned i = 0; i < 2; ++i) table.columns[i][row] = cut(row >> (8 * i), bitsOf(inputs[i].values));
    return table;
  }
  std::vector<std::vector<uint64_t>> special;
  for (const Input& input : inputs) special.push_back(fewSpecialValues(input.values));
  const unsigned pairs =
      inputs.size() < 2
          ? 0
          : static_cast<unsigned>(std::min<size_t>(special[0].size() * special[1].size(), table.rows / 2));
  for (unsigned row = 0; row < table.rows; ++row) {
    std::vector<uint64_t*> values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      values.push_back(&table.columns[i][row]);
      const bool pick = row < pairs || random.below(8) == 0;
      *values[i] = pick ? special[i][random.below(special[i].size())] : randomValue(random, inputs[i].values);
    }
    if (row < pairs && special[0].size() * special[1].size() <= table.rows / 2) {
      *values[0] = special[0][row % special[0].size()];
      *values[1] = special[1][row / special[0].size()];
    } else if (row % 4 == 0 && inputs.size() <= 3) {
      bool all = true;
      for (const Input& input : inputs) all = all && input.values == inputs[0].values;
      if (all && inputs[0].values == Values::F32) relate<float, uint32_t>(random, values);
      if (all && inputs[0].values == Values::F64) relate<double, uint64_t>(random, values);
    } else if (row % 16 == 1 && inputs[0].values == inputs[1].values) {
      *values[1] = *values[0];
    }
  }
  return table;
}

uint64_t withOneNan(Values values, uint64_t bits) {
  if (isPacked(values))
    return bits >> 32 << 32 | withOneNan(elementOf(values), bits >> 16 & 0xFFFF) << 16 |
           withOneNan(elementOf(values), bits & 0xFFFF);
  if (!isFloat(values)) return bits;
  const FloatFormat f = formatOf(values);
  const uint64_t magnitude = cut(bits, f.bits - 1);
  return magnitude > f.infinity() ? bits - cut(bits, f.bits) + cut(~uint64_t(0), f.bits - 1) : bits;
}

uint64_t hashOf(const std::string& text) { return XXH64(text.data(), text.size(), 0); }

}  // namespace mulciber::conformance
