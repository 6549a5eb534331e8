#include "translator/passes/repeatable_regions.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "translator/analyses/components.h"
#include "translator/passes/control_flow.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

constexpr size_t largestRegion = 3000, mostSums = 256;  // instructions and multiply-adds, unless a loop alone has more
// Short rounds are left in one region: drivers unroll them, and would not with a region's exit in each.
constexpr size_t longRound = 128, sumsOfLongRound = 16;  // instructions and multiply-adds
constexpr size_t mostBesideEach = 48, mostBeside = 400;  // instructions that are repeated beside the multiply-adds

bool isRepeatable(const Instruction& i) {
  if (i.op == Op::Load) return i.memory.order == ir::Order::Weak && !i.memory.isVolatile;
  // What an image gives to samplers does not change while a kernel runs.
  return ir::isPure(i.op) || i.op == Op::ImageSample || i.op == Op::ReadVar || i.op == Op::WriteVar;
}

class Finder {
 public:
  Finder(ir::Function& function, const std::unordered_set<const Instruction*>& sums,
         const analyses::Exponentials& exponentials)
      : function_(function), sums_(sums), exponentials_(exponentials), components_(function) {}

  std::vector<RepeatableRegion> find() {
    splitBlocks();
    function_.computePredecessors();
    const size_t count = function_.blockIdBound();
    traits_.resize(count);
    for (const Block* block : function_.blocks) {
      Traits& traits = traits_[block->id];
      traits.isRepeatable = isRepeatableWhole(*block);
      traits.sums = countSums(*block);
    }
    findLoops(function_.blocks, false);
    for (Block* block : blocksInOrder()) {
      const Traits& traits = traits_[block->id];
      if (traits.isTaken || !traits.isRepeatable || (traits.loop && traits.loop->entry != block)) continue;
      grow(block);
    }
    return std::move(regions_);
  }

 private:
  // A loop that can be repeated whole.
  struct Loop {
    Block* entry;
    std::vector<Block*> blocks;
  };
  struct Traits {
    bool isRepeatable = false, isTaken = false;
    size_t sums = 0;
    int depth = 0;
    Loop* loop = nullptr;  // the outermost around the block
    size_t outside = 0;    // predecessors that are not in the region that grows
  };

  size_t countSums(const Block& block) const {
    return static_cast<size_t>(
        std::ranges::count_if(block.instructions, [&](const Instruction* i) { return sums_.count(i) != 0; }));
  }

  void splitBlocks() {
    for (size_t n = 0, count = function_.blocks.size(); n < count; ++n) {
      Block* block = function_.blocks[n];
      if (countSums(*block) == 0 || (isRepeatableWhole(*block) && countSums(*block) <= mostSums)) continue;
      const std::vector<Instruction*> old = std::exchange(block->instructions, {});
      ir::Terminator end = std::exchange(block->terminator, {});
      Block* part = block;
      auto begin = old.begin();
      while (begin != old.end()) {
        // What can be repeated stands apart where it has multiply-adds in it.
        const auto behind = std::find_if_not(begin, old.end(), [](const Instruction* i) { return isRepeatable(*i); });
        const bool hasAny = std::any_of(begin, behind, [&](const Instruction* i) { return sums_.count(i) != 0; });
        if (hasAny && !part->instructions.empty()) part = follow(part);
        size_t sums = 0;
        for (; begin != behind; ++begin) {
          if (sums_.count(*begin) != 0 && sums++ == mostSums) {
            part = follow(part);
            sums = 1;
          }
          part->instructions.push_back(*begin);
        }
        if (hasAny && behind != old.end()) part = follow(part);
        begin = std::find_if(behind, old.end(), [](const Instruction* i) { return isRepeatable(*i); });
        part->instructions.insert(part->instructions.end(), behind, begin);
      }
      part->terminator = std::move(end);
    }
  }
  static bool isRepeatableWhole(const Block& block) {
    return std::ranges::all_of(block.instructions, [](const Instruction* i) { return isRepeatable(*i); });
  }
  Block* follow(Block* part) {
    Block* next = function_.addBlock();
    part->terminator = {ir::Terminator::Kind::Branch, nullptr, {next}, {}};
    return next;
  }

