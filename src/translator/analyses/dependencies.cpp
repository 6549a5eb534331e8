#include "translator/analyses/dependencies.h"

#include <algorithm>

namespace mulciber::analyses {

using ir::Instruction;

std::vector<bool> findDependencies(const ir::Function& function, const std::vector<const Instruction*>& values,
                                   const std::function<bool(const Instruction&)>& follows) {
  std::vector<bool> found(function.instructionIdBound());
  std::vector<const Instruction*> work;
  auto visit = [&](const Instruction* value) {
    if (found[value->id]) return;
    found[value->id] = true;
    work.push_back(value);
  };
  for (const Instruction* value : values) visit(value);
  while (!work.empty()) {
    const Instruction* value = work.back();
    work.pop_back();
    if (!follows(*value)) continue;
    for (const Instruction* operand : value->operands) visit(operand);
  }
  return found;
}

std::vector<bool> findDependents(const ir::Function& function, const std::function<bool(const Instruction&)>& isSource,
                                 const std::function<bool(const Instruction&)>& passesOn) {
  std::vector<bool> found(function.instructionIdBound());
  bool isStored = false;
  auto depends = [&](const Instruction& i) {
    if (i.op == ir::Op::Load) return isStored;
    if (i.op == ir::Op::Store) {
      isStored |= found[i.operands[1]->id];
      return false;
    }
    const bool isFed = std::ranges::any_of(i.operands, [&](const Instruction* operand) { return found[operand->id]; });
    return isSource(i) || (isFed && passesOn(i));
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::Block* block : function.blocks)
      for (const Instruction* i : block->instructions) {
        if (found[i->id] || !depends(*i)) continue;
        found[i->id] = changed = true;
      }
  }
  return found;
}

}  // namespace mulciber::analyses
