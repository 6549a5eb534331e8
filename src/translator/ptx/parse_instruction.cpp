#include <algorithm>

#include "translator/ptx/instruction_table.h"
#include "translator/ptx/parser_state.h"
#include "translator/ptx/special_registers.h"
#include "translator/ptx/suggestion.h"

namespace mulciber::ptx {
namespace {

// A word that the opcode takes, else any.
std::string suggestModifier(Opcode opcode, std::string_view misspelt) {
  Suggestion suggestion(misspelt);
  for (const Form& form : formsOf(opcode)) {
    for (Mod mod : form.name) suggestion.offer(spelling(mod));
    for (const FormGroup& group : form.groups)
      for (const FormChoice& choice : group.choices) suggestion.offer(spelling(choice.mod));
  }
  return suggestion.best().empty() ? suggest(misspelt, modifierWords(), ".") : suggestion.phrase(".");
}

// Whether a memory operand may be written as array[index].
bool takesIndexedPlace(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Ld:
    case Opcode::Ldu: return true;
    case Opcode::St: return !instruction.has(Mod::async) && !instruction.has(Mod::bulk);
    default: return false;
  }
}

}  // namespace
// ---- Instructions

Operand* Parser::guard() {
  const bool negated = accept(Kind::Exclamation);
  const Token name = expectName("a predicate register");
  const Binding binding = symbols_.find(name.text, registers_, name.where);
  Operand* operand = arena_.make<Operand>();
  if (binding.kind == Binding::Kind::Register) {
    operand->kind = Operand::Kind::Register;
    operand->reg = binding.reg;
  } else if (binding.kind == Binding::Kind::None) {
    undeclared(name, "the register");
  } else {
    error(name.where, quoted(name.text) + " is no predicate register", name.text.size());
  }
  operand->negated = negated;
  operand->where = name.where;
  return operand;
}

void Parser::instruction(Operand* condition, const Token& opcode) {
  auto found = findOpcode(opcode.text);
  if (!found) fail(opcode, "unknown instruction " + quoted(opcode.text) + suggest(opcode.text, opcodeWords()));
  Instruction* made = arena_.make<Instruction>();
  made->opcode = *found;
  made->where = opcode.where;
  made->guard = condition;
  modifiers(*made);

  operands_.clear();
  labelOperands_.clear();
  if (*found == Opcode::Call) {
    callOperands();
  } else if (!token_.is(Kind::Semicolon)) {
    const bool isBranch = *found == Opcode::Bra;
    do {
      if (isBranch && token_.is(Kind::Word)) {
        Operand target;
        target.kind = Operand::Kind::Label;
        target.where = token_.where;
        labelOperands_.emplace_back(operands_.size(), token_.text);
        advance();
        operands_.push_back(target);
        continue;
      }
      Operand next = operand();
      // Loads and stores may name their place as array[index], without brackets around it.
      if (next.kind == Operand::Kind::Symbol && next.isIndexed && *found != Opcode::Mov && *found != Opcode::Cvta) {
        if (!takesIndexedPlace(*made)) error(next.where, "only ld, ldu, st, mov and cvta take an indexed variable");
        next.kind = Operand::Kind::Address;
      }
      if (!next.hasRegister) next.isIndexed = false;
      operands_.push_back(next);
    } while (accept(Kind::Comma));
  }
  expect(Kind::Semicolon, "',' or ';'");
  made->operands = arena_.copy(operands_);
  for (const auto& [position, name] : labelOperands_) symbols_.refer(name, &made->operands[position]);

  addStatement(Statement::Kind::Instruction, opcode.where).instruction = made;
}

void Parser::modifiers(Instruction& made) {
  modifiers_.clear();
  for (; token_.is(Kind::Dotted); advance()) {
    const std::string_view word = token_.text.substr(1);
    auto mod = findModifier(word);
    if (!mod) {
      error(token_.where, "unknown modifier " + quoted(token_.text) + suggestModifier(made.opcode, word),
            token_.text.size());
      continue;
    }
    const Type type = typeOf(*mod);
    if (type != Type::None && made.typeCount < Instruction::kMaxTypes) made.types[made.typeCount++] = type;
    modifiers_.push_back(*mod);
  }
  made.modifiers = arena_.copy(modifiers_);
}

