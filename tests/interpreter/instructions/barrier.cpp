// Barriers of a block: bar and barrier, which arrive, wait, and reduce a predicate.
#include "interpreter/instructions/families.h"
#include "interpreter/instructions/typed.h"

namespace mulciber::interpreter {
namespace {

template <bool kWaits>
void barrier(Thread& t, const Op& op) {
  t.waitingAt = &op;
  const bool isTrue = op.mode && t.predicate(op.c, op, 2);
  t.block->arrive(t, static_cast<unsigned>(t.registers[op.a]), get<uint32_t>(t, op.b), isTrue, kWaits);
}

}  // namespace

// bar.red has its destination first and its predicate last; the number of threads may be missing.
bool decodeBarrier(Decoder& decoder, const Instruction& i, Op& op) {
  if ((i.opcode != "bar" && i.opcode != "barrier") || i.has(".cluster") || i.has(".warp")) return false;
  const bool reduces = i.has(".red");
  const size_t first = reduces ? 1 : 0, count = i.operands.size() - (reduces ? 2 : 0);
  if (i.operands.size() < (reduces ? 3 : 1) || count > 2) Decoder::unknown(i);
  op.a = decoder.source(i.operands[first], Type::U32);
  op.b = count > 1 ? decoder.source(i.operands[first + 1], Type::U32) : decoder.constant(0);
  if (reduces) {
    op.mode = 1;
    op.d = decoder.destination(i.operands[0]);
    op.c = decoder.source(i.operands.back(), Type::Pred);
    if (i.operands.back().isNegated) op.negated = 1 << 2;
    op.combine = i.has(".and") ? Combine::And : i.has(".or") ? Combine::Or : Combine::None;
  }
  op.execute = i.has(".arrive") ? barrier<false> : barrier<true>;
  return true;
}

}  // namespace mulciber::interpreter
