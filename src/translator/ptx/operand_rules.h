// Which operands an instruction takes: the types that registers, immediates and addresses may have, as ptxas has it.
#pragma once

#include <string>

#include "translator/ptx/form_matcher.h"

namespace mulciber::ptx {

// What the rules look at besides the operand.
struct OperandContext {
  const Function* function;
  uint32_t addressSize;
  Opcode opcode;
  std::span<const Mod> modifiers;
};

// Whether a register declared as `declared` may stand where an instruction wants `wanted`. A type that a modifier
// names is matched more freely than one the form fixes (`isFixed`); `wider` also allows wider registers.
bool registerFits(Type declared, Type wanted, bool isFixed, bool wider, bool inVector);

bool operandFits(const Operand& operand, const ExpectedOperand& expected, const OperandContext& context);

// Why operandFits() said no, to follow the operand's number: "is .f32 where .s32 is wanted".
std::string explainOperand(const Operand& operand, const ExpectedOperand& expected, const OperandContext& context);

}  // namespace mulciber::ptx
