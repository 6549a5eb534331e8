#include "translator/ir/verifier.h"

#include <algorithm>

#include "translator/ir/dominators.h"
#include "translator/ir/verify_types.h"

namespace mulciber::ir {
namespace {

constexpr size_t maxFaults = 8;

class Verifier {
 public:
  explicit Verifier(const Function& function) : function_(function) {}

  std::string run() {
    if (function_.blocks.empty()) return "@" + function_.name + ": has no block\n";
    checkIds();
    if (!faults_.empty()) return std::move(faults_);
    for (const Block* block : function_.blocks) checkTerminator(*block);
    if (!faults_.empty()) return std::move(faults_);
    DominatorTree tree(function_);
    tree_ = &tree;
    findPredecessors();
    place();
    for (const Block* block : function_.blocks) checkBlock(*block);
    if (function_.isStructured) checkStructure();
    return std::move(faults_);
  }

 private:
  static std::string name(const Block& block) { return "b" + std::to_string(block.id); }

  void fault(const Block& block, const std::string& message) {
    if (faultCount_++ < maxFaults) faults_ += "@" + function_.name + " " + name(block) + ": " + message + "\n";
  }
  void fault(const Block& block, const Instruction& instruction, const std::string& message) {
    fault(block, "%" + std::to_string(instruction.id) + " " + std::string(mnemonic(instruction.op)) + " " + message);
  }

  void checkIds() {
    std::vector<bool> blocks(function_.blockIdBound()), instructions(function_.instructionIdBound());
    for (const Block* block : function_.blocks) {
      if (block->id >= blocks.size() || blocks[block->id]) return fault(*block, "has an id that is not its own");
      blocks[block->id] = true;
      for (const Instruction* instruction : block->instructions) {
        if (instruction->id >= instructions.size() || instructions[instruction->id])
          return fault(*block, *instruction, "has an id that is not its own");
        instructions[instruction->id] = true;
      }
    }
    listed_ = std::move(blocks);
  }

  bool isListed(const Block* block) const { return block && block->id < listed_.size() && listed_[block->id]; }

  void checkTerminator(const Block& block) {
    const Terminator& terminator = block.terminator;
    using Kind = Terminator::Kind;
    size_t targets = terminator.kind == Kind::Branch        ? 1
                     : terminator.kind == Kind::Conditional ? 2
                     : terminator.kind == Kind::Switch      ? terminator.cases.size() + 1
                                                            : 0;
    if (terminator.kind == Kind::None) fault(block, "has no terminator");
    if (terminator.targets.size() != targets) fault(block, "has the wrong number of targets");
    for (const Block* target : terminator.targets)
      if (!isListed(target)) fault(block, "branches to a block that is not in the function");
    bool hasValue = terminator.kind == Kind::Conditional || terminator.kind == Kind::Switch;
    if (hasValue && (!terminator.value || terminator.value->type != (terminator.kind == Kind::Switch ? I32 : Bool)))
      fault(block, "branches on a value of the wrong type");
    auto cases = terminator.cases;
    std::sort(cases.begin(), cases.end());
    if (std::adjacent_find(cases.begin(), cases.end()) != cases.end()) fault(block, "has a case twice");
  }

  void findPredecessors() {
    predecessors_.resize(function_.blockIdBound());
    for (const Block* block : function_.blocks)
      for (const Block* target : block->terminator.targets) {
        auto& list = predecessors_[target->id];
        if (list.empty() || list.back() != block) list.push_back(block);
      }
    if (!predecessors_[function_.blocks.front()->id].empty() && function_.isStructured)
      fault(*function_.blocks.front(), "is the entry and has predecessors");
  }

  void place() {
    home_.assign(function_.instructionIdBound(), nullptr);
    index_.assign(function_.instructionIdBound(), 0);
    for (const Block* block : function_.blocks)
      for (uint32_t i = 0; i < block->instructions.size(); ++i) {
        home_[block->instructions[i]->id] = block;
        index_[block->instructions[i]->id] = i;
      }
  }

