#include "translator/passes/aligned_addresses.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "translator/analyses/address_parts.h"
#include "translator/analyses/low_zeros.h"
#include "translator/ir/builder.h"
#include "translator/passes/address_sum.h"
#include "translator/passes/insertions.h"
#include "translator/passes/rewrite.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

constexpr unsigned visibleDepth = 3;        // operations that a driver looks at, one below the other
constexpr unsigned maxDepth = 64;           // of the operations that are divided one after the other
constexpr uint32_t maxConstant = 1u << 24;  // far beyond what is reached so: address and constant apart are exact

// Whether SPIR-V reaches the space by the index of an element.
bool isByElement(ir::Space space) { return space == ir::Space::Shared || space == ir::Space::Constant; }

// What one access reaches at once, as a power of two.
unsigned log2Of(const Instruction& access) {
  if (access.op == Op::LoadRows) return 4;
  const ir::Type type = access.op == Op::Store ? access.operands[1]->type : access.type;
  const unsigned aligned = std::max<unsigned>(access.memory.alignment, type.bits / 8u);
  return static_cast<unsigned>(std::countr_zero(std::min({16u, aligned, type.totalBits() / 8u})));
}

using AccessGroup = std::vector<Instruction*>;  // of one base

std::vector<AccessGroup> accessesByElement(const ir::Function& function) {
  std::vector<AccessGroup> groups;
  std::unordered_map<const Instruction*, size_t> groupOf;
  for (const Block* block : function.blocks) {
    for (Instruction* instruction : block->instructions) {
      if (!isByElement(instruction->memory.space) || log2Of(*instruction) == 0) continue;
      auto [group, isNew] = groupOf.try_emplace(analyses::splitAddress(instruction->operands[0]).base, groups.size());
      if (isNew) groups.emplace_back();
      groups[group->second].push_back(instruction);
    }
  }
  return groups;
}

class Rewriter {
 public:
  explicit Rewriter(ir::Function& function)
      : zeros_(function), inserted_(function), isShifted_(function.instructionIdBound()), replacements_(function) {}

  void run(const std::vector<AccessGroup>& groups) {
    for (const AccessGroup& group : groups)
      if (std::ranges::any_of(group, [&](auto* access) { return needsHelp(*access); }))
        for (Instruction* access : group) align(*access);
    inserted_.apply();
    replacements_.apply();
  }

  bool hasChanged() const { return !inserted_.isEmpty(); }

 private:
  // Whether a driver sees it that looks `depth` operations deep.
  bool isVisiblyMultiple(Instruction* value, unsigned log2, unsigned depth) {
    value = replacements_.find(value);
    if (value->isConstant()) return analyses::lowZerosOf(value->payload) >= log2;
    if (depth == 0) return false;
    const auto& operands = value->operands;
    auto isMultiple = [&](size_t i, unsigned needed) { return isVisiblyMultiple(operands[i], needed, depth - 1); };
    auto remaining = [&](unsigned factor) { return log2 - std::min(log2, factor); };
    switch (value->op) {
      case Op::Shl:
        return analyses::shiftAmount(*value) >= log2 || isMultiple(0, remaining(analyses::shiftAmount(*value)));
      case Op::Mul: {
        const unsigned factor = operands[1]->isConstant() ? analyses::lowZerosOf(operands[1]->payload) : 0;
        return factor >= log2 || isMultiple(0, remaining(factor));
      }
      case Op::And: return isMultiple(0, log2) || isMultiple(1, log2);
      case Op::Add:
      case Op::Sub:
      case Op::Or:
      case Op::Xor: return isMultiple(0, log2) && isMultiple(1, log2);
      case Op::Select: return isMultiple(1, log2) && isMultiple(2, log2);
      case Op::Phi:
        // A counter, by what it starts with and its step.
        return std::ranges::all_of(operands, [&](Instruction* operand) {
          const bool isStep = operand->op == Op::Add || operand->op == Op::Sub;
          if (isStep && operand->operands[0] == value) return isVisiblyMultiple(operand->operands[1], log2, 0);
          return (operand->isConstant() || operand->op == Op::Shl) && isVisiblyMultiple(operand, log2, depth - 1);
        });
      default: return false;
    }
  }

