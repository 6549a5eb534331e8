// Results into what the program passed for them.
#pragma once

#include <type_traits>

#include "runtime/core/error.h"

namespace mulciber::api {

// The one result of a query; an address or an object where the program's type is a pointer.
template <class To, class Value>
core::Error give(To* out, Value value) {
  if (!out) return core::Error::InvalidValue;
  if constexpr (std::is_pointer_v<To> && !std::is_convertible_v<Value, To>) *out = reinterpret_cast<To>(value);
  else *out = static_cast<To>(value);
  return core::Error::Success;
}

// What `make(result)` leaves in a Result, where it succeeds.
template <class Result, class To, class Make>
core::Error giveMade(To* out, Make make) {
  Result result{};
  TRY(make(result));
  return give(out, result);
}

}  // namespace mulciber::api