  // Whether `value` is defined before the point `index` of `block`, on every path there.
  bool isDefinedAt(const Instruction* value, const Block& block, size_t index) const {
    const Block* home = value->id < home_.size() ? home_[value->id] : nullptr;
    if (!home || home->instructions[index_[value->id]] != value) return false;
    if (home == &block) return index_[value->id] < index;
    if (!tree_->isReachable(&block)) return true;
    return tree_->isReachable(home) && tree_->dominates(home, &block);
  }

  void checkBlock(const Block& block) {
    bool afterPhis = false;
    for (size_t i = 0; i < block.instructions.size(); ++i) {
      const Instruction& instruction = *block.instructions[i];
      std::string message = checkTypes(instruction, function_);
      if (!message.empty()) {
        fault(block, instruction, message);
        continue;
      }
      bool isPhi = instruction.op == Op::Phi;
      if (isPhi && afterPhis) fault(block, instruction, "stands before all other instructions");
      afterPhis |= !isPhi;
      if (function_.isSsa && (instruction.op == Op::ReadVar || instruction.op == Op::WriteVar))
        fault(block, instruction, "is gone in SSA form");
      if (isPhi) {
        checkPhi(instruction, block);
        continue;
      }
      for (const Instruction* operand : instruction.operands)
        if (!isDefinedAt(operand, block, i)) fault(block, instruction, "uses a value that is not defined there");
    }
    if (block.terminator.value && !isDefinedAt(block.terminator.value, block, block.instructions.size()))
      fault(block, "branches on a value that is not defined there");
  }

  void checkPhi(const Instruction& phi, const Block& block) {
    const auto& predecessors = predecessors_[block.id];
    bool agree = block.predecessors.size() == predecessors.size() &&
                 std::is_permutation(predecessors.begin(), predecessors.end(), block.predecessors.begin());
    if (!agree || phi.operands.size() != block.predecessors.size())
      return fault(block, phi, "does not match the block's predecessors");
    for (size_t i = 0; i < phi.operands.size(); ++i) {
      const Block& from = *block.predecessors[i];
      if (!isDefinedAt(phi.operands[i], from, from.instructions.size()))
        fault(block, phi, "uses a value that is not defined at the end of " + name(from));
    }
  }

  // SPIR-V's rules for structured control flow, with those of SPV_KHR_maximal_reconvergence.
  void checkStructure() {
    std::vector<bool> isJoin(function_.blockIdBound()), isMerge(function_.blockIdBound());
    std::vector<uint32_t> order(function_.blockIdBound());
    for (uint32_t i = 0; i < function_.blocks.size(); ++i) order[function_.blocks[i]->id] = i;
    for (const Block* block : function_.blocks) {
      const Merge& merge = block->merge;
      bool branches = block->terminator.targets.size() > 1;
      if (branches && merge.kind == Merge::Kind::None) fault(*block, "branches without naming its merge block");
      if (merge.kind == Merge::Kind::Selection && !branches) fault(*block, "names a merge block without a selection");
      if (block->terminator.kind == Terminator::Kind::Conditional &&
          block->terminator.targets[0] == block->terminator.targets[1])
        fault(*block, "branches to one block on both sides");
      if (block->terminator.kind == Terminator::Kind::Switch)
        for (const Block* target : block->terminator.targets) isJoin[target->id] = true;
      if (Block* parent = tree_->isReachable(block) ? tree_->immediateDominator(block) : nullptr)
        if (order[parent->id] > order[block->id]) fault(*block, "stands before its dominator");
      if (merge.kind == Merge::Kind::None) continue;
      if (!isListed(merge.merge)) {
        fault(*block, "names a merge block that is not in the function");
        return;
      }
      if (isMerge[merge.merge->id]) fault(*merge.merge, "is the merge block of two constructs");
      isMerge[merge.merge->id] = isJoin[merge.merge->id] = true;
      if (merge.merge == block || !dominatesIfReachable(block, merge.merge))
        fault(*block, "does not dominate its merge block");
      if (merge.kind == Merge::Kind::Loop) {
        isJoin[block->id] = true;
        if (!isListed(merge.continueTarget) || !dominatesIfReachable(block, merge.continueTarget)) {
          fault(*block, "does not dominate its continue target");
          return;
        }
        isJoin[merge.continueTarget->id] = true;
      }
    }
    for (const Block* block : function_.blocks)
      if (predecessors_[block->id].size() > 1 && !isJoin[block->id])
        fault(*block, "has several predecessors and is no header, merge block, continue target or switch target");
    checkEdges();
  }

