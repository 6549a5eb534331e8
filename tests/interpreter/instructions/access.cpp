// Loads and stores.
#include <cstring>

#include "interpreter/instructions/families.h"
#include "interpreter/machine/thread.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {

namespace {

// Signed types are extended to a wider register by their sign, all others by zeros.
uint64_t extended(uint64_t value, Type type, uint64_t mask) {
  const unsigned bits = bitsOf(type);
  if (!isSigned(type) || bits >= 64) return value;
  return static_cast<uint64_t>(static_cast<int64_t>(value << (64 - bits)) >> (64 - bits)) & mask;
}

void load(Thread& t, const Op& op) {
  const unsigned bytes = bytesOf(op.type);
  const uint8_t* at = t.block->resolve(t, op.space, addressOf(t, op), bytes);
  uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  t.registers[op.d] = extended(value, op.type, op.mask);
}

void store(Thread& t, const Op& op) {
  const unsigned bytes = bytesOf(op.type);
  std::memcpy(t.block->resolve(t, op.space, addressOf(t, op), bytes), &t.registers[op.b], bytes);
}

// Vectors, and registers of 128 bits.
void loadMany(Thread& t, const Op& op) {
  const unsigned bytes = bytesOf(op.type);
  const uint8_t* at = t.block->resolve(t, op.space, addressOf(t, op), uint64_t(bytes) * op.count);
  const std::vector<uint32_t>& places = listOf(t, op);
  for (size_t i = 0; i < op.count; ++i, at += bytes) {
    if (bytes == 16) {
      std::memcpy(&t.registers[places[i]], at, 16);
      continue;
    }
    uint64_t value = 0;
    std::memcpy(&value, at, bytes);
    t.registers[places[i]] = extended(value, op.type, op.mask);
  }
}

void storeMany(Thread& t, const Op& op) {
  const unsigned bytes = bytesOf(op.type);
  uint8_t* at = t.block->resolve(t, op.space, addressOf(t, op), uint64_t(bytes) * op.count);
  for (uint32_t place : listOf(t, op)) {
    std::memcpy(at, &t.registers[place], bytes);
    at += bytes;
  }
}

void nothing(Thread&, const Op&) {}

}  // namespace

bool decodeAccess(Decoder& decoder, const Instruction& i, Op& op) {
  if (i.opcode == "prefetch" || i.opcode == "prefetchu" || i.opcode == "applypriority" || i.opcode == "createpolicy") {
    op.execute = nothing;
    return true;
  }
  const bool isLoad = i.opcode == "ld" || i.opcode == "ldu";
  if (!isLoad && i.opcode != "st") return false;
  if (i.operands.size() < 2 || i.types.empty() || i.has(".async") || i.has(".bulk")) Decoder::unknown(i);
  op.space = spaceIn(i);
  decoder.address(i.operands[isLoad ? 1 : 0], op);
  const Operand& value = i.operands[isLoad ? 0 : 1];
  for (const char* vector : {".v2", ".v4", ".v8"})
    if (i.has(vector)) op.count = static_cast<uint8_t>(vector[2] - '0');
  if (op.count > 1 || op.type == Type::B128) {
    op.target = decoder.list(value, op.type, isLoad);
    for (const Operand& part : value.parts)
      if (isLoad) op.mask |= decoder.maskOf(part);
    op.execute = isLoad ? loadMany : storeMany;
  } else {
    // A vector of one element may have braces.
    const Operand& one = value.kind == Operand::Kind::Vector && value.parts.size() == 1 ? value.parts[0] : value;
    if (isLoad) op.d = decoder.destination(one), op.mask = decoder.maskOf(one);
    else op.b = decoder.source(one, op.type);
    op.execute = isLoad ? load : store;
  }
  return true;
}

}  // namespace mulciber::interpreter