  bool needsHelp(const Instruction& access) {
    Instruction* address = access.operands[0];
    const unsigned log2 = log2Of(access);
    return zeros_.of(address) >= log2 && !isVisiblyMultiple(address, log2, visibleDepth);
  }

  void align(Instruction& access) {
    Instruction* address = access.operands[0];
    const unsigned log2 = log2Of(access);
    if (zeros_.of(address) < log2) return;
    const AddressSum sum = visibleAddressSum(address, log2, 2, 0);
    if (sum.value && sum.constant + maxConstant < 2 * maxConstant) access.operands[0] = valueOf(sum, after(address));
  }

  // A sum of as many visible multiples as `terms`, and of a constant.
  AddressSum visibleAddressSum(Instruction* value, unsigned log2, unsigned terms, unsigned depth) {
    if (value->isConstant()) return {nullptr, static_cast<uint32_t>(value->payload)};
    if ((value->op == Op::Add || value->op == Op::Sub) && depth < maxDepth) {
      Instruction *left = value->operands[0], *right = value->operands[1];
      if (!left->isConstant() && !right->isConstant()) --terms;
      if (terms > 0) {
        const AddressSum first = visibleAddressSum(left, log2, terms, depth + 1);
        return combined(value->op, first, visibleAddressSum(right, log2, terms, depth + 1), after(value));
      }
    }
    if (isVisiblyMultiple(value, log2, 1) || !divides(*value, log2)) return {value, 0};
    AddressSum result = divided(value, log2, 0);
    ir::Builder b = after(value);
    if (result.value) result.value = b.shl(result.value, b.i32(log2));
    result.constant <<= log2;
    standsFor(value, valueOf(result, b));
    return result;
  }

  // Whether dividing takes no more than dividing the operands.
  bool divides(const Instruction& value, unsigned log2) const {
    if (value.type != ir::I32 && value.type != ir::I64) return false;
    const auto& operands = value.operands;
    switch (value.op) {
      case Op::Constant:
      case Op::Undef:
      case Op::Add:
      case Op::Sub:
      case Op::Neg:
      case Op::Or:
      case Op::Xor:
      case Op::Select:
      case Op::Phi: return true;
      case Op::Shl:
      case Op::Mul: return operands[1]->isConstant();
      case Op::And: return operands[1]->isConstant() && zeros_.of(operands[0]) >= log2;
      case Op::ZExt:
      case Op::SExt: return operands[0]->type == ir::I32;
      case Op::Trunc: return operands[0]->type == ir::I64;
      default: return false;
    }
  }

  // What, multiplied by 2^log2, is the low word of `value`, which is a multiple. Only that is known of it: its own
  // upper bits may be any.
  AddressSum divided(Instruction* value, unsigned log2, unsigned depth) {
    if (log2 == 0) return {lowWord(value), 0};
    const auto key = std::pair(value->id, log2);
    if (auto known = quotients_.find(key); known != quotients_.end()) return known->second;
    if (value->op == Op::Phi && depth < maxDepth) return dividedPhi(value, log2, depth);
    const bool isDivisible = depth < maxDepth && divides(*value, log2);
    return quotients_[key] = isDivisible ? dividedOperands(*value, log2, depth) : AddressSum{shifted(value, log2), 0};
  }

