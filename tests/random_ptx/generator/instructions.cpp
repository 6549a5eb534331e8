// Statements that are instructions of the table, as the conformance cases have them.
#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <utility>

#include "conformance/suite/kernels.h"
#include "random_ptx/generator/scope.h"
#include "translator/ptx/parser.h"
#include "translator/ptx/verifier.h"

namespace mulciber::random_ptx {
namespace {

using conformance::Case;
using conformance::Values;
using ptx::Opcode;

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Sums and products that name no rounding may be fused.
bool mayBeFused(const Case& one) {
  const Opcode op = one.form->opcode;
  if (op != Opcode::Add && op != Opcode::Sub && op != Opcode::Mul) return false;
  const std::string name = one.instruction();
  if (!contains(name, ".f16") && !contains(name, ".bf16") && !contains(name, ".f32") && !contains(name, ".f64"))
    return false;
  return !contains(name, ".rn") && !contains(name, ".rz") && !contains(name, ".rm") && !contains(name, ".rp");
}

// Some cases are there to be refused.
bool isAccepted(const Case& one) {
  Diagnostics diagnostics;
  const auto module = ptx::parse(conformance::kernelText({&one}, 1), one.name, diagnostics);
  return module && ptx::verify(module->module, module->source, diagnostics);
}

bool isDetermined(const Case& one) {
  const std::string name = one.instruction();
  for (const char* word : {"approx", ".full", "tanh"})
    if (contains(name, word)) return false;
  return !mayBeFused(one);
}

// Results depend on the bits of a NaN.
bool readsNanBits(const Case& one) {
  const std::string name = one.instruction();
  for (const char* word : {"copysign", "xorsign", ".oob", "e4m3", "e5m2", "tf32", "st.", "atom.", "red."})
    if (contains(name, word)) return true;
  return false;
}

bool hasRegisters(const Case& one) {
  for (const conformance::Input& input : one.inputs)
    if (!poolFor(input.type, input.values)) return false;
  for (size_t i = 0; i < one.results.size(); ++i)
    if (!poolFor(one.results[i], one.formats[i])) return false;
  return true;
}

// Cases by opcode, so that those with thousands of forms do not crowd out the others.
class Catalogue {
 public:
  static const Catalogue& get() {
    static const Catalogue catalogue;
    return catalogue;
  }
  const Case& pick(Random& random, const std::vector<std::vector<const Case*>>& groups) const {
    for (;;)
      if (const Case& one = *random.pick(random.pick(groups)); isAccepted(one)) return one;
  }

  std::vector<std::vector<const Case*>> values, uniform, accesses;

 private:
  Catalogue() : cases_(conformance::allCases()) {
    std::map<Opcode, std::vector<const Case*>> valueGroups, uniformGroups, accessGroups;
    for (const Case& one : cases_) {
      if (one.usesWarp || !isDetermined(one) || !hasRegisters(one)) continue;
      const Opcode op = one.form->opcode;
      if (op == Opcode::Ld || op == Opcode::Ldu || op == Opcode::St || op == Opcode::Atom || op == Opcode::Red) {
        accessGroups[op].push_back(&one);
        continue;
      }
      valueGroups[op].push_back(&one);
      const auto isWord = [](ptx::Type type) { return type == ptx::Type::Pred || type == ptx::Type::B32; };
      if (std::all_of(one.inputs.begin(), one.inputs.end(),
                      [&](const auto& input) { return isWord(input.type) && input.values <= Values::Count; }) &&
          std::all_of(one.results.begin(), one.results.end(), isWord) &&
          std::all_of(one.formats.begin(), one.formats.end(), [](Values v) { return v <= Values::Count; }))
        uniformGroups[op].push_back(&one);
    }
    auto take = [](auto& from, auto& to) {
      for (auto& [op, group] : from) to.push_back(std::move(group));
    };
    take(valueGroups, values);
    take(uniformGroups, uniform);
    take(accessGroups, accesses);
  }

  std::vector<Case> cases_;
};

// `text` with %a0 ... and %d0 ... replaced.
std::string withRegisters(const std::string& text, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& results) {
  std::string made;
  for (size_t i = 0; i < text.size();) {
    const bool isOperand = text[i] == '%' && i + 2 < text.size() && (text[i + 1] == 'a' || text[i + 1] == 'd') &&
                           std::isdigit(static_cast<unsigned char>(text[i + 2]));
    if (!isOperand) {
      made += text[i++];
      continue;
    }
    const bool isResult = text[i + 1] == 'd';
    size_t end = i + 2, number = 0;
    for (; end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])); ++end)
      number = number * 10 + static_cast<size_t>(text[end] - '0');
    made += isResult ? results[number] : inputs[number];
    i = end;
  }
  return made;
}

