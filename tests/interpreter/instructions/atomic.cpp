// atom and red: reads, computes and writes in one step.
#include <algorithm>
#include <cstring>

#include "interpreter/instructions/families.h"
#include "interpreter/instructions/number.h"

namespace mulciber::interpreter {
namespace {

enum Operation : uint8_t { kExch, kCas, kAnd, kOr, kXor, kAdd, kMin, kMax, kInc, kDec };

// Of two NaNs device memory gives the value's as it is, shared memory its own made quiet.
uint64_t nanOfDoubles(uint64_t old, uint64_t value, bool isShared) {
  const bool isOld = unpack(kF64, old).isNan(), isValue = unpack(kF64, value).isNan();
  if (!isOld && !isValue) return kF64.nan;
  if (isShared) return (isOld ? old : value) | uint64_t(1) << 51;
  return isValue ? value : old;
}

// Additions of f32 flush denormals in device memory, and keep them in shared memory.
uint64_t floatResult(const Op& op, uint64_t old, uint64_t value, bool isShared) {
  const Format& format = formatOf(op.type);
  const bool flush = op.type == Type::F32 && !isShared;
  if (op.mode == kAdd) {
    const Number total = sum(unpack(format, old, flush), unpack(format, value, flush), Rounding::Nearest);
    if (total.isNan() && format.bits == 64) return nanOfDoubles(old, value, isShared);
    return pack(format, total, {Rounding::Nearest, flush, false, false});
  }
  const Number x = unpack(format, old), y = unpack(format, value);
  if (x.isNan() || y.isNan()) return x.isNan() && y.isNan() ? format.nan : x.isNan() ? value : old;
  return (placeInOrder(format, old) < placeInOrder(format, value)) == (op.mode == kMin) ? old : value;
}

template <class T>
T ordered(Operation operation, T old, T value) {
  return operation == kMin ? std::min(old, value) : std::max(old, value);
}

uint64_t integerResult(const Op& op, uint64_t old, uint64_t value) {
  switch (op.mode) {
    case kAnd: return old & value;
    case kOr: return old | value;
    case kXor: return old ^ value;
    case kAdd: return old + value;
    case kInc: return old >= value ? 0 : old + 1;
    case kDec: return old == 0 || old > value ? value : old - 1;
    default: break;
  }
  const auto operation = static_cast<Operation>(op.mode);
  switch (op.type) {
    case Type::S32:
      return static_cast<uint32_t>(ordered(operation, static_cast<int32_t>(old), static_cast<int32_t>(value)));
    case Type::S64:
      return static_cast<uint64_t>(ordered(operation, static_cast<int64_t>(old), static_cast<int64_t>(value)));
    default: return ordered(operation, old, value);
  }
}

uint64_t resultOf(const Op& op, uint64_t old, uint64_t value, uint64_t third, bool isShared) {
  if (op.mode == kExch) return value;
  if (op.mode == kCas) return old == value ? third : old;
  if (!isFloat(op.type)) return integerResult(op, old, value);
  if (op.type != Type::F16x2 && op.type != Type::BF16x2) return floatResult(op, old, value, isShared);
  return floatResult(op, old & 0xFFFF, value & 0xFFFF, isShared) |
         floatResult(op, old >> 16 & 0xFFFF, value >> 16 & 0xFFFF, isShared) << 16;
}

bool isShared(const Thread& t, const Op& op) {
  return op.space == Space::Shared || (op.space == Space::Generic && addressOf(t, op) - kSharedWindow < kWindow);
}

void atomic(Thread& t, const Op& op) {
  const unsigned bytes = bytesOf(op.type);
  const uint64_t mask = bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * bytes) - 1;
  uint8_t* const at = t.block->resolve(t, op.space, addressOf(t, op), bytes);
  uint64_t old = 0;
  std::memcpy(&old, at, bytes);
  const uint64_t made = resultOf(op, old, t.registers[op.b] & mask, t.registers[op.c] & mask, isShared(t, op));
  std::memcpy(at, &made, bytes);
  t.registers[op.d] = old;
}

void atomicWide(Thread& t, const Op& op) {
  uint8_t* const at = t.block->resolve(t, op.space, addressOf(t, op), 16);
  uint64_t old[2];
  std::memcpy(old, at, 16);
  if (op.mode == kExch) std::memcpy(at, &t.registers[op.b], 16);
  else if (std::memcmp(old, &t.registers[op.b], 16) == 0) std::memcpy(at, &t.registers[op.c], 16);
  std::memcpy(&t.registers[op.d], old, 16);
}

// The destinations are the list after that of the values.
void atomicMany(Thread& t, const Op& op) {
  const std::vector<std::vector<uint32_t>>& lists = t.frames.back().code->lists;
  const std::vector<uint32_t>& values = lists[op.target];
  const unsigned bytes = bytesOf(op.type);
  uint8_t* at = t.block->resolve(t, op.space, addressOf(t, op), bytes * values.size());
  uint64_t olds[8] = {};
  for (size_t i = 0; i < values.size(); ++i, at += bytes) {
    std::memcpy(&olds[i], at, bytes);
    const uint64_t made = resultOf(op, olds[i], t.registers[values[i]], 0, false);
    std::memcpy(at, &made, bytes);
  }
  if (op.count)
    for (size_t i = 0; i < values.size(); ++i) t.registers[lists[op.target + 1][i]] = olds[i];
}

}  // namespace

bool decodeAtomic(Decoder& decoder, const Instruction& i, Op& op) {
  const bool isRed = i.opcode == "red";
  if ((!isRed && i.opcode != "atom") || i.has(".async") || i.types.empty()) return false;
  op.mode = 0;
  bool isFound = false;
  for (const char* word : {".exch", ".cas", ".and", ".or", ".xor", ".add", ".min", ".max", ".inc", ".dec"}) {
    isFound = i.has(word);
    if (isFound) break;
    ++op.mode;
  }
  const size_t first = isRed ? 0 : 1;
  if (!isFound || i.operands.size() < first + 2) return false;
  op.space = spaceIn(i);
  decoder.address(i.operands[first], op);
  const Operand& value = i.operands[first + 1];
  op.count = !isRed;
  if (value.kind == Operand::Kind::Vector) {
    op.target = decoder.list(value, op.type, false);
    if (!isRed) decoder.list(i.operands[0], op.type, true);
    op.execute = atomicMany;
    return true;
  }
  if (!isRed) op.d = decoder.destination(i.operands[0]);
  op.b = decoder.source(value, op.type);
  if (op.mode == kCas) op.c = decoder.source(i.operands.at(first + 2), op.type);
  op.execute = op.type == Type::B128 ? atomicWide : atomic;
  return true;
}

}  // namespace mulciber::interpreter
