#include "support/ptx_difference.h"

#include <unordered_map>

#include "translator/ptx/printer.h"

namespace mulciber::test {
namespace {

using namespace ptx;

// Nodes are paired as they are met: a name resolved to another node of the same name is a difference.
class Comparer {
 public:
  std::string run(const Module& a, const Module& b);

 private:
  void check(bool same, std::string_view what) {
    if (same || !result_.empty()) return;
    result_ = std::string(what);
    if (function_) result_ += " in function " + std::string(function_->name);
    if (instruction_) result_ += " at " + print(*instruction_, *function_);
  }
  template <class T>
  void checkSize(const T& a, const T& b, std::string_view what) {
    check(a.size() == b.size(), what);
  }
  void pair(const void* a, const void* b, std::string_view what) {
    check(!a == !b, what);
    if (!a || !b) return;
    auto [entry, isNew] = pairs_.try_emplace(a, b);
    check(entry->second == b, what);
  }
  template <class T>
  bool all(const T& a, const T& b, std::string_view what) {
    checkSize(a, b, what);
    return result_.empty();
  }

  void variable(const Variable& a, const Variable& b);
  void variables(std::span<Variable* const> a, std::span<Variable* const> b, std::string_view what);
  void function(const Function& a, const Function& b);
  void statement(const Statement& a, const Statement& b);
  void operand(const Operand& a, const Operand& b);
  void operands(std::span<const Operand> a, std::span<const Operand> b);

