#include "translator/passes/lane_addresses.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <utility>

#include "translator/analyses/divergence.h"
#include "translator/analyses/integer_ranges.h"
#include "translator/ir/builder.h"

namespace mulciber::passes {
namespace {

using analyses::Divergence;
using ir::InputKind;
using ir::Instruction;
using ir::Op;

constexpr unsigned mostOperations = 96;  // that are looked at for one address
constexpr uint32_t threadBits = 1023, warpBits = threadBits & ~31u;

// A number modulo 2^32 as a value and a constant, which drivers fold into the access.
struct Sum {
  Instruction* base = nullptr;  // null: zero
  uint32_t offset = 0;
  uint32_t possible = 0;  // the bits that the base may have

  bool isApart() const { return (possible & offset) == 0; }  // adding is joining bits
};

uint32_t bitsUpTo(uint64_t largest) {
  return largest > UINT32_MAX ? ~0u : largest == 0 ? 0 : ~0u >> std::countl_zero(static_cast<uint32_t>(largest));
}
uint32_t withoutLow(uint32_t bits, int zeros) { return zeros >= 32 ? 0 : bits & ~0u << zeros; }

// Values as the lane that `lane` says has them, or as the thread itself has them. What is the same in all lanes of the
// warp is taken as it is.
class LaneValues {
 public:
  LaneValues(ir::Builder& builder, const Divergence& divergence, analyses::IntegerRanges& ranges,
             std::optional<Sum> lane = {})
      : b(builder), divergence_(divergence), ranges_(ranges), lane_(lane) {}

  // Nothing where the lane would have to ask others, or took too long.
  std::optional<Sum> find(Instruction* value) {
    if (auto known = known_.find(value); known != known_.end()) return known->second;
    if (++operations_ > mostOperations) return std::nullopt;
    return known_[value] = evaluate(value);
  }

  Instruction* whole(const Sum& sum) {
    if (!sum.base) return b.i32(sum.offset);
    return sum.offset == 0 ? sum.base : b.add(sum.base, b.i32(sum.offset));
  }

 private:
  std::optional<Sum> evaluate(Instruction* value) {
    if (value->isConstant() && value->type.isInt()) return Sum{nullptr, static_cast<uint32_t>(value->payload), 0};
    if (value->op == Op::Input) return ofInput(value);
    if (!divergence_.differs(*value)) return ofUniform(value);
    if (!ir::isPure(value->op) || value->type.isVector()) return std::nullopt;
    const auto& x = value->operands;
    const std::optional<uint32_t> constant =
        x.size() == 2 && x[1]->isConstant() ? std::optional(static_cast<uint32_t>(x[1]->payload)) : std::nullopt;
    switch (value->op) {
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Or:
      case Op::Xor: return ofTwo(value->op, x[0], x[1]);
      case Op::And: return constant ? masked(find(x[0]), *constant) : ofTwo(Op::And, x[0], x[1]);
      case Op::Shl: return constant && *constant < 32 ? shifted(find(x[0]), *constant) : cloned(*value);
      case Op::LShr: return constant && value->type == ir::I32 ? dropped(find(x[0]), *constant) : cloned(*value);
      case Op::AShr: return constant && value->type == ir::I32 ? ofSigned(*value, *constant) : cloned(*value);
      case Op::BitInsert: return inserted(*value);
      case Op::ZExt:
      case Op::SExt:
      case Op::Trunc:
        if (x[0]->type == ir::I32 || x[0]->type == ir::I64) return find(x[0]);
        return std::nullopt;
      default: return cloned(*value);
    }
  }

  std::optional<Sum> ofInput(Instruction* input) {
    const auto kind = static_cast<InputKind>(input->payload);
    if (kind != InputKind::LocalIndex && kind != InputKind::ThreadIdX) return ofUniform(input);
    if (!lane_) return Sum{input, 0, threadBits};
    Instruction* warp = b.bitAnd(input, b.i32(~31u));
    return Sum{lane_->base ? b.add(warp, lane_->base) : warp, lane_->offset, warpBits | lane_->possible};
  }

