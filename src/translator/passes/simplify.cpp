#include "translator/passes/simplify.h"

#include <bit>
#include <utility>

#include "translator/passes/fold.h"
#include "translator/passes/phis.h"
#include "translator/passes/rewrite.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

constexpr int maxRounds = 8;

bool isCommutative(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Mul:
    case Op::MulHiU:
    case Op::MulHiS:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::UMin:
    case Op::UMax:
    case Op::SMin:
    case Op::SMax:
    case Op::IEq:
    case Op::INe: return true;
    default: return false;
  }
}

bool isZero(const Instruction* value) { return value->isConstant() && value->payload == 0; }
bool isOne(const Instruction* value) { return value->isConstant() && value->payload == 1; }
bool isAllOnes(const Instruction* value) {
  return value->isConstant() && std::popcount(value->payload) == value->type.bits;
}
bool isPowerOfTwo(const Instruction* value) { return value->isConstant() && std::has_single_bit(value->payload); }

// The comparison that is true where `op` is false, and whether its operands change places.
std::optional<std::pair<Op, bool>> inverse(Op op) {
  switch (op) {
    case Op::IEq: return {{Op::INe, false}};
    case Op::INe: return {{Op::IEq, false}};
    case Op::ULt: return {{Op::ULe, true}};
    case Op::ULe: return {{Op::ULt, true}};
    case Op::SLt: return {{Op::SLe, true}};
    case Op::SLe: return {{Op::SLt, true}};
    case Op::FEq: return {{Op::FNeU, false}};
    case Op::FNe: return {{Op::FEqU, false}};
    case Op::FEqU: return {{Op::FNe, false}};
    case Op::FNeU: return {{Op::FEq, false}};
    case Op::FLt: return {{Op::FLeU, true}};
    case Op::FLe: return {{Op::FLtU, true}};
    case Op::FLtU: return {{Op::FLe, true}};
    case Op::FLeU: return {{Op::FLt, true}};
    default: return std::nullopt;
  }
}

class Simplifier {
 public:
  explicit Simplifier(ir::Function& function) : function_(function), replacements_(function) {}

  bool run() {
    for (ir::Block* block : function_.blocks) {
      block_ = block;
      std::vector<Instruction*> original = std::move(block->instructions);
      block->instructions.clear();
      for (Instruction* instruction : original) {
        for (Instruction*& operand : instruction->operands) operand = replacements_.find(operand);
        if (instruction->op != Op::Phi && ir::isPure(instruction->op)) simplifyOne(instruction);
        block->instructions.push_back(instruction);
      }
    }
    if (changed_) replacements_.apply();
    return changed_;
  }

 private:
  void simplifyOne(Instruction* instruction) {
    if (isCommutative(instruction->op) && instruction->operands[0]->isConstant() &&
        !instruction->operands[1]->isConstant())
      std::swap(instruction->operands[0], instruction->operands[1]);
    if (auto bits = foldConstant(*instruction)) return becomeConstant(instruction, *bits);
    if (Instruction* value = equal(instruction)) {
      replacements_.replace(instruction, value);
      changed_ = true;
    }
  }

  void becomeConstant(Instruction* instruction, uint64_t bits) {
    instruction->operands.clear();
    become(instruction, Op::Constant, bits);
    instruction->fp = {};
  }

  void become(Instruction* instruction, Op op, uint64_t payload = 0) {
    instruction->op = op;
    instruction->payload = payload;
    changed_ = true;
  }

  // A constant in front of the instruction at hand.
  Instruction* constant(ir::Type type, uint64_t bits) {
    Instruction* result = function_.create(Op::Constant, type);
    result->payload = type.bits < 64 ? bits & ((uint64_t(1) << type.bits) - 1) : bits;
    block_->instructions.push_back(result);
    return result;
  }

  // A value the instruction always equals, or null; it may also change the instruction into a cheaper one.
  Instruction* equal(Instruction* instruction) {
    switch (instruction->op) {
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::UDiv:
      case Op::URem:
      case Op::And:
      case Op::Or:
      case Op::Xor:
      case Op::Not:
      case Op::Shl:
      case Op::LShr:
      case Op::AShr: return equalInteger(instruction);
      case Op::UMin: return equalMinimum(instruction);
      case Op::UMax:
      case Op::SMin:
      case Op::SMax: return instruction->operands[0] == instruction->operands[1] ? instruction->operands[0] : nullptr;
      case Op::IEq:
      case Op::INe: return equalComparison(instruction);
      case Op::Select: return equalSelect(instruction);
      case Op::ZExt:
      case Op::SExt:
      case Op::Trunc:
      case Op::Bitcast: return equalConversion(instruction);
      case Op::VecBuild:
      case Op::VecExtract: return equalVector(instruction);
      default: return nullptr;
    }
  }

