#include "translator/passes/structurize.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "translator/ir/verifier.h"
#include "translator/passes/control_flow.h"
#include "translator/passes/join_waits.h"
#include "translator/passes/loop_exits.h"
#include "translator/passes/loop_forest.h"
#include "translator/passes/raise_switches.h"
#include "translator/passes/region_tree.h"
#include "translator/passes/spin_loops.h"
#include "translator/passes/split_values.h"
#include "translator/passes/switch_chains.h"
#include "translator/passes/tail_copies.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Merge;
using ir::Terminator;

// Writes the blocks of the region tree in order. `current_` is the block that control falls out of, if any. What is
// still to be written stands on a stack of tasks, so that deep nesting costs no recursion.
class StructureWriter {
 public:
  StructureWriter(ir::Function& function, const LoopForest& forest, RegionTree& tree)
      : function_(function), forest_(forest), tree_(tree), loops_(forest.loops.size()) {}

  void run() {
    tasks_.push_back({Task::Kind::Tree, function_.blocks.front()});
    while (!tasks_.empty()) {
      Task task = tasks_.back();
      tasks_.pop_back();
      perform(task);
    }
    assert(!current_);
    function_.blocks = std::move(written_);
  }

 private:
  struct Task {
    enum class Kind : uint8_t {
      Tree,     // the block and all that stands behind it; a header's with its loop
      Join,     // the tree of a join, guarded where needed
      Arm,      // starts `block`, where control comes from `from` on its way to `target`
      EndArm,   // falls into the merge block
      EndIf,    // continues in the merge block
      EndLoop,  // enters the continue target, then the merge block of loop `loop`
    };
    Kind kind;
    Block* block = nullptr;
    Block* from = nullptr;
    Block* target = nullptr;
    uint32_t loop = 0;
  };
  struct LoopBlocks {
    Block *header, *continueTarget, *merge;
  };

  void perform(const Task& task) {
    switch (task.kind) {
      case Task::Kind::Tree: writeTree(task.block); break;
      case Task::Kind::Join: writeJoin(task.block); break;
      case Task::Kind::Arm:
        start(task.block);
        jump(task.from, task.target);
        break;
      case Task::Kind::EndArm:
        if (current_) branchTo(task.block);
        break;
      case Task::Kind::EndIf: startIfReached(task.block); break;
      case Task::Kind::EndLoop: endLoop(task.loop); break;
    }
  }

  Block* addBlock() {
    Block* block = function_.addBlock();
    reached_.resize(function_.blockIdBound());
    return block;
  }

  void start(Block* block) {
    written_.push_back(block);
    current_ = block;
  }

  void branchTo(Block* block) {
    current_->terminator = {Terminator::Kind::Branch, nullptr, {block}, {}};
    if (block->id < reached_.size()) reached_[block->id] = true;
    current_ = nullptr;
  }

  void enter(Block* block) {
    if (current_) branchTo(block);
    start(block);
  }

  // A merge block that nothing goes to is still named by its header.
  void startIfReached(Block* block) {
    start(block);
    if (reached_[block->id]) return;
    block->terminator = {Terminator::Kind::Unreachable, nullptr, {}, {}};
    current_ = nullptr;
  }

  void writeTree(Block* block) {
    if (!forest_.isHeader(block)) return writeCode(block);
    uint32_t loop = forest_.loopOf(block);
    LoopBlocks& blocks = loops_[loop];
    blocks = {addBlock(), addBlock(), addBlock()};
    enter(blocks.header);
    blocks.header->merge = {Merge::Kind::Loop, blocks.merge, blocks.continueTarget, forest_.loops[loop].dontUnroll};
    if (Block* landing = forest_.loops[loop].landing) tasks_.push_back({Task::Kind::Tree, landing});
    tasks_.push_back({.kind = Task::Kind::EndLoop, .loop = loop});
    writeCode(block);
  }

  void endLoop(uint32_t loop) {
    const LoopBlocks& blocks = loops_[loop];
    if (current_) branchTo(blocks.continueTarget);
    start(blocks.continueTarget);
    branchTo(blocks.header);
    startIfReached(blocks.merge);
  }

