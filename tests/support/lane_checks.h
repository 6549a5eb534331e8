// What lanes store before and after a pass.
#pragma once

#include <gtest/gtest.h>

#include "support/ir_interpreter.h"

namespace mulciber::test {

// Lanes 0 to `count` - 1, each by itself. Undefined values are `junk`.
inline std::vector<LaneResult> runLanes(const ir::Function& function, uint32_t count, size_t maxStores,
                                        uint64_t junk = 0x5EED'5EED'5EED'5EED) {
  std::vector<LaneResult> results;
  for (uint32_t lane = 0; lane < count; ++lane) results.push_back(runLane(function, lane, maxStores, junk));
  return results;
}

inline void expectSame(const std::vector<LaneResult>& expected, const std::vector<LaneResult>& actual) {
  for (size_t lane = 0; lane < expected.size(); ++lane) {
    ASSERT_EQ(actual[lane].error, "");
    ASSERT_EQ(actual[lane].stores, expected[lane].stores) << "lane " << lane;
    ASSERT_EQ(actual[lane].finished, expected[lane].finished) << "lane " << lane;
  }
}

}  // namespace mulciber::test
