#include "translator/passes/constant_reads.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "translator/passes/dependencies.h"
#include "translator/passes/insertions.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

// NVIDIA's constant bank gives 8 bytes at a time where the place is computed, a load of device memory 16.
constexpr uint32_t mostBitsAtOnce = 64;

// By instruction id: what a branch depends on, and so the threads wait for.
std::vector<bool> findAwaited(const ir::Function& function) {
  std::vector<const Instruction*> conditions;
  for (const ir::Block* block : function.blocks)
    if (block->terminator.value) conditions.push_back(block->terminator.value);
  return findDependencies(function, conditions, [](const Instruction& i) { return ir::isPure(i.op); });
}

bool isCandidate(const Instruction& i) {
  return i.op == Op::Load && i.memory.isConstant && i.memory.space == ir::Space::Global;
}

// Which values seem to differ between the threads of a warp. Only speed hangs on it: where threads took different
// branches to a value, and would be told apart by that alone, it counts as one.
class Variety {
 public:
  explicit Variety(const ir::Function& function) : differs_(function.instructionIdBound()) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const ir::Block* block : function.blocks) {
        for (const Instruction* i : block->instructions) {
          if (differs_[i->id] || !becomesDifferent(*i)) continue;
          differs_[i->id] = changed = true;
        }
      }
    }
  }

  bool differs(const Instruction& value) const { return differs_[value.id]; }

 private:
  bool becomesDifferent(const Instruction& i) const {
    if (std::ranges::any_of(i.operands, [&](const Instruction* operand) { return differs_[operand->id]; })) return true;
    switch (i.op) {
      case Op::Input: return ir::differsByThread(static_cast<ir::InputKind>(i.payload));
      case Op::Load: return i.memory.space == ir::Space::Local || i.memory.space == ir::Space::Generic;
      default: return ir::isConvergent(i.op) || (ir::hasSideEffects(i.op) && !i.type.isVoid());
    }
  }

  std::vector<bool> differs_;  // by instruction id
};

// Which values are the address of the module's data plus a number. What is not such a sum counts as a number.
class ModuleAddresses {
 public:
  explicit ModuleAddresses(const ir::Function& function) : kinds_(function.instructionIdBound(), Unseen) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const ir::Block* block : function.blocks) {
        for (const Instruction* i : block->instructions) {
          const Kind found = std::min(kinds_[i->id], kindOf(*i));
          changed |= found != kinds_[i->id];
          kinds_[i->id] = found;
        }
      }
    }
  }

  bool contains(const Instruction& value) const { return kinds_[value.id] == Address; }

 private:
  enum Kind : uint8_t { Number, Address, Unseen };  // only ever falls, from what loops may still turn out to be

  Kind kindOf(const Instruction& i) const {
    if (i.type != ir::I64) return Number;
    auto kind = [&](size_t operand) { return kinds_[i.operands[operand]->id]; };
    switch (i.op) {
      case Op::Input: return i.payload == static_cast<uint64_t>(ir::InputKind::ModuleData) ? Address : Number;
      case Op::Add:
      case Op::Sub: {
        if (kind(0) == Unseen || kind(1) == Unseen) return Unseen;
        const bool isAddress = i.op == Op::Add ? kind(0) != kind(1) : kind(0) == Address && kind(1) == Number;
        return isAddress ? Address : Number;
      }
      case Op::Select: return std::min(kind(1), kind(2));
      case Op::Phi: {
        Kind result = Unseen;
        for (size_t n = 0; n < i.operands.size(); ++n) result = std::min(result, kind(n));
        return result;
      }
      default: return Number;
    }
  }

  std::vector<Kind> kinds_;  // by instruction id
};

// value + constant, modulo 2^32; the value is null for zero.
struct Sum {
  Instruction* value = nullptr;
  uint32_t constant = 0;
};

class Rewriter {
 public:
  explicit Rewriter(ir::Function& function)
      : isAwaited_(findAwaited(function)), variety_(function), addresses_(function), inserted_(function) {}

  bool run(ir::Function& function) {
    bool changed = false;
    for (ir::Block* block : function.blocks) {
      for (Instruction* i : block->instructions) {
        if (!isCandidate(*i)) continue;
        Instruction* address = i->operands[0];
        if (!addresses_.contains(*address) || variety_.differs(*address)) continue;
        const Sum sum = offset(address);
        if (sum.value && !(isAwaited_[i->id] && i->type.totalBits() <= mostBitsAtOnce)) continue;
        i->operands[0] = valueOf(sum, address);
        i->memory.space = ir::Space::Constant;
        changed = true;
      }
    }
    inserted_.apply();
    return changed;
  }

