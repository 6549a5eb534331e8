#include "translator/passes/folded_flushes.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "translator/analyses/fixpoint.h"
#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Family;
using ir::InputKind;
using ir::Instruction;
using ir::Op;

constexpr uint64_t kOne = 0x3F80'0000, kSign = 0x8000'0000;

// What a driver may find a value to be.
using Findings = uint8_t;
constexpr Findings kConstant = 1, kUnit = 2, kZero = 4, kNegativeZero = 8, kDenormal = 16;  // a unit is 1 or -1
constexpr Findings kAny = kConstant | kUnit | kZero | kNegativeZero | kDenormal;

Findings ofConstant(const Instruction& constant) {
  const uint64_t bits = constant.payload, magnitude = bits & ~kSign;
  if (constant.type.isVector() || constant.type.bits != 32) return kConstant;
  if (bits == 0) return kConstant | kZero;
  if (bits == kSign) return kConstant | kNegativeZero;
  if (magnitude == kOne) return kConstant | kUnit;
  return magnitude < 0x0080'0000 ? kConstant | kDenormal : kConstant;
}

Findings negated(Findings x) {
  const bool zero = x & kZero, negativeZero = x & kNegativeZero;
  return (x & ~(kZero | kNegativeZero)) | (zero ? kNegativeZero : 0) | (negativeZero ? kZero : 0);
}

// A block's shape is known to drivers, and with it numbers of threads that can only be zero.
bool isOfShape(InputKind kind) {
  switch (kind) {
    case InputKind::BlockDimX:
    case InputKind::BlockDimY:
    case InputKind::BlockDimZ: return true;
    default: return ir::differsByThread(kind);
  }
}

class FoldedValues {
 public:
  explicit FoldedValues(const ir::Function& function) : findings_(function.instructionIdBound()) {
    analyses::updateUntilSettled(function, [this](const Instruction& i, const ir::Block&) {
      const Findings found = find(i);
      return std::exchange(findings_[i.id], found) != found;
    });
  }
  Findings of(const Instruction& i) const { return findings_[i.id]; }
  bool areConstants(const Instruction& i) const {
    return std::ranges::all_of(i.operands, [this](const Instruction* x) { return of(*x) & kConstant; });
  }

 private:
  Findings oneOf(std::span<Instruction* const> values) const {
    Findings found = 0;
    for (const Instruction* value : values) found |= of(*value);
    return found;
  }
  Findings find(const Instruction& i) const {
    switch (i.op) {
      case Op::Constant: return ofConstant(i);
      case Op::Input: return isOfShape(static_cast<InputKind>(i.payload)) ? kAny : 0;
      case Op::Phi:
      case Op::Bitcast: return oneOf(i.operands);
      case Op::Select: return oneOf(std::span(i.operands).subspan(1));
      case Op::FNeg: return negated(of(*i.operands[0]));
      case Op::FAbs: return of(*i.operands[0]) | (of(*i.operands[0]) & kNegativeZero ? kZero : 0);
      case Op::UToF:
      case Op::SToF: return of(*i.operands[0]) & kConstant ? kConstant | kUnit | kZero : 0;
      default: return ir::isPure(i.op) && !i.operands.empty() && areConstants(i) ? kAny : 0;
    }
  }

  std::vector<Findings> findings_;  // by id
};

bool flushes(const Instruction& i) {
  const Family family = ir::family(i.op);
  return i.type == ir::F32 && (family == Family::FloatArithmetic || family == Family::FloatFunction) &&
         i.op != Op::FNeg && i.op != Op::FAbs;
}

// Whether the operation may be found to be nothing but one of its operands.
bool mayBeLeftOut(const Instruction& i, const FoldedValues& values) {
  const auto mayBe = [&](size_t n, Findings finding) { return (values.of(*i.operands[n]) & finding) != 0; };
  switch (i.op) {
    case Op::FMul: return mayBe(0, kUnit) || mayBe(1, kUnit);
    case Op::FAdd: return mayBe(0, kNegativeZero) || mayBe(1, kNegativeZero);
    case Op::FSub: return mayBe(0, kNegativeZero) || mayBe(1, kZero);
    case Op::Fma: return (mayBe(0, kUnit) || mayBe(1, kUnit)) && mayBe(2, kNegativeZero);
    default: return false;
  }
}

// The multiply-add that a sum or product is with a one or a zero which no driver knows.
bool makeMultiplyAdd(Instruction& i, HiddenValues& hidden) {
  auto& x = i.operands;
  switch (i.op) {
    case Op::FAdd: x.insert(x.begin() + 1, hidden.constant(ir::F32, kOne)); break;
    case Op::FSub: x = {x[1], hidden.constant(ir::F32, kSign | kOne), x[0]}; break;
    case Op::FMul: x.push_back(hidden.constant(ir::F32, kSign)); break;
    default: return false;
  }
  i.op = Op::Fma;
  return true;
}

}  // namespace

bool hideFoldedFlushes(ir::Function& function) {
  const FoldedValues values(function);
  HiddenValues hidden(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) {
      if (!flushes(*i)) continue;
      const auto mayBeDenormal = [&](const Instruction* x) {
        return x->type == ir::F32 && (values.of(*x) & kDenormal) != 0;
      };
      const bool isWorkedOut = values.areConstants(*i), isLeftOut = mayBeLeftOut(*i, values);
      const bool hasDenormals = std::ranges::any_of(i->operands, mayBeDenormal);
      if (!isWorkedOut && !isLeftOut && !hasDenormals) continue;
      if (makeMultiplyAdd(*i, hidden)) continue;
      for (Instruction*& operand : i->operands)
        if (isWorkedOut || isLeftOut || mayBeDenormal(operand)) operand = hidden.hide(operand);
    }
  return hidden.apply();
}

bool leavesFlushingToDevice(const PassContext& context) {
  const TargetProfile& profile = context.profile;
  return context.program.denormals32 == ir::Denormals::Flush && (profile.denormFlush32 || !profile.denormsByDefault32);
}

bool FoldedFlushes::run(ir::Function& function, PassContext& context) {
  return leavesFlushingToDevice(context) && hideFoldedFlushes(function);
}

}  // namespace mulciber::passes
