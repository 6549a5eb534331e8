// Matrix instructions of whole warps, and copies that run beside the code. Sums are exact in any order: of integers, or
// of floats that are small whole numbers.
#include <algorithm>

#include "random_ptx/generator/scope.h"

namespace mulciber::random_ptx {
namespace {

std::string braces(const std::vector<std::string>& registers) {
  std::string text;
  for (const std::string& one : registers) text += (text.empty() ? "{" : ", ") + one;
  return text + "}";
}

// Registers of the pool %r, each once where `areDifferent`.
std::vector<std::string> words(Scope& scope, unsigned count, bool areDifferent = false) {
  std::vector<std::string> names;
  while (names.size() < count) {
    std::string name = scope.reg('r');
    if (!areDifferent || std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

struct Product {
  const char* shape;
  unsigned a, b, c;  // registers
};

Node productOfIntegers(Scope& scope) {
  Random& random = scope.random;
  static constexpr std::array<Product, 3> kBytes = {
      {{"m8n8k16", 1, 1, 2}, {"m16n8k16", 2, 1, 4}, {"m16n8k32", 4, 2, 4}}};
  static constexpr std::array<Product, 3> kNibbles = {
      {{"m8n8k32", 1, 1, 2}, {"m16n8k32", 2, 1, 4}, {"m16n8k64", 4, 2, 4}}};
  static constexpr std::array<Product, 3> kBits = {
      {{"m8n8k128", 1, 1, 2}, {"m16n8k128", 2, 1, 4}, {"m16n8k256", 4, 2, 4}}};
  const unsigned bits = random.chance(50) ? 8 : random.chance(50) ? 4 : 1;
  const Product& one = random.pick(bits == 8 ? kBytes : bits == 4 ? kNibbles : kBits);
  auto type = [&] { return bits == 1 ? "b1" : cat(random.chance(50) ? 's' : 'u', bits); };
  const std::string last = bits > 1 ? "" : random.chance(50) ? ".and.popc" : ".xor.popc";
  const std::string a = type(), b = type(), clamps = bits > 1 && random.chance(30) ? ".satfinite" : "";
  return {cat("mma.sync.aligned.", one.shape, ".row.col", clamps, ".s32.", a, '.', b, ".s32", last, ' ',
              braces(words(scope, one.c, true)), ", ", braces(words(scope, one.a)), ", ", braces(words(scope, one.b)),
              ", ", braces(words(scope, one.c)), ";\n"),
          {}};
}

// Code that makes `to` a register of a fragment, of numbers from -4 to 3 that the bits of a register choose.
std::string factors(Scope& scope, const std::string& type, const std::string& to) {
  const std::string from = scope.reg('r');
  auto number = [&](unsigned shift) {
    return cat("shr.u32 %n, ", from, ", ", shift, ";\nand.b32 %n, %n, 7;\nsub.s32 %n, %n, 4;\n");
  };
  if (type == "tf32") return number(0) + cat("cvt.rn.f32.s32 %single, %n;\nmov.b32 ", to, ", %single;\n");
  return number(3) + cat("cvt.rn.", type, ".s32 %low, %n;\n") + number(13) +
         cat("cvt.rn.", type, ".s32 %high, %n;\nmov.b32 ", to, ", {%low, %high};\n");
}

Node productOfFloats(Scope& scope) {
  Random& random = scope.random;
  static constexpr std::array<const char*, 3> kTypes = {"f16", "bf16", "tf32"};
  static constexpr std::array<Product, 2> kHalves = {{{"m16n8k8", 2, 1, 4}, {"m16n8k16", 4, 2, 4}}};
  static constexpr std::array<Product, 2> kSingles = {{{"m16n8k4", 2, 1, 4}, {"m16n8k8", 4, 2, 4}}};
  const std::string type = random.pick(kTypes);
  const Product& one = random.pick(type == "tf32" ? kSingles : kHalves);
  std::string text = "{\n.reg .b32 %n, %a<4>, %b<2>;\n.reg .b16 %low, %high;\n.reg .f32 %single, %sum<4>;\n";
  std::vector<std::string> a, b, sums;
  for (unsigned i = 0; i < one.a; ++i) text += factors(scope, type, a.emplace_back(cat("%a", i)));
  for (unsigned i = 0; i < one.b; ++i) text += factors(scope, type, b.emplace_back(cat("%b", i)));
  for (unsigned i = 0; i < one.c; ++i)
    text +=
        cat("and.b32 %n, ", scope.reg('r'), ", 1023;\ncvt.rn.f32.s32 ", sums.emplace_back(cat("%sum", i)), ", %n;\n");
  text += cat("mma.sync.aligned.", one.shape, ".row.col.f32.", type, '.', type, ".f32 ", braces(sums), ", ", braces(a),
              ", ", braces(b), ", ", braces(sums), ";\n");
  for (const std::string& sum : sums) text += cat("cvt.rzi.s32.f32 ", scope.reg('r'), ", ", sum, ";\n");
  return {text + "}\n", {}};
}

// The lanes' rows are the halves of the windows of their warp, each of one lane; another warp has no part in them.
Node matricesInWindows(Scope& scope, const std::string& mask) {
  Random& random = scope.random;
  const bool isLoad = random.chance(60), isGeneric = random.chance(30), isTransposed = random.chance(50);
  const unsigned count = 1u << random.below(3);
  std::string text = cat("{\n.reg .b32 %id, %other;\n.reg .b64 %theirs;\nand.b32 %id, %lane, 31;\n");
  switch (random.below(3)) {
    case 0: text += "mov.b32 %other, %id;\n"; break;
    case 1: text += cat("xor.b32 %other, %id, ", 1 + random.below(31), ";\n"); break;
    default: text += cat("sub.u32 %other, ", 31 + 32 * random.below(2), ", %id;\nand.b32 %other, %other, 31;\n"); break;
  }
  text += cat("sub.s32 %other, %other, %id;\nmad.wide.s32 %theirs, %other, ", kWindowBytes, ", %shared;\n",
              isGeneric ? "cvta.shared.u64 %theirs, %theirs;\n" : "", "bar.warp.sync ", mask, ";\n");
  const std::string place = cat("[%theirs+", random.below(kWindowBytes / 16) * 16, ']');
  const std::string name = cat(isLoad ? "ld" : "st", "matrix.sync.aligned.m8n8.x", count, isTransposed ? ".trans" : "",
                               isGeneric ? "" : ".shared", ".b16 ");
  const std::string registers = braces(words(scope, count, isLoad));
  text += name + (isLoad ? registers + ", " + place : place + ", " + registers);
  return {text + cat(";\nbar.warp.sync ", mask, ";\n}\n"), {}};
}

// All 1,024 bytes of the windows of a warp are the sums; some of them are bytes of A and B.
Node wmma(Scope& scope, const std::string& mask) {
  Random& random = scope.random;
  static constexpr std::array<const char*, 3> kShapes = {"m16n16k16", "m32n8k16", "m8n32k16"};
  const unsigned kind = random.below(kShapes.size());
  const std::string shape = kShapes[kind], type = random.chance(50) ? "s8" : "u8";
  static constexpr unsigned kRegisters[] = {2, 4, 1};  // of A; of B the other way round
  auto layout = [&] { return random.chance(50) ? "row" : "col"; };
  auto list = [](char name, unsigned count) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < count; ++i) names.push_back(cat('%', name, i));
    return braces(names);
  };
  const std::string a = list('a', kRegisters[kind]), b = list('b', kRegisters[kind == 0 ? 0 : 3 - kind]),
                    d = list('d', 8);
  const std::string layoutOfA = layout(), layoutOfB = layout();
  auto load = [&](const char* which, const std::string& of, const std::string& by, const std::string& registers,
                  unsigned offset) {
    return cat("wmma.load.", which, ".sync.aligned.", by, '.', shape, ".shared.", of, ' ', registers, ", [%begin+",
               offset, "];\n");
  };
  return {cat("{\n.reg .b32 %id, %a<4>, %b<4>, %d<8>;\n.reg .b64 %begin;\nand.b32 %id, %lane, 31;\nneg.s32 %id, %id;\n",
              "mad.wide.s32 %begin, %id, ", kWindowBytes, ", %shared;\nbar.warp.sync ", mask, ";\n",
              load("a", type, layoutOfA, a, 0), load("b", type, layoutOfB, b, 512), load("c", "s32", layout(), d, 0),
              "bar.warp.sync ", mask, ";\nwmma.mma.sync.aligned.", layoutOfA, '.', layoutOfB, '.', shape, ".s32.", type,
              '.', type, ".s32 ", d, ", ", a, ", ", b, ", ", d, ";\nwmma.store.d.sync.aligned.", layout(), '.', shape,
              ".shared.s32 [%begin], ", d, ";\nbar.warp.sync ", mask, ";\n}\n"),
          {}};
}

}  // namespace

Node matrixStatement(Scope& scope, const Place& place) {
  Random& random = scope.random;
  switch (random.below(6)) {
    case 0:
    case 1: return productOfIntegers(scope);
    case 2: return productOfFloats(scope);
    case 3: return {cat("movmatrix.sync.aligned.m8n8.trans.b16 ", scope.reg('r'), ", ", scope.reg('r'), ";\n"), {}};
    case 4: return wmma(scope, place.mask);
    default: return matricesInWindows(scope, place.mask);
  }
}

// Copies into the thread's window, in groups, with other work between them. A program has them of one size.
Node asyncCopies(Scope& scope) {
  Random& random = scope.random;
  const unsigned bytes = 4u << scope.program.seed % 3, places = kWindowBytes / bytes;
  unsigned first = random.below(places);
  const unsigned count = 1 + random.below(std::min(places, 4u));
  Node node{"", {}};
  unsigned groups = 0;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned to = (first + i) % places * bytes, from = random.below(places) * bytes;
    std::string text = random.chance(25) ? cat("@", scope.condition(false), ' ') : "";
    text += cat("cp.async.", bytes == 16 && random.chance(50) ? "cg" : "ca", ".shared.global [%shared+", to,
                "], [%global+", from, "], ", bytes, ";\n");
    if (random.chance(60)) text += "cp.async.commit_group;\n", ++groups;
    node.children.push_back({text, {}});
    if (random.chance(50)) node.children.push_back(valueInstruction(scope));
    if (random.chance(30)) node.children.push_back({cat("cp.async.wait_group ", random.below(groups + 1), ";\n"), {}});
  }
  node.end = "cp.async.wait_all;\n";
  return node;
}

}  // namespace mulciber::random_ptx
