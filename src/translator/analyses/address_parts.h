// An address as passes and emission see it: a value and a constant that is added last.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::analyses {

struct AddressParts {
  ir::Instruction* base;  // null: zero
  uint64_t offset;
};

inline AddressParts splitAddress(ir::Instruction* address) {
  if (address->isConstant()) return {nullptr, address->payload};
  const bool isSum = address->op == ir::Op::Add && address->operands[1]->isConstant();
  return isSum ? AddressParts{address->operands[0], address->operands[1]->payload} : AddressParts{address, 0};
}

}  // namespace mulciber::analyses
