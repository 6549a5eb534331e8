#include <algorithm>

#include "translator/ptx/parser_state.h"
#include "translator/ptx/suggestion.h"

namespace mulciber::ptx {
namespace {

bool sameParameters(std::span<Variable* const> a, std::span<Variable* const> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Variable* x, const Variable* y) {
    return x->type == y->type && x->vector == y->vector && x->size == y->size && x->space == y->space &&
           x->alignment == y->alignment;
  });
}

}  // namespace

// ---- Headers

void Parser::function(const Linkage& link, bool isEntry) {
  if (link.isCommon) fail(token_, "a function cannot be .common");
  bool isManaged = false, isUnified = false;
  uint64_t id[2] = {};
  if (acceptDotted("attribute")) attributes(isManaged, isUnified, id);
  if (isManaged) error(link.where, "a function cannot be managed");

  std::vector<Variable*> results, parameters;
  if (!isEntry && token_.is(Kind::LeftParen)) results = parameterList(isEntry);
  const Token name = expectName("the function's name");
  if (token_.is(Kind::LeftParen)) parameters = parameterList(isEntry);

  Function made;
  made.name = name.text;
  made.where = name.where;
  made.isEntry = isEntry;
  made.isExtern = link.isExtern;
  made.isVisible = link.isVisible;
  made.isWeak = link.isWeak;
  made.isUnified = isUnified;
  std::copy(std::begin(id), std::end(id), made.unifiedId);
  made.results = arena_.copy(results);
  made.parameters = arena_.copy(parameters);
  headerDirectives(made);
  const bool isDefinition = token_.is(Kind::LeftBrace);
  if (!isDefinition) accept(Kind::Semicolon);  // .extern .func foo(); and, from some tools, without ';'
  made.isDefined = isDefinition;
  if (isDefinition && link.isExtern) error(name.where, "an extern function has no body", name.text.size());

  Function* node = declareFunction(made);
  auto own = [&](const std::vector<Variable*>& list, Variable::Role role) {
    for (Variable* variable : list) {
      variable->owner = node;
      variable->role = role;
    }
  };
  own(parameters, Variable::Role::Parameter);
  own(results, Variable::Role::Result);
  if (!isDefinition) return;

  symbols_.enterScope();
  function_ = node;
  registers_.clear();
  statements_.clear();
  oldParameters_.clear();
  std::vector<RegisterId> ids;
  declareParameters(results, ids);
  node->resultRegisters = arena_.copy(ids);
  declareParameters(parameters, ids);
  node->parameterRegisters = arena_.copy(ids);
  body(*node);
  function_ = nullptr;
}

std::vector<Variable*> Parser::parameterList(bool isEntry) {
  std::vector<Variable*> list;
  expect(Kind::LeftParen, "'('");
  if (accept(Kind::RightParen)) return list;
  do {
    const Token start = token_;
    DeclarationHead head;
    auto space = acceptSpace();
    if (!space || (*space != StateSpace::Param && *space != StateSpace::Reg)) fail(start, "expected .param or .reg");

    head.space = *space;
    declarationHead(head, true);
    if (!list.empty() && list.back()->isArray && list.back()->size == 0)
      error(list.back()->where, "only the last parameter can be an array without a size");
    if (head.isPointer && !isEntry) error(start.where, "only parameters of an entry can be .ptr");
    list.push_back(variable(head, expectName("a parameter's name")));

    if (isEntry && list.back()->isArray && list.back()->size == 0)
      error(list.back()->where, "an entry's parameter needs a size");
  } while (accept(Kind::Comma));
  expect(Kind::RightParen, "')'");
  return list;
}

void Parser::headerDirectives(Function& made) {
  std::vector<std::string_view> pragmaList;
  while (token_.is(Kind::Dotted)) {
    if (acceptDotted("noreturn")) {
      made.isNoReturn = true;
    } else if (abiDirective(made.abiPreserve, made.abiPreserveControl)) {
      continue;
    } else if (acceptDotted("pragma")) {
      pragmas(pragmaList);
      expect(Kind::Semicolon, "';'");
    } else if (beginsDeclaration()) {
      break;  // the next one, when there is no body
    } else if (!made.isEntry || !performanceDirective(made)) {
      wrongHeaderDirective(made);
    }
  }
  made.pragmas = arena_.copy(pragmaList);
}

// Tokens that begin a declaration or directive of a module.
bool Parser::beginsDeclaration() const {
  static constexpr std::string_view kWords[] = {
      "version", "target", "address_size", "entry", "func", "extern",  "visible", "weak", "common", "global",
      "const",   "shared", "local",        "tex",   "file", "section", "alias",   "loc",  "reg",    "param"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return token_.isDotted(word); });
}

