// Texts of kernels with places to fill in.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace mulciber::test {

inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), by);
  return text;
}

// A number as PTX has it.
inline std::string word(float x) { return fmt::format("0f{:08X}", std::bit_cast<uint32_t>(x)); }
inline std::string word(double x) { return fmt::format("0d{:016X}", std::bit_cast<uint64_t>(x)); }

// Of a text for f32 or f64: {t} is the type, {n} how many bits it has.
template <typename T>
std::string ofType(std::string text) {
  const std::string bits = std::to_string(sizeof(T) * 8);
  return replaced(replaced(std::move(text), "{t}", "f" + bits), "{n}", bits);
}

}  // namespace mulciber::test