  std::string result_;
  const Function* function_ = nullptr;
  const Instruction* instruction_ = nullptr;
  std::unordered_map<const void*, const void*> pairs_;
};

void Comparer::variable(const Variable& a, const Variable& b) {
  pair(&a, &b, "variable");
  const std::string name = " of variable " + std::string(a.name);
  check(a.name == b.name, "name" + name);
  check(a.space == b.space && a.type == b.type && a.vector == b.vector && a.size == b.size, "type" + name);
  check(a.alignment == b.alignment && a.isArray == b.isArray && a.constBank == b.constBank, "layout" + name);
  check(a.isExtern == b.isExtern && a.isVisible == b.isVisible && a.isWeak == b.isWeak && a.isCommon == b.isCommon,
        "linkage" + name);
  check(a.isManaged == b.isManaged && a.isUnified == b.isUnified && a.unifiedId[0] == b.unifiedId[0] &&
            a.unifiedId[1] == b.unifiedId[1],
        "attributes" + name);
  check(a.isPointer == b.isPointer && a.pointerSpace == b.pointerSpace && a.pointerAlignment == b.pointerAlignment,
        ".ptr" + name);
  if (all(a.dimensions, b.dimensions, "dimensions" + name))
    for (size_t i = 0; i < a.dimensions.size(); ++i) check(a.dimensions[i] == b.dimensions[i], "dimension" + name);
  check(!a.initializer == !b.initializer, "initial value" + name);
  if (!a.initializer || !b.initializer) return;
  const auto &x = *a.initializer, &y = *b.initializer;
  if (all(x.elements, y.elements, "initial values" + name)) {
    for (size_t i = 0; i < x.elements.size(); ++i) {
      const InitializerElement &p = x.elements[i], &q = y.elements[i];
      check(p.index == q.index && p.bits == q.bits && p.maskByte == q.maskByte && p.isGeneric == q.isGeneric &&
                p.isSymbol == q.isSymbol,
            "initial value" + name);
      pair(p.variable, q.variable, "initial address" + name);
      pair(p.function, q.function, "initial address" + name);
    }
  }
  if (all(x.fields, y.fields, "properties" + name))
    for (size_t i = 0; i < x.fields.size(); ++i)
      check(x.fields[i].name == y.fields[i].name && x.fields[i].value == y.fields[i].value, "property" + name);
}

void Comparer::variables(std::span<Variable* const> a, std::span<Variable* const> b, std::string_view what) {
  if (all(a, b, what))
    for (size_t i = 0; i < a.size(); ++i) variable(*a[i], *b[i]);
}

void Comparer::function(const Function& a, const Function& b) {
  function_ = &a;
  pair(&a, &b, "function");
  check(a.name == b.name, "function's name");
  check(a.isEntry == b.isEntry && a.isDefined == b.isDefined && a.isNoReturn == b.isNoReturn, "kind");
  check(a.isExtern == b.isExtern && a.isVisible == b.isVisible && a.isWeak == b.isWeak, "linkage");
  check(a.isUnified == b.isUnified && a.unifiedId[0] == b.unifiedId[0] && a.unifiedId[1] == b.unifiedId[1],
        "attributes");
  check(a.abiPreserve == b.abiPreserve && a.abiPreserveControl == b.abiPreserveControl, ".abi_preserve");
  const PerformanceDirectives &p = a.performance, &q = b.performance;
  for (int i = 0; i < 3; ++i)
    check(p.maxThreads[i] == q.maxThreads[i] && p.requiredThreads[i] == q.requiredThreads[i] &&
              p.requiredCluster[i] == q.requiredCluster[i],
          "thread counts");
  check(p.maxThreadCount == q.maxThreadCount && p.requiredThreadCount == q.requiredThreadCount &&
            p.requiredClusterCount == q.requiredClusterCount,
        "written thread counts");
  check(p.minBlocksPerSm == q.minBlocksPerSm && p.maxBlocksPerSm == q.maxBlocksPerSm &&
            p.maxRegisters == q.maxRegisters && p.maxClusterRank == q.maxClusterRank &&
            p.explicitCluster == q.explicitCluster && p.blocksAreClusters == q.blocksAreClusters,
        "performance directives");
  if (all(a.pragmas, b.pragmas, "pragmas"))
    for (size_t i = 0; i < a.pragmas.size(); ++i) check(a.pragmas[i] == b.pragmas[i], "pragma");
  variables(a.results, b.results, "results");
  variables(a.parameters, b.parameters, "parameters");
  if (all(a.registers, b.registers, "registers"))
    for (size_t i = 0; i < a.registers.size(); ++i)
      check(a.registers[i].name == b.registers[i].name && a.registers[i].type == b.registers[i].type &&
                a.registers[i].vector == b.registers[i].vector,
            "register " + std::string(a.registers[i].name));
  pair(a.aliasee, b.aliasee, "alias");
  if (all(a.body, b.body, "number of statements"))
    for (size_t i = 0; i < a.body.size(); ++i) statement(a.body[i], b.body[i]);
  function_ = nullptr;
}

void Comparer::statement(const Statement& a, const Statement& b) {
  check(a.kind == b.kind, "kind of statement");
  if (!result_.empty()) return;
  switch (a.kind) {
    case Statement::Kind::Instruction: {
      const Instruction &p = *a.instruction, &q = *b.instruction;
      instruction_ = &p;
      check(p.opcode == q.opcode, "opcode");
      if (all(p.modifiers, q.modifiers, "modifiers"))
        for (size_t i = 0; i < p.modifiers.size(); ++i) check(p.modifiers[i] == q.modifiers[i], "modifier");
      check(!p.guard == !q.guard, "guard");
      if (p.guard && q.guard) operand(*p.guard, *q.guard);
      operands(p.operands, q.operands);
      instruction_ = nullptr;
      break;
    }
    case Statement::Kind::Label:
      pair(a.label, b.label, "label");
      check(a.label->name == b.label->name && a.label->statement == b.label->statement, "label");
      break;
    case Statement::Kind::Registers:
      check(a.registers->name == b.registers->name && a.registers->count == b.registers->count &&
                a.registers->type == b.registers->type && a.registers->vector == b.registers->vector,
            "register declaration");
      break;
    case Statement::Kind::Variable: variable(*a.variable, *b.variable); break;
    case Statement::Kind::CallPrototype:
      pair(a.prototype, b.prototype, "prototype");
      check(a.prototype->name == b.prototype->name && a.prototype->isNoReturn == b.prototype->isNoReturn, "prototype");
      variables(a.prototype->results, b.prototype->results, "prototype's results");
      variables(a.prototype->parameters, b.prototype->parameters, "prototype's parameters");
      break;
    case Statement::Kind::TargetList:
      pair(a.targets, b.targets, "target list");
      check(a.targets->name == b.targets->name && a.targets->isCall == b.targets->isCall, "target list");
      operands(a.targets->targets, b.targets->targets);
      break;
    case Statement::Kind::Location:
      check(a.location->file == b.location->file && a.location->line == b.location->line &&
                a.location->column == b.location->column && a.location->rest == b.location->rest,
            ".loc");
      break;
    case Statement::Kind::Pragma: check(*a.pragma == *b.pragma, "pragma"); break;
    case Statement::Kind::ScopeBegin:
    case Statement::Kind::ScopeEnd: break;
  }
}

void Comparer::operands(std::span<const Operand> a, std::span<const Operand> b) {
  if (all(a, b, "number of operands"))
    for (size_t i = 0; i < a.size(); ++i) operand(a[i], b[i]);
}

void Comparer::operand(const Operand& a, const Operand& b) {
  check(a.kind == b.kind, "kind of operand");
  check(a.negated == b.negated && a.select == b.select && a.lanes == b.lanes, "operand's selection");
  check(a.isSingle == b.isSingle && a.isUnsigned == b.isUnsigned && a.bits == b.bits, "constant");
  check(a.hasRegister == b.hasRegister && a.isIndexed == b.isIndexed && a.isUnified == b.isUnified && a.reg == b.reg,
        "register or address");
  check(a.special == b.special, "special register");
  pair(a.variable, b.variable, "what a name means");
  operands(a.elements, b.elements);
}

std::string Comparer::run(const Module& a, const Module& b) {
  check(a.versionMajor == b.versionMajor && a.versionMinor == b.versionMinor && a.target == b.target &&
            a.addressSize == b.addressSize,
        "header");
  if (all(a.targetOptions, b.targetOptions, "target options"))
    for (size_t i = 0; i < a.targetOptions.size(); ++i)
      check(a.targetOptions[i] == b.targetOptions[i], "target option");
  if (all(a.files, b.files, "files"))
    for (size_t i = 0; i < a.files.size(); ++i)
      check(a.files[i].index == b.files[i].index && a.files[i].name == b.files[i].name &&
                a.files[i].timestamp == b.files[i].timestamp && a.files[i].size == b.files[i].size,
            "file");
  if (all(a.sections, b.sections, "sections"))
    for (size_t i = 0; i < a.sections.size(); ++i) check(a.sections[i] == b.sections[i], "section");
  if (all(a.pragmas, b.pragmas, "pragmas"))
    for (size_t i = 0; i < a.pragmas.size(); ++i) check(a.pragmas[i] == b.pragmas[i], "pragma");
  variables(a.variables, b.variables, "variables");
  if (all(a.functions, b.functions, "functions"))
    for (size_t i = 0; i < a.functions.size(); ++i) function(*a.functions[i], *b.functions[i]);
  return result_;
}

}  // namespace

std::string difference(const Module& a, const Module& b) { return Comparer().run(a, b); }

}  // namespace mulciber::test
