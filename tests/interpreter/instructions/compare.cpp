// Comparisons, and the choice between two values.
#include <bit>

#include "interpreter/instructions/families.h"
#include "interpreter/instructions/number.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

enum class Order : uint8_t { Less, Equal, Greater, Unordered };

template <class T>
Order orderOf(T a, T b) {
  return a < b ? Order::Less : a == b ? Order::Equal : a > b ? Order::Greater : Order::Unordered;
}

bool holds(Compare compare, Order order) {
  const bool unordered = order == Order::Unordered;
  switch (compare) {
    case Compare::Eq: return order == Order::Equal;
    case Compare::Ne: return order == Order::Less || order == Order::Greater;
    case Compare::Lt: return order == Order::Less;
    case Compare::Le: return order == Order::Less || order == Order::Equal;
    case Compare::Gt: return order == Order::Greater;
    case Compare::Ge: return order == Order::Greater || order == Order::Equal;
    case Compare::Equ: return unordered || order == Order::Equal;
    case Compare::Neu: return order != Order::Equal;
    case Compare::Ltu: return unordered || order == Order::Less;
    case Compare::Leu: return order != Order::Greater;
    case Compare::Gtu: return unordered || order == Order::Greater;
    case Compare::Geu: return order != Order::Less;
    case Compare::Num: return !unordered;
    default: return unordered;
  }
}

bool combined(Combine combine, bool result, bool third) {
  switch (combine) {
    case Combine::And: return result && third;
    case Combine::Or: return result || third;
    case Combine::Xor: return result != third;
    default: return result;
  }
}

double ofHalf(const Format& format, uint64_t bits, bool flush) {
  const Number number = unpack(format, bits, flush);
  return std::bit_cast<double>(pack(kF64, number, {}));
}

float ofSingle(uint64_t bits, bool flush) {
  if (flush && (bits & 0x7F800000) == 0) bits &= 0x80000000;
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

// Of one element of type op.sourceType, in the lower bits.
Order compared(const Op& op, uint64_t a, uint64_t b) {
  switch (op.sourceType) {
    case Type::F32: return orderOf(ofSingle(a, op.ftz), ofSingle(b, op.ftz));
    case Type::F64: return orderOf(std::bit_cast<double>(a), std::bit_cast<double>(b));
    case Type::F16:
    case Type::F16x2:
    case Type::BF16:
    case Type::BF16x2: {
      const Format& format = formatOf(op.sourceType);
      return orderOf(ofHalf(format, a & 0xFFFF, op.ftz), ofHalf(format, b & 0xFFFF, op.ftz));
    }
    case Type::S16: return orderOf(static_cast<int16_t>(a), static_cast<int16_t>(b));
    case Type::S32: return orderOf(static_cast<int32_t>(a), static_cast<int32_t>(b));
    case Type::S64: return orderOf(static_cast<int64_t>(a), static_cast<int64_t>(b));
    case Type::B16:
    case Type::U16: return orderOf(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
    case Type::B32:
    case Type::U32: return orderOf(static_cast<uint32_t>(a), static_cast<uint32_t>(b));
    default: return orderOf(a, b);
  }
}

void setp(Thread& t, const Op& op) {
  const bool result = holds(op.compare, compared(op, t.registers[op.a], t.registers[op.b]));
  const bool third = t.predicate(op.c, op, 2);
  t.registers[op.d] = combined(op.combine, result, third);
  t.registers[op.d2] = combined(op.combine, !result, third);
}

// Each half writes a predicate of its own.
void setpPair(Thread& t, const Op& op) {
  const uint64_t a = t.registers[op.a], b = t.registers[op.b];
  const bool third = t.predicate(op.c, op, 2);
  t.registers[op.d] = combined(op.combine, holds(op.compare, compared(op, a, b)), third);
  t.registers[op.d2] = combined(op.combine, holds(op.compare, compared(op, a >> 16, b >> 16)), third);
}

uint64_t trueOf(Type type) {
  switch (type) {
    case Type::F32: return 0x3F800000;
    case Type::F16:
    case Type::F16x2: return 0x3C00;
    case Type::BF16:
    case Type::BF16x2: return 0x3F80;
    case Type::U16:
    case Type::S16: return 0xFFFF;
    default: return 0xFFFFFFFF;
  }
}

// Assemblers put the comparison alone under the guard. What makes the result's type of its all ones is applied to the
// old value too, where the guard is false.
uint64_t leftBySet(const Op& op, uint64_t old) {
  const bool isNarrow = bitsOf(op.sourceType) == 16, isHalf = bitsOf(op.type) == 16;
  if (!isHalf && isNarrow) old = static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(old)));
  if (op.type != Type::F32 && op.type != Type::F16 && op.type != Type::BF16) return old;
  // The magnitude of the least number is that number.
  int64_t value = isHalf && isNarrow ? static_cast<int16_t>(old) : static_cast<int32_t>(old);
  const int64_t least = isHalf && isNarrow ? INT16_MIN : INT32_MIN;
  if (value < 0 && value != least) value = -value;
  return pack(formatOf(op.type), ofInteger(static_cast<uint64_t>(value < 0 ? -value : value), value < 0), {});
}

