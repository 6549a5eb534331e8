// The types of PTX.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mulciber::interpreter {

enum class Type : uint8_t {
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  U16x2,
  S16x2,
  U2,
  U4,
  S2,
  S4,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  E4M3x2,
  E5M2x2,
  E4M3,
  E5M2,
  B1
};

// ".u32"; nothing when the word names no type.
std::optional<Type> typeOf(std::string_view word);
unsigned bitsOf(Type type);
bool isSigned(Type type);
bool isFloat(Type type);
inline unsigned bytesOf(Type type) { return (bitsOf(type) + 7) / 8; }

}  // namespace mulciber::interpreter
