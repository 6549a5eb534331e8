#include "translator/passes/constant_reads.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "translator/analyses/address_origins.h"
#include "translator/analyses/dependencies.h"
#include "translator/analyses/divergence.h"
#include "translator/passes/address_sum.h"
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
  return analyses::findDependencies(function, conditions, [](const Instruction& i) { return ir::isPure(i.op); });
}

bool isCandidate(const Instruction& i) {
  return i.op == Op::Load && i.memory.isConstant && i.memory.space == ir::Space::Global;
}

class Rewriter {
 public:
  explicit Rewriter(ir::Function& function)
      : isAwaited_(findAwaited(function)),
        // Only speed hangs on it: values that threads bring along different ways count as the same.
        divergence_(function, analyses::Divergence::Among::Warp, analyses::Divergence::Branches::Ignored),
        addresses_(function),
        inserted_(function) {}

  bool run(ir::Function& function) {
    bool changed = false;
    for (ir::Block* block : function.blocks) {
      for (Instruction* i : block->instructions) {
        if (!isCandidate(*i)) continue;
        Instruction* address = i->operands[0];
        if (!addresses_.contains(*address) || divergence_.differs(*address)) continue;
        const AddressSum sum = offset(address);
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
  AddressSum offset(Instruction* address) {
    if (auto known = offsets_.find(address); known != offsets_.end()) return known->second;
    if (address->op == Op::Phi) return offsetPhi(address);
    return offsets_[address] = offsetOfSum(address);
  }

  AddressSum offsetOfSum(Instruction* address) {
    if (address->op == Op::Input) return {};
    const auto& x = address->operands;
    if (address->op == Op::Select) {
      Instruction *ifTrue = valueOf(offset(x[1]), x[1]), *ifFalse = valueOf(offset(x[2]), x[2]);
      return {inserted_.after(address).select(x[0], ifTrue, ifFalse)};
    }
    const bool isSwapped = addresses_.contains(*x[1]);
    const AddressSum base = offset(x[isSwapped ? 1 : 0]);
    Instruction* number = x[isSwapped ? 0 : 1];
    if (number->isConstant()) {
      const auto constant = static_cast<uint32_t>(number->payload);
      return {base.value, base.constant + (address->op == Op::Sub ? 0 - constant : constant), base.isNegative};
    }
    Instruction* word = wordOf(number, address, 0);
    return combined(address->op, base, {word}, inserted_.after(address));
  }

  AddressSum offsetPhi(Instruction* phi) {
    Instruction* counterpart = inserted_.addPhi(ir::I32, phi);
    offsets_[phi] = {counterpart};
    for (Instruction* operand : phi->operands) counterpart->operands.push_back(valueOf(offset(operand), operand));
    return {counterpart};
  }

  Instruction* valueOf(const AddressSum& sum, const Instruction* place) {
    return passes::valueOf(sum, inserted_.after(place));
  }

  // The low word of a number, computed behind `place` in 32 bits where that is no more work.
  Instruction* wordOf(Instruction* number, const Instruction* place, int depth) {
    constexpr int deepest = 8;
    const auto& x = number->operands;
    ir::Builder b = inserted_.after(place);
    if (depth < deepest && (number->op == Op::Mul || number->op == Op::Shl) && x[1]->isConstant()) {
      if (number->op == Op::Shl && x[1]->payload >= 32) return b.i32(0);
      Instruction* word = wordOf(x[0], place, depth + 1);
      return b.binary(number->op, word, b.i32(static_cast<uint32_t>(x[1]->payload)));
    }
    if (depth < deepest && (number->op == Op::Add || number->op == Op::Sub)) {
      Instruction* left = wordOf(x[0], place, depth + 1);
      Instruction* right = wordOf(x[1], place, depth + 1);
      return b.binary(number->op, left, right);
    }
    return lowWord(b, number);
  }

  const std::vector<bool> isAwaited_;
  const analyses::Divergence divergence_;
  const analyses::ModuleAddresses addresses_;
  Insertions inserted_;
  std::unordered_map<const Instruction*, AddressSum> offsets_;
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
