// SIMD video instructions: scalar ones on a selected part of a register, and those on two halves or four bytes. GPUs no
// longer have most of them: where the results differ from the manual they are those of the assembler's emulation.
#include <algorithm>
#include <cstdlib>

#include "interpreter/instructions/families.h"
#include "interpreter/instructions/typed.h"

namespace mulciber::interpreter {
namespace {

enum Operation : uint8_t { kAdd, kSub, kAbsDiff, kAverage, kMin, kMax, kSet, kShl, kShr };
// What becomes of the result, in op.count.
enum Second : uint8_t { kNone, kAccumulate, kMinimum, kMaximum, kMerge };

// Where an operand's selectors are in op.immediate: one for the destination, then those of the sources.
constexpr unsigned kSelectorBits = 16;
uint64_t selectorOf(const Op& op, unsigned operand) { return op.immediate >> operand * kSelectorBits & 0xFFFF; }

// Of a scalar instruction: the first bit of the part, and above it how many there are.
uint64_t partNamed(const std::string& selector) {
  if (selector.size() != 3) return 0 | 32 << 8;
  const unsigned bits = selector[1] == 'b' ? 8 : 16;
  return static_cast<unsigned>(selector[2] - '0') * bits | bits << 8;
}
unsigned bitsOfPart(uint64_t part) { return static_cast<unsigned>(part >> 8); }

int64_t part(uint64_t value, uint64_t selector, bool isSigned) {
  const unsigned bits = bitsOfPart(selector);
  const uint64_t taken = value >> (selector & 0xFF) & ((uint64_t(1) << bits) - 1);
  return isSigned && taken >> (bits - 1) ? static_cast<int64_t>(taken) - (int64_t(1) << bits)
                                         : static_cast<int64_t>(taken);
}

int64_t clamped(int64_t value, bool isSigned, unsigned bits) {
  const int64_t high = (int64_t(1) << (isSigned ? bits - 1 : bits)) - 1;
  return std::clamp<int64_t>(value, isSigned ? -high - 1 : 0, high);
}

bool holds(Compare compare, int64_t x, int64_t y) {
  switch (compare) {
    case Compare::Eq: return x == y;
    case Compare::Ne: return x != y;
    case Compare::Lt: return x < y;
    case Compare::Le: return x <= y;
    case Compare::Gt: return x > y;
    default: return x >= y;
  }
}

int64_t compute(const Op& op, int64_t x, int64_t y) {
  switch (op.mode) {
    case kAdd: return x + y;
    case kSub: return x - y;
    case kAbsDiff: return std::abs(x - y);
    case kAverage: return (x + y + (x + y >= 0)) >> 1;
    case kMin: return std::min(x, y);
    case kMax: return std::max(x, y);
    default: return holds(op.compare, x, y);
  }
}

bool isSource(const Op& op, unsigned operand) {
  return isSigned(op.source->types[operand - (op.mode == kSet ? 1 : 0)]);
}

// The emulation keeps 34 bits, and saturates the whole register.
int64_t shifted(const Op& op, int64_t x, int64_t amount) {
  const auto wanted = static_cast<uint32_t>(amount);
  const uint32_t count = op.relu ? wanted & 31 : std::min<uint32_t>(wanted, 32);
  const int64_t made = op.mode == kShr ? x >> count : static_cast<int64_t>(static_cast<uint64_t>(x) << count);
  if (!op.sat) return made;
  return clamped(static_cast<int64_t>(static_cast<uint64_t>(made) << 30) >> 30, isSigned(op.type), 32);
}

// Negative numbers count as large in a part; of a whole unsigned register what is too large wraps.
int64_t saturated(const Op& op, int64_t value) {
  const unsigned bits = bitsOfPart(selectorOf(op, 0));
  const bool sign = isSigned(op.type);
  if (bits < 32)
    return static_cast<int64_t>(std::min(static_cast<uint64_t>(value), (uint64_t(1) << (sign ? bits - 1 : bits)) - 1));
  return sign ? clamped(value, true, 32) : std::max<int64_t>(value, 0);
}

void scalar(Thread& t, const Op& op) {
  const int64_t x = part(t.registers[op.a], selectorOf(op, 1), isSource(op, 1));
  const int64_t y = part(t.registers[op.b], selectorOf(op, 2), isSource(op, 2));
  const bool isShift = op.mode == kShl || op.mode == kShr, sign = isSigned(op.type);
  int64_t result = isShift ? shifted(op, x, y) : compute(op, x, y);
  if (op.sat && !isShift) result = saturated(op, result);
  const auto c = get<uint32_t>(t, op.c);
  switch (op.count) {
    case kAccumulate: result = static_cast<int64_t>(static_cast<uint64_t>(result) + c); break;
    case kMinimum:
    case kMaximum: {
      if (op.mode == kAdd || op.mode == kSub || (isShift && op.sat)) result = static_cast<int32_t>(result);
      const int64_t other = sign ? static_cast<int32_t>(c) : static_cast<int64_t>(c);
      const bool isLess = sign ? result < other : static_cast<uint64_t>(result) < static_cast<uint64_t>(other);
      result = isLess == (op.count == kMinimum) ? result : other;
      break;
    }
    case kMerge: {
      const uint64_t where = selectorOf(op, 0), first = where & 0xFF, bits = bitsOfPart(where);
      if (bits == 32) break;
      // .h1 takes the upper half.
      const uint64_t value = static_cast<uint32_t>(result) >> (bits == 16 && first == 16 ? 16 : 0);
      const uint64_t mask = ((uint64_t(1) << bits) - 1) << first;
      result = static_cast<int64_t>((c & ~mask) | (value << first & mask));
      break;
    }
    default: break;
  }
  t.registers[op.d] = static_cast<uint32_t>(result);
}

// a * b + c in 64 bits, all three signed whatever their types; negation is complement and one more.
void vmad(Thread& t, const Op& op) {
  const Instruction& i = *op.source;
  auto factor = [&](uint32_t place, unsigned operand) {
    return int64_t(static_cast<int32_t>(part(t.registers[place], selectorOf(op, operand), isSigned(i.types[operand]))));
  };
  int64_t product = factor(op.a, 1) * factor(op.b, 2);
  int64_t c = get<int32_t>(t, op.c);
  const bool negatesProduct = i.operands[1].isMinus != i.operands[2].isMinus, negatesThird = i.operands[3].isMinus;
  const bool sign = isSigned(i.types[1]) || isSigned(i.types[2]) || negatesProduct || negatesThird;
  if (negatesProduct) product = ~product;
  else if (negatesThird) c = ~c;
  auto sum = static_cast<int64_t>(static_cast<uint64_t>(product) + static_cast<uint64_t>(c));
  if (negatesProduct || negatesThird || op.nan) sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + 1);
  sum = sign ? sum >> op.count : static_cast<int64_t>(static_cast<uint64_t>(sum) >> op.count);
  if (op.sat) sum = clamped(sum, sign, 32);
  t.registers[op.d] = static_cast<uint32_t>(sum);
}

// Each lane of a source is any of the lanes of both registers.
template <unsigned kLanes>
void simd(Thread& t, const Op& op) {
  constexpr unsigned kBits = 32 / kLanes;
  constexpr uint64_t kMask = (1u << kBits) - 1;
  const uint64_t both = get<uint32_t>(t, op.a) | t.registers[op.b] << 32;
  auto lane = [&](unsigned operand, unsigned i) {
    const uint64_t from = selectorOf(op, operand) >> 4 * i & 15;
    return part(both, from * kBits | kBits << 8, isSource(op, operand));
  };
  const auto c = get<uint32_t>(t, op.c);
  uint32_t made = 0;
  uint64_t sum = c;  // of the lanes as they are, not cut to their width
  for (unsigned i = 0; i < kLanes; ++i) {
    if (!(selectorOf(op, 0) >> i & 1)) {
      made |= c & static_cast<uint32_t>(kMask << kBits * i);
      continue;
    }
    int64_t value = compute(op, lane(1, i), lane(2, i));
    if (op.sat) value = clamped(value, op.mode != kSet && isSigned(op.type), kBits);
    made |= static_cast<uint32_t>((static_cast<uint64_t>(value) & kMask) << kBits * i);
    sum += static_cast<uint64_t>(value);
  }
  t.registers[op.d] = op.count == kAccumulate ? static_cast<uint32_t>(sum) : made;
}

uint64_t simdSelectors(const Instruction& i, unsigned lanes) {
  uint64_t all = 0;
  for (unsigned operand = 0; operand < 3; ++operand) {
    const std::string digits = i.operands[operand].selector.size() > 2 ? i.operands[operand].selector.substr(2) : "";
    uint64_t made = 0;
    if (operand == 0) {
      for (const char digit : digits) made |= 1u << (digit - '0');
      if (digits.empty()) made = (1u << lanes) - 1;
    } else {
      // The digits stand for the lanes from the highest down.
      for (unsigned lane = 0; lane < lanes; ++lane)
        made |=
            (digits.empty() ? lane + (operand == 2 ? lanes : 0) : static_cast<unsigned>(digits[lanes - 1 - lane] - '0'))
            << 4 * lane;
    }
    all |= made << operand * kSelectorBits;
  }
  return all;
}

int operationNamed(const std::string& name) {
  int operation = 0;
  for (const char* one : {"vadd", "vsub", "vabsdiff", "vavrg", "vmin", "vmax", "vset", "vshl", "vshr"}) {
    if (name == one) return operation;
    ++operation;
  }
  return -1;
}

void decodeCompare(const Instruction& i, Op& op) {
  auto compare = static_cast<uint8_t>(Compare::Eq);
  for (const char* word : {".eq", ".ne", ".lt", ".le", ".gt", ".ge"}) {
    if (i.has(word)) op.compare = static_cast<Compare>(compare);
    ++compare;
  }
}

}  // namespace

