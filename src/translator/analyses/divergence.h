// Which values and branches differ between threads.
#pragma once

#include <cstdint>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

// Among the threads of a block, a value is uniform when all that compute it, each the same number of barriers and
// rounds into the kernel, get the same. Among the lanes of a warp, what 32 threads in a row have in common is uniform
// too; rows of a block are taken to be whole warps.
class Divergence {
 public:
  enum class Among : uint8_t { Block, Warp };
  // Ignored: a value does not vary only because threads take different branches to where it is chosen or read. Good
  // enough for guesses at speed; what must hold needs Count.
  enum class Branches : uint8_t { Count, Ignored };

  Divergence(const ir::Function& function, Among among, Branches branches = Branches::Count);

  bool differs(const ir::Instruction& value) const { return levels_[value.id] != Uniform; }
  bool isDivergent(const ir::Block& branch) const { return isDivergent_[branch.id]; }

  // Where threads that part at the end of the block meet again: its post-dominator, or noBlock.
  static constexpr uint32_t noBlock = UINT32_MAX;
  uint32_t meeting(const ir::Block& branch) const { return meeting_[branch.id]; }

 private:
  enum Level : uint8_t { Uniform, Index, Varying };  // Index: uniform when divided by 32

  bool update();
  Level levelOf(const ir::Instruction& i, const ir::Block& block) const;
  Level ofOperands(const ir::Instruction& i) const;
  bool mayReadDifferently(const ir::MemoryAccess& memory) const;
  void part(const ir::Block& branch);

  const ir::Function& function_;
  const bool isAmongLanes_;
  const bool branchesCount_;
  std::vector<Level> levels_;           // by instruction id; a write to a variable: of what it writes, or when
  std::vector<Level> variableLevels_;   // by variable: the highest of its writes
  std::vector<bool> isApart_, isJoin_;  // by block id: between a divergent branch and where its threads meet; there
  std::vector<bool> isDivergent_;       // by block id: threads may leave it for different targets
  std::vector<uint32_t> meeting_;       // by block id
};

// The blocks from `target` on, it included, up to the block `end`, which is not among them.
std::vector<const ir::Block*> blocksUpTo(const ir::Function& function, const ir::Block* target, uint32_t end);

const ir::Instruction* firstBarrier(const ir::Block& block);  // null when it has none

}  // namespace mulciber::analyses
