#include "libraries/fft/factors.h"

#include <algorithm>
#include <map>

namespace mulciber::fft {

namespace {

using Factors = std::vector<int64_t>;

bool isBetter(const Factors& a, const Factors& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return *std::ranges::max_element(a) < *std::ranges::max_element(b);
}

// Empty where there are none.
const Factors& best(int64_t length, int64_t most, std::map<int64_t, Factors>& known) {
  if (const auto found = known.find(length); found != known.end()) return found->second;
  Factors chosen;
  if (length <= most) {
    chosen = {length};
  } else {
    for (int64_t factor = most; factor > 1; --factor) {
      if (length % factor != 0) continue;
      Factors rest = best(length / factor, most, known);
      if (rest.empty()) continue;
      rest.push_back(factor);
      if (chosen.empty() || isBetter(rest, chosen)) chosen = std::move(rest);
    }
  }
  return known[length] = std::move(chosen);
}

}  // namespace

bool isSmooth(int64_t length) {
  for (const int64_t prime : {2, 3, 5, 7, 11, 13})
    while (length % prime == 0) length /= prime;
  return length == 1;
}

std::vector<int> radices(int64_t length) {
  std::map<int64_t, Factors> known;
  Factors factors = best(length, 16, known);
  std::ranges::sort(factors, std::greater());
  return {factors.begin(), factors.end()};
}

std::vector<int64_t> split(int64_t length, int64_t most) {
  std::map<int64_t, Factors> known;
  Factors factors = best(length, most, known);
  std::ranges::sort(factors, std::greater());
  return factors;
}

int64_t convolutionLength(int64_t length) {
  const int64_t least = 2 * length - 1;
  int64_t chosen = INT64_MAX;
  for (const int64_t odd : {1, 3, 5, 9}) {
    int64_t candidate = odd;
    while (candidate < least) candidate *= 2;
    chosen = std::min(chosen, candidate);
  }
  return chosen;
}

}  // namespace mulciber::fft
