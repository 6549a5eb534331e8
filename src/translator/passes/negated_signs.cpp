#include "translator/passes/negated_signs.h"

#include <algorithm>
#include <vector>

#include "translator/passes/hidden_values.h"
#include "translator/passes/known_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

// The operand of whose lower bits the sign is extended; null where there is none.
Instruction** narrowed(Instruction& i) {
  switch (i.op) {
    case Op::SExt: return i.operands[0]->op == Op::Trunc ? &i.operands[0]->operands[0] : nullptr;
    case Op::AShr: return i.operands[0]->op == Op::Shl ? &i.operands[0]->operands[0] : nullptr;
    case Op::BitExtractS: return &i.operands[0];
    default: return nullptr;
  }
}

const Instruction* withoutWidth(const Instruction* value) {
  while (value->op == Op::Trunc || (value->op == Op::ZExt && !value->operands[0]->type.isBool()))
    value = value->operands[0];
  return value;
}

bool isAllOnes(const Instruction* value) {
  return value->isConstant() && value->payload == ~uint64_t{0} >> (64 - value->type.bits);
}

// Also what a driver takes for a negation, where it may know that it is one.
bool mayNegate(const Instruction& i, const KnownValues& known) {
  if (i.op == Op::Neg) return true;
  if (i.op == Op::Mul) return std::ranges::any_of(i.operands, isAllOnes);
  if (i.op != Op::Sub) return false;
  return i.operands[0]->isConstant() ? i.operands[0]->payload == 0 : known.mayBeKnown(i.operands[0]);
}

}  // namespace

bool hideNegated(ir::Function& function) {
  std::vector<Instruction**> parts;
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if (Instruction** part = narrowed(*i); part && !(*part)->type.isVector()) parts.push_back(part);
  if (parts.empty()) return false;
  const KnownValues known(function);
  HiddenValues hidden(function);
  for (Instruction** part : parts)
    if (mayNegate(*withoutWidth(*part), known)) *part = hidden.hide(*part);
  return hidden.apply();
}

bool NegatedSigns::run(ir::Function& function, PassContext& context) {
  return context.profile.movesNegations && hideNegated(function);
}

}  // namespace mulciber::passes
