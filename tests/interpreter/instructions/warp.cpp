// What the lanes of a warp do together: votes, shuffles, matches, reductions.
#include <bit>

#include "interpreter/instructions/families.h"
#include "interpreter/instructions/typed.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

// Calls of(thread, its instruction) for each member.
template <class F>
void forEach(Warp& warp, uint32_t members, F of) {
  for (uint32_t left = members; left != 0; left &= left - 1) {
    Thread& thread = *warp.lanes[static_cast<unsigned>(std::countr_zero(left))];
    of(thread, *thread.waitingAt);
  }
}

enum VoteMode : uint8_t { kAll, kAny, kUni, kBallot };

void vote(Warp& warp, uint32_t members) {
  uint32_t ballot = 0;
  forEach(warp, members, [&](Thread& t, const Op& op) {
    if (t.predicate(op.a, op, 0)) ballot |= 1u << t.lane;
  });
  forEach(warp, members, [&](Thread& t, const Op& op) {
    switch (op.mode) {
      case kAll: t.registers[op.d] = ballot == members; break;
      case kAny: t.registers[op.d] = ballot != 0; break;
      case kUni: t.registers[op.d] = ballot == members || ballot == 0; break;
      default: t.registers[op.d] = ballot; break;
    }
  });
}

void activemask(Warp& warp, uint32_t members) {
  forEach(warp, members, [&](Thread& t, const Op& op) { t.registers[op.d] = members; });
}

void elect(Warp& warp, uint32_t members) {
  const auto leader = static_cast<unsigned>(std::countr_zero(members));
  forEach(warp, members, [&](Thread& t, const Op& op) {
    t.registers[op.d] = leader;
    t.registers[op.d2] = t.lane == leader;
  });
}

uint64_t matched(const Thread& t, const Op& op) {
  return bitsOf(op.type) == 64 ? t.registers[op.a] : static_cast<uint32_t>(t.registers[op.a]);
}

void matchAny(Warp& warp, uint32_t members) {
  uint32_t equal[kWarpLanes] = {};
  forEach(warp, members, [&](Thread& t, const Op& op) {
    forEach(warp, members, [&](Thread& other, const Op& otherOp) {
      if (matched(t, op) == matched(other, otherOp)) equal[t.lane] |= 1u << other.lane;
    });
  });
  forEach(warp, members, [&](Thread& t, const Op& op) { t.registers[op.d] = equal[t.lane]; });
}

void matchAll(Warp& warp, uint32_t members) {
  const Thread& first = *warp.lanes[static_cast<unsigned>(std::countr_zero(members))];
  const uint64_t value = matched(first, *first.waitingAt);
  bool isEqual = true;
  forEach(warp, members, [&](Thread& t, const Op& op) { isEqual &= matched(t, op) == value; });
  forEach(warp, members, [&](Thread& t, const Op& op) {
    t.registers[op.d] = isEqual ? members : 0;
    t.registers[op.d2] = isEqual;
  });
}

enum ReduxMode : uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor };

void redux(Warp& warp, uint32_t members) {
  const Thread& first = *warp.lanes[static_cast<unsigned>(std::countr_zero(members))];
  const Op& what = *first.waitingAt;
  auto value = get<uint32_t>(first, what.a);
  forEach(warp, members & (members - 1), [&](Thread& t, const Op& op) {
    const auto other = get<uint32_t>(t, op.a);
    const bool isLess =
        what.type == Type::S32 ? static_cast<int32_t>(other) < static_cast<int32_t>(value) : other < value;
    switch (what.mode) {
      case kAdd: value += other; break;
      case kMin: value = isLess ? other : value; break;
      case kMax: value = isLess ? value : other; break;
      case kAnd: value &= other; break;
      case kOr: value |= other; break;
      default: value ^= other; break;
    }
  });
  forEach(warp, members, [&](Thread& t, const Op& op) { t.registers[op.d] = value; });
}

enum ShuffleMode : uint8_t { kUp, kDown, kBfly, kIdx };

// c holds the clamp in its lower bits and from bit 8 on the lane bits that stay within a segment.
void shuffle(Warp& warp, uint32_t members) {
  uint32_t values[kWarpLanes] = {};
  forEach(warp, members, [&](Thread& t, const Op& op) { values[t.lane] = get<uint32_t>(t, op.a); });
  forEach(warp, members, [&](Thread& t, const Op& op) {
    const int lane = t.lane, b = get<uint32_t>(t, op.b) & 31;
    const int clamp = get<uint32_t>(t, op.c) & 31, segment = get<uint32_t>(t, op.c) >> 8 & 31;
    const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    int from = 0;
    bool isInside = false;
    switch (op.mode) {
      case kUp: from = lane - b, isInside = from >= most; break;
      case kDown: from = lane + b, isInside = from <= most; break;
      case kBfly: from = lane ^ b, isInside = from <= most; break;
      default: from = least | (b & ~segment), isInside = from <= most; break;
    }
    if (!isInside) from = lane;
    if (!(members >> from & 1)) {
      // The hardware gives something; no program may depend on it.
      if (warp.live() >> from & 1 || !warp.lanes[from])
        throw Fault(Status::Undefined, "lane " + std::to_string(lane) + " reads lane " + std::to_string(from) +
                                           ", which does not take part");
      throw Fault(Status::Undefined, "lane " + std::to_string(lane) + " reads a lane that has exited");
    }
    t.registers[op.d] = values[from];
    t.registers[op.d2] = isInside;
  });
}

void warpSync(Warp&, uint32_t) {}

uint8_t modeAmong(const Instruction& i, std::initializer_list<const char*> words) {
  uint8_t mode = 0;
  for (const char* word : words) {
    if (i.has(word)) return mode;
    ++mode;
  }
  Decoder::unknown(i);
}

Together togetherOf(const Instruction& i, Op& op) {
  if (i.opcode == "activemask") return activemask;
  if (!i.has(".sync")) return nullptr;
  if (i.opcode == "vote") return op.mode = modeAmong(i, {".all", ".any", ".uni", ".ballot"}), vote;
  if (i.opcode == "match") return i.has(".any") ? matchAny : matchAll;
  if (i.opcode == "redux" && !isFloat(op.type))
    return op.mode = modeAmong(i, {".add", ".min", ".max", ".and", ".or", ".xor"}), redux;
  if (i.opcode == "shfl") return op.mode = modeAmong(i, {".up", ".down", ".bfly", ".idx"}), shuffle;
  if (i.opcode == "elect") return elect;
  if (i.opcode == "bar" && i.has(".warp")) return warpSync;
  return nullptr;
}

}  // namespace

// The mask is the last operand; activemask has none.
bool decodeWarp(Decoder& decoder, const Instruction& i, Op& op) {
  op.together = togetherOf(i, op);
  if (!op.together) return false;
  op.execute = waitForLanes;
  Instruction others = i;
  if (op.together != activemask) {
    if (i.operands.empty()) Decoder::unknown(i);
    op.e = decoder.source(i.operands.back(), Type::U32);
    others.operands.pop_back();
  } else {
    op.e = decoder.constant(0);
  }
  const uint32_t mask = op.e;
  if (op.together == warpSync) return true;
  decoder.operands(others, op, op.type);
  op.e = mask;
  return true;
}

}  // namespace mulciber::interpreter