// call (results), callee, (arguments), prototype
void Parser::callOperands() {
  operands_.resize(4);
  for (Operand& operand : operands_) operand.where = token_.where;
  auto list = [&](CallShape shape) {
    const SourceOffset where = token_.where;
    advance();
    Operand group;
    group.where = where;
    group.elements = operandList(Kind::RightParen, "')'");
    group.kind = Operand::Kind::Vector;
    operands_[shape] = group;
  };
  operands_[CallResults].kind = operands_[CallArguments].kind = Operand::Kind::Vector;
  if (token_.is(Kind::LeftParen)) {
    list(CallResults);
    expect(Kind::Comma, "','");
  }
  if (!token_.is(Kind::Word)) failExpected("a function or a register that holds its address");
  operands_[CallCallee] = functionOrRegister();
  if (!accept(Kind::Comma)) return;
  if (token_.is(Kind::LeftParen)) {
    list(CallArguments);
    if (!accept(Kind::Comma)) return;
  }
  const Token name = expectName("a .callprototype or .calltargets label");
  const Binding binding = symbols_.find(name.text, registers_, name.where);
  Operand& signature = operands_[CallSignature];
  signature.where = name.where;
  if (binding.kind == Binding::Kind::Prototype) {
    signature.kind = Operand::Kind::CallTarget;
    signature.prototype = binding.prototype;
  } else if (binding.kind == Binding::Kind::Targets && binding.targets->isCall) {
    signature.kind = Operand::Kind::BranchTarget;
    signature.targets = binding.targets;
  } else {
    undeclared(name, "the call prototype");
  }
}

Operand Parser::functionOrRegister() {
  const Token name = token_;
  Operand operand;
  operand.where = name.where;
  const Binding binding = symbols_.find(name.text, registers_, name.where);
  advance();
  switch (binding.kind) {
    case Binding::Kind::Function:
      operand.kind = Operand::Kind::Function;
      operand.function = binding.function;
      break;
    case Binding::Kind::Register: return registerOperand(name, binding.reg);
    case Binding::Kind::None: undeclared(name, "the function"); break;
    default: error(name.where, quoted(name.text) + " cannot be called", name.text.size());
  }
  return operand;
}

// ---- Operands

// One operand, or two as in p|q.
Operand Parser::operand() {
  Operand first = simpleOperand();
  if (first.kind == Operand::Kind::Register && !first.negated && token_.is(Kind::Plus)) first.offset = offset();
  const bool mayPair = first.kind == Operand::Kind::Register || first.kind == Operand::Kind::Sink;
  if (!mayPair || !token_.is(Kind::Pipe)) return first;
  advance();
  const Operand both[] = {first, simpleOperand()};
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.where = first.where;
  pair.elements = arena_.copy(std::span<const Operand>(both));
  return pair;
}

Operand Parser::simpleOperand() {
  switch (token_.kind) {
    case Kind::Word: return token_.text == "WARP_SZ" ? constantOperand() : nameOperand();
    case Kind::LeftBrace: return vectorOperand();
    case Kind::LeftBracket: return bracketOperand();
    case Kind::Exclamation:
    case Kind::Minus: return negatedRegister();
    default: break;
  }
  if (beginsConstant()) return constantOperand();
  failExpected("an operand");
}

// !%p1 or -%r1, but also the constants !1 and -1.
Operand Parser::negatedRegister() {
  const Token sign = token_;
  const Token following = Lexer(lexer_).next();
  if (following.kind != Kind::Word || following.text == "WARP_SZ") return constantOperand();
  advance();
  Operand operand = nameOperand();
  if (operand.kind == Operand::Kind::None) return operand;
  if (operand.kind != Operand::Kind::Register)
    fail(sign, quoted(sign.text) + " must stand before a register or a number");
  operand.negated = true;
  operand.where = sign.where;
  return operand;
}

Operand Parser::nameOperand() {
  const Token name = token_;
  Operand operand;
  operand.where = name.where;
  if (name.text == "_") {
    advance();
    operand.kind = Operand::Kind::Sink;
    return operand;
  }
  const Binding binding = symbols_.find(name.text, registers_, name.where);
  advance();
  switch (binding.kind) {
    case Binding::Kind::Register: return registerOperand(name, binding.reg);
    case Binding::Kind::Variable:
      operand.kind = Operand::Kind::Symbol;
      operand.variable = binding.variable;
      operand.offset = 0;
      if (token_.is(Kind::LeftBracket)) index(operand);
      else if (token_.is(Kind::Plus)) operand.offset = offset();
      return operand;
    case Binding::Kind::Function:
      operand.kind = Operand::Kind::Function;
      operand.function = binding.function;
      return operand;
    case Binding::Kind::Prototype:
      operand.kind = Operand::Kind::CallTarget;
      operand.prototype = binding.prototype;
      return operand;
    case Binding::Kind::Targets:
      operand.kind = Operand::Kind::BranchTarget;
      operand.targets = binding.targets;
      return operand;
    case Binding::Kind::Label:
      operand.kind = Operand::Kind::Label;
      operand.label = binding.label;
      return operand;
    case Binding::Kind::None: break;
  }
  if (name.text[0] == '%' && specialRegister(operand, name)) return operand;
  undeclared(name, name.text[0] == '%' ? "the register" : "the name");
  while (token_.is(Kind::Dotted)) advance();
  return operand;
}

