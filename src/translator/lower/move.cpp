// mov: copies, packs, unpacks, and takes addresses.
#include "translator/lower/families.h"

namespace mulciber::lower {
namespace {

void lowerMov(FunctionLowering& f, const ptx::Instruction& instruction) {
  ptx::Type type = instruction.type();
  ir::Type result = irType(type);
  if (instruction.has(ptx::Mod::v2)) result = result.withLanes(2);
  if (instruction.has(ptx::Mod::v4)) result = result.withLanes(4);
  f.write(instruction.operands[0], f.value(instruction.operands[1], result));
}

constexpr Lowering rows[] = {{ptx::Opcode::Mov, lowerMov}};

}  // namespace

std::span<const Lowering> moveLowerings() { return rows; }

}  // namespace mulciber::lower
