#include "translator/passes/loop_exits.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "translator/passes/control_flow.h"

namespace mulciber::passes {
namespace {

using ir::Block;

constexpr size_t maxAbsorbedInstructions = 8;

class LoopExits {
 public:
  LoopExits(ir::Function& function, LoopForest& forest)
      : function_(function), forest_(forest), exits_(forest.loops.size()) {}

  void run() {
    predecessorCount_.resize(function_.blockIdBound());
    for (Block* block : function_.blocks)
      for (Block* target : uniqueTargets(*block)) addEdge(block, target);
    std::vector<uint32_t> innerFirst(forest_.loops.size());
    std::iota(innerFirst.rbegin(), innerFirst.rend(), 0u);
    std::stable_sort(innerFirst.begin(), innerFirst.end(),
                     [&](uint32_t a, uint32_t b) { return forest_.loops[a].depth > forest_.loops[b].depth; });
    for (uint32_t loop : innerFirst) {
      absorb(loop);
      addLanding(loop);
    }
  }

 private:
  struct Edge {
    Block *from, *to;
  };

  void addEdge(Block* from, Block* to) {
    ++predecessorCount_[to->id];
    uint32_t loop = forest_.loopOf(from);
    if (loop != LoopForest::none && !forest_.contains(loop, to)) exits_[loop].push_back({from, to});
  }

  Block* addBlock(uint32_t loop) {
    Block* block = function_.addBlock();
    forest_.place(block, loop);
    predecessorCount_.resize(function_.blockIdBound());
    return block;
  }

  static std::vector<Block*> targetsOf(const std::vector<Edge>& edges) {
    std::vector<Block*> targets;
    std::unordered_set<Block*> seen;
    for (const Edge& edge : edges)
      if (seen.insert(edge.to).second) targets.push_back(edge.to);
    return targets;
  }

  // Draws exit blocks into the loop as long as that makes two exits one.
  void absorb(uint32_t loop) {
    for (;;) {
      std::vector<Block*> targets = targetsOf(exits_[loop]);
      if (targets.size() < 2) return;
      std::unordered_map<Block*, size_t> edges, arrivals;
      for (const Edge& edge : exits_[loop]) ++edges[edge.to];
      std::vector<Block*> candidates;
      for (Block* target : targets) {
        ++arrivals[target];
        if (!canAbsorb(loop, target, edges[target])) continue;
        candidates.push_back(target);
        ++arrivals[target->terminator.targets[0]];
      }
      auto isUseless = [&](Block* candidate) { return arrivals[candidate->terminator.targets[0]] < 2; };
      std::erase_if(candidates, isUseless);
      if (candidates.empty()) return;
      for (Block* candidate : candidates) {
        std::erase_if(exits_[loop], [&](const Edge& edge) { return edge.to == candidate; });
        forest_.place(candidate, loop);
        exits_[loop].push_back({candidate, candidate->terminator.targets[0]});
      }
    }
  }

  bool canAbsorb(uint32_t loop, const Block* block, size_t edges) const {
    if (block->terminator.kind != ir::Terminator::Kind::Branch || predecessorCount_[block->id] != edges) return false;
    if (block->instructions.size() > maxAbsorbedInstructions || forest_.isHeader(block)) return false;
    for (const ir::Instruction* instruction : block->instructions)
      if (ir::isConvergent(instruction->op)) return false;
    uint32_t home = forest_.loopOf(block), parent = forest_.loops[loop].parent;
    if (!forest_.contains(home, parent)) return false;
    // It must not lead into a loop around this one that it was not part of.
    for (uint32_t around = parent; around != home; around = forest_.loops[around].parent)
      if (forest_.contains(around, block->terminator.targets[0])) return false;
    return true;
  }

  void addLanding(uint32_t loop) {
    std::vector<Edge> edges = std::move(exits_[loop]);
    std::vector<Block*> targets = targetsOf(edges);
    if (targets.empty()) return;
    Block* landing = addBlock(forest_.loops[loop].parent);
    forest_.loops[loop].landing = landing;
    if (targets.size() == 1) {
      for (const Edge& edge : edges) redirect(*edge.from, edge.to, landing);
    } else {
      select(loop, edges, targets, landing);
    }
    for (const Edge& edge : edges) --predecessorCount_[edge.to->id];
    ir::Builder b(function_, landing);
    if (targets.size() == 1) b.branch(targets[0]);
    for (Block* target : targets) addEdge(landing, target);
    if (forest_.loops[loop].releasesLock) leaveAtTheEnd(loop);
  }

  // Seen with NVIDIA's driver: lanes of one warp that fought for a lock hung, although its release stood inside the
  // loop's structure. Why is not known; a guess is that only what can come back to the loop's start counts as part of
  // it, and that threads wait for each other where that ends. So those that leave go to the end of the loop as well,
  // and the end tells them apart.
  void leaveAtTheEnd(uint32_t loop) {
    Block *header = forest_.loops[loop].header, *landing = forest_.loops[loop].landing;
    ir::VariableId isDone = function_.addVariable(ir::Bool, "done");
    std::vector<Block*> inside;
    for (Block* block : function_.blocks)
      if (forest_.contains(loop, block)) inside.push_back(block);
    Block* end = addBlock(loop);
    for (Block* target : {header, landing})
      for (Block* from : inside) {
        const auto& targets = from->terminator.targets;
        if (std::find(targets.begin(), targets.end(), target) == targets.end()) continue;
        Block* setter = addBlock(loop);
        redirect(*from, target, setter);
        ir::Builder b(function_, setter);
        b.write(isDone, b.constant(ir::Bool, target == landing));
        b.branch(end);
      }
    ir::Builder b(function_, end);
    b.branch(b.read(isDone), landing, header);
  }

  void select(uint32_t loop, const std::vector<Edge>& edges, const std::vector<Block*>& targets, Block* landing) {
    Selector selector(function_, targets.size());
    std::unordered_map<Block*, size_t> numbers;
    for (size_t i = 0; i < targets.size(); ++i) numbers[targets[i]] = i;
    for (const Edge& edge : edges) {
      Block* setter = edge.from;
      if (edge.from->terminator.targets.size() > 1) {
        setter = addBlock(loop);
        redirect(*edge.from, edge.to, setter);
      }
      selector.set(setter, numbers[edge.to]);
      setter->terminator = {ir::Terminator::Kind::Branch, nullptr, {landing}, {}};
    }
    selector.dispatch(landing, targets);
  }

  ir::Function& function_;
  LoopForest& forest_;
  std::vector<std::vector<Edge>> exits_;  // by loop
  std::vector<size_t> predecessorCount_;  // by block id
};

}  // namespace

void normaliseLoopExits(ir::Function& function, LoopForest& forest) { LoopExits(function, forest).run(); }

}  // namespace mulciber::passes
