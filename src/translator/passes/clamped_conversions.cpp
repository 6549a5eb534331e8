#include "translator/passes/clamped_conversions.h"

#include <vector>

#include "translator/analyses/dependencies.h"
#include "translator/analyses/known_values.h"
#include "translator/passes/hidden_values.h"
#include "translator/passes/rewrite.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

bool clamps(const Instruction& i) { return i.op == Op::FToUClamped || i.op == Op::FToSClamped; }
bool isFromInteger(const Instruction& i) { return i.op == Op::UToF || i.op == Op::SToF; }
bool passesOn(const Instruction& i) { return i.op == Op::Phi || ir::isPure(i.op); }

}  // namespace

bool hideConverted(ir::Function& function) {
  std::vector<Instruction*> conversions;
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if (clamps(*i)) conversions.push_back(i);
  if (conversions.empty()) return false;
  const std::vector<bool> isOfIntegers = analyses::findDependents(function, isFromInteger, passesOn);
  const analyses::KnownValues known(function);

  HiddenValues hidden(function);
  for (Instruction* conversion : conversions) {
    Instruction*& x = conversion->operands[0];
    if (isOfIntegers[x->id] || known.mayBeKnown(x)) x = hidden.hide(x);
  }
  return hidden.apply();
}

bool hideWideResults(ir::Function& function) {
  HiddenValues hidden(function);
  Replacements replacements(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) {
      if (!clamps(*i) || i->type != ir::I64) continue;
      ir::Builder after = hidden.after(i);
      Instruction* copy = function.clone(*i);
      after.block()->instructions.push_back(copy);
      // By what depends on the upper half: where only the lower one is used, it could be worked out alone otherwise.
      Instruction* upper = after.emit(Op::LShr, ir::I64, {copy, after.i32(32)});
      Instruction* zero = after.emit(Op::And, ir::I64, {upper, hidden.hide(after, after.i64(0))});
      replacements.replace(i, after.emit(Op::Xor, ir::I64, {copy, zero}));
    }
  if (!hidden.apply()) return false;
  replacements.apply();
  return true;
}

bool ClampedConversions::run(ir::Function& function, PassContext& context) {
  if (!context.profile.foldsConversions) return false;
  const bool changed = hideConverted(function);
  return (context.profile.saturatesToInteger && hideWideResults(function)) || changed;
}

}  // namespace mulciber::passes
