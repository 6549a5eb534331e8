#include "interpreter/syntax/lexer.h"

#include <bit>
#include <cctype>
#include <cstdlib>

namespace mulciber::interpreter {
namespace {

bool startsName(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%'; }
bool continuesName(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (skipBlanks(), at_ < text_.size()) next();
    add(Token::Kind::End, at_);
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool isAt(std::string_view word) const { return text_.substr(at_, word.size()) == word; }

  Token& add(Token::Kind kind, size_t begin) {
    tokens_.push_back({kind, text_.substr(begin, at_ - begin), 0, 0, line_});
    return tokens_.back();
  }

  void skipBlanks() {
    while (at_ < text_.size()) {
      if (isAt("//")) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (isAt("/*")) {
        for (at_ += 2; at_ < text_.size() && !isAt("*/"); ++at_) line_ += text_[at_] == '\n';
        at_ += 2;
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) || text_[at_] == '\0') {
        line_ += text_[at_++] == '\n';
      } else {
        return;
      }
    }
    at_ = std::min(at_, text_.size());
  }

  void skipName() {
    while (continuesName(peek()) || (isAt("::") && continuesName(peek(2)))) at_ += peek() == ':' ? 2 : 1;
  }

  void next() {
    const size_t begin = at_;
    if (peek() == '.' && startsDotWord()) {
      ++at_;
      skipName();
      add(Token::Kind::DotWord, begin);
    } else if (startsName(peek())) {
      ++at_;
      while (continuesName(peek())) ++at_;
      add(Token::Kind::Name, begin);
    } else if (std::isdigit(static_cast<unsigned char>(peek())) || peek() == '.') {
      number();
    } else if (peek() == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      }
      Token& token = add(Token::Kind::Text, begin + 1);
      ++at_;
      token.bits = 0;
    } else {
      for (std::string_view sign : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"})
        if (isAt(sign)) ++at_;
      ++at_;
      add(Token::Kind::Sign, begin);
    }
  }

  // ".5" is a number, ".2d" and ".x" are words.
  bool startsDotWord() const {
    if (!std::isdigit(static_cast<unsigned char>(peek(1)))) return true;
    size_t end = at_ + 1;
    while (end < text_.size() && continuesName(text_[end])) ++end;
    return std::isalpha(static_cast<unsigned char>(text_[end - 1])) != 0;
  }

  void number() {
    const size_t begin = at_;
    const char second = static_cast<char>(std::tolower(peek(1)));
    if (peek() == '0' && (second == 'f' || second == 'd')) {
      at_ += 2;
      const size_t digits = at_;
      while (std::isxdigit(static_cast<unsigned char>(peek()))) ++at_;
      const uint64_t bits = std::strtoull(std::string(text_.substr(digits, at_ - digits)).c_str(), nullptr, 16);
      Token& token = add(Token::Kind::Float, begin);
      token.floatBits = second == 'f' ? 32 : 64;
      token.bits = bits;
      return;
    }
    bool isFloat = false;
    if (peek() == '0' && (second == 'x' || second == 'b')) {
      at_ += 2;
      while (std::isxdigit(static_cast<unsigned char>(peek()))) ++at_;
    } else {
      for (char c = peek(); std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == 'e' || c == 'E' ||
                            ((c == '-' || c == '+') && std::tolower(text_[at_ - 1]) == 'e');
           c = peek()) {
        isFloat |= !std::isdigit(static_cast<unsigned char>(c));
        ++at_;
      }
    }
    const std::string digits(text_.substr(begin, at_ - begin));
    if (peek() == 'U') ++at_;
    Token& token = add(isFloat ? Token::Kind::Float : Token::Kind::Integer, begin);
    if (isFloat) token.bits = std::bit_cast<uint64_t>(std::strtod(digits.c_str(), nullptr));
    else if (second == 'b' && digits[0] == '0') token.bits = std::strtoull(digits.c_str() + 2, nullptr, 2);
    else token.bits = std::strtoull(digits.c_str(), nullptr, 0);
  }

  std::string_view text_;
  size_t at_ = 0;
  unsigned line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace mulciber::interpreter