void set(Thread& t, const Op& op) {
  if ((t.registers[op.target] != 0) == (op.mode != 0)) {
    t.registers[op.d] = leftBySet(op, t.registers[op.d]);
    return;
  }
  const uint64_t a = t.registers[op.a], b = t.registers[op.b];
  const bool third = t.predicate(op.c, op, 2);
  auto lane = [&](unsigned shift) {
    return combined(op.combine, holds(op.compare, compared(op, a >> shift, b >> shift)), third) ? trueOf(op.type) : 0;
  };
  if (op.count == 1) t.registers[op.d] = lane(0);
  else t.registers[op.d] = (lane(0) & 0xFFFF) | (lane(16) & 0xFFFF) << 16;
}

void selp(Thread& t, const Op& op) {
  const bool isFirst = t.registers[op.c] != 0;
  t.registers[op.d] = t.registers[isFirst ? op.a : op.b] & op.mask;
}

void slct(Thread& t, const Op& op) {
  const uint64_t c = t.registers[op.c];
  const bool isFirst = op.sourceType == Type::F32 ? ofSingle(c, op.ftz) >= 0 : static_cast<int32_t>(c) >= 0;
  t.registers[op.d] = t.registers[isFirst ? op.a : op.b] & op.mask;
}

void testp(Thread& t, const Op& op) {
  const Number number = unpack(formatOf(op.type), t.registers[op.a]);
  const bool isFinite = number.isZero() || number.kind == Number::Kind::Finite;
  const bool isDenormal = number.kind == Number::Kind::Finite && number.magnitude() < formatOf(op.type).least;
  bool result = false;
  switch (op.mode) {
    case 0: result = isFinite; break;
    case 1: result = number.isInfinite(); break;
    case 2: result = !number.isNan(); break;
    case 3: result = number.isNan(); break;
    case 4: result = isFinite && !isDenormal; break;  // zero too, as the hardware has it
    default: result = isDenormal; break;
  }
  t.registers[op.d] = result;
}

struct CompareName {
  const char* word;
  Compare compare;
};
constexpr CompareName kCompares[] = {{".eq", Compare::Eq},   {".ne", Compare::Ne},   {".lt", Compare::Lt},
                                     {".le", Compare::Le},   {".gt", Compare::Gt},   {".ge", Compare::Ge},
                                     {".equ", Compare::Equ}, {".neu", Compare::Neu}, {".ltu", Compare::Ltu},
                                     {".leu", Compare::Leu}, {".gtu", Compare::Gtu}, {".geu", Compare::Geu},
                                     {".num", Compare::Num}, {".nan", Compare::Nan}, {".lo", Compare::Lt},
                                     {".ls", Compare::Le},   {".hi", Compare::Gt},   {".hs", Compare::Ge}};

void decodeComparison(const Instruction& i, Op& op) {
  bool isFound = false;
  for (const CompareName& one : kCompares)
    if (i.has(one.word)) op.compare = one.compare, isFound = true;
  if (!isFound) Decoder::unknown(i);
  op.combine = i.has(".and") ? Combine::And : i.has(".or") ? Combine::Or : i.has(".xor") ? Combine::Xor : Combine::None;
}

// What runs whatever its guard says takes the guard for an operand.
void takeGuard(Op& op) {
  op.target = op.guard;
  op.mode = op.isGuardNegated;
  op.guard = kTrue;
  op.isGuardNegated = false;
}

}  // namespace

bool decodeCompare(Decoder& decoder, const Instruction& i, Op& op) {
  if (i.types.empty()) return false;
  const bool isPair = op.sourceType == Type::F16x2 || op.sourceType == Type::BF16x2;
  if (i.opcode == "setp") {
    decodeComparison(i, op);
    op.execute = isPair ? setpPair : setp;
  } else if (i.opcode == "set") {
    decodeComparison(i, op);
    takeGuard(op);
    op.count = isPair ? 2 : 1;
    op.execute = set;
  } else if (i.opcode == "selp") {
    op.execute = selp;
  } else if (i.opcode == "slct") {
    op.execute = slct;
  } else if (i.opcode == "testp") {
    takeGuard(op);
    op.mode = 0;
    for (const char* word : {".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"}) {
      if (i.has(word)) break;
      ++op.mode;
    }
    op.execute = testp;
  } else {
    return false;
  }
  decoder.operands(i, op, op.sourceType);
  return true;
}

}  // namespace mulciber::interpreter
