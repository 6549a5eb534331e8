#include "translator/passes/join_waits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

#include "translator/ir/dominators.h"
#include "translator/passes/control_flow.h"
#include "translator/passes/lock_accesses.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;

// A block of its own on each edge from a block that goes to several of the targets.
void separateEdges(ir::Function& function, const std::vector<Block*>& targets) {
  std::unordered_map<const Block*, size_t> uses;
  for (const Block* target : targets)
    for (const Block* from : target->predecessors) ++uses[from];
  for (Block* target : targets)
    for (Block*& from : target->predecessors) {
      if (uses[from] == 1) continue;
      Block* edge = function.addBlock();
      redirect(*from, target, edge);
      edge->terminator = {ir::Terminator::Kind::Branch, nullptr, {target}, {}};
      from = edge;
    }
}

// Gives two loops one header, which goes to either. Nothing precedes both.
Block* joinTwoLoops(ir::Function& function, Block* earlier, Block* later) {
  Block* header = function.addBlock();
  Selector stage(function, 2);
  for (size_t choice : {0, 1}) {
    Block* old = choice == 0 ? earlier : later;
    for (Block* from : old->predecessors) {
      stage.set(from, choice);
      redirect(*from, old, header);
      header->predecessors.push_back(from);
    }
  }
  stage.dispatch(header, {earlier, later});
  return header;
}

// Makes loops one, all neighbours first, then pairs of pairs: a lane comes to its own by few branches.
Block* joinLoops(ir::Function& function, std::vector<Block*> headers) {
  separateEdges(function, headers);
  while (headers.size() > 1) {
    std::vector<Block*> joined;
    for (size_t i = 0; i + 1 < headers.size(); i += 2)
      joined.push_back(joinTwoLoops(function, headers[i], headers[i + 1]));
    if (headers.size() % 2 != 0) joined.push_back(headers.back());
    headers = std::move(joined);
  }
  return headers.front();
}

// Finds the waits that have to be one loop.
class WaitJoiner {
 public:
  WaitJoiner(ir::Function& function, const LoopForest& forest)
      : function_(function), forest_(forest), bodies_(bodiesOf(function, forest)) {}

  JoinedWaits run() {
    findWaits();
    if (waits_.size() < 2) return {};
    function_.computePredecessors();
    tree_.emplace(function_);
    std::ranges::sort(waits_, {}, [&](const Wait& wait) { return tree_->orderOf(headerOf(wait)); });
    for (size_t i = 0; i < waits_.size(); ++i) waitAt_[headerOf(waits_[i])] = i;
    for (size_t i = 0; i < waits_.size(); ++i) waits_[i].group = i;
    for (size_t i = 0; i < waits_.size(); ++i) findBefore(i);
    for (size_t i = 0; i < waits_.size(); ++i) joinUpwards(i);
    return joinGroups();
  }

 private:
  static constexpr size_t none = SIZE_MAX;

  struct Wait {
    uint32_t loop;
    std::vector<const Instruction*> loads;
    std::vector<Place> words{};
    size_t before = none;           // the last wait that all lanes have passed who come here
    std::vector<size_t> between{};  // other waits on ways from there
    std::vector<Place> released{};  // words that are written from there on
    size_t group = none;            // a wait of the same group, or this one itself
  };

  const Block* headerOf(const Wait& wait) const { return forest_.loops[wait.loop].header; }
  uint32_t parentOf(const Wait& wait) const { return forest_.loops[wait.loop].parent; }

  void findWaits() {
    for (uint32_t loop = 0; loop < bodies_.size(); ++loop)
      if (auto loads = waitingLoads(bodies_[loop]); !loads.empty()) waits_.push_back({loop, std::move(loads)});
    if (waits_.size() < 2) return;
    places_.emplace(function_);
    for (Wait& wait : waits_)
      for (const Place& place : locksOf(bodies_[wait.loop], *places_)) addOnce(wait.words, place);
    std::erase_if(waits_, [](const Wait& wait) { return wait.words.empty(); });
    for (const Wait& wait : waits_)
      for (const Place& word : wait.words) addOnce(words_, word);
  }

