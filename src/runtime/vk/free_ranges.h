// Which parts of a piece of memory are free, by place and by size.
#pragma once

#include <cstdint>
#include <iterator>
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
      const uint64_t rest = found - skipped - bytes;
      const auto range = byOffset_.find(begin);
      if (skipped > 0) change(range, begin, skipped);
      else if (rest > 0) change(range, offset + bytes, rest);
      else remove(range);
      if (skipped > 0 && rest > 0) add(offset + bytes, rest);
      return true;
    }
    return false;
  }

  // Neighbours become one range.
  void give(uint64_t offset, uint64_t bytes) {
    const auto next = byOffset_.lower_bound(offset);
    const bool meetsNext = next != byOffset_.end() && next->first == offset + bytes;
    if (next != byOffset_.begin()) {
      const auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        bytes += previous->second;
        if (meetsNext) {
          bytes += next->second;
          remove(next);
        }
        change(previous, previous->first, bytes);
        return;
      }
    }
    if (meetsNext) change(next, offset, bytes + next->second);
    else add(offset, bytes);
  }

  bool isAll(uint64_t bytes) const { return byOffset_.size() == 1 && byOffset_.begin()->second == bytes; }
  uint64_t total() const {
    uint64_t bytes = 0;
    for (const auto& [offset, size] : byOffset_) bytes += size;
    return bytes;
  }

 private:
  using Ranges = std::map<uint64_t, uint64_t>;

  void add(uint64_t offset, uint64_t bytes) {
    byOffset_.emplace(offset, bytes);
    bySize_.emplace(bytes, offset);
  }
  void remove(Ranges::iterator range) {
    bySize_.erase({range->second, range->first});
    byOffset_.erase(range);
  }
  // The range stays between its neighbours. Its entries are kept: most allocations and frees change a range, and memory
  // for new entries would cost them a third of their time.
  void change(Ranges::iterator range, uint64_t offset, uint64_t bytes) {
    auto size = bySize_.extract({range->second, range->first});
    size.value() = {bytes, offset};
    bySize_.insert(std::move(size));
    if (range->first == offset) {
      range->second = bytes;
      return;
    }
    const auto behind = std::next(range);
    auto entry = byOffset_.extract(range);
    entry.key() = offset;
    entry.mapped() = bytes;
    byOffset_.insert(behind, std::move(entry));
  }

  Ranges byOffset_;
  std::set<std::pair<uint64_t, uint64_t>> bySize_;  // (size, offset)
};

}  // namespace mulciber::vk
