// Copies to shared memory, done at once, and the barriers in memory that count arrivals and bytes.
#include <algorithm>
#include <cstring>

#include "interpreter/instructions/families.h"
#include "interpreter/instructions/typed.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

// The destination's address is in d and op.mask, as the source's is in a and op.immediate; c has how many bytes come
// from the source, where op.mode says so, or a predicate that none do.
enum CopyMode : uint8_t { kWhole, kSized, kIgnoring };

void copy(Thread& t, const Op& op) {
  const uint32_t bytes = op.count;
  uint32_t taken = bytes;
  if (op.mode == kSized) taken = std::min(bytes, get<uint32_t>(t, op.c));
  if (op.mode == kIgnoring && t.predicate(op.c, op, 2)) taken = 0;
  uint8_t* const to = t.block->resolve(t, Space::Shared, t.registers[op.d] + op.mask, bytes);
  if (taken != 0) std::memcpy(to, t.block->resolve(t, Space::Global, addressOf(t, op), bytes), taken);
  std::memset(to + taken, 0, bytes - taken);
}

void nothing(Thread&, const Op&) {}

// What the eight bytes of a barrier hold here; programs may not look at them.
struct Counts {
  explicit Counts(uint64_t bits)
      : pending(bits & kMost), expected(bits >> 20 & kMost), phase(bits >> 63), bytes(bits >> 40 & kMostBytes) {}
  uint64_t bits() const { return pending | expected << 20 | (bytes & kMostBytes) << 40 | phase << 63; }
  void completeIfDone() {
    if (pending != 0 || bytes != 0) return;
    phase ^= 1;
    pending = expected;
  }
  static constexpr uint64_t kMost = (1 << 20) - 1, kMostBytes = (1 << 21) - 1;
  uint64_t pending, expected, phase, bytes;
};

uint8_t* barrierAt(Thread& t, const Op& op) { return t.block->resolve(t, op.space, addressOf(t, op), 8); }

Counts countsAt(const uint8_t* at) {
  uint64_t bits;
  std::memcpy(&bits, at, 8);
  return Counts(bits);
}
void write(uint8_t* at, const Counts& counts) {
  const uint64_t bits = counts.bits();
  std::memcpy(at, &bits, 8);
}

void init(Thread& t, const Op& op) {
  Counts counts(0);
  counts.expected = counts.pending = t.registers[op.b] & Counts::kMost;
  write(barrierAt(t, op), counts);
}

// op.mode: whether bytes are expected before; op.count: whether the arrival is for all phases to come.
void arrive(Thread& t, const Op& op) {
  uint8_t* const at = barrierAt(t, op);
  Counts counts = countsAt(at);
  t.registers[op.d] = counts.bits();
  const uint64_t arrivals = op.mode ? 1 : t.registers[op.b] & Counts::kMost;
  if (op.mode) counts.bytes += t.registers[op.b];
  if (arrivals > counts.pending) throw Fault(Status::Undefined, "more threads arrive than the barrier counts");
  counts.pending -= arrivals;
  if (op.count) counts.expected -= arrivals;
  counts.completeIfDone();
  write(at, counts);
}

// Bytes that are expected, or with op.mode have come.
void transact(Thread& t, const Op& op) {
  uint8_t* const at = barrierAt(t, op);
  Counts counts = countsAt(at);
  const uint64_t bytes = t.registers[op.b];
  counts.bytes = (op.mode ? counts.bytes - bytes : counts.bytes + bytes) & Counts::kMostBytes;
  if (op.mode) counts.completeIfDone();
  write(at, counts);
}

// Whether the phase of the state, or with op.mode of the parity, is over.
void testWait(Thread& t, const Op& op) {
  const uint64_t phase = op.mode ? t.registers[op.b] & 1 : Counts(t.registers[op.b]).phase;
  t.registers[op.d] = countsAt(barrierAt(t, op)).phase != phase;
}

bool decodeCopy(Decoder& decoder, const Instruction& i, Op& op) {
  const auto is = [&](size_t at, std::string_view word) { return i.modifiers.size() > at && i.modifiers[at] == word; };
  if (!is(0, ".async") || i.has(".bulk")) return false;
  if (is(1, ".commit_group") || is(1, ".wait_group") || is(1, ".wait_all")) {
    op.execute = nothing;
    return true;
  }
  if (is(1, ".mbarrier")) {
    // All copies are over: the count that would go up and down again stays.
    op.execute = i.has(".noinc") ? arrive : nothing;
    op.space = spaceIn(i);
    decoder.address(i.operands.at(0), op);
    op.b = decoder.constant(1);
    op.count = 0;
    return true;
  }
  if (i.operands.size() < 3 || i.operands[2].kind != Operand::Kind::Integer) Decoder::unknown(i);
  Op destination;
  destination.space = Space::Shared;
  decoder.address(i.operands[0], destination);
  op.d = destination.a;
  op.mask = destination.immediate;
  op.space = Space::Global;
  decoder.address(i.operands[1], op);
  op.count = static_cast<uint8_t>(i.operands[2].bits);
  const size_t given = i.operands.size() - (i.has(".L2::cache_hint") ? 1 : 0);
  if (given > 3) {
    const Operand& third = i.operands[3];
    op.c = decoder.source(third, Type::U32);
    op.mode = decoder.isPredicate(third) ? kIgnoring : kSized;
    if (third.isNegated) op.negated = 1 << 2;
  }
  op.execute = copy;
  return true;
}

}  // namespace

bool decodeAsync(Decoder& decoder, const Instruction& i, Op& op) {
  if (i.opcode == "cp") return decodeCopy(decoder, i, op);
  if (i.opcode != "mbarrier" || i.modifiers.empty() || i.operands.empty()) return false;
  const std::string& name = i.modifiers[0];
  const bool hasResult = i.operands[0].kind != Operand::Kind::Address;
  const size_t at = hasResult ? 1 : 0;
  if (i.operands.size() <= at) return false;
  op.space = spaceIn(i);
  decoder.address(i.operands[at], op);
  if (hasResult) op.d = decoder.destination(i.operands[0]);
  op.b = i.operands.size() > at + 1 ? decoder.source(i.operands[at + 1], Type::U64) : decoder.constant(1);
  op.count = name == ".arrive_drop";
  if (name == ".init") {
    op.execute = init;
  } else if (name == ".inval") {
    op.execute = nothing;
  } else if (name == ".arrive" || name == ".arrive_drop") {
    op.mode = i.has(".expect_tx");
    op.execute = arrive;
  } else if (name == ".expect_tx" || name == ".complete_tx") {
    op.mode = name == ".complete_tx";
    op.execute = transact;
  } else if (name == ".test_wait" || name == ".try_wait") {
    op.mode = i.has(".parity");
    op.execute = testWait;
  } else {
    return false;
  }
  return true;
}

}  // namespace mulciber::interpreter
