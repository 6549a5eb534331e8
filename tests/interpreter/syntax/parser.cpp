// Declarations, functions and statements.
#include <algorithm>
#include <optional>

#include "interpreter/syntax/token_reader.h"

namespace mulciber::interpreter {
namespace {

std::optional<Space> spaceOf(std::string_view word) {
  if (word == ".reg") return Space::Reg;
  if (word == ".global") return Space::Global;
  if (word == ".const") return Space::Const;
  if (word == ".shared") return Space::Shared;
  if (word == ".local") return Space::Local;
  if (word == ".param") return Space::Param;
  return std::nullopt;
}

class Parser : TokenReader {
 public:
  using TokenReader::TokenReader;

  SyntaxTree run() {
    while (!is(Token::Kind::End)) {
      if (is(".version") || is(".target") || is(".address_size") || is(".file") || is(".loc")) skipLine();
      else if (is(".section")) skipSection();
      else if (is(".pragma") || is(".alias")) skipStatement();
      else moduleItem();
    }
    return std::move(tree_);
  }

 private:
  void skipLine() {
    for (const unsigned line = peek().line; peek().line == line && !is(Token::Kind::End);) take();
  }
  void skipStatement() {
    while (!is(";") && !is(Token::Kind::End)) take();
    expect(";");
  }
  void skipSection() {
    while (!is("}") && !is(Token::Kind::End)) take();
    expect("}");
  }

  void moduleItem() {
    bool isExtern = false;
    while (is(".extern") || is(".visible") || is(".weak") || is(".common")) isExtern |= take().text == ".extern";
    if (is(".entry") || is(".func")) return function();
    for (Variable& one : variables()) {
      one.isExtern = isExtern;
      tree_.variables.push_back(std::move(one));
    }
  }

  void function() {
    Function made;
    made.line = peek().line;
    made.isEntry = take().text == ".entry";
    if (is("(")) made.results = parameters();
    made.name = expectName();
    if (is("(")) made.parameters = parameters();
    // Performance directives and attributes.
    while (!is("{") && !is(";") && !is(Token::Kind::End)) take();
    if (takeIf(";")) {
      tree_.functions.push_back(std::move(made));
      return;
    }
    made.isDefined = true;
    expect("{");
    for (unsigned depth = 1; depth;) {
      if (is("{")) {
        take();
        ++depth;
        made.statements.push_back({.kind = Statement::Kind::BlockBegin});
      } else if (is("}")) {
        take();
        if (--depth) made.statements.push_back({.kind = Statement::Kind::BlockEnd});
      } else {
        statement(made.statements);
      }
    }
    tree_.functions.push_back(std::move(made));
  }

  std::vector<Variable> parameters() {
    std::vector<Variable> list;
    expect("(");
    while (!is(")")) {
      list.push_back(variable());
      if (!is(")")) expect(",");
    }
    take();
    return list;
  }

  // The words before the name.
  Variable variableHead() {
    Variable made;
    made.line = peek().line;
    bool isTyped = false;
    while (is(Token::Kind::DotWord)) {
      const std::string_view word = take().text;
      if (const auto space = spaceOf(word)) made.space = *space;
      else if (word == ".align") made.alignment = static_cast<unsigned>(expectInteger());
      else if (word == ".v2" || word == ".v4" || word == ".v8") made.vector = static_cast<unsigned>(word[2] - '0');
      else if (word == ".ptr") {
        while (is(".global") || is(".const") || is(".shared") || is(".local") || is(".param")) take();
        if (takeIf(".align")) expectInteger();
      } else if (word == ".attribute") {
        while (!is(")")) take();
        take();
      } else if (const auto type = typeOf(word)) made.type = *type, isTyped = true;
      else throw Fault(Status::UnknownInstruction, "variables of " + std::string(word) + " are not known", made.line);
    }
    if (!isTyped) fail("a type");
    return made;
  }

