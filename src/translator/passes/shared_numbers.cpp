#include "translator/passes/shared_numbers.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

constexpr uint64_t mostSharedBytes = 1 << 20;  // more than any device has
constexpr uint32_t wordBytes = 16;             // what is put behind the kernel's own memory, of which one word is used
// One look at a stored number costs as much as this many looks at numbers that are loaded.
constexpr unsigned readsForEach = 4;

bool isShared(const Instruction& i) { return ir::hasAddress(i.op) && i.memory.space == ir::Space::Shared; }

ir::MemoryAccess access() {
  ir::MemoryAccess result;
  result.space = ir::Space::Shared;
  result.alignment = 4;
  return result;
}

}  // namespace

SharedNumbers::SharedNumbers(ir::Function& function, ir::Program& program, const TargetProfile& profile, float least)
    : function_(function), program_(program), least_(least), isPossible_(findWhetherPossible(profile)) {}

bool SharedNumbers::findWhetherPossible(const TargetProfile& profile) const {
  if (program_.hasGenericShared || program_.waits || program_.namesDynamicShared || reachesDynamicMemory())
    return false;
  if (program_.sharedBytes + 2 * wordBytes > profile.maxSharedBytes) return false;
  unsigned stored = 0, loaded = 0;
  for (const Block* block : function_.blocks)
    for (const Instruction* i : block->instructions) {
      if (i->op == Op::Call) return false;
      if (!isShared(*i)) continue;
      if (i->memory.order != ir::Order::Weak || i->memory.isVolatile) return false;
      const bool isLoad = i->op == Op::Load;
      const ir::Type type = isLoad ? i->type : i->op == Op::Store ? i->operands[1]->type : ir::Type{};
      if (type.bits != 32 || (isLoad && !type.isFloat())) return false;
      (isLoad ? loaded : stored) += type.lanes;
    }
  return stored != 0 && loaded >= readsForEach * stored;
}

// By a number for an address: it begins where static memory ends.
bool SharedNumbers::reachesDynamicMemory() const {
  const uint64_t first = program_.sharedBytes, behind = first + mostSharedBytes;
  for (const Block* block : function_.blocks)
    for (const Instruction* i : block->instructions) {
      if (i->op != Op::Add && i->op != Op::WriteVar && !isShared(*i)) continue;
      for (const Instruction* x : i->operands)
        if (x->isConstant() && x->type.isInt() && x->payload >= first && x->payload < behind) return true;
    }
  return false;
}

const Instruction* SharedNumbers::loadOf(const Instruction* value) {
  if (value->op == Op::VecExtract) value = value->operands[0];
  return value->op == Op::Load && isShared(*value) ? value : nullptr;
}

Instruction* SharedNumbers::readWord(ir::Builder& b) {
  if (!address_) {
    address_ = (program_.sharedBytes + wordBytes - 1) / wordBytes * wordBytes;
    program_.sharedBytes = *address_ + wordBytes;
  }
  return b.load(ir::I32, b.i32(*address_), access());
}

void SharedNumbers::begin(ir::Builder& b) {
  b.store(b.i32(*address_), b.i32(0), access());
  b.emit(Op::Barrier, ir::Type{}, {});
}

// The word is written behind several stores, but before anybody may load what they stored.
void SharedNumbers::lookAtStores(ir::Builder& b) {
  const auto isStore = [](const Instruction* i) { return i->op == Op::Store && isShared(*i); };
  for (size_t n = 0, count = function_.blocks.size(); n < count; ++n) {
    Block* block = function_.blocks[n];
    if (std::ranges::none_of(block->instructions, isStore)) continue;
    const std::vector<Instruction*> old = std::exchange(block->instructions, {});
    ir::Terminator end = std::exchange(block->terminator, {});
    b.setBlock(block);
    Instruction* least = nullptr;
    for (Instruction* i : old) {
      const bool isLoad = i->op == Op::Load && isShared(*i);
      if (least &&
          (isLoad || (ir::hasSideEffects(i->op) && i->op != Op::WriteVar && !isStore(i)) || ir::isConvergent(i->op)))
        remember(b, std::exchange(least, nullptr));
      b.block()->instructions.push_back(i);
      if (isStore(i)) least = lookAt(b, *i, least);
    }
    if (least) remember(b, least);
    b.block()->terminator = std::move(end);
  }
}

Instruction* SharedNumbers::lookAt(ir::Builder& b, const Instruction& store, Instruction* least) {
  b.setSource(store.source);
  Instruction* value = store.operands[1];
  for (unsigned lane = 0; lane < value->type.lanes; ++lane) {
    Instruction* number = value->type.isVector() ? b.extract(value, lane) : value;
    Instruction* magnitude = twiceTheBitsLessOne(b, number);
    least = least ? b.binary(Op::UMin, least, magnitude) : magnitude;
  }
  return least;
}

void SharedNumbers::remember(ir::Builder& b, Instruction* least) {
  Block *small = function_.addBlock(), *behind = function_.addBlock();
  b.branch(b.compare(Op::ULt, least, b.i32(2 * std::bit_cast<uint32_t>(least_) - 1)), small, behind);
  b.setBlock(small);
  b.store(b.i32(*address_), b.i32(1), access());
  b.branch(behind);
  b.setBlock(behind);
}

Instruction* twiceTheBitsLessOne(ir::Builder& b, Instruction* number) {
  Instruction* bits = b.bitcast(ir::I32, number);
  return b.sub(b.add(bits, bits), b.i32(1));
}

}  // namespace mulciber::passes