  std::vector<Block*> blocksInOrder() const {
    std::vector<Block*> order;
    std::vector<bool> seen(function_.blockIdBound());
    std::vector<std::pair<Block*, size_t>> open{{function_.blocks.front(), 0}};
    seen[function_.blocks.front()->id] = true;
    while (!open.empty()) {
      auto& [block, next] = open.back();
      if (next == block->terminator.targets.size()) {
        order.push_back(block);
        open.pop_back();
        continue;
      }
      Block* target = block->terminator.targets[next++];
      if (!seen[target->id]) {
        seen[target->id] = true;
        open.emplace_back(target, 0);
      }
    }
    std::ranges::reverse(order);
    return order;
  }

  void findLoops(const std::vector<Block*>& blocks, bool isInLoop) {
    components_.restrictTo(blocks);
    std::vector<analyses::Components::Component> found;
    for (Block* block : blocks) components_.find(block, found);
    for (const auto& component : found) {
      const auto& targets = component.front()->terminator.targets;
      if (component.size() == 1 && std::ranges::find(targets, component.front()) == targets.end()) continue;
      for (const Block* block : component) ++traits_[block->id].depth;
      const std::unordered_set<const Block*> members(component.begin(), component.end());
      std::vector<Block*> entries;
      for (Block* block : component)
        if (std::ranges::any_of(block->predecessors, [&](const Block* p) { return members.count(p) == 0; }))
          entries.push_back(block);
      if (entries.empty()) continue;
      const bool isWhole = !isInLoop && entries.size() == 1 && canBeWhole(component);
      if (isWhole) {
        loops_.push_back(std::make_unique<Loop>(Loop{entries.front(), component}));
        for (const Block* block : component) traits_[block->id].loop = loops_.back().get();
      }
      std::vector<Block*> rest;
      for (Block* block : component)
        if (block != entries.front()) rest.push_back(block);
      findLoops(rest, isInLoop || isWhole);
    }
  }

  bool canBeWhole(const std::vector<Block*>& loop) const {
    const bool isRepeatable =
        std::ranges::all_of(loop, [&](const Block* block) { return traits_[block->id].isRepeatable; });
    if (!isRepeatable || sumsOf(loop) == 0) return false;
    const bool isLong = sizeOf(loop) >= longRound && sumsOf(loop) >= sumsOfLongRound;
    return !isLong || std::ranges::none_of(loop, [&](const Block* block) {
      return std::ranges::any_of(block->instructions, [&](const Instruction* i) {
        return sums_.count(i) != 0 && (exponentials_.mayHave(i->operands[0]) || exponentials_.mayHave(i->operands[1]));
      });
    });
  }

  std::vector<Block*> unitOf(Block* entry) const {
    const Loop* loop = traits_[entry->id].loop;
    return loop ? loop->blocks : std::vector<Block*>{entry};
  }
  static size_t sizeOf(const std::vector<Block*>& blocks) {
    size_t size = 0;
    for (const Block* block : blocks) size += block->instructions.size();
    return size;
  }

  // Takes in what is reached from it alone.
  void grow(Block* entry) {
    std::vector<std::vector<Block*>> units{unitOf(entry)};
    std::unordered_set<const Block*> members(units[0].begin(), units[0].end());
    std::unordered_map<const Block*, size_t> reached;  // edges from the region, by targets
    size_t size = sizeOf(units[0]), sums = sumsOf(units[0]);
    for (size_t n = 0; n < units.size(); ++n) {
      const std::vector<Block*> unit = units[n];
      const std::unordered_set<const Block*> own(unit.begin(), unit.end());
      std::vector<Block*> targets;
      for (const Block* block : unit)
        for (Block* target : uniqueTargets(*block)) {
          if (own.count(target) != 0 || target == entry) continue;
          ++reached[target];
          targets.push_back(target);
        }
      for (Block* target : targets) {
        const Traits& traits = traits_[target->id];
        if (members.count(target) != 0 || traits.isTaken || !traits.isRepeatable) continue;
        if (traits.loop && traits.loop->entry != target) continue;
        std::vector<Block*> next = unitOf(target);
        size_t needed = target->predecessors.size();
        if (traits.loop)
          needed = static_cast<size_t>(std::ranges::count_if(
              target->predecessors, [&](const Block* p) { return std::ranges::find(next, p) == next.end(); }));
        const size_t added = sizeOf(next), addedSums = sumsOf(next);
        if (reached[target] != needed || size + added > largestRegion || sums + addedSums > mostSums) continue;
        size += added;
        sums += addedSums;
        members.insert(next.begin(), next.end());
        units.push_back(std::move(next));
      }
    }
    prune(entry, std::move(units));
  }

