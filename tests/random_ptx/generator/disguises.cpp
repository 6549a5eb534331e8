// Values that are moved about: through integers, signs, selections, shuffles and memory they stay what they are.
#include "random_ptx/generator/arithmetic.h"

namespace mulciber::random_ptx {
namespace {

std::string throughInteger(Random& random, Scope& scope, const std::string& to, const std::string& from) {
  std::string code;
  switch (random.below(5)) {
    case 0: break;
    case 1:
      code =
          "shr.u32 %other, %bits, 16;\nshl.b32 %other, %other, 16;\nand.b32 %bits, %bits, 0xFFFF;\n"
          "or.b32 %bits, %bits, %other;\n";
      break;
    case 2: code = "xor.b32 %bits, %bits, 0x80000000;\nxor.b32 %bits, %bits, 0x80000000;\n"; break;
    default: {
      const std::string by = random.chance(50) ? scope.uniform() : "%lane";
      code = cat("add.u32 %bits, %bits, ", by, ";\nsub.u32 %bits, %bits, ", by, ";\n");
    }
  }
  return cat("{\n.reg .b32 %bits, %other;\nmov.b32 %bits, ", from, ";\n", code, "mov.b32 ", to, ", %bits;\n}\n");
}

std::string throughArithmetic(Random& random, Scope& scope, const std::string& to, const std::string& from) {
  switch (random.below(6)) {
    case 0: return cat("neg.f32 ", to, ", ", from, ";\nneg.f32 ", to, ", ", to, ";\n");
    case 1: return cat("max.f32 ", to, ", ", from, ", ", from, ";\n");
    case 2: return cat("mul.rn.f32 ", to, ", ", from, ", 0f3F800000;\n");
    case 3: return cat("fma.rn.f32 ", to, ", ", from, ", 0f3F800000, 0f80000000;\n");
    case 4:
      return cat("{\n.reg .b32 %bits;\nmov.b32 %bits, ", from, ";\nxor.b32 %bits, %bits, 0x80000000;\nmov.b32 ", to,
                 ", %bits;\nneg.f32 ", to, ", ", to, ";\n}\n");
    default: return cat("selp.f32 ", to, ", ", from, ", ", from, ", ", scope.reg('p'), ";\n");
  }
}

std::string throughLane(Random& random, const std::string& mask, const std::string& to, const std::string& from) {
  static constexpr std::array<const char*, 4> kSelf = {"bfly.b32 $, 0, 31, ", "up.b32 $, 0, 0, ", "down.b32 $, 0, 31, ",
                                                       "idx.b32 $, %self, 31, "};
  std::string how = random.pick(kSelf);
  how.replace(how.find('$'), 1, cat(to, ", ", from));
  return cat("{\n.reg .b32 %self;\nand.b32 %self, %lane, 31;\nshfl.sync.", how, mask, ";\n}\n");
}

std::string throughMemory(Random& random, Scope& scope, const std::string& to, const std::string& from) {
  static constexpr std::array<Space, 4> kSpaces = {Space::Local, Space::Local, Space::Shared, Space::Global};
  const Address address = windowAddress(scope, random.pick(kSpaces), 4, 4);
  return cat("{\n", address.code, "st", address.space, ".f32 [", address.operand, "], ", from, ";\nld", address.space,
             ".f32 ", to, ", [", address.operand, "];\n}\n");
}

}  // namespace

std::string disguise(Random& random, Scope& scope, const Place& place, const std::string& to, const std::string& from) {
  switch (random.below(place.mask.empty() ? 8 : 10)) {
    case 0: return cat("mov.f32 ", to, ", ", from, ";\n");
    case 1:
    case 2:
    case 3: return throughInteger(random, scope, to, from);
    case 4:
    case 5: return throughArithmetic(random, scope, to, from);
    case 6:
    case 7: return throughMemory(random, scope, to, from);
    default: return throughLane(random, place.mask, to, from);
  }
}

}  // namespace mulciber::random_ptx
