// Operations between the lanes of a warp. The lanes that take part are those named in the member mask that are
// active; a constant full mask names all.
#include <functional>

#include "translator/lower/families.h"
#include "translator/lower/warp_tools.h"

namespace mulciber::lower {

using ptx::Mod;

WarpTools::WarpTools(FunctionLowering& lowering, ir::Instruction* expected) : f(lowering), b(lowering.b) {
  if (!f.profile().hasWarps()) b.emit(ir::Op::Expect, ir::Void, {expected});
}

ir::Instruction* WarpTools::shuffle(ir::Instruction* value, ir::Instruction* lane) {
  if (value->type.totalBits() < 64) return b.emit(ir::Op::Shuffle, value->type, {value, lane});
  ir::Instruction* halves = b.bitcast(ir::I32.withLanes(2), value);
  ir::Instruction* low = b.emit(ir::Op::Shuffle, ir::I32, {b.extract(halves, 0), lane});
  ir::Instruction* high = b.emit(ir::Op::Shuffle, ir::I32, {b.extract(halves, 1), lane});
  return b.bitcast(value->type, b.vector(std::array{low, high}));
}

ir::Instruction* WarpTools::ballot(ir::Instruction* condition) { return b.emit(ir::Op::Ballot, ir::I32, {condition}); }

ir::Instruction* WarpTools::lowestLane(ir::Instruction* mask) { return b.emit(ir::Op::FindLsb, ir::I32, {mask}); }

bool WarpTools::isFull(const ptx::Operand* mask) {
  return !mask || (mask->kind == ptx::Operand::Kind::Integer && static_cast<uint32_t>(mask->bits) == ~0u);
}

ir::Instruction* WarpTools::members(const ptx::Operand* mask) {
  ir::Instruction* active = ballot(b.boolean(true));
  return isFull(mask) ? active : b.bitAnd(active, f.value(*mask, ir::I32));
}

namespace {

const ptx::Operand* maskOperand(const ptx::Instruction& instruction, size_t index) {
  return instruction.has(Mod::sync) && index < instruction.operands.size() ? &instruction.operands[index] : nullptr;
}

// Without .sync, of a time when the lanes of a warp never ran apart for long.
WarpTools toolsFor(FunctionLowering& f, const ptx::Operand* mask) {
  return mask ? WarpTools(f, *mask) : WarpTools::ofWholeWarp(f);
}

void lowerShfl(FunctionLowering& f, const ptx::Instruction& instruction) {
  WarpTools warp = toolsFor(f, maskOperand(instruction, 4));
  ir::Builder& b = f.b;
  ir::Instruction* lane = f.laneId();
  ir::Instruction* distance = b.bitAnd(f.value(instruction.operands[2], ir::I32), b.i32(31));
  ir::Instruction* control = f.value(instruction.operands[3], ir::I32);
  ir::Instruction* clamp = b.bitAnd(control, b.i32(31));
  ir::Instruction* segment = b.bitAnd(b.lshr(control, b.i32(8)), b.i32(31));
  ir::Instruction* inSegment = b.bitNot(segment);
  ir::Instruction* first = b.bitAnd(lane, segment);
  ir::Instruction* last = b.bitOr(first, b.bitAnd(clamp, inSegment));
  ir::Instruction* source = nullptr;
  ir::Instruction* inRange = nullptr;
  switch (instruction.first({Mod::up, Mod::down, Mod::bfly, Mod::idx}, Mod::idx)) {
    case Mod::up:
      source = b.sub(lane, distance);
      inRange = b.compare(ir::Op::SLe, last, source);
      break;
    case Mod::down: source = b.add(lane, distance); break;
    case Mod::bfly: source = b.bitXor(lane, distance); break;
    default: source = b.bitOr(first, b.bitAnd(distance, inSegment)); break;
  }
  if (!inRange) inRange = b.compare(ir::Op::SLe, source, last);
  source = b.select(inRange, source, lane);
  auto [destination, predicate] = FunctionLowering::pair(instruction.operands[0]);
  f.write(*destination, warp.shuffle(f.value(instruction.operands[1], ir::I32), source));
  if (predicate) f.write(*predicate, inRange);
}

void lowerVote(FunctionLowering& f, const ptx::Instruction& instruction) {
  const ptx::Operand* mask = maskOperand(instruction, 2);
  WarpTools warp = toolsFor(f, mask);
  ir::Builder& b = f.b;
  bool isFull = WarpTools::isFull(mask);
  ir::Instruction* condition = f.predicate(instruction.operands[1]);
  auto masked = [&](ir::Instruction* value) { return b.bitAnd(warp.ballot(value), f.value(*mask, ir::I32)); };
  auto isNone = [&](ir::Instruction* value) { return b.compare(ir::Op::IEq, value, b.i32(0)); };
  ir::Instruction* result = nullptr;
  switch (instruction.first({Mod::all, Mod::any, Mod::uni, Mod::ballot}, Mod::ballot)) {
    case Mod::all: result = isFull ? b.unary(ir::Op::VoteAll, condition) : isNone(masked(b.bitNot(condition))); break;
    case Mod::any: result = isFull ? b.unary(ir::Op::VoteAny, condition) : b.bitNot(isNone(masked(condition))); break;
    case Mod::uni:
      result = isFull ? b.bitOr(b.unary(ir::Op::VoteAll, condition), b.bitNot(b.unary(ir::Op::VoteAny, condition)))
                      : b.bitOr(isNone(masked(condition)), isNone(masked(b.bitNot(condition))));
      break;
    default: result = isFull ? warp.ballot(condition) : masked(condition); break;
  }
  f.write(instruction.operands[0], result);
}

// All lanes stay in the loop until every one has met its value, so that the lane asked is always active.
ir::Instruction* matchAny(FunctionLowering& f, WarpTools& warp, ir::Instruction* value, ir::Instruction* mask) {
  ir::Builder& b = f.b;
  ir::VariableId result = b.function().addVariable(ir::I32, "match");
  ir::VariableId waiting = b.function().addVariable(ir::Bool, "waiting");
  b.write(result, b.i32(0));
  b.write(waiting, b.boolean(true));
  f.beginLoop();
  ir::Instruction* isWaiting = b.read(waiting);
  ir::Instruction* leader = warp.lowestLane(warp.ballot(isWaiting));
  ir::Instruction* isSame = b.compare(ir::Op::IEq, value, warp.shuffle(value, leader));
  ir::Instruction* same = warp.ballot(isSame);
  b.write(result, b.select(isSame, same, b.read(result)));
  ir::Instruction* still = b.bitAnd(isWaiting, b.bitNot(isSame));
  b.write(waiting, still);
  f.endLoop(b.unary(ir::Op::VoteAny, still));
  return b.bitAnd(b.read(result), mask);
}

void lowerMatch(FunctionLowering& f, const ptx::Instruction& instruction) {
  WarpTools warp(f, instruction.operands[2]);
  ir::Builder& b = f.b;
  ir::Instruction* value = f.value(instruction.operands[1], irType(instruction.type()));
  ir::Instruction* members = warp.members(&instruction.operands[2]);
  auto [destination, predicate] = FunctionLowering::pair(instruction.operands[0]);
  if (instruction.has(Mod::any)) return f.write(*destination, matchAny(f, warp, value, members));
  ir::Instruction* first = warp.shuffle(value, warp.lowestLane(members));
  ir::Instruction* others = b.bitAnd(warp.ballot(b.compare(ir::Op::INe, value, first)), members);
  ir::Instruction* isSame = b.compare(ir::Op::IEq, others, b.i32(0));
  f.write(*destination, b.select(isSame, members, b.i32(0)));
  if (predicate) f.write(*predicate, isSame);
}

using Combine = std::function<ir::Instruction*(ir::Instruction*, ir::Instruction*)>;

// Each lane adds in what the next member has gathered so far, twice as many lanes in each step; the lowest member
// then has all. Lanes with other masks go through the same steps beside it.
ir::Instruction* reduce(FunctionLowering& f, WarpTools& warp, ir::Instruction* value, ir::Instruction* members,
                        const Combine& combine) {
  ir::Builder& b = f.b;
  ir::Instruction* lane = f.laneId();
  ir::Instruction* above = b.bitAnd(members, f.specialRegister(ptx::SpecialRegister::LanemaskGt));
  ir::Instruction* next = b.binary(ir::Op::UMin, warp.lowestLane(above), b.i32(32));  // 32: no further member
  auto step = [&](bool isLast) {
    ir::Instruction* exists = b.compare(ir::Op::ULt, next, b.i32(32));
    ir::Instruction* source = b.select(exists, next, lane);
    ir::Instruction* gathered = combine(value, warp.shuffle(value, source));
    value = b.select(exists, gathered, value);
    if (!isLast) next = b.select(exists, warp.shuffle(next, source), b.i32(32));
  };
  if (f.profile().hasWarps()) {
    for (unsigned i = 0; i < 5; i++) step(i == 4);
  } else {  // every shuffle is a round then, and what stands between them a piece of code of its own
    ir::VariableId gathered = b.function().addVariable(value->type), far = b.function().addVariable(ir::I32);
    ir::VariableId steps = b.function().addVariable(ir::I32);
    b.write(gathered, value);
    b.write(far, next);
    b.write(steps, b.i32(0));
    f.beginLoop();
    value = b.read(gathered);
    next = b.read(far);
    step(false);
    b.write(gathered, value);
    b.write(far, next);
    ir::Instruction* done = b.add(b.read(steps), b.i32(1));
    b.write(steps, done);
    f.endLoop(b.compare(ir::Op::ULt, done, b.i32(5)));
  }
  return warp.shuffle(value, warp.lowestLane(members));
}

// Where all 32 lanes are members, each exchanges what it has with the one at half the distance, and all have the sum.
ir::Instruction* reduceByButterflies(FunctionLowering& f, WarpTools& warp, ir::Instruction* value,
                                     ir::Instruction* members, const Combine& combine) {
  ir::Builder& b = f.b;
  const ir::VariableId result = b.function().addVariable(value->type, "reduced");
  f.beginIf(b.compare(ir::Op::IEq, members, b.i32(~0u)));
  ir::Instruction *lane = f.laneId(), *gathered = value;
  for (const uint32_t distance : {16, 8, 4, 2, 1})
    gathered = combine(gathered, warp.shuffle(gathered, b.bitXor(lane, b.i32(distance))));
  b.write(result, gathered);
  f.beginElse();
  b.write(result, reduce(f, warp, value, members, combine));
  f.endIf();
  return b.read(result);
}

void lowerRedux(FunctionLowering& f, const ptx::Instruction& instruction) {
  WarpTools warp(f, instruction.operands[2]);
  ir::Builder& b = f.b;
  ptx::Type type = instruction.type();
  bool isSigned = ptx::isSigned(type), isFloat = ptx::isFloat(type);
  ir::Instruction* value = f.value(instruction.operands[1], irType(type));
  if (instruction.has(Mod::abs)) value = b.unary(ir::Op::FAbs, value);
  ir::Op op = ir::Op::Add;
  switch (instruction.first({Mod::add, Mod::min, Mod::max, Mod::and_, Mod::or_, Mod::xor_}, Mod::add)) {
    case Mod::min: op = isFloat ? ir::Op::FMin : isSigned ? ir::Op::SMin : ir::Op::UMin; break;
    case Mod::max: op = isFloat ? ir::Op::FMax : isSigned ? ir::Op::SMax : ir::Op::UMax; break;
    case Mod::and_: op = ir::Op::And; break;
    case Mod::or_: op = ir::Op::Or; break;
    case Mod::xor_: op = ir::Op::Xor; break;
    default: break;
  }
  ir::Instruction* members = warp.members(&instruction.operands[2]);
  const Combine combine = [&](ir::Instruction* x, ir::Instruction* y) { return b.binary(op, x, y); };
  // Between floats the order could tell.
  const bool isFast = f.profile().hasWarps() && !isFloat;
  ir::Instruction* result =
      isFast ? reduceByButterflies(f, warp, value, members, combine) : reduce(f, warp, value, members, combine);
  if (isFloat) {
    ir::Instruction* nans = b.bitAnd(warp.ballot(b.unary(ir::Op::FIsNan, value)), members);
    ir::Instruction* isNan =
        instruction.has(Mod::NaN) ? b.compare(ir::Op::INe, nans, b.i32(0)) : b.unary(ir::Op::FIsNan, result);
    result = b.select(isNan, b.constant(ir::F32, 0x7FFFFFFF), result);  // the canonical NaN
  }
  f.write(instruction.operands[0], result);
}

void lowerActivemask(FunctionLowering& f, const ptx::Instruction& instruction) {
  WarpTools warp(f);
  f.write(instruction.operands[0], warp.members(nullptr));
}

void lowerElect(FunctionLowering& f, const ptx::Instruction& instruction) {
  WarpTools warp(f, instruction.operands[1]);
  auto [destination, predicate] = FunctionLowering::pair(instruction.operands[0]);
  ir::Instruction* leader = warp.lowestLane(warp.members(&instruction.operands[1]));
  f.write(*destination, leader);
  if (predicate) f.write(*predicate, f.b.compare(ir::Op::IEq, leader, f.laneId()));
}

constexpr Lowering rows[] = {
    {ptx::Opcode::Shfl, lowerShfl, Effect::Effects},
    {ptx::Opcode::Vote, lowerVote, Effect::Effects},
    {ptx::Opcode::Match, lowerMatch, Effect::Effects},
    {ptx::Opcode::Redux, lowerRedux, Effect::Effects},
    {ptx::Opcode::Activemask, lowerActivemask, Effect::Effects},
    {ptx::Opcode::Elect, lowerElect, Effect::Effects},
};

}  // namespace

std::span<const Lowering> warpLowerings() { return rows; }

}  // namespace mulciber::lower
