// Windows, pointers, tables and cells.
#include <algorithm>

#include "random_ptx/generator/scope.h"

namespace mulciber::random_ptx {
namespace {

const char* baseOf(Space space) {
  return space == Space::Global ? "%global" : space == Space::Shared ? "%shared" : "%local";
}

const char* suffixOf(Space space) {
  switch (space) {
    case Space::Global: return ".global";
    case Space::Shared: return ".shared";
    case Space::Local: return ".local";
    default: return "";
  }
}

Space oneSpace(Scope& scope) {
  static constexpr std::array<Space, 3> kSpaces = {Space::Global, Space::Shared, Space::Local};
  return scope.random.pick(kSpaces);
}

std::string signedText(int64_t value) { return "+" + std::to_string(value); }

int64_t distance(Random& random) {
  static constexpr std::array<int64_t, 14> kDistances = {8,   -8,   16,    -16,   32,     -32,     64,
                                                         -64, 4096, -4096, 65536, -65536, 1 << 20, -(1 << 20)};
  return random.pick(kDistances);
}

}  // namespace

Address windowAddress(Scope& scope, Space space, unsigned bytes, unsigned alignment) {
  Random& random = scope.random;
  Address address{"", "", suffixOf(space)};
  std::string base;
  int64_t at = 0;  // of the window within what the base points to
  if (space == Space::Any && random.chance(60)) {
    base = scope.pointer();
    at = -static_cast<int64_t>(kWindowBytes / 2);
  } else if (space == Space::Any) {
    const Space one = oneSpace(scope);
    base = "%base";
    address.code = cat(".reg .b64 %base;\ncvta", suffixOf(one), ".u64 %base, ", baseOf(one), ";\n");
  } else if (space == Space::GlobalOrShared) {
    base = "%base";
    address.code = ".reg .b64 %base;\n";
    if (random.chance(40))
      address.code +=
          cat(".reg .b64 %left, %right;\ncvta.global.u64 %left, %global;\ncvta.shared.u64 %right, %shared;\n"
              "selp.b64 %base, %left, %right, ",
              scope.reg('p'), ";\n");
    else if (random.chance(50)) address.code += "cvta.global.u64 %base, %global;\n";
    else address.code += "cvta.shared.u64 %base, %shared;\n";
  } else {
    base = baseOf(space);
  }
  // Where the access goes: one place, or one of several that a register picks.
  const unsigned places = (kWindowBytes - bytes) / alignment + 1;
  unsigned place = random.below(places), step = 0;
  if (random.chance(25) && places > 4) {
    const unsigned most = std::min(3u, places - 1);  // the index is 0 to `most`, a number less than a power of two
    const unsigned mask = most == 3 ? 3 : 1;
    step = alignment;
    place = random.below(places - mask);
    address.code += cat(".reg .b32 %index;\nand.b32 %index, ", scope.reg('r'), ", ", mask, ";\n");
    address.code += ".reg .b64 %moved;\n";
    if (random.chance(40)) {  // from the far end, backwards
      address.code += cat("mul.lo.s32 %index, %index, -1;\nmad.wide.s32 %moved, %index, ", step, ", ", base, ";\n");
      place += mask;
    } else {
      address.code += cat("mad.wide.u32 %moved, %index, ", step, ", ", base, ";\n");
    }
    base = "%moved";
  }
  int64_t offset = at + static_cast<int64_t>(place) * alignment;
  for (unsigned i = 0; i < 2 && random.chance(35); ++i) {
    const int64_t by = distance(random);
    const std::string to = cat("%added", i);
    address.code += cat(".reg .b64 ", to, ";\n");
    if (random.chance(70)) address.code += cat("add.s64 ", to, ", ", base, ", ", by, ";\n");
    else address.code += cat("sub.s64 ", to, ", ", base, ", ", -by, ";\n");
    offset -= by;
    base = to;
  }
  address.operand = base + (offset == 0 ? "" : signedText(offset));
  return address;
}

Node windowAccess(Scope& scope) {
  Random& random = scope.random;
  const Space space = random.chance(45) ? Space::Any : oneSpace(scope);
  static constexpr std::array<unsigned, 4> kWidths = {8, 16, 32, 64};
  const unsigned bits = random.pick(kWidths);
  unsigned elements = 1;
  if (random.chance(30)) elements = bits == 64 || random.chance(50) ? 2 : 4;
  const unsigned bytes = bits / 8 * elements;
  const bool isLoad = random.chance(50);
  const Address address = windowAddress(scope, space, bytes, bytes);
  // Bytes and words may live in wider registers.
  char pool = bits == 64 ? 'v' : bits == 32 ? 'r' : 'h';
  if (bits < 64 && random.chance(30)) pool = bits == 32 || random.chance(50) ? 'v' : 'r';
  std::vector<std::string> names;
  while (names.size() < elements) {
    const std::string name = scope.reg(pool);
    if (!isLoad || std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string list = names[0];
  for (size_t i = 1; i < names.size(); ++i) list += ", " + names[i];
  if (elements > 1) list = "{" + list + "}";
  static constexpr std::array<char, 3> kKinds = {'b', 'u', 's'};
  std::string name = isLoad ? "ld" : "st";
  if (space != Space::Local && random.chance(15)) name += ".volatile";
  name += address.space;
  name += (elements > 1 ? cat(".v", elements) : "") + cat('.', random.pick(kKinds), bits);
  const std::string place = '[' + address.operand + ']';
  const std::string access = name + ' ' + (isLoad ? list + ", " + place : place + ", " + list) + ";\n";
  return {address.code.empty() ? access : "{\n" + address.code + access + "}\n", {}};
}

Node pointerStatement(Scope& scope) {
  Random& random = scope.random;
  const std::string to = scope.pointer(), from = scope.pointer(), other = scope.pointer();
  switch (random.below(8)) {
    case 0: return {cat("selp.b64 ", to, ", ", from, ", ", other, ", ", scope.reg('p'), ";\n"), {}};
    case 1: return {cat('@', scope.condition(false), " mov.b64 ", to, ", ", from, ";\n"), {}};
    case 2: {  // the two meet after a branch
      const std::string second = scope.label(), end = scope.label();
      return {cat('@', scope.condition(false), " bra ", second, ";\nmov.b64 ", to, ", ", from, ";\nbra ", end, ";\n",
                  second, ":\nmov.b64 ", to, ", ", other, ";\n", end, ":\n"),
              {}};
    }
    case 3: {  // from another state space
      const Space space = oneSpace(scope);
      return {random.chance(50) ? cat("cvta", suffixOf(space), ".u64 ", to, ", ", baseOf(space), ";\nadd.s64 ", to,
                                      ", ", to, ", ", kWindowBytes / 2, ";\n")
                                : cat("add.s64 ", to, ", ", baseOf(space), ", ", kWindowBytes / 2, ";\ncvta",
                                      suffixOf(space), ".u64 ", to, ", ", to, ";\n"),
              {}};
    }
    case 4: {  // through memory, whose bytes are then written again: they are not to be seen in results
      const Address address = windowAddress(scope, random.chance(50) ? Space::Any : oneSpace(scope), 8, 8);
      const std::string name = cat(address.space, ".u64 "), place = cat('[', address.operand, ']');
      return {cat("{\n", address.code, ".reg .b64 %kept;\nst", name, place, ", ", from, ";\nld", name, "%kept, ", place,
                  ";\nst", name, place, ", ", scope.reg('v'), ";\nmov.b64 ", to, ", %kept;\n}\n"),
              {}};
    }
    case 5: {
      static constexpr std::array<const char*, 3> kSpaces = {"global", "shared", "local"};
      return {cat("isspacep.", random.pick(kSpaces), ' ', scope.reg('p'), ", ", from, ";\n"), {}};
    }
    case 6: {
      static constexpr std::array<const char*, 2> kTests = {"eq", "ne"};
      return {cat("setp.", random.pick(kTests), ".u64 ", scope.reg('p'), ", ", from, ", ", other, ";\n"), {}};
    }
    default: {  // an access without a generic address where the pointer allows it
      const Space space = oneSpace(scope);
      const int offset =
          random.between(-static_cast<int>(kWindowBytes) / 8, static_cast<int>(kWindowBytes) / 8 - 1) * 4;
      const std::string end = scope.label();
      return {
          cat("{\n.reg .pred %is;\n.reg .b64 %named;\nisspacep", suffixOf(space), " %is, ", from, ";\n@!%is bra ", end,
              ";\ncvta.to", suffixOf(space), ".u64 %named, ", from, ";\n", random.chance(50) ? "ld" : "ld.volatile",
              space == Space::Local ? "" : suffixOf(space), ".b32 ", scope.reg('r'), ", [",
              space == Space::Local ? from : "%named", signedText(offset), "];\n", end, ":\n}\n"),
          {}};
    }
  }
}

Node tableLoad(Scope& scope) {
  Random& random = scope.random;
  static constexpr std::array<unsigned, 3> kWidths = {16, 32, 64};
  const unsigned bits = random.pick(kWidths), bytes = bits / 8;
  const std::string to = scope.reg(bits == 64 ? 'v' : bits == 32 ? 'r' : 'h'), type = cat(".b", bits, ' ');
  const unsigned kind = random.below(3);
  // Functions do not see the parameters of the kernel.
  if (kind == 0 && !scope.isInFunction) {
    const unsigned at = random.below(scope.program.parameterBytes / bytes) * bytes;
    if (random.chance(60)) return {cat("ld.param", type, to, ", [extra+", at, "];\n"), {}};
    const unsigned start = std::min(at, scope.program.parameterBytes - 64);
    return {cat("{\n.reg .b32 %index;\n.reg .b64 %place;\nand.b32 %index, ", scope.reg('r'), ", ", 64 / bytes - 1,
                ";\nmov.b64 %place, extra;\nmad.wide.u32 %place, %index, ", bytes, ", %place;\nld.param", type, to,
                ", [%place+", start / bytes * bytes, "];\n}\n"),
            {}};
  }
  const bool isConst = kind == 1;
  const std::string name = isConst ? "constants" : "table";
  auto known = std::find_if(scope.program.variables.begin(), scope.program.variables.end(),
                            [&](const Variable& v) { return v.name == name; });
  if (known == scope.program.variables.end()) {
    std::string text = cat(isConst ? ".const" : ".global", " .align 16 .b8 ", name, '[', kWindowBytes, "] = {");
    for (unsigned i = 0; i < kWindowBytes; ++i) text += (i ? "," : "") + std::to_string(random.below(256));
    scope.program.variables.push_back({name, text + "};\n"});
  }
  static constexpr std::array<const char*, 4> kGlobals = {"ld.global", "ld.global.nc", "ldu.global", "ld.global.ca"};
  const std::string load = isConst ? "ld.const" : random.pick(kGlobals);
  const unsigned at = random.below(kWindowBytes / bytes) * bytes;
  if (random.chance(40)) return {cat(load, type, to, ", [", name, '+', at, "];\n"), {}};
  const std::string space = isConst ? ".const" : ".global";
  const bool isGeneric = random.chance(30);
  return {
      cat("{\n.reg .b32 %index;\n.reg .b64 %place;\nand.b32 %index, ", scope.reg('r'), ", ", kWindowBytes / bytes - 1,
          ";\nmov.u64 %place, ", name, ";\n", isGeneric ? "cvta" + space + ".u64 %place, %place;\n" : "",
          "mad.wide.u32 %place, %index, ", bytes, ", %place;\n", isGeneric ? "ld" : load, type, to, ", [%place];\n}\n"),
      {}};
}

Node cellUpdate(Scope& scope) {
  Random& random = scope.random;
  // One operation for each cell, so that its order does not matter. An increment has one limit.
  static constexpr std::array<const char*, kCells> kOperations = {"add.u32", "xor.b32", "max.s32", "inc.u32"};
  static constexpr std::array<const char*, kCells> kWide = {"add.u64", "xor.b64", "min.s64", "or.b64"};
  const bool isGrid = random.chance(50), isWide = random.chance(40);
  const unsigned cell = random.below(kCells);
  const std::string operation = isWide ? kWide[cell] : kOperations[cell];
  const std::string value = operation == "inc.u32" ? "9" : scope.reg(isWide ? 'v' : 'r');
  const unsigned at = (isWide ? kCells * 8 : 0) + cell * 8;
  const bool isGeneric = random.chance(30);
  std::string code = "{\n", place;
  if (isGrid) place = "%cells";
  else code += ".reg .b64 %place;\nmov.u64 %place, cells_;\n", place = "%place";
  const char* space = isGrid ? ".global" : ".shared";
  if (isGeneric) code += cat(".reg .b64 %any;\ncvta", space, ".u64 %any, ", place, ";\n"), place = "%any", space = "";
  const bool isAtom = random.chance(40);
  const std::string guard = random.chance(40) ? "@" + scope.condition(false) + " " : "";
  code += guard;
  if (isAtom) code = code.insert(2, cat(".reg .b", isWide ? 64 : 32, " %old;\n"));
  code += cat(isAtom ? "atom" : "red", space, '.', operation, isAtom ? " %old, [" : " [", place, '+', at, "], ", value,
              ";\n}\n");
  return {code, {}};
}

}  // namespace mulciber::random_ptx