bool decodeVideo(Decoder& decoder, const Instruction& i, Op& op) {
  const bool isMad = i.opcode == "vmad";
  const char last = i.opcode.back();
  const unsigned lanes = last == '2' || last == '4' ? static_cast<unsigned>(last - '0') : 1;
  const int operation = operationNamed(lanes > 1 ? i.opcode.substr(0, i.opcode.size() - 1) : i.opcode);
  if (operation < 0 && !isMad) return false;
  if (i.operands.size() < 3 || i.types.size() < 2 || (lanes > 1 && i.operands.size() != 4)) Decoder::unknown(i);
  op.count = i.has(".add")            ? kAccumulate
             : i.has(".min")          ? kMinimum
             : i.has(".max")          ? kMaximum
             : i.operands.size() == 4 ? kMerge
                                      : kNone;
  decoder.operands(i, op, op.type);
  if (lanes == 1)
    for (unsigned operand = 0; operand < 3; ++operand)
      op.immediate |= partNamed(i.operands[operand].selector) << operand * kSelectorBits;
  else op.immediate = simdSelectors(i, lanes);
  if (isMad) {
    op.nan = i.has(".po");
    op.count = i.has(".shr7") ? 7 : i.has(".shr15") ? 15 : 0;
    op.execute = vmad;
    return true;
  }
  op.mode = static_cast<uint8_t>(operation);
  op.relu = i.has(".wrap");
  if (op.mode == kSet) decodeCompare(i, op);
  op.execute = lanes == 1 ? scalar : lanes == 2 ? simd<2> : simd<4>;
  return true;
}

}  // namespace mulciber::interpreter
