// Addresses of 32 bits as passes take them apart and put them together again.
#pragma once

#include "translator/ir/builder.h"

namespace mulciber::passes {

// constant + value, or constant - value, modulo 2^32; the value is null for zero.
struct AddressSum {
  ir::Instruction* value = nullptr;
  uint32_t constant = 0;
  bool isNegative = false;
};

// a + b for Op::Add, a - b for Op::Sub.
AddressSum combined(ir::Op op, const AddressSum& a, AddressSum b, ir::Builder builder);
ir::Instruction* valueOf(const AddressSum& sum, ir::Builder builder);

// The low word of an i32 or i64 number; one that was extended from 32 bits is that word.
ir::Instruction* lowWord(ir::Builder builder, ir::Instruction* number);

}  // namespace mulciber::passes
