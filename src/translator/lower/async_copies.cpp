#include "translator/lower/async_copies.h"

#include <algorithm>

#include "translator/lower/memory_access.h"

namespace mulciber::lower {

using ptx::Mod;

namespace {

constexpr unsigned mostCopies = 8;  // registers are few

const ptx::Instruction* copyOf(const ptx::Statement& statement) {
  if (statement.kind != ptx::Statement::Kind::Instruction) return nullptr;
  const ptx::Instruction& instruction = *statement.instruction;
  const bool isCopy =
      instruction.opcode == ptx::Opcode::Cp && instruction.has(Mod::async) && !instruction.has(Mod::bulk);
  return isCopy ? &instruction : nullptr;
}

bool brings(const ptx::Instruction& copy) { return copy.has(Mod::ca) || copy.has(Mod::cg); }

bool copiesElsewhere(const ptx::Module& module, const ptx::Function& kernel) {
  return std::ranges::any_of(module.functions, [&](const ptx::Function* function) {
    return function != &kernel && !function->isEntry && std::ranges::any_of(function->body, copyOf);
  });
}

}  // namespace

// As many as follow each other without a branch: what a kernel has unrolled.
std::optional<AsyncCopies::Shape> AsyncCopies::shapeFor(const FunctionLowering& lowering) {
  const ptx::Function& function = lowering.function();
  if (!function.isEntry || !lowering.profile().hasWarps()) return std::nullopt;
  Shape shape{0, 0};
  unsigned inARow = 0;
  for (const ptx::Statement& statement : function.body) {
    const bool isBranch =
        statement.kind == ptx::Statement::Kind::Instruction && statement.instruction->opcode == ptx::Opcode::Bra;
    if (statement.kind == ptx::Statement::Kind::Label || isBranch) inARow = 0;
    const ptx::Instruction* copy = copyOf(statement);
    if (!copy || !brings(*copy)) continue;
    const auto bytes = static_cast<unsigned>(copy->operands[2].bits);
    const bool isKnown = bytes == 4 || bytes == 8 || bytes == 16;
    if (!isKnown || (shape.bytes != 0 && shape.bytes != bytes)) return std::nullopt;
    shape = {std::max(shape.count, ++inARow), bytes};
  }
  if (shape.count == 0 || copiesElsewhere(lowering.module(), function)) return std::nullopt;
  shape.count = std::min(shape.count, mostCopies);
  return shape;
}

AsyncCopies::AsyncCopies(FunctionLowering& lowering, Shape shape)
    : f(lowering), b(lowering.b), bytes_(shape.bytes), count_(b.function().addVariable(ir::I32, "copies")) {
  b.write(count_, b.i32(0));
  for (ir::VariableId& group : groups_) b.write(group = b.function().addVariable(ir::I32, "group"), b.i32(0));
  const ir::Type type = bytes_ == 4 ? ir::I32 : ir::I32.withLanes(static_cast<uint8_t>(bytes_ / 4));
  auto slot = [&] {
    return Slot{b.function().addVariable(ir::I32, "destination"), b.function().addVariable(type, "copied")};
  };
  nothing_ = slot();
  for (unsigned i = 0; i < shape.count; i++) slots_.push_back(slot());
}

void AsyncCopies::makeRoom() {
  storeFrom(b.i32(static_cast<uint32_t>(slots_.size()) - 1));
  for (size_t i = slots_.size() - 1; i > 0; i--) {
    b.write(slots_[i].destination, b.read(slots_[i - 1].destination));
    b.write(slots_[i].value, b.read(slots_[i - 1].value));
  }
}

void AsyncCopies::add(ir::Instruction* destination, ir::Instruction* value) {
  b.write(slots_[0].destination, destination);
  b.write(slots_[0].value, value);
  b.write(count_, b.add(b.read(count_), b.i32(1)));
  b.write(groups_[0], b.add(b.read(groups_[0]), b.i32(1)));
}

void AsyncCopies::commitGroup() {
  for (size_t i = groups_.size() - 1; i > 0; i--) b.write(groups_[i], b.read(groups_[i - 1]));
  b.write(groups_[0], b.i32(0));
}

// Of more groups than are counted the oldest copies are stored too early, which nobody can tell.
void AsyncCopies::waitForGroups(uint32_t pending) {
  if (pending == 0) return waitForAll();
  ir::Instruction* kept = b.read(groups_[0]);
  for (size_t i = 1; i < groups_.size() && i <= pending; i++) kept = b.add(kept, b.read(groups_[i]));
  storeFrom(kept);
}

// What is in the registers then is of no use, so that none are kept for it.
void AsyncCopies::waitForAll() {
  storeFrom(b.i32(0));
  for (const Slot& slot : slots_) {
    b.write(slot.destination, b.read(nothing_.destination));
    b.write(slot.value, b.read(nothing_.value));
  }
}

void AsyncCopies::storeFrom(ir::Instruction* first) {
  ir::Instruction* count = b.read(count_);
  for (size_t i = slots_.size(); i-- > 0;) {
    ir::Instruction* place = b.i32(static_cast<uint32_t>(i));
    f.beginIf(b.bitAnd(b.compare(ir::Op::ULe, first, place), b.compare(ir::Op::ULt, place, count)));
    const FunctionLowering::Address destination{b.read(slots_[i].destination), ir::Space::Shared, bytes_};
    b.store(destination.value, b.read(slots_[i].value), plainAccess(destination, bytes_));
    f.endIf();
  }
  b.write(count_, b.binary(ir::Op::UMin, count, first));
}

}  // namespace mulciber::lower
