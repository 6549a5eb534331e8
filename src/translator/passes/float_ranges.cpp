#include "translator/passes/float_ranges.h"

namespace mulciber::passes {

using ir::Instruction;
using ir::Op;

namespace {
constexpr int deepest = 12;
}

FloatRanges::FloatRanges(const ir::Function& function) : onlyWrite_(function.variables.size()) {
  std::vector<bool> isWritten(function.variables.size());
  for (ir::VariableId parameter : function.parameters) isWritten[parameter] = true;
  for (const ir::Block* block : function.blocks)
    for (const Instruction* i : block->instructions) {
      if (i->op != Op::WriteVar) continue;
      onlyWrite_[i->payload] = isWritten[i->payload] ? nullptr : i->operands[0];
      isWritten[i->payload] = true;
    }
}

// A variable's value before its only write is undefined, and may be taken for what will be written.
const Instruction* FloatRanges::definition(const Instruction* value) const {
  for (int i = 0; i < deepest && value->op == Op::ReadVar && value->payload < onlyWrite_.size(); ++i) {
    const Instruction* written = onlyWrite_[value->payload];
    if (!written) return value;
    value = written;
  }
  return value;
}

std::optional<uint64_t> FloatRanges::constantOf(const Instruction* value) const {
  value = definition(value);
  return value->isConstant() ? std::optional(value->payload) : std::nullopt;
}

bool FloatRanges::isSquare(const Instruction* x, const Instruction* y) const {
  // An instruction's registers are read right before it: nothing is written between two reads of one.
  return x == y || (x->op == Op::ReadVar && y->op == Op::ReadVar && x->payload == y->payload);
}

bool FloatRanges::isNonNegative(const Instruction* value, int depth) const {
  if (depth > deepest) return false;
  value = definition(value);
  const auto& x = value->operands;
  switch (value->op) {
    case Op::Constant: return value->payload < 0x8000'0000;
    case Op::FAbs:
    case Op::FExp2:
    case Op::UToF: return true;
    case Op::FMul: return isSquare(x[0], x[1]);
    case Op::FAdd: return isNonNegative(x[0], depth + 1) && isNonNegative(x[1], depth + 1);
    case Op::Fma: return isSquare(x[0], x[1]) && isNonNegative(x[2], depth + 1);
    default: return false;
  }
}

bool FloatRanges::isPositiveNormal(const Instruction* value, int depth) const {
  if (depth > deepest || value->type != ir::F32) return false;
  value = definition(value);
  const auto& x = value->operands;
  switch (value->op) {
    case Op::Constant: return value->payload >= 0x0080'0000 && value->payload < 0x7F80'0000;
    case Op::FAdd:
      return (isPositiveNormal(x[0], depth + 1) && isNonNegative(x[1], depth + 1)) ||
             (isPositiveNormal(x[1], depth + 1) && isNonNegative(x[0], depth + 1));
    case Op::Fma: return isSquare(x[0], x[1]) && isPositiveNormal(x[2], depth + 1);
    default: return false;
  }
}

}  // namespace mulciber::passes
