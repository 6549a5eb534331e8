// Random control-flow graphs with products and sums of small whole numbers, which no rounding changes: what each lane
// stores must be the same before and after products are taken into sums, whatever registers bring them there.
#include <gtest/gtest.h>

#include <array>

#include "support/lane_checks.h"
#include "support/random_function.h"
#include "support/setting.h"
#include "translator/ir/builder.h"
#include "translator/ir/printer.h"
#include "translator/ir/verifier.h"
#include "translator/passes/contraction.h"

namespace mulciber {
namespace {

using ir::Block;
using ir::Builder;
using ir::Instruction;
using ir::Op;
using ir::VariableId;

constexpr size_t maxStores = 400;
constexpr uint32_t laneCount = 3;

class Numbers {
 public:
  Numbers(std::mt19937_64& random, ir::Function& function) : random_(random), function_(function) {
    for (VariableId& factor : factors_) factor = function_.addVariable(ir::F32);
    for (VariableId& product : products_) product = function_.addVariable(ir::F32);
    for (Block* block : function_.blocks) {
      Block part;
      Builder b(function_, &part);
      if (block == function_.blocks.front())
        for (const VariableId factor : factors_) b.write(factor, b.f32(static_cast<float>(pick(9))));
      else
        for (unsigned steps = pick(4); steps > 0; --steps) step(b);
      block->instructions.insert(block->instructions.begin(), part.instructions.begin(), part.instructions.end());
    }
  }

 private:
  uint32_t pick(size_t bound) { return static_cast<uint32_t>(random_() % bound); }
  Instruction* anyFactor(Builder& b) { return b.read(factors_[pick(factors_.size())]); }
  VariableId anyProduct() { return products_[pick(products_.size())]; }
  Instruction* contracting(Builder& b, Op op, Instruction* x, Instruction* y) {
    return b.floating(op, {.contracts = true}, {x, y});
  }

  void step(Builder& b) {
    switch (pick(6)) {
      case 0:  // of the generator's own data
        return b.write(factors_[pick(factors_.size())],
                       b.convert(Op::UToF, ir::F32, b.bitAnd(b.read(VariableId{pick(4)}), b.i32(15)))),
               void();
      case 1:
      case 2: {
        Instruction* other = pick(4) == 0 ? anyFactor(b) : b.f32(static_cast<float>(2 + pick(5)));
        b.write(anyProduct(), contracting(b, Op::FMul, anyFactor(b), other));
        return;
      }
      case 3: {
        Instruction* product = b.read(anyProduct());
        b.write(anyProduct(), pick(3) == 0 ? b.unary(Op::FNeg, product) : product);
        return;
      }
      default: {
        Instruction *x = b.read(anyProduct()), *y = pick(2) ? b.read(anyProduct()) : anyFactor(b);
        if (pick(2)) std::swap(x, y);
        Instruction* sum = contracting(b, pick(2) ? Op::FAdd : Op::FSub, x, y);
        b.store(b.i64(1000), b.bitcast(ir::I32, b.binary(Op::FAdd, sum, b.f32(0))), {});  // no two zeros
      }
    }
  }

  std::mt19937_64& random_;
  ir::Function& function_;
  std::array<VariableId, 3> factors_{};
  std::array<VariableId, 4> products_{};  // zeros until they are written, as the factors then are
};

TEST(ContractionFuzz, KeepsWhatIsStored) {
  const uint64_t first = test::setting("MULCIBER_FUZZ_SEED", 1), count = test::setting("MULCIBER_FUZZ_COUNT", 4000);
  unsigned changed = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const auto function = test::randomFunction(random, {.blocks = 2 + static_cast<unsigned>(random() % 10)});
    Numbers(random, *function);
    function->renumber();
    ASSERT_EQ(ir::verify(*function), "") << "seed " << seed;
    const std::string before = ir::print(*function);
    const std::vector<test::LaneResult> expected = test::runLanes(*function, laneCount, maxStores, 0);
    changed += passes::contractProducts(*function);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + before + ir::print(*function));
    ASSERT_EQ(ir::verify(*function), "");
    ASSERT_NO_FATAL_FAILURE(test::expectSame(expected, test::runLanes(*function, laneCount, maxStores, 0)));
  }
  EXPECT_GT(changed, count / 10);
}

}  // namespace
}  // namespace mulciber