Operand Parser::registerOperand(const Token& name, RegisterId reg) {
  Operand operand;
  operand.kind = Operand::Kind::Register;
  operand.where = name.where;
  operand.reg = reg;
  if (token_.is(Kind::Dotted)) select(operand);
  return operand;
}

// .x of a vector register, .b0 or .h10 of the SIMD video instructions
void Parser::select(Operand& operand) {
  using Select = Operand::Select;
  const std::string_view word = token_.text.substr(1);
  const std::string_view digits = word.substr(1);
  const bool areDigits = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '7'; });
  if (digits.empty()) {
    switch (word[0]) {
      case 'x':
      case 'r': operand.select = Select::X; break;
      case 'y':
      case 'g': operand.select = Select::Y; break;
      case 'z':
      case 'b': operand.select = Select::Z; break;
      case 'w':
      case 'a': operand.select = Select::W; break;
      default: break;
    }
  } else if (digits.size() == 1 && word[0] == 'b' && digits[0] <= '3' && areDigits) {
    operand.select = static_cast<Select>(static_cast<int>(Select::B0) + (digits[0] - '0'));
  } else if (digits.size() == 1 && word[0] == 'h' && digits[0] <= '1' && areDigits) {
    operand.select = static_cast<Select>(static_cast<int>(Select::H0) + (digits[0] - '0'));
  } else if (areDigits && digits.size() <= (word[0] == 'h' ? 2u : 4u) && (word[0] == 'b' || word[0] == 'h')) {
    operand.select = word[0] == 'b' ? Select::Bytes : Select::Halves;
    operand.lanes = 1;
    for (char c : digits) operand.lanes = static_cast<uint32_t>(operand.lanes << 4 | static_cast<uint32_t>(c - '0'));
  }
  if (operand.select == Select::Whole) fail(token_, "a register has no part " + quoted(token_.text));
  advance();
}

bool Parser::specialRegister(Operand& operand, const Token& name) {
  const size_t end = token_.is(Kind::Dotted) ? token_.where + token_.text.size() : 0;
  const bool isVector = findSpecialRegister(std::string(name.text) + ".x").has_value();
  operand.kind = Operand::Kind::SpecialRegister;
  auto component = [&](char letter) { return *findSpecialRegister(std::string(name.text) + '.' + letter); };
  if (!isVector) {
    auto found = findSpecialRegister(name.text);
    if (found) operand.special = *found;
    return found.has_value();
  }
  if (end == 0) {
    // The whole vector: its fourth component is always 0.
    Operand parts[4];
    for (int i = 0; i < 3; ++i) {
      parts[i] = operand;
      parts[i].special = component("xyz"[i]);
    }
    parts[3].kind = Operand::Kind::Integer;
    parts[3].where = name.where;
    operand.kind = Operand::Kind::Vector;
    operand.elements = arena_.copy(std::span<const Operand>(parts));
    return true;
  }
  if (token_.text.size() != 2 || std::string_view("xyzw").find(token_.text[1]) == std::string_view::npos)
    fail(token_, quoted(name.text) + " has the components .x, .y, .z and .w");
  select(operand);
  switch (std::exchange(operand.select, Operand::Select::Whole)) {
    case Operand::Select::X: operand.special = component('x'); break;
    case Operand::Select::Y: operand.special = component('y'); break;
    case Operand::Select::Z: operand.special = component('z'); break;
    default: operand.kind = Operand::Kind::Integer; break;  // .w is always 0
  }
  return true;
}

