#include "translator/ptx/undefined.h"

#include <algorithm>
#include <unordered_set>

namespace mulciber::ptx {
namespace {

class Search {
 public:
  std::vector<Undefined> run(const Module& module, Extent extent) {
    for (const Variable* variable : module.variables) visit(*variable);
    for (const Function* function : module.functions)
      if (function->isEntry || extent == Extent::EveryFunction) add(*function);
    while (!toVisit_.empty()) {
      const Function* function = toVisit_.back();
      toVisit_.pop_back();
      for (const Statement& statement : function->body) {
        if (statement.kind == Statement::Kind::Variable) visit(*statement.variable);
        if (statement.kind == Statement::Kind::Instruction) visit(statement.instruction->operands);
        if (statement.kind == Statement::Kind::TargetList) visit(statement.targets->targets);
      }
    }
    std::ranges::sort(undefined_, {}, &Undefined::where);
    return std::move(undefined_);
  }
  bool found(const Function& function) const { return seen_.contains(&resolved(function)); }

 private:
  static const Function& resolved(const Function& named) { return named.aliasee ? *named.aliasee : named; }

  void add(const Function& function) {
    if (isDefinition(function) && seen_.insert(&function).second) toVisit_.push_back(&function);
  }

  void use(const Function& named, SourceOffset where, bool isInCode) {
    const Function& function = resolved(named);
    if (isDefinition(function)) return add(function);
    if (!isProvidedFunction(function.name) && seen_.insert(&function).second)
      undefined_.push_back({function.name, where, isInCode});
  }

  void visit(const Variable& variable) {
    if (!variable.initializer) return;
    for (const InitializerElement& element : variable.initializer->elements)
      if (element.function) use(*element.function, element.where, false);
  }

  void visit(std::span<const Operand> operands) {
    for (const Operand& operand : operands) {
      if (operand.kind == Operand::Kind::Function) use(*operand.function, operand.where, true);
      visit(operand.elements);
    }
  }

  std::unordered_set<const Function*> seen_;
  std::vector<const Function*> toVisit_;
  std::vector<Undefined> undefined_;
};

}  // namespace

bool isProvidedFunction(std::string_view name) {
  static constexpr std::string_view names[] = {"vprintf",
                                               "malloc",
                                               "free",
                                               "__assertfail",
                                               "cudaGraphSetConditional",
                                               "cudaCGGetIntrinsicHandle",
                                               "cudaCGSynchronize",
                                               "cudaCGSynchronizeGrid",
                                               "cudaCGGetSize",
                                               "cudaCGGetRank",
                                               "__cuda_syscall_CGS_get_intrinsic_handle",
                                               "__cuda_syscall_CGS_sync",
                                               "__cuda_syscall_CGS_get_size",
                                               "__cuda_syscall_CGS_get_rank"};
  return std::ranges::find(names, name) != std::end(names);
}

bool isDefinition(const Function& function) { return function.isDefined || function.aliasee; }
bool isDefinition(const Variable& variable) { return !variable.isExtern; }

bool isDynamicShared(const Variable& variable) { return variable.space == StateSpace::Shared && variable.isExtern; }

std::vector<Undefined> undefinedFunctions(const Module& module, Extent extent) { return Search().run(module, extent); }

std::vector<Function*> reachableFunctions(const Module& module) {
  Search search;
  search.run(module, Extent::Reachable);
  std::vector<Function*> functions;
  for (Function* function : module.functions)
    if (!isDefinition(*function) || search.found(*function)) functions.push_back(function);
  return functions;
}

}  // namespace mulciber::ptx
