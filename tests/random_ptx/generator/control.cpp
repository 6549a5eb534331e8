// Branches and loops.
#include "random_ptx/generator/arithmetic.h"
#include "random_ptx/generator/scope.h"

namespace mulciber::random_ptx {
namespace {

constexpr unsigned kDeepest = 3;

Place inside(const Place& place, bool isUniform, const std::string& mask) {
  Place inner = place;
  inner.isUniform = isUniform;
  inner.mask = mask;
  ++inner.depth;
  return inner;
}

// A part of a statement that cannot go without it.
Node part(std::string text, Node inner, std::string end = {}) {
  inner.text = std::move(text);
  inner.end = std::move(end);
  inner.isRemovable = false;
  return inner;
}

Node branch(Scope& scope, const Place& place, bool isUniform) {
  Random& random = scope.random;
  const std::string condition = isUniform ? scope.uniformPredicate() : scope.reg('p');
  const std::string otherwise = scope.label(), end = scope.label();
  const bool hasMask = !place.mask.empty() && !isUniform && random.chance(70);
  std::string text, then, other;
  if (isUniform) then = other = place.mask;
  if (hasMask) {
    then = scope.fresh('m'), other = scope.fresh('m');
    text = cat("vote.sync.ballot.b32 ", then, ", ", condition, ", ", place.mask, ";\nnot.b32 ", other, ", ", then,
               ";\nand.b32 ", other, ", ", other, ", ", place.mask, ";\n");
  }
  const bool hasElse = random.chance(60);
  Node node{cat(text, "@!", condition, isUniform ? " bra.uni " : " bra ", hasElse ? otherwise : end, ";\n"), {}};
  node.isUnwrappable = !hasMask;
  node.children.push_back(part("", statements(scope, inside(place, isUniform, then), 1 + random.below(3))));
  if (hasElse) {
    // The jump belongs to the branch: without the branch both parts follow each other.
    Node jump{cat("bra ", end, ";\n", otherwise, ":\n"), {}};
    jump.isRemovable = false;
    node.isUnwrappable = false;
    node.children.push_back(std::move(jump));
    node.children.push_back(part("", statements(scope, inside(place, isUniform, other), 1 + random.below(3))));
  }
  node.end = end + ":\n";
  return node;
}

Node loop(Scope& scope, const Place& place, bool isUniform) {
  Random& random = scope.random;
  const std::string begin = scope.label(), end = scope.label(), count = scope.fresh('c'), more = scope.fresh('z');
  const bool isConstant = random.chance(30);
  const bool leaves = random.chance(30);  // from the middle, or on to the next round
  std::string text = isConstant ? cat("mov.b32 ", count, ", ", 1 + random.below(4), ";\n")
                                : cat("and.b32 ", count, ", ", isUniform ? scope.uniform() : scope.reg('r'), ", 3;\n");
  const bool isTogether = isUniform || (isConstant && !leaves);  // every lane goes as many rounds
  std::string mask = isTogether ? place.mask : "";
  const bool testsFirst = random.chance(60);
  if (!isTogether && !leaves && testsFirst && !place.mask.empty()) {
    mask = scope.fresh('m');
    text += cat("mov.b32 ", mask, ", ", place.mask, ";\n");
  }
  text += begin + ":\n";
  if (testsFirst) {
    text += cat("setp.gt.s32 ", more, ", ", count, ", 0;\n");
    if (!isTogether && !mask.empty()) text += cat("vote.sync.ballot.b32 ", mask, ", ", more, ", ", mask, ";\n");
    text += cat("@!", more, " bra ", end, ";\n");
  }
  // The count goes down first: every way back ends.
  text += cat("sub.s32 ", count, ", ", count, ", 1;\n");
  Node node{text, {}};
  node.isUnwrappable = mask.empty() || isTogether;
  Place inner = inside(place, isUniform || (isConstant && !leaves && place.isUniform), mask);
  inner.counter = count;
  node.children.push_back(part("", statements(scope, inner, 1 + random.below(3))));
  if (leaves) {
    const std::string target = testsFirst && random.chance(50) ? begin : end;
    node.children.push_back({cat('@', scope.condition(isUniform), " bra ", target, ";\n"), {}});
    node.children.push_back(part("", statements(scope, inner, 1 + random.below(2))));
    node.isUnwrappable = false;
  }
  if (testsFirst) node.end = cat("bra ", begin, ";\n", end, ":\n");
  else node.end = cat("setp.gt.s32 ", more, ", ", count, ", 0;\n@", more, " bra ", begin, ";\n", end, ":\n");
  return node;
}

Node choice(Scope& scope, const Place& place, bool isUniform) {
  Random& random = scope.random;
  const unsigned count = 2 + random.below(3);
  const std::string targets = scope.label(), end = scope.label(), index = scope.fresh('c');
  std::vector<std::string> labels;
  for (unsigned i = 0; i < count; ++i) labels.push_back(scope.label());
  std::string text = cat("rem.u32 ", index, ", ", isUniform ? scope.uniform() : scope.reg('r'), ", ", count, ";\n");
  const bool fallsThrough = random.chance(40);
  std::string mask = isUniform ? place.mask : "";
  if (!isUniform && !fallsThrough && !place.mask.empty()) {
    mask = scope.fresh('m');
    text += cat("match.any.sync.b32 ", mask, ", ", index, ", ", place.mask, ";\n");
  }
  text += targets + ": .branchtargets ";
  for (unsigned i = 0; i < count; ++i) text += (i ? ", " : "") + labels[i];
  text += cat(";\nbrx.idx", isUniform ? ".uni " : " ", index, ", ", targets, ";\n");
  Node node{text, {}};
  for (unsigned i = 0; i < count; ++i)
    node.children.push_back(part(labels[i] + ":\n",
                                 statements(scope, inside(place, isUniform, mask), 1 + random.below(2)),
                                 fallsThrough && i % 2 ? "" : cat("bra ", end, ";\n")));
  node.end = end + ":\n";
  return node;
}

// Blocks with jumps between them in every direction, also into loops; a bounded number of steps.
Node tangle(Scope& scope, const Place& place, bool isUniform) {
  Random& random = scope.random;
  const unsigned count = 3 + random.below(3);
  const std::string end = scope.label(), steps = scope.fresh('c'), over = scope.fresh('z');
  std::vector<std::string> labels;
  for (unsigned i = 0; i < count; ++i) labels.push_back(scope.label());
  auto jump = [&] { return Node{cat('@', scope.condition(isUniform), " bra ", random.pick(labels), ";\n"), {}}; };
  Node node{cat("mov.b32 ", steps, ", ", 4 + random.below(6), ";\n"), {}};
  node.children.push_back(jump());
  for (unsigned i = 0; i < count; ++i) {
    node.children.push_back(
        part(labels[i] + ":\n",
             statements(scope, inside(place, isUniform, isUniform ? place.mask : ""), 1 + random.below(2)),
             cat("sub.s32 ", steps, ", ", steps, ", 1;\nsetp.le.s32 ", over, ", ", steps, ", 0;\n@", over, " bra ", end,
                 ";\n")));
    for (unsigned j = 1 + random.below(2); j > 0; --j) node.children.push_back(jump());
  }
  node.end = end + ":\n";
  return node;
}

}  // namespace

Node controlStatement(Scope& scope, const Place& place) {
  Random& random = scope.random;
  const bool isUniform = place.isUniform && random.chance(50);
  // Tangles show nothing of multiply-adds, and LLVM 19 crashes on some of them (RegAllocBase::postOptimization).
  const unsigned kind = random.below(scope.arithmetic ? 8 : 10);
  if (kind < 5) return branch(scope, place, isUniform);
  if (kind < 7) return loop(scope, place, isUniform);
  if (kind < 8) return choice(scope, place, isUniform);
  return tangle(scope, place, isUniform);
}

Node statement(Scope& scope, const Place& place) {
  Random& random = scope.random;
  const unsigned kind = random.below(100);
  if (scope.arithmetic) {
    if (kind < 25 && place.depth < kDeepest) return controlStatement(scope, place);
    return multiplyAdds(*scope.arithmetic, place);
  }
  if (kind < 12 && place.depth < kDeepest) return controlStatement(scope, place);
  if (kind >= 86 && place.isUniform && !place.mask.empty() && scope.program.threads() % 32 == 0)
    return matrixStatement(scope, place);
  if (kind >= 84 && kind < 86 && !scope.isInFunction) return asyncCopies(scope);
  if (kind < 20 && place.isUniform) return random.chance(60) ? barrierStatement(scope) : uniformInstruction(scope);
  if (kind < 30 && !place.mask.empty()) return warpStatement(scope, place);
  if (kind < 34 && place.depth < 2 && place.routine > 0) return callStatement(scope, place);
  if (kind < 42) return windowAccess(scope);
  if (kind < 50) return accessInstruction(scope);
  if (kind < 57) return pointerStatement(scope);
  if (kind < 62) return bridge(scope);
  if (kind < 65) return tableLoad(scope);
  if (kind < 68) return cellUpdate(scope);
  if (kind < 70) return carryChain(scope);
  if (kind < 80) return patternStatement(scope);
  return valueInstruction(scope);
}

Node statements(Scope& scope, const Place& place, unsigned count) {
  Node node{"", {}};
  for (unsigned i = 0; i < count; ++i) node.children.push_back(statement(scope, place));
  return node;
}

}  // namespace mulciber::random_ptx
