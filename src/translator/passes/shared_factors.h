// Multiply-adds whose sum has a product with one of their factors already: of x * y + (x * z + w) a driver may make
// x * (y + z) + w, and of x * y + (w - x * y) it makes w.
//
// It sees such sums through choices that it resolves and through rounds of loops that it unrolls. So a choice between
// numbers counts as each of them, and what the rounds before have summed belongs to a sum too; of their factors only
// those count that do not change in the loop.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "translator/analyses/equal_magnitudes.h"
#include "translator/ir/ir.h"
#include "translator/passes/hidden_values.h"

namespace mulciber::passes {

// Whether it is a product of f32, alone or in a multiply-add. A number that is added to itself is one by two.
bool isProduct(const ir::Instruction& i);

class SharedFactors {
 public:
  // `equal` has to live as long as this. Constants that are hidden or carried belong to many choices, which are not the
  // same for that.
  SharedFactors(const ir::Function& function, const analyses::EqualMagnitudes& equal, const HiddenValues& hidden);

  // Of the function as it is now: what is hidden in the meantime belongs to no sum.
  bool has(const ir::Instruction& multiplyAdd) const;

 private:
  // A part of a sum, and the loop whose earlier rounds made it: of several the outermost, by the number of its block.
  struct Part {
    const ir::Instruction* value;
    uint32_t loop;
    bool operator==(const Part&) const = default;
  };
  static constexpr uint32_t noLoop = UINT32_MAX;

  struct Factor {
    uint64_t name, choice;
  };
  Factor factor(const ir::Instruction* value) const;
  uint64_t rootOf(uint64_t name);
  void unite(const ir::Instruction& choice, const HiddenValues& hidden);
  bool isShared(const Factor (&factors)[2], const ir::Instruction& product, uint32_t loop) const;
  void addParts(const ir::Instruction& value, uint32_t loop, std::vector<Part>& parts) const;

  const analyses::EqualMagnitudes& equal_;
  std::unordered_map<const ir::Block*, uint32_t> numbers_;  // of blocks, in their order
  std::vector<const ir::Block*> homes_;                     // of instructions, by id
  std::unordered_map<uint64_t, uint32_t> first_;            // numbers of the blocks that have names first
  std::unordered_map<uint64_t, uint64_t> choices_;          // other names of what may be the same
};

}  // namespace mulciber::passes
