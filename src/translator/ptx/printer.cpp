#include "translator/ptx/printer.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "translator/ptx/special_registers.h"

namespace mulciber::ptx {
namespace {

class Printer {
 public:
  std::string text;

  void module(const Module& module);
  void instruction(const Instruction& instruction, const Function& function);

 private:
  void put(std::string_view piece) { text += piece; }
  void put(char c) { text += c; }
  void number(uint64_t value) { text += std::to_string(value); }
  void signedNumber(int64_t value);
  void hexadecimal(uint64_t value, int digits);
  void list(std::span<const Operand> operands);
  void offset(int64_t value);

  void linkage(bool isExtern, bool isVisible, bool isWeak, bool isCommon);
  void unified(const uint64_t (&id)[2]);
  void declarator(const Variable& variable);
  void variable(const Variable& variable);
  void forwardDeclaration(const Variable& variable);
  void initializer(const Variable& variable);
  void initialValues(const Variable& variable, size_t level, std::span<const InitializerElement> elements,
                     uint64_t base);
  void initialValue(const Variable& variable, const InitializerElement& element);

  void parameters(std::span<Variable* const> list);
  void counts(std::string_view word, const uint32_t (&values)[3], uint32_t written);
  void performance(const PerformanceDirectives& directives);
  void header(const Function& function, bool isPrototype);
  void definition(const Function& function);
  void functions(const Module& module, size_t declared);
  void statement(const Statement& statement);
  void registers(const RegisterDeclaration& declaration);
  void prototype(const CallPrototype& prototype);
  void location(const Location& location);
  void operand(const Operand& operand);
  void symbol(const Operand& operand);
  void address(const Operand& operand);
  void select(const Operand& operand);
  void call(const Instruction& instruction);

