// Where structured code puts each block: the tree of "Beyond Relooper" (Ramsey, ICFP 2022) on dominators.
//
// A block with several forward predecessors is a join. The code of its parent in the tree stands in a scope named
// after the join, and the join follows the scope. A jump to the join from where control falls to the scope's end
// anyway disappears. Any other one sets a selector and falls through, past joins in between, which are guarded by it.
#pragma once

#include "translator/ir/builder.h"
#include "translator/ir/dominators.h"
#include "translator/passes/loop_forest.h"

namespace mulciber::passes {

class RegionTree {
 public:
  RegionTree(ir::Function& function, const LoopForest& forest);

  const ir::DominatorTree& dominators() const { return dominators_; }

  // The joins whose scopes wrap the code of this block, innermost first.
  const std::vector<ir::Block*>& joinsOf(const ir::Block* block) const { return nodes_[block->id].joins; }

  enum class Jump : uint8_t {
    Inline,    // the target's code stands at the jump
    Fall,      // the target is where the end of the enclosing scope leads
    Leave,     // to a join further out: set its selector and fall
    Continue,  // to the header of the loop
    Break,     // to the landing of the loop
  };
  Jump classify(const ir::Block* from, const ir::Block* to) const;

  // Jumps past a join record where they go; a join that is jumped past is skipped unless it is its turn. Selectors hold
  // the joins' numbers in the order in which they are written, so the code that writes a join calls reach() first.
  bool isGuarded(const ir::Block* join) const { return nodes_[join->id].isGuarded; }
  void emitReset(ir::Block* block) const;                   // at the end of a block, before its jumps
  void emitLeave(ir::Block* block, const ir::Block* join);  // records that control goes to `join`
  void reach(const ir::Block* join);
  ir::Instruction* emitSkips(ir::Block* block, const ir::Block* join) const;  // bool: control has gone past `join`

 private:
  struct Node {
    ir::Block* parent = nullptr;
    ir::Block* outerScope = nullptr;   // the join whose scope the block's tree stands in, within the loop
    ir::Block* innerScope = nullptr;   // the same for its own code
    ir::Block* scopeParent = nullptr;  // joins: the scope around this one
    uint32_t scopeDepth = 0;
    uint32_t depth = 0;  // nesting of selections and loops
    uint32_t forwardPredecessors = 0;
    ir::Block* landingOf = nullptr;  // landings: the header of their loop
    bool isJoin = false, isGuarded = false, isLeftTo = false;
    std::vector<ir::Block*> joins;
    ir::Block* furthestJump = nullptr;     // joins: the outermost join that a jump past this one goes to
    std::vector<uint32_t> resets;          // groups whose selector starts in this block
    uint32_t leader = 0;                   // joins: union-find over those whose jumps pass a common guard, by block id
    uint32_t group = 0;                    // joins that are left to: the group that records it
    uint32_t number = 0;                   // joins: see reach()
    std::vector<ir::Instruction*> leaves;  // constants that become the number
    uint32_t guardGroup = 0;               // guarded joins: the group to ask
  };
  struct Group {
    bool isFlag = true;
    ir::VariableId variable = 0;
  };

  bool isBackEdge(const ir::Block* from, const ir::Block* to) const;
  Node& node(const ir::Block* block) { return nodes_[block->id]; }
  const Node& node(const ir::Block* block) const { return nodes_[block->id]; }
  uint32_t depthInside(const ir::Block* block) const;
  void findJoins();
  void findParents();
  void hoist(ir::Block* block, ir::Block* root);
  void findScopes();
  void findGuards();
  void pass(ir::Block* guard, ir::Block* join);
  uint32_t leaderOf(uint32_t id);
  void makeSelectors();

  ir::Function& function_;
  const LoopForest& forest_;
  ir::DominatorTree dominators_;
  std::vector<Node> nodes_;         // by block id
  std::vector<ir::Block*> scopes_;  // joins, outer scopes before inner ones
  std::vector<Group> groups_;
  uint32_t joinsReached_ = 0;
};

}  // namespace mulciber::passes