  std::optional<Sum> ofUniform(Instruction* value) {
    if (value->type != ir::I32 && value->type != ir::I64) return std::nullopt;
    uint32_t offset = 0;
    for (; value->op == Op::Add && value->operands[1]->isConstant(); value = value->operands[0])
      offset += static_cast<uint32_t>(value->operands[1]->payload);
    const uint32_t possible = bitsUpTo(ranges_.largest(value));
    return Sum{value->type == ir::I64 ? b.convert(Op::Trunc, ir::I32, value) : value, offset, possible};
  }

  std::optional<Sum> ofTwo(Op op, Instruction* left, Instruction* right) {
    std::optional<Sum> x = find(left), y = find(right);
    if (!x || !y) return std::nullopt;
    switch (op) {
      case Op::Add: return added(*x, *y);
      case Op::Sub: {
        Instruction* base = !y->base ? x->base : !x->base ? b.unary(Op::Neg, y->base) : b.sub(x->base, y->base);
        return Sum{base, x->offset - y->offset, y->base ? ~0u : x->possible};
      }
      case Op::Mul:
        if (!x->base) std::swap(x, y);
        return y->base ? Sum{b.mul(whole(*x), whole(*y)), 0, ~0u} : multiplied(*x, y->offset);
      default: break;
    }
    if (x->isApart() && y->isApart()) {
      const bool areApart = ((x->possible | x->offset) & (y->possible | y->offset)) == 0;
      if (op != Op::And && areApart) return added(*x, *y);
      if (op == Op::Xor) return exclusive(*x, *y);
    }
    return Sum{b.binary(op, whole(*x), whole(*y)), 0, ~0u};
  }

  Sum added(const Sum& x, const Sum& y) {
    Instruction* base = !x.base ? y.base : !y.base ? x.base : b.add(x.base, y.base);
    uint32_t possible = x.possible | y.possible;
    if (x.possible & y.possible)
      possible = withoutLow(bitsUpTo(uint64_t{x.possible} + y.possible), std::countr_zero(possible));
    return {base, x.offset + y.offset, possible};
  }

  Sum multiplied(const Sum& x, uint32_t factor) {
    if (factor == 0 || !x.base) return {nullptr, x.offset * factor, 0};
    const int zeros = std::countr_zero(x.possible) + std::countr_zero(factor);
    return {b.mul(x.base, b.i32(factor)), x.offset * factor,
            withoutLow(bitsUpTo(uint64_t{x.possible} * factor), zeros)};
  }

  // Of two that are each apart. Bits of the constants that no base has stay constants.
  Sum exclusive(const Sum& x, const Sum& y) {
    const uint32_t possible = x.possible | y.possible, offset = x.offset ^ y.offset;
    Instruction* base = !x.base ? y.base : !y.base ? x.base : b.bitXor(x.base, y.base);
    if (base && (offset & possible)) base = b.bitXor(base, b.i32(offset & possible));
    return {base, offset & ~possible, possible};
  }

  std::optional<Sum> shifted(std::optional<Sum> x, uint32_t amount) {
    if (!x) return std::nullopt;
    return Sum{x->base ? b.shl(x->base, b.i32(amount)) : nullptr, x->offset << amount, x->possible << amount};
  }

  std::optional<Sum> dropped(std::optional<Sum> x, uint32_t amount) {
    if (!x || amount >= 32) return std::nullopt;
    if (!x->isApart()) return Sum{b.lshr(whole(*x), b.i32(amount)), 0, ~0u >> amount};
    const uint32_t possible = x->possible >> amount;
    return Sum{possible ? b.lshr(x->base, b.i32(amount)) : nullptr, x->offset >> amount, possible};
  }

  std::optional<Sum> ofSigned(Instruction& shift, uint32_t amount) {
    const std::optional<Sum> x = find(shift.operands[0]);
    const bool isPositive = x && x->isApart() && (x->possible | x->offset) >> 31 == 0;
    return isPositive ? dropped(x, amount) : cloned(shift);
  }