// variable[3], variable[%r1], variable[%r1+3]
void Parser::index(Operand& operand) {
  const Token open = token_;
  advance();
  const Variable& variable = *operand.variable;
  if (!variable.isArray) error(open.where, quoted(variable.name) + " is no array");
  if (token_.is(Kind::Word) && token_.text != "WARP_SZ") {
    const Operand position = nameOperand();
    if (position.kind == Operand::Kind::Register) {
      const Type type = registers_[position.reg].type;
      const bool isWord =
          registers_[position.reg].vector == 1 && bitWidth(type) <= 64 && type != Type::Pred && !isFloat(type);
      if (!isWord || position.select != Operand::Select::Whole) error(position.where, "an index must be an integer");
      operand.isIndexed = true;
      operand.hasRegister = true;
      operand.reg = position.reg;
    } else if (position.kind != Operand::Kind::None) {
      error(position.where, "an index must be a register or a number");
    }
    if (token_.is(Kind::Plus)) operand.offset = offset();
  } else {
    operand.isIndexed = true;
    const Operand position = constantOperand();
    if (position.kind != Operand::Kind::Integer) error(position.where, "an index must be an integer");
    operand.offset = position.offset;
  }
  operand.offset = static_cast<uint32_t>(static_cast<uint64_t>(operand.offset) * scalarSize(variable.type));
  expect(Kind::RightBracket, "']'");
}

int64_t Parser::offset() {
  expect(Kind::Plus, "'+'");
  const Token at = token_;
  if (!beginsConstant()) failExpected("a constant");
  const Constant value = constant();
  if (value.kind != Constant::Kind::Integer) error(at.where, "an offset must be an integer");
  return static_cast<int64_t>(value.bits);
}

std::span<Operand> Parser::operandList(Kind close, const char* what) {
  const size_t first = elements_.size();
  if (!token_.is(close)) {
    do {
      if (elements_.size() - first == kMaxElements) fail(token_, "this list is too long");
      Operand element = simpleOperand();
      elements_.push_back(element);
    } while (accept(Kind::Comma));
  }
  expect(close, what);
  std::span<Operand> kept = arena_.copy(std::span<const Operand>(elements_).subspan(first));
  elements_.resize(first);
  return kept;
}

Operand Parser::vectorOperand() {
  Operand vector;
  vector.kind = Operand::Kind::Vector;
  vector.where = token_.where;
  if (operandBraces_ != 0) fail(token_, "a vector cannot hold a vector");
  advance();
  ++operandBraces_;
  vector.elements = operandList(Kind::RightBrace, "',' or '}'");
  --operandBraces_;
  return vector;
}

// [%rd1+8], [table], [16], and lists such as [texture, sampler, {%f1, %f2}]
Operand Parser::bracketOperand() {
  Operand result;
  result.where = token_.where;
  if (operandBrackets_) fail(token_, "brackets cannot be nested");
  advance();
  operandBrackets_ = true;
  Operand base = simpleOperand();
  if (base.kind == Operand::Kind::Register && token_.is(Kind::Plus)) {
    base.kind = Operand::Kind::Address;
    base.hasRegister = true;
    base.offset = offset();
  }
  if (token_.is(Kind::Minus)) fail(token_, "a negative offset is written as +-8");
  if (token_.is(Kind::Comma)) {
    advance();
    elements_.push_back(base);
    const size_t first = elements_.size() - 1;
    do {
      Operand element = simpleOperand();
      elements_.push_back(element);
    } while (accept(Kind::Comma));
    result.kind = Operand::Kind::Texture;
    result.elements = arena_.copy(std::span<const Operand>(elements_).subspan(first));
    elements_.resize(first);
  } else {
    const SourceOffset where = result.where;
    switch (base.kind) {
      case Operand::Kind::Register:
        if (base.negated) fail(token_, "an address cannot be negated");
        base.hasRegister = true;
        base.offset = 0;
        break;
      case Operand::Kind::Symbol:
        if (base.isIndexed) error(base.where, "an indexed variable stands without brackets around it");
        base.kind = Operand::Kind::Address;
        break;
      case Operand::Kind::Address:
      case Operand::Kind::Integer:
      case Operand::Kind::None: break;
      default: fail(token_, "expected an address inside the brackets");
    }
    result = base;
    if (base.kind != Operand::Kind::None) result.kind = Operand::Kind::Address;
    result.where = where;
    result.isUnsigned = false;
  }
  expect(Kind::RightBracket, "']'");
  operandBrackets_ = false;
  if (acceptDotted("unified")) result.isUnified = true;
  return result;
}

Operand Parser::constantOperand() {
  Operand operand;
  operand.where = token_.where;
  const Constant value = constant();
  operand.bits = value.bits;
  if (value.kind == Constant::Kind::Float) {
    operand.kind = Operand::Kind::Float;
    operand.isSingle = value.isSingle;
  } else {
    operand.kind = Operand::Kind::Integer;
    operand.isUnsigned = value.isUnsigned;
  }
  return operand;
}

}  // namespace mulciber::ptx
