// Choices drawn from a seed: the same on every machine.
#pragma once

#include <cstdint>
#include <random>

namespace mulciber::random_ptx {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  uint64_t bits() { return engine_(); }
  unsigned below(size_t limit) { return static_cast<unsigned>(engine_() % limit); }
  int between(int low, int high) { return low + static_cast<int>(below(static_cast<size_t>(high - low) + 1)); }
  bool chance(unsigned percent) { return below(100) < percent; }

  template <class Container>
  const auto& pick(const Container& container) {
    return container[below(std::size(container))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace mulciber::random_ptx
