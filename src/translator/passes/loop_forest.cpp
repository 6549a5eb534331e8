#include "translator/passes/loop_forest.h"

#include <algorithm>

#include "translator/passes/control_flow.h"

namespace mulciber::passes {

using ir::Block;

void LoopForest::place(const Block* block, uint32_t loop) {
  if (block->id >= loopOf_.size()) loopOf_.resize(block->id + 1, none);
  loopOf_[block->id] = loop;
}

void LoopForest::updateDepths() {
  for (Loop& loop : loops) {
    loop.depth = 0;
    for (uint32_t around = loop.parent; around != none; around = loops[around].parent) ++loop.depth;
  }
}

bool LoopForest::contains(uint32_t outer, uint32_t inner) const {
  if (outer == none) return true;
  while (inner != none && loops[inner].depth > loops[outer].depth) inner = loops[inner].parent;
  return inner == outer;
}

namespace {

class LoopFinder {
 public:
  explicit LoopFinder(ir::Function& function) : function_(function) {}

  LoopForest run() {
    grow();
    for (Block* block : function_.blocks)
      for (Block* target : uniqueTargets(*block)) predecessors_[target->id].push_back(block);
    regions_.push_back({function_.blocks, LoopForest::none});
    while (!regions_.empty()) {
      Region region = std::move(regions_.back());
      regions_.pop_back();
      split(region);
    }
    return std::move(forest_);
  }

 private:
  struct Region {  // the blocks of a loop, header included, or of the function
    std::vector<Block*> blocks;
    uint32_t loop;
  };

  void grow() {
    size_t size = function_.blockIdBound();
    predecessors_.resize(size);
    region_.resize(size, 0);
    component_.resize(size, 0);
    number_.resize(size, 0);
    low_.resize(size, 0);
    onStack_.resize(size, false);
  }

  void split(const Region& region) {
    ++stamp_;
    Block* header = region.loop == LoopForest::none ? nullptr : forest_.loops[region.loop].header;
    for (Block* block : region.blocks) {
      region_[block->id] = block == header ? 0 : stamp_;
      number_[block->id] = 0;
      forest_.place(block, region.loop);
    }
    std::vector<std::vector<Block*>> components;
    for (Block* block : region.blocks)
      if (block != header && number_[block->id] == 0) findComponents(block, components);
    for (auto& component : components) makeLoop(std::move(component), region.loop);
  }

  bool isInRegion(const Block* block) const { return region_[block->id] == stamp_; }

  // Tarjan's algorithm from one root; keeps the components that are cycles.
  void findComponents(Block* root, std::vector<std::vector<Block*>>& components) {
    struct Visit {
      Block* block;
      size_t next;
    };
    std::vector<Visit> visits;
    auto enter = [&](Block* block) {
      number_[block->id] = low_[block->id] = ++counter_;
      stack_.push_back(block);
      onStack_[block->id] = true;
      visits.push_back({block, 0});
    };
    enter(root);
    while (!visits.empty()) {
      Block* block = visits.back().block;
      const auto& targets = block->terminator.targets;
      if (visits.back().next < targets.size()) {
        Block* target = targets[visits.back().next++];
        if (!isInRegion(target)) continue;
        if (number_[target->id] == 0) enter(target);
        else if (onStack_[target->id]) low_[block->id] = std::min(low_[block->id], number_[target->id]);
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) {
        uint32_t above = visits.back().block->id;
        low_[above] = std::min(low_[above], low_[block->id]);
      }
      if (low_[block->id] == number_[block->id]) popComponent(block, components);
    }
  }

  void popComponent(Block* root, std::vector<std::vector<Block*>>& components) {
    std::vector<Block*> component;
    Block* block;
    do {
      block = stack_.back();
      stack_.pop_back();
      onStack_[block->id] = false;
      component.push_back(block);
    } while (block != root);
    const auto& targets = root->terminator.targets;
    bool isCycle = component.size() > 1 || std::find(targets.begin(), targets.end(), root) != targets.end();
    if (isCycle) components.push_back(std::move(component));
  }

  void makeLoop(std::vector<Block*> blocks, uint32_t parent) {
    std::sort(blocks.begin(), blocks.end(), [](const Block* a, const Block* b) { return a->id < b->id; });
    uint32_t component = ++componentStamp_;
    for (Block* block : blocks) component_[block->id] = component;
    std::vector<Block*> entries;
    for (Block* block : blocks) {
      const auto& predecessors = predecessors_[block->id];
      if (std::any_of(predecessors.begin(), predecessors.end(),
                      [&](const Block* from) { return component_[from->id] != component; }))
        entries.push_back(block);
    }
    Block* header = entries.front();
    if (entries.size() > 1) header = addDispatch(entries, blocks, component, parent);
    uint32_t depth = parent == LoopForest::none ? 0 : forest_.loops[parent].depth + 1;
    forest_.loops.push_back({header, parent, depth, nullptr, false});
    regions_.push_back({std::move(blocks), static_cast<uint32_t>(forest_.loops.size() - 1)});
  }

  Block* addDispatch(const std::vector<Block*>& entries, std::vector<Block*>& blocks, uint32_t component,
                     uint32_t parent) {
    Block* dispatch = function_.addBlock();
    Selector selector(function_, entries.size());
    grow();
    component_[dispatch->id] = component;
    blocks.push_back(dispatch);
    std::vector<Block*> sources;
    for (size_t i = 0; i < entries.size(); ++i) {
      for (Block* from : predecessors_[entries[i]->id]) {
        Block* setter = from;
        if (from->terminator.targets.size() > 1) {
          setter = function_.addBlock();
          grow();
          redirect(*from, entries[i], setter);
          predecessors_[setter->id] = {from};
          component_[setter->id] = component_[from->id] == component ? component : 0;
          if (component_[setter->id] == component) blocks.push_back(setter);
          else forest_.place(setter, parent);
        }
        selector.set(setter, i);
        setter->terminator = {ir::Terminator::Kind::Branch, nullptr, {dispatch}, {}};
        sources.push_back(setter);
      }
      predecessors_[entries[i]->id] = {dispatch};
    }
    predecessors_[dispatch->id] = std::move(sources);
    selector.dispatch(dispatch, entries);
    return dispatch;
  }

  ir::Function& function_;
  LoopForest forest_;
  std::vector<Region> regions_;
  std::vector<std::vector<Block*>> predecessors_;
  std::vector<uint32_t> region_, component_, number_, low_;
  std::vector<bool> onStack_;
  std::vector<Block*> stack_;
  uint32_t stamp_ = 0, componentStamp_ = 0, counter_ = 0;
};

}  // namespace

LoopForest findLoops(ir::Function& function) { return LoopFinder(function).run(); }

}  // namespace mulciber::passes