// The case's code, or another text of it, on registers that `choose` gives; each result has its own.
std::string onRegisters(const Case& one, const std::string& text, const std::function<std::string(char)>& choose) {
  std::vector<std::string> inputs, results;
  std::string prepared;
  for (const conformance::Input& input : one.inputs) {
    const char pool = *poolFor(input.type, input.values);
    std::string name = choose(pool);
    if (poolOf(pool).isFloat && readsNanBits(one)) {
      const std::string from = std::exchange(name, cat("%n", inputs.size()));
      prepared += cat(".reg .", poolOf(pool).type, ' ', name, ";\n", canonical(pool, name, from));
    }
    inputs.push_back(name);
  }
  for (size_t i = 0; i < one.results.size(); ++i) {
    std::string name;
    do name = choose(*poolFor(one.results[i], one.formats[i]));
    while (std::find(results.begin(), results.end(), name) != results.end());
    results.push_back(name);
  }
  const std::string code = withRegisters(text, inputs, results);
  return prepared.empty() && !contains(code, ".reg") ? code : "{\n" + prepared + code + "}\n";
}

}  // namespace

Node valueInstruction(Scope& scope) {
  const Catalogue& catalogue = Catalogue::get();
  for (;;) {
    const Case& one = catalogue.pick(scope.random, catalogue.values);
    if (one.results.size() > 3) continue;  // more than some kinds of registers are there
    return {onRegisters(one, one.code, [&](char pool) { return scope.reg(pool); }), {}};
  }
}

Node uniformInstruction(Scope& scope) {
  const Catalogue& catalogue = Catalogue::get();
  for (;;) {
    const Case& one = catalogue.pick(scope.random, catalogue.uniform);
    if (std::count(one.results.begin(), one.results.end(), ptx::Type::Pred) > 2) continue;
    return {
        onRegisters(one, one.code, [&](char pool) { return pool == 'p' ? scope.uniformPredicate() : scope.uniform(); }),
        {}};
  }
}

Node accessInstruction(Scope& scope) {
  const Catalogue& catalogue = Catalogue::get();
  for (;;) {
    const Case& one = catalogue.pick(scope.random, catalogue.accesses);
    const size_t open = one.name.find('['), close = one.name.find(']');
    const std::string base = one.name.substr(open + 1, close - open - 1);
    const bool isAtomic = one.form->opcode == Opcode::Atom || one.form->opcode == Opcode::Red;
    // What nothing may write is read by other statements; vectors of 4 floats need more registers than there are.
    const std::map<std::string, Space> kSpaces = {{"%global", Space::Global},
                                                  {"%shared", Space::Shared},
                                                  {"%local", Space::Local},
                                                  {"%generic", isAtomic ? Space::GlobalOrShared : Space::Any}};
    const auto space = kSpaces.find(base.substr(0, base.find('+')));
    std::map<char, unsigned> wanted;
    for (size_t i = 0; i < one.results.size(); ++i) ++wanted[*poolFor(one.results[i], one.formats[i])];
    if (space == kSpaces.end() ||
        std::any_of(wanted.begin(), wanted.end(), [](const auto& w) { return w.second > poolOf(w.first).count; }))
      continue;
    // Vectors of atomics are for global memory alone.
    const bool isVector = contains(one.name, "{");
    const Space where = isAtomic && isVector ? Space::Global : space->second;
    const Address address = windowAddress(scope, where, 16, 16);
    std::string text = address.code;
    if (contains(one.name, "%policy"))
      text += ".reg .b64 %policy;\ncreatepolicy.fractional.L2::evict_last.b64 %policy, 0f3F800000;\n";
    text += one.name.substr(0, open) + '[' + address.operand + ']' +
            one.name.substr(close + 1, one.name.find("  //") - close - 1) + ";\n";
    const bool leavesFloats = isAtomic && contains(one.name, "f");
    if (leavesFloats) {  // a sum may be a NaN of any bits
      text +=
          cat("st", address.space, ".v2.b64 [", address.operand, "], {", scope.reg('v'), ", ", scope.reg('v'), "};\n");
    }
    return {onRegisters(one, text, [&](char pool) { return scope.reg(pool); }), {}};
  }
}

Node bridge(Scope& scope) {
  Random& random = scope.random;
  static constexpr std::array<char, 6> kFloats = {'f', 'g', 'k', 'b', 'x', 'y'};
  const char from = random.pick(kFloats);
  const char to = from == 'f' || from == 'x' || from == 'y' ? 'r' : from == 'g' ? 'v' : 'h';
  if (random.chance(55)) return {canonical(from, scope.reg(to), scope.reg(from)), {}};
  return {cat("mov.", poolOf(to).type, ' ', scope.reg(from), ", ", scope.reg(to), ";\n"), {}};
}

Node carryChain(Scope& scope) {
  Random& random = scope.random;
  const bool isWide = random.chance(40), isSub = random.chance(40);
  const char pool = isWide ? 'v' : 'r';
  const std::string type = isWide ? ".u64 " : ".u32 ";
  const std::string first = isSub ? "sub" : "add", next = isSub ? "subc" : "addc";
  std::string text;
  const unsigned words = 2 + random.below(3);
  for (unsigned i = 0; i < words; ++i) {
    const bool isLast = i + 1 == words;
    const bool isProduct = !isSub && random.chance(30);
    std::string name = i == 0 ? first : next;
    if (isProduct) name = std::string(i == 0 ? "mad" : "madc") + (random.chance(50) ? ".lo" : ".hi");
    text += name + (isLast ? "" : ".cc") + type + scope.reg(pool) + ", " + scope.reg(pool) + ", " + scope.reg(pool);
    text += (isProduct ? ", " + scope.reg(pool) : "") + ";\n";
  }
  return {text, {}};
}

}  // namespace mulciber::random_ptx
