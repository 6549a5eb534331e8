#include "translator/passes/half_round_trips.h"

#include <vector>

#include "translator/analyses/dependencies.h"
#include "translator/passes/hidden_values.h"
#include "translator/passes/rewrite.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

bool makesHalf(const Instruction& i) {
  return i.type.scalar() == ir::F16 && (i.op == Op::FConvert || i.op == Op::UToF || i.op == Op::SToF);
}
bool widensHalf(const Instruction& i) { return i.op == Op::FConvert && i.operands[0]->type.scalar() == ir::F16; }

// What a number may pass on its way back without a driver losing sight of it.
bool passesOn(const Instruction& i) { return i.op == Op::Phi || ir::isPure(i.op); }

// By instruction id: whether a conversion from f16 depends on the value.
std::vector<bool> findWidened(const ir::Function& function) {
  std::vector<const Instruction*> widened;
  for (const ir::Block* block : function.blocks)
    for (const Instruction* i : block->instructions)
      if (widensHalf(*i)) widened.push_back(i->operands[0]);
  return analyses::findDependencies(function, widened,
                                    [](const Instruction& i) { return passesOn(i) && !makesHalf(i); });
}

}  // namespace

bool keepHalfRoundTrips(ir::Function& function) {
  const std::vector<bool> isWidened = findWidened(function);
  std::vector<Instruction*> kept;
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if (makesHalf(*i) && isWidened[i->id]) kept.push_back(i);
  if (kept.empty()) return false;

  HiddenValues hidden(function);
  Replacements replacements(function);
  for (Instruction* half : kept) {
    ir::Builder after = hidden.after(half);
    Instruction* copy = function.clone(*half);
    after.block()->instructions.push_back(copy);
    replacements.replace(half, hidden.hide(after, copy));
  }
  hidden.apply();
  replacements.apply();
  return true;
}

bool HalfRoundTrips::run(ir::Function& function, PassContext& context) {
  return context.profile.foldsHalfRoundTrips && keepHalfRoundTrips(function);
}

}  // namespace mulciber::passes
