// Strongly connected components of parts of a function: what loops and program order are found by.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

// Tarjan's algorithm, without recursion.
class Components {
 public:
  using Component = std::vector<ir::Block*>;  // the block that was reached first stands first

  explicit Components(const ir::Function& function) : function_(function) {}

  // Starts over with these blocks alone: edges to others are not seen.
  void restrictTo(std::span<ir::Block* const> blocks);

  // Adds the components that `root` reaches and that were not found yet, each after all it leads to.
  void find(ir::Block* root, std::vector<Component>& found);

 private:
  void enter(ir::Block* block);
  Component close(ir::Block* first);

  struct Visit {
    ir::Block* block;
    size_t next;
  };

  const ir::Function& function_;
  std::vector<uint32_t> part_, number_, low_;  // by block id
  std::vector<bool> isOpen_;
  std::vector<ir::Block*> open_;
  std::vector<Visit> visits_;
  uint32_t stamp_ = 0, counter_ = 0;
};

}  // namespace mulciber::analyses
