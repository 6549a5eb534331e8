#include "translator/analyses/program_order.h"

#include "translator/analyses/components.h"

namespace mulciber::analyses {
namespace {

using ir::Block;

// The components of a region come last one first. Each that is a cycle is a region of its own, less its header, whose
// edges back are then not seen.
class Orderer {
 public:
  explicit Orderer(const ir::Function& function) : function_(function), components_(function) {}

  std::vector<Block*> run() {
    work_.push_back({function_.blocks, nullptr});
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
    Block* header;
  };

  void split(const Region& region) {
    components_.restrictTo(region.blocks);
    std::vector<Components::Component> found;
    for (Block* target : region.header ? region.header->terminator.targets : function_.blocks)
      components_.find(target, found);
    for (Block* block : region.blocks) components_.find(block, found);
    for (const auto& component : found) work_.push_back({{component.begin() + 1, component.end()}, component.front()});
  }

  const ir::Function& function_;
  Components components_;
  std::vector<Block*> order_;
  std::vector<Region> work_;
};

}  // namespace

std::vector<Block*> programOrder(const ir::Function& function) { return Orderer(function).run(); }

}  // namespace mulciber::analyses
