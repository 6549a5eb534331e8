// Copies functions and variables of one module into another, replacing what they refer to.
#pragma once

#include <unordered_map>

#include "translator/ptx/arena.h"
#include "translator/ptx/ast.h"

namespace mulciber::ptx {

class Cloner {
 public:
  // Source offsets are moved by `shift`, file numbers of .loc lines by `firstFile`.
  Cloner(Arena& arena, SourceOffset shift, uint32_t firstFile) : arena_(arena), shift_(shift), firstFile_(firstFile) {}

  // What module-scope names stand for in the new module; set for all of them before anything is copied.
  void replace(const Function* function, const Function* by) { functions_[function] = by; }
  void replace(const Variable* variable, const Variable* by) { variables_[variable] = by; }

  const Function* replacement(const Function* function) const { return functions_.at(function); }
  const Variable* replacement(const Variable* variable) const { return variables_.at(variable); }

  // Fills in a node that stands for `from`: all but its name.
  void copy(const Function& from, Function& to);
  void copy(const Variable& from, Variable& to);

 private:
  std::span<Operand> operands(std::span<const Operand> from);
  void update(Operand& operand);
  Statement statement(const Statement& from, const Function& owner);
  Variable* local(const Variable& from, const Function& owner);
  std::span<Variable* const> locals(std::span<Variable* const> from, const Function& owner);
  const Variable* use(const Variable* variable) const;

  Arena& arena_;
  SourceOffset shift_;
  uint32_t firstFile_;
  std::unordered_map<const Function*, const Function*> functions_;
  std::unordered_map<const Variable*, const Variable*> variables_;
  std::unordered_map<const Variable*, const Variable*> locals_;  // of the function being copied
  std::unordered_map<const TargetList*, const TargetList*> targets_;
};

}  // namespace mulciber::ptx
