// Tokens taken one after the other, and the constants and operands that they make.
#pragma once

#include "interpreter/syntax/lexer.h"
#include "interpreter/syntax/syntax_tree.h"

namespace mulciber::interpreter {

class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : tokens_(tokenize(text)) {}

 protected:
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool is(std::string_view text) const { return peek().text == text && peek().kind != Token::Kind::Text; }
  bool is(Token::Kind kind) const { return peek().kind == kind; }
  Token take() {
    const Token token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool takeIf(std::string_view text) { return is(text) && (take(), true); }
  void expect(std::string_view text);
  std::string expectName();
  uint64_t expectInteger() { return constant(0).bits; }
  [[noreturn]] void fail(const std::string& expected) const;

  Operand constant(int precedence);  // of operators that bind at least so
  Operand operand();

 private:
  Operand simpleConstant();
  Operand list(Operand::Kind kind, std::string_view end);
  Operand address();

  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace mulciber::interpreter
