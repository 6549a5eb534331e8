#include "interpreter/syntax/token_reader.h"

#include <array>
#include <bit>

namespace mulciber::interpreter {

void TokenReader::fail(const std::string& expected) const {
  throw Fault(
      Status::InvalidText,
      "expected " + expected + ", found " + (is(Token::Kind::End) ? "the end" : '"' + std::string(peek().text) + '"'),
      peek().line);
}

void TokenReader::expect(std::string_view text) {
  if (!takeIf(text)) fail('"' + std::string(text) + '"');
}

std::string TokenReader::expectName() {
  if (!is(Token::Kind::Name)) fail("a name");
  return std::string(take().text);
}

namespace {

struct Operator {
  std::string_view text;
  int precedence;
};
constexpr std::array<Operator, 18> kOperators = {{{"||", 1},
                                                  {"&&", 2},
                                                  {"|", 3},
                                                  {"^", 4},
                                                  {"&", 5},
                                                  {"==", 6},
                                                  {"!=", 6},
                                                  {"<", 7},
                                                  {">", 7},
                                                  {"<=", 7},
                                                  {">=", 7},
                                                  {"<<", 8},
                                                  {">>", 8},
                                                  {"+", 9},
                                                  {"-", 9},
                                                  {"*", 10},
                                                  {"/", 10},
                                                  {"%", 10}}};

uint64_t apply(std::string_view op, uint64_t a, uint64_t b) {
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  if (op == "||") return a || b;
  if (op == "&&") return a && b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "&") return a & b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return x < y;
  if (op == ">") return x > y;
  if (op == "<=") return x <= y;
  if (op == ">=") return x >= y;
  if (op == "<<") return b < 64 ? a << b : 0;
  if (op == ">>") return static_cast<uint64_t>(x >> (b < 64 ? b : 63));
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (b == 0 || (y == -1 && op == "/")) return b ? 0 - a : 0;
  if (y == -1) return 0;
  return static_cast<uint64_t>(op == "/" ? x / y : x % y);
}

}  // namespace

Operand TokenReader::simpleConstant() {
  Operand made;
  if (takeIf("(")) {
    if (takeIf(".s64") || takeIf(".u64")) {
      expect(")");
      return simpleConstant();
    }
    made = constant(0);
    expect(")");
    return made;
  }
  if (is("-") || is("+") || is("~") || is("!")) {
    const std::string_view op = take().text;
    made = simpleConstant();
    if (made.kind == Operand::Kind::Float) {
      if (op == "-") made.bits ^= uint64_t(1) << (made.floatBits == 32 ? 31 : 63);
    } else if (op != "+") {
      made.bits = op == "-" ? 0 - made.bits : op == "~" ? ~made.bits : !made.bits;
    }
    return made;
  }
  if (!is(Token::Kind::Integer) && !is(Token::Kind::Float)) fail("a constant");
  const Token token = take();
  made.kind = token.kind == Token::Kind::Integer ? Operand::Kind::Integer : Operand::Kind::Float;
  made.bits = token.bits;
  made.floatBits = token.floatBits;
  return made;
}

Operand TokenReader::constant(int precedence) {
  Operand left = simpleConstant();
  while (left.kind == Operand::Kind::Integer) {
    const Operator* found = nullptr;
    for (const Operator& one : kOperators)
      if (is(one.text) && one.precedence > precedence) found = &one;
    if (!found) break;
    take();
    left.bits = apply(found->text, left.bits, constant(found->precedence).bits);
  }
  return left;
}

Operand TokenReader::list(Operand::Kind kind, std::string_view end) {
  Operand made;
  made.kind = kind;
  take();
  while (!is(end)) {
    made.parts.push_back(operand());
    if (!is(end)) expect(",");
  }
  take();
  return made;
}

Operand TokenReader::address() {
  take();
  Operand made;
  made.kind = Operand::Kind::Address;
  if (is(Token::Kind::Name)) {
    Operand base;
    base.kind = Operand::Kind::Name;
    base.name = take().text;
    made.parts.push_back(base);
    if (takeIf("+")) made.bits = expectInteger();
    else if (is("-")) made.bits = expectInteger();
  } else {
    made.bits = expectInteger();
  }
  expect("]");
  return made;
}

Operand TokenReader::operand() {
  if (is("[")) return address();
  if (is("{")) return list(Operand::Kind::Vector, "}");
  if (is("(")) return list(Operand::Kind::List, ")");
  Operand made;
  if (is("!") && peek(1).kind == Token::Kind::Name) made.isNegated = (take(), true);
  if (is("-") && peek(1).kind == Token::Kind::Name) made.isMinus = (take(), true);
  if (!is(Token::Kind::Name)) return constant(0);
  made.name = take().text;
  if (made.name == "_") made.name.clear();
  else made.kind = Operand::Kind::Name;
  if (is(Token::Kind::DotWord)) made.selector = take().text;
  if (made.kind == Operand::Kind::Name && is("+") && peek(1).kind == Token::Kind::Integer)
    made.bits = (take(), expectInteger());
  if (made.kind == Operand::Kind::Name && is("[")) {
    const Operand index = address();
    made.isIndexed = true;
    made.parts = index.parts;
    made.bits = index.bits;
  }
  if (takeIf("|")) made.pair = std::make_shared<Operand>(operand());
  return made;
}

}  // namespace mulciber::interpreter
