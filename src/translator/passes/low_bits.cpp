#include "translator/passes/low_bits.h"

#include "translator/analyses/integer_ranges.h"
#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

bool isConstant(const Instruction& i, uint64_t value) { return i.isConstant() && i.payload == value; }

// The number of which an instruction takes the lowest bit, or null.
Instruction* numberOf(const Instruction& i) {
  if (i.type.isBool() || i.type.isVector()) return nullptr;
  const auto& x = i.operands;
  switch (i.op) {
    case Op::And:
      if (isConstant(*x[1], 1)) return x[0];
      return isConstant(*x[0], 1) ? x[1] : nullptr;
    case Op::BitExtractU: return isConstant(*x[1], 0) && isConstant(*x[2], 1) ? x[0] : nullptr;
    case Op::URem: return isConstant(*x[1], 2) ? x[0] : nullptr;
    default: return nullptr;
  }
}

bool isConversion(Op op) { return op == Op::ZExt || op == Op::SExt || op == Op::Trunc; }

const Instruction& unconverted(const Instruction& i) { return isConversion(i.op) ? unconverted(*i.operands[0]) : i; }

bool isLowBit(const Instruction& i) { return numberOf(unconverted(i)) != nullptr; }

// Whether a number is the one bit that is left of a shifted one of 64 bits: the carry of a sum of 32 bits.
bool isCarry(const Instruction& converted, analyses::IntegerRanges& ranges) {
  const Instruction& i = unconverted(converted);
  return i.op == Op::LShr && i.type == ir::I64 && ranges.largest(&i) <= 1;
}
// The operations that were not seen to ask whether a carry is zero. Carries are added for the most part.
bool leavesCarries(Op op) {
  return isConversion(op) || op == Op::Add || op == Op::Sub || op == Op::Store || op == Op::Select;
}

// The bit of a number of 64 bits is that of its lower word, which the driver cannot tell to be the same.
void takeOfLowerWord(Instruction& bit, Instruction* number, HiddenValues& hidden) {
  ir::Builder b = hidden.after(number);
  Instruction* word = b.convert(Op::Trunc, ir::I32, number);
  Instruction* wordsBit = b.bitAnd(word, b.i32(1));
  bit.op = Op::ZExt;
  bit.operands = {hidden.hide(b, wordsBit)};
}

// The operations in which the compiler was seen to take a number for its lowest bit.
bool isMistaken(Op op) { return op == Op::Mul || op == Op::UToF || op == Op::SToF; }

}  // namespace

bool hideLowBits(ir::Function& function) {
  HiddenValues hidden(function);
  analyses::IntegerRanges ranges;
  const auto hideCarry = [&](Instruction*& number) {
    if (isCarry(*number, ranges)) number = hidden.hide(number);
  };
  for (ir::Block* block : function.blocks) {
    if (block->terminator.kind == ir::Terminator::Kind::Switch) hideCarry(block->terminator.value);
    for (Instruction* i : block->instructions) {
      // First, since a hidden carry has no place yet.
      if (Instruction* number = numberOf(*i); number && i->type == ir::I64) takeOfLowerWord(*i, number, hidden);
      if (!leavesCarries(i->op))
        for (Instruction*& operand : i->operands) hideCarry(operand);
      if (!isMistaken(i->op)) continue;
      for (Instruction*& operand : i->operands)
        if (isLowBit(*operand)) operand = hidden.hide(operand);
    }
  }
  return hidden.apply();
}

bool LowBits::run(ir::Function& function, PassContext& context) {
  return context.profile.mistakesLowBits && hideLowBits(function);
}

}  // namespace mulciber::passes
