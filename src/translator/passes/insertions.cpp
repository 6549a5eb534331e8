#include "translator/passes/insertions.h"

#include <algorithm>

namespace mulciber::passes {

using ir::Instruction;

Insertions::Insertions(ir::Function& function) : function_(function), homes_(function.instructionIdBound()) {
  for (const ir::Block* block : function.blocks)
    for (const Instruction* instruction : block->instructions) homes_[instruction->id] = block;
}

ir::Builder Insertions::after(const Instruction* value) {
  ir::Builder b(function_, &following_[value->id]);
  b.setSource(value->source);
  return b;
}

Instruction* Insertions::addPhi(ir::Type type, const Instruction* like) {
  Instruction* phi = function_.create(ir::Op::Phi, type);
  phi->source = like->source;
  headOf(like).phis.push_back(phi);
  return phi;
}

ir::Builder Insertions::behindPhis(const Instruction* phi) {
  ir::Builder b(function_, &headOf(phi).behind);
  b.setSource(phi->source);
  return b;
}

void Insertions::apply() {
  for (ir::Block* block : function_.blocks) applyTo(block);
}

void Insertions::applyTo(ir::Block* block) {
  auto body = std::ranges::find_if(block->instructions, [](auto* each) { return each->op != ir::Op::Phi; });
  std::vector<Instruction*> result(block->instructions.begin(), body);
  auto append = [&](const std::vector<Instruction*>& added) {
    result.insert(result.end(), added.begin(), added.end());
  };
  auto appendFollowing = [&](const Instruction* value) {
    if (auto found = following_.find(value->id); found != following_.end()) append(found->second.instructions);
  };
  if (auto head = heads_.find(block); head != heads_.end()) {
    append(head->second.phis);
    append(head->second.behind.instructions);
  }
  std::for_each(block->instructions.begin(), body, appendFollowing);
  std::for_each(body, block->instructions.end(), [&](Instruction* instruction) {
    result.push_back(instruction);
    appendFollowing(instruction);
  });
  block->instructions = std::move(result);
}

}  // namespace mulciber::passes
