#include "translator/passes/loop_forest.h"

#include <algorithm>

#include "translator/analyses/components.h"
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
  explicit LoopFinder(ir::Function& function) : function_(function), components_(function) {}

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
    component_.resize(size, 0);
  }

  void split(const Region& region) {
    Block* header = region.loop == LoopForest::none ? nullptr : forest_.loops[region.loop].header;
    std::vector<Block*> inner;  // without the header its edges back are not seen
    for (Block* block : region.blocks) {
      forest_.place(block, region.loop);
      if (block != header) inner.push_back(block);
    }
    components_.restrictTo(inner);
    std::vector<analyses::Components::Component> found;
    for (Block* block : inner) components_.find(block, found);
    for (auto& component : found)
      if (isCycle(component)) makeLoop(std::move(component), region.loop);
  }

  static bool isCycle(const analyses::Components::Component& component) {
    const auto& targets = component.front()->terminator.targets;
    return component.size() > 1 || std::find(targets.begin(), targets.end(), component.front()) != targets.end();
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
  analyses::Components components_;
  LoopForest forest_;
  std::vector<Region> regions_;
  std::vector<std::vector<Block*>> predecessors_;
  std::vector<uint32_t> component_;  // by block id
  uint32_t componentStamp_ = 0;
};

}  // namespace

LoopForest findLoops(ir::Function& function) { return LoopFinder(function).run(); }

}  // namespace mulciber::passes
