#include "support/random_function.h"

#include <algorithm>
#include <deque>

#include "translator/ir/builder.h"
#include "translator/ir/dominators.h"

namespace mulciber::test {
namespace {

using ir::Block;
using ir::Builder;
using ir::Instruction;
using ir::Op;

constexpr unsigned dataVariables = 4;
constexpr uint32_t startFuel = 40;

class Generator {
 public:
  Generator(std::mt19937_64& random, const RandomFunctionOptions& options)
      : random_(random), options_(options), function_(std::make_unique<ir::Function>()) {}

  std::unique_ptr<ir::Function> run() {
    function_->name = "random";
    function_->isKernel = true;
    for (unsigned i = 0; i < dataVariables; ++i) data_[i] = function_->addVariable(ir::I32, "d" + std::to_string(i));
    fuel_ = function_->addVariable(ir::I32, "fuel");
    Block* entry = function_->addBlock("entry");
    for (unsigned i = 0; i < options_.blocks; ++i) blocks_.push_back(function_->addBlock());
    shape();
    entry->terminator = {ir::Terminator::Kind::Branch, nullptr, {blocks_[0]}, {}};
    function_->removeUnreachableBlocks();
    function_->renumber();
    if (options_.terminates) leadOut();
    fillEntry(entry);
    ir::DominatorTree tree(*function_);
    for (Block* block : tree.reversePostOrder())
      if (block != entry) fill(block, tree);
    return std::move(function_);
  }

 private:
  uint32_t pick(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  bool chance(unsigned percent) { return pick(100) < percent; }

  // Targets only; the values to branch on follow once the graph is known.
  void shape() {
    bool local = chance(50);
    auto count = static_cast<uint32_t>(blocks_.size());
    for (uint32_t i = 0; i < count; ++i) {
      auto any = [&] {
        if (!local) return blocks_[pick(count)];
        return blocks_[static_cast<size_t>(std::clamp<int64_t>(int64_t(i) - 3 + pick(8), 0, count - 1))];
      };
      Block* next = blocks_[std::min(i + 1, count - 1)];
      ir::Terminator& terminator = blocks_[i]->terminator;
      unsigned kind = pick(100);
      if (i == count - 1 || kind < 6) {
        terminator.kind = ir::Terminator::Kind::Return;
      } else if (kind < 30) {
        terminator = {ir::Terminator::Kind::Branch, nullptr, {chance(40) ? any() : next}, {}};
      } else if (kind < 92) {
        terminator = {ir::Terminator::Kind::Conditional, nullptr, {chance(60) ? next : any(), any()}, {}};
        if (terminator.targets[0] == terminator.targets[1])
          terminator = {ir::Terminator::Kind::Branch, nullptr, {terminator.targets[0]}, {}};
      } else {
        terminator = {ir::Terminator::Kind::Switch, nullptr, {any()}, {}};
        for (uint32_t c = 0, cases = 1 + pick(5); c < cases; ++c) {
          terminator.cases.push_back(c * 3 % 8);
          terminator.targets.push_back(chance(50) ? next : any());
        }
      }
    }
  }

  // Finds for each block the target that is nearest to a return; blocks that reach none return themselves.
  void leadOut() {
    function_->computePredecessors();
    wayOut_.assign(function_->blockIdBound(), nullptr);
    std::vector<bool> reached(function_->blockIdBound());
    std::deque<Block*> work;
    auto reach = [&](Block* block) {
      reached[block->id] = true;
      work.push_back(block);
    };
    for (Block* block : function_->blocks)
      if (block->terminator.kind == ir::Terminator::Kind::Return) reach(block);
    while (!work.empty()) {
      Block* block = work.front();
      work.pop_front();
      for (Block* from : block->predecessors) {
        if (reached[from->id]) continue;
        wayOut_[from->id] = block;
        reach(from);
      }
    }
    for (Block* block : function_->blocks)
      if (!reached[block->id]) block->terminator = {ir::Terminator::Kind::Return, nullptr, {}, {}};
    function_->removeUnreachableBlocks();
  }

  void fillEntry(Block* entry) {
    Builder b(*function_, entry);
    Instruction* lane = b.input(ir::InputKind::LocalIndex);
    for (unsigned i = 0; i < dataVariables; ++i)
      b.write(data_[i], b.mul(b.add(lane, b.i32(pick(64))), b.i32(pick(1u << 30) | 1)));
    b.write(fuel_, b.i32(startFuel));
    crossing_.resize(function_->blockIdBound());
    crossing_[entry->id] = lane;
  }

  void fill(Block* block, const ir::DominatorTree& tree) {
    Builder b(*function_, block);
    Instruction* fuel = b.sub(b.read(fuel_), b.i32(1));
    b.write(fuel_, fuel);
    unsigned changed = pick(dataVariables);
    Instruction* value =
        b.add(b.mul(b.read(data_[changed]), b.i32(pick(1u << 20) | 1)), b.read(data_[pick(dataVariables)]));
    const Block* above = tree.immediateDominator(block);
    for (unsigned hops = pick(4); hops > 0 && tree.immediateDominator(above); --hops)
      above = tree.immediateDominator(above);
    if (chance(40) && crossing_[above->id]) value = b.bitXor(value, crossing_[above->id]);
    value = b.bitXor(value, b.lshr(value, b.i32(7)));
    b.write(data_[changed], value);
    crossing_[block->id] = chance(50) ? value : nullptr;
    if (options_.warpBarriers && chance(30)) b.emit(Op::WarpBarrier, ir::Void, {});
    b.store(b.i64(block->id), value, {});
    branchOn(b, block, fuel);
  }

  void branchOn(Builder& b, Block* block, Instruction* fuel) {
    ir::Terminator& terminator = block->terminator;
    if (terminator.targets.size() < 2) return;
    Instruction* bits = b.lshr(b.read(data_[pick(dataVariables)]), b.i32(pick(20)));
    Instruction* leads = options_.terminates ? b.compare(Op::SLt, fuel, b.i32(0)) : b.boolean(false);
    const Block* out = options_.terminates ? wayOut_[block->id] : nullptr;
    if (terminator.kind == ir::Terminator::Kind::Conditional) {
      Instruction* condition = b.compare(Op::INe, b.bitAnd(bits, b.i32(1)), b.i32(0));
      terminator.value = b.select(leads, b.boolean(terminator.targets[0] == out), condition);
      if (options_.constantBranches && chance(20))
        terminator.value = b.boolean(out ? terminator.targets[0] == out : chance(50));
      return;
    }
    uint32_t wayOut = 99;
    for (size_t i = 0; i < terminator.cases.size(); ++i)
      if (terminator.targets[i + 1] == out) wayOut = terminator.cases[i];
    terminator.value = b.select(leads, b.i32(wayOut), b.bitAnd(bits, b.i32(7)));
  }

  std::mt19937_64& random_;
  const RandomFunctionOptions& options_;
  std::unique_ptr<ir::Function> function_;
  std::vector<Block*> blocks_;
  ir::VariableId data_[dataVariables], fuel_ = 0;
  std::vector<Block*> wayOut_;
  std::vector<Instruction*> crossing_;  // by block id: a value that dominated blocks may use
};

}  // namespace

std::unique_ptr<ir::Function> randomFunction(std::mt19937_64& random, const RandomFunctionOptions& options) {
  return Generator(random, options).run();
}

}  // namespace mulciber::test
