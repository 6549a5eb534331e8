#include "translator/ptx/parser.h"

#include <algorithm>

#include "translator/ptx/parser_state.h"
#include "translator/ptx/special_registers.h"
#include "translator/ptx/suggestion.h"
#include "translator/ptx/target.h"

namespace mulciber::ptx {
namespace {

constexpr std::string_view kDirectives =
    "version target address_size entry func extern visible weak common global const shared local "
    "param reg tex file section alias pragma loc align attribute maxntid reqntid minnctapersm "
    "maxnctapersm maxnreg maxclusterrank reqnctapercluster explicitcluster blocksareclusters "
    "noreturn abi_preserve abi_preserve_control callprototype calltargets branchtargets ptr managed "
    "unified";

std::string suggestDirective(std::string_view misspelt) {
  Suggestion suggestion(misspelt);
  for (std::string_view rest = kDirectives; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    suggestion.offer(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return suggestion.phrase(".");
}

}  // namespace

std::unique_ptr<ModuleHolder> parse(std::string_view text, std::string_view fileName, Diagnostics& diagnostics) {
  while (text.ends_with('\0')) text.remove_suffix(1);
  auto holder = std::make_unique<ModuleHolder>();
  if (text.size() >= size_t{1} << 31) {
    diagnostics.add(
        {Diagnostics::Severity::Error, std::string(fileName), 0, 0, "a PTX module must be smaller than 2 GiB", {}});
    return nullptr;
  }
  char* copy = static_cast<char*>(holder->arena->allocate(text.size() + 1, 1));
  std::copy(text.begin(), text.end(), copy);
  copy[text.size()] = '\0';
  const std::string_view kept(copy, text.size());
  holder->source.add(kept, holder->arena->copy(fileName));
  if (!Parser(*holder, kept, diagnostics).parse()) return nullptr;
  return holder;
}

Parser::Parser(ModuleHolder& holder, std::string_view text, Diagnostics& diagnostics)
    : holder_(holder), arena_(*holder.arena), diagnostics_(diagnostics), text_(text), lexer_(text) {
  advance();
}

bool Parser::parse() {
  Diagnostics& diagnostics = diagnostics_;
  const size_t before = diagnostics.messages().size();
  holder_.module.addressSize = 64;  // the manual says 32, but there is no other host any more, and ptxas does the same
  try {
    if (!token_.isDotted("version")) fail(token_, "a PTX module must begin with .version");
    version();
    const Token start = token_;
    if (!start.isDotted("target")) fail(start, "expected .target after .version");
    target();
    if (holder_.module.target.empty()) fail(start, "expected a target such as sm_90 among the words of .target");

  } catch (const SyntaxError&) {
    return false;
  }
  while (!token_.is(Kind::End) && !diagnostics.isFull()) {
    const SourceOffset start = token_.where;
    try {
      moduleStatement();
    } catch (const SyntaxError&) {
      skipStatement();
      if (token_.is(Kind::RightBrace) || token_.is(Kind::LeftBrace) || token_.where == start) advance();
    }
  }
  finishModule();
  return std::none_of(diagnostics.messages().begin() + static_cast<ptrdiff_t>(before), diagnostics.messages().end(),
                      [](const auto& message) { return message.severity == Diagnostics::Severity::Error; });
}

void Parser::finishModule() {
  Module& module = holder_.module;
  std::erase(variables_, nullptr);
  module.functions = arena_.copy(functions_);
  module.variables = arena_.copy(variables_);
  module.files = arena_.copy(files_);
  module.sections = arena_.copy(sections_);
  module.pragmas = arena_.copy(modulePragmas_);
}

// ---- Tokens

bool Parser::accept(Kind kind) {
  if (!token_.is(kind)) return false;
  advance();
  return true;
}

bool Parser::acceptDotted(std::string_view word) {
  if (!token_.isDotted(word)) return false;
  advance();
  return true;
}

Token Parser::expect(Kind kind, const char* what) {
  if (!token_.is(kind)) failExpected(what);
  Token token = token_;
  advance();
  return token;
}

Token Parser::expectName(const char* what) { return expect(Kind::Word, what); }

std::optional<uint64_t> Parser::acceptInteger() {
  if (!token_.is(Kind::Integer)) return std::nullopt;
  Constant value;
  if (!parseLiteral(token_, value)) fail(token_, "this number does not fit in 64 bits");
  advance();
  return value.bits;
}

uint64_t Parser::expectInteger(uint64_t largest, const char* what) {
  const Token token = token_;
  auto value = acceptInteger();
  if (!value) failExpected(what);
  if (*value > largest) error(token.where, std::string(what) + " can be at most " + std::to_string(largest));
  return std::min(*value, largest);
}

std::string_view Parser::expectString() {
  std::string_view text = expect(Kind::String, "a string").text;
  return text.substr(1, text.size() - 2);
}

// ---- Messages

void Parser::fail(const Token& token, std::string text) {
  error(token.where, token.is(Kind::Error) ? lexer_.error() : std::move(text), token.text.size());
  throw SyntaxError{};
}

void Parser::failExpected(const char* what) {
  std::string text = std::string("expected ") + what;
  const std::string_view between = text_.substr(previousEnd_, token_.where - previousEnd_);
  const bool isSeparator = std::string_view(what).ends_with("';'");
  if (isSeparator && previousEnd_ != 0 && between.find('\n') != between.npos && !token_.is(Kind::Error)) {
    error(previousEnd_, text + " at the end of the line", 1);
    throw SyntaxError{};
  }
  if (token_.is(Kind::End)) {
    text += " before the end of the file";
  } else if (token_.text.size() <= 40) {
    text += ", found " + quoted(token_.text);
  }
  fail(token_, std::move(text));
}

void Parser::error(SourceOffset where, std::string text, size_t length) {
  holder_.source.error(diagnostics_, where, std::move(text), static_cast<uint32_t>(length));
}

void Parser::duplicate(std::string_view name, SourceOffset where, SourceOffset previous) {
  error(where, quoted(name) + " is already declared in this scope", name.size());
  if (previous != where)
    holder_.source.report(diagnostics_, Diagnostics::Severity::Note, previous, "the earlier declaration is here");
}

void Parser::undeclared(const Token& name, const char* what) {
  if (diagnostics_.isFull()) return;
  std::string_view prefix;
  if (uint32_t count = symbols_.rangeCount(name.text, prefix)) {
    return error(name.where,
                 quoted(name.text) + " is not among the registers " + std::string(prefix) + "<" +
                     std::to_string(count) + ">, which end with " + std::string(prefix) + std::to_string(count - 1),
                 name.text.size());
  }
  Suggestion suggestion(name.text);
  symbols_.forEachVisible([&](std::string_view visible, const Binding&) { suggestion.offer(visible); });
  for (const Register& reg : registers_) suggestion.offer(reg.name);
  if (name.text[0] == '%')
    for (std::string_view special : specialRegisterNames()) {
      suggestion.offer(special.substr(0, special.find('.')));
      suggestion.offer(special);
    }
  error(name.where, std::string(what) + " " + quoted(name.text) + " is not declared" + suggestion.phrase(),
        name.text.size());
}

void Parser::unknownDirective(const Token& token) {
  if (!token.is(Kind::Dotted)) {
    const bool isStray = token.is(Kind::RightBrace);
    fail(token,
         isStray ? "this '}' closes nothing" : "expected a directive, found " + quoted(token.text.substr(0, 40)));
  }
  fail(token, "unknown directive " + quoted(token.text) + suggestDirective(token.text.substr(1)));
}

void Parser::skipStatement() {
  uint32_t open = operandBraces_;
  operandBraces_ = 0;
  operandBrackets_ = false;
  elements_.clear();
  for (;; advance()) {
    switch (token_.kind) {
      case Kind::End: return;
      case Kind::Semicolon: advance(); return;
      case Kind::LeftBrace:
        if (open == 0) return;
        ++open;
        break;
      case Kind::RightBrace:
        if (open == 0) return;
        --open;
        break;
      case Kind::Dotted:
        // Where a ';' is missing, or at module scope: these begin a statement and never stand inside one.
        if (token_.isDotted("entry") || token_.isDotted("func") || token_.isDotted("visible") ||
            token_.isDotted("extern") || token_.isDotted("version") || token_.isDotted("loc"))
          return;
        break;
      default: break;
    }
  }
}

// ---- Module scope

void Parser::moduleStatement() {
  if (token_.is(Kind::Dwarf)) {
    sections_.push_back(token_.text);
    advance();
    return;
  }
  if (!token_.is(Kind::Dotted)) unknownDirective(token_);
  if (token_.isDotted("target")) return target();
  if (token_.isDotted("address_size")) return addressSize();
  if (token_.isDotted("file")) return file();
  if (token_.isDotted("section")) return section();
  if (token_.isDotted("alias")) return alias();
  if (acceptDotted("pragma")) {
    pragmas(modulePragmas_);
    expect(Kind::Semicolon, "';'");
    return;
  }
  if (token_.isDotted("loc")) {  // nvcc puts these between functions too; they say nothing there
    location();
    return;
  }
  const Linkage link = linkage();
  if (acceptDotted("entry")) return function(link, true);
  if (acceptDotted("func")) return function(link, false);
  const Token token = token_;
  if (auto space = acceptSpace()) {
    const bool isOfThread = *space == StateSpace::Reg || *space == StateSpace::Local;
    if (isOfThread && holder_.module.versionMajor < 3) return keepForBodies(token, *space);
    if (isOfThread || *space == StateSpace::Param)
      fail(token, quoted(token.text) + " declarations belong into a function");
    return variables(link, *space);
  }
  unknownDirective(token_);
}

// Each kernel has its own of them, so its body declares them.
void Parser::keepForBodies(const Token& start, StateSpace space) {
  kept_.push_back({lexer_, token_, space});
  while (!token_.is(Kind::Semicolon) && !token_.is(Kind::End)) advance();
  if (token_.is(Kind::End)) error(start.where, "the declaration does not end");
  advance();
}

void Parser::version() {
  advance();
  const Token token = expect(Kind::Float, "a version such as 9.0");
  const size_t dot = token.text.find('.');
  auto number = [](std::string_view digits) {
    uint32_t value = 0;
    for (char c : digits) {
      if (c < '0' || c > '9' || value > 99) return ~0u;
      value = value * 10 + static_cast<uint32_t>(c - '0');
    }
    return digits.empty() ? ~0u : value;
  };
  const uint32_t major = number(token.text.substr(0, std::min(dot, token.text.size())));
  const uint32_t minor = dot == token.text.npos ? ~0u : number(token.text.substr(dot + 1));
  if (major == ~0u || minor == ~0u) fail(token, "expected a version such as 9.0, found " + quoted(token.text));
  if (isNewerThanKnown(major, minor)) {
    diagnostics_.noteNewerPtx();
    holder_.source.report(diagnostics_, Diagnostics::Severity::Note, token.where,
                          "PTX ISA version " + std::string(token.text) + " is newer than " +
                              std::to_string(kNewestMajor) + '.' + std::to_string(kNewestMinor) +
                              ", the newest one known: what came later is refused");
  }
  holder_.module.versionWhere = token.where;
  holder_.module.versionMajor = major;
  holder_.module.versionMinor = minor;
}

void Parser::target() {
  advance();
  std::vector<std::string_view> options;
  do {
    const Token word = expectName("a target such as sm_90");
    const bool isArchitecture = word.text.starts_with("sm_") || word.text.starts_with("compute_");
    if (isArchitecture) {
      holder_.module.target = word.text;
      holder_.module.targetWhere = word.where;
    } else {
      options.push_back(word.text);
    }
  } while (accept(Kind::Comma));
  if (!options.empty()) holder_.module.targetOptions = arena_.copy(options);
}

void Parser::addressSize() {
  advance();
  const Token token = token_;
  const uint64_t size = expectInteger(UINT32_MAX, "the address size");
  if (size != 32 && size != 64) error(token.where, "the address size must be 32 or 64");

  holder_.module.addressSize = static_cast<uint32_t>(size);
}

void Parser::file() {
  advance();
  Module::File entry{};
  const Token number = token_;
  entry.index = static_cast<uint32_t>(expectInteger(1u << 24, "a file number"));
  if (!fileNumbers_.insert(entry.index).second)
    error(number.where, "file " + std::to_string(entry.index) + " is already declared", number.text.size());
  entry.name = expectString();
  if (accept(Kind::Comma)) {
    entry.timestamp = expectInteger(UINT64_MAX, "a time stamp");
    expect(Kind::Comma, "',' and the file's size");
    entry.size = expectInteger(UINT64_MAX, "the file's size");
  }
  files_.push_back(entry);
}

void Parser::section() {
  const Token start = token_;
  std::string_view block = lexer_.block(start.where);
  if (block.empty()) {
    token_ = {Kind::End, start.where, {}};
    fail(start, "this section is not closed");
  }
  sections_.push_back(block);
  advance();
}

void Parser::alias() {
  advance();
  const Token name = expectName("a function's name");
  expect(Kind::Comma, "','");
  const Token aliasee = expectName("a function's name");
  expect(Kind::Semicolon, "';'");
  const Binding alias = symbols_.findModuleScope(name.text), other = symbols_.findModuleScope(aliasee.text);
  if (alias.kind != Binding::Kind::Function) return undeclared(name, "the function");
  if (other.kind != Binding::Kind::Function) return undeclared(aliasee, "the function");
  if (alias.function->isEntry || other.function->isEntry)
    return error(name.where, "an entry cannot be an alias or have one");
  if (alias.function->isDefined || alias.function->aliasee)
    return error(name.where, quoted(name.text) + " is defined already, so it cannot be an alias");
  if (!other.function->isDefined) return error(aliasee.where, "an alias needs a function that is defined here");
  alias.function->aliasee = other.function;
}

void Parser::pragmas(std::vector<std::string_view>& list) {
  do list.push_back(expectString());
  while (accept(Kind::Comma));
}

Parser::Linkage Parser::linkage() {
  Linkage link;
  link.where = token_.where;
  for (;; advance()) {
    if (token_.isDotted("extern")) link.isExtern = true;
    else if (token_.isDotted("visible")) link.isVisible = true;
    else if (token_.isDotted("weak")) link.isWeak = true;
    else if (token_.isDotted("common")) link.isCommon = true;
    else break;
    if (link.isExtern + link.isVisible + link.isWeak + link.isCommon > 1)
      fail(token_, "a declaration takes only one of .extern, .visible, .weak and .common");
  }
  return link;
}

// ---- Modules

const Function* Module::findFunction(std::string_view name) const {
  auto found = std::find_if(functions.begin(), functions.end(), [&](const Function* f) { return f->name == name; });
  return found == functions.end() ? nullptr : *found;
}

}  // namespace mulciber::ptx
