// The types of IR values. Integers carry no sign: the operation says how it reads them.
#pragma once

#include <cstdint>
#include <string>

namespace mulciber::ir {

enum class Kind : uint8_t { Void, Bool, Int, Float };

// Small enough to pass by value: a scalar of 8 to 64 bits, or a vector of 2, 3, 4 or 8 of them.
// A 128-bit register is <2 x i64>; bf16 and the 8-bit floats are carried as integers.
struct Type {
  Kind kind = Kind::Void;
  uint8_t bits = 0;
  uint8_t lanes = 1;

  constexpr bool operator==(const Type&) const = default;
  constexpr bool isVoid() const { return kind == Kind::Void; }
  constexpr bool isBool() const { return kind == Kind::Bool; }
  constexpr bool isInt() const { return kind == Kind::Int; }
  constexpr bool isFloat() const { return kind == Kind::Float; }
  constexpr bool isVector() const { return lanes > 1; }
  constexpr Type scalar() const { return {kind, bits, 1}; }
  constexpr Type withLanes(uint8_t n) const { return {kind, bits, n}; }
  constexpr uint32_t totalBits() const { return uint32_t(bits) * lanes; }
  constexpr Type asInt() const { return {Kind::Int, bits, lanes}; }
};

inline constexpr Type Void{Kind::Void, 0, 1};
inline constexpr Type Bool{Kind::Bool, 1, 1};
inline constexpr Type I8{Kind::Int, 8, 1};
inline constexpr Type I16{Kind::Int, 16, 1};
inline constexpr Type I32{Kind::Int, 32, 1};
inline constexpr Type I64{Kind::Int, 64, 1};
inline constexpr Type F16{Kind::Float, 16, 1};
inline constexpr Type F32{Kind::Float, 32, 1};
inline constexpr Type F64{Kind::Float, 64, 1};
inline constexpr Type I64x2{Kind::Int, 64, 2};

constexpr Type intType(unsigned bits) { return {Kind::Int, uint8_t(bits), 1}; }
constexpr Type floatType(unsigned bits) { return {Kind::Float, uint8_t(bits), 1}; }

std::string toString(Type type);  // "i32", "<4 x f32>", "bool"

}  // namespace mulciber::ir
