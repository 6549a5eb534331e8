#include "translator/passes/dependencies.h"

namespace mulciber::passes {

using ir::Instruction;

std::vector<bool> findDependencies(const ir::Function& function, const std::vector<const Instruction*>& values,
                                   const std::function<bool(const Instruction&)>& follows) {
  std::vector<bool> found(function.instructionIdBound());
  std::vector<const Instruction*> work;
  auto visit = [&](const Instruction* value) {
    if (found[value->id]) return;
    found[value->id] = true;
    work.push_back(value);
  };
  for (const Instruction* value : values) visit(value);
  while (!work.empty()) {
    const Instruction* value = work.back();
    work.pop_back();
    if (!follows(*value)) continue;
    for (const Instruction* operand : value->operands) visit(operand);
  }
  return found;
}

}  // namespace mulciber::passes
