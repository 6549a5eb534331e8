// What the makers of cases share: registers and values for the operands of an instruction.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suite/case.h"
#include "forms/form_instances.h"

namespace mulciber::conformance {

using ptx::ExpectedOperand;
using ptx::Form;
using ptx::FormChoice;
using ptx::FormOperand;
using ptx::Mod;
using ptx::Opcode;
using ptx::StateSpace;
using ptx::Type;
using Kind = FormOperand::Kind;

// The register that holds a type: of the same width, or the next wider one.
Type registerType(Type type, bool wider);
// Values of the type; in a wider register anything may stand in the upper bits.
Values valuesOf(Type type, bool isCount = false);
Values valuesOf(Type type, Type reg, bool isCount = false);

// A case in the making.
class CaseMaker {
 protected:
  CaseMaker(const Form& form, const std::vector<const FormChoice*>& choices)
      : form_(form), modifiers_(form.name.begin(), form.name.end()) {
    for (const FormChoice* choice : choices)
      if (choice) modifiers_.push_back(choice->mod);
    operands_ = ptx::expectOperands(form, choices).operands;
    case_.form = &form;
  }

  bool has(Mod mod) const { return std::find(modifiers_.begin(), modifiers_.end(), mod) != modifiers_.end(); }
  std::string fullName() const { return ptx::fullName(form_.opcode, modifiers_); }

  std::string input(Type type, Values values) {
    case_.inputs.push_back({type, values});
    return "%a" + std::to_string(case_.inputs.size() - 1);
  }
  std::string result(Type type, Values format = Values::Int64) {
    case_.results.push_back(type);
    case_.formats.push_back(format);
    return "%d" + std::to_string(case_.results.size() - 1);
  }

  const Form& form_;
  std::vector<Mod> modifiers_;
  std::vector<ExpectedOperand> operands_;
  Case case_;
};

}  // namespace mulciber::conformance
