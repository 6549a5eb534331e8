// mov, cvta and isspacep.
#include "interpreter/instructions/families.h"
#include "interpreter/machine/thread.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

void move(Thread& t, const Op& op) { t.registers[op.d] = t.registers[op.a] & op.mask; }

void movePredicate(Thread& t, const Op& op) { t.registers[op.d] = t.predicate(op.a, op, 0); }

void moveWide(Thread& t, const Op& op) {
  const uint64_t low = t.registers[op.a], high = t.registers[op.a + 1];
  t.registers[op.d] = low;
  t.registers[op.d + 1] = high;
}

// Elements of op.mode bits, into one register or two.
void pack(Thread& t, const Op& op) {
  uint64_t words[2] = {0, 0};
  unsigned at = 0;
  for (uint32_t place : listOf(t, op)) {
    const uint64_t value = op.mode == 64 ? t.registers[place] : t.registers[place] & ((uint64_t(1) << op.mode) - 1);
    words[at / 64] |= value << at % 64;
    at += op.mode;
  }
  t.registers[op.d] = words[0];
  if (at > 64) t.registers[op.d + 1] = words[1];
}

void unpack(Thread& t, const Op& op) {
  const uint64_t words[2] = {t.registers[op.a], op.type == Type::B128 ? t.registers[op.a + 1] : 0};
  unsigned at = 0;
  for (uint32_t place : listOf(t, op)) {
    const uint64_t value = words[at / 64] >> at % 64;
    if (place != kSink) t.registers[place] = op.mode == 64 ? value : value & ((uint64_t(1) << op.mode) - 1);
    at += op.mode;
  }
}

void copyVector(Thread& t, const Op& op) {
  const std::vector<uint32_t>&to = listOf(t, op), &from = t.frames.back().code->lists[op.target + 1];
  uint64_t values[4];
  for (size_t i = 0; i < from.size(); ++i) values[i] = t.registers[from[i]];
  for (size_t i = 0; i < to.size(); ++i) t.registers[to[i]] = values[i];
}

void toGeneric(Thread& t, const Op& op) { t.registers[op.d] = (t.registers[op.a] + op.immediate) & op.mask; }

void moveAddress(Thread& t, const Op& op) { t.registers[op.d] = addressOf(t, op) & op.mask; }

void isInWindow(Thread& t, const Op& op) {
  const uint64_t address = t.registers[op.a];
  t.registers[op.d] = op.space == Space::Global ? address < kSharedWindow : address - windowOf(op.space) < kWindow;
}

void decodeMov(Decoder& decoder, const Instruction& i, Op& op) {
  if (i.operands.size() != 2 || i.types.empty()) Decoder::unknown(i);
  const Operand &to = i.operands[0], &from = i.operands[1];
  const bool packs = from.kind == Operand::Kind::Vector, unpacks = to.kind == Operand::Kind::Vector;
  if (i.has(".v2") || i.has(".v4")) {
    op.target = decoder.list(to, op.type, true);
    decoder.list(from, op.type, false);
    op.execute = copyVector;
  } else if (packs || unpacks) {
    const Operand& vector = packs ? from : to;
    op.target = decoder.list(vector, op.type, unpacks);
    op.mode = static_cast<uint8_t>(bitsOf(op.type) / vector.parts.size());
    if (packs) op.d = decoder.destination(to);
    else op.a = decoder.source(from, op.type);
    op.execute = packs ? pack : unpack;
  } else {
    decoder.operands(i, op, op.type);
    op.execute = op.type == Type::Pred ? movePredicate : op.type == Type::B128 ? moveWide : move;
  }
}

}  // namespace

bool decodeMove(Decoder& decoder, const Instruction& i, Op& op) {
  const bool isIndexed = i.operands.size() == 2 && i.operands[1].isIndexed;
  if ((i.opcode == "mov" || i.opcode == "cvta") && isIndexed) {
    // mov gives the address within its space; cvta one of every space.
    op.space = i.opcode == "mov" ? Space::Global : Space::Generic;
    decoder.address(i.operands[1], op);
    op.d = decoder.destination(i.operands[0]);
    op.mask = decoder.maskOf(i.operands[0]);
    op.execute = moveAddress;
  } else if (i.opcode == "mov") {
    decodeMov(decoder, i, op);
  } else if (i.opcode == "cvta") {
    decoder.operands(i, op, op.type);
    const uint64_t window = windowOf(spaceIn(i));
    op.immediate = i.has(".to") ? 0 - window : window;
    op.execute = toGeneric;
  } else if (i.opcode == "isspacep") {
    decoder.operands(i, op, Type::B64);
    op.space = spaceIn(i);
    op.execute = isInWindow;
  } else {
    return false;
  }
  return true;
}

}  // namespace mulciber::interpreter
