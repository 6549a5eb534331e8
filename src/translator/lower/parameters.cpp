#include "translator/lower/parameters.h"

#include <algorithm>

#include "translator/lower/function_lowering.h"
#include "translator/lower/memory_access.h"
#include "translator/lower/operand_walk.h"

namespace mulciber::lower {
namespace {

bool isCallParameter(const ptx::Function& function, const ptx::Variable& variable) {
  if (variable.space != ptx::StateSpace::Param) return false;
  return !function.isEntry ||
         std::find(function.parameters.begin(), function.parameters.end(), &variable) == function.parameters.end();
}

void addPieces(ParameterShape& shape, const ptx::Instruction& instruction, int64_t offset) {
  ir::Type type = irType(instruction.type());
  unsigned count = vectorLength(instruction) * type.lanes;
  for (unsigned i = 0; i < count; i++) {
    ParameterPiece piece{static_cast<uint32_t>(offset) + i * type.bits / 8, type.scalar()};
    auto same = [&](const ParameterPiece& other) {
      return other.offset == piece.offset && other.type.bits == piece.type.bits;
    };
    if (std::none_of(shape.pieces.begin(), shape.pieces.end(), same)) shape.pieces.push_back(piece);
  }
}

bool overlap(const std::vector<ParameterPiece>& pieces) {
  for (size_t i = 1; i < pieces.size(); i++)
    if (pieces[i - 1].offset + pieces[i - 1].type.bits / 8 > pieces[i].offset) return true;
  return false;
}

}  // namespace

std::vector<ParameterPiece> parameterWords(const ptx::Variable& variable) {
  std::vector<ParameterPiece> words;
  uint32_t step = std::clamp(variable.alignment, 1u, 8u);
  auto size = static_cast<uint32_t>(variable.size);
  for (uint32_t offset = 0; offset < size;) {
    uint32_t bytes = step;
    while (bytes > size - offset) bytes /= 2;
    words.push_back({offset, ir::intType(bytes * 8)});
    offset += bytes;
  }
  return words;
}

std::unordered_map<const ptx::Variable*, ParameterShape> parameterShapes(const ptx::Function& function) {
  std::unordered_map<const ptx::Variable*, ParameterShape> shapes;
  forEachOperand(function, [&](const ptx::Instruction& instruction, const ptx::Operand& operand) {
    using Kind = ptx::Operand::Kind;
    bool isAddress = operand.kind == Kind::Address;
    if (!(isAddress || operand.kind == Kind::Symbol) || !operand.variable) return;
    if (!isCallParameter(function, *operand.variable)) return;
    ParameterShape& shape = shapes[operand.variable];
    bool isAccess = instruction.opcode == ptx::Opcode::Ld || instruction.opcode == ptx::Opcode::St;
    if (isAddress && isAccess && !operand.isIndexed && operand.offset >= 0) {
      addPieces(shape, instruction, operand.offset);
    } else if (instruction.opcode != ptx::Opcode::Call) {
      shape.inFrame = true;
    }
  });
  for (auto& [variable, shape] : shapes) {
    std::sort(shape.pieces.begin(), shape.pieces.end(),
              [](const ParameterPiece& a, const ParameterPiece& b) { return a.offset < b.offset; });
    if (overlap(shape.pieces)) shape.inFrame = true;
    if (shape.inFrame) shape.pieces = parameterWords(*variable);
  }
  return shapes;
}

}  // namespace mulciber::lower