// Reports it, and skips its numbers: the body still has to be read.
void Parser::wrongHeaderDirective(Function& made) {
  const Token directive = token_;
  Function unused;
  if (performanceDirective(unused)) {
    error(directive.where, quoted(directive.text) + " is for kernels, and " + quoted(made.name) + " is a function",
          directive.text.size());
    return;
  }
  try {
    unknownDirective(directive);
  } catch (const SyntaxError&) {
  }
  do advance();
  while (token_.is(Kind::Integer) || token_.is(Kind::Comma) || token_.is(Kind::String));
}

bool Parser::abiDirective(uint32_t& preserve, uint32_t& preserveControl) {
  const bool isPreserve = acceptDotted("abi_preserve");
  if (!isPreserve && !acceptDotted("abi_preserve_control")) return false;
  (isPreserve ? preserve : preserveControl) = static_cast<uint32_t>(expectInteger(UINT32_MAX, "a number of registers"));
  return true;
}

void Parser::threadCounts(uint32_t (&counts)[3], uint32_t& written) {
  written = 0;
  do {
    if (written == 3) fail(token_, "there are only three dimensions");
    counts[written++] = static_cast<uint32_t>(expectInteger(UINT32_MAX, "a number"));
  } while (accept(Kind::Comma));
  std::fill(counts + written, counts + 3, 1u);
}

bool Parser::performanceDirective(Function& made) {
  PerformanceDirectives& performance = made.performance;
  auto number = [&](uint32_t& target) { target = static_cast<uint32_t>(expectInteger(UINT32_MAX, "a number")); };
  if (acceptDotted("maxntid")) {
    threadCounts(performance.maxThreads, performance.maxThreadCount);
  } else if (acceptDotted("reqntid")) {
    threadCounts(performance.requiredThreads, performance.requiredThreadCount);
  } else if (acceptDotted("reqnctapercluster")) {
    threadCounts(performance.requiredCluster, performance.requiredClusterCount);
  } else if (acceptDotted("minnctapersm")) {
    number(performance.minBlocksPerSm);
  } else if (acceptDotted("maxnctapersm")) {
    number(performance.maxBlocksPerSm);
  } else if (acceptDotted("maxnreg")) {
    number(performance.maxRegisters);
  } else if (acceptDotted("maxclusterrank")) {
    number(performance.maxClusterRank);
  } else if (acceptDotted("explicitcluster")) {
    performance.explicitCluster = true;
  } else if (acceptDotted("blocksareclusters")) {
    performance.blocksAreClusters = true;
  } else {
    return false;
  }
  return true;
}

// A forward declaration and its definition are one node.
Function* Parser::declareFunction(const Function& made) {
  const Binding known = symbols_.findModuleScope(made.name);
  if (known.kind == Binding::Kind::Function) {
    Function& node = *known.function;
    if (made.isDefined && (node.isDefined || node.aliasee)) {
      duplicate(made.name, made.where, node.where);
    } else {
      checkRedeclaration(node, made);
      const bool isVisible = node.isVisible || made.isVisible;
      if (!node.isDefined) node = made;
      node.isVisible = isVisible;
    }
    return made.isDefined && node.where != made.where ? arena_.make<Function>(made) : &node;
  }
  Function* node = arena_.make<Function>(made);
  functions_.push_back(node);
  Binding binding;
  binding.kind = Binding::Kind::Function;
  binding.where = made.where;
  binding.function = node;
  if (known.kind != Binding::Kind::None) duplicate(made.name, made.where, known.where);
  else symbols_.declare(made.name, binding, binding.where);
  return node;
}

void Parser::checkRedeclaration(const Function& known, const Function& added) {
  const char* difference = nullptr;
  if (known.isEntry != added.isEntry) difference = ", once as an entry and once as a function";
  else if (!sameParameters(known.parameters, added.parameters) &&
           !(added.parameters.empty() && !added.isDefined && added.isEntry))
    difference = " with other parameters";
  else if (!sameParameters(known.results, added.results)) difference = " with other results";
  else if (known.isNoReturn != added.isNoReturn) difference = ", once with and once without .noreturn";
  else if (known.isExtern != added.isExtern || known.isWeak != added.isWeak || (added.isVisible && !known.isVisible))
    difference = " with another of .extern, .weak and .visible, or with none";
  if (!difference) return;
  error(added.where, quoted(added.name) + " was declared before" + difference, added.name.size());
  holder_.source.report(diagnostics_, Diagnostics::Severity::Note, known.where, "the earlier declaration is here");
}

