#include "translator/passes/loop_flags.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "translator/passes/hidden_values.h"
#include "translator/passes/insertions.h"
#include "translator/passes/rewrite.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

bool isFlagPhi(const Instruction* i) { return i->op == Op::Phi && i->type.isBool(); }

bool carriesFlag(const Block* block) {
  return block->merge.kind == ir::Merge::Kind::Loop && std::ranges::any_of(block->instructions, isFlagPhi);
}

class Conversion {
 public:
  explicit Conversion(ir::Function& function) : function_(function), insertions_(function) {}

  void run() {
    std::vector<Instruction*> phis;
    for (const Block* block : function_.blocks)
      std::ranges::copy_if(block->instructions, std::back_inserter(phis), isFlagPhi);
    for (const Instruction* phi : phis) integers_[phi] = insertions_.addPhi(ir::I32, phi);
    Replacements replacements(function_);
    for (Instruction* phi : phis) {
      Instruction* integer = integers_.at(phi);
      for (Instruction* operand : phi->operands) integer->operands.push_back(integerOf(operand));
      ir::Builder b = insertions_.behindPhis(phi);
      Instruction* hidden = b.bitXor(integer, zero());
      replacements.replace(phi, b.compare(Op::INe, hidden, b.i32(0)));
    }
    insertions_.apply();
    std::vector<Instruction*>& entry = function_.blocks.front()->instructions;
    entry.insert(entry.begin(), head_.instructions.begin(), head_.instructions.end());
    replacements.apply();
  }

 private:
  Instruction* integerOf(Instruction* flag) {
    Instruction*& integer = integers_[flag];
    if (integer) return integer;
    if (flag->isConstant()) return integer = ir::Builder(function_, &head_).i32(flag->payload != 0);
    ir::Builder b = insertions_.after(flag);
    Instruction *one = b.i32(1), *zero = b.i32(0);
    return integer = b.select(flag, one, zero);
  }

  // A zero that drivers do not know for one: a grid has at most 65,535 blocks in its second and third direction. Not
  // the zero that other passes hide values by: where a flag begins as a constant, a driver learns from the branch on it
  // what this is.
  Instruction* zero() {
    if (zero_) return zero_;
    ir::Builder b(function_, &head_);
    Instruction *y = b.input(ir::InputKind::GridDimY), *z = b.input(ir::InputKind::GridDimZ);
    Instruction* sum = b.add(y, z);
    return zero_ = b.lshr(sum, b.i32(17));
  }

  ir::Function& function_;
  Insertions insertions_;
  Block head_;
  Instruction* zero_ = nullptr;
  std::unordered_map<const Instruction*, Instruction*> integers_;
};

// Whether a loop is left to several places, which a switch behind it goes to.
bool isLeftBySwitch(const Block* block) {
  return block->merge.kind == ir::Merge::Kind::Loop &&
         block->merge.merge->terminator.kind == ir::Terminator::Kind::Switch;
}

}  // namespace

bool hideStarts(ir::Function& function) {
  if (std::ranges::none_of(function.blocks, isLeftBySwitch)) return false;
  HiddenValues hidden(function);
  for (const Block* block : function.blocks) {
    if (block->merge.kind != ir::Merge::Kind::Loop) continue;
    for (Instruction* i : block->instructions)
      for (Instruction*& operand : i->operands)
        if (i->op == Op::Phi && i->type == ir::I32 && operand->isConstant()) operand = hidden.hide(operand);
  }
  return hidden.apply();
}

bool carryFlagsAsIntegers(ir::Function& function) {
  if (std::ranges::none_of(function.blocks, carriesFlag)) return false;
  Conversion(function).run();
  return true;
}

bool LoopFlags::run(ir::Function& function, PassContext& context) {
  if (!context.profile.crashesOnLoopFlags) return false;
  const bool hasHidden = hideStarts(function);
  return carryFlagsAsIntegers(function) || hasHidden;
}

}  // namespace mulciber::passes
