#include "translator/passes/known_ways.h"

#include <algorithm>

namespace mulciber::passes {

using ir::Block;
using ir::Instruction;
using ir::Op;
using ir::Terminator;

KnownWays::KnownWays(const ir::Function& function)
    : phis_(function.instructionIdBound()), ways_(function.blockIdBound()) {
  size_t order = 0;
  for (const Block* block : function.blocks) {
    ways_[block->id].order = order++;
    use(block->terminator.value, block);
    for (const Instruction* phi : block->instructions) {
      if (phi->op != Op::Phi) break;
      for (const Instruction* operand : phi->operands) use(operand, block);
    }
  }
  reach(function.blocks.front());
  while (!work_.empty()) {
    const Block* block = function.blocks[*work_.begin()];
    work_.erase(work_.begin());
    enter(block);
  }
}

void KnownWays::use(const Instruction* value, const Block* user) {
  if (value && value->op == Op::Phi) phis_[value->id].users.push_back(user);
}

void KnownWays::enter(const Block* block) {
  for (const Instruction* phi : block->instructions) {
    if (phi->op != Op::Phi) break;
    if (!meet(phi, block)) continue;
    for (const Block* user : phis_[phi->id].users)
      if (ways_[user->id].isReached) work_.insert(ways_[user->id].order);
  }
  leave(block);
}

// Whether more is known of the phi than before: first nothing, then a constant, then that it is none.
bool KnownWays::meet(const Instruction* phi, const Block* block) {
  Phi& known = phis_[phi->id];
  if (known.varies) return false;
  const Instruction* before = known.constant;
  for (size_t i = 0; i < phi->operands.size() && !known.varies; ++i) {
    const Instruction* operand = phi->operands[i];
    const Ways& from = ways_[block->predecessors[i]->id];
    if (operand == phi || isOpen(operand) || (!from.goesAnywhere && from.target != block)) continue;
    const Instruction* constant = constantOf(operand);
    known.varies = !constant || (known.constant && known.constant->payload != constant->payload);
    known.constant = known.varies ? nullptr : constant;
  }
  return known.varies || (known.constant && !before);
}

void KnownWays::leave(const Block* block) {
  const Terminator& terminator = block->terminator;
  if (terminator.value && isOpen(terminator.value)) return;
  Ways& ways = ways_[block->id];
  const Block* target = terminator.targets.size() == 1 ? terminator.targets[0] : targetOf(terminator);
  if (ways.goesAnywhere || (target && target == ways.target)) return;
  ways.goesAnywhere = !target || ways.target;
  ways.target = target;
  if (!ways.goesAnywhere) return reach(target);
  for (const Block* each : terminator.targets) reach(each);
}

void KnownWays::reach(const Block* block) {
  ways_[block->id].isReached = true;
  work_.insert(ways_[block->id].order);
}

bool KnownWays::isOpen(const Instruction* value) const {
  return value->op == Op::Phi && !phis_[value->id].varies && !phis_[value->id].constant;
}

const Instruction* KnownWays::constantOf(const Instruction* value) const {
  return value->op == Op::Phi ? phis_[value->id].constant : value->isConstant() ? value : nullptr;
}

Block* KnownWays::targetOf(const Terminator& terminator) const {
  const Instruction* value = terminator.value ? constantOf(terminator.value) : nullptr;
  if (!value) return nullptr;
  if (terminator.kind == Terminator::Kind::Conditional) return terminator.targets[value->payload ? 0 : 1];
  auto found = std::find(terminator.cases.begin(), terminator.cases.end(), value->payload);
  if (found == terminator.cases.end()) return terminator.targets[0];
  return terminator.targets[size_t(found - terminator.cases.begin()) + 1];
}

}  // namespace mulciber::passes
