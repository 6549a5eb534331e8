#include "translator/passes/half_round_trips.h"

#include <map>
#include <vector>

#include "translator/passes/dependencies.h"
#include "translator/passes/insertions.h"
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
  return findDependencies(function, widened, [](const Instruction& i) { return passesOn(i) && !makesHalf(i); });
}

}  // namespace

bool keepHalfRoundTrips(ir::Function& function) {
  const std::vector<bool> isWidened = findWidened(function);
  std::vector<Instruction*> kept;
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if (makesHalf(*i) && isWidened[i->id]) kept.push_back(i);
  if (kept.empty()) return false;

  // A grid has less than 2^31 blocks in each direction, which the driver does not know.
  ir::Block head;
  ir::Builder b(function, &head);
  Instruction* blocks = b.input(ir::InputKind::GridDimX);
  Instruction* zero = b.lshr(blocks, b.i32(31));
  std::map<unsigned, Instruction*> zeros{{32, zero}};
  auto zeroOf = [&](ir::Type type) {
    Instruction*& made = zeros[type.bits];
    if (!made) made = b.convert(type.bits < 32 ? Op::Trunc : Op::ZExt, type, zero);
    return made;
  };

  Insertions inserted(function);
  Replacements replacements(function);
  for (Instruction* half : kept) {
    ir::Builder after = inserted.after(half);
    Instruction* copy = function.clone(*half);
    after.block()->instructions.push_back(copy);
    const ir::Type type = ir::intType(half->type.totalBits());
    Instruction* bits = after.bitOr(after.bitcast(type, copy), zeroOf(type));
    replacements.replace(half, after.bitcast(half->type, bits));
  }
  inserted.apply();
  replacements.apply();
  auto& entry = function.blocks.front()->instructions;
  entry.insert(entry.begin(), head.instructions.begin(), head.instructions.end());
  return true;
}

bool HalfRoundTrips::run(ir::Function& function, PassContext& context) {
  return context.profile.foldsHalfRoundTrips && keepHalfRoundTrips(function);
}

}  // namespace mulciber::passes
