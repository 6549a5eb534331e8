#include "util/uncached_read.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace mulciber::util {
namespace {

TEST(UncachedRead, ReadsWhatMemcpyReadsFromEveryPlace) {
  alignas(64) uint8_t from[512];
  for (size_t i = 0; i < sizeof(from); ++i) from[i] = static_cast<uint8_t>(i * 167 + 13);
  for (size_t first = 0; first < 130; ++first)
    for (size_t bytes = 0; bytes <= 300; ++bytes) {
      std::vector<uint8_t> to(310, 0xEE), expected = to;
      std::memcpy(expected.data() + 5, from + first, bytes);
      readUncached(to.data() + 5, from + first, bytes);
      ASSERT_EQ(to, expected) << bytes << " bytes from " << first;
    }
}

}  // namespace
}  // namespace mulciber::util
