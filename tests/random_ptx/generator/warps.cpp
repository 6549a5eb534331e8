// What the lanes of a warp and the threads of a block do together.
#include <algorithm>

#include "random_ptx/generator/scope.h"

namespace mulciber::random_ptx {
namespace {

// Every lane of the mask takes a value from another that is in the mask too, or keeps its own.
Node shuffle(Scope& scope, const std::string& mask) {
  Random& random = scope.random;
  const std::string to = scope.reg('r'), value = scope.reg('r'), by = scope.reg('r');
  const bool hasFlag = random.chance(60);
  const std::string flag = hasFlag ? "|%took" : "";
  std::string text = "{\n.reg .b32 %id, %from, %bit;\n.reg .pred %took, %is;\nand.b32 %id, %lane, 31;\n";
  const std::string amount = random.chance(60) ? std::to_string(1 + random.below(31)) : "%by";
  if (amount == "%by") text += cat(".reg .b32 %by;\nand.b32 %by, ", by, ", 31;\n");
  static constexpr std::array<const char*, 4> kModes = {"up", "down", "bfly", "idx"};
  const std::string mode = random.pick(kModes);
  if (mode == "up") text += cat("sub.s32 %from, %id, ", amount, ";\n");
  else if (mode == "down") text += cat("add.s32 %from, %id, ", amount, ";\n");
  else if (mode == "bfly") text += cat("xor.b32 %from, %id, ", amount, ";\n");
  else text += cat("mov.b32 %from, ", amount, ";\n");
  // A lane that is none of the warp's gives way to the own value. Of one that is not in the mask nothing is defined:
  // who would read it reads its own.
  text += cat(".reg .b32 %amount;\nsetp.lt.u32 %is, %from, 32;\n@!%is mov.b32 %from, %id;\nshr.u32 %bit, ", mask,
              ", %from;\nand.b32 %bit, %bit, 1;\nsetp.ne.u32 %is, %bit, 0;\nselp.b32 %amount, ", amount, ", ",
              mode == "idx" ? "%id" : "0", ", %is;\n");
  text += cat("shfl.sync.", mode, ".b32 ", to, flag, ", ", value, ", %amount, ", mode == "up" ? "0" : "31", ", ", mask,
              ";\n");
  if (hasFlag) text += cat("mov.pred ", scope.reg('p'), ", %took;\n");
  return {text + "}\n", {}};
}

// A value of another lane's window, between two barriers of the warp.
Node windowOfLane(Scope& scope, const std::string& mask) {
  Random& random = scope.random;
  const bool isShared = random.chance(60), isGeneric = random.chance(40);
  const std::string space = isShared ? ".shared" : ".global", base = isShared ? "%shared" : "%global";
  return {
      cat("{\n.reg .b32 %id, %other, %bit;\n.reg .pred %is;\n.reg .b64 %theirs;\nbar.warp.sync ", mask,
          ";\nand.b32 %id, %lane, 31;\nxor.b32 %other, %id, ", 1 + random.below(31), ";\nshr.u32 %bit, ", mask,
          ", %other;\nand.b32 %bit, %bit, 1;\nsetp.ne.u32 %is, %bit, 0;\nsub.s32 %other, %other, %id;\n",
          "mad.wide.s32 %theirs, %other, ", kWindowBytes, ", ", base, ";\n",
          isGeneric ? cat("cvta", space, ".u64 %theirs, %theirs;\n") : "", "@%is ld", isGeneric ? "" : space, ".b32 ",
          scope.reg('r'), ", [%theirs+", random.below(kWindowBytes / 4) * 4, "];\nbar.warp.sync ", mask, ";\n}\n"),
      {}};
}

std::string blockBarrier(Scope& scope) {
  Random& random = scope.random;
  const unsigned threads = scope.program.threads();
  const unsigned number = random.below(4);
  switch (random.below(5)) {
    case 0: return cat("barrier.sync ", number, ";\n");
    case 1: return cat("barrier.sync.aligned ", number, ";\n");
    case 2:
      if (threads % 32 == 0) return cat("bar.sync ", number, ", ", threads, ";\n");
      [[fallthrough]];
    default: return cat("bar.sync ", number, ";\n");
  }
}

// Values of another thread's window, or put there, between two barriers of the block.
Node windowOfThread(Scope& scope) {
  Random& random = scope.random;
  const bool isShared = random.chance(60), isGeneric = random.chance(40), isLoad = random.chance(60);
  const std::string space = isShared ? ".shared" : ".global", base = isShared ? "%shared" : "%global";
  const unsigned threads = scope.program.threads();
  const std::string place = cat("[%theirs+", random.below(kWindowBytes / 8) * 8, ']');
  const std::string named = isGeneric ? "" : space;
  return {cat("{\n.reg .b32 %other;\n.reg .b64 %theirs;\nadd.u32 %other, %lane, ", 1 + random.below(threads),
              ";\nrem.u32 %other, %other, ", threads,
              ";\nsub.s32 %other, %other, %lane;\nmad.wide.s32 %theirs, %other, ", kWindowBytes, ", ", base, ";\n",
              isGeneric ? cat("cvta", space, ".u64 %theirs, %theirs;\n") : "", blockBarrier(scope),
              isLoad ? cat("ld", named, ".b64 ", scope.reg('v'), ", ", place, ";\n")
                     : cat("st", named, ".b32 ", place, ", ", scope.reg('r'), ";\n"),
              blockBarrier(scope), "}\n"),
          {}};
}

// Warps of even number arrive; the others wait for them and read what they wrote.
Node halfBarrier(Scope& scope) {
  const unsigned threads = scope.program.threads();
  const std::string arrives = scope.label(), end = scope.label();
  return {cat("{\n.reg .b32 %warp;\n.reg .pred %is;\nshr.u32 %warp, %lane, 5;\nand.b32 %warp, %warp, 1;\n",
              "setp.eq.u32 %is, %warp, 0;\n@%is bra ", arrives, ";\nbar.sync 4, ", threads, ";\nld.shared.b32 ",
              scope.reg('r'), ", [%shared+-", 32 * kWindowBytes - scope.random.below(kWindowBytes / 4) * 4, "];\nbra ",
              end, ";\n", arrives, ":\nbar.arrive 4, ", threads, ";\n", end, ":\nbar.sync 0;\n}\n"),
          {}};
}

// Lanes of one warp wait at different places of the code.
Node splitBarrier(Scope& scope) {
  const std::string second = scope.label(), end = scope.label();
  const unsigned number = scope.random.below(4);
  Node node{cat('@', scope.condition(false), " bra ", second, ";\n"), {}};
  Place inside;
  inside.depth = 2;
  Node first = statements(scope, inside, 1 + scope.random.below(2));
  first.isRemovable = false;
  first.end = cat("barrier.sync ", number, ";\n");
  Node other = statements(scope, inside, 1 + scope.random.below(2));
  other.isRemovable = false;
  other.text = cat("bra ", end, ";\n", second, ":\n");
  other.end = cat("barrier.sync ", number, ";\n");
  node.children = {std::move(first), std::move(other)};
  node.end = end + ":\n";
  return node;
}

}  // namespace

Node warpStatement(Scope& scope, const Place& place) {
  Random& random = scope.random;
  const std::string& mask = place.mask;
  switch (random.below(7)) {
    case 0: {
      static constexpr std::array<const char*, 3> kVotes = {"any", "all", "uni"};
      return {cat("vote.sync.", random.pick(kVotes), ".pred ", scope.reg('p'), ", ", scope.condition(false), ", ", mask,
                  ";\n"),
              {}};
    }
    case 1: return {cat("vote.sync.ballot.b32 ", scope.reg('r'), ", ", scope.condition(false), ", ", mask, ";\n"), {}};
    case 2: {
      const bool isWide = random.chance(40);
      const std::string type = isWide ? ".b64 " : ".b32 ";
      const std::string value = scope.reg(isWide ? 'v' : 'r');
      // Few different values, so that lanes agree.
      std::string text = cat("{\n.reg .b", isWide ? 64 : 32, " %few;\nand", type, "%few, ", value, ", 3;\n");
      if (random.chance(50)) text += cat("match.any.sync", type, scope.reg('r'), ", %few, ", mask, ";\n}\n");
      else text += cat("match.all.sync", type, scope.reg('r'), '|', scope.reg('p'), ", %few, ", mask, ";\n}\n");
      return {text, {}};
    }
    case 3: {
      static constexpr std::array<const char*, 9> kOperations = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                                                 "max.s32", "and.b32", "or.b32",  "xor.b32"};
      return {
          cat("redux.sync.", random.pick(kOperations), ' ', scope.reg('r'), ", ", scope.reg('r'), ", ", mask, ";\n"),
          {}};
    }
    case 4: return windowOfLane(scope, mask);
    default: return shuffle(scope, mask);
  }
}

Node barrierStatement(Scope& scope) {
  Random& random = scope.random;
  switch (random.below(8)) {
    case 0: return {blockBarrier(scope), {}};
    case 1: {
      static constexpr std::array<const char*, 2> kReductions = {"and", "or"};
      return {cat("bar.red.", random.pick(kReductions), ".pred ", scope.uniformPredicate(), ", 0, ",
                  scope.condition(false), ";\n"),
              {}};
    }
    case 2: return {cat("bar.red.popc.u32 ", scope.uniform(), ", 1, ", scope.condition(false), ";\n"), {}};
    case 3:
      if (scope.program.threads() % 64 == 0) return halfBarrier(scope);
      [[fallthrough]];
    case 4:
      if (scope.program.hasSplitBarriers) return splitBarrier(scope);
      [[fallthrough]];
    default: return windowOfThread(scope);
  }
}

}  // namespace mulciber::random_ptx
