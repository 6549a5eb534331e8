// Which parts of a piece of memory are free, by place and by size.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace mulciber::vk {

class FreeRanges {
 public:
  // The smallest free range that holds this many bytes, beginning at a place where `base` plus the offset is a multiple
  // of the alignment.
  bool take(uint64_t bytes, uint64_t alignment, uint64_t base, uint64_t& offset) {
    for (auto fit = bySize_.lower_bound({bytes, 0}); fit != bySize_.end(); ++fit) {
      const auto [found, begin] = *fit;
      offset = (base + begin + alignment - 1) / alignment * alignment - base;
      const uint64_t skipped = offset - begin;
      if (skipped > found - bytes) continue;
      remove(begin, found);
      if (skipped > 0) add(begin, skipped);
      if (found - skipped > bytes) add(offset + bytes, found - skipped - bytes);
      return true;
    }
    return false;
  }

  // Neighbours become one range.
  void give(uint64_t offset, uint64_t bytes) {
    const auto next = byOffset_.lower_bound(offset);
    if (next != byOffset_.begin()) {
      const auto [previousOffset, previousBytes] = *std::prev(next);
      if (previousOffset + previousBytes == offset) {
        remove(previousOffset, previousBytes);
        offset = previousOffset;
        bytes += previousBytes;
      }
    }
    const auto after = byOffset_.find(offset + bytes);
    if (after != byOffset_.end()) {
      const uint64_t extra = after->second;
      remove(after->first, extra);
      bytes += extra;
    }
    add(offset, bytes);
  }

  bool isAll(uint64_t bytes) const { return byOffset_.size() == 1 && byOffset_.begin()->second == bytes; }
  uint64_t total() const {
    uint64_t bytes = 0;
    for (const auto& [offset, size] : byOffset_) bytes += size;
    return bytes;
  }

 private:
  void add(uint64_t offset, uint64_t bytes) {
    byOffset_.emplace(offset, bytes);
    bySize_.emplace(bytes, offset);
  }
  void remove(uint64_t offset, uint64_t bytes) {
    byOffset_.erase(offset);
    bySize_.erase({bytes, offset});
  }

  std::map<uint64_t, uint64_t> byOffset_;
  std::set<std::pair<uint64_t, uint64_t>> bySize_;  // (size, offset)
};

}  // namespace mulciber::vk
