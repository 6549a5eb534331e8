#include "translator/analyses/address_origins.h"

#include <algorithm>
#include <bit>

#include "mulciber/kernel_abi.h"
#include "translator/analyses/fixpoint.h"

namespace mulciber::analyses {
namespace {

using ir::Instruction;
using ir::Op;
using ir::Space;

constexpr unsigned windowShift = 56;

// The spaces that a constant of an address can stand for. It is the sum of a window and of a distance that may be
// negative, so the window is the nearest one. What lies near none that the program uses may hold a window all the same
// (one subtracted, or one and a large number), which leaves every space.
Spaces spacesOfConstant(uint64_t constant, Spaces existing) {
  constexpr uint64_t half = uint64_t{1} << (windowShift - 1), near = uint64_t{1} << 40;
  const uint64_t window = (constant + half) & abi::windowMask;
  if (constant - window + near > 2 * near) return existing;
  switch (window) {
    case 0: return onlyGlobal;
    case abi::sharedWindow: return existing & spaceBit(Space::Shared) ? spaceBit(Space::Shared) : existing;
    case abi::localWindow: return existing & spaceBit(Space::Local) ? spaceBit(Space::Local) : existing;
    case abi::paramWindow: return existing & spaceBit(Space::Param) ? spaceBit(Space::Param) : existing;
    default: return existing;
  }
}

bool isPlain(Spaces spaces) { return (spaces & ~onlyGlobal) == 0; }

}  // namespace

// Starts from no space at all, so that what a loop carries keeps to those of its steps.
AddressOrigins::AddressOrigins(const ir::Function& function, Spaces existing)
    : existing_(existing), known_(function.instructionIdBound()) {
  updateUntilSettled(function, [this](const Instruction& i, const ir::Block&) {
    Origin& known = known_[i.id];
    const Origin found = find(i);
    const Origin both{static_cast<Spaces>(known.spaces | (found.spaces & existing_)),
                      std::max(known.pieceEnd, found.pieceEnd)};
    if (both == known) return false;
    known = both;
    return true;
  });
}

// What is left of a value that has lost its top byte.
AddressOrigins::Origin AddressOrigins::remainder(const Origin& value, unsigned bits) {
  return piece(isPlain(value.spaces) ? std::min<unsigned>(value.pieceEnd, bits) : bits);
}

// An address and a distance, in either order.
Spaces AddressOrigins::sum(Spaces a, Spaces b) const {
  if (a == 0 || b == 0) return 0;  // not known yet
  if (isPlain(a) || isPlain(b)) return static_cast<Spaces>(isPlain(a) ? b : a);
  return existing_;
}

AddressOrigins::Origin AddressOrigins::shifted(const Origin& value, unsigned amount) const {
  if (value.pieceEnd == 0) return {isPlain(value.spaces) ? onlyGlobal : existing_};
  const unsigned end = std::min(value.pieceEnd + amount, 64u);
  return {isPlain(value.spaces) && end <= windowShift ? onlyGlobal : existing_, static_cast<uint8_t>(end)};
}

AddressOrigins::Origin AddressOrigins::find(const Instruction& instruction) const {
  if (instruction.type != ir::I64) return {existing_};
  const auto& x = instruction.operands;
  auto spaces = [&](size_t i) { return known_[x[i]->id].spaces; };
  auto isConstant = [&](size_t i) { return x[i]->isConstant(); };
  unsigned pieceEnd = 0;
  for (const Instruction* operand : x) pieceEnd = std::max<unsigned>(pieceEnd, known_[operand->id].pieceEnd);
  auto with = [&](Spaces result) { return Origin{result, static_cast<uint8_t>(pieceEnd)}; };
  switch (instruction.op) {
    case Op::Constant: return {spacesOfConstant(instruction.payload, existing_)};
    case Op::Undef: return {};
    case Op::Input: return {onlyGlobal};
    case Op::ZExt:
    case Op::SExt: return piece(x[0]->type.isBool() ? 1 : x[0]->type.bits);
    case Op::Load: return {instruction.memory.space == Space::Param ? onlyGlobal : existing_};
    case Op::VecExtract: {
      bool isParameter = x[0]->op == Op::Load && x[0]->memory.space == Space::Param;
      return {isParameter ? onlyGlobal : existing_};
    }
    case Op::Add:
    case Op::Or: return with(sum(spaces(0), spaces(1)));
    case Op::Sub: return with(isPlain(spaces(1)) ? spaces(0) : existing_);
    case Op::And: {
      if (!isConstant(0) && !isConstant(1))
        return with(isPlain(spaces(0)) && isPlain(spaces(1)) ? onlyGlobal : existing_);
      const size_t mask = isConstant(1) ? 1 : 0;
      const uint64_t window = x[mask]->payload & abi::windowMask;
      if (window == 0)
        return remainder(known_[x[1 - mask]->id], static_cast<unsigned>(std::bit_width(x[mask]->payload)));
      return with(window == abi::windowMask ? spaces(1 - mask) : existing_);
    }
    case Op::Phi:
    case Op::Select: {
      Spaces result = 0;
      for (size_t i = instruction.op == Op::Select ? 1 : 0; i < x.size(); i++) result |= spaces(i);
      return with(result);
    }
    case Op::LShr:
    case Op::AShr:
      if (isConstant(1) && x[1]->payload >= 64 - windowShift)
        return remainder(known_[x[0]->id], 64 - static_cast<unsigned>(x[1]->payload));
      return with(isPlain(spaces(0)) ? onlyGlobal : existing_);
    case Op::Shl: return shifted(known_[x[0]->id], isConstant(1) ? static_cast<unsigned>(x[1]->payload) : 64);
    case Op::Mul: {
      if (!isConstant(1)) return with(isPlain(spaces(0)) && isPlain(spaces(1)) ? onlyGlobal : existing_);
      return shifted(known_[x[0]->id], static_cast<unsigned>(std::countr_zero(x[1]->payload)));
    }
    case Op::URem: return with(isPlain(spaces(1)) ? onlyGlobal : existing_);  // less than a distance
    case Op::UDiv:
    case Op::SDiv:
    case Op::SRem:
    case Op::Neg:
    case Op::Not:
    case Op::Xor:
      return with(std::ranges::all_of(x, [&](auto* value) { return isPlain(known_[value->id].spaces); }) ? onlyGlobal
                                                                                                         : existing_);
    default: return {existing_};
  }
}

ModuleAddresses::ModuleAddresses(const ir::Function& function) : kinds_(function.instructionIdBound(), Unseen) {
  updateUntilSettled(function, [this](const Instruction& i, const ir::Block&) {
    const Kind found = find(i);
    if (found >= kinds_[i.id]) return false;
    kinds_[i.id] = found;
    return true;
  });
}

ModuleAddresses::Kind ModuleAddresses::find(const Instruction& i) const {
  if (i.type != ir::I64) return Number;
  auto kind = [&](size_t operand) { return kinds_[i.operands[operand]->id]; };
  switch (i.op) {
    case Op::Input: return i.payload == static_cast<uint64_t>(ir::InputKind::ModuleData) ? Address : Number;
    case Op::Add:
    case Op::Sub: {
      if (kind(0) == Unseen || kind(1) == Unseen) return Unseen;
      const bool isAddress = i.op == Op::Add ? kind(0) != kind(1) : kind(0) == Address && kind(1) == Number;
      return isAddress ? Address : Number;
    }
    case Op::Select: return std::min(kind(1), kind(2));
    case Op::Phi: {
      Kind result = Unseen;
      for (size_t n = 0; n < i.operands.size(); ++n) result = std::min(result, kind(n));
      return result;
    }
    default: return Number;
  }
}

const Instruction* pointerOf(const Instruction* address) {
  auto isOffset = [](const Instruction& i) {
    using ir::Op;
    return i.isConstant() || i.op == Op::ZExt || i.op == Op::SExt || i.op == Op::Shl || i.op == Op::Mul;
  };
  constexpr int mostSteps = 100;  // a loop's phi may lead back to itself
  for (int step = 0; step < mostSteps; ++step) {
    if (address->op == ir::Op::Add) address = address->operands[isOffset(*address->operands[0]) ? 1 : 0];
    else if (address->op == ir::Op::Phi) address = address->operands[0];
    else break;
  }
  return address;
}

}  // namespace mulciber::analyses