  bool dominatesIfReachable(const Block* a, const Block* b) const {
    return !tree_->isReachable(b) || (tree_->isReachable(a) && tree_->dominates(a, b));
  }

  // Each block knows the innermost header whose construct it is in; edges leave constructs only where they may.
  void checkEdges() {
    std::vector<const Block*> construct(function_.blockIdBound()), loop(function_.blockIdBound());
    std::vector<const Block*> mergeOf(function_.blockIdBound()), continueOf(function_.blockIdBound());
    for (const Block* block : function_.blocks) {
      if (block->merge.kind == Merge::Kind::None) continue;
      mergeOf[block->merge.merge->id] = block;
      if (block->merge.continueTarget) continueOf[block->merge.continueTarget->id] = block;
    }
    std::vector<uint32_t> backEdges(function_.blockIdBound());
    for (const Block* block : tree_->reversePostOrder()) {
      const Block* parent = tree_->immediateDominator(block);
      const Block* header = nullptr;
      if (const Block* owner = mergeOf[block->id]) header = construct[owner->id];
      else if (const Block* continued = continueOf[block->id]) header = continued;
      else if (parent) header = parent->merge.kind != Merge::Kind::None ? parent : construct[parent->id];
      construct[block->id] = header;
      const Block* innermost = header;
      while (innermost && innermost->merge.kind != Merge::Kind::Loop) innermost = construct[innermost->id];
      loop[block->id] = innermost;
    }
    for (const Block* block : tree_->reversePostOrder())
      for (const Block* target : block->terminator.targets) {
        if (tree_->dominates(target, block)) {
          ++backEdges[target->id];
          if (target->merge.kind != Merge::Kind::Loop || !tree_->dominates(target->merge.continueTarget, block))
            fault(*block, "branches back to " + name(*target) + " from outside its continue construct");
          continue;
        }
        checkExit(*block, *target, construct, loop);
      }
    for (const Block* block : tree_->reversePostOrder()) {
      if (block->merge.kind != Merge::Kind::Loop) continue;
      // A continue target that no path reaches still branches back.
      const Block* continued = block->merge.continueTarget;
      const auto& targets = continued->terminator.targets;
      if (!tree_->isReachable(continued)) backEdges[block->id] += targets.size() == 1 && targets[0] == block;
      if (backEdges[block->id] != 1) fault(*block, "is a loop header without exactly one edge back to it");
    }
  }

  void checkExit(const Block& block, const Block& target, const std::vector<const Block*>& construct,
                 const std::vector<const Block*>& loop) {
    const Block* inner = block.merge.kind != Merge::Kind::None ? &block : construct[block.id];
    const Block* innerLoop = block.merge.kind == Merge::Kind::Loop ? &block : loop[block.id];
    if (inner && target.id == inner->merge.merge->id) return;
    if (innerLoop && (&target == innerLoop->merge.merge || &target == innerLoop->merge.continueTarget)) return;
    if (construct[target.id] != inner) fault(block, "leaves its construct to " + name(target));
  }

  const Function& function_;
  const DominatorTree* tree_ = nullptr;
  std::vector<bool> listed_;
  std::vector<std::vector<const Block*>> predecessors_;
  std::vector<const Block*> home_;
  std::vector<uint32_t> index_;
  std::string faults_;
  size_t faultCount_ = 0;
};

}  // namespace

std::string verify(const Function& function) { return Verifier(function).run(); }

}  // namespace mulciber::ir
