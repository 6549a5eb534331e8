// PTX text for the forms of the instruction table: for tests of the parser, the comparison with ptxas, and the
// conformance kernels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "translator/ptx/form_matcher.h"

namespace mulciber::ptx {

// One choice for each group of a form, null where an optional one is left out.
using FormChoices = std::vector<const FormChoice*>;

// All required groups with their first choice, optional ones left out.
FormChoices simplestChoices(const Form& form);

// The simplest choices, then for every other choice of every group one instance that has it.
std::vector<FormChoices> singleVariations(const Form& form);

// How many combinations of modifiers there are, and one of them: index < count. Every valid combination occurs;
// where groups depend on each other some occur more than once.
uint64_t combinationCount(const Form& form);
FormChoices combination(const Form& form, uint64_t index);

// What stands for the operands.
enum class OperandShape : uint8_t {
  Registers,     // registers wherever they may stand, every one its own
  Immediates,    // constants wherever they may stand
  SameRegister,  // all operands of a type are one register
  Optional,      // registers, and every optional operand present
};

struct FormInstance {
  const Form* form = nullptr;
  std::vector<Mod> modifiers;
  std::vector<std::string> operands;

  std::string text() const;  // "add.sat.s32 %r1, %r2, %r3;"
};

FormInstance instantiate(const Form& form, const FormChoices& choices, OperandShape shape = OperandShape::Registers);

// Everything an instance may ask of the version and target: of the form and of each choice.
std::vector<Requirement> requirementsOf(const Form& form, const FormChoices& choices);

// Declarations of every register that instances name: %p .pred, %c .b8, %h .b16, %r .b32, %rd .b64, %q .b128,
// %f .f32, %fd .f64. The label is `DONE`, the branch target list `TARGETS`, the function `callee`.
// Without `has128` there are no .b128 registers, which old versions and targets do not know.
std::string registerDeclarations(bool has128);

// The name's prefix of registers that hold `type`.
std::string_view registerPrefix(Type type);

}  // namespace mulciber::ptx
