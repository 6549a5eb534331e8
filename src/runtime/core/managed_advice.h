// The advice that a program gave about ranges of managed memory (UM-09 to UM-11). It moves nothing; it can be queried.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

namespace mulciber::core {

// A place memory can be at, as CUmemLocation has it; `none` when there is none.
struct MemoryPlace {
  static constexpr int none = 0, device = 1, host = 2;
  static constexpr int noDevice = -2, cpu = -1;  // CU_DEVICE_INVALID, CU_DEVICE_CPU

  int type = none, id = noDevice;

  bool operator==(const MemoryPlace& other) const { return type == other.type && id == other.id; }
};

// Devices by their numbers, and then the host.
struct AfterDevices {
  bool operator()(int left, int right) const { return static_cast<unsigned>(left) < static_cast<unsigned>(right); }
};

struct MemoryAdvice {
  bool isReadMostly = false;
  MemoryPlace preferred, prefetched;
  std::set<int, AfterDevices> accessedBy;
};

// Of one allocation; offsets in bytes. What is said about a part of a page is said about the page.
class AdviceMap {
 public:
  static constexpr uint64_t pageBytes = 4096;

  explicit AdviceMap(uint64_t bytes) : bytes_(bytes) { advice_[0]; }

  template <typename Change>
  void change(uint64_t begin, uint64_t end, Change&& change) {
    std::lock_guard lock(mutex_);
    begin = begin / pageBytes * pageBytes;
    end = (end + pageBytes - 1) / pageBytes * pageBytes;
    split(begin);
    split(end);
    for (auto range = advice_.find(begin); range != advice_.end() && range->first < end; ++range) change(range->second);
  }
  // Calls look(advice) for every part of the range.
  template <typename Look>
  void visit(uint64_t begin, uint64_t end, Look&& look) {
    std::lock_guard lock(mutex_);
    for (auto range = std::prev(advice_.upper_bound(begin)); range != advice_.end() && range->first < end; ++range)
      look(range->second);
  }

 private:
  void split(uint64_t at) {
    if (at < bytes_) advice_.emplace(at, std::prev(advice_.upper_bound(at))->second);
  }

  const uint64_t bytes_;
  std::mutex mutex_;
  std::map<uint64_t, MemoryAdvice> advice_;  // by the first offset it holds for
};

}  // namespace mulciber::core
