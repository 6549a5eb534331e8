#include "translator/passes/shared_factors.h"

#include <algorithm>

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

constexpr size_t mostParts = 64;

const Instruction* withoutSign(const Instruction* value) {
  while (value->op == Op::FNeg || value->op == Op::FAbs) value = value->operands[0];
  return value;
}

}  // namespace

bool isProduct(const Instruction& i) {
  const bool doubles = i.op == Op::FAdd && i.operands[0] == i.operands[1] && !i.operands[0]->isConstant();
  return i.type == ir::F32 && (i.fp.isDot || i.op == Op::FMul || doubles);
}

SharedFactors::SharedFactors(const ir::Function& function, const analyses::EqualMagnitudes& equal,
                             const HiddenValues& hidden)
    : equal_(equal), homes_(function.instructionIdBound()) {
  for (const ir::Block* block : function.blocks) {
    const auto number = static_cast<uint32_t>(numbers_.size());
    numbers_[block] = number;
    for (const Instruction* i : block->instructions) {
      homes_[i->id] = block;
      first_.try_emplace(equal_.name(i), number);
    }
  }
  for (const ir::Block* block : function.blocks)
    for (const Instruction* i : block->instructions)
      if (i->type == ir::F32 && (i->op == Op::Phi || i->op == Op::Select)) unite(*i, hidden);
  for (auto& [name, choice] : choices_) choice = rootOf(choice);
}

uint64_t SharedFactors::rootOf(uint64_t name) {
  for (auto found = choices_.find(name); found != choices_.end(); found = choices_.find(name)) {
    const auto next = choices_.find(found->second);
    if (next != choices_.end()) found->second = next->second;  // the next search is shorter
    name = found->second;
  }
  return name;
}

void SharedFactors::unite(const Instruction& choice, const HiddenValues& hidden) {
  for (size_t n = choice.op == Op::Select ? 1 : 0; n < choice.operands.size(); ++n) {
    const Instruction* chosen = choice.operands[n];
    if (chosen->isConstant() || chosen->op == Op::Undef || hidden.isConstant(chosen)) continue;
    const uint64_t name = rootOf(equal_.name(&choice)), other = rootOf(equal_.name(chosen));
    if (name != other) choices_[other] = name;
  }
}

SharedFactors::Factor SharedFactors::factor(const Instruction* value) const {
  const uint64_t name = equal_.name(value);
  const auto found = choices_.find(name);
  return {name, found == choices_.end() ? name : found->second};
}

bool SharedFactors::has(const Instruction& multiplyAdd) const {
  const Factor factors[] = {factor(multiplyAdd.operands[0]), factor(multiplyAdd.operands[1])};
  std::vector<Part> parts{{multiplyAdd.operands[2], noLoop}};
  for (size_t n = 0; n < parts.size(); ++n) {
    if (parts.size() > mostParts) return true;
    const Instruction& value = *withoutSign(parts[n].value);
    const uint32_t loop = parts[n].loop;
    if (isProduct(value) && isShared(factors, value, loop)) return true;
    addParts(value, loop, parts);
  }
  return false;
}

// What is made in a loop is another number in each round. But what a phi gives it may be one of an earlier round.
bool SharedFactors::isShared(const Factor (&factors)[2], const Instruction& product, uint32_t loop) const {
  for (const size_t n : {0, 1}) {
    const Factor other = factor(product.operands[n]);
    const auto first = first_.find(other.name);
    const bool changes = loop != noLoop && first != first_.end() && first->second >= loop;
    for (const Factor& own : factors)
      if (own.choice == other.choice && !(changes && own.name == other.name)) return true;
  }
  return false;
}

void SharedFactors::addParts(const Instruction& value, uint32_t loop, std::vector<Part>& parts) const {
  const auto add = [&](const Instruction* part, uint32_t ofLoop) {
    if (std::ranges::find(parts, Part{part, ofLoop}) == parts.end()) parts.push_back({part, ofLoop});
  };
  if (value.fp.isDot) add(value.operands[2], loop);
  if (value.op == Op::Select)
    for (const size_t n : {1, 2}) add(value.operands[n], loop);
  if (value.op != Op::Phi) return;
  const ir::Block* home = homes_[value.id];
  const uint32_t number = numbers_.at(home);
  for (size_t n = 0; n < value.operands.size(); ++n) {
    const bool isOfEarlierRound = numbers_.at(home->predecessors[n]) >= number;
    add(value.operands[n], isOfEarlierRound ? std::min(loop, number) : loop);
  }
}

}  // namespace mulciber::passes
