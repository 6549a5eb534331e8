#include "translator/analyses/writes_across.h"

#include <algorithm>
#include <utility>

namespace mulciber::analyses {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

constexpr size_t mostSteps = 1 << 14;  // from block to block, of all variables of a function

}  // namespace

const Instruction* WritesAcross::writeOf(const Instruction* read) {
  const Variable& variable = resolved(static_cast<ir::VariableId>(read->payload));
  const auto found = variable.writes.find(read);
  return found == variable.writes.end() ? nullptr : found->second;
}

bool WritesAcross::isClear(const Instruction* write) {
  const Variable& variable = resolved(static_cast<ir::VariableId>(write->payload));
  const auto found = variable.areClear.find(write);
  return found != variable.areClear.end() && found->second;
}

bool WritesAcross::isSeen(const Instruction* write) {
  return resolved(static_cast<ir::VariableId>(write->payload)).areSeen.contains(write);
}

WritesAcross::Variable& WritesAcross::resolved(ir::VariableId id) {
  if (order_.empty()) findPlaces();
  Variable& variable = variables_[id];
  if (!std::exchange(variable.isResolved, true)) resolve(variable);
  return variable;
}

void WritesAcross::findPlaces() {
  for (const Block* block : function_.blocks) {
    order_.emplace(block, order_.size());
    for (const Instruction* i : block->instructions) {
      if (i->op != Op::ReadVar && i->op != Op::WriteVar) continue;
      Place& place = variables_[static_cast<ir::VariableId>(i->payload)].places[block];
      if (i->op == Op::WriteVar) place.write = i;
      else if (!place.write) place.reads.push_back(i);
    }
  }
}

void WritesAcross::resolve(Variable& variable) {
  for (const auto& [block, place] : variable.places) {
    if (!place.write) continue;
    variable.areClear[place.write] = true;
    spread(variable, *block, place.write);
  }
  const bool areSeveral = std::ranges::any_of(variable.writes, [](const auto& each) { return !each.second; });
  if (!areSeveral && steps_ <= mostSteps) return;
  for (auto& [write, isClear] : variable.areClear) isClear = false;
}

void WritesAcross::spread(Variable& variable, const Block& from, const Instruction* write) {
  std::unordered_set<const Block*> seen;
  std::vector<const Block*> work(from.terminator.targets.begin(), from.terminator.targets.end());
  while (!work.empty()) {
    const Block* block = work.back();
    work.pop_back();
    if (!seen.insert(block).second) continue;
    if (++steps_ > mostSteps) return;
    const auto place = variable.places.find(block);
    if (place != variable.places.end()) {
      for (const Instruction* read : place->second.reads) {
        variable.areSeen.insert(write);
        const auto [found, isNew] = variable.writes.try_emplace(read, write);
        if (!isNew && found->second != write) found->second = nullptr;
        if (order_.at(block) <= order_.at(&from)) variable.areClear[write] = false;
      }
      if (place->second.write) continue;
    }
    work.insert(work.end(), block->terminator.targets.begin(), block->terminator.targets.end());
  }
}

}  // namespace mulciber::analyses
