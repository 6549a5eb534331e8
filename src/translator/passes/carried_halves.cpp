#include "translator/passes/carried_halves.h"

#include <unordered_set>

#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

constexpr unsigned half = 16;

bool takesHalves(const Instruction& i) {
  const bool isVector = i.op == Op::Bitcast && i.type.isVector() && i.type.bits == half;
  const bool shifts = (i.op == Op::LShr || i.op == Op::AShr || i.op == Op::BitExtractU || i.op == Op::BitExtractS) &&
                      i.operands[1]->isConstant() && i.operands[1]->payload == half;
  return (isVector || shifts) && i.operands[0]->type == ir::I32;
}

}  // namespace

bool hideCarriedHalves(ir::Function& function) {
  std::unordered_set<const Instruction*> carried;
  for (const ir::Block* block : function.blocks) {
    if (block->merge.kind == ir::Merge::Kind::Loop) continue;
    for (const Instruction* i : block->instructions)
      if (i->op == Op::Phi && i->type == ir::I32) carried.insert(i);
  }
  HiddenValues hidden(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if (takesHalves(*i) && carried.count(i->operands[0]) != 0) i->operands[0] = hidden.hide(i->operands[0]);
  return hidden.apply();
}

bool CarriedHalves::run(ir::Function& function, PassContext& context) {
  return context.profile.partsCarriedHalves && hideCarriedHalves(function);
}

}  // namespace mulciber::passes
