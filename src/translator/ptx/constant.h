// Constants and the operators that PTX has for them.
#pragma once

#include <cstdint>

#include "translator/ptx/lexer.h"

namespace mulciber::ptx {

struct Constant {
  enum class Kind : uint8_t { Integer, Float };
  Kind kind = Kind::Integer;
  bool isUnsigned = false;     // Integer
  bool isSingle = false;       // Float: written as 0f, `bits` are those of a float
  bool isHexadecimal = false;  // Float: 0f or 0d, which take no sign
  uint64_t bits = 0;           // Float: of a double, unless isSingle

  double asDouble() const;
  bool isTrue() const;
  static Constant integer(uint64_t bits, bool isUnsigned = false) {
    return {Kind::Integer, isUnsigned, false, false, bits};
  }
  static Constant real(double value);
};

// The value of an Integer or Float token. False when it does not fit in 64 bits.
bool parseLiteral(const Token& token, Constant& value);

// These return null, or why the operator cannot be applied.
const char* applyUnary(Token::Kind op, Constant& value);
const char* applyBinary(Token::Kind op, Constant& left, const Constant& right);
// 0 for a token that is no binary operator; larger binds more tightly.
int precedence(Token::Kind op);

}  // namespace mulciber::ptx
