#include "support/random_ptx.h"

#include <random>
#include <vector>

namespace mulciber::test {
namespace {

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}
  std::string module();

 private:
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  template <size_t N>
  std::string any(const char* const (&words)[N]) {
    return words[below(N)];
  }
  std::string fresh(const char* prefix) { return prefix + std::to_string(++names_); }

  std::string constant();
  std::string operand();
  std::string address();
  std::string instruction();
  std::string variable(const std::string& linkage);
  std::string initializer(const std::vector<uint32_t>& dimensions, size_t level);
  std::string parameters(const char* space);
  std::string body(uint32_t depth);
  std::string function();

  std::mt19937 random_;
  uint32_t names_ = 0;
  std::vector<std::string> variables_, functions_;
  std::vector<std::string> labels_;
};

std::string Generator::constant() {
  switch (below(9)) {
    case 0: return std::to_string(below(1000));
    case 1: return "-" + std::to_string(random_());
    case 2: return "0x" + std::to_string(below(99999)) + "U";
    case 3: return "18446744073709551615";
    case 4: return "(" + constant() + " + 3)";
    case 5: return "~" + std::to_string(below(8));
    case 6: return std::to_string(below(9)) + " < 4 ? WARP_SZ : 1 << " + std::to_string(below(70));
    case 7: return "(.u64)(.s64)-" + std::to_string(below(5)) + " / 3";
    default: return "-9223372036854775807 - 1";
  }
}

std::string Generator::address() {
  std::string base =
      chance(70) || variables_.empty() ? "%rd" + std::to_string(below(8)) : variables_[below(variables_.size())];
  if (chance(50)) base += "+" + std::to_string(static_cast<int>(below(64)) - 32);
  return "[" + base + "]" + (chance(5) ? ".unified" : "");
}

std::string Generator::operand() {
  switch (below(12)) {
    case 0: return constant();
    case 1: return any({"1.5", "-2e10", "0f3F800000", "0d7FF8000000000001", ".25 * 4."});
    case 2: return address();
    case 3: return any({"%tid.x", "%ctaid", "%laneid", "%clock64", "%ntid.w", "WARP_SZ"});
    case 4: return "{%r1, _, " + constant() + ", %r" + std::to_string(below(40)) + "}";
    case 5: return any({"!%p1", "-%r3", "%p1|%p2", "_|%p0", "%r4.b0", "%r5.h10", "%r6.b3210", "%v1.y"});
    case 6:
      if (!variables_.empty()) return variables_[below(variables_.size())] + (chance(50) ? "+8" : "");
      return "%r0";
    case 7: return functions_.empty() ? "%r9" : functions_[below(functions_.size())];
    case 8: return "[%rd1, {%f1, %f2, %f3, %f4}]";
    default: return "%" + any({"r", "rd", "f", "p"}) + std::to_string(below(8));
  }
}

std::string Generator::instruction() {
  std::string text;
  if (chance(20)) text += chance(50) ? "@%p1 " : "@!%p2 ";
  switch (below(6)) {
    case 0:
      if (!labels_.empty()) return text + "bra" + (chance(50) ? ".uni " : " ") + labels_[below(labels_.size())] + ";\n";
      return text + "ret;\n";
    case 1:
      if (!functions_.empty())
        return text + "call " + functions_[below(functions_.size())] + ", (" + constant() + ", %r1);\n";
      return text + "exit;\n";
    default: break;
  }
  text += any({"add", "ld", "mov", "tex", "cvt", "setp", "atom", "mma", "vadd4", "cp", "mbarrier"});
  for (uint32_t i = below(4); i > 0; --i)
    text += any({".u32", ".f32", ".global", ".rn", ".shared::cta", ".m16n8k16", ".v4", ".b1024", ".2d", ".L2::128B"});
  for (uint32_t i = 0, count = below(5); i < count; ++i) text += (i == 0 ? " " : ", ") + operand();
  return text + ";\n";
}

