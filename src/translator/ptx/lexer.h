// Splits PTX text into tokens, without copying it. The text must be followed by a zero byte, as ModuleHolder's is; it
// may hold others, which are errors.
#pragma once

#include <cstdint>
#include <string_view>

#include "translator/ptx/ast.h"

namespace mulciber::ptx {

struct Token {
  enum class Kind : uint8_t {
    End,
    Word,     // add, %r1, $L1, _
    Dotted,   // .u32, .shared::cta, .m16n8k16
    Integer,  // 42, 0x2AU, 0b11, 017
    Float,    // 1.5, .5, 1e3, 0f3F800000, 0d3FF0000000000000
    String,   // with its quotes
    Dwarf,    // @@DWARF and the rest of its line
    Error,    // already described by Lexer::error()
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Semicolon,
    Colon,
    Question,
    At,
    Equal,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Ampersand,
    Pipe,
    Caret,
    Exclamation,
    Tilde,
    Less,
    Greater,
    ShiftLeft,
    ShiftRight,
    LessEqual,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    AndAnd,
    OrOr,
  };
  Kind kind = Kind::End;
  SourceOffset where = 0;
  std::string_view text;

  bool is(Kind k) const { return kind == k; }
  bool isWord(std::string_view word) const { return kind == Kind::Word && text == word; }
  bool isDotted(std::string_view word) const { return kind == Kind::Dotted && text.substr(1) == word; }
};

class Lexer {
 public:
  // A byte-order mark, as editors leave it at the begin of a file, is passed over.
  explicit Lexer(std::string_view text)
      : begin_(text.data()), next_(begin_ + (text.starts_with("\xEF\xBB\xBF") ? 3 : 0)), end_(begin_ + text.size()) {}

  Token next();
  const char* error() const { return error_; }  // of the last Error token

  // The text from `where` up to and with the '}' that closes the first '{', whatever is between: comments and strings
  // are skipped over. Lexing continues after it. Empty when there is no such brace.
  std::string_view block(SourceOffset where);

 private:
  Token make(Token::Kind kind, const char* start) const {
    return {kind, static_cast<SourceOffset>(start - begin_), {start, static_cast<size_t>(next_ - start)}};
  }
  Token punctuation(Token::Kind kind, int length) {
    const char* start = next_;
    next_ += length;
    return make(kind, start);
  }
  Token fail(const char* start, const char* message) {
    error_ = message;
    return make(Token::Kind::Error, start);
  }
  bool skipSpace();  // and comments; false at an unfinished comment
  Token number();
  Token string();
  Token dwarf();

  const char* begin_;
  const char* next_;
  const char* end_;
  const char* error_ = "";
};

}  // namespace mulciber::ptx
