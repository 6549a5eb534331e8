#include "translator/ptx/clone.h"

#include <vector>

namespace mulciber::ptx {

const Variable* Cloner::use(const Variable* variable) const {
  auto found = locals_.find(variable);
  return found != locals_.end() ? found->second : replacement(variable);
}

void Cloner::copy(const Variable& from, Variable& to) {
  const std::string_view name = to.name;
  to = from;
  to.name = name;
  to.where += shift_;
  if (!from.initializer) return;
  std::span<InitializerElement> elements = arena_.copy(from.initializer->elements);
  for (InitializerElement& element : elements) {
    if (element.variable) element.variable = use(element.variable);
    if (element.function) element.function = replacement(element.function);
    element.where += shift_;
  }
  auto* initializer = arena_.make<Initializer>(*from.initializer);
  initializer->elements = elements;
  to.initializer = initializer;
}

Variable* Cloner::local(const Variable& from, const Function& owner) {
  Variable* made = arena_.make<Variable>();
  made->name = from.name;
  copy(from, *made);
  made->owner = &owner;
  locals_[&from] = made;
  return made;
}

std::span<Variable* const> Cloner::locals(std::span<Variable* const> from, const Function& owner) {
  std::vector<Variable*> list;
  for (const Variable* variable : from) list.push_back(local(*variable, owner));
  return arena_.copy(list);
}

void Cloner::copy(const Function& from, Function& to) {
  const std::string_view name = to.name;
  to = from;
  to.name = name;
  to.where += shift_;
  if (from.aliasee) to.aliasee = replacement(from.aliasee);
  locals_.clear();
  targets_.clear();
  to.results = locals(from.results, to);
  to.parameters = locals(from.parameters, to);
  std::span<Register> registers = arena_.copy(from.registers);
  for (Register& reg : registers) reg.where += shift_;
  to.registers = registers;
  std::span<Statement> body = arena_.copy(from.body);
  for (Statement& s : body) s = statement(s, to);
  to.body = body;
}

Statement Cloner::statement(const Statement& from, const Function& owner) {
  Statement to = from;
  to.where += shift_;
  switch (from.kind) {
    case Statement::Kind::Instruction: {
      auto* instruction = arena_.make<Instruction>(*from.instruction);
      instruction->where += shift_;
      instruction->operands = operands(instruction->operands);
      if (instruction->guard) {
        instruction->guard = arena_.make<Operand>(*instruction->guard);
        update(*instruction->guard);
      }
      to.instruction = instruction;
      break;
    }
    case Statement::Kind::Variable: to.variable = local(*from.variable, owner); break;
    case Statement::Kind::TargetList: {
      auto* list = arena_.make<TargetList>(*from.targets);
      list->where += shift_;
      list->targets = operands(list->targets);
      targets_[from.targets] = list;
      to.targets = list;
      break;
    }
    case Statement::Kind::Location: {
      auto* location = arena_.make<Location>(*from.location);
      location->file += firstFile_;
      location->rest = {};  // refers to labels of a debug section
      to.location = location;
      break;
    }
    case Statement::Kind::Label:
    case Statement::Kind::ScopeBegin:
    case Statement::Kind::ScopeEnd:
    case Statement::Kind::Registers:
    case Statement::Kind::CallPrototype:
    case Statement::Kind::Pragma: break;
  }
  return to;
}

std::span<Operand> Cloner::operands(std::span<const Operand> from) {
  std::span<Operand> list = arena_.copy(from);
  for (Operand& operand : list) update(operand);
  return list;
}

// Operands nest at most twice: a vector inside a texture's brackets.
void Cloner::update(Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::Symbol:
    case Operand::Kind::Address:
      if (operand.variable) operand.variable = use(operand.variable);
      break;
    case Operand::Kind::Function: operand.function = replacement(operand.function); break;
    case Operand::Kind::BranchTarget: operand.targets = targets_.at(operand.targets); break;
    default: break;
  }
  operand.where += shift_;
  if (!operand.elements.empty()) operand.elements = operands(operand.elements);
}

}  // namespace mulciber::ptx