void Parser::declareParameters(const std::vector<Variable*>& parameters, std::vector<RegisterId>& ids) {
  ids.clear();
  for (Variable* parameter : parameters) {
    Binding binding;
    binding.where = parameter->where;
    if (parameter->space == StateSpace::Reg) {
      binding.kind = Binding::Kind::Register;
      binding.reg = static_cast<RegisterId>(registers_.size());
      registers_.push_back({parameter->name, parameter->type, parameter->vector, parameter->where});
      ids.push_back(binding.reg);
    } else {
      binding.kind = Binding::Kind::Variable;
      binding.variable = parameter;
      ids.push_back(~0u);
    }
    SourceOffset previous = 0;
    if (parameter->name != "_" && !symbols_.declare(parameter->name, binding, previous))
      duplicate(parameter->name, parameter->where, previous);
  }
}

// ---- Bodies

void Parser::body(Function& made) {
  const SourceOffset start = token_.where;
  expect(Kind::LeftBrace, "'{'");
  openScopes_ = {start};
  if (!kept_.empty()) declareKept();
  while (!openScopes_.empty() && !diagnostics_.isFull()) {
    if (token_.is(Kind::End)) {
      error(start, "the body of " + quoted(made.name) + " is not closed");
      if (openScopes_.size() > 1)
        holder_.source.report(diagnostics_, Diagnostics::Severity::Note, openScopes_.back(),
                              "this is the last '{' without a '}'");
      break;
    }
    const SourceOffset before = token_.where;
    try {
      statement();
    } catch (const SyntaxError&) {
      skipStatement();
      if (token_.where == before) advance();
      // After a lost '}', directives follow that cannot stand in a body.
      if (token_.isDotted("entry") || token_.isDotted("func") || token_.isDotted("visible")) break;
    }
  }
  while (symbols_.depth() > 0) symbols_.leaveScope();
  for (const auto& [name, operand] : symbols_.unresolved()) {
    if (diagnostics_.isFull()) break;
    Suggestion suggestion(name);
    for (const Statement& s : statements_)
      if (s.kind == Statement::Kind::Label) suggestion.offer(s.label->name);
    error(operand->where, "the label " + quoted(name) + " is not defined here" + suggestion.phrase(), name.size());
  }
  made.registers = arena_.copy(registers_);
  made.body = arena_.copy(statements_);
  if (!oldParameters_.empty()) made.parameters = arena_.copy(oldParameters_);
}

void Parser::declareKept() {
  if (!function_->isEntry)
    return error(function_->where,
                 "registers and .local variables at module scope, which functions share with the kernels that call "
                 "them, are supported where only kernels have bodies",
                 function_->name.size());
  const Lexer lexer = lexer_;
  const Token token = token_;
  try {
    for (const Kept& declaration : kept_) {
      lexer_ = declaration.lexer;
      token_ = declaration.token;
      if (declaration.space == StateSpace::Reg) registers();
      else variables({}, declaration.space);
    }
  } catch (const SyntaxError&) {  // has been reported
  }
  lexer_ = lexer;
  token_ = token;
}

void Parser::enterScope(SourceOffset where) {
  if (openScopes_.size() == kMaxScopes) fail(token_, "scopes are nested more than 256 deep");
  openScopes_.push_back(where);
  symbols_.enterScope();
  addStatement(Statement::Kind::ScopeBegin, where);
}

void Parser::leaveScope(SourceOffset where) {
  openScopes_.pop_back();
  if (openScopes_.empty()) return;
  symbols_.leaveScope();
  addStatement(Statement::Kind::ScopeEnd, where);
}

void Parser::statement() {
  const Token start = token_;
  switch (start.kind) {
    case Kind::Word:
      advance();
      if (accept(Kind::Colon)) return label(start);
      return instruction(nullptr, start);
    case Kind::At: {
      advance();
      Operand* condition = guard();
      return instruction(condition, expectName("an instruction"));
    }
    case Kind::LeftBrace: enterScope(start.where); return advance();
    case Kind::RightBrace: leaveScope(start.where); return advance();
    case Kind::Dotted: return bodyDirective();
    case Kind::Semicolon: fail(start, "expected a statement before this ';'");
    default: failExpected("an instruction, a label or a directive");
  }
}

void Parser::bodyDirective() {
  const Token start = token_;
  if (start.isDotted("loc")) return location();
  if (acceptDotted("pragma")) {
    std::vector<std::string_view> list;
    pragmas(list);
    expect(Kind::Semicolon, "';'");
    for (std::string_view text : list) {
      addStatement(Statement::Kind::Pragma, start.where).pragma = arena_.make<std::string_view>(text);
    }
    return;
  }
  if (start.isDotted("file")) return file();
  if (start.isDotted("section")) return section();
  const Linkage link = linkage();
  if (auto space = acceptSpace()) {
    if (*space == StateSpace::Reg) return registers();
    return variables(link, *space);
  }
  if (start.isDotted("branchtargets") || start.isDotted("calltargets") || start.isDotted("callprototype"))
    fail(start, quoted(start.text) + " needs a label before it");
  if (start.isDotted("entry") || start.isDotted("func") || start.isDotted("visible"))
    fail(start, "a function cannot be declared inside a body; is a '}' missing before it?");
  unknownDirective(token_);
}

