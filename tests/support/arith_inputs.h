// Inputs for arithmetic tests: every pair or triple of the special values, then random ones.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "support/snippet.h"

namespace mulciber::test {

using Inputs = std::vector<uint64_t>;

inline uint64_t lowBits(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1);
}
inline int64_t signExtend(uint64_t value, unsigned bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

// Integers: small, around powers of two, alternating, random of every length.
inline uint64_t randomInteger(std::mt19937_64& random, unsigned bits) {
  uint64_t value = random();
  switch (value % 5) {
    case 0: return lowBits(random() % 70, bits);
    case 1: return lowBits((uint64_t(1) << (random() % 64)) + random() % 3 - 1, bits);
    case 2: return lowBits(0 - random() % 70, bits);
    case 3: return lowBits(random() >> (random() % 64), bits);
    default: return lowBits(random(), bits);
  }
}

// Floats: specials, denormals, near powers of two, few mantissa bits, random; exponents mostly close together.
inline uint64_t randomFloat(std::mt19937_64& random, unsigned bits, unsigned mantissa) {
  uint64_t exponentMask = (uint64_t(1) << (bits - 1 - mantissa)) - 1, sign = (random() & 1) << (bits - 1);
  uint64_t fraction = lowBits(random(), mantissa), bias = exponentMask >> 1;
  switch (random() % 12) {
    case 0: return sign;
    case 1: return sign | exponentMask << mantissa;
    case 2: return sign | exponentMask << mantissa | (fraction | 1);
    case 3: return sign | (fraction >> (random() % mantissa));
    case 4: return sign | ((exponentMask - 1) << mantissa) | fraction;
    case 5: return sign | bias << mantissa;
    case 6: return sign | (1 + random() % 3) << mantissa | fraction;
    case 7: return sign | (random() % exponentMask) << mantissa | lowBits(0 - random() % 4, mantissa);
    case 8: return sign | (bias - 3 + random() % 7) << mantissa | (fraction & (uint64_t(0xF) << (mantissa - 4)));
    case 9: return sign | (random() % exponentMask) << mantissa | fraction;
    default: return sign | (bias - 8 + random() % 16) << mantissa | fraction;
  }
}

// `types` as in Snippet: b16 b32 b64 make integers, f16 f32 f64 bf16 floats, pred a bit.
inline uint64_t randomValue(std::mt19937_64& random, const std::string& type) {
  if (type == "pred") return random() & 1;
  if (type == "f16") return randomFloat(random, 16, 10);
  if (type == "bf16") return randomFloat(random, 16, 7);
  if (type == "f32") return randomFloat(random, 32, 23);
  if (type == "f64") return randomFloat(random, 64, 52);
  return randomInteger(random, static_cast<unsigned>(std::stoul(type.substr(1))));
}

// Runs the instructions of `text` on many inputs and compares the results with `expect`.
inline void check(const std::string& text, const std::string& results, const std::string& types,
                  const std::function<Inputs(const Inputs&)>& expect, int count = 300) {
  Snippet snippet(text, results, types);
  ASSERT_TRUE(snippet.isValid()) << text << "\n" << snippet.messages();
  std::mt19937_64 random(std::hash<std::string>()(text));
  std::istringstream stream(types);
  std::vector<std::string> list;
  for (std::string type; stream >> type;) list.push_back(type);
  for (int i = 0; i < count; i++) {
    Inputs inputs;
    for (const std::string& type : list) inputs.push_back(randomValue(random, type));
    if (i % 7 == 0 && list.size() > 1 && list[0] == list[1]) inputs[1] = inputs[0];
    Inputs got = snippet.run(inputs), want = expect(inputs);
    std::ostringstream what;
    what << text << std::hex;
    for (uint64_t v : inputs) what << " " << v;
    ASSERT_EQ(got, want) << what.str() << "\n" << snippet.print();
  }
}

}  // namespace mulciber::test