  std::optional<Sum> masked(std::optional<Sum> x, uint32_t mask) {
    if (!x) return std::nullopt;
    const uint32_t possible = x->possible & mask;
    auto base = [&]() -> Instruction* {
      if (possible == 0) return nullptr;
      return possible == x->possible ? x->base : b.bitAnd(x->base, b.i32(mask));
    };
    if (x->isApart()) return Sum{base(), x->offset & mask, possible};
    // A mask of the upper bits lets a multiple of its lowest bit through.
    const bool isOfUpperBits = (mask | (mask - 1)) == ~0u;
    if (isOfUpperBits && mask != 0 && x->offset % (mask & -mask) == 0) return Sum{base(), x->offset, possible};
    return Sum{b.bitAnd(whole(*x), b.i32(mask)), 0, mask};
  }

  std::optional<Sum> inserted(Instruction& insert) {
    const auto& x = insert.operands;
    if (!x[2]->isConstant() || !x[3]->isConstant() || x[3]->payload == 0) return cloned(insert);
    const auto offset = static_cast<uint32_t>(x[2]->payload), count = static_cast<uint32_t>(x[3]->payload);
    if (x[2]->payload + x[3]->payload > 32) return cloned(insert);  // beyond the lower word of an i64
    const uint32_t mask = ~0u >> (32 - count) << offset;
    const std::optional<Sum> kept = masked(find(x[0]), ~mask), field = masked(shifted(find(x[1]), offset), mask);
    if (!kept || !field) return std::nullopt;
    return added(*kept, *field);  // they have no bit in common
  }

  std::optional<Sum> cloned(Instruction& value) {
    if (value.type != ir::I32 || !isOfWords(value)) return std::nullopt;
    Instruction* result = clone(value);
    return result ? std::optional(Sum{result, 0, ~0u}) : std::nullopt;
  }

  // Anything else that is computed from words and conditions.
  static bool isOfWords(const Instruction& value) {
    if (value.op == Op::Undef) return false;
    for (const Instruction* operand : value.operands)
      if (operand->type != ir::I32 && !operand->type.isBool()) return false;
    return true;
  }

  Instruction* clone(const Instruction& value) {
    std::vector<Instruction*> operands;
    for (Instruction* operand : value.operands) {
      Instruction* same = operand->type.isBool() ? condition(operand) : word(operand);
      if (!same) return nullptr;
      operands.push_back(same);
    }
    Instruction* copy = b.function().clone(value);
    copy->operands = std::move(operands);
    b.block()->instructions.push_back(copy);
    return copy;
  }

  Instruction* word(Instruction* value) {
    const std::optional<Sum> sum = find(value);
    return sum ? whole(*sum) : nullptr;
  }

  Instruction* condition(Instruction* value) {
    if (value->isConstant() || !divergence_.differs(*value)) return value;
    if (++operations_ > mostOperations || !ir::isPure(value->op) || !isOfWords(*value)) return nullptr;
    return clone(*value);
  }

  ir::Builder& b;
  const Divergence& divergence_;
  analyses::IntegerRanges& ranges_;
  std::optional<Sum> lane_;
  unsigned operations_ = 0;
  std::unordered_map<const Instruction*, std::optional<Sum>> known_;
};

// The shuffle in a sum or a mask; null where there is none.
const Instruction* shuffleIn(const Instruction& address) {
  if (address.op == Op::Shuffle) return &address;
  if (address.op != Op::Add && address.op != Op::And) return nullptr;
  for (const Instruction* operand : address.operands)
    if (const Instruction* found = shuffleIn(*operand)) return found;
  return nullptr;
}

bool isOfOtherLane(const Instruction& access) {
  return ir::hasAddress(access.op) && access.memory.space == ir::Space::Shared && access.operands[0]->type == ir::I32 &&
         shuffleIn(*access.operands[0]);
}

class Rewriter {
 public:
  explicit Rewriter(ir::Function& function) : function_(function), divergence_(function, Divergence::Among::Warp) {}