void Parser::declareInBody(const Token& name, Binding binding) {
  binding.where = name.where;
  SourceOffset previous = 0;
  if (!symbols_.declare(name.text, binding, previous)) duplicate(name.text, name.where, previous);
}

void Parser::label(const Token& name) {
  if (acceptDotted("callprototype")) return callPrototype(name);
  if (acceptDotted("branchtargets")) return targetList(name, false);
  if (acceptDotted("calltargets")) return targetList(name, true);
  Label* made = arena_.make<Label>();
  made->name = name.text;
  made->where = name.where;
  made->statement = static_cast<uint32_t>(statements_.size());
  Binding binding;
  binding.kind = Binding::Kind::Label;
  binding.label = made;
  declareInBody(name, binding);
  addStatement(Statement::Kind::Label, name.where).label = made;
}

void Parser::callPrototype(const Token& name) {
  CallPrototype* made = arena_.make<CallPrototype>();
  made->name = name.text;
  made->where = name.where;
  if (token_.is(Kind::LeftParen)) made->results = arena_.copy(parameterList(false));
  expectName("'_'");
  if (token_.is(Kind::LeftParen)) made->parameters = arena_.copy(parameterList(false));
  for (;;) {
    if (acceptDotted("noreturn")) made->isNoReturn = true;
    else if (!abiDirective(made->abiPreserve, made->abiPreserveControl)) break;
  }
  expect(Kind::Semicolon, "';'");
  Binding binding;
  binding.kind = Binding::Kind::Prototype;
  binding.prototype = made;
  declareInBody(name, binding);
  addStatement(Statement::Kind::CallPrototype, name.where).prototype = made;
}

void Parser::targetList(const Token& name, bool isCall) {
  std::vector<Operand> targets;
  std::vector<std::string_view> names;
  do {
    const Token target = expectName(isCall ? "a function" : "a label");
    Operand operand;
    operand.where = target.where;
    operand.kind = isCall ? Operand::Kind::Function : Operand::Kind::Label;
    if (isCall) {
      const Binding binding = symbols_.find(target.text, registers_, target.where);
      if (binding.kind != Binding::Kind::Function) {
        undeclared(target, "the function");
        continue;
      }
      operand.function = binding.function;
    }
    targets.push_back(operand);
    names.push_back(target.text);
  } while (accept(Kind::Comma));
  expect(Kind::Semicolon, "';'");

  TargetList* made = arena_.make<TargetList>();
  made->name = name.text;
  made->where = name.where;
  made->isCall = isCall;
  std::span<Operand> kept = arena_.copy(targets);
  made->targets = kept;
  if (!isCall)
    for (size_t i = 0; i < kept.size(); ++i) symbols_.refer(names[i], &kept[i]);
  Binding binding;
  binding.kind = Binding::Kind::Targets;
  binding.targets = made;
  declareInBody(name, binding);
  addStatement(Statement::Kind::TargetList, name.where).targets = made;
}

// .loc file line column[, function_name label[+n]][, inlined_at file line column]: no ';' at its end.
void Parser::location() {
  const SourceOffset where = token_.where;
  advance();
  Location* made = arena_.make<Location>();
  made->file = static_cast<uint32_t>(expectInteger(UINT32_MAX, "a file number"));
  made->line = static_cast<uint32_t>(expectInteger(UINT32_MAX, "a line number"));
  made->column = static_cast<uint32_t>(expectInteger(UINT32_MAX, "a column number"));
  if (token_.is(Kind::Comma)) {
    const SourceOffset begin = token_.where;
    SourceOffset end = begin;
    while (token_.is(Kind::Comma)) {
      advance();
      const Token word = expectName("function_name or inlined_at");
      if (word.text == "function_name") {
        const Token name = expectName("a label");
        end = name.where + static_cast<SourceOffset>(name.text.size());
        if (!accept(Kind::Plus)) continue;
      } else if (word.text == "inlined_at") {
        expectInteger(UINT32_MAX, "a file number");
        expectInteger(UINT32_MAX, "a line number");
      } else {
        fail(word, "expected function_name or inlined_at, found " + quoted(word.text));
      }
      end = token_.where + static_cast<SourceOffset>(token_.text.size());
      expectInteger(UINT32_MAX, "a number");
    }
    made->rest = text_.substr(begin, end - begin);
  }
  if (!function_) return;
  addStatement(Statement::Kind::Location, where).location = made;
}

}  // namespace mulciber::ptx
