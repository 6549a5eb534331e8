#include "translator/passes/narrow_counts.h"

#include <algorithm>

#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

// What lies further away is a value of its own: the cost of one question has a limit.
constexpr unsigned mostSteps = 4;

bool mayBeExtended(const Instruction& value, unsigned steps = mostSteps) {
  const auto isAny = [&](size_t first) {
    return steps != 0 && std::any_of(value.operands.begin() + static_cast<std::ptrdiff_t>(first), value.operands.end(),
                                     [&](const Instruction* x) { return mayBeExtended(*x, steps - 1); });
  };
  switch (value.op) {
    case Op::ZExt: {
      const ir::Type from = value.operands[0]->type;
      return !from.isBool() && (from.bits <= 16 || isAny(0));
    }
    case Op::Phi:
    case Op::Trunc: return isAny(0);
    case Op::Select: return isAny(1);
    default: return false;
  }
}

}  // namespace

bool hideNarrowCounted(ir::Function& function) {
  HiddenValues hidden(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if (i->op == Op::PopCount && mayBeExtended(*i->operands[0])) i->operands[0] = hidden.hide(i->operands[0]);
  return hidden.apply();
}

bool NarrowCounts::run(ir::Function& function, PassContext& context) {
  return context.profile.countsBeyondNarrow && hideNarrowCounted(function);
}

}  // namespace mulciber::passes
