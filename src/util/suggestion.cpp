#include "util/suggestion.h"

#include <algorithm>
#include <vector>

namespace mulciber::util {
namespace {

constexpr size_t kMaxLength = 64;

// Insertions, deletions, replacements and exchanges of neighbours; `limit` or more reads as `limit`.
unsigned distance(std::string_view a, std::string_view b, unsigned limit) {
  const size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference >= limit) return limit;
  unsigned rows[3][kMaxLength + 1];
  unsigned *before = rows[0], *previous = rows[1], *current = rows[2];
  for (unsigned j = 0; j <= b.size(); ++j) previous[j] = j;
  for (unsigned i = 1; i <= a.size(); ++i) {
    current[0] = i;
    unsigned smallest = i;
    for (unsigned j = 1; j <= b.size(); ++j) {
      unsigned value = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) value = std::min(value, before[j - 2] + 1);
      current[j] = value;
      smallest = std::min(smallest, value);
    }
    if (smallest >= limit) return limit;
    unsigned* reused = before;
    before = previous;
    previous = current;
    current = reused;
  }
  return std::min(previous[b.size()], limit);
}

}  // namespace

Suggestion::Suggestion(std::string_view misspelt)
    : misspelt_(misspelt), bestDistance_(static_cast<unsigned>(std::max<size_t>(misspelt.size() / 3, 1)) + 1) {}

void Suggestion::offer(std::string_view candidate) {
  if (misspelt_.size() > kMaxLength || candidate.size() > kMaxLength || ++compared_ > kMaxCandidates) return;
  unsigned found = distance(misspelt_, candidate, bestDistance_);
  // A word that shares nothing with the other is not meant: "x" is not "y".
  if (found >= bestDistance_ || found >= candidate.size() || found >= misspelt_.size()) return;
  bestDistance_ = found;
  best_ = candidate;
}

std::string Suggestion::phrase(std::string_view prefix) const {
  if (best_.empty()) return {};
  std::string text = "; did you mean '";
  text += prefix;
  text += best_;
  text += "'?";
  return text;
}

}  // namespace mulciber::util
