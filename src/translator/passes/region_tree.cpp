#include "translator/passes/region_tree.h"

#include <algorithm>
#include <cassert>

#include "translator/passes/control_flow.h"

namespace mulciber::passes {

using ir::Block;

namespace {

// SPIR-V allows 1023 levels, and Mesa's compiler for CPUs crashes from about 80 on: deeper code is moved out, to behind
// the code around it. Code cannot leave its loop, so each loop may have some more levels.
constexpr uint32_t maxNesting = 64, nestingInLoop = 12;

}  // namespace

RegionTree::RegionTree(ir::Function& function, const LoopForest& forest)
    : function_(function), forest_(forest), dominators_(function), nodes_(function.blockIdBound()) {
  findJoins();
  findParents();
  findScopes();
  findGuards();
  makeSelectors();
}

bool RegionTree::isBackEdge(const Block* from, const Block* to) const {
  return dominators_.orderOf(to) <= dominators_.orderOf(from);
}

void RegionTree::findJoins() {
  for (const LoopForest::Loop& loop : forest_.loops)
    if (loop.landing) node(loop.landing).landingOf = loop.header;
  for (const Block* block : dominators_.reversePostOrder())
    for (const Block* target : uniqueTargets(*block))
      if (!isBackEdge(block, target)) ++node(target).forwardPredecessors;
  for (const Block* block : dominators_.reversePostOrder()) {
    Node& n = node(block);
    n.isJoin = n.forwardPredecessors > 1 && !n.landingOf;
  }
}

uint32_t RegionTree::depthInside(const Block* block) const {
  return node(block).depth + (forest_.isHeader(block) ? 1 : 0);
}

void RegionTree::findParents() {
  const auto& order = dominators_.reversePostOrder();
  for (size_t i = 1; i < order.size(); ++i) {
    Block* block = order[i];
    Node& n = node(block);
    if (n.landingOf) {
      // It follows the loop, wherever in the loop its dominator is.
      n.parent = node(n.landingOf).parent;
      n.depth = node(n.landingOf).depth;
      continue;
    }
    if (!n.parent) n.parent = dominators_.immediateDominator(block);
    n.depth = depthInside(n.parent);
    if (n.isJoin) continue;
    if (n.parent->terminator.targets.size() > 1) ++n.depth;
    uint32_t loop = forest_.loopOf(block);
    if (forest_.isHeader(block)) loop = forest_.loops[loop].parent;
    Block* root = loop == LoopForest::none ? order.front() : forest_.loops[loop].header;
    if (n.depth <= std::max(maxNesting, depthInside(root) + nestingInLoop)) continue;
    hoist(block, root);
    n.depth = depthInside(root);
  }
  for (size_t i = 1; i < order.size(); ++i)
    if (node(order[i]).isJoin) node(node(order[i]).parent).joins.push_back(order[i]);
}

// Makes the block a join of `root`, and so all joins that are still to come of blocks between the two.
void RegionTree::hoist(Block* block, Block* root) {
  for (Block* between = node(block).parent; between != root; between = node(between).parent)
    for (Block* child : dominators_.children(between)) {
      Node& n = node(child);
      if (n.isJoin && dominators_.orderOf(child) > dominators_.orderOf(block)) n.parent = root;
    }
  node(block).isJoin = true;
  node(block).parent = root;
}

void RegionTree::findScopes() {
  for (Block* block : dominators_.reversePostOrder()) {
    Node& n = node(block);
    if (n.landingOf) n.outerScope = node(n.landingOf).outerScope;
    else if (n.isJoin) n.outerScope = n.scopeParent;
    else if (n.parent) n.outerScope = node(n.parent).innerScope;
    Block* scope = forest_.isHeader(block) ? nullptr : n.outerScope;
    for (size_t i = n.joins.size(); i-- > 0;) {
      Node& join = node(n.joins[i]);
      join.scopeParent = scope;
      join.scopeDepth = scope ? node(scope).scopeDepth + 1 : 0;
      scope = n.joins[i];
      scopes_.push_back(scope);
    }
    n.innerScope = scope;
  }
}

void RegionTree::findGuards() {
  for (Block* scope : scopes_) node(scope).leader = scope->id;
  for (Block* block : dominators_.reversePostOrder())
    for (Block* target : uniqueTargets(*block))
      if (classify(block, target) == Jump::Leave) {
        node(target).isLeftTo = true;
        pass(node(block).innerScope, target);
      }
  for (size_t i = scopes_.size(); i-- > 0;) {
    Node& n = node(scopes_[i]);
    if (!n.furthestJump) continue;
    n.isGuarded = true;
    if (n.furthestJump != n.scopeParent) pass(n.scopeParent, n.furthestJump);
  }
}

void RegionTree::pass(Block* guard, Block* join) {
  Node& n = node(guard);
  if (!n.furthestJump) {
    n.furthestJump = join;
    return;
  }
  nodes_[leaderOf(join->id)].leader = leaderOf(n.furthestJump->id);
  if (node(join).scopeDepth < node(n.furthestJump).scopeDepth) n.furthestJump = join;
}

uint32_t RegionTree::leaderOf(uint32_t id) {
  while (nodes_[id].leader != id) id = nodes_[id].leader = nodes_[nodes_[id].leader].leader;
  return id;
}

void RegionTree::makeSelectors() {
  struct Members {
    Block* outermost = nullptr;
    size_t count = 0;
  };
  std::vector<Members> members(nodes_.size());
  for (Block* scope : scopes_) {  // outer ones first
    if (!node(scope).isLeftTo) continue;
    Members& group = members[leaderOf(scope->id)];
    if (!group.outermost || node(scope).scopeDepth < node(group.outermost).scopeDepth) group.outermost = scope;
    ++group.count;
  }
  std::vector<uint32_t> groupOfLeader(nodes_.size());
  for (Block* scope : scopes_) {
    const Members& group = members[scope->id];
    if (group.count == 0) continue;
    bool isFlag = group.count == 1;
    groupOfLeader[scope->id] = static_cast<uint32_t>(groups_.size());
    node(node(group.outermost).parent).resets.push_back(groupOfLeader[scope->id]);
    groups_.push_back({isFlag, function_.addVariable(isFlag ? ir::Bool : ir::I32)});
  }
  for (Block* scope : scopes_) {
    Node& n = node(scope);
    if (n.isLeftTo) n.group = groupOfLeader[leaderOf(scope->id)];
    if (n.isGuarded) n.guardGroup = groupOfLeader[leaderOf(n.furthestJump->id)];
  }
}

RegionTree::Jump RegionTree::classify(const Block* from, const Block* to) const {
  const Block* scope = node(from).innerScope;
  if (isBackEdge(from, to)) return scope ? Jump::Continue : Jump::Fall;
  if (node(to).landingOf) return Jump::Break;
  if (!node(to).isJoin) return Jump::Inline;
  assert(scope);
  return scope == to ? Jump::Fall : Jump::Leave;
}

void RegionTree::emitReset(Block* block) const {
  ir::Builder b(function_, block);
  for (uint32_t index : node(block).resets) {
    const Group& group = groups_[index];
    b.write(group.variable, group.isFlag ? b.boolean(false) : b.i32(0));
  }
}

void RegionTree::emitLeave(Block* block, const Block* join) {
  ir::Builder b(function_, block);
  Node& n = node(join);
  const Group& group = groups_[n.group];
  ir::Instruction* number = group.isFlag ? b.boolean(true) : b.i32(0);
  if (!group.isFlag) n.leaves.push_back(number);
  b.write(group.variable, number);
}

void RegionTree::reach(const Block* join) {
  Node& n = node(join);
  n.number = ++joinsReached_;
  for (ir::Instruction* leave : n.leaves) leave->payload = n.number;
}

ir::Instruction* RegionTree::emitSkips(Block* block, const Block* join) const {
  ir::Builder b(function_, block);
  const Group& group = groups_[node(join).guardGroup];
  ir::Instruction* selector = b.read(group.variable);
  if (group.isFlag) return selector;
  return b.compare(ir::Op::ULt, b.i32(node(join).number), selector);
}

}  // namespace mulciber::passes
