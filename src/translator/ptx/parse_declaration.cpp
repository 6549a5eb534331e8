#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "translator/ptx/parser_state.h"
#include "translator/ptx/small_float.h"
#include "translator/ptx/suggestion.h"

namespace mulciber::ptx {
namespace {

uint64_t elementSize(Type type, uint8_t vector) {
  const uint64_t bytes = isOpaque(type) ? 8 : std::max<uint64_t>(bitWidth(type) / 8, 1);
  return bytes * vector;
}

// The number of values in an initialiser, from its commas. Less where a comment is in between.
size_t countValues(std::string_view text) {
  size_t commas = 0, open = 0;
  for (char c : text) {
    if (c == ',') ++commas;
    if (c == '{') ++open;
    if (c == '/' || c == ';' || (c == '}' && --open == 0) || open == 0) break;
  }
  return commas + 1;
}

// Elements are put into the arena as they come: tables are large, and a vector on the way would double the memory.
class ElementList {
 public:
  ElementList(Arena& arena, size_t expected) : arena_(arena) { reserve(expected); }
  void add(const InitializerElement& element) {
    if (used_ == room_.size()) reserve(2 * used_);
    room_[used_++] = element;
  }
  std::span<const InitializerElement> list() const { return room_.first(used_); }

 private:
  void reserve(size_t count) {
    auto* memory = static_cast<InitializerElement*>(
        arena_.allocate(count * sizeof(InitializerElement), alignof(InitializerElement)));
    std::uninitialized_default_construct_n(memory, count);
    std::copy_n(room_.begin(), used_, memory);
    room_ = {memory, count};
  }

