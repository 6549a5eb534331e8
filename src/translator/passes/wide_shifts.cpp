#include "translator/passes/wide_shifts.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>
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

// By how much an instruction multiplies one of its operands: the logarithm, or nothing where it makes something else.
// Drivers multiply the parts of a sum one by one.
std::optional<unsigned> scaleOf(const Instruction& use, const Instruction& value) {
  if (use.type != ir::I64) return std::nullopt;
  switch (use.op) {
    case Op::Add: return use.operands[0] == use.operands[1] ? 1 : 0;
    case Op::Sub:
    case Op::Neg: return 0;
    case Op::Shl:
      if (use.operands[0] != &value || !use.operands[1]->isConstant()) return std::nullopt;
      return static_cast<unsigned>(use.operands[1]->payload);
    case Op::Mul:
      for (const Instruction* factor : use.operands)
        if (factor->isConstant() && factor->payload != 0)
          return static_cast<unsigned>(std::countr_zero(factor->payload));
      return std::nullopt;
    default: return std::nullopt;
  }
}

// A quick look, which most kernels are done with: of each number the powers of two that it may be an extended one
// times.
bool hasAny(const ir::Function& function) {
  std::vector<uint32_t> powers(function.instructionIdBound());
  for (const ir::Block* block : function.blocks)
    for (const Instruction* i : block->instructions) {
      if (i->type != ir::I64) continue;
      uint32_t& own = powers[i->id];
      own = isExtended(*i) ? 1 : 0;
      for (const Instruction* operand : i->operands)
        if (powers[operand->id] != 0)
          if (const std::optional<unsigned> scale = scaleOf(*i, *operand); scale && *scale <= wrong)
            own |= powers[operand->id] << *scale;
      if (own >> wrong != 0) return true;
    }
  return false;
}

class Finder {
 public:
  explicit Finder(const ir::Function& function) : users_(function.instructionIdBound()) {
    for (const ir::Block* block : function.blocks)
      for (Instruction* i : block->instructions)
        for (const Instruction* operand : i->operands) users_[operand->id].push_back(i);
  }

  const std::vector<Instruction*>& usersOf(const Instruction& value) const { return users_[value.id]; }

  // Whether a use of a number that has been multiplied by 2^scale leads to its product by 2^31.
  bool leads(const Instruction& use, const Instruction& value, unsigned scale) {
    const std::optional<unsigned> more = scaleOf(use, value);
    if (!more || scale + *more > wrong) return false;
    const unsigned now = scale + *more;
    if (now == wrong) return true;
    if (!seen_.emplace(&use, now).second) return false;  // asked before, and it does not, or is being asked
    return std::ranges::any_of(users_[use.id], [&](const Instruction* next) { return leads(*next, use, now); });
  }
  void forget() { seen_.clear(); }

 private:
  std::vector<std::vector<Instruction*>> users_;  // by instruction id
  std::set<std::pair<const Instruction*, unsigned>> seen_;
};

}  // namespace

bool hideWideShifts(ir::Function& function) {
  if (!hasAny(function)) return false;
  Finder finder(function);
  HiddenValues hidden(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* number : block->instructions) {
      if (!isExtended(*number)) continue;
      for (Instruction* use : finder.usersOf(*number)) {
        finder.forget();
        if (finder.leads(*use, *number, 0)) std::ranges::replace(use->operands, number, hidden.hide(number));
      }
    }
  return hidden.apply();
}

bool WideShifts::run(ir::Function& function, PassContext& context) {
  return context.profile.negatesWideShifts && hideWideShifts(function);
}

}  // namespace mulciber::passes