 private:
  // What is added to the address of the module's data.
  Sum offset(Instruction* address) {
    if (auto known = offsets_.find(address); known != offsets_.end()) return known->second;
    if (address->op == Op::Phi) return offsetPhi(address);
    return offsets_[address] = offsetOfSum(address);
  }

  Sum offsetOfSum(Instruction* address) {
    if (address->op == Op::Input) return {};
    const auto& x = address->operands;
    if (address->op == Op::Select) {
      Instruction *ifTrue = valueOf(offset(x[1]), x[1]), *ifFalse = valueOf(offset(x[2]), x[2]);
      return {inserted_.after(address).select(x[0], ifTrue, ifFalse)};
    }
    const bool isSwapped = addresses_.contains(*x[1]);
    const Sum base = offset(x[isSwapped ? 1 : 0]);
    Instruction* number = x[isSwapped ? 0 : 1];
    if (number->isConstant()) {
      const auto constant = static_cast<uint32_t>(number->payload);
      return {base.value, base.constant + (address->op == Op::Sub ? 0 - constant : constant)};
    }
    Instruction* word = lowWord(number, address, 0);
    ir::Builder b = inserted_.after(address);
    if (address->op == Op::Sub) return {b.sub(base.value ? base.value : b.i32(0), word), base.constant};
    return {base.value ? b.add(base.value, word) : word, base.constant};
  }

  Sum offsetPhi(Instruction* phi) {
    Instruction* counterpart = inserted_.addPhi(ir::I32, phi);
    offsets_[phi] = {counterpart};
    for (Instruction* operand : phi->operands) counterpart->operands.push_back(valueOf(offset(operand), operand));
    return {counterpart};
  }

  Instruction* valueOf(const Sum& sum, const Instruction* place) {
    if (sum.value && sum.constant == 0) return sum.value;
    ir::Builder b = inserted_.after(place);
    return sum.value ? b.add(sum.value, b.i32(sum.constant)) : b.i32(sum.constant);
  }

  // The low word of a number, computed behind `place` in 32 bits where that is no more work.
  Instruction* lowWord(Instruction* number, const Instruction* place, int depth) {
    constexpr int deepest = 8;
    const auto& x = number->operands;
    ir::Builder b = inserted_.after(place);
    const bool isExtended = number->op == Op::ZExt || number->op == Op::SExt;
    if (isExtended && x[0]->type == ir::I32) return x[0];
    if (number->isConstant()) return b.i32(static_cast<uint32_t>(number->payload));
    if (depth < deepest && (number->op == Op::Mul || number->op == Op::Shl) && x[1]->isConstant()) {
      if (number->op == Op::Shl && x[1]->payload >= 32) return b.i32(0);
      Instruction* word = lowWord(x[0], place, depth + 1);
      return b.binary(number->op, word, b.i32(static_cast<uint32_t>(x[1]->payload)));
    }
    if (depth < deepest && (number->op == Op::Add || number->op == Op::Sub)) {
      Instruction* left = lowWord(x[0], place, depth + 1);
      Instruction* right = lowWord(x[1], place, depth + 1);
      return b.binary(number->op, left, right);
    }
    return b.convert(Op::Trunc, ir::I32, number);
  }

  const std::vector<bool> isAwaited_;
  Variety variety_;
  ModuleAddresses addresses_;
  Insertions inserted_;
  std::unordered_map<const Instruction*, Sum> offsets_;
};

}  // namespace

bool readConstants(ir::Function& function) {
  const bool hasCandidates = std::ranges::any_of(function.blocks, [](const ir::Block* block) {
    return std::ranges::any_of(block->instructions, [](const Instruction* i) { return isCandidate(*i); });
  });
  return hasCandidates && Rewriter(function).run(function);
}

bool ConstantReads::run(ir::Function& function, PassContext& context) {
  const uint64_t bytes = context.program.constantBytes;
  if (bytes == 0 || bytes > context.profile.maxConstantBytes) return false;
  return context.program.readsConstants = readConstants(function);
}

}  // namespace mulciber::passes
