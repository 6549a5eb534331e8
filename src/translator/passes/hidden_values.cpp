#include "translator/passes/hidden_values.h"

namespace mulciber::passes {

using ir::Instruction;
using ir::Op;

ir::Type maskType(ir::Type type) { return type.isBool() ? ir::I32 : ir::intType(type.totalBits()); }

Instruction* flip(ir::Builder& b, Instruction* value, Instruction* mask) {
  if (value->type.isBool()) return b.bitXor(value, b.compare(Op::INe, mask, b.i32(0)));
  return b.bitcast(value->type, b.bitXor(b.bitcast(mask->type, value), mask));
}

// Zeros times odd numbers are others to a driver.
Instruction* HiddenValues::zero(unsigned version) {
  ir::Builder b(function_, &head_);
  if (!first_) {
    Instruction *y = b.input(ir::InputKind::GridDimY), *z = b.input(ir::InputKind::GridDimZ);
    Instruction *upper = b.bitAnd(y, b.i32(0xFFFF'0000)), *lower = b.lshr(z, b.i32(16));
    first_ = b.bitOr(upper, lower);
    number_ = function_.hidings++;
  }
  const uint32_t odd = 2 * (number_ * mostVersions + version) + 1;
  return odd == 1 ? first_ : b.binary(Op::Mul, first_, b.i32(odd));
}

Instruction* HiddenValues::zero(unsigned version, unsigned bits) {
  const std::pair key{version, bits};
  if (const auto found = zeros_.find(key); found != zeros_.end()) return found->second;
  Instruction* result = bits == 32 ? zero(version) : nullptr;
  if (!result) {
    ir::Builder b(function_, &head_);
    Instruction* word = zero(version, 32);
    if (bits < 32) {
      result = b.convert(Op::Trunc, ir::intType(bits), word);
    } else {
      Instruction* low = b.convert(Op::ZExt, ir::I64, word);
      result = b.bitOr(b.shl(low, b.i32(32)), low);
    }
  }
  return zeros_[key] = result;
}

void HiddenValues::carryWords(ir::Program& program, unsigned room) {
  program_ = &program;
  room_ = room;
}

Instruction* HiddenValues::carriedWord(ir::Type type, uint32_t word) {
  ir::Builder b(function_, &head_);
  const auto number = static_cast<uint32_t>(program_->carriedWords.size());
  const uint32_t offset = program_->carriedOffset() + number * static_cast<uint32_t>(sizeof(word));
  program_->carriedWords.push_back(word);
  ir::MemoryAccess access;
  access.space = ir::Space::Param;
  access.alignment = sizeof(word);
  return b.load(type, b.i32(offset), access);
}

Instruction* HiddenValues::constant(ir::Type type, uint64_t bits) {
  Instruction*& found = constants_[{type.isFloat(), type.bits, bits}];
  if (found) return found;
  if (type.bits == 32 && !type.isVector() && program_ && program_->carriedWords.size() < room_)
    found = carriedWord(type, static_cast<uint32_t>(bits));
  else found = hiddenConstant(type, bits);
  constantIds_.insert(found->id);
  return found;
}

Instruction* HiddenValues::hiddenConstant(ir::Type type, uint64_t bits) {
  Instruction* mask = zero(0, maskType(type).bits);
  ir::Builder b(function_, &head_);
  return flip(b, b.constant(type, bits), mask);
}

Instruction* HiddenValues::hide(ir::Builder& b, Instruction* value, unsigned version) {
  return flip(b, value, zero(version, maskType(value->type).bits));
}

Instruction* HiddenValues::hide(Instruction* value, unsigned version) {
  Instruction*& copy = copies_[{value->id, version}];
  if (copy) return copy;
  // A copy stands behind what it was made of until they are inserted.
  const auto original = originals_.find(value->id);
  Instruction* place = original == originals_.end() ? value : original->second;
  ir::Builder behind = after(place);
  copy = hide(behind, value, version);
  originals_[copy->id] = place;
  return copy;
}

bool HiddenValues::apply() {
  if (head_.instructions.empty()) return false;
  insertions_.apply();
  auto& entry = function_.blocks.front()->instructions;
  entry.insert(entry.begin(), head_.instructions.begin(), head_.instructions.end());
  return true;
}

}  // namespace mulciber::passes
