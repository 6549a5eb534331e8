#include "translator/ir/dominators.h"

#include <algorithm>

namespace mulciber::ir {

DominatorTree::DominatorTree(const Function& function) {
  size_t bound = function.blockIdBound();
  position_.assign(bound, none);
  dominator_.assign(bound, nullptr);
  children_.resize(bound);
  std::vector<Block*> preorder;
  std::vector<uint32_t> parents;
  findOrder(function, preorder, parents);
  findDominators(preorder, parents);
  for (Block* block : order_)
    if (Block* parent = dominator_[block->id]) children_[parent->id].push_back(block);
  numberTree();
}

void DominatorTree::findOrder(const Function& function, std::vector<Block*>& preorder, std::vector<uint32_t>& parents) {
  struct Visit {
    Block* block;
    size_t next;
    uint32_t number;
  };
  std::vector<Visit> stack;
  auto enter = [&](Block* block, uint32_t parent) {
    position_[block->id] = 0;
    stack.push_back({block, 0, static_cast<uint32_t>(preorder.size())});
    preorder.push_back(block);
    parents.push_back(parent);
  };
  enter(function.blocks.front(), 0);
  while (!stack.empty()) {
    Visit& top = stack.back();
    const auto& targets = top.block->terminator.targets;
    if (top.next == targets.size()) {
      order_.push_back(top.block);
      stack.pop_back();
      continue;
    }
    // The last target first: the order then lists the others, such as an if's true side, before it.
    Block* target = targets[targets.size() - ++top.next];
    if (position_[target->id] == none) enter(target, top.number);
  }
  std::reverse(order_.begin(), order_.end());
  for (uint32_t i = 0; i < order_.size(); ++i) position_[order_[i]->id] = i;
}

// Semi-dominators by Lengauer and Tarjan with path compression, then nearest common ancestors (Georgiadis).
void DominatorTree::findDominators(const std::vector<Block*>& preorder, const std::vector<uint32_t>& parents) {
  const auto count = static_cast<uint32_t>(preorder.size());
  std::vector<uint32_t> number(position_.size(), none);
  for (uint32_t i = 0; i < count; ++i) number[preorder[i]->id] = i;
  std::vector<std::vector<uint32_t>> predecessors(count);
  for (uint32_t i = 0; i < count; ++i)
    for (Block* target : preorder[i]->terminator.targets) predecessors[number[target->id]].push_back(i);

  std::vector<uint32_t> semi(count), label(count), ancestor(parents), path;
  for (uint32_t i = 0; i < count; ++i) semi[i] = label[i] = i;
  auto evaluate = [&](uint32_t vertex, uint32_t linkedFrom) {
    if (vertex < linkedFrom) return vertex;
    path.clear();
    for (uint32_t v = vertex; v >= linkedFrom; v = ancestor[v]) path.push_back(v);
    for (size_t i = path.size() - 1; i-- > 0;) {
      uint32_t above = path[i + 1], v = path[i];
      if (semi[label[above]] < semi[label[v]]) label[v] = label[above];
      ancestor[v] = ancestor[above];
    }
    return label[vertex];
  };
  for (uint32_t w = count; w-- > 1;)
    for (uint32_t predecessor : predecessors[w]) semi[w] = std::min(semi[w], semi[evaluate(predecessor, w + 1)]);

  std::vector<uint32_t> idom(parents);
  for (uint32_t w = 1; w < count; ++w) {
    while (idom[w] > semi[w]) idom[w] = idom[idom[w]];
    dominator_[preorder[w]->id] = preorder[idom[w]];
  }
}

void DominatorTree::numberTree() {
  enter_.assign(position_.size(), 0);
  leave_.assign(position_.size(), 0);
  uint32_t time = 0;
  std::vector<std::pair<Block*, size_t>> stack{{order_.front(), 0}};
  enter_[order_.front()->id] = time++;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == children_[block->id].size()) {
      leave_[block->id] = time++;
      stack.pop_back();
      continue;
    }
    Block* child = children_[block->id][next++];
    enter_[child->id] = time++;
    stack.emplace_back(child, 0);
  }
}

bool DominatorTree::dominates(const Block* a, const Block* b) const {
  return enter_[a->id] <= enter_[b->id] && leave_[b->id] <= leave_[a->id];
}

}  // namespace mulciber::ir
