// Writes and reads values as consecutive bytes, in this machine's order. Input may be damaged: behind the end a reader
// gives zeros and empty lists, and reports that it did.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace mulciber::core {

class ByteWriter {
 public:
  template <typename T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* data = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), data, data + sizeof(T));
  }
  template <typename T>
  void list(const std::vector<T>& list) {
    static_assert(std::is_trivially_copyable_v<T>);
    value(static_cast<uint64_t>(list.size()));
    const auto* data = reinterpret_cast<const uint8_t*>(list.data());
    bytes.insert(bytes.end(), data, data + list.size() * sizeof(T));
  }
  void text(const std::string& text) { list(std::vector<char>(text.begin(), text.end())); }

  std::vector<uint8_t> bytes;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> source) : left(source) {}
  template <typename T>
  void value(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (left.size() < sizeof(T)) {
      std::memset(static_cast<void*>(&value), 0, sizeof(T));
      isGood = false;
      return;
    }
    std::memcpy(static_cast<void*>(&value), left.data(), sizeof(T));
    left = left.subspan(sizeof(T));
  }
  template <typename T>
  void list(std::vector<T>& list) {
    static_assert(std::is_trivially_copyable_v<T>);
    list.resize(count(sizeof(T)));
    const size_t size = list.size() * sizeof(T);
    if (size != 0) std::memcpy(list.data(), left.data(), size);
    left = left.subspan(size);
  }
  void text(std::string& text) {
    const size_t bytes = count(1);
    text.assign(reinterpret_cast<const char*>(left.data()), bytes);
    left = left.subspan(bytes);
  }
  // Reads the number of items that follow, each of `leastBytes` or more; 0 if they cannot fit into what is left.
  size_t count(size_t leastBytes) {
    uint64_t given = 0;
    value(given);
    if (given > left.size() / leastBytes) isGood = false;
    return isGood ? given : 0;
  }

  std::span<const uint8_t> left;
  bool isGood = true;
};

}  // namespace mulciber::core
