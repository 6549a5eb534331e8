#include "translator/passes/lone_stores.h"

#include <vector>

#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

// The value of which these bits are a part. Drivers join the parts of a word again that a kernel stores one by one.
const Instruction* rootOf(const Instruction* value) {
  for (;;) {
    switch (value->op) {
      case Op::Bitcast:
      case Op::Trunc: break;
      case Op::LShr:
      case Op::AShr:
      case Op::And:
        if (!value->operands[1]->isConstant()) return value;
        break;
      case Op::BitExtractU:
      case Op::BitExtractS:
        if (!value->operands[1]->isConstant() || !value->operands[2]->isConstant()) return value;
        break;
      default: return value;
    }
    value = value->operands[0];
  }
}

}  // namespace

bool hideLoneStores(ir::Function& function) {
  std::vector<Instruction*> stores;
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if (i->op == Op::Store && i->memory.space == ir::Space::Local) stores.push_back(i);
  if (stores.empty()) return false;
  const Instruction* value = rootOf(stores.front()->operands[1]);
  // Longer vectors are stored word by word.
  if (value->isConstant() || value->type.totalBits() > 64) return false;
  // Several stores of one value may become one, on both sides of a branch for instance.
  for (const Instruction* store : stores)
    if (rootOf(store->operands[1]) != value) return false;
  HiddenValues hidden(function);
  for (Instruction* store : stores) store->operands[1] = hidden.hide(store->operands[1]);
  return hidden.apply();
}

bool LoneStores::run(ir::Function& function, PassContext& context) {
  return context.profile.readsLoneStoresElsewhere && hideLoneStores(function);
}

}  // namespace mulciber::passes
