#include "translator/ptx/constant.h"

#include <bit>
#include <charconv>

namespace mulciber::ptx {

using Kind = Token::Kind;

double Constant::asDouble() const {
  if (kind == Kind::Float)
    return isSingle ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : std::bit_cast<double>(bits);
  return isUnsigned ? static_cast<double>(bits) : static_cast<double>(static_cast<int64_t>(bits));
}

bool Constant::isTrue() const { return kind == Kind::Float ? asDouble() != 0 : bits != 0; }

Constant Constant::real(double value) { return {Kind::Float, false, false, false, std::bit_cast<uint64_t>(value)}; }

bool parseLiteral(const Token& token, Constant& value) {
  std::string_view text = token.text;
  value = {};
  if (token.kind == Kind::Float) {
    value.kind = Constant::Kind::Float;
    const char kind = text[0] == '0' && text.size() > 1 ? static_cast<char>(text[1] | 32) : '\0';
    if (kind == 'f' || kind == 'd') {
      value.isSingle = kind == 'f';
      value.isHexadecimal = true;
      return std::from_chars(text.data() + 2, text.data() + text.size(), value.bits, 16).ec == std::errc();
    }
    double parsed = 0;
    auto result = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (result.ec != std::errc()) return false;
    value.bits = std::bit_cast<uint64_t>(parsed);
    return true;
  }
  int base = 10;
  if (text.ends_with('U')) {
    value.isUnsigned = true;
    text.remove_suffix(1);
  }
  if (text.size() > 1 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 32);
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  auto result = std::from_chars(text.data(), text.data() + text.size(), value.bits, base);
  if (value.bits > static_cast<uint64_t>(INT64_MAX)) value.isUnsigned = true;
  return result.ec == std::errc();
}

const char* applyUnary(Kind op, Constant& value) {
  if (value.kind == Constant::Kind::Float) {
    switch (op) {
      case Kind::Plus:
      case Kind::Minus:
        if (value.isHexadecimal) return "a hexadecimal float takes no sign: its highest bit is the sign";
        if (op == Kind::Minus) value = Constant::real(-value.asDouble());
        return nullptr;
      case Kind::Exclamation: value = Constant::integer(!value.isTrue()); return nullptr;
      default: return "this operator needs an integer";
    }
  }
  switch (op) {
    case Kind::Minus: value.bits = 0 - value.bits; break;
    case Kind::Tilde: value.bits = ~value.bits; break;
    case Kind::Exclamation: value = Constant::integer(!value.isTrue()); break;
    default: break;
  }
  return nullptr;
}

namespace {

const char* applyToFloats(Kind op, Constant& left, const Constant& right) {
  const double a = left.asDouble(), b = right.asDouble();
  switch (op) {
    case Kind::Plus: left = Constant::real(a + b); return nullptr;
    case Kind::Minus: left = Constant::real(a - b); return nullptr;
    case Kind::Star: left = Constant::real(a * b); return nullptr;
    case Kind::Slash: left = Constant::real(b == 0 ? (a == 0 || a != a ? a * b / b : a / b) : a / b); return nullptr;
    case Kind::Less: left = Constant::integer(a < b); return nullptr;
    case Kind::Greater: left = Constant::integer(a > b); return nullptr;
    case Kind::LessEqual: left = Constant::integer(a <= b); return nullptr;
    case Kind::GreaterEqual: left = Constant::integer(a >= b); return nullptr;
    case Kind::EqualEqual: left = Constant::integer(a == b); return nullptr;
    case Kind::NotEqual: left = Constant::integer(a != b); return nullptr;
    default: return "this operator needs integers";
  }
}

}  // namespace

const char* applyBinary(Kind op, Constant& left, const Constant& right) {
  if (op == Kind::AndAnd || op == Kind::OrOr) {
    const bool a = left.isTrue(), b = right.isTrue();
    left = Constant::integer(op == Kind::AndAnd ? a && b : a || b);
    return nullptr;
  }
  if (left.kind != right.kind) return "integers and floats cannot be mixed in a constant expression";
  if (left.kind == Constant::Kind::Float) return applyToFloats(op, left, right);

  const uint64_t a = left.bits, b = right.bits;
  const int64_t sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
  const bool isShift = op == Kind::ShiftLeft || op == Kind::ShiftRight;
  const bool isUnsigned = left.isUnsigned || (right.isUnsigned && !isShift);
  uint64_t result = 0;
  bool isComparison = false;
  auto compare = [&](bool value) {
    result = value;
    isComparison = true;
  };
  switch (op) {
    case Kind::Plus: result = a + b; break;
    case Kind::Minus: result = a - b; break;
    case Kind::Star: result = a * b; break;
    case Kind::Slash:
    case Kind::Percent: {
      if (b == 0) return "division by zero";
      const bool isQuotient = op == Kind::Slash;
      if (isUnsigned) result = isQuotient ? a / b : a % b;
      else if (sb == -1)  // the smallest integer has no positive counterpart
        result = isQuotient ? 0 - a : 0;
      else result = static_cast<uint64_t>(isQuotient ? sa / sb : sa % sb);
      break;
    }
    case Kind::ShiftLeft: result = b < 64 ? a << b : 0; break;
    case Kind::ShiftRight:
      if (isUnsigned) result = b < 64 ? a >> b : 0;
      else result = static_cast<uint64_t>(sa >> (b < 64 ? b : 63));
      break;
    case Kind::Ampersand: result = a & b; break;
    case Kind::Pipe: result = a | b; break;
    case Kind::Caret: result = a ^ b; break;
    case Kind::Less: compare(isUnsigned ? a < b : sa < sb); break;
    case Kind::Greater: compare(isUnsigned ? a > b : sa > sb); break;
    case Kind::LessEqual: compare(isUnsigned ? a <= b : sa <= sb); break;
    case Kind::GreaterEqual: compare(isUnsigned ? a >= b : sa >= sb); break;
    case Kind::EqualEqual: compare(a == b); break;
    case Kind::NotEqual: compare(a != b); break;
    default: return "this is no operator";
  }
  left = Constant::integer(result, isUnsigned && !isComparison);
  return nullptr;
}

int precedence(Kind op) {
  switch (op) {
    case Kind::OrOr: return 2;
    case Kind::AndAnd: return 3;
    case Kind::Pipe: return 4;
    case Kind::Caret: return 5;
    case Kind::Ampersand: return 6;
    case Kind::EqualEqual:
    case Kind::NotEqual: return 7;
    case Kind::Less:
    case Kind::Greater:
    case Kind::LessEqual:
    case Kind::GreaterEqual: return 8;
    case Kind::ShiftLeft:
    case Kind::ShiftRight: return 9;
    case Kind::Plus:
    case Kind::Minus: return 10;
    case Kind::Star:
    case Kind::Slash:
    case Kind::Percent: return 11;
    default: return 0;
  }
}

}  // namespace mulciber::ptx