  const Function* function_ = nullptr;
  uint32_t indent_ = 1;
};

// ---- Pieces

void Printer::signedNumber(int64_t value) {
  // The smallest number has no literal of its own.
  text += value == INT64_MIN ? "(-9223372036854775807-1)" : std::to_string(value);
}

void Printer::hexadecimal(uint64_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += "0123456789ABCDEF"[value >> shift & 15];
}

void Printer::list(std::span<const Operand> operands) {
  bool isFirst = true;
  for (const Operand& element : operands) {
    if (!isFirst) put(", ");
    isFirst = false;
    operand(element);
  }
}

void Printer::offset(int64_t value) {
  if (value == 0) return;
  put('+');
  signedNumber(value);
}

// ---- Variables

void Printer::linkage(bool isExtern, bool isVisible, bool isWeak, bool isCommon) {
  if (isExtern) put(".extern ");
  if (isVisible) put(".visible ");
  if (isWeak) put(".weak ");
  if (isCommon) put(".common ");
}

void Printer::unified(const uint64_t (&id)[2]) {
  put(".unified(");
  number(id[0]);
  put(", ");
  number(id[1]);
  put(')');
}

// .global .align 4 .f32 name[8]
void Printer::declarator(const Variable& variable) {
  put('.');
  put(spelling(variable.space));
  if (variable.constBank != 0) {
    put('[');
    number(variable.constBank);
    put(']');
  }
  if (variable.isManaged || variable.isUnified) {
    put(" .attribute(");
    if (variable.isManaged) put(".managed");
    if (variable.isManaged && variable.isUnified) put(", ");
    if (variable.isUnified) unified(variable.unifiedId);
    put(')');
  }
  const bool isRegister = variable.space == StateSpace::Reg;
  if (!isRegister && variable.type != Type::Pred) {
    put(" .align ");
    number(variable.alignment);
  }
  if (variable.vector > 1) {
    put(" .v");
    number(variable.vector);
  }
  put(" .");
  put(spelling(variable.type));
  if (variable.isPointer) {
    put(" .ptr");
    if (variable.pointerSpace != StateSpace::None) {
      put(' ');
      put('.');
      put(spelling(variable.pointerSpace));
    }
    if (variable.pointerAlignment != 0) {
      put(" .align ");
      number(variable.pointerAlignment);
    }
  }
  put(' ');
  put(variable.name);
  for (uint64_t count : variable.dimensions) {
    put('[');
    if (count != 0) number(count);
    put(']');
  }
}

void Printer::variable(const Variable& variable) {
  linkage(variable.isExtern, variable.isVisible, variable.isWeak, variable.isCommon);
  declarator(variable);
  if (variable.initializer) initializer(variable);
  put(";\n");
}

void Printer::forwardDeclaration(const Variable& variable) {
  put(".extern ");
  declarator(variable);
  put(";\n");
}

void Printer::initializer(const Variable& variable) {
  put(" = ");
  if (variable.type == Type::TexRef || variable.type == Type::SamplerRef || variable.type == Type::SurfRef) {
    put('{');
    bool isFirst = true;
    for (const InitializerField& field : variable.initializer->fields) {
      if (!isFirst) put(", ");
      isFirst = false;
      put(field.name);
      put(" = ");
      put(field.value);
    }
    put('}');
    return;
  }
  initialValues(variable, 0, variable.initializer->elements, 0);
}

// One level of braces for each dimension (there are at most 65); parts without values are left out or empty.
void Printer::initialValues(const Variable& variable, size_t level, std::span<const InitializerElement> elements,
                            uint64_t base) {
  const size_t levels = variable.dimensions.size() + (variable.vector > 1);
  if (level == levels) {
    if (!elements.empty()) initialValue(variable, elements.front());
    return;
  }
  uint64_t stride = 1;
  for (size_t i = level + 1; i < levels; ++i)
    stride *= i < variable.dimensions.size() ? variable.dimensions[i] : variable.vector;
  put('{');
  bool isFirst = true;
  while (!elements.empty()) {
    if (!isFirst) put(level + 1 < levels ? ",\n    " : ", ");
    isFirst = false;
    const auto end = std::find_if(elements.begin(), elements.end(),
                                  [&](const InitializerElement& e) { return e.index >= base + stride; });
    const size_t count = static_cast<size_t>(end - elements.begin());
    initialValues(variable, level + 1, elements.first(count), base);
    elements = elements.subspan(count);
    base += stride;
  }
  put('}');
}

void Printer::initialValue(const Variable& variable, const InitializerElement& element) {
  if (!element.isSymbol) {
    const uint32_t width = bitWidth(variable.type);
    if (isFloat(variable.type)) {
      put(width == 32 ? "0f" : "0d");
      hexadecimal(element.bits, static_cast<int>(width / 4));
    } else if (isSigned(variable.type)) {
      const int unused = width >= 64 ? 0 : static_cast<int>(64 - width);
      signedNumber(static_cast<int64_t>(element.bits << unused) >> unused);
    } else {
      number(element.bits);
    }
    return;
  }
  if (element.maskByte != 0xFF) {
    put("0xFF");
    text.append(element.maskByte * 2u, '0');
    put('(');
  }
  const std::string_view name = element.variable ? element.variable->name : element.function->name;
  if (element.isGeneric) put("generic(");
  put(name);
  if (element.isGeneric) put(')');
  offset(static_cast<int64_t>(element.bits));
  if (element.maskByte != 0xFF) put(')');
}

// ---- Functions

void Printer::parameters(std::span<Variable* const> list) {
  put('(');
  bool isFirst = true;
  for (const Variable* parameter : list) {
    put(isFirst ? "\n\t" : ",\n\t");
    isFirst = false;
    declarator(*parameter);
  }
  put(list.empty() ? ")" : "\n)");
}

void Printer::counts(std::string_view word, const uint32_t (&values)[3], uint32_t written) {
  if (written == 0) return;
  put('\n');
  put(word);
  for (uint32_t i = 0; i < written; ++i) {
    put(i == 0 ? " " : ", ");
    number(values[i]);
  }
}

void Printer::performance(const PerformanceDirectives& directives) {
  auto value = [&](std::string_view word, uint32_t count) {
    if (count == 0) return;
    put('\n');
    put(word);
    put(' ');
    number(count);
  };
  counts(".maxntid", directives.maxThreads, directives.maxThreadCount);
  counts(".reqntid", directives.requiredThreads, directives.requiredThreadCount);
  value(".minnctapersm", directives.minBlocksPerSm);
  value(".maxnctapersm", directives.maxBlocksPerSm);
  value(".maxnreg", directives.maxRegisters);
  counts(".reqnctapercluster", directives.requiredCluster, directives.requiredClusterCount);
  value(".maxclusterrank", directives.maxClusterRank);
  if (directives.explicitCluster) put("\n.explicitcluster");
  if (directives.blocksAreClusters) put("\n.blocksareclusters");
}

void Printer::header(const Function& function, bool isPrototype) {
  put('\n');
  linkage(function.isExtern, function.isVisible, function.isWeak, false);
  put(function.isEntry ? ".entry " : ".func ");
  if (function.isUnified) {
    put(".attribute(");
    unified(function.unifiedId);
    put(") ");
  }
  if (!function.results.empty()) {
    parameters(function.results);
    put(' ');
  }
  put(function.name);
  parameters(function.parameters);
  if (function.isNoReturn) put("\n.noreturn");
  if (function.abiPreserve != 0) put("\n.abi_preserve " + std::to_string(function.abiPreserve));
  if (function.abiPreserveControl != 0) put("\n.abi_preserve_control " + std::to_string(function.abiPreserveControl));
  performance(function.performance);
  for (std::string_view pragma : function.pragmas) {
    put("\n.pragma \"");
    put(pragma);
    put("\";");
  }
  put(isPrototype ? ";\n" : "\n");
}

void Printer::definition(const Function& function) {
  header(function, false);
  function_ = &function;
  indent_ = 1;
  put("{\n");
  for (const Statement& s : function.body) statement(s);
  put("}\n");
  function_ = nullptr;
}

// The largest number of a function to which the body refers.
size_t lastReference(const Function& function, const std::unordered_map<const Function*, size_t>& numbers) {
  size_t last = 0;
  auto visit = [&](const Operand& operand) {
    if (operand.kind == Operand::Kind::Function) last = std::max(last, numbers.at(operand.function));
  };
  for (const Statement& s : function.body) {
    if (s.kind == Statement::Kind::Instruction) {
      for (const Operand& operand : s.instruction->operands) {
        visit(operand);
        for (const Operand& element : operand.elements) visit(element);
      }
    } else if (s.kind == Statement::Kind::TargetList) {
      for (const Operand& operand : s.targets->targets) visit(operand);
    }
  }
  return last;
}

// A name must be declared before it is used, and the order of the functions must stay: a function whose body refers to
// a later one is printed as a prototype, and its body after that one.
void Printer::functions(const Module& module, size_t declared) {
  std::unordered_map<const Function*, size_t> numbers;
  for (size_t i = 0; i < module.functions.size(); ++i) numbers.emplace(module.functions[i], i);
  std::vector<std::vector<const Function*>> postponed(module.functions.size());
  for (size_t i = 0; i < module.functions.size(); ++i) {
    const Function& function = *module.functions[i];
    const size_t last = function.isDefined ? lastReference(function, numbers) : 0;
    if (function.isDefined && (last <= i || last < declared)) {
      definition(function);
    } else {
      if (i >= declared) header(function, true);
      if (function.isDefined) postponed[last].push_back(&function);
    }
    for (const Function* later : postponed[i]) definition(*later);
  }
  for (const Function* function : module.functions) {
    if (!function->aliasee) continue;
    put("\n.alias ");
    put(function->name);
    put(", ");
    put(function->aliasee->name);
    put(";\n");
  }
}

void Printer::registers(const RegisterDeclaration& declaration) {
  put(".reg ");
  if (declaration.vector > 1) {
    put(".v");
    number(declaration.vector);
    put(' ');
  }
  put('.');
  put(spelling(declaration.type));
  put(' ');
  put(declaration.name);
  if (declaration.count != 0) {
    put('<');
    number(declaration.count);
    put('>');
  }
  put(";\n");
}

void Printer::prototype(const CallPrototype& prototype) {
  put(prototype.name);
  put(": .callprototype ");
  parameters(prototype.results);
  put(" _ ");
  parameters(prototype.parameters);
  if (prototype.isNoReturn) put(" .noreturn");
  if (prototype.abiPreserve != 0) put(" .abi_preserve " + std::to_string(prototype.abiPreserve));
  if (prototype.abiPreserveControl != 0) put(" .abi_preserve_control " + std::to_string(prototype.abiPreserveControl));
  put(";\n");
}

void Printer::location(const Location& location) {
  put(".loc ");
  number(location.file);
  put(' ');
  number(location.line);
  put(' ');
  number(location.column);
  put(location.rest);
  put('\n');
}

void Printer::statement(const Statement& statement) {
  if (statement.kind == Statement::Kind::Label) {
    put(statement.label->name);
    put(":\n");
    return;
  }
  if (statement.kind == Statement::Kind::ScopeEnd) --indent_;
  text.append(indent_, '\t');
  switch (statement.kind) {
    case Statement::Kind::Instruction:
      instruction(*statement.instruction, *function_);
      put('\n');
      break;
    case Statement::Kind::ScopeBegin:
      put("{\n");
      ++indent_;
      break;
    case Statement::Kind::ScopeEnd: put("}\n"); break;
    case Statement::Kind::Registers: registers(*statement.registers); break;
    case Statement::Kind::Variable: variable(*statement.variable); break;
    case Statement::Kind::CallPrototype: prototype(*statement.prototype); break;
    case Statement::Kind::TargetList:
      put(statement.targets->name);
      put(statement.targets->isCall ? ": .calltargets " : ": .branchtargets ");
      list(statement.targets->targets);
      put(";\n");
      break;
    case Statement::Kind::Location: location(*statement.location); break;
    case Statement::Kind::Pragma:
      put(".pragma \"");
      put(*statement.pragma);
      put("\";\n");
      break;
    case Statement::Kind::Label: break;
  }
}

// ---- Instructions

void Printer::instruction(const Instruction& instruction, const Function& function) {
  function_ = &function;
  if (const Operand* guard = instruction.guard) {
    put('@');
    operand(*guard);
    put(' ');
  }
  put(spelling(instruction.opcode));
  for (Mod mod : instruction.modifiers) {
    put('.');
    put(spelling(mod));
  }
  if (instruction.opcode == Opcode::Call) {
    call(instruction);
  } else if (!instruction.operands.empty()) {
    put(' ');
    list(instruction.operands);
  }
  put(';');
}

void Printer::call(const Instruction& instruction) {
  const Operand* operands = instruction.operands.data();
  put(' ');
  if (!operands[CallResults].elements.empty()) {
    put('(');
    list(operands[CallResults].elements);
    put("), ");
  }
  operand(operands[CallCallee]);
  const bool hasSignature = operands[CallSignature].kind != Operand::Kind::None;
  if (!operands[CallArguments].elements.empty()) {
    put(", (");
    list(operands[CallArguments].elements);
    put(')');
  }
  if (!hasSignature) return;
  put(", ");
  operand(operands[CallSignature]);
}

void Printer::select(const Operand& operand) {
  using Select = Operand::Select;
  static constexpr std::string_view kWords[] = {"",    ".x",  ".y",  ".z",  ".w", ".b0", ".b1",
                                                ".b2", ".b3", ".h0", ".h1", ".b", ".h"};
  put(kWords[static_cast<size_t>(operand.select)]);
  if (operand.select != Select::Bytes && operand.select != Select::Halves) return;
  int digits = 0;
  while (operand.lanes >> (4 * (digits + 1)) != 0) ++digits;
  hexadecimal(operand.lanes & ((1u << 4 * digits) - 1), digits);
}

// variable+8, variable[%r1+2]
void Printer::symbol(const Operand& operand) {
  put(operand.variable->name);
  if (!operand.isIndexed) return offset(operand.offset);
  put('[');
  put(function_->registers[operand.reg].name);
  offset(operand.offset / static_cast<int64_t>(scalarSize(operand.variable->type)));
  put(']');
}

void Printer::address(const Operand& operand) {
  if (operand.isIndexed) return symbol(operand);
  put('[');
  if (operand.variable) {
    symbol(operand);
  } else if (operand.hasRegister) {
    put(function_->registers[operand.reg].name);
    select(operand);
    offset(operand.offset);
  } else {
    signedNumber(operand.offset);
  }
  put(']');
}

void Printer::operand(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::None: break;
    case Operand::Kind::Register:
      if (operand.negated) put(function_->registers[operand.reg].type == Type::Pred ? '!' : '-');
      put(function_->registers[operand.reg].name);
      select(operand);
      offset(operand.offset);
      break;
    case Operand::Kind::SpecialRegister: put(spelling(operand.special)); break;
    case Operand::Kind::Integer:
      if (operand.isUnsigned) {
        number(operand.bits);
        put('U');
      } else {
        signedNumber(static_cast<int64_t>(operand.bits));
      }
      break;
    case Operand::Kind::Float:
      put(operand.isSingle ? "0f" : "0d");
      hexadecimal(operand.bits, operand.isSingle ? 8 : 16);
      break;
    case Operand::Kind::Symbol: symbol(operand); break;
    case Operand::Kind::Function: put(operand.function->name); break;
    case Operand::Kind::Label: put(operand.label->name); break;
    case Operand::Kind::Address: address(operand); break;
    case Operand::Kind::Vector:
      put('{');
      list(operand.elements);
      put('}');
      break;
    case Operand::Kind::Texture:
      put('[');
      for (size_t i = 0; i < operand.elements.size(); ++i) {
        if (i != 0) put(", ");
        const Operand& element = operand.elements[i];
        if (element.kind == Operand::Kind::Address) {
          put(function_->registers[element.reg].name);
          offset(element.offset);
        } else {
          this->operand(element);
        }
      }
      put(']');
      break;
    case Operand::Kind::Sink: put('_'); break;
    case Operand::Kind::CallTarget: put(operand.prototype->name); break;
    case Operand::Kind::BranchTarget: put(operand.targets->name); break;
    case Operand::Kind::Pair:
      this->operand(operand.elements[0]);
      put('|');
      this->operand(operand.elements[1]);
      break;
  }
  if (operand.isUnified) put(".unified");
}

// ---- Modules

void Printer::module(const Module& module) {
  put(".version " + std::to_string(module.versionMajor) + '.' + std::to_string(module.versionMinor) + "\n.target ");
  put(module.target);
  bool needsComma = !module.target.empty();
  for (std::string_view option : module.targetOptions) {
    if (needsComma) put(", ");
    needsComma = true;
    put(option);
  }
  put("\n.address_size ");
  number(module.addressSize);
  put("\n\n");
  for (const Module::File& file : module.files) {
    put(".file ");
    number(file.index);
    put(" \"");
    put(file.name);
    put('"');
    if (file.timestamp != 0 || file.size != 0) {
      put(", ");
      number(file.timestamp);
      put(", ");
      number(file.size);
    }
    put('\n');
  }
  for (std::string_view pragma : module.pragmas) {
    put(".pragma \"");
    put(pragma);
    put("\";\n");
  }

  std::unordered_map<const Function*, size_t> numbers;
  for (size_t i = 0; i < module.functions.size(); ++i) numbers.emplace(module.functions[i], i);
  size_t declared = 0;
  for (const Variable* variable : module.variables) {
    if (!variable->initializer) continue;
    for (const InitializerElement& element : variable->initializer->elements)
      if (element.function) declared = std::max(declared, numbers.at(element.function) + 1);
  }
  for (size_t i = 0; i < declared; ++i) header(*module.functions[i], true);

  std::unordered_set<const Variable*> known;
  for (const Variable* v : module.variables) {
    if (v->initializer)
      for (const InitializerElement& element : v->initializer->elements)
        if (element.variable && element.variable != v && known.insert(element.variable).second)
          forwardDeclaration(*element.variable);
    variable(*v);
    known.insert(v);
  }
  functions(module, declared);
  for (std::string_view section : module.sections) {
    put('\n');
    put(section);
    put('\n');
  }
}

}  // namespace

std::string print(const Module& module) {
  Printer printer;
  printer.module(module);
  return std::move(printer.text);
}

std::string print(const Instruction& instruction, const Function& function) {
  Printer printer;
  printer.instruction(instruction, function);
  return std::move(printer.text);
}

}  // namespace mulciber::ptx
