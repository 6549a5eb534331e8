#include "translator/passes/byte_swaps.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

// Where a byte of a value comes from: byte `index` of the value with that id, or zero.
class Byte {
 public:
  Byte() = default;
  Byte(const Instruction* value, unsigned index) : place_((value->id + 1) * 8 + index) {}
  bool isZero() const { return place_ == 0; }
  unsigned index() const { return place_ % 8; }
  bool isOfSameValue(const Byte& other) const { return place_ / 8 == other.place_ / 8; }

 private:
  uint32_t place_ = 0;
};
using Bytes = std::array<Byte, 8>;  // those of the value's width

bool isInteger(const Instruction* value) { return value->type.isInt() && !value->type.isVector(); }
bool joins(const Instruction& i) { return i.op == Op::Or || i.op == Op::Xor || i.op == Op::Add; }

bool movesBytes(const Instruction& i) {
  switch (i.op) {
    case Op::And:
    case Op::Shl:
    case Op::LShr:
    case Op::BitExtractU:
    case Op::ZExt:
    case Op::Trunc: return true;
    default: return joins(i);
  }
}

// Where the bytes of each number come from: from the values that the first of the joins and shifts took, or from the
// last join before that has several uses. The driver looks at both.
class Origins {
 public:
  enum class Depth { First, LastShared };
  Origins(const ir::Function& function, Depth depth)
      : depth_(depth), bytes_(function.instructionIdBound()), isKnown_(bytes_.size()) {
    if (depth == Depth::First) return;
    uses_.resize(function.instructionIdBound());
    for (const ir::Block* block : function.blocks)
      for (const Instruction* i : block->instructions)
        for (const Instruction* operand : i->operands) ++uses_[operand->id];
  }

  // In the order of the blocks: a number that is used before is a value of its own.
  void add(const Instruction& i) {
    if (!isInteger(&i) || !movesBytes(i)) return;
    bytes_[i.id] = bytesOf(i);
    isKnown_[i.id] = true;
  }
  Bytes of(const Instruction* value) const {
    if (isInteger(value) && value->isConstant()) return bytesOf(*value);
    const bool isShared = depth_ == Depth::LastShared && joins(*value) && uses_[value->id] > 1;
    return isKnown_[value->id] && !isShared ? bytes_[value->id] : own(value);
  }

 private:
  static Bytes own(const Instruction* value) {
    Bytes bytes;
    for (unsigned k = 0; k < std::max(value->type.bits / 8u, 1u); ++k) bytes[k] = Byte{value, k};
    return bytes;
  }
  Bytes bytesOf(const Instruction& i) const;

  Depth depth_;
  std::vector<Bytes> bytes_;  // by id
  std::vector<bool> isKnown_;
  std::vector<uint32_t> uses_;
};

Bytes Origins::bytesOf(const Instruction& i) const {
  const unsigned count = i.type.bits / 8u;
  const Bytes itself = own(&i);
  const auto operand = [&](size_t n) { return of(i.operands[n]); };
  const auto constant = [&](size_t n) -> std::optional<uint64_t> {
    if (!i.operands[n]->isConstant()) return std::nullopt;
    return i.operands[n]->payload;
  };
  Bytes bytes;
  switch (i.op) {
    case Op::Constant:
      for (unsigned k = 0; k < count; ++k)
        if ((i.payload >> 8 * k & 0xFF) != 0) bytes[k] = itself[k];
      return bytes;
    case Op::Or:
    case Op::Xor:
    case Op::Add: {
      const Bytes first = operand(0), second = operand(1);
      bool mayCarry = false;
      for (unsigned k = 0; k < count; ++k) {
        const bool meet = !first[k].isZero() && !second[k].isZero();
        bytes[k] = meet || mayCarry ? itself[k] : first[k].isZero() ? second[k] : first[k];
        mayCarry |= meet && i.op == Op::Add;
      }
      return bytes;
    }
    case Op::And: {
      const size_t at = constant(0) ? 0 : 1;
      const auto mask = constant(at);
      if (!mask) return itself;
      const Bytes all = operand(1 - at);
      for (unsigned k = 0; k < count; ++k) {
        const uint64_t kept = *mask >> 8 * k & 0xFF;
        if (kept != 0) bytes[k] = kept == 0xFF ? all[k] : itself[k];
      }
      return bytes;
    }
    case Op::Shl:
    case Op::LShr: {
      const auto distance = constant(1);
      if (!distance || *distance % 8 != 0) return itself;
      const Bytes all = operand(0);
      const auto by = static_cast<unsigned>(*distance / 8);
      for (unsigned k = by; k < count; ++k) {
        if (i.op == Op::Shl) bytes[k] = all[k - by];
        else bytes[k - by] = all[k];
      }
      return bytes;
    }
    case Op::BitExtractU: {
      const auto first = constant(1), length = constant(2);
      if (!first || !length || *first % 8 != 0 || *length % 8 != 0) return itself;
      const Bytes all = operand(0);
      for (size_t k = 0; k < *length / 8; ++k) bytes[k] = all[k + *first / 8];
      return bytes;
    }
    case Op::ZExt: return i.operands[0]->type.isBool() ? itself : operand(0);
    case Op::Trunc: {
      const Bytes all = operand(0);
      std::copy_n(all.begin(), count, bytes.begin());
      return bytes;
    }
    default: return itself;
  }
}

