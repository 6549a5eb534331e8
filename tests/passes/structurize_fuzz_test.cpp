// Random control-flow graphs, run before and after: what each lane stores must be the same, in the same order.
// MULCIBER_FUZZ_COUNT sets how many functions, MULCIBER_FUZZ_SEED the first seed.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/lane_checks.h"
#include "support/random_function.h"
#include "support/setting.h"
#include "translator/ir/printer.h"
#include "translator/ir/verifier.h"
#include "translator/passes/cse.h"
#include "translator/passes/dce.h"
#include "translator/passes/fold_branches.h"
#include "translator/passes/simplify.h"
#include "translator/passes/ssa.h"
#include "translator/passes/structurize.h"

namespace mulciber {
namespace {

using test::setting;

constexpr size_t maxStores = 600;
constexpr uint32_t laneCount = 6;

class StructurizeFuzz : public testing::Test {
 protected:
  static test::RandomFunctionOptions options(std::mt19937_64& random) {
    test::RandomFunctionOptions result;
    result.blocks = 2 + random() % (random() % 16 == 0 ? 150 : 24);
    result.terminates = random() % 8 != 0;
    result.warpBarriers = random() % 2 != 0;
    result.constantBranches = random() % 2 != 0;
    return result;
  }
};

TEST_F(StructurizeFuzz, KeepsWhatEveryLaneDoes) {
  uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 3000);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    auto function = test::randomFunction(random, options(random));
    ASSERT_EQ(ir::verify(*function), "") << "seed " << seed;
    auto expected = test::runLanes(*function, laneCount, maxStores, 1);
    std::string before = ir::print(*function);
    passes::structurize(*function);
    SCOPED_TRACE("seed " + std::to_string(seed) + (before.size() < 20000 ? "\n" + before + ir::print(*function) : ""));
    ASSERT_EQ(ir::verify(*function), "");
    test::expectSame(expected, test::runLanes(*function, laneCount, maxStores, 2));
    if (HasFatalFailure()) return;
    passes::buildSsa(*function);
    ASSERT_EQ(ir::verify(*function), "") << ir::print(*function);
    test::expectSame(expected, test::runLanes(*function, laneCount, maxStores, 3));
    if (HasFatalFailure()) return;
    passes::simplify(*function);
    passes::foldBranches(*function);
    ASSERT_EQ(ir::verify(*function), "") << ir::print(*function);
    passes::removeCommonSubexpressions(*function);
    passes::removeDeadInstructions(*function);
    ASSERT_EQ(ir::verify(*function), "") << ir::print(*function);
    test::expectSame(expected, test::runLanes(*function, laneCount, maxStores, 4));
    if (HasFatalFailure()) return;
  }
}

// Threads must meet again at least as early as on hardware that waits at post-dominators. Measured by how often a
// store is issued: sums over many graphs for loops, where several exits may cost a little; each graph without loops.
TEST_F(StructurizeFuzz, ThreadsMeetAgainAsEarlyAsAtPostDominators) {
  uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 1000);
  size_t before = 0, after = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    auto function =
        test::randomFunction(random, {.blocks = unsigned(3 + random() % 20), .warpBarriers = random() % 2 != 0});
    auto expected = test::runWarp(*function, 16, test::Reconvergence::PostDominator);
    passes::structurize(*function);
    passes::buildSsa(*function);
    auto actual = test::runWarp(*function, 16, test::Reconvergence::BlockOrder);
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (size_t lane = 0; lane < 16; ++lane) {
      ASSERT_EQ(actual.lanes[lane].error, "");
      ASSERT_EQ(actual.lanes[lane].stores, expected.lanes[lane].stores);
    }
    before += expected.storesIssued;
    after += actual.storesIssued;
    if (std::none_of(function->blocks.begin(), function->blocks.end(),
                     [](const ir::Block* block) { return block->merge.kind == ir::Merge::Kind::Loop; })) {
      ASSERT_LE(actual.storesIssued, expected.storesIssued);
    }
  }
  RecordProperty("stores_issued_before", std::to_string(before));
  RecordProperty("stores_issued_after", std::to_string(after));
  EXPECT_LE(after, before);
}

}  // namespace
}  // namespace mulciber