  void writeCode(Block* block) {
    enter(block);
    tree_.emitReset(block);
    const auto& joins = tree_.joinsOf(block);
    for (size_t i = joins.size(); i-- > 0;) tasks_.push_back({Task::Kind::Join, joins[i]});
    switch (block->terminator.kind) {
      case Terminator::Kind::Branch: jump(block, block->terminator.targets[0]); break;
      case Terminator::Kind::Conditional:
      case Terminator::Kind::Switch: writeSelection(block); break;
      default: current_ = nullptr; break;
    }
  }

  void writeSelection(Block* block) {
    Block* merge = addBlock();
    block->merge = {Merge::Kind::Selection, merge, nullptr, false};
    current_ = nullptr;
    tasks_.push_back({Task::Kind::EndIf, merge});
    std::vector<Block*> targets = uniqueTargets(*block);
    std::vector<Task> arms;
    std::unordered_map<const Block*, Block*> armOf;
    for (Block* target : targets) {
      Block* arm = merge;
      if (tree_.classify(block, target) == RegionTree::Jump::Fall) {
        reached_[merge->id] = true;
      } else {
        arm = addBlock();
        arms.push_back({Task::Kind::EndArm, merge});
        arms.push_back({Task::Kind::Arm, arm, block, target});
      }
      armOf[target] = arm;
    }
    for (Block*& target : block->terminator.targets) target = armOf.at(target);
    // The first target's arm is written first.
    for (size_t i = arms.size(); i > 0; i -= 2) {
      tasks_.push_back(arms[i - 2]);
      tasks_.push_back(arms[i - 1]);
    }
  }

  void jump(const Block* from, Block* to) {
    uint32_t loop = forest_.loopOf(from);
    switch (tree_.classify(from, to)) {
      case RegionTree::Jump::Inline: tasks_.push_back({Task::Kind::Tree, to}); break;
      case RegionTree::Jump::Fall: break;
      case RegionTree::Jump::Leave: tree_.emitLeave(current_, to); break;
      case RegionTree::Jump::Continue: branchTo(loops_[loop].continueTarget); break;
      case RegionTree::Jump::Break: branchTo(loops_[loop].merge); break;
    }
  }

  void writeJoin(Block* join) {
    assert(current_);
    tree_.reach(join);
    if (!tree_.isGuarded(join)) return tasks_.push_back({Task::Kind::Tree, join});
    Block* header = addBlock();
    Block* arm = addBlock();
    Block* merge = addBlock();
    enter(header);
    ir::Instruction* skips = tree_.emitSkips(header, join);
    header->merge = {Merge::Kind::Selection, merge, nullptr, false};
    header->terminator = {Terminator::Kind::Conditional, skips, {merge, arm}, {}};
    reached_[merge->id] = true;
    start(arm);
    tasks_.push_back({Task::Kind::EndIf, merge});
    tasks_.push_back({Task::Kind::EndArm, merge});
    tasks_.push_back({Task::Kind::Tree, join});
  }

  ir::Function& function_;
  const LoopForest& forest_;
  RegionTree& tree_;
  std::vector<LoopBlocks> loops_;
  std::vector<Task> tasks_;
  std::vector<Block*> written_;
  std::vector<bool> reached_;  // by block id: merge blocks that something branches to
  Block* current_ = nullptr;
};

void tidyGraph(ir::Function& function) {
  for (Block* block : function.blocks) {
    Terminator& terminator = block->terminator;
    if (terminator.targets.size() > 1 && uniqueTargets(*block).size() == 1)
      terminator = {Terminator::Kind::Branch, nullptr, {terminator.targets[0]}, {}};
    if (terminator.kind == Terminator::Kind::Switch && terminator.targets.size() == 1)
      terminator = {Terminator::Kind::Branch, nullptr, terminator.targets, {}};
  }
  separateEntry(function);
}

// Does the block end by comparing a counter?
bool isCounted(const Block& block) {
  const ir::Instruction* condition = block.terminator.value;
  if (!condition) return true;
  auto isCondition = [&](const ir::Instruction* i) {
    return i->op == ir::Op::WriteVar && i->payload == condition->payload;
  };
  if (condition->op == ir::Op::ReadVar) {
    auto written = std::find_if(block.instructions.rbegin(), block.instructions.rend(), isCondition);
    if (written == block.instructions.rend()) return false;
    condition = (*written)->operands[0];
  }
  return ir::family(condition->op) == ir::Family::IntegerComparison;
}