  size_t sumsOf(const std::vector<Block*>& unit) const {
    size_t sums = 0;
    for (const Block* block : unit) sums += traits_[block->id].sums;
    return sums;
  }

  // Leaves out what stands before or behind all multiply-adds.
  void prune(Block* entry, std::vector<std::vector<Block*>> units) {
    std::unordered_set<const Block*> members;
    for (const auto& unit : units) members.insert(unit.begin(), unit.end());
    auto leadsOn = [&](const Block* block) {
      return std::ranges::any_of(block->terminator.targets,
                                 [&](const Block* t) { return t != entry && members.count(t) != 0; });
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t n = units.size(); n-- > 0;) {
        if (sumsOf(units[n]) != 0 || leadsOn(units[n].front())) continue;
        members.erase(units[n].front());
        units.erase(units.begin() + static_cast<std::ptrdiff_t>(n));
        changed = true;
      }
    }
    while (!units.empty() && sumsOf(units.front()) == 0) {
      std::unordered_set<Block*> inside;
      for (Block* target : entry->terminator.targets)
        if (target != entry && members.count(target) != 0) inside.insert(target);
      if (inside.size() != 1) break;
      Block* next = *inside.begin();
      const auto unit =
          std::ranges::find_if(units, [&](const auto& each) { return std::ranges::find(each, next) != each.end(); });
      if (unit == units.begin()) break;
      // Other blocks of the region do not lead to it: they would all come from the one that is left out.
      const bool isOnly = std::ranges::all_of(
          next->predecessors, [&](const Block* p) { return p == entry || std::ranges::find(*unit, p) != unit->end(); });
      if (!isOnly) break;
      members.erase(entry);
      std::rotate(units.begin(), unit, unit + 1);
      units.erase(units.begin() + 1);
      entry = next;
    }
    size_t size = 0, sums = 0;
    for (const auto& unit : units) {
      size += sizeOf(unit);
      sums += sumsOf(unit);
    }
    if (sums == 0 || size > mostBeside + mostBesideEach * sums) return;
    RepeatableRegion region;
    region.entry = entry;
    const std::vector<Block*>& first = units.front();
    const bool isLoop = traits_[entry->id].loop != nullptr;
    if (isLoop) region.loopOfEntry.insert(first.begin(), first.end());
    const int outside = traits_[entry->id].depth - (isLoop ? 1 : 0);
    for (const auto& unit : units)
      for (Block* block : unit) {
        region.depths[block] = traits_[block->id].depth - outside;
        traits_[block->id].isTaken = true;
      }
    // In the order in which they are reached.
    std::vector<std::pair<Block*, size_t>> open{{entry, 0}};
    std::unordered_set<const Block*> seen{entry};
    while (!open.empty()) {
      auto& [block, next] = open.back();
      if (next == block->terminator.targets.size()) {
        region.blocks.push_back(block);
        open.pop_back();
        continue;
      }
      Block* target = block->terminator.targets[next++];
      if (region.contains(target) && seen.insert(target).second) open.emplace_back(target, 0);
    }
    std::ranges::reverse(region.blocks);
    regions_.push_back(std::move(region));
  }

  ir::Function& function_;
  const std::unordered_set<const Instruction*>& sums_;
  const analyses::Exponentials& exponentials_;
  analyses::Components components_;
  std::vector<Traits> traits_;  // by block id
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<RepeatableRegion> regions_;
};

}  // namespace

std::vector<RepeatableRegion> findRepeatableRegions(ir::Function& function,
                                                    const std::unordered_set<const Instruction*>& sums,
                                                    const analyses::Exponentials& exponentials) {
  return Finder(function, sums, exponentials).find();
}

}  // namespace mulciber::passes
