// Finds the forms of the instruction table that an opcode with its modifiers can mean.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "translator/ptx/instruction_table.h"
#include "translator/ptx/target.h"

namespace mulciber::ptx {

// The version and target that a module declares.
struct ModuleTarget {
  uint8_t version = 90;  // 10 * major + minor
  Target target{90, 'a'};
  bool hasEverything = false;  // nothing is asked of them

  // Empty, or what is missing: "needs .target sm_80 or later".
  std::string missing(Requirement requirement, Requirement removed = {0, 0}) const;
};

// An operand of a form once the modifiers are known.
struct ExpectedOperand {
  const FormOperand* form;
  Type type;         // None: any register that can hold an address
  bool isFixedType;  // named by the form, not by a modifier
  uint16_t count;    // elements of a vector, 0 for a scalar
  StateSpace space;  // Address: None is generic
};

struct MatchedForm {
  const Form* form;
  std::vector<ExpectedOperand> operands;
};

struct FormMatch {
  std::vector<MatchedForm> candidates;  // that the module's version and target have
  std::string problem;                  // why there are none
  std::optional<size_t> culprit;        // the modifier that the problem is about
};

class FormMatcher {
 public:
  explicit FormMatcher(ModuleTarget target) : target_(target) {}

  // Remembers what it found: near constant time for modifiers seen before. Valid as long as the matcher.
  const FormMatch& match(Opcode opcode, std::span<const Mod> modifiers);

 private:
  struct Entry {
    uint32_t hash = 0;
    Opcode opcode{};
    std::vector<Mod> modifiers;
    std::unique_ptr<FormMatch> match;
  };
  void grow();
  std::unique_ptr<FormMatch> resolve(Opcode opcode, std::span<const Mod> modifiers) const;

  ModuleTarget target_;
  std::vector<Entry> slots_ = std::vector<Entry>(256);
  size_t used_ = 0;
};

// Which choice each group of `form` makes of `modifiers`, or nothing when they do not fit.
std::optional<std::vector<const FormChoice*>> chooseModifiers(const Form& form, std::span<const Mod> modifiers);

// The rules that hold beyond the groups: vectors of .vec within 128 bits, cache controls on global memory alone.
bool isPossible(const Form& form, std::span<const FormChoice* const> choices);

// Every operand the form has with these modifiers.
MatchedForm expectOperands(const Form& form, std::span<const FormChoice* const> choices);

// "add.sat.s32"
std::string fullName(Opcode opcode, std::span<const Mod> modifiers);

}  // namespace mulciber::ptx