  Arena& arena_;
  std::span<InitializerElement> room_;
  size_t used_ = 0;
};

std::string suggestType(std::string_view misspelt) {
  Suggestion suggestion(misspelt);
  for (auto type = Type::Pred; type <= Type::SurfRef; type = static_cast<Type>(static_cast<int>(type) + 1))
    suggestion.offer(spelling(type));
  return suggestion.phrase(".");
}

}  // namespace

std::optional<StateSpace> Parser::acceptSpace() {
  if (!token_.is(Kind::Dotted)) return std::nullopt;
  for (auto space = StateSpace::Reg; space <= StateSpace::Tex;
       space = static_cast<StateSpace>(static_cast<int>(space) + 1)) {
    if (!token_.isDotted(spelling(space))) continue;
    advance();
    return space;
  }
  return std::nullopt;
}

std::optional<Type> Parser::acceptType() {
  if (!token_.is(Kind::Dotted)) return std::nullopt;
  auto mod = findModifier(token_.text.substr(1));
  if (!mod || typeOf(*mod) == Type::None) return std::nullopt;
  advance();
  return typeOf(*mod);
}

uint32_t Parser::alignment() {
  const Token token = token_;
  const uint64_t value = expectInteger(1u << 30, "an alignment");
  if (std::has_single_bit(value)) return static_cast<uint32_t>(value);
  error(token.where, "an alignment must be a power of two");
  return 1;
}

void Parser::attributes(bool& isManaged, bool& isUnified, uint64_t (&id)[2]) {
  expect(Kind::LeftParen, "'('");
  do {
    if (acceptDotted("managed")) {
      isManaged = true;
    } else if (acceptDotted("unified")) {
      isUnified = true;
      expect(Kind::LeftParen, "'('");
      id[0] = expectInteger(UINT64_MAX, "an identifier");
      expect(Kind::Comma, "','");
      id[1] = expectInteger(UINT64_MAX, "an identifier");
      expect(Kind::RightParen, "')'");
    } else {
      failExpected(".managed or .unified");
    }
  } while (accept(Kind::Comma));
  expect(Kind::RightParen, "')'");
}

// What follows the state space: .align 8 .attribute(...) .v2 .f32 .ptr .global .align 16
void Parser::declarationHead(DeclarationHead& head, bool isParameter) {
  if (head.space == StateSpace::Const && accept(Kind::LeftBracket)) {
    head.constBank = static_cast<uint32_t>(expectInteger(10, "a constant bank"));
    expect(Kind::RightBracket, "']'");
  }
  for (;;) {
    if (acceptDotted("align")) {
      head.alignment = alignment();
    } else if (acceptDotted("attribute")) {
      attributes(head.isManaged, head.isUnified, head.unifiedId);
    } else if (acceptDotted("v2")) {
      head.vector = 2;
    } else if (acceptDotted("v4")) {
      head.vector = 4;
    } else {
      break;
    }
  }
  if (auto type = acceptType()) {
    head.type = *type;
  } else {
    if (token_.is(Kind::Dotted))
      fail(token_, "unknown type " + quoted(token_.text) + suggestType(token_.text.substr(1)));
    failExpected("a type");
  }
  if (isParameter && acceptDotted("ptr")) {
    head.isPointer = true;
    if (auto space = acceptSpace()) head.pointerSpace = *space;
    if (acceptDotted("align")) head.pointerAlignment = alignment();
  }
}

void Parser::dimensions(Variable& variable, const DeclarationHead& head) {
  constexpr uint64_t kLargest = uint64_t{1} << 48;
  uint64_t size = elementSize(head.type, head.vector);
  std::vector<uint64_t> counts;
  while (token_.is(Kind::LeftBracket)) {
    const Token open = token_;
    advance();
    if (counts.size() == kMaxDimensions) fail(open, "an array has at most 64 dimensions");
    uint64_t count = 0;
    if (!token_.is(Kind::RightBracket)) {
      const Token token = token_;
      if (token.isWord("WARP_SZ")) {
        advance();
        count = 32;
      } else {
        count = expectInteger(kLargest, "an array dimension");
      }
      if (count == 0 && !counts.empty()) error(token.where, "an array dimension cannot be 0");
    } else if (!counts.empty()) {
      error(open.where, "only the first dimension can be left open");
    }
    expect(Kind::RightBracket, "']'");
    counts.push_back(count);
    if (count != 0 && size > kLargest / count) fail(open, quoted(variable.name) + " is too large");
    size *= count;
  }
  variable.isArray = !counts.empty();
  variable.dimensions = arena_.copy(counts);
  variable.size = size;
}

Variable* Parser::variable(const DeclarationHead& head, const Token& name) {
  Variable* made = arena_.make<Variable>();
  made->name = name.text;
  made->where = name.where;
  made->space = head.space;
  made->type = head.type;
  made->vector = head.vector;
  made->alignment = static_cast<uint32_t>(std::max<uint64_t>(head.alignment, elementSize(head.type, head.vector)));
  if (head.alignment != 0) made->alignment = head.alignment;
  made->isExtern = head.linkage.isExtern;
  made->isVisible = head.linkage.isVisible;
  made->isWeak = head.linkage.isWeak;
  made->isCommon = head.linkage.isCommon;
  made->isManaged = head.isManaged;
  made->isUnified = head.isUnified;
  std::copy(std::begin(head.unifiedId), std::end(head.unifiedId), made->unifiedId);
  made->isPointer = head.isPointer;
  made->pointerSpace = head.pointerSpace;
  made->pointerAlignment = head.pointerAlignment;
  made->constBank = head.constBank;
  made->owner = function_;
  dimensions(*made, head);
  return made;
}

void Parser::variables(const Linkage& link, StateSpace space) {
  DeclarationHead head;
  head.linkage = link;
  head.space = space;
  declarationHead(head, space == StateSpace::Param);
  do {
    const Token name = expectName("a variable's name");
    Variable* made = variable(head, name);
    if (accept(Kind::Equal)) initializer(*made);

    declareVariable(made);
  } while (accept(Kind::Comma));
  expect(Kind::Semicolon, "';'");
}

void Parser::declareVariable(Variable* made) {
  Binding binding;
  binding.kind = Binding::Kind::Variable;
  binding.where = made->where;
  binding.variable = made;
  const bool isModuleScope = symbols_.depth() == 0;
  if (isModuleScope && mergeDeclaration(made)) return;
  SourceOffset previous = 0;
  if (!symbols_.declare(made->name, binding, previous)) return duplicate(made->name, made->where, previous);
  if (isModuleScope) {
    if (made->isExtern) places_.emplace(made, variables_.size());
    variables_.push_back(made);
    return;
  }
  if (made->space == StateSpace::Param && function_->isEntry && openScopes_.size() == 1 &&
      holder_.module.versionMajor == 1 && holder_.module.versionMinor < 4) {
    made->role = Variable::Role::Parameter;
    oldParameters_.push_back(made);
    return;
  }
  addStatement(Statement::Kind::Variable, made->where).variable = made;
}

// An extern variable may be declared again, with or without extern. Both become one node, the more complete one.
bool Parser::mergeDeclaration(Variable* made) {
  const Binding known = symbols_.findModuleScope(made->name);
  if (known.kind != Binding::Kind::Variable || !(known.variable->isExtern || made->isExtern)) return false;
  Variable& kept = *known.variable;
  const bool sameShape = kept.space == made->space && kept.type == made->type && kept.vector == made->vector &&
                         kept.isArray == made->isArray &&
                         (kept.size == made->size || kept.size == 0 || made->size == 0);
  if (!sameShape) {
    error(made->where, quoted(made->name) + " was declared with another type or space", made->name.size());
    holder_.source.report(diagnostics_, Diagnostics::Severity::Note, kept.where, "the earlier declaration is here");
  } else if (kept.isExtern && !made->isExtern && !made->isVisible && !made->isWeak && !made->isCommon) {
    error(made->where, quoted(made->name) + " was declared .extern, so it must be .visible, .weak or .common",
          made->name.size());
  } else if (kept.isExtern && !made->isExtern) {
    // The definition's place among the variables counts: what its initial value refers to stands before it. The
    // declaration's place is emptied, for finishModule() to close up.
    kept = *made;
    auto& place = places_.at(known.variable);
    variables_[std::exchange(place, variables_.size())] = nullptr;
    variables_.push_back(known.variable);
  } else if (kept.isExtern && kept.size == 0) {
    kept = *made;
  }
  return true;
}

// ---- Registers

void Parser::registers() {
  DeclarationHead head;
  head.space = StateSpace::Reg;
  declarationHead(head, false);

  do registerOrRange(head);
  while (accept(Kind::Comma));
  expect(Kind::Semicolon, "';'");
}

void Parser::registerOrRange(const DeclarationHead& head) {
  const Token name = expectName("a register's name");
  auto* declaration = arena_.make<RegisterDeclaration>();
  declaration->type = head.type;
  declaration->vector = head.vector;
  declaration->name = name.text;
  if (accept(Kind::Less)) {
    declaration->count = static_cast<uint32_t>(expectInteger(UINT32_MAX, "the number of registers"));
    expect(Kind::Greater, "'>'");
    if (declaration->count == 0) error(name.where, "a register range cannot be empty");
    SourceOffset previous = 0;
    if (!symbols_.declareRange(name.text, declaration->count, head.type, head.vector, name.where, previous))
      duplicate(name.text, name.where, previous);
  } else {
    Binding binding;
    binding.kind = Binding::Kind::Register;
    binding.reg = static_cast<RegisterId>(registers_.size());
    registers_.push_back({name.text, head.type, head.vector, name.where});
    declareInBody(name, binding);
  }
  addStatement(Statement::Kind::Registers, name.where).registers = declaration;
}

// ---- Initialisers

void Parser::initializer(Variable& made) {
  if (made.type == Type::TexRef || made.type == Type::SamplerRef || made.type == Type::SurfRef)
    return initializerFields(made);

  // The braces go as deep as there are dimensions; a vector is one more.
  struct Level {
    uint64_t stride = 1;    // scalars in one item
    uint64_t capacity = 0;  // scalars in all items; 0 for a dimension left open
    uint64_t begin = 0;     // index of the first scalar of the braces now open
  };
  std::vector<Level> levels(made.dimensions.size() + (made.vector > 1));
  uint64_t size = 1;
  for (size_t i = levels.size(); i-- > 0;) {
    levels[i].stride = size;
    size *= i < made.dimensions.size() ? made.dimensions[i] : made.vector;
    levels[i].capacity = size;
  }
  size_t open = 0;
  uint64_t next = 0;  // index of the next scalar
  ElementList elements(arena_, countValues(text_.substr(token_.where)));
  auto checkRoom = [&](const Token& at) {
    if (open == 0) return;
    const Level& level = levels[open - 1];
    if (level.capacity != 0 && next - level.begin > level.capacity)
      fail(at, "too many values for " + quoted(made.name));
  };
  for (;;) {
    const Token token = token_;
    if (token.is(Kind::LeftBrace)) {
      advance();
      ++operandBraces_;
      if (open == levels.size()) fail(token, "more nested braces than " + quoted(made.name) + " has dimensions");
      levels[open++].begin = next;
      if (!token_.is(Kind::RightBrace)) continue;
    } else {
      InitializerElement element = initializerElement(made);
      if (open != levels.size()) fail(token, "expected '{': the values of each dimension have their own braces");
      element.index = next++;
      elements.add(element);
      checkRoom(token);
    }
    while (open > 0 && token_.is(Kind::RightBrace)) {
      advance();
      --operandBraces_;
      --open;
      if (open > 0) {
        next = levels[open].begin + levels[open - 1].stride;
        checkRoom(token);
      }
    }
    if (open == 0) break;
    expect(Kind::Comma, "',' or '}'");
  }

  if (made.isArray && made.dimensions[0] == 0) {
    std::vector<uint64_t> counts(made.dimensions.begin(), made.dimensions.end());
    counts[0] = (next + levels[0].stride - 1) / levels[0].stride;
    made.dimensions = arena_.copy(counts);
    made.size = counts[0] * levels[0].stride * elementSize(made.type, 1);
  }
  auto* initializer = arena_.make<Initializer>();
  initializer->elements = elements.list();
  made.initializer = initializer;
}

void Parser::initializerFields(Variable& made) {
  expect(Kind::LeftBrace, "'{'");
  ++operandBraces_;
  std::vector<InitializerField> fields;
  if (!token_.is(Kind::RightBrace)) {
    do {
      InitializerField field;
      field.name = expectName("a property such as addr_mode_0").text;
      expect(Kind::Equal, "'='");
      if (!token_.is(Kind::Integer) && !token_.is(Kind::Word)) failExpected("a value");
      field.value = token_.text;
      advance();
      fields.push_back(field);
    } while (accept(Kind::Comma));
  }
  expect(Kind::RightBrace, "'}'");
  --operandBraces_;
  auto* initializer = arena_.make<Initializer>();
  initializer->fields = arena_.copy(fields);
  made.initializer = initializer;
}

// symbol, symbol + 8, generic(symbol) + 8
void Parser::initializerSymbol(InitializerElement& element, const Variable& made) {
  Token name = expectName("a variable or function");
  if (name.text == "generic" && accept(Kind::LeftParen)) {
    element.isGeneric = true;
    name = expectName("a variable");
    expect(Kind::RightParen, "')'");
  }
  element.isSymbol = true;
  const Binding binding = symbols_.find(name.text, registers_, name.where);
  if (binding.kind == Binding::Kind::Variable) {
    element.variable = binding.variable;
  } else if (binding.kind == Binding::Kind::Function) {
    element.function = binding.function;
  } else if (binding.kind == Binding::Kind::None) {
    undeclared(name, "the variable or function");
  } else {
    error(name.where, quoted(name.text) + " has no address", name.text.size());
  }
  if (accept(Kind::Plus)) {
    const Token at = token_;
    const Constant value = constant();
    if (value.kind != Constant::Kind::Integer) error(at.where, "an offset must be an integer");
    element.bits = value.bits;
  }
  checkInitialSymbol(element, made);
}

void Parser::checkInitialSymbol(const InitializerElement& element, const Variable& made) {
  const bool isMask = element.maskByte != 0xFF;
  if (isMask ? made.type != Type::U8 : made.type != Type::U32 && made.type != Type::U64)
    error(element.where, isMask ? "only a variable of type .u8 can hold a byte of an address"
                                : "only a variable of type .u32 or .u64 can hold an address");
  else if (element.variable && element.variable->space != StateSpace::Global &&
           element.variable->space != StateSpace::Const)
    error(element.where, "only the address of a .global or .const variable can be an initial value");
}

InitializerElement Parser::initializerElement(const Variable& made) {
  InitializerElement element;
  const Token token = token_;
  element.where = token.where;
  if (token.is(Kind::Word) && token.text != "WARP_SZ") {
    initializerSymbol(element, made);
    return element;
  }
  const Constant value = constant();
  if (value.kind == Constant::Kind::Integer && accept(Kind::LeftParen)) {
    // 0xFF00(symbol): one byte of the address
    const int shift = std::countr_zero(value.bits);
    if (value.bits == 0 || shift % 8 != 0 || value.bits >> shift != 0xFF)
      error(token.where, "a mask must choose one byte: 0xFF, 0xFF00, 0xFF0000 ...");
    else element.maskByte = static_cast<uint8_t>(shift / 8);
    initializerSymbol(element, made);
    expect(Kind::RightParen, "')'");
    return element;
  }
  element.bits = initialBits(value, made, token);
  return element;
}

uint64_t Parser::initialBits(const Constant& value, const Variable& made, const Token& token) {
  const uint32_t width = bitWidth(made.type);
  if (value.kind == Constant::Kind::Integer) {
    if (isFloat(made.type))
      error(token.where,
            "expected a floating-point value, as the variable's type is ." + std::string(spelling(made.type)));
    return width >= 64 ? value.bits : value.bits & ((uint64_t{1} << width) - 1);
  }
  const bool takesFloat = made.type == Type::F32 || made.type == Type::F64 || made.type == Type::B16 ||
                          made.type == Type::B32 || made.type == Type::B64;
  if (!takesFloat) {
    error(token.where, "a variable of type ." + std::string(spelling(made.type)) + " takes no floating-point values");
    return 0;
  }
  if (width == 32 && value.isSingle) return value.bits;
  const double number = value.asDouble();
  if (width == 64) return std::bit_cast<uint64_t>(number);
  if (width == 32) return std::bit_cast<uint32_t>(static_cast<float>(number));
  return halfBits(number);
}

}  // namespace mulciber::ptx
