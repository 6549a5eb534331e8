#include "translator/analyses/low_zeros.h"

#include <algorithm>
#include <bit>

#include "translator/analyses/fixpoint.h"

namespace mulciber::analyses {

using ir::Instruction;
using ir::Op;

unsigned shiftAmount(const Instruction& leftShift) {
  return leftShift.operands[1]->isConstant() ? static_cast<unsigned>(leftShift.operands[1]->payload) : 0;
}

unsigned lowZerosOf(uint64_t constant) { return std::min(32u, static_cast<unsigned>(std::countr_zero(constant))); }

// Starts from all zeros, so that what a loop carries keeps those that its steps keep.
LowZeros::LowZeros(const ir::Function& function) : zeros_(function.instructionIdBound(), 32) {
  updateUntilSettled(function, [this](const Instruction& i, const ir::Block&) {
    const unsigned found = find(i);
    if (found >= zeros_[i.id]) return false;
    zeros_[i.id] = found;
    return true;
  });
}

unsigned LowZeros::find(const Instruction& instruction) const {
  if (!instruction.type.isInt() || instruction.type.isVector()) return 0;
  const auto& operands = instruction.operands;
  auto zeros = [&](size_t i) { return zeros_[operands[i]->id]; };
  switch (instruction.op) {
    case Op::Constant: return lowZerosOf(instruction.payload);
    case Op::Undef: return 32;
    case Op::Add:
    case Op::Sub:
    case Op::Or:
    case Op::Xor: return std::min(zeros(0), zeros(1));
    case Op::And: return std::max(zeros(0), zeros(1));
    case Op::Mul: return std::min(32u, zeros(0) + zeros(1));
    case Op::Select: return std::min(zeros(1), zeros(2));
    case Op::Neg:
    case Op::ZExt:
    case Op::SExt:
    case Op::Trunc: return zeros(0);
    case Op::Shl: return std::min(32u, zeros(0) + shiftAmount(instruction));
    case Op::Phi: {
      unsigned result = 32;
      for (const Instruction* operand : operands) result = std::min(result, zeros_[operand->id]);
      return result;
    }
    default: return 0;
  }
}

}  // namespace mulciber::analyses
