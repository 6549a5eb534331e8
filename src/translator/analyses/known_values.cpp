#include "translator/analyses/known_values.h"

#include <algorithm>

#include "translator/analyses/address_origins.h"
#include "translator/analyses/fixpoint.h"
#include "translator/ir/float_bits.h"

namespace mulciber::analyses {
namespace {

using ir::InputKind;
using ir::Instruction;
using ir::Op;

bool isConstant(InputKind kind) {
  switch (kind) {
    case InputKind::BlockDimX:
    case InputKind::BlockDimY:
    case InputKind::BlockDimZ:
    case InputKind::DynamicSharedSize:
    case InputKind::StackBytes: return true;
    default: return false;
  }
}

bool isChoice(Op op) { return op == Op::Phi || op == Op::Select; }
bool isBound(Op op) { return op == Op::FMin || op == Op::FMax; }
// Where a comparison says that a value equals another one, drivers put that in its place.
bool tellsEquals(Op op) {
  switch (op) {
    case Op::IEq:
    case Op::INe:
    case Op::FEq:
    case Op::FNe:
    case Op::FEqU:
    case Op::FNeU: return true;
    default: return false;
  }
}
bool passesBits(Op op) { return op == Op::Shuffle || op == Op::Select || op == Op::Phi; }
bool cancels(Op op) { return op == Op::Add || op == Op::Sub || op == Op::Xor; }
bool keepsMagnitude(Op op) { return op == Op::Bitcast || op == Op::FNeg || op == Op::FAbs; }

}  // namespace

KnownValues::KnownValues(const ir::Function& function, Count count)
    : count_(count),
      levels_(function.instructionIdBound()),
      comesOfIntegers_(function.instructionIdBound()),
      isLeftOut_(function.instructionIdBound()) {
  constexpr unsigned mostRounds = 4;  // the rest counts
  find(function);
  if (count != Count::SureNumbers) return;
  for (unsigned n = 0; n < mostRounds && leaveOut(function); ++n) find(function);
}

void KnownValues::find(const ir::Function& function) {
  levels_.assign(levels_.size(), Level::Unknown);
  memory_.clear();
  for (const ir::Block* block : function.blocks)
    if (block->terminator.kind == ir::Terminator::Kind::Switch) levels_[block->terminator.value->id] = Level::Any;
  updateUntilSettled(function, [this](const Instruction& i, const ir::Block&) {
    bool changed = tellsEquals(i.op) && compare(*i.operands[0], *i.operands[1]);
    changed |= updateBits(i);
    changed |= update(i);
    return changed;
  });
}

// Choices of which one operand is not known, in functions whose sure numbers have been found. An infinity or NaN is no
// number, but known. Returns whether there are any.
bool KnownValues::leaveOut(const ir::Function& function) {
  bool hasAny = false;
  for (const ir::Block* block : function.blocks)
    for (const Instruction* i : block->instructions) {
      if (!isChoice(i->op) || isLeftOut_[i->id] || levels_[i->id] == Level::Unknown) continue;
      for (size_t n = i->op == Op::Select ? 1 : 0; n < i->operands.size(); ++n)
        if (levels_[i->operands[n]->id] == Level::Unknown && !i->operands[n]->isConstant())
          hasAny = isLeftOut_[i->id] = true;
    }
  return hasAny;
}

// A driver simplifies integers, constant + n - n for instance, and may be left with a constant.
bool KnownValues::updateBits(const Instruction& i) {
  if (i.type.isBool() || comesOfIntegers_[i.id]) return false;
  const auto comes = [this](const Instruction* operand) { return comesOfIntegers_[operand->id]; };
  bool isSource = false;
  switch (count_) {
    case Count::All: isSource = ir::family(i.op) == ir::Family::Integer; break;
    case Count::Numbers: isSource = cancels(i.op); break;
    case Count::SureNumbers: isSource = i.op == Op::Shuffle && cancels(i.operands[0]->op); break;
  }
  if (!isSource && !(passesBits(i.op) && std::ranges::any_of(i.operands, comes))) return false;
  comesOfIntegers_[i.id] = true;
  return true;
}

bool KnownValues::compare(const Instruction& x, const Instruction& y) {
  Level &ofX = levels_[x.id], &ofY = levels_[y.id];
  if ((ofX == Level::Unknown) == (ofY == Level::Unknown)) return false;
  (ofX == Level::Unknown ? ofX : ofY) = Level::Any;
  return true;
}

KnownValues::Level KnownValues::levelOfConstant(const Instruction& constant) const {
  const bool isFloat = constant.type.isFloat() && !constant.type.isVector();
  const uint64_t magnitude = isFloat ? constant.payload & (signBit(constant.type) - 1) : constant.payload;
  if (magnitude == 0) return Level::Zero;
  if (constant.type != ir::F32) return Level::Any;
  if (count_ != Count::All && magnitude >= 0x7F80'0000) return Level::Unknown;
  return magnitude == 0x3F80'0000 ? Level::Unit : Level::Any;
}

bool KnownValues::update(const Instruction& i) {
  const bool isStore = i.op == Op::Store;
  Level& level = isStore ? memory_[placeOf(i)] : levels_[i.id];
  const Level found = isStore ? levels_[i.operands[1]->id] : levelOf(i);
  if (found <= level) return false;
  level = found;
  return true;
}

KnownValues::Place KnownValues::placeOf(const Instruction& access) {
  const ir::Space space = access.memory.space;
  return {space, space == ir::Space::Global ? pointerOf(access.operands[0]) : nullptr};
}

KnownValues::Level KnownValues::levelOfLoad(const Place& place) const {
  Level level = Level::Unknown;
  for (const auto& [stored, found] : memory_)
    if (stored == place || stored.first == ir::Space::Generic || place.first == ir::Space::Generic)
      level = std::max(level, found);
  return level;
}

KnownValues::Level KnownValues::levelOf(const Instruction& i) const {
  if (isLeftOut_[i.id]) return Level::Unknown;
  if (i.isConstant()) return levelOfConstant(i);
  if (i.op == Op::Load && count_ == Count::SureNumbers && i.memory.space != ir::Space::Local) return Level::Unknown;
  if (i.op == Op::Load) return levelOfLoad(placeOf(i));
  if (i.op == Op::Shuffle) return levels_[i.operands[0]->id];  // of the same value in all lanes
  if (i.op == Op::Bitcast && i.type.isFloat() && comesOfIntegers_[i.operands[0]->id]) return Level::Any;
  if (i.op == Op::Input) {
    const auto kind = static_cast<InputKind>(i.payload);
    return isConstant(kind) || (count_ == Count::All && ir::differsByThread(kind)) ? Level::Any : Level::Unknown;
  }
  if (i.op != Op::Phi && (!ir::isPure(i.op) || i.operands.empty())) return Level::Unknown;
  Level least = Level::Any, most = Level::Unknown;
  for (size_t n = i.op == Op::Select ? 1 : 0; n < i.operands.size(); ++n) {
    const Level level = levels_[i.operands[n]->id];
    least = std::min(least, level);
    most = std::max(most, level);
  }
  if (isChoice(i.op) || (count_ == Count::All && isBound(i.op))) return most;
  if (least == Level::Unknown) return Level::Unknown;
  if (most == Level::Zero && (i.op == Op::FAdd || i.op == Op::FSub)) return Level::Zero;
  return keepsMagnitude(i.op) ? most : Level::Any;
}

}  // namespace mulciber::analyses
