// Which ways through a function are taken, as far as constants tell.
#pragma once

#include <set>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Follows branches from the entry, and takes a phi for a constant while every way found to it brings the same one. So a
// loop whose first round never comes to its end is seen to have no second one, although its end would bring another
// value.
class KnownWays {
 public:
  // The function is in SSA form with up-to-date predecessors.
  explicit KnownWays(const ir::Function& function);

  // Where a branch goes whenever it is reached; null where that is not known.
  ir::Block* targetOf(const ir::Terminator& terminator) const;

 private:
  struct Phi {
    const ir::Instruction* constant = nullptr;
    bool varies = false;
    std::vector<const ir::Block*> users;  // that branch on it or choose from it
  };
  struct Ways {
    size_t order = 0;  // of the block
    bool isReached = false, goesAnywhere = false;
    const ir::Block* target = nullptr;  // the only one so far
  };

  void use(const ir::Instruction* value, const ir::Block* user);
  void enter(const ir::Block* block);
  bool meet(const ir::Instruction* phi, const ir::Block* block);
  void leave(const ir::Block* block);
  void reach(const ir::Block* block);
  bool isOpen(const ir::Instruction* value) const;  // a phi to which nothing has come yet
  const ir::Instruction* constantOf(const ir::Instruction* value) const;

  std::vector<Phi> phis_;   // by instruction id
  std::vector<Ways> ways_;  // by block id
  std::set<size_t> work_;   // orders of blocks: what stands first is looked at first, so that joins wait for their arms
};

}  // namespace mulciber::passes