  // What follows the head: the name, its dimensions and its initialiser.
  Variable declarator(Variable made) {
    made.name = expectName();
    if (takeIf("<")) {
      if (!is(Token::Kind::Integer)) fail("a number");  // no sum: > would be an operator
      made.copies = static_cast<unsigned>(take().bits);
      expect(">");
    }
    std::vector<uint64_t> sizes;
    while (takeIf("[")) {
      sizes.push_back(is("]") ? 0 : expectInteger());
      expect("]");
    }
    made.isArray = !sizes.empty();
    if (takeIf("=")) {
      initialiser(made.values, sizes, 0);
      if (made.isArray && sizes[0] == 0) {
        uint64_t row = 1;
        for (size_t i = 1; i < sizes.size(); ++i) row *= sizes[i];
        sizes[0] = (made.values.size() / made.vector + row - 1) / row;
      }
    }
    for (uint64_t size : sizes) made.elements *= size;
    return made;
  }

  void initialiser(std::vector<Operand>& values, const std::vector<uint64_t>& sizes, size_t depth) {
    if (!is("{")) {
      values.push_back(initialValue());
      return;
    }
    take();
    const size_t begin = values.size();
    while (!is("}")) {
      initialiser(values, sizes, depth + 1);
      if (!is("}")) expect(",");
    }
    take();
    size_t whole = 1;
    for (size_t i = depth; i < sizes.size(); ++i) whole *= sizes[i];
    Operand zero;
    zero.kind = Operand::Kind::Integer;
    if (values.size() < begin + whole && depth < sizes.size()) values.resize(begin + whole, zero);
  }

  Operand initialValue() {
    if (!is(Token::Kind::Name)) return constant(0);
    Operand made;
    made.kind = Operand::Kind::Name;
    made.name = take().text;
    if (made.name == "generic" && takeIf("(")) {
      made.name = expectName();
      made.selector = "generic";
      expect(")");
    }
    if (is("+") || is("-")) {
      takeIf("+");
      made.bits = expectInteger();
    }
    return made;
  }

  Variable variable() { return declarator(variableHead()); }

  std::vector<Variable> variables() {
    const Variable head = variableHead();
    std::vector<Variable> list;
    do list.push_back(declarator(head));
    while (takeIf(","));
    expect(";");
    return list;
  }

  void statement(std::vector<Statement>& statements) {
    if (is(Token::Kind::End)) fail("\"}\"");
    if (is(".loc") || is(".file")) return skipLine();
    if (is(".pragma")) return skipStatement();
    if (takeIf(";")) return;
    if (is(Token::Kind::DotWord)) {
      for (Variable& one : variables())
        statements.push_back({.kind = Statement::Kind::Variable, .variable = std::move(one)});
      return;
    }
    if (peek(1).text == ":") return labelled(statements);
    statements.push_back({.kind = Statement::Kind::Instruction, .instruction = instruction()});
  }

  void labelled(std::vector<Statement>& statements) {
    Statement made{.kind = Statement::Kind::Label, .label = expectName()};
    take();
    if (takeIf(".branchtargets") || takeIf(".calltargets")) {
      made.kind = Statement::Kind::Targets;
      do made.targets.push_back(expectName());
      while (takeIf(","));
      expect(";");
    } else if (takeIf(".callprototype")) {
      made.kind = Statement::Kind::Prototype;
      if (is("(")) made.prototype.results = parameters();
      expectName();
      if (is("(")) made.prototype.parameters = parameters();
      skipStatement();
    }
    statements.push_back(std::move(made));
  }

  Instruction instruction() {
    Instruction made;
    if (takeIf("@")) {
      made.isGuardNegated = takeIf("!");
      made.guard = expectName();
    }
    made.line = peek().line;
    made.opcode = expectName();
    while (is(Token::Kind::DotWord)) {
      made.modifiers.emplace_back(take().text);
      if (const auto type = typeOf(made.modifiers.back())) made.types.push_back(*type);
    }
    while (!is(";")) {
      made.operands.push_back(operand());
      if (!is(";")) expect(",");
    }
    take();
    return made;
  }

  SyntaxTree tree_;
};

}  // namespace

SyntaxTree parse(std::string_view text) { return Parser(text).run(); }

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string Instruction::name() const {
  std::string text = opcode;
  for (const std::string& modifier : modifiers) text += modifier;
  return text;
}

}  // namespace mulciber::interpreter
