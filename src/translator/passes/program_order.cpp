#include "translator/passes/program_order.h"

#include <algorithm>

namespace mulciber::passes {
namespace {

using ir::Block;

// Tarjan's algorithm gives the strongly connected components of a region, the last one first. Each that is a cycle is a
// region of its own, less its header, whose edges back are then not seen.
class Orderer {
 public:
  explicit Orderer(const ir::Function& function)
      : function_(function),
        region_(function.blockIdBound()),
        number_(function.blockIdBound()),
        low_(function.blockIdBound()),
        isOpen_(function.blockIdBound()) {}

  std::vector<Block*> run() {
    work_.push_back({function_.blocks, {}});
    while (!work_.empty()) {
      Region region = std::move(work_.back());
      work_.pop_back();
      if (region.header) order_.push_back(region.header);
      split(region);
    }
    return std::move(order_);
  }

 private:
  // Waits on a stack whose top stands first in the order.
  struct Region {
    std::vector<Block*> blocks;  // less the header
    Block* header = nullptr;
  };

  void split(const Region& region) {
    ++stamp_;
    for (const Block* block : region.blocks) {
      region_[block->id] = stamp_;
      number_[block->id] = 0;
    }
    for (Block* target : region.header ? region.header->terminator.targets : function_.blocks)
      if (region_[target->id] == stamp_ && number_[target->id] == 0) visit(target);
    for (Block* block : region.blocks)
      if (number_[block->id] == 0) visit(block);
  }

  void visit(Block* root) {
    struct Visit {
      Block* block;
      size_t next;
    };
    std::vector<Visit> visits;
    auto enter = [&](Block* block) {
      number_[block->id] = low_[block->id] = ++counter_;
      open_.push_back(block);
      isOpen_[block->id] = true;
      visits.push_back({block, 0});
    };
    enter(root);
    while (!visits.empty()) {
      Block* block = visits.back().block;
      const auto& targets = block->terminator.targets;
      if (visits.back().next < targets.size()) {
        Block* target = targets[visits.back().next++];
        if (region_[target->id] != stamp_) continue;
        if (number_[target->id] == 0) enter(target);
        else if (isOpen_[target->id]) low_[block->id] = std::min(low_[block->id], number_[target->id]);
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) {
        uint32_t& above = low_[visits.back().block->id];
        above = std::min(above, low_[block->id]);
      }
      if (low_[block->id] == number_[block->id]) close(block);
    }
  }

  // The first of a component that was visited is its header.
  void close(Block* first) {
    auto begin = std::find(open_.rbegin(), open_.rend(), first).base() - 1;
    Region component{{begin + 1, open_.end()}, first};
    for (auto block = begin; block != open_.end(); ++block) isOpen_[(*block)->id] = false;
    open_.erase(begin, open_.end());
    work_.push_back(std::move(component));
  }

  const ir::Function& function_;
  std::vector<uint32_t> region_, number_, low_;  // by block id
  std::vector<bool> isOpen_;
  std::vector<Block*> open_, order_;
  std::vector<Region> work_;
  uint32_t stamp_ = 0, counter_ = 0;
};

}  // namespace

std::vector<Block*> programOrder(const ir::Function& function) { return Orderer(function).run(); }

}  // namespace mulciber::passes
