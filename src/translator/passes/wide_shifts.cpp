#include "translator/passes/wide_shifts.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

constexpr unsigned wrong = 31;  // the logarithm of the factor

// Has the value of a signed number of 32 bits.
bool isExtended(const Instruction& i) {
  if (i.type != ir::I64) return false;
  if (i.op == Op::SExt) return true;
  return i.op == Op::AShr && i.operands[1]->isConstant() && i.operands[1]->payload >= 32;
}

// By how much an instruction multiplies one of its operands: the logarithm, or nothing where it makes something else
// or more than is looked for. Drivers multiply the parts of a sum one by one.
std::optional<unsigned> scaleOf(const Instruction& use, const Instruction& value) {
  const auto known = [](uint64_t scale) { return scale <= wrong ? std::optional(unsigned(scale)) : std::nullopt; };
  if (use.type != ir::I64) return std::nullopt;
  switch (use.op) {
    case Op::Add: return use.operands[0] == use.operands[1] ? 1 : 0;
    case Op::Sub:
    case Op::Neg: return 0;
    case Op::Shl:
      if (use.operands[0] != &value || !use.operands[1]->isConstant()) return std::nullopt;
      return known(use.operands[1]->payload);
    case Op::Mul:
      for (const Instruction* factor : use.operands)
        if (factor->isConstant() && factor->payload != 0) return known(std::countr_zero(factor->payload));
      return std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

bool hideWideShifts(ir::Function& function) {
  // Of each number the scales, a bit for each, with which it leads to a product by 2^31. Users come behind it.
  std::vector<uint32_t> leads(function.instructionIdBound());
  const auto leadsThrough = [&](const Instruction& use, const Instruction& value) {
    const std::optional<unsigned> scale = scaleOf(use, value);
    return scale ? 1U << (wrong - *scale) | leads[use.id] >> *scale : 0;
  };
  // By iterators: Clang 14 cannot compile std::views::reverse of the standard library that it finds.
  for (auto block = function.blocks.rbegin(); block != function.blocks.rend(); ++block)
    for (auto use = (*block)->instructions.rbegin(); use != (*block)->instructions.rend(); ++use)
      for (const Instruction* operand : (*use)->operands) leads[operand->id] |= leadsThrough(**use, *operand);
  HiddenValues hidden(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* use : block->instructions)
      for (size_t n = 0; n < use->operands.size(); ++n) {
        Instruction* number = use->operands[n];
        if (isExtended(*number) && (leadsThrough(*use, *number) & 1) != 0)
          std::ranges::replace(use->operands, number, hidden.hide(number));
      }
  return hidden.apply();
}

bool WideShifts::run(ir::Function& function, PassContext& context) {
  return context.profile.negatesWideShifts && hideWideShifts(function);
}

}  // namespace mulciber::passes