  AddressSum dividedOperands(Instruction& value, unsigned log2, unsigned depth) {
    const auto& operands = value.operands;
    auto operand = [&](size_t i, unsigned by) { return divided(operands[i], by, depth + 1); };
    auto whole = [&](size_t i) { return valueOf(operand(i, log2), after(operands[i])); };
    const int64_t constant = value.isConstant()     ? signedConstant(value)
                             : operands.size() == 2 ? signedConstant(*operands[1])
                                                    : 0;
    switch (value.op) {
      case Op::Constant: return {nullptr, static_cast<uint32_t>(constant >> log2)};
      case Op::Undef: return {};
      case Op::Add:
      case Op::Sub: return combined(value.op, operand(0, log2), operand(1, log2), after(&value));
      case Op::Neg: return combined(Op::Sub, {}, operand(0, log2), after(&value));
      case Op::Shl: {
        const auto amount = static_cast<unsigned>(constant);
        if (amount >= 32) return {};
        if (amount <= log2) return operand(0, log2 - amount);
        ir::Builder b = after(&value);
        return {b.shl(lowWord(operands[0]), b.i32(amount - log2)), 0};
      }
      case Op::Mul: {
        const unsigned taken = std::min(log2, analyses::lowZerosOf(operands[1]->payload));
        const AddressSum quotient = operand(0, log2 - taken);
        const auto factor = static_cast<uint32_t>(constant >> taken);
        ir::Builder b = after(&value);
        return {quotient.value ? b.mul(quotient.value, b.i32(factor)) : nullptr, quotient.constant * factor,
                quotient.isNegative};
      }
      case Op::And: {
        Instruction* quotient = whole(0);
        ir::Builder b = after(&value);
        return {b.bitAnd(quotient, b.i32(static_cast<uint32_t>(constant) >> log2)), 0};
      }
      case Op::Or:
      case Op::Xor: {
        Instruction *left = whole(0), *right = whole(1);
        return {after(&value).binary(value.op, left, right), 0};
      }
      case Op::Select: {
        Instruction *ifTrue = whole(1), *ifFalse = whole(2);
        return {after(&value).select(operands[0], ifTrue, ifFalse), 0};
      }
      default: return operand(0, log2);  // conversions, of which the low word is the same
    }
  }

  // A phi of quotients; multiplied again, it stands for the one of multiples.
  AddressSum dividedPhi(Instruction* phi, unsigned log2, unsigned depth) {
    Instruction* quotient = inserted_.addPhi(ir::I32, phi);
    quotients_[{phi->id, log2}] = {quotient, 0};
    ir::Builder b = inserted_.behindPhis(phi);
    standsFor(phi, b.shl(quotient, b.i32(log2)));
    for (Instruction* operand : phi->operands)
      quotient->operands.push_back(valueOf(divided(operand, log2, depth + 1), after(operand)));
    return {quotient, 0};
  }

  // So that not both are computed.
  void standsFor(const Instruction* value, Instruction* by) {
    if (value->type == ir::I32 && !replacements_.isReplaced(value) && !isShifted_[value->id])
      replacements_.replace(value, by);
  }

  static int64_t signedConstant(const Instruction& constant) {
    const unsigned unused = 64u - constant.type.bits;
    return static_cast<int64_t>(constant.payload << unused) >> unused;
  }

  Instruction* lowWord(Instruction* value) { return passes::lowWord(after(value), value); }

  Instruction* shifted(Instruction* value, unsigned log2) {
    isShifted_[value->id] = true;
    Instruction* word = lowWord(value);
    ir::Builder b = after(value);
    return b.lshr(word, b.i32(log2));
  }

  ir::Builder after(const Instruction* value) { return inserted_.after(value); }

  analyses::LowZeros zeros_;
  Insertions inserted_;
  std::vector<bool> isShifted_;  // by instruction id: its quotient is the value shifted
  std::map<std::pair<uint32_t, unsigned>, AddressSum> quotients_;  // by instruction id and log2
  Replacements replacements_;
};

}  // namespace

bool alignAddresses(ir::Function& function) {
  const std::vector<AccessGroup> groups = accessesByElement(function);
  if (groups.empty()) return false;
  Rewriter rewriter(function);
  rewriter.run(groups);
  return rewriter.hasChanged();
}

bool AlignedAddresses::run(ir::Function& function, PassContext&) { return alignAddresses(function); }

}  // namespace mulciber::passes
