// Free ranges against a model that knows each unit of the memory.
#include "runtime/vk/free_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace mulciber::vk {
namespace {

constexpr uint64_t all = 512;

// Where the smallest free range that holds the bytes begins, the first among equal ones; `all` when none does.
uint64_t expectedPlace(const std::vector<bool>& used, uint64_t bytes, uint64_t alignment, uint64_t base) {
  uint64_t best = all, smallest = UINT64_MAX;
  for (uint64_t begin = 0; begin < all;) {
    if (used[begin]) {
      ++begin;
      continue;
    }
    uint64_t end = begin;
    while (end < all && !used[end]) ++end;
    const uint64_t place = (base + begin + alignment - 1) / alignment * alignment - base;
    if (end - begin < smallest && place + bytes <= end) {
      best = place;
      smallest = end - begin;
    }
    begin = end;
  }
  return best;
}

TEST(FreeRanges, TakeTheSmallestThatFits) {
  struct Piece {
    uint64_t offset, bytes;
  };
  std::mt19937 random(17);
  for (int round = 0; round < 50; ++round) {
    FreeRanges ranges;
    ranges.give(0, all);
    std::vector<bool> used(all);
    std::vector<Piece> pieces;
    const uint64_t base = random() % 16;
    for (int step = 0; step < 400; ++step) {
      if (pieces.empty() || random() % 5 < 3) {
        const uint64_t bytes = 1 + random() % 24, alignment = uint64_t{1} << random() % 5;
        const uint64_t expected = expectedPlace(used, bytes, alignment, base);
        uint64_t offset = 0;
        ASSERT_EQ(ranges.take(bytes, alignment, base, offset), expected != all);
        if (expected == all) continue;
        ASSERT_EQ(offset, expected);
        std::fill_n(used.begin() + static_cast<std::ptrdiff_t>(offset), bytes, true);
        pieces.push_back({offset, bytes});
      } else {
        std::swap(pieces[random() % pieces.size()], pieces.back());
        const Piece piece = pieces.back();
        pieces.pop_back();
        ranges.give(piece.offset, piece.bytes);
        std::fill_n(used.begin() + static_cast<std::ptrdiff_t>(piece.offset), piece.bytes, false);
      }
      ASSERT_EQ(ranges.total(), static_cast<uint64_t>(std::count(used.begin(), used.end(), false)));
    }
    for (const Piece& piece : pieces) ranges.give(piece.offset, piece.bytes);
    EXPECT_TRUE(ranges.isAll(all));
  }
}

}  // namespace
}  // namespace mulciber::vk
