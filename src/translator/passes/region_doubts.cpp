#include "translator/passes/region_doubts.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;
using ir::VariableId;

class Finder {
 public:
  Finder(const RepeatableRegion& region, const std::unordered_set<const Instruction*>& sums)
      : region_(region), sums_(sums) {
    findMeetings();
  }

  RegionDoubts run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Block* block : region_.blocks) {
        for (const Instruction* i : block->instructions) changed |= isDoubtful(*i) && add(*i);
        if (block->terminator.targets.size() > 1 && values_.count(block->terminator.value) != 0)
          changed |= follow(block);
      }
    }
    for (const Block* block : region_.blocks)
      for (const Instruction* i : block->instructions)
        if (readsWhereDoubtful(*i)) doubts_.loads.insert(i);
    return std::move(doubts_);
  }

 private:
  bool isDoubtful(const Instruction& i) const {
    if (sums_.count(&i) != 0) return true;
    if (i.op == Op::ReadVar) return variables_.count(static_cast<VariableId>(i.payload)) != 0;
    return std::ranges::any_of(i.operands, [&](const Instruction* x) { return values_.count(x) != 0; });
  }
  // A sample needs an image and a sampler that exist, and takes any coordinates.
  bool readsWhereDoubtful(const Instruction& i) const {
    const auto isOf = [&](size_t operand) { return values_.count(i.operands[operand]) != 0; };
    return (i.op == Op::Load && isOf(0)) || (i.op == Op::ImageSample && (isOf(0) || isOf(1)));
  }
  bool add(const Instruction& i) {
    if (i.op == Op::WriteVar) return variables_.insert(static_cast<VariableId>(i.payload)).second;
    return values_.insert(&i).second;
  }

  // A branch that only decides what variables hold makes them doubtful; any other one has to wait.
  bool follow(const Block* branch) {
    if (!followed_.insert(branch).second) return false;
    const Block* meeting = meetings_[branch];
    std::vector<const Block*> between;
    std::unordered_set<const Block*> seen;
    auto reach = [&](const Block* from) {
      for (const Block* target : from->terminator.targets)
        if (region_.keeps(from, target) && target != meeting && seen.insert(target).second) between.push_back(target);
    };
    reach(branch);
    for (size_t n = 0; n < between.size(); ++n) reach(between[n]);
    const int depth = region_.depths.at(branch);
    const bool isHarmless = std::ranges::all_of(between, [&](const Block* block) {
      return block != branch && region_.depths.at(block) <= depth &&
             std::ranges::none_of(block->instructions, [](const Instruction* i) { return i->op == Op::Load; });
    });
    if (!isHarmless) return doubts_.branches.insert(branch).second;
    for (const Block* block : between)
      for (const Instruction* i : block->instructions)
        if (i->op == Op::WriteVar) {
          variables_.insert(static_cast<VariableId>(i->payload));
          doubts_.written.insert(static_cast<VariableId>(i->payload));
        }
    return true;
  }

  // For each block the first one that all its ways in the region come to; null: they leave it first.
  void findMeetings() {
    const auto& blocks = region_.blocks;
    std::unordered_map<const Block*, size_t> numbers;
    for (size_t n = 0; n < blocks.size(); ++n) numbers[blocks[n]] = n;
    const size_t outside = blocks.size(), unknown = outside + 1;
    std::vector<size_t> next(blocks.size() + 1, unknown);
    next[outside] = outside;
    const std::vector<size_t> order = orderFromEnd(numbers);
    std::vector<size_t> rank(blocks.size() + 1);
    for (size_t n = 0; n < order.size(); ++n) rank[order[n]] = n + 1;
    auto meet = [&](size_t a, size_t b) {
      while (a != b) {
        while (rank[a] > rank[b]) a = next[a];
        while (rank[b] > rank[a]) b = next[b];
      }
      return a;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t n : order) {
        size_t found = unknown;
        auto lead = [&](size_t to) {
          if (next[to] == unknown) return;
          found = found == unknown ? to : meet(found, to);
        };
        const Block* block = blocks[n];
        for (const Block* target : block->terminator.targets)
          lead(region_.keeps(block, target) ? numbers.at(target) : outside);
        if (block->terminator.targets.empty()) lead(outside);
        if (found == unknown || found == next[n]) continue;
        next[n] = found;
        changed = true;
      }
    }
    for (size_t n = 0; n < blocks.size(); ++n) meetings_[blocks[n]] = next[n] < outside ? blocks[next[n]] : nullptr;
  }

  // All blocks from which control leaves, in reverse post order of the edges turned round.
  std::vector<size_t> orderFromEnd(const std::unordered_map<const Block*, size_t>& numbers) const {
    const auto& blocks = region_.blocks;
    std::vector<std::vector<size_t>> sources(blocks.size());
    std::vector<size_t> ends;
    for (size_t n = 0; n < blocks.size(); ++n) {
      bool leaves = blocks[n]->terminator.targets.empty();
      for (const Block* target : blocks[n]->terminator.targets) {
        if (region_.keeps(blocks[n], target)) sources[numbers.at(target)].push_back(n);
        else leaves = true;
      }
      if (leaves) ends.push_back(n);
    }
    std::vector<size_t> order;
    std::vector<bool> seen(blocks.size());
    for (size_t end : ends) {
      if (seen[end]) continue;
      seen[end] = true;
      std::vector<std::pair<size_t, size_t>> open{{end, 0}};
      while (!open.empty()) {
        auto& [n, at] = open.back();
        if (at == sources[n].size()) {
          order.push_back(n);
          open.pop_back();
          continue;
        }
        const size_t source = sources[n][at++];
        if (!seen[source]) {
          seen[source] = true;
          open.emplace_back(source, 0);
        }
      }
    }
    std::ranges::reverse(order);
    return order;
  }

  const RepeatableRegion& region_;
  const std::unordered_set<const Instruction*>& sums_;
  std::unordered_set<const Instruction*> values_;
  std::unordered_set<VariableId> variables_;
  std::unordered_set<const Block*> followed_;
  std::unordered_map<const Block*, const Block*> meetings_;
  RegionDoubts doubts_;
};

}  // namespace

RegionDoubts findDoubts(const RepeatableRegion& region, const std::unordered_set<const Instruction*>& sums) {
  return Finder(region, sums).run();
}

}  // namespace mulciber::passes
