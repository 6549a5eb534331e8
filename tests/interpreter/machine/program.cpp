#include "interpreter/machine/program.h"

#include <cstring>

#include "interpreter/machine/decoder.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {

uint64_t windowOf(Space space) {
  switch (space) {
    case Space::Shared: return kSharedWindow;
    case Space::Local: return kLocalWindow;
    case Space::Const: return kConstWindow;
    case Space::Param: return kParamWindow;
    default: return 0;
  }
}

Program::Program(std::string_view text) : tree(parse(text)) { placeVariables(); }

void Program::placeVariables() {
  for (const Variable& one : tree.variables) {
    if (one.space == Space::Shared) {
      placeShared(one);
      continue;
    }
    if (one.space != Space::Global && one.space != Space::Const)
      throw Fault(Status::UnknownInstruction, "the variable " + one.name + " may not be at module scope", one.line);
    if (one.isExtern) continue;
    std::vector<uint8_t>& bytes = one.space == Space::Global ? globals : constants;
    const uint64_t at = alignedTo(bytes.size(), one.aligned());
    bytes.resize(at + one.bytes());
    variables[one.name] = {one.space, one.space == Space::Global ? kGlobalVariables + at : at, one.bytes(), one.type};
  }
  for (const Function& function : tree.functions)
    for (const Statement& statement : function.statements)
      if (statement.kind == Statement::Kind::Variable && statement.variable.space == Space::Shared)
        placeShared(statement.variable);
  sharedBytes = alignedTo(sharedBytes, 16);
  for (const Variable& one : tree.variables)
    if (one.space == Space::Shared) {
      if (one.bytes() == 0) sharedOf[&one] = sharedBytes;
      variables[one.name] = {Space::Shared, sharedOf.at(&one), one.bytes(), one.type};
    } else if (!one.isExtern) {
      initialise(one, variables.at(one.name));
    }
}

void Program::placeShared(const Variable& variable) {
  const uint64_t at = alignedTo(sharedBytes, variable.aligned());
  sharedOf[&variable] = at;
  if (variable.bytes() != 0) sharedBytes = at + variable.bytes();
}

void Program::initialise(const Variable& variable, const Place& place) {
  uint8_t* at =
      variable.space == Space::Global ? &globals[place.address - kGlobalVariables] : &constants[place.address];
  const unsigned size = bytesOf(variable.type);
  if (variable.values.size() * size > variable.bytes())
    throw Fault(Status::InvalidText, variable.name + " has more initial values than elements", variable.line);
  for (const Operand& value : variable.values) {
    uint64_t bits = value.bits;
    if (value.kind == Operand::Kind::Name) {
      if (const auto found = variables.find(value.name); found != variables.end())
        bits += found->second.address + (value.selector == "generic" ? windowOf(found->second.space) : 0);
      else if (const auto function = addressOfFunction(value.name)) bits += *function;
      else throw Fault(Status::InvalidText, "nothing declares " + value.name, variable.line);
    } else if (value.kind == Operand::Kind::Float) {
      bits = floatConstant(value, variable.type);
    }
    std::memcpy(at, &bits, size);
    at += size;
  }
}

const Function* Program::findFunction(const std::string& name) const {
  const Function* found = nullptr;
  for (const Function& one : tree.functions)
    if (one.name == name && (!found || one.isDefined)) found = &one;
  return found;
}

std::optional<uint64_t> Program::addressOfFunction(const std::string& name) const {
  const Function* function = findFunction(name);
  if (!function) return std::nullopt;
  return kFunctions + static_cast<uint64_t>(function - tree.functions.data()) * kFunctionStep;
}

const Function& Program::functionAt(uint64_t address) const {
  const uint64_t index = (address - kFunctions) / kFunctionStep;
  if (address < kFunctions || address % kFunctionStep != 0 || index >= tree.functions.size())
    throw Fault(Status::IllegalAccess, "no function is at the address that is called");
  return tree.functions[index];
}

const Code& Program::codeOf(const Function& function) {
  std::unique_ptr<Code>& code = codes_[&function];
  if (!code) {
    if (!function.isDefined)
      throw Fault(Status::UnknownInstruction, "the function " + function.name + " is not in the module", function.line);
    code = Decoder(*this, function).run();
  }
  return *code;
}

}  // namespace mulciber::interpreter
