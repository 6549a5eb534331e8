#include "translator/passes/negated_signs.h"

#include <algorithm>
#include <vector>

#include "translator/analyses/known_values.h"
#include "translator/analyses/low_zeros.h"
#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

// A number whose lowest bits are sign-extended, and how many bits these are. There is none if `number` is null.
struct Narrowed {
  Instruction** number = nullptr;
  unsigned bits = 0;
};

Narrowed narrowed(Instruction& i) {
  constexpr unsigned unknown = 8;
  const auto constant = [](const Instruction* value, unsigned otherwise) {
    return value->isConstant() ? static_cast<unsigned>(value->payload) : otherwise;
  };
  switch (i.op) {
    case Op::SExt: {
      Instruction* part = i.operands[0];
      if (part->op == Op::Trunc) return {&part->operands[0], part->type.bits};
      if (part->type.isBool() || part->type.bits >= 32) return {};
      return {&i.operands[0], part->type.bits};
    }
    case Op::AShr: {
      Instruction* shifted = i.operands[0];
      if (shifted->op != Op::Shl) return {};
      const unsigned by = constant(shifted->operands[1], i.type.bits - unknown);
      return {&shifted->operands[0], by < i.type.bits ? i.type.bits - by : unknown};
    }
    case Op::BitExtractS: return {&i.operands[0], constant(i.operands[2], unknown)};
    default: return {};
  }
}

const Instruction* withoutWidth(const Instruction* value) {
  while (value->op == Op::Trunc || (value->op == Op::ZExt && !value->operands[0]->type.isBool()))
    value = value->operands[0];
  return value;
}

// Whether the lowest bits of a number are those of -x, also by what a driver takes for a negation or may know to be
// one.
bool mayNegate(const Instruction& i, unsigned bits, const analyses::KnownValues& known,
               const analyses::LowZeros& zeros) {
  const uint64_t mask = ~uint64_t{0} >> (64 - std::clamp(bits, 1U, 64U));
  const auto is = [&](size_t n, uint64_t number) {
    return i.operands[n]->isConstant() && ((i.operands[n]->payload ^ number) & mask) == 0;
  };
  switch (i.op) {
    case Op::Neg: return true;
    case Op::Mul: return is(0, ~uint64_t{0}) || is(1, ~uint64_t{0});
    case Op::Add: {  // ~x + 1
      const auto isNot = [&](size_t n) { return i.operands[n]->op == Op::Not; };
      return (isNot(0) && is(1, 1)) || (isNot(1) && is(0, 1));
    }
    case Op::Sub:
      if (i.operands[0]->op == Op::Not && is(1, ~uint64_t{0})) return true;
      if (zeros.of(i.operands[0]) >= bits) return true;  // (x << 16) - y
      return i.operands[0]->isConstant() ? is(0, 0) : known.mayBeKnown(i.operands[0]);
    default: return false;
  }
}

}  // namespace

bool hideNegated(ir::Function& function) {
  std::vector<Narrowed> parts;
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if (const Narrowed part = narrowed(*i); part.number && !(*part.number)->type.isVector()) parts.push_back(part);
  if (parts.empty()) return false;
  const analyses::KnownValues known(function);
  const analyses::LowZeros zeros(function);
  HiddenValues hidden(function);
  for (const Narrowed& part : parts)
    if (mayNegate(*withoutWidth(*part.number), part.bits, known, zeros)) *part.number = hidden.hide(*part.number);
  return hidden.apply();
}

bool NegatedSigns::run(ir::Function& function, PassContext& context) {
  return context.profile.movesNegations && hideNegated(function);
}

}  // namespace mulciber::passes
