#include "runtime/core/device_printf.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

namespace mulciber::core {

namespace {

// Arguments one after another, each aligned to its size.
class ArgumentReader {
 public:
  explicit ArgumentReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T next() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (offset_ + sizeof(T) <= bytes_.size()) std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t offset_ = 0;
};

std::string takeString(std::span<const uint8_t>& strings) {
  const auto* text = reinterpret_cast<const char*>(strings.data());
  std::string result(text, strnlen(text, strings.size()));
  strings = strings.subspan(std::min(result.size() + 1, strings.size()));
  return result;
}

template <typename Value>
void print(std::string& out, const std::string& specifier, Value value) {
  char small[256];
  // The specifier was checked to take this type.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  const int length = std::snprintf(small, sizeof(small), specifier.c_str(), value);
  if (length < 0) return;
  if (static_cast<size_t>(length) < sizeof(small)) {
    out.append(small, static_cast<size_t>(length));
    return;
  }
  std::string large(static_cast<size_t>(length) + 1, '\0');
  std::snprintf(large.data(), large.size(), specifier.c_str(), value);
#pragma GCC diagnostic pop
  large.pop_back();
  out += large;
}

}  // namespace

std::string formatDevicePrintf(std::string_view format, std::span<const uint8_t> bytes,
                               std::span<const uint8_t> strings) {
  std::string out;
  ArgumentReader arguments(bytes);
  size_t i = 0;
  while (i < format.size()) {
    if (format[i] != '%') {
      out += format[i++];
      continue;
    }
    const size_t start = i++;
    if (i < format.size() && format[i] == '%') {
      out += '%';
      ++i;
      continue;
    }
    std::string specifier = "%";
    while (i < format.size() && std::strchr("-+ #0", format[i]) != nullptr) specifier += format[i++];
    auto number = [&] {  // digits, or * for an argument
      if (i < format.size() && format[i] == '*') {
        specifier += std::to_string(arguments.next<int32_t>());
        ++i;
        return;
      }
      while (i < format.size() && std::isdigit(static_cast<unsigned char>(format[i]))) specifier += format[i++];
    };
    number();
    if (i < format.size() && format[i] == '.') {
      specifier += format[i++];
      number();
    }
    // long and long long are 64 bits on the device, as on the host; h and hh arguments were promoted to int.
    bool wide = false;
    std::string length;
    while (i < format.size() && std::strchr("hlLqjzt", format[i]) != nullptr) {
      wide |= format[i] != 'h' && format[i] != 'L';
      length += format[i++];
    }
    const char conversion = i < format.size() ? format[i++] : '\0';
    switch (conversion) {
      case 'd':
      case 'i':
        if (wide) print(out, specifier + "ll" + conversion, static_cast<long long>(arguments.next<int64_t>()));
        else print(out, specifier + length + conversion, arguments.next<int32_t>());
        break;
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        if (wide)
          print(out, specifier + "ll" + conversion, static_cast<unsigned long long>(arguments.next<uint64_t>()));
        else print(out, specifier + length + conversion, arguments.next<uint32_t>());
        break;
      case 'c': print(out, specifier + conversion, arguments.next<int32_t>()); break;
      case 'a':
      case 'A':
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': print(out, specifier + conversion, arguments.next<double>()); break;
      case 'p': print(out, specifier + conversion, reinterpret_cast<void*>(arguments.next<uint64_t>())); break;
      case 's': {
        const std::string text = arguments.next<uint64_t>() == 0 ? "(null)" : takeString(strings);
        print(out, specifier + conversion, text.c_str());
        break;
      }
      default: out += format.substr(start, i - start); break;  // not a conversion: printed as it stands
    }
  }
  return out;
}

}  // namespace mulciber::core