// Whether the lower two bytes of the sum are adjacent ones of one value, each from the other's place, and one of each
// operand.
bool swapsLowest(const Bytes& first, const Bytes& second) {
  const auto meet = [](const Bytes& low, const Bytes& high) {
    return !low[0].isZero() && low[0].isOfSameValue(high[1]) && low[0].index() == high[1].index() + 1 &&
           low[1].isZero() && high[0].isZero();
  };
  return meet(first, second) || meet(second, first);
}

// A value with where its bytes come from.
struct Operand {
  explicit Operand(const Instruction* value, const Origins& origins)
      : bytes(origins.of(value)), isOnePiece(!joins(*value)) {}

  // Whether the byte may belong to the lowest `count` bytes of one value in the opposite order. What one operation
  // moves belongs there as a whole or not at all: of a rotation it is more than such a byte.
  bool mayReverse(unsigned place, unsigned count) const {
    if (!isReversed(place, count)) return false;
    for (unsigned k = 0; isOnePiece && k < bytes.size(); ++k)
      if (!bytes[k].isZero() && !isReversed(k, count)) return false;
    return true;
  }
  bool isReversed(unsigned place, unsigned count) const {
    return !bytes[place].isZero() && bytes[place].index() + place == count - 1;
  }

  Bytes bytes;
  bool isOnePiece;
};

// Whether each operand has such a byte where the other one has none.
bool reverses(const Operand& first, const Operand& second, unsigned count) {
  for (unsigned k = 0; k < count; ++k)
    for (unsigned n = 0; n < count && first.mayReverse(k, count); ++n)
      if (second.mayReverse(n, count) && first.bytes[k].isOfSameValue(second.bytes[n]) && second.bytes[k].isZero() &&
          first.bytes[n].isZero())
        return true;
  return false;
}

bool swaps(const Instruction& i, const Origins& origins) {
  const Operand first(i.operands[0], origins), second(i.operands[1], origins);
  return swapsLowest(first.bytes, second.bytes) || (i.type.bits >= 32 && reverses(first, second, 4)) ||
         (i.type.bits == 64 && reverses(first, second, 6));
}

// The bits of a value that a mask has, which has all: a driver cannot know it. It would take an xor out of a sum of
// bytes, and a mask that two of them have in common, so each of a few that follow each other has one of its own.
Instruction* kept(Instruction* value, HiddenValues& hidden, unsigned number) {
  ir::Builder b = hidden.after(value);
  Instruction* zero = hidden.zero(number % 8, value->type.bits);
  return b.bitAnd(value, b.bitNot(zero));
}

}  // namespace

bool hideSwappedBytes(ir::Function& function) {
  Origins first(function, Origins::Depth::First), last(function, Origins::Depth::LastShared);
  HiddenValues hidden(function);
  unsigned swapCount = 0;
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) {
      first.add(*i);
      last.add(*i);
      if (joins(*i) && isInteger(i) && i->type.bits >= 16 && (swaps(*i, first) || swaps(*i, last)))
        i->operands[1] = kept(i->operands[1], hidden, swapCount++);
    }
  return hidden.apply();
}

bool ByteSwaps::run(ir::Function& function, PassContext& context) {
  return context.profile.losesSwappedBytes && hideSwappedBytes(function);
}

}  // namespace mulciber::passes
