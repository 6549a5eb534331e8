#include "translator/passes/known_sums.h"

#include <algorithm>
#include <vector>

#include "translator/analyses/fixpoint.h"
#include "translator/analyses/known_values.h"
#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

// Sums of what shuffles, multiply-adds and conversions give, which the driver works out late.
std::vector<Instruction*> lateSums(const ir::Function& function) {
  std::vector<bool> late(function.instructionIdBound());
  analyses::updateUntilSettled(function, [&](const Instruction& i, const ir::Block&) {
    const bool isLate = i.op == Op::Shuffle || i.op == Op::Fma || i.op == Op::FConvert ||
                        std::ranges::any_of(i.operands, [&](const Instruction* operand) { return late[operand->id]; });
    if (late[i.id] || !isLate) return false;
    late[i.id] = true;
    return true;
  });
  std::vector<Instruction*> sums;
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if ((i->op == Op::FAdd || i->op == Op::FSub) && !i->type.isVector() &&
          (late[i->operands[0]->id] || late[i->operands[1]->id]))
        sums.push_back(i);
  return sums;
}

}  // namespace

bool hideKnownSums(ir::Function& function) {
  const std::vector<Instruction*> sums = lateSums(function);
  if (sums.empty()) return false;
  const analyses::KnownValues known(function, analyses::KnownValues::Count::SureNumbers);
  HiddenValues hidden(function);
  for (Instruction* i : sums)
    if (known.mayRoundSum(i->operands[0], i->operands[1])) i->operands[0] = hidden.hide(i->operands[0]);
  return hidden.apply();
}

bool KnownSums::run(ir::Function& function, PassContext& context) {
  return context.profile.truncatesKnownSums && hideKnownSums(function);
}

}  // namespace mulciber::passes
