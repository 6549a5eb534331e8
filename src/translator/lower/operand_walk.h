// Visits every operand of a function, those inside vectors, pairs and lists too.
#pragma once

#include "translator/ptx/ast.h"

namespace mulciber::lower {

template <typename Visit>
void forEachOperand(std::span<const ptx::Operand> operands, Visit&& visit) {
  for (const ptx::Operand& operand : operands) {
    visit(operand);
    forEachOperand(operand.elements, visit);
  }
}

// visit(instruction, operand)
template <typename Visit>
void forEachOperand(const ptx::Function& function, Visit&& visit) {
  for (const ptx::Statement& statement : function.body) {
    if (statement.kind != ptx::Statement::Kind::Instruction) continue;
    const ptx::Instruction& instruction = *statement.instruction;
    forEachOperand(instruction.operands, [&](const ptx::Operand& operand) { visit(instruction, operand); });
  }
}

}  // namespace mulciber::lower