  size_t nearestAbove(const Wait& wait) const {
    for (const Block* block = headerOf(wait); (block = tree_->immediateDominator(block));)
      if (const auto found = waitAt_.find(block);
          found != waitAt_.end() && parentOf(waits_[found->second]) == parentOf(wait))
        return found->second;
    return none;
  }

  void addReleases(const Block& block, std::vector<Place>& released) const {
    for (const Instruction* i : block.instructions) {
      if (!mayReleaseLock(*i)) continue;
      if (const Place place = places_->of(*i); contains(words_, place)) addOnce(released, place);
    }
  }

  // Follows the ways back to the nearest wait that all lanes have passed. There is none behind what all threads are
  // meant to be at.
  void findBefore(size_t index) {
    Wait& wait = waits_[index];
    const size_t before = nearestAbove(wait);
    if (before == none) return;
    const uint32_t earlier = waits_[before].loop;
    std::vector<const Block*> work{headerOf(wait)};
    std::unordered_set<const Block*> seen(work.begin(), work.end());
    while (!work.empty()) {
      const Block* block = work.back();
      work.pop_back();
      if (hasMeeting(*block)) return;
      if (!forest_.contains(wait.loop, block)) addReleases(*block, wait.released);
      if (const auto found = waitAt_.find(block);
          found != waitAt_.end() && found->second != index && parentOf(waits_[found->second]) == parentOf(wait))
        wait.between.push_back(found->second);
      for (const Block* from : block->predecessors)
        if (!forest_.contains(earlier, from) && seen.insert(from).second) work.push_back(from);
    }
    for (const Block* block : bodies_[earlier]) addReleases(*block, wait.released);
    wait.before = before;
  }

  // Joins a wait with all from the first on that waits for the same word, if the word is written after that. Those in
  // between wait for others, but may not do so inside: lanes that wait again and again would wait for them.
  void joinUpwards(size_t index) {
    const std::vector<Place>& words = waits_[index].words;
    std::vector<Place> released;
    size_t first = none;
    const auto shares = [&](size_t other) {
      return std::ranges::any_of(waits_[other].words, [&](const Place& word) { return contains(released, word); });
    };
    for (size_t i = index; waits_[i].before != none; i = waits_[i].before) {
      for (const Place& place : waits_[i].released)
        if (contains(words, place)) addOnce(released, place);
      if (shares(waits_[i].before) || std::ranges::any_of(waits_[i].between, shares)) first = waits_[i].before;
    }
    if (first == none) return;
    for (size_t i = index; i != first; i = waits_[i].before) {
      unite(i, waits_[i].before);
      for (const size_t other : waits_[i].between) unite(i, other);
    }
  }

  size_t groupOf(size_t index) {
    while (waits_[index].group != index) index = waits_[index].group = waits_[waits_[index].group].group;
    return index;
  }

  void unite(size_t one, size_t other) {
    one = groupOf(one);
    other = groupOf(other);
    waits_[std::max(one, other)].group = std::min(one, other);
  }

  JoinedWaits joinGroups() {
    std::map<size_t, std::vector<size_t>> groups;
    for (size_t i = 0; i < waits_.size(); ++i) groups[groupOf(i)].push_back(i);
    JoinedWaits joined;
    for (const auto& [first, members] : groups) {
      if (members.size() < 2) continue;
      std::vector<Block*> headers;
      std::vector<const Instruction*> loads;
      for (const size_t member : members) {
        const Wait& wait = waits_[member];
        headers.push_back(forest_.loops[wait.loop].header);
        loads.insert(loads.end(), wait.loads.begin(), wait.loads.end());
      }
      joined[joinLoops(function_, std::move(headers))] = std::move(loads);
    }
    return joined;
  }

  ir::Function& function_;
  const LoopForest& forest_;
  const std::vector<std::vector<Block*>> bodies_;
  std::optional<Places> places_;
  std::optional<ir::DominatorTree> tree_;
  std::vector<Wait> waits_;  // each after those that all lanes have passed before
  std::vector<Place> words_;
  std::unordered_map<const Block*, size_t> waitAt_;  // by the header of the loop
};

}  // namespace

JoinedWaits joinWaits(ir::Function& function, const LoopForest& forest) { return WaitJoiner(function, forest).run(); }

}  // namespace mulciber::passes
