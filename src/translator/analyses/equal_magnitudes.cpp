#include "translator/analyses/equal_magnitudes.h"

#include <algorithm>

#include "translator/ir/float_bits.h"

namespace mulciber::analyses {
namespace {

using ir::Instruction;
using ir::Op;

constexpr size_t mostParts = 8;
constexpr uint64_t kindOfSum = uint64_t(1) << 32;  // no operation has that number

bool isCommutative(Op op) {
  switch (op) {
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Mul:
    case Op::FAdd:
    case Op::FMul:
    case Op::Fma:  // of its factors
    case Op::FMin:
    case Op::FMax: return true;
    default: return false;
  }
}

bool isWord(ir::Type type) { return !type.isVector() && type.isInt() && type.bits >= 32; }

}  // namespace

EqualMagnitudes::EqualMagnitudes(const ir::Function& function, const KnownValues& known)
    : known_(known), names_(function.instructionIdBound()), wholes_(function.instructionIdBound()) {
  nameWhatIsInNoBlock(function);
  for (const ir::Block* block : function.blocks)
    for (const Instruction* i : block->instructions) {
      if (i->op == Op::Store) {
        stored_[placeOf(*i, i->operands[1]->type)] = names_[i->operands[1]->id];
      } else if (!i->type.isVoid()) {
        names_[i->id] = nameOf(*i);
        wholes_[i->id] = wholeOf(*i);
      }
    }
}

// What passes have hidden, and not inserted yet.
void EqualMagnitudes::nameWhatIsInNoBlock(const ir::Function& function) {
  std::vector<bool> isInBlock(names_.size());
  for (const ir::Block* block : function.blocks)
    for (const Instruction* i : block->instructions) isInBlock[i->id] = true;
  for (const ir::Block* block : function.blocks)
    for (const Instruction* i : block->instructions)
      for (const Instruction* operand : i->operands)
        if (!isInBlock[operand->id] && names_[operand->id] == 0) names_[operand->id] = wholes_[operand->id] = next_++;
}

uint32_t EqualMagnitudes::nameOfKey(Key key) {
  uint32_t& name = named_[std::move(key)];
  if (name == 0) name = next_++;
  return name;
}

uint32_t EqualMagnitudes::nameOf(const Instruction& i) {
  Sum sum;
  if (isSum(i, sum)) return nameOfSum(sum, i.type.bits);
  switch (i.op) {
    case Op::FNeg:
    case Op::FAbs:
    case Op::Shuffle: return names_[i.operands[0]->id];
    case Op::Bitcast: return (i.type.isFloat() ? wholes_ : names_)[i.operands[0]->id];
    case Op::Select: return nameOfChoice(i, 1);
    case Op::Phi: return nameOfChoice(i, 0);
    case Op::Load: return nameOfLoad(i);
    case Op::FAdd:
    case Op::FSub: return nameOfFloatSum(i);
    default: return ir::isPure(i.op) && i.op != Op::Undef ? nameOfOperation(i) : next_++;
  }
}

// A phi's operand without a name is made in the loop that the phi begins.
uint32_t EqualMagnitudes::nameOfChoice(const Instruction& i, size_t first) {
  uint32_t name = 0;
  bool isOne = true;
  for (size_t n = first; n < i.operands.size(); ++n) {
    if (i.operands[n] == &i) continue;
    const uint32_t other = names_[i.operands[n]->id];
    isOne &= other != 0 && (name == 0 || name == other);
    name = other;
  }
  if (isOne && name != 0) return name;
  return i.op == Op::Select ? nameOfOperation(i) : next_++;
}

uint32_t EqualMagnitudes::nameOfLoad(const Instruction& i) {
  uint32_t& name = stored_[placeOf(i, i.type)];
  if (name == 0) name = next_++;
  return name;
}

EqualMagnitudes::Key EqualMagnitudes::placeOf(const Instruction& access, ir::Type type) const {
  return {static_cast<uint64_t>(access.memory.space), type.totalBits(), names_[access.operands[0]->id]};
}

uint32_t EqualMagnitudes::wholeOf(const Instruction& i) const {
  switch (i.op) {
    case Op::Bitcast: return names_[i.operands[0]->id];
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Shl:
    case Op::LShr: break;
    default: return names_[i.id];
  }
  const Instruction *x = i.operands[0], *y = i.operands[1];
  if (y->isConstant()) return wholes_[x->id];
  if (x->isConstant()) return wholes_[y->id];
  const bool isShift = i.op == Op::Shl || i.op == Op::LShr;
  return !isShift && wholes_[x->id] == wholes_[y->id] ? wholes_[x->id] : names_[i.id];
}

EqualMagnitudes::Sum EqualMagnitudes::partsOf(const Instruction* value) const {
  if (value->isConstant()) return {value->payload, {}};
  const uint32_t name = names_[value->id];
  const auto found = sums_.find(name);
  return found != sums_.end() ? found->second : Sum{0, {{name, 1}}};
}

bool EqualMagnitudes::isSum(const Instruction& i, Sum& sum) const {
  if (!isWord(i.type)) return false;
  const auto add = [&](const Instruction* value, uint64_t times) {
    const Sum parts = partsOf(value);
    sum.constant += parts.constant * times;
    for (const auto& [name, factor] : parts.parts) sum.parts[name] += factor * times;
  };
  switch (i.op) {
    case Op::Add:
    case Op::Sub:
      add(i.operands[0], 1);
      add(i.operands[1], i.op == Op::Add ? 1 : ~uint64_t(0));
      break;
    case Op::Neg: add(i.operands[0], ~uint64_t(0)); break;
    case Op::Mul:
    case Op::Shl: {
      const bool isSecond = i.operands[1]->isConstant();
      if (!isSecond && (i.op == Op::Shl || !i.operands[0]->isConstant())) return false;
      const uint64_t payload = i.operands[isSecond ? 1 : 0]->payload;
      add(i.operands[isSecond ? 0 : 1], i.op == Op::Mul ? payload : uint64_t(1) << (payload & 63));
      break;
    }
    default: return false;
  }
  return sum.parts.size() <= mostParts;
}

uint32_t EqualMagnitudes::nameOfSum(const Sum& sum, unsigned bits) {
  const uint64_t mask = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  Sum kept{sum.constant & mask, {}};
  Key key{kindOfSum, bits, kept.constant};
  for (const auto& [name, factor] : sum.parts)
    if ((factor & mask) != 0) {
      kept.parts[name] = factor & mask;
      key.insert(key.end(), {name, factor & mask});
    }
  if (kept.constant == 0 && kept.parts.size() == 1 && kept.parts.begin()->second == 1) return kept.parts.begin()->first;
  const uint32_t name = nameOfKey(std::move(key));
  sums_[name] = std::move(kept);
  return name;
}

// With zero, or a number that the driver may know for zero, it is the other number.
uint32_t EqualMagnitudes::nameOfFloatSum(const Instruction& i) {
  for (const size_t n : {0, 1}) {
    const Instruction* added = i.operands[n];
    const bool mayBeZero =
        added->isConstant() ? (added->payload & (signBit(added->type) - 1)) == 0 : known_.mayBeKnown(added);
    if (mayBeZero && !i.type.isVector()) return names_[i.operands[1 - n]->id];
  }
  return nameOfOperation(i);
}

uint32_t EqualMagnitudes::nameOfOperation(const Instruction& i) {
  uint64_t payload = i.payload;
  if (i.isConstant() && i.type.isFloat() && !i.type.isVector()) payload &= signBit(i.type) - 1;
  if (i.isConstant() && isWord(i.type)) return nameOfSum({payload, {}}, i.type.bits);
  Key key{static_cast<uint64_t>(i.op), i.type.totalBits(), payload};
  for (const Instruction* operand : i.operands) key.push_back(names_[operand->id]);
  if (isCommutative(i.op) && key[3] > key[4]) std::swap(key[3], key[4]);
  return nameOfKey(std::move(key));
}

}  // namespace mulciber::analyses
