// Handlers made of functions of integers of any width.
#pragma once

#include <type_traits>

#include "interpreter/machine/thread.h"

namespace mulciber::interpreter {

template <class T>
T get(const Thread& thread, uint32_t place) {
  return static_cast<T>(thread.registers[place]);
}
template <class T>
void put(Thread& thread, uint32_t place, T value) {
  thread.registers[place] = static_cast<std::make_unsigned_t<T>>(value);
}

// Calls make.operator()<T>() for the integer type T, and gives what it gives; null for other types.
template <class Make>
Handler forInteger(Type type, Make make) {
  switch (type) {
    case Type::U8:
    case Type::B8: return make.template operator()<uint8_t>();
    case Type::S8: return make.template operator()<int8_t>();
    case Type::U16:
    case Type::B16: return make.template operator()<uint16_t>();
    case Type::S16: return make.template operator()<int16_t>();
    case Type::U32:
    case Type::B32: return make.template operator()<uint32_t>();
    case Type::S32: return make.template operator()<int32_t>();
    case Type::U64:
    case Type::B64: return make.template operator()<uint64_t>();
    case Type::S64: return make.template operator()<int64_t>();
    default: return nullptr;
  }
}

template <class F, class T>
void unaryHandler(Thread& t, const Op& op) {
  put<T>(t, op.d, F::template run<T>(get<T>(t, op.a)));
}
template <class F, class T>
void binaryHandler(Thread& t, const Op& op) {
  put<T>(t, op.d, F::template run<T>(get<T>(t, op.a), get<T>(t, op.b)));
}
template <class F, class T>
void ternaryHandler(Thread& t, const Op& op) {
  put<T>(t, op.d, F::template run<T>(get<T>(t, op.a), get<T>(t, op.b), get<T>(t, op.c)));
}

template <class F>
Handler unary(Type type) {
  return forInteger(type, []<class T>() -> Handler { return unaryHandler<F, T>; });
}
template <class F>
Handler binary(Type type) {
  return forInteger(type, []<class T>() -> Handler { return binaryHandler<F, T>; });
}
template <class F>
Handler ternary(Type type) {
  return forInteger(type, []<class T>() -> Handler { return ternaryHandler<F, T>; });
}

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

}  // namespace mulciber::interpreter
