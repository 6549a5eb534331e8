#include "translator/analyses/exponentials.h"

#include <algorithm>

namespace mulciber::analyses {
namespace {

using ir::Instruction;
using ir::Op;

constexpr int mostFactors = 6;

}  // namespace

Exponentials::Exponentials(const ir::Function& function, const FloatRanges& ranges) : ranges_(ranges) {
  const auto storesOne = [&](const Instruction* i) {
    return i->op == Op::Store && i->memory.space == ir::Space::Shared && has(i->operands[1]);
  };
  storesAny_ = std::ranges::any_of(
      function.blocks, [&](const ir::Block* block) { return std::ranges::any_of(block->instructions, storesOne); });
}

bool Exponentials::isMade(const Instruction* value, bool isShared, int depth) const {
  if (depth > mostFactors) return false;
  value = ranges_.definition(value);
  if (value->op == Op::VecExtract) value = value->operands[0];
  if (value->op == Op::Load) return isShared && value->memory.space == ir::Space::Shared;
  if (value->type != ir::F32) return false;
  const auto isPartMade = [&](size_t n) { return isMade(value->operands[n], isShared, depth + 1); };
  switch (value->op) {
    case Op::FExp2: return true;
    case Op::FNeg:
    case Op::FAbs: return isPartMade(0);
    case Op::FMul: return isPartMade(0) || isPartMade(1);
    case Op::Select: return isPartMade(1) || isPartMade(2);
    default: return false;
  }
}

}  // namespace mulciber::analyses