// nvcc has unrolled what it found worth it. What it left, a driver's compiler should unroll only where that costs no
// more branches: loops of one block that count.
void noteUnrollWishes(ir::Function& function, LoopForest& forest) {
  std::vector<uint32_t> blocks(forest.loops.size());
  for (Block* block : function.blocks) {
    uint32_t loop = forest.loopOf(block);
    if (loop != LoopForest::none && (block->merge.dontUnroll || ++blocks[loop] > 1 || !isCounted(*block)))
      forest.loops[loop].dontUnroll = true;
    block->merge = {};
  }
}

// Joins blocks that nothing else leads between; the writer makes many.
void fuseBlocks(ir::Function& function) {
  function.computePredecessors();
  std::vector<bool> isNamed(function.blockIdBound()), isGone(function.blockIdBound());
  for (const Block* block : function.blocks) {
    if (block->merge.merge) isNamed[block->merge.merge->id] = true;
    if (block->merge.continueTarget) isNamed[block->merge.continueTarget->id] = true;
  }
  for (Block* block : function.blocks) {
    if (isGone[block->id]) continue;
    while (block->terminator.kind == Terminator::Kind::Branch && block->merge.kind == Merge::Kind::None) {
      Block* next = block->terminator.targets[0];
      if (next->predecessors.size() != 1 || isNamed[next->id]) break;
      block->instructions.insert(block->instructions.end(), next->instructions.begin(), next->instructions.end());
      block->terminator = std::move(next->terminator);
      block->merge = next->merge;
      if (block->name.empty()) block->name = std::move(next->name);
      isGone[next->id] = true;
    }
  }
  std::erase_if(function.blocks, [&](const Block* block) { return isGone[block->id]; });
}

// What the steps hand on.
struct Structure {
  ir::Function& function;
  LoopForest forest;
  JoinedWaits joinedWaits;
};

void findLocalLoops(Structure& s) {
  splitCrossBlockValues(s.function);
  s.forest = findLoops(s.function);
}

void gatherWaits(Structure& s) {
  if (gatherFirstTries(s.function, s.forest)) findLocalLoops(s);
  s.joinedWaits = joinWaits(s.function, s.forest);
  if (!s.joinedWaits.empty()) findLocalLoops(s);
}

void writeStructure(Structure& s) {
  RegionTree tree(s.function, s.forest);
  StructureWriter(s.function, s.forest, tree).run();
}

struct Step {
  const char* name;
  void (*run)(Structure& s);
};
constexpr Step steps[] = {
    {"raise_switches", [](Structure& s) { raiseSwitches(s.function); }},
    {"tidy", [](Structure& s) { tidyGraph(s.function); }},
    {"releases", [](Structure& s) { endBlocksAfterReleases(s.function); }},
    // No value crosses blocks from here on, and each loop has one header.
    {"loops", findLocalLoops},
    {"waits", gatherWaits},
    {"unroll_wishes", [](Structure& s) { noteUnrollWishes(s.function, s.forest); }},
    // Arms that share a small end get one each.
    {"tail_copies", [](Structure& s) { copySharedTails(s.function, s.forest); }},
    // Loops that wait for a lock take in its release.
    {"spin_loops", [](Structure& s) { extendSpinLoops(s.function, s.forest, s.joinedWaits); }},
    // Each loop has one way out from here on.
    {"loop_exits", [](Structure& s) { normaliseLoopExits(s.function, s.forest); }},
    // Switches around operations of a warp become chains of branches.
    {"switch_chains", [](Structure& s) { chainConvergentSwitches(s.function, s.forest); }},
    {"write", writeStructure},
    {"fuse", [](Structure& s) { fuseBlocks(s.function); }},
};

std::string runSteps(ir::Function& function, bool verifies) {
  Structure structure{function, {}, {}};
  for (const Step& step : steps) {
    step.run(structure);
    if (!verifies) continue;
    if (std::string faults = ir::verify(function); !faults.empty()) return std::string(step.name) + ": " + faults;
  }
  function.computePredecessors();
  function.renumber();
  function.isStructured = true;
  return {};
}

}  // namespace

void structurize(ir::Function& function) { (void)runSteps(function, false); }

std::string structurizeVerified(ir::Function& function) { return runSteps(function, true); }

}  // namespace mulciber::passes