  Instruction* equalInteger(Instruction* instruction) {
    Instruction* a = instruction->operands[0];
    if (instruction->op == Op::Not) return equalNot(instruction, a);
    Instruction* b = instruction->operands[1];
    bool isScalar = !instruction->type.isVector();
    switch (instruction->op) {
      case Op::Add:
        if (isZero(b)) return a;
        gatherConstants(instruction);
        return nullptr;
      case Op::Sub:
        if (isZero(b)) return a;
        if (a == b) becomeConstant(instruction, 0);
        return nullptr;
      case Op::Mul:
        if (isOne(b)) return a;
        return isZero(b) ? b : nullptr;
      case Op::UDiv:
        if (isOne(b)) return a;
        if (isPowerOfTwo(b)) {
          instruction->operands[1] = constant(ir::I32, static_cast<uint64_t>(std::countr_zero(b->payload)));
          become(instruction, Op::LShr);
        }
        return nullptr;
      case Op::URem:
        if (isPowerOfTwo(b)) {
          instruction->operands[1] = constant(instruction->type, b->payload - 1);
          become(instruction, Op::And);
        }
        return nullptr;
      case Op::And:
        if (a == b || isAllOnes(b)) return a;
        if (isZero(b)) return b;
        gatherMasks(instruction);
        return nullptr;
      case Op::Or:
        if (a == b || isZero(b)) return a;
        return isAllOnes(b) ? b : nullptr;
      case Op::Xor:
        if (isZero(b)) return a;
        if (a == b && isScalar) becomeConstant(instruction, 0);
        else if (isAllOnes(b)) becomeUnary(instruction, Op::Not, a);
        return nullptr;
      default: break;
    }
    if (isZero(b)) return a;
    if (instruction->op == Op::Shl && b->isConstant()) shiftBack(instruction, a, b->payload);
    return nullptr;
  }

  // The upper part of a word that was shifted down and cut to a narrower type, and is now shifted back.
  void shiftBack(Instruction* shift, const Instruction* narrow, uint64_t amount) {
    if (narrow->op != Op::ZExt || narrow->operands[0]->op != Op::Trunc || shift->type.isVector()) return;
    const Instruction* shifted = narrow->operands[0]->operands[0];
    if (shifted->op != Op::LShr || shifted->type != shift->type || !shifted->operands[1]->isConstant()) return;
    if (shifted->operands[1]->payload != amount) return;
    const uint64_t mask = (uint64_t(1) << narrow->operands[0]->type.bits) - 1;
    shift->operands = {shifted->operands[0], constant(shift->type, mask << amount)};
    become(shift, Op::And);
  }

  // (x + c) + d is x + (c + d): addresses are made of such sums.
  void gatherConstants(Instruction* sum) {
    const Instruction* inner = sum->operands[0];
    if (!sum->operands[1]->isConstant() || inner->op != Op::Add || !inner->operands[1]->isConstant()) return;
    sum->operands[1] = constant(sum->type, sum->operands[1]->payload + inner->operands[1]->payload);
    sum->operands[0] = inner->operands[0];
    changed_ = true;
  }

  // Likewise masks.
  void gatherMasks(Instruction* masked) {
    const Instruction* inner = masked->operands[0];
    if (!masked->operands[1]->isConstant() || inner->op != Op::And || !inner->operands[1]->isConstant()) return;
    masked->operands[1] = constant(masked->type, masked->operands[1]->payload & inner->operands[1]->payload);
    masked->operands[0] = inner->operands[0];
    changed_ = true;
  }

  // The largest number that the value may be, by the mask that it has.
  static uint64_t largest(const Instruction* value) {
    if (value->isConstant()) return value->payload;
    const bool isMasked = value->op == Op::And && value->operands[1]->isConstant();
    return isMasked ? value->operands[1]->payload : UINT64_MAX;
  }

  Instruction* equalMinimum(Instruction* instruction) {
    Instruction *a = instruction->operands[0], *b = instruction->operands[1];
    if (isZero(b)) return b;
    return a == b || (b->isConstant() && !a->type.isVector() && largest(a) <= b->payload) ? a : nullptr;
  }

  void becomeUnary(Instruction* instruction, Op op, Instruction* operand) {
    instruction->operands = {operand};
    become(instruction, op);
  }

  Instruction* equalNot(Instruction* instruction, Instruction* operand) {
    if (operand->op == Op::Not) return operand->operands[0];
    auto opposite = inverse(operand->op);
    if (!opposite || !instruction->type.isBool()) return nullptr;
    auto [op, swaps] = *opposite;
    instruction->operands = operand->operands;
    if (swaps) std::swap(instruction->operands[0], instruction->operands[1]);
    instruction->fp = operand->fp;
    become(instruction, op);
    return nullptr;
  }

