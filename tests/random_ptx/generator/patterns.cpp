// What compilers recognise and replace: bytes moved within words, signs of narrow numbers, roots and quotients that are
// whole routines, single bits, arrays in private memory, and what loops make alike in each round.
#include "random_ptx/generator/scope.h"

namespace mulciber::random_ptx {
namespace {

constexpr std::array<const char*, 4> kJoins = {"or.b32", "or.b32", "xor.b32", "add.u32"};

std::string hex(uint32_t value) {
  std::ostringstream stream;
  stream << "0x" << std::hex << std::uppercase << value;
  return stream.str();
}

// Bytes of one or two words to other places of a word, whose rest is zeros, a constant, or of a third word.
Node byteMoves(Scope& scope) {
  Random& random = scope.random;
  const std::string first = scope.reg('r'), second = random.chance(50) ? first : scope.reg('r');
  std::string code = "{\n.reg .b32 %all, %part;\nmov.b32 %all, 0;\n";
  const std::string join = cat(random.pick(kJoins), " %all, %all, %part;\n");
  uint32_t rest = ~0u;
  for (unsigned moves = 1 + random.below(4), i = 0; i < moves; ++i) {
    const unsigned from = random.below(4), to = random.below(4), mask = 0xFFu << 8 * to;
    if ((rest & mask) == 0) continue;  // has its byte
    rest &= ~mask;
    const std::string word = random.chance(50) ? first : second;
    const char* shift = to > from ? "shl.b32" : "shr.u32";
    const unsigned distance = 8 * (to > from ? to - from : from - to);
    if (random.chance(60)) {
      code += cat(shift, " %part, ", word, ", ", distance, ";\nand.b32 %part, %part, ", hex(mask), ";\n");
    } else {
      code += cat("bfe.u32 %part, ", word, ", ", 8 * from, ", 8;\nshl.b32 %part, %part, ", 8 * to, ";\n");
    }
    code += join;
  }
  if (random.chance(70)) {
    if (random.chance(50)) code += cat("mov.b32 %part, ", hex(static_cast<uint32_t>(random.bits()) & rest), ";\n");
    else code += cat("and.b32 %part, ", scope.reg('r'), ", ", hex(rest), ";\n");
    code += join;
  }
  return {code + cat("mov.b32 ", scope.reg('r'), ", %all;\n}\n"), {}};
}

// A sum, difference or the like of which a conversion takes 8 or 16 bits.
Node narrowSigns(Scope& scope) {
  Random& random = scope.random;
  const bool isHalf = random.chance(60);
  const char pool = isHalf ? 'h' : 'r';
  const std::string bits = isHalf ? "16" : "32", x = scope.reg(pool), y = scope.reg(pool);
  std::string code = "{\n.reg .b" + bits + " %all;\n";
  switch (random.below(8)) {
    case 0:
    case 1: code += cat("neg.s", bits, " %all, ", x, ";\n"); break;
    case 2: code += cat("sub.s", bits, " %all, ", x, ", ", y, ";\n"); break;
    case 3: code += cat("not.b", bits, " %all, ", x, ";\nadd.s", bits, " %all, %all, ", random.below(3), ";\n"); break;
    case 4: code += cat("mul.lo.s", bits, " %all, ", x, ", ", random.chance(50) ? "-1" : y, ";\n"); break;
    case 5: code += cat("abs.s", bits, " %all, ", x, ";\n"); break;
    case 6: code += cat("shl.b", bits, " %all, ", x, ", ", random.below(9), ";\n"); break;
    default: code += cat("min.s", bits, " %all, ", x, ", ", y, ";\n"); break;
  }
  const bool isWide = random.chance(40);
  const char* kind = random.chance(75) ? "s" : "u";
  const char* narrow = random.chance(70) ? "8" : "16";
  return {
      code + cat("cvt.", kind, isWide ? 64 : 32, '.', kind, narrow, ' ', scope.reg(isWide ? 'v' : 'r'), ", %all;\n}\n"),
      {}};
}

// Drivers call routines for these.
Node routineCall(Scope& scope) {
  Random& random = scope.random;
  static constexpr std::array<const char*, 5> kOnes = {"sqrt.rn", "rcp.rn", "sqrt.rz", "sqrt.rp", "rcp.rm"};
  const bool isDouble = random.chance(60);
  const char pool = isDouble ? 'g' : 'f';
  const std::string type = isDouble ? ".f64 " : ".f32 ", to = scope.reg(pool), x = scope.reg(pool);
  if (random.chance(40)) return {cat("div.rn", type, to, ", ", x, ", ", scope.reg(pool), ";\n"), {}};
  return {cat(random.pick(kOnes), type, to, ", ", x, ";\n"), {}};
}

// An array of 16 bytes: filled, changed in parts by a loop, read again.
Node privateArray(Scope& scope) {
  Random& random = scope.random;
  static constexpr std::array<unsigned, 3> kWidths = {8, 16, 32};
  constexpr unsigned bytes = 16;
  const unsigned alignment = 8 << random.below(5);
  const std::string begin = scope.label(), end = scope.label(), first = scope.reg('v');
  // The place of an element: constant, or one that a register picks.
  const auto element = [&](unsigned bits, std::string& code) {
    const unsigned count = bytes * 8 / bits;
    if (random.chance(60)) return cat("[array+", random.below(count) * bits / 8, ']');
    code += cat("and.b32 %index, ", scope.reg('r'), ", ", count - 1, ";\nmov.u64 %place, array;\n");
    if (alignment >= bytes && random.chance(50))
      code += cat("mul.wide.u32 %offset, %index, ", bits / 8, ";\nor.b64 %place, %place, %offset;\n");
    else code += cat("mad.wide.u32 %place, %index, ", bits / 8, ", %place;\n");
    return std::string("[%place]");
  };
  std::string code =
      cat("{\n.local .align ", alignment, " .b8 array[", bytes,
          "];\n.reg .b64 %place, %offset;\n.reg .b32 %index, %turns;\n.reg .pred %more;\nst.local.b64 [array], ", first,
          ";\nst.local.b64 [array+8], ", random.chance(50) ? first : scope.reg('v'), ";\n");
  code += random.chance(30) ? cat("mov.b32 %turns, ", 1 + random.below(4), ";\n")
                            : cat("and.b32 %turns, ", scope.reg('r'), ", 3;\n");
  code += begin + ":\nsub.s32 %turns, %turns, 1;\n";
  if (random.chance(40))
    code += cat("ld", random.chance(50) ? ".volatile" : "", ".global.b32 ", scope.reg('r'), ", [%global];\n");
  if (random.chance(40)) code += cat('@', scope.condition(false), " bra ", end, ";\n");
  for (unsigned i = 1 + random.below(2); i > 0; --i) {
    const unsigned bits = random.pick(kWidths);
    const std::string place = element(bits, code);
    code += cat("st.local.b", bits, ' ', place, ", ", scope.reg(bits == 32 ? 'r' : 'h'), ";\n");
  }
  code += cat("setp.gt.s32 %more, %turns, 0;\n@%more bra ", begin, ";\n", end, ":\n");
  const unsigned bits = random.pick(kWidths);
  const std::string place = element(bits, code);
  code += cat("ld.local.", random.chance(50) ? 's' : 'u', bits, ' ', scope.reg('r'), ", ", place, ";\nld.local.b64 ",
              scope.reg('v'), ", [array", random.chance(50) ? "+8" : "", "];\n");
  if (alignment > bytes && random.chance(50)) {  // the low bits of its address are 0
    const std::string changed = scope.reg('v');
    code += cat("mov.u64 %offset, array;\nand.b64 %offset, %offset, ", alignment - 1, ";\nadd.u64 ", changed, ", ",
                changed, ", %offset;\n");
  }
  code += "}\n";
  return {code, {}};
}

// A loop that makes the same in each round and that lanes leave at two places, with other values; in another loop,
// whose next round begins with what they left with, or not.
Node sameEachRound(Scope& scope) {
  Random& random = scope.random;
  static constexpr std::array<const char*, 5> kMakes = {
      "not.b32 %same, %start;\n", "neg.s32 %same, %start;\n", "xor.b32 %same, %start, %other;\n",
      "mad.lo.s32 %same, %start, %start, %other;\n", "shl.b32 %same, %start, 3;\n"};
  const std::string outer = scope.label(), begin = scope.label(), end = scope.label();
  const bool isNested = random.chance(50), isMadeBefore = random.chance(50);
  const std::string start = cat(isMadeBefore ? "sub.u32" : "mov.b32", " %start, ", scope.reg('r'),
                                isMadeBefore ? ", " + scope.reg('r') : "", ";\n");
  const auto step = cat("sub.s32 %rounds, %rounds, 1;\nsetp.le.s32 %last, %rounds, 0;\n@%last bra ", end, ";\n");
  std::string code = cat("{\n.reg .b32 %start, %other, %same, %left, %rounds, %turns;\n.reg .pred %last;\n", start,
                         "mov.b32 %turns, 2;\nmov.b32 %other, ", scope.reg('r'), ";\n", outer, ":\nand.b32 %rounds, ",
                         scope.reg('r'), ", 7;\n", begin, ":\n", random.pick(kMakes));
  if (random.chance(60)) code += cat("ld.volatile.global.b32 ", scope.reg('r'), ", [%global];\n");
  code += cat("mov.b32 %left, ", random.chance(60) ? "%start" : "%same", ";\n", step, '@', scope.condition(false),
              " bra ", begin, ";\nmov.b32 %left, ", random.chance(50) ? hex(random.below(100)) : scope.reg('r'), ";\n",
              step, "bra ", begin, ";\n", end, ":\n", random.pick(kJoins), ' ', scope.reg('r'), ", %left, %same;\n");
  if (isNested)
    code += cat("mov.b32 %start, %left;\nsub.s32 %turns, %turns, 1;\nsetp.gt.s32 %last, %turns, 0;\n@%last bra ", outer,
                ";\n");
  return {code + "}\n", {}};
}

// What is made of a single bit of a number, or of two.
Node fewBits(Scope& scope) {
  Random& random = scope.random;
  const bool isWide = random.chance(40);
  const char pool = isWide ? 'v' : 'r';
  const std::string bits = isWide ? "64" : "32", x = scope.reg(pool), y = scope.reg(pool), z = scope.reg(pool);
  std::string code = cat("{\n.reg .b", bits, " %bit;\n.reg .pred %is;\n");
  switch (random.below(6)) {
    case 0:
    case 1: code += cat("and.b", bits, " %bit, ", x, ", ", 1 + random.below(3), ";\n"); break;
    case 2: code += cat("bfe.u", bits, " %bit, ", x, ", ", random.below(4), ", 1;\n"); break;
    case 3: code += cat("shr.u", bits, " %bit, ", x, ", ", isWide ? 63 : 31, ";\n"); break;
    case 4: code += cat("rem.u", bits, " %bit, ", x, ", 2;\n"); break;
    default: code += cat("not.b", bits, " %bit, ", x, ";\nand.b", bits, " %bit, %bit, 1;\n"); break;
  }
  const std::string other = random.chance(50) ? y : cat(3 + random.below(100));
  switch (random.below(7)) {
    case 0: code += cat("mul.lo.u", bits, ' ', z, ", %bit, ", other, ";\n"); break;
    case 1: code += cat("mad.lo.u", bits, ' ', z, ", %bit, ", other, ", ", y, ";\n"); break;
    case 2: code += cat("neg.s", bits, " %bit, %bit;\nand.b", bits, ' ', z, ", %bit, ", y, ";\n"); break;
    case 3: code += cat("sub.u", bits, ' ', z, ", ", y, ", %bit;\n"); break;
    case 4: code += cat("cvt.rn.f64.u", bits, ' ', scope.reg('g'), ", %bit;\n"); break;
    case 5: code += cat("cvt.rn.f32.u", bits, ' ', scope.reg('f'), ", %bit;\n"); break;
    default:
      code += cat("setp.", random.chance(50) ? "ne" : "eq", ".u", bits, " %is, %bit, 1;\nselp.b", bits, ' ', z, ", ", y,
                  ", ", other, ", %is;\n");
  }
  return {code + "}\n", {}};
}

// Sums of parts that stay the same, which some lanes make in each turn of a loop while others set words or do nothing.
Node repeatedSums(Scope& scope) {
  Random& random = scope.random;
  const std::string begin = scope.label(), other = scope.label(), met = scope.label();
  const std::string x = scope.reg('r'), y = scope.reg('r'), low = scope.reg('r'), high = scope.reg('r');
  static constexpr std::array<const char*, 8> kParts = {
      "shr.u32 %part, %x, 29;\n",    "shr.s32 %part, %x, 3;\n",     "shl.b32 %part, %x, 3;\n",
      "mul.hi.u32 %part, %x, %y;\n", "mul.hi.s32 %part, %x, 99;\n", "shf.l.wrap.b32 %part, %x, %y, 5;\n",
      "bfe.u32 %part, %x, 3, 9;\n",  "mul.lo.u32 %part, %x, %y;\n"};
  static constexpr std::array<const char*, 5> kSums = {
      "add.u32 %high, %high, %part;\n", "add.u32 %high, %high, %y;\nadd.u32 %high, %high, %part;\n",
      "add.cc.u32 %low, %x, %part;\naddc.u32 %high, %high, %y;\n",
      "mov.b64 %pair, {%part, %high};\nmad.wide.u32 %pair, %x, %y, %pair;\nmov.b64 {%low, %high}, %pair;\n",
      "mad.lo.u32 %high, %high, 3, %part;\nsub.u32 %low, %low, %part;\n"};
  static constexpr std::array<const char*, 4> kOthers = {"mov.u32 %low, 77;\n", "", "mov.u32 %high, 5;\n",
                                                         "mov.b32 %low, {7, 9};\nmov.u32 %high, %x;\n"};
  std::string code = cat("{\n.reg .b32 %x, %y, %low, %high, %part, %turns;\n.reg .b64 %pair;\n.reg .pred %more;\n",
                         "mov.b32 %x, ", x, ";\nmov.b32 %y, ", y, ";\nmov.b32 %low, ", low, ";\nmov.b32 %high, ", high,
                         ";\n", random.chance(60) ? cat("and.b32 %turns, %x, 3;\n") : cat("mov.b32 %turns, 3;\n"),
                         begin, ":\nsub.s32 %turns, %turns, 1;\n@", scope.condition(false), " bra ", other, ";\n",
                         random.pick(kParts), random.pick(kSums));
  if (random.chance(30)) code += random.pick(kSums);
  code += cat("bra ", met, ";\n", other, ":\n", random.pick(kOthers), met, ":\n");
  if (random.chance(30))
    code += cat("st.global.v2.b32 [%global], {", random.chance(50) ? "%x" : "%low", ", ", 1 + random.below(9), "};\n");
  return {code + cat("setp.gt.s32 %more, %turns, 0;\n@%more bra ", begin, ";\nmov.b32 ", low, ", %low;\nmov.b32 ", high,
                     ", %high;\n}\n"),
          {}};
}

}  // namespace

Node patternStatement(Scope& scope) {
  const unsigned kind = scope.random.below(18);
  if (kind >= 15) return fewBits(scope);
  if (kind >= 13) return repeatedSums(scope);
  if (kind < 3) return byteMoves(scope);
  if (kind < 5) return narrowSigns(scope);
  if (kind < 7) return routineCall(scope);
  if (kind < 10) return privateArray(scope);
  return sameEachRound(scope);
}

}  // namespace mulciber::random_ptx
