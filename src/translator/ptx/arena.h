// Memory for syntax trees: handed out in order, given back all at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mulciber::ptx {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* allocate(size_t bytes, size_t alignment) {
    size_t start = (used_ + alignment - 1) & ~(alignment - 1);
    if (start + bytes > size_) {
      grow(bytes);
      start = 0;
    }
    used_ = start + bytes;
    return current_ + start;
  }

  template <class T, class... Arguments>
  T* make(Arguments&&... arguments) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T(std::forward<Arguments>(arguments)...);
  }

  // A copy of `items` that lives as long as the arena.
  template <class T>
  std::span<T> copy(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (items.empty()) return {};
    T* memory = static_cast<T*>(allocate(items.size_bytes(), alignof(T)));
    std::memcpy(static_cast<void*>(memory), items.data(), items.size_bytes());
    return {memory, items.size()};
  }
  template <class T>
  std::span<T> copy(const std::vector<T>& items) {
    return copy(std::span<const T>(items));
  }
  std::string_view copy(std::string_view text) {
    std::span<char> memory = copy(std::span<const char>(text.data(), text.size()));
    return {memory.data(), memory.size()};
  }

  size_t bytes() const { return total_; }  // taken from the system

 private:
  static constexpr size_t kFirstBlock = 16 << 10, kLargestBlock = 4 << 20;

  void grow(size_t bytes) {
    size_t wanted = std::clamp(total_ / 4, kFirstBlock, kLargestBlock);
    size_ = std::max(bytes, wanted);
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size_));
    current_ = blocks_.back().get();
    total_ += size_;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* current_ = nullptr;
  size_t used_ = 0, size_ = 0, total_ = 0;
};

}  // namespace mulciber::ptx
