#include "translator/passes/carried_halves.h"

#include <unordered_set>

#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

constexpr unsigned half = 16;

bool isHalfMask(const Instruction& i) { return i.isConstant() && (i.payload == 0xFFFF || i.payload == 0xFFFF'0000); }

// The operand whose halves an instruction takes, or null.
Instruction** halvesOf(Instruction& i) {
  if (i.operands.empty() || i.operands[0]->type != ir::I32) return nullptr;
  auto& x = i.operands;
  switch (i.op) {
    case Op::Bitcast: return i.type.isVector() && i.type.bits == half ? &x[0] : nullptr;
    case Op::Shl:
    case Op::LShr:
    case Op::AShr:
    case Op::BitExtractU:
    case Op::BitExtractS: return x[1]->isConstant() && x[1]->payload == half ? &x[0] : nullptr;
    case Op::And:
      if (isHalfMask(*x[1])) return &x[0];
      return isHalfMask(*x[0]) ? &x[1] : nullptr;
    default: return nullptr;
  }
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
      if (Instruction** word = halvesOf(*i); word && carried.count(*word) != 0) *word = hidden.hide(*word);
  return hidden.apply();
}

bool CarriedHalves::run(ir::Function& function, PassContext& context) {
  return context.profile.partsCarriedHalves && hideCarriedHalves(function);
}

}  // namespace mulciber::passes