  Instruction* equalComparison(Instruction* instruction) {
    Instruction *a = instruction->operands[0], *b = instruction->operands[1];
    bool isEqual = instruction->op == Op::IEq;
    if (instruction->type.isVector()) return nullptr;
    if (a == b) {
      becomeConstant(instruction, isEqual);
      return nullptr;
    }
    if (!b->isConstant()) return nullptr;
    // Booleans that went through a register: compare what they came from.
    Instruction* condition = nullptr;
    uint64_t whenTrue = 1, whenFalse = 0;
    if (a->type.isBool()) {
      condition = a;
    } else if (a->op == Op::ZExt && a->operands[0]->type.isBool()) {
      condition = a->operands[0];
    } else if (a->op == Op::Select && a->operands[1]->isConstant() && a->operands[2]->isConstant()) {
      condition = a->operands[0];
      whenTrue = a->operands[1]->payload;
      whenFalse = a->operands[2]->payload;
    } else {
      return nullptr;
    }
    bool ifTrue = (whenTrue == b->payload) == isEqual, ifFalse = (whenFalse == b->payload) == isEqual;
    if (ifTrue && !ifFalse) return condition;
    if (!ifTrue && ifFalse) becomeUnary(instruction, Op::Not, condition);
    else becomeConstant(instruction, ifTrue);
    return nullptr;
  }

  Instruction* equalSelect(Instruction* instruction) {
    auto& operands = instruction->operands;
    if (operands[0]->isConstant()) return operands[operands[0]->payload ? 1 : 2];
    if (operands[1] == operands[2]) return operands[1];
    if (operands[0]->op == Op::Not) {
      operands = {operands[0]->operands[0], operands[2], operands[1]};
      changed_ = true;
    }
    if (!instruction->type.isBool() || instruction->type.isVector()) return nullptr;
    if (!operands[1]->isConstant() || !operands[2]->isConstant()) return nullptr;
    if (operands[1]->payload == operands[2]->payload) return operands[1];
    if (operands[1]->payload) return operands[0];
    becomeUnary(instruction, Op::Not, operands[0]);
    return nullptr;
  }

  Instruction* equalConversion(Instruction* instruction) {
    Instruction* inner = instruction->operands[0];
    Op op = instruction->op;
    if (op == Op::Bitcast) {
      if (inner->type == instruction->type) return inner;
      if (inner->op != Op::Bitcast) return nullptr;
      instruction->operands[0] = inner->operands[0];
      changed_ = true;
      return instruction->operands[0]->type == instruction->type ? instruction->operands[0] : nullptr;
    }
    bool innerExtends = inner->op == Op::ZExt || inner->op == Op::SExt;
    if (op != Op::Trunc) {
      // Extending twice the same way is one extension; zeros above stay zeros when the sign is then extended.
      if (inner->op == op || (op == Op::SExt && inner->op == Op::ZExt))
        becomeConversion(instruction, inner->op, inner->operands[0]);
      return nullptr;
    }
    const bool shifts = inner->op == Op::Shl || inner->op == Op::LShr;
    if (shifts && instruction->type == ir::I32 && inner->operands[0]->op == Op::ZExt &&
        inner->operands[0]->operands[0]->type == instruction->type &&
        largest(inner->operands[1]) < instruction->type.bits) {
      // A word shifted as a wider one, by less than its width.
      instruction->operands = {inner->operands[0]->operands[0], inner->operands[1]};
      become(instruction, inner->op);
    } else if (inner->op == Op::Trunc) {
      becomeConversion(instruction, Op::Trunc, inner->operands[0]);
    } else if (innerExtends) {
      Instruction* source = inner->operands[0];
      if (source->type == instruction->type) return source;
      if (source->type.isBool() || source->type.bits < instruction->type.bits)
        becomeConversion(instruction, inner->op, source);
      else becomeConversion(instruction, Op::Trunc, source);
    }
    return nullptr;
  }

  void becomeConversion(Instruction* instruction, Op op, Instruction* source) {
    instruction->operands[0] = source;
    become(instruction, op);
  }

  Instruction* equalVector(Instruction* instruction) {
    if (instruction->op == Op::VecBuild) {
      // All lanes of one vector, in order.
      const Instruction* first = instruction->operands[0];
      if (first->op != Op::VecExtract || first->operands[0]->type != instruction->type) return nullptr;
      for (size_t i = 0; i < instruction->operands.size(); ++i) {
        const Instruction* lane = instruction->operands[i];
        if (lane->op != Op::VecExtract || lane->operands[0] != first->operands[0] || lane->payload != i) return nullptr;
      }
      return first->operands[0];
    }
    Instruction* vector = instruction->operands[0];
    while (vector->op == Op::VecInsert) {
      if (vector->payload == instruction->payload) return vector->operands[1];
      vector = vector->operands[0];
    }
    return vector->op == Op::VecBuild ? vector->operands[instruction->payload] : nullptr;
  }

  ir::Function& function_;
  Replacements replacements_;
  ir::Block* block_ = nullptr;
  bool changed_ = false;
};

}  // namespace

bool simplify(ir::Function& function) {
  bool changed = false;
  for (int round = 0; round < maxRounds; ++round) {
    bool again = Simplifier(function).run();
    again |= removeTrivialPhis(function);
    if (!again) break;
    changed = true;
  }
  return changed;
}

bool Simplify::run(ir::Function& function, PassContext&) { return simplify(function); }

}  // namespace mulciber::passes