std::string Generator::initializer(const std::vector<uint32_t>& dimensions, size_t level) {
  if (level == dimensions.size()) return std::to_string(below(256));
  std::string text = "{";
  for (uint32_t i = 0, count = below(dimensions[level] + 1); i < count; ++i)
    text += (i == 0 ? "" : ", ") + initializer(dimensions, level + 1);
  return text + "}";
}

std::string Generator::variable(const std::string& linkage) {
  const std::string name = fresh("v");
  std::string text = linkage + any({".global ", ".const "});
  if (chance(40)) text += any({".align 4 ", ".align 16 ", ".align 256 "});
  text += any({".u8 ", ".b32 ", ".s16 ", ".u64 ", ".s64 ", ".b8 "}) + name;
  std::vector<uint32_t> dimensions;
  for (uint32_t i = below(4); i > 0; --i) dimensions.push_back(1 + below(4));
  for (uint32_t count : dimensions) text += "[" + std::to_string(count) + "]";
  if (chance(50) && !linkage.starts_with(".extern")) text += " = " + initializer(dimensions, 0);
  variables_.push_back(name);
  text += ";\n";
  if (chance(20)) {
    const std::string pointers = fresh("v");
    text += ".global .u64 " + pointers + "[3] = {" + name + ", generic(" + name + ")+4";
    if (!functions_.empty()) text += ", " + functions_[below(functions_.size())];
    text += "};\n";
  }
  return text;
}

std::string Generator::parameters(const char* space) {
  std::string text = "(";
  for (uint32_t i = 0, count = below(4); i < count; ++i)
    text += std::string(i == 0 ? "" : ", ") + space + any({" .b32 ", " .u64 ", " .align 8 .f64 "}) + fresh("a");
  return text + ")";
}

std::string Generator::body(uint32_t depth) {
  std::string text = "{\n.reg .b32 %r<40>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p<8>; .reg .v4 .f32 %v<2>;\n";
  const size_t outerVariables = variables_.size(), outerLabels = labels_.size();
  if (chance(40)) {
    variables_.push_back(fresh("l"));
    text += any({".local", ".shared", ".param"}) + " .align 8 .b8 " + variables_.back() + "[16];\n";
  }
  const bool shadows = depth > 0 && !labels_.empty() && chance(40);
  if (!shadows) labels_.push_back(fresh("$L"));
  const std::string own = labels_.back();
  for (uint32_t i = below(8); i > 0; --i) text += chance(15) && depth < 4 ? body(depth + 1) : instruction();
  text += own + ":\n";
  for (uint32_t i = below(8); i > 0; --i)
    text += chance(5) ? "t" + own + std::to_string(++names_) + ": .branchtargets " + own + ";\n" : instruction();
  variables_.resize(outerVariables);
  labels_.resize(outerLabels);
  return text + "}\n";
}

std::string Generator::function() {
  const std::string name = fresh("f");
  const std::string linkage = any({"", ".visible ", ".weak "});
  if (chance(30))
    return any({".visible ", ""}) + std::string(".entry ") + name + parameters(".param") + "\n.maxntid 64\n" + body(0);
  const std::string header = linkage + ".func " + (chance(50) ? "(.param .b32 r) " : "") + name + parameters(".param");
  functions_.push_back(name);
  if (chance(20)) return header + ";\n";
  const std::string early = chance(30) ? header + ";\n" + (chance(50) ? function() : "") : "";
  return early + header + "\n" + body(0);
}

std::string Generator::module() {
  std::string text = ".version 8.5\n.target sm_90\n.address_size 64\n";
  for (uint32_t i = 3 + below(8); i > 0; --i)
    text += chance(50) ? variable(any({"", ".visible ", ".weak ", ".extern ", ".common "})) : function();
  return text;
}

}  // namespace

std::string randomPtx(uint32_t seed) { return Generator(seed).module(); }

}  // namespace mulciber::test
