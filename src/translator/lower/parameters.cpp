#include "translator/lower/parameters.h"

#include <algorithm>
#include <unordered_set>

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

using VariableSet = std::unordered_set<const ptx::Variable*>;

VariableSet namedInCalls(const ptx::Function& function, ptx::CallShape list) {
  VariableSet named;
  for (const ptx::Statement& statement : function.body) {
    if (statement.kind != ptx::Statement::Kind::Instruction) continue;
    if (statement.instruction->opcode != ptx::Opcode::Call) continue;
    for (const ptx::Operand& operand : statement.instruction->operands[list].elements)
      if (operand.kind == ptx::Operand::Kind::Symbol) named.insert(operand.variable);
  }
  return named;
}

bool overlap(const std::vector<ParameterPiece>& pieces) {
  for (size_t i = 1; i < pieces.size(); i++)
    if (pieces[i - 1].offset + pieces[i - 1].type.bits / 8 > pieces[i].offset) return true;
  return false;
}

}  // namespace

std::vector<ParameterPiece> parameterWords(const ptx::Variable& variable, uint64_t size) {
  std::vector<ParameterPiece> words;
  const uint32_t step = std::clamp(variable.alignment, 1u, 8u);
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
  const VariableSet filled = namedInCalls(function, ptx::CallResults);
  const VariableSet taken = namedInCalls(function, ptx::CallArguments);
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
    if (shape.inFrame || (filled.contains(variable) && taken.contains(variable)))
      shape.pieces = parameterWords(*variable, variable->size);
  }
  return shapes;
}

}  // namespace mulciber::lower
