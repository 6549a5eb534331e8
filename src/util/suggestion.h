// "Did you mean": the word nearest to a misspelt one.
#pragma once

#include <string>
#include <string_view>

namespace mulciber::util {

// Offer candidates one after another, then ask for the best. Words further away than a third of their length are no
// suggestion, and no more than kMaxCandidates are compared.
class Suggestion {
 public:
  static constexpr unsigned kMaxCandidates = 100'000;

  explicit Suggestion(std::string_view misspelt);
  void offer(std::string_view candidate);
  std::string_view best() const { return best_; }  // empty when nothing is near

  // "; did you mean '<prefix><best>'?" or nothing.
  std::string phrase(std::string_view prefix = "") const;

 private:
  std::string_view misspelt_, best_;
  unsigned bestDistance_, compared_ = 0;
};

template <class Words>
std::string suggest(std::string_view misspelt, const Words& words, std::string_view prefix = "") {
  Suggestion suggestion(misspelt);
  for (std::string_view word : words) suggestion.offer(word);
  return suggestion.phrase(prefix);
}

}  // namespace mulciber::util