  bool run() {
    bool changed = false;
    for (ir::Block* block : function_.blocks) {
      const std::vector<Instruction*> original = std::exchange(block->instructions, {});
      ir::Builder b(function_, block);
      for (Instruction* instruction : original) {
        if (isOfOtherLane(*instruction)) changed |= rewrite(b, *instruction);
        block->instructions.push_back(instruction);
      }
    }
    return changed;
  }

 private:
  bool rewrite(ir::Builder& b, Instruction& access) {
    b.setSource(access.source);
    const std::optional<Sum> sum = addressOf(b, access.operands[0]);
    if (!sum) return false;
    access.operands[0] = sum->base ? b.add(sum->base, b.i32(sum->offset)) : b.i32(sum->offset);
    return true;
  }

  // Sums and masks of a shuffle: of them constants are brought to the end.
  std::optional<Sum> addressOf(ir::Builder& b, Instruction* value) {
    if (!shuffleIn(*value)) return Sum{value, 0, ~0u};
    if (value->op == Op::Shuffle) return ofShuffle(b, *value);
    const std::optional<Sum> x = addressOf(b, value->operands[0]);
    if (value->op == Op::Add) {
      const std::optional<Sum> y = addressOf(b, value->operands[1]);
      if (!x || !y) return std::nullopt;
      return Sum{b.add(x->base, y->base), x->offset + y->offset, ~0u};
    }
    const Instruction* mask = value->operands[1];
    if (!x || !mask->isConstant()) return std::nullopt;
    const auto bits = static_cast<uint32_t>(mask->payload);
    const bool isOfUpperBits = bits != 0 && (bits | (bits - 1)) == ~0u;
    if (!isOfUpperBits || x->offset % (bits & -bits) != 0) return std::nullopt;
    return Sum{b.bitAnd(x->base, b.i32(bits)), x->offset, ~0u};
  }

  std::optional<Sum> ofShuffle(ir::Builder& b, Instruction& shuffle) {
    const std::optional<Sum> lane = LaneValues(b, divergence_, ranges_).find(shuffle.operands[1]);
    if (!lane || !lane->isApart() || (lane->possible | lane->offset) > 31) return std::nullopt;
    std::optional<Sum> sum = LaneValues(b, divergence_, ranges_, lane).find(shuffle.operands[0]);
    if (!sum) return std::nullopt;
    Instruction* computed = sum->base ? sum->base : b.i32(0);
    Instruction* asked = b.sub(&shuffle, b.i32(sum->offset));
    return Sum{b.select(areRowsOfWarps(b), computed, asked), sum->offset, ~0u};
  }

  // Whether the threads of a warp differ in x alone, from a multiple of 32 on. Drivers know how large blocks are.
  static Instruction* areRowsOfWarps(ir::Builder& b) {
    auto is = [&](Instruction* value, uint32_t number) { return b.compare(Op::IEq, value, b.i32(number)); };
    Instruction* isFlat = is(b.input(InputKind::BlockDimY), 1);
    Instruction* isThin = is(b.input(InputKind::BlockDimZ), 1);
    Instruction* isWide = is(b.bitAnd(b.input(InputKind::BlockDimX), b.i32(31)), 0);
    return b.bitOr(b.bitAnd(isFlat, isThin), isWide);
  }

  ir::Function& function_;
  Divergence divergence_;
  analyses::IntegerRanges ranges_;
};

}  // namespace

bool computeLaneAddresses(ir::Function& function) {
  const bool isNeeded = std::ranges::any_of(function.blocks, [](const ir::Block* block) {
    return std::ranges::any_of(block->instructions, [](const Instruction* i) { return isOfOtherLane(*i); });
  });
  return isNeeded && Rewriter(function).run();
}

bool LaneAddresses::run(ir::Function& function, PassContext&) { return computeLaneAddresses(function); }

}  // namespace mulciber::passes
