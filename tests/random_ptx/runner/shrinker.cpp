#include "random_ptx/runner/shrinker.h"

#include <algorithm>

namespace mulciber::random_ptx {
namespace {

struct Candidates {
  std::vector<unsigned> removable, unwrappable, simplifiable;
};

// Of the nodes that the edits leave.
void collect(const Node& node, const Edits& edits, Candidates& all) {
  if (edits.removed.contains(node.id)) return;
  if (node.isRemovable) all.removable.push_back(node.id);
  if (node.isUnwrappable && !edits.unwrapped.contains(node.id)) all.unwrappable.push_back(node.id);
  if (!node.simpler.empty() && !edits.simplified.contains(node.id)) all.simplifiable.push_back(node.id);
  for (const Node& child : node.children) collect(child, edits, all);
}

Candidates candidates(const Program& program, const Edits& edits) {
  Candidates all;
  for (const Routine& routine : program.routines) collect(routine.body, edits, all);
  return all;
}

// Tries the numbers in pieces that get smaller. Whether any could be added.
bool addSome(const std::vector<unsigned>& numbers, std::set<unsigned> Edits::*kind, Edits& edits,
             const std::function<bool(const Edits&)>& fails) {
  bool isChanged = false;
  std::vector<unsigned> open = numbers;
  for (size_t size = std::max<size_t>(open.size() / 2, 1); !open.empty(); size /= 2) {
    for (size_t begin = 0; begin < open.size();) {
      const size_t end = std::min(open.size(), begin + size);
      Edits attempt = edits;
      (attempt.*kind).insert(open.begin() + static_cast<long>(begin), open.begin() + static_cast<long>(end));
      if (!fails(attempt)) {
        begin = end;
        continue;
      }
      edits = std::move(attempt);
      open.erase(open.begin() + static_cast<long>(begin), open.begin() + static_cast<long>(end));
      isChanged = true;
    }
    if (size == 1) break;
  }
  return isChanged;
}

}  // namespace

Edits shrink(const Program& program, const std::function<bool(const Edits&)>& fails) {
  Edits edits;
  for (bool isChanged = true; isChanged;) {
    isChanged = addSome(candidates(program, edits).removable, &Edits::removed, edits, fails);
    isChanged |= addSome(candidates(program, edits).unwrappable, &Edits::unwrapped, edits, fails);
    isChanged |= addSome(candidates(program, edits).simplifiable, &Edits::simplified, edits, fails);
  }
  return edits;
}

}  // namespace mulciber::random_ptx
