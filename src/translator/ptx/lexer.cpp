#include "translator/ptx/lexer.h"

#include <array>
#include <cstring>

namespace mulciber::ptx {
namespace {

enum Class : uint8_t { Other, Space, WordStart, Digit };

constexpr auto kClasses = [] {
  std::array<Class, 256> classes{};
  for (char c : {' ', '\t', '\n', '\r', '\v', '\f'}) classes[static_cast<unsigned char>(c)] = Space;
  for (char c = 'a'; c <= 'z'; ++c) classes[static_cast<unsigned char>(c)] = WordStart;
  for (char c = 'A'; c <= 'Z'; ++c) classes[static_cast<unsigned char>(c)] = WordStart;
  for (char c : {'_', '$'}) classes[static_cast<unsigned char>(c)] = WordStart;
  for (char c = '0'; c <= '9'; ++c) classes[static_cast<unsigned char>(c)] = Digit;
  return classes;
}();

Class classOf(char c) { return kClasses[static_cast<unsigned char>(c)]; }
bool isWordCharacter(char c) { return classOf(c) >= WordStart; }
bool isDigit(char c) { return classOf(c) == Digit; }
bool isHexDigit(char c) { return isDigit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }

}  // namespace

bool Lexer::skipSpace() {
  for (;;) {
    while (classOf(*next_) == Space) ++next_;
    if (*next_ != '/') return true;
    if (next_[1] == '/') {
      const void* newline = std::memchr(next_, '\n', static_cast<size_t>(end_ - next_));
      next_ = newline ? static_cast<const char*>(newline) + 1 : end_;
    } else if (next_[1] == '*') {
      std::string_view rest(next_ + 2, static_cast<size_t>(end_ - next_ - 2));
      size_t close = rest.find("*/");
      if (close == rest.npos) return false;
      next_ += 2 + close + 2;
    } else {
      return true;
    }
  }
}

Token Lexer::next() {
  using Kind = Token::Kind;
  if (!skipSpace()) {
    const char* start = next_;
    next_ = end_;
    error_ = "this comment is not closed";
    return {Kind::Error, static_cast<SourceOffset>(start - begin_), {start, 2}};
  }
  const char* start = next_;
  switch (classOf(*start)) {
    case WordStart:
      while (isWordCharacter(*++next_)) {
      }
      return make(Kind::Word, start);
    case Digit: return number();
    default: break;
  }
  switch (*start) {
    case '%':
      if (!isWordCharacter(start[1])) return punctuation(Kind::Percent, 1);
      ++next_;
      while (isWordCharacter(*next_)) ++next_;
      return make(Kind::Word, start);
    case '.':
      // ".5" is a number unless it continues a word, as in tex.2d.
      if (isDigit(start[1]) && (start == begin_ || !isWordCharacter(start[-1]))) return number();
      ++next_;
      while (isWordCharacter(*next_)) {
        while (isWordCharacter(*next_)) ++next_;
        if (next_[0] == ':' && next_[1] == ':' && isWordCharacter(next_[2])) next_ += 2;
      }
      if (next_ == start + 1) return fail(start, "a name must follow this '.'");
      return make(Kind::Dotted, start);
    case '"': return string();
    case '@': return start[1] == '@' ? dwarf() : punctuation(Kind::At, 1);
    case '(': return punctuation(Kind::LeftParen, 1);
    case ')': return punctuation(Kind::RightParen, 1);
    case '[': return punctuation(Kind::LeftBracket, 1);
    case ']': return punctuation(Kind::RightBracket, 1);
    case '{': return punctuation(Kind::LeftBrace, 1);
    case '}': return punctuation(Kind::RightBrace, 1);
    case ',': return punctuation(Kind::Comma, 1);
    case ';': return punctuation(Kind::Semicolon, 1);
    case ':': return punctuation(Kind::Colon, 1);
    case '?': return punctuation(Kind::Question, 1);
    case '+': return punctuation(Kind::Plus, 1);
    case '-': return punctuation(Kind::Minus, 1);
    case '*': return punctuation(Kind::Star, 1);
    case '/': return punctuation(Kind::Slash, 1);
    case '^': return punctuation(Kind::Caret, 1);
    case '~': return punctuation(Kind::Tilde, 1);
    case '&': return start[1] == '&' ? punctuation(Kind::AndAnd, 2) : punctuation(Kind::Ampersand, 1);
    case '|': return start[1] == '|' ? punctuation(Kind::OrOr, 2) : punctuation(Kind::Pipe, 1);
    case '!': return start[1] == '=' ? punctuation(Kind::NotEqual, 2) : punctuation(Kind::Exclamation, 1);
    case '=': return start[1] == '=' ? punctuation(Kind::EqualEqual, 2) : punctuation(Kind::Equal, 1);
    case '<':
      if (start[1] == '<') return punctuation(Kind::ShiftLeft, 2);
      return start[1] == '=' ? punctuation(Kind::LessEqual, 2) : punctuation(Kind::Less, 1);
    case '>':
      if (start[1] == '>') return punctuation(Kind::ShiftRight, 2);
      return start[1] == '=' ? punctuation(Kind::GreaterEqual, 2) : punctuation(Kind::Greater, 1);
    case '\0':
      if (start == end_) return make(Kind::End, start);
      ++next_;
      return fail(start, "the text holds a zero byte");
    default: break;
  }
  while (++next_ != end_ && static_cast<unsigned char>(*next_) >= 0x80) {
  }
  return fail(start, "this character has no meaning in PTX");
}

Token Lexer::number() {
  const char* start = next_;
  const char kind = *start == '0' ? static_cast<char>(start[1] | 32) : '\0';
  if (kind == 'f' || kind == 'd') {
    next_ += 2;
    while (isHexDigit(*next_)) ++next_;
    const ptrdiff_t digits = next_ - start - 2, wanted = kind == 'f' ? 8 : 16;
    while (isWordCharacter(*next_)) ++next_;
    if (next_ - start - 2 != digits || digits != wanted)
      return fail(start, kind == 'f' ? "0f must be followed by exactly 8 hexadecimal digits"
                                     : "0d must be followed by exactly 16 hexadecimal digits");
    return make(Token::Kind::Float, start);
  }
  if (kind == 'x') {
    next_ += 2;
    while (isHexDigit(*next_)) ++next_;
    if (next_ == start + 2) return fail(start, "0x must be followed by hexadecimal digits");
  } else if (kind == 'b') {
    next_ += 2;
    while (*next_ == '0' || *next_ == '1') ++next_;
    if (next_ == start + 2) return fail(start, "0b must be followed by binary digits");
  } else {
    while (isDigit(*next_)) ++next_;
    bool isFloat = *next_ == '.';
    if (isFloat) {
      ++next_;
      while (isDigit(*next_)) ++next_;
    }
    if ((*next_ | 32) == 'e') {
      const char* exponent = next_ + 1 + (next_[1] == '+' || next_[1] == '-');
      if (isDigit(*exponent)) {
        isFloat = true;
        next_ = exponent;
        while (isDigit(*next_)) ++next_;
      }
    }
    if (isFloat) {
      if (!isWordCharacter(*next_)) return make(Token::Kind::Float, start);
      while (isWordCharacter(*next_)) ++next_;
      return fail(start, "this is not a number");
    }
    if (*start == '0' &&
        std::string_view(start, static_cast<size_t>(next_ - start)).find_first_of("89") != std::string_view::npos) {
      while (isWordCharacter(*next_)) ++next_;
      return fail(start, "a number that begins with 0 is octal and has no digits 8 and 9");
    }
  }
  if (*next_ == 'U') ++next_;
  if (isWordCharacter(*next_)) {
    while (isWordCharacter(*next_)) ++next_;
    return fail(start, "this is not a number");
  }
  return make(Token::Kind::Integer, start);
}

Token Lexer::string() {
  const char* start = next_++;
  while (*next_ != '"') {
    if (next_ == end_ || *next_ == '\n') return fail(start, "this string is not closed on its line");
    if (*next_ == '\\' && next_ + 1 != end_ && next_[1] != '\n') ++next_;
    ++next_;
  }
  ++next_;
  return make(Token::Kind::String, start);
}

Token Lexer::dwarf() {
  const char* start = next_;
  const void* newline = std::memchr(start, '\n', static_cast<size_t>(end_ - start));
  next_ = newline ? static_cast<const char*>(newline) : end_;
  Token token = make(Token::Kind::Dwarf, start);
  while (!token.text.empty() && classOf(token.text.back()) == Space) token.text.remove_suffix(1);
  if (token.text.starts_with("@@DWARF")) return token;
  return fail(start, "@@ must be followed by DWARF");
}

std::string_view Lexer::block(SourceOffset where) {
  bool open = false;
  next_ = begin_ + where;
  while (skipSpace() && next_ != end_) {
    const char c = *next_;
    if (c == '"') {
      string();
      continue;
    }
    ++next_;
    if (c == '{') {
      if (open) break;
      open = true;
    } else if (c == '}') {
      if (!open) break;
      return {begin_ + where, static_cast<size_t>(next_ - begin_) - where};
    }
  }
  return {};
}

}  // namespace mulciber::ptx
