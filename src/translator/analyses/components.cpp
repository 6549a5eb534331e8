#include "translator/analyses/components.h"

#include <algorithm>

namespace mulciber::analyses {

using ir::Block;

void Components::restrictTo(std::span<Block* const> blocks) {
  if (size_t size = function_.blockIdBound(); size > part_.size()) {
    part_.resize(size);
    number_.resize(size);
    low_.resize(size);
    isOpen_.resize(size);
  }
  ++stamp_;
  for (const Block* block : blocks) {
    part_[block->id] = stamp_;
    number_[block->id] = 0;
  }
}

void Components::find(Block* root, std::vector<Component>& found) {
  if (part_[root->id] != stamp_ || number_[root->id] != 0) return;
  enter(root);
  while (!visits_.empty()) {
    Block* block = visits_.back().block;
    const auto& targets = block->terminator.targets;
    if (visits_.back().next < targets.size()) {
      Block* target = targets[visits_.back().next++];
      if (part_[target->id] != stamp_) continue;
      if (number_[target->id] == 0) enter(target);
      else if (isOpen_[target->id]) low_[block->id] = std::min(low_[block->id], number_[target->id]);
      continue;
    }
    visits_.pop_back();
    if (!visits_.empty()) {
      uint32_t& above = low_[visits_.back().block->id];
      above = std::min(above, low_[block->id]);
    }
    if (low_[block->id] == number_[block->id]) found.push_back(close(block));
  }
}

void Components::enter(Block* block) {
  number_[block->id] = low_[block->id] = ++counter_;
  open_.push_back(block);
  isOpen_[block->id] = true;
  visits_.push_back({block, 0});
}

Components::Component Components::close(Block* first) {
  auto begin = std::find(open_.rbegin(), open_.rend(), first).base() - 1;
  Component component(begin, open_.end());
  for (const Block* block : component) isOpen_[block->id] = false;
  open_.erase(begin, open_.end());
  return component;
}

}  // namespace mulciber::analyses
