// Constant expressions, by operator precedence with the parser's own stack: nesting costs memory, never recursion.
#include "translator/ptx/parser_state.h"

namespace mulciber::ptx {

bool Parser::beginsConstant() const {
  switch (token_.kind) {
    case Kind::Integer:
    case Kind::Float:
    case Kind::LeftParen:
    case Kind::Plus:
    case Kind::Minus:
    case Kind::Tilde:
    case Kind::Exclamation:
    case Kind::Error: return true;
    default: return token_.isWord("WARP_SZ");
  }
}

// Pushes one value; signs, casts and opening parentheses before it go to the stack of pending operators.
void Parser::constantPrimary() {
  for (;;) {
    if (pending_.size() >= kMaxOperators) fail(token_, "this constant expression is too complex");
    const Token token = token_;
    switch (token.kind) {
      case Kind::Integer:
      case Kind::Float: {
        Constant value;
        if (!parseLiteral(token, value)) fail(token, "this number is out of range");
        advance();
        values_.push_back(value);
        return;
      }
      case Kind::Word:
        if (token.text != "WARP_SZ") fail(token, "expected a constant, found '" + std::string(token.text) + "'");
        advance();
        values_.push_back(Constant::integer(32));
        return;
      case Kind::Plus:
      case Kind::Minus:
      case Kind::Tilde:
      case Kind::Exclamation:
        advance();
        pending_.push_back({token.kind, true, token.where});
        break;
      case Kind::LeftParen:
        advance();
        if (!acceptCast(token.where)) pending_.push_back({Kind::LeftParen, false, token.where});
        break;
      default: failExpected("a constant");
    }
  }
}

bool Parser::acceptCast(SourceOffset where) {
  if (!token_.isDotted("s64") && !token_.isDotted("u64")) return false;
  const Type type = token_.isDotted("s64") ? Type::S64 : Type::U64;
  advance();
  expect(Kind::RightParen, "')'");
  pending_.push_back({Kind::RightParen, true, where, type});
  return true;
}

// Applies the operator on top of the stack.
void Parser::reduce() {
  const Pending top = pending_.back();
  pending_.pop_back();
  const char* problem = nullptr;
  if (top.isUnary) {
    Constant& value = values_.back();
    if (top.cast != Type::None) {
      if (value.kind != Constant::Kind::Integer) problem = "only integers can be cast";
      value.isUnsigned = top.cast == Type::U64;
    } else {
      problem = applyUnary(top.op, value);
    }
  } else if (top.op == Kind::Colon) {
    const Constant otherwise = values_.back();
    values_.pop_back();
    const Constant then = values_.back();
    values_.pop_back();
    values_.back() = values_.back().isTrue() ? then : otherwise;
  } else {
    const Constant right = values_.back();
    values_.pop_back();
    problem = applyBinary(top.op, values_.back(), right);
  }
  if (problem) {
    error(top.where, problem, 1);
    throw SyntaxError{};
  }
}

Constant Parser::constant() {
  values_.clear();
  pending_.clear();
  constantPrimary();
  const bool isLiteral = pending_.empty() && precedence(token_.kind) == 0 && !token_.is(Kind::Question);
  if (isLiteral) return values_.back();
  // Operators and closing parentheses, up to what is no part of the expression.
  for (;;) {
    while (!pending_.empty() && pending_.back().isUnary) reduce();
    const Token token = token_;
    auto reduceAbove = [&](int level) {
      while (!pending_.empty() && pending_.back().op != Kind::LeftParen && pending_.back().op != Kind::Question &&
             pending_.back().level >= level)
        reduce();
    };
    if (token.is(Kind::RightParen)) {
      reduceAbove(0);
      const bool isOpen = !pending_.empty() && pending_.back().op == Kind::LeftParen;
      if (!isOpen) break;  // closes something around the expression
      pending_.pop_back();
      advance();
      continue;
    }
    if (token.is(Kind::Question)) {
      reduceAbove(2);
      pending_.push_back({Kind::Question, false, token.where});
      advance();
      constantPrimary();
      continue;
    }
    if (token.is(Kind::Colon)) {
      reduceAbove(1);
      if (pending_.empty() || pending_.back().op != Kind::Question) break;
      pending_.back() = {Kind::Colon, false, token.where, Type::None, 1};
      advance();
      constantPrimary();
      continue;
    }
    const int level = precedence(token.kind);
    if (level == 0) break;
    reduceAbove(level);
    if (pending_.size() >= kMaxOperators) fail(token, "this constant expression is too complex");
    pending_.push_back({token.kind, false, token.where, Type::None, level});
    advance();
    constantPrimary();
  }
  while (!pending_.empty()) {
    if (pending_.back().op == Kind::LeftParen && !pending_.back().isUnary) failExpected("')'");
    if (pending_.back().op == Kind::Question) failExpected("':'");
    reduce();
  }
  return values_.back();
}

}  // namespace mulciber::ptx
