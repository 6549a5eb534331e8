#include "translator/passes/address_sum.h"

#include <utility>

namespace mulciber::passes {

using ir::Instruction;
using ir::Op;

AddressSum combined(Op op, const AddressSum& a, AddressSum b, ir::Builder builder) {
  if (op == Op::Sub) b = {b.value, 0 - b.constant, !b.isNegative};
  const uint32_t constant = a.constant + b.constant;
  if (!a.value || !b.value) return {a.value ? a.value : b.value, constant, a.value ? a.isNegative : b.isNegative};
  if (a.isNegative == b.isNegative) return {builder.add(a.value, b.value), constant, a.isNegative};
  const auto& [positive, negative] = a.isNegative ? std::pair(b.value, a.value) : std::pair(a.value, b.value);
  return {builder.sub(positive, negative), constant};
}

Instruction* valueOf(const AddressSum& sum, ir::Builder builder) {
  if (!sum.value) return builder.i32(sum.constant);
  if (sum.isNegative) return builder.sub(builder.i32(sum.constant), sum.value);
  return sum.constant == 0 ? sum.value : builder.add(sum.value, builder.i32(sum.constant));
}

Instruction* lowWord(ir::Builder builder, Instruction* number) {
  if (number->type == ir::I32) return number;
  if (number->isConstant()) return builder.i32(static_cast<uint32_t>(number->payload));
  const bool isExtended = number->op == Op::ZExt || number->op == Op::SExt;
  if (isExtended && number->operands[0]->type == ir::I32) return number->operands[0];
  return builder.convert(Op::Trunc, ir::I32, number);
}

}  // namespace mulciber::passes
