#include "translator/passes/byte_swaps.h"

#include <algorithm>
#include <array>
#include <optional>

#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

// Where a byte of a value comes from: byte `index` of `value`. Zero where that is null.
struct Byte {
  const Instruction* value = nullptr;
  unsigned index = 0;
};
using Bytes = std::array<Byte, 8>;  // those of the value's width

bool isInteger(const Instruction* value) { return value->type.isInt() && !value->type.isVector(); }

// What lies further away is a value of its own: the cost of one question has a limit.
constexpr unsigned mostSteps = 5;

Bytes originOf(const Instruction* value, unsigned steps = mostSteps) {
  const unsigned count = value->type.bits / 8u;
  Bytes own;
  for (unsigned k = 0; k < count; ++k) own[k] = Byte{value, k};
  if (!isInteger(value) || steps == 0) return own;
  const auto of = [&](size_t n) { return originOf(value->operands[n], steps - 1); };
  const auto constant = [&](size_t n) -> std::optional<uint64_t> {
    if (!value->operands[n]->isConstant()) return std::nullopt;
    return value->operands[n]->payload;
  };
  Bytes bytes;
  switch (value->op) {
    case Op::Constant:
      for (unsigned k = 0; k < count; ++k)
        if ((value->payload >> 8 * k & 0xFF) != 0) bytes[k] = own[k];
      return bytes;
    case Op::Or:
    case Op::Xor:
    case Op::Add: {
      const Bytes first = of(0), second = of(1);
      for (unsigned k = 0; k < count; ++k)
        bytes[k] = !first[k].value ? second[k] : !second[k].value ? first[k] : own[k];
      return bytes;
    }
    case Op::And: {
      const size_t at = constant(0) ? 0 : 1;
      const auto mask = constant(at);
      if (!mask) return own;
      const Bytes all = of(1 - at);
      for (unsigned k = 0; k < count; ++k) {
        const uint64_t kept = *mask >> 8 * k & 0xFF;
        if (kept != 0) bytes[k] = kept == 0xFF ? all[k] : own[k];
      }
      return bytes;
    }
    case Op::Shl:
    case Op::LShr: {
      const auto distance = constant(1);
      if (!distance || *distance % 8 != 0) return own;
      const Bytes all = of(0);
      const auto by = static_cast<unsigned>(*distance / 8);
      for (unsigned k = by; k < count; ++k) {
        if (value->op == Op::Shl) bytes[k] = all[k - by];
        else bytes[k - by] = all[k];
      }
      return bytes;
    }
    case Op::BitExtractU: {
      const auto first = constant(1), length = constant(2);
      if (!first || !length || *first % 8 != 0 || *length % 8 != 0) return own;
      const Bytes all = of(0);
      for (size_t k = 0; k < *length / 8; ++k) bytes[k] = all[k + *first / 8];
      return bytes;
    }
    case Op::ZExt: return value->operands[0]->type.isBool() ? own : of(0);
    case Op::Trunc: {
      const Bytes all = of(0);
      std::copy_n(all.begin(), count, bytes.begin());
      return bytes;
    }
    default: return own;
  }
}

// Whether the lower two bytes of a value meet here, each from the other's place, and from one operand each.
bool swaps(const Instruction& i) {
  const bool joins = i.op == Op::Or || i.op == Op::Xor || i.op == Op::Add;
  if (!joins || !isInteger(&i) || i.type.bits < 16) return false;
  const Bytes first = originOf(i.operands[0]), second = originOf(i.operands[1]);
  const auto meet = [](const Bytes& low, const Bytes& high) {
    return low[0].value && low[0].value == high[1].value && low[0].index == high[1].index + 1 && !low[1].value &&
           !high[0].value;
  };
  return meet(first, second) || meet(second, first);
}

}  // namespace

bool hideSwappedBytes(ir::Function& function) {
  HiddenValues hidden(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if (swaps(*i)) i->operands[1] = hidden.hide(i->operands[1]);
  return hidden.apply();
}

bool ByteSwaps::run(ir::Function& function, PassContext& context) {
  return context.profile.losesSwappedBytes && hideSwappedBytes(function);
}

}  // namespace mulciber::passes
