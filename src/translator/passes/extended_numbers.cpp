#include "translator/passes/extended_numbers.h"

#include <algorithm>

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

constexpr unsigned mostSteps = 4;

bool mayBeExtended(const Instruction& value, Op extension, unsigned steps) {
  const auto isAny = [&](size_t first) {
    return steps != 0 && std::any_of(value.operands.begin() + static_cast<std::ptrdiff_t>(first), value.operands.end(),
                                     [&](const Instruction* x) { return mayBeExtended(*x, extension, steps - 1); });
  };
  if (value.op == extension) {
    const ir::Type from = value.operands[0]->type;
    return !from.isBool() && (from.bits <= 16 || isAny(0));
  }
  switch (value.op) {
    case Op::Phi:
    case Op::Trunc: return isAny(0);
    case Op::Select: return isAny(1);
    default: return false;
  }
}

}  // namespace

bool mayBeExtended(const Instruction& value, Op extension) { return mayBeExtended(value, extension, mostSteps); }

}  // namespace mulciber::passes
