// Cases of loads, stores and atomics. Every thread has its own bytes in each state space.
#include <algorithm>
#include <array>
#include <optional>

#include "conformance/suite/inputs.h"
#include "conformance/suite/kernels.h"
#include "conformance/suite/operands.h"

namespace mulciber::conformance {

namespace {

constexpr unsigned kOffset = 16;  // of the accessed bytes within a thread's
constexpr unsigned kReadOnlyBytes = 16 * kBlockThreads + 64;

// Memory that no kernel writes.
std::string readOnlyArray(const std::string& space, const std::string& name) {
  std::string text = '.' + space + " .align 16 .b8 " + name + '[' + std::to_string(kReadOnlyBytes) + "] = {";
  for (unsigned i = 0; i < kReadOnlyBytes; ++i)
    text += (i ? "," : "") + std::to_string(hashOf(std::to_string(i)) & 255);
  return text + "};\n";
}

// Where an access goes: the space, and an address register that points to this thread's bytes.
struct Place {
  std::string space;    // to fill it and read it back; empty where that cannot be
  std::string address;  // "%global+16"
  std::string code, declarations;
};

Place placeFor(StateSpace space, bool readOnly, unsigned number) {
  const std::string at = '+' + std::to_string(kOffset);
  auto array = [&](const std::string& kind, const std::string& name) {
    return Place{"", "%table" + at,
                 ".reg .b64 %table;\nmul.wide.u32 %table, %lane, 16;\nmov.u64 %wide, " + name +
                     ";\nadd.u64 %table, %table, %wide;\n",
                 readOnlyArray(kind, name)};
  };
  if (readOnly) return array("global", "read_only");
  switch (space) {
    case StateSpace::Const: return array("const", "constants");
    case StateSpace::Param: return {"", "extra" + at, "", ""};
    case StateSpace::Local: return {"local", "%local" + at, "", ""};
    case StateSpace::Shared: return {"shared", "%shared" + at, "", ""};
    case StateSpace::Global: return {"global", "%global" + at, "", ""};
    default: break;
  }
  static constexpr std::array<const char*, 3> kSpaces = {"global", "shared", "local"};
  const std::string name = kSpaces[number % 3];
  return {name, "%generic" + at, ".reg .b64 %generic;\ncvta." + name + ".u64 %generic, %" + name + ";\n", ""};
}

class AccessBuilder : CaseMaker {
 public:
  AccessBuilder(const Form& form, const std::vector<const FormChoice*>& choices, bool wider, unsigned number)
      : CaseMaker(form, choices), wider_(wider) {
    StateSpace space = StateSpace::None;
    for (const ExpectedOperand& o : operands_)
      if (o.form->kind == Kind::Address) space = o.space;
    const bool readOnly = has(Mod::nc) || form.opcode == Opcode::Ldu;
    const bool isAtomic = form.opcode == Opcode::Atom || form.opcode == Opcode::Red;
    const bool isVector = std::any_of(operands_.begin(), operands_.end(), [](const auto& o) { return o.count > 1; });
    place_ = placeFor(space, readOnly, isGlobalOnly() || (isAtomic && isVector) ? 0 : isAtomic ? number % 2 : number);
    isGeneric_ = place_.address.starts_with("%generic");
    case_.code = place_.code;
    case_.declarations = place_.declarations;
  }

  Case build() {
    switch (form_.opcode) {
      case Opcode::Ld:
      case Opcode::Ldu: addLoad(); break;
      case Opcode::St: addStore(); break;
      default: addAtomic(); break;
    }
    return std::move(case_);
  }

 private:
  // What a generic address may not leave: ordered and hinted accesses.
  bool isGlobalOnly() const {
    return has(Mod::mmio) || has(Mod::volatile_) || has(Mod::L2_cache_hint) ||
           (form_.opcode != Opcode::Atom && form_.opcode != Opcode::Red &&
            (has(Mod::relaxed) || has(Mod::acquire) || has(Mod::release)));
  }

  // The instruction, its registers made as they are met.
  std::string instruction() {
    std::string text = fullName();
    bool first = true;
    for (const ExpectedOperand& o : operands_) {
      std::string operand;
      auto one = [&] {
        const Type reg = registerType(o.type, wider_ && o.form->wider);
        return o.form->kind == Kind::Destination ? result(reg, valuesOf(o.type)) : input(reg, valuesOf(o.type, reg));
      };
      if (o.form->kind == Kind::Address) operand = '[' + place_.address + ']';
      else if (o.form->presentWith >= 0 || (o.form->optional && has(Mod::L2_cache_hint))) operand = policy();
      else if (o.form->optional) continue;
      else if (o.count != 0) {
        operand = "{";
        for (unsigned i = 0; i < o.count; ++i) operand += (i ? ", " : "") + one();
        operand += '}';
      } else {
        operand = one();
      }
      text += (first ? " " : ", ") + operand;
      first = false;
    }
    case_.name = isGeneric_ ? text + "  // " + place_.space : text;
    return text + ";\n";
  }

  std::string policy() {
    case_.code += ".reg .b64 %policy;\ncreatepolicy.fractional.L2::evict_last.b64 %policy, 0f3F800000;\n";
    return "%policy";
  }

  void addLoad() {
    if (!place_.space.empty()) {
      const std::string low = input(Type::B64, Values::Int64), high = input(Type::B64, Values::Int64);
      case_.code += "st." + place_.space + ".v2.b64 [%" + place_.space + "+16], {" + low + ", " + high + "};\n";
    }
    append(instruction());
  }

  void addStore() {
    for (unsigned i = 0; i < 6; ++i)
      case_.code +=
          "st." + place_.space + ".b64 [%" + place_.space + '+' + std::to_string(8 * i) + "], 0x5A5A5A5A5A5A5A5A;\n";
    append(instruction());
    for (unsigned i = 0; i < 6; ++i)
      case_.code += "ld." + place_.space + ".b64 " + result(Type::B64) + ", [%" + place_.space + '+' +
                    std::to_string(8 * i) + "];\n";
  }

  void addAtomic() {
    Type element = Type::None;
    unsigned count = 1;
    for (const ExpectedOperand& o : operands_)
      if (o.form->kind == Kind::Value && !o.form->optional && o.form->presentWith < 0)
        element = o.type, count = std::max<unsigned>(o.count, 1);
    const Type reg = registerType(element, false);
    const std::string bits = std::to_string(ptx::bitWidth(reg));
    auto at = [&](unsigned i) {
      return "[%" + place_.space + '+' + std::to_string(kOffset + i * ptx::bitWidth(reg) / 8) + ']';
    };
    const std::string name = reg == Type::F32 || reg == Type::F64 ? ".f" + bits : ".b" + bits;
    for (unsigned i = 0; i < count; ++i)
      case_.code += "st." + place_.space + name + ' ' + at(i) + ", " + input(reg, valuesOf(element, reg)) + ";\n";
    append(instruction());
    for (unsigned i = 0; i < count; ++i)
      case_.code += "ld." + place_.space + name + ' ' + result(reg, valuesOf(element)) + ", " + at(i) + ";\n";
  }

  void append(const std::string& text) { case_.code += text; }

  bool wider_, isGeneric_ = false;
  Place place_;
};

bool isAccess(const Form& form) {
  if (form.text.starts_with("st.async") || form.text.starts_with("st.bulk") || form.text.starts_with("red.async"))
    return false;
  return form.opcode == Opcode::Ld || form.opcode == Opcode::Ldu || form.opcode == Opcode::St ||
         form.opcode == Opcode::Atom || form.opcode == Opcode::Red;
}

// Parameters of functions, and st.param, are tested by programs that call functions.
bool isOfFunctions(const std::vector<const FormChoice*>& choices, bool isStore) {
  return std::any_of(choices.begin(), choices.end(), [&](const FormChoice* choice) {
    return choice && (choice->mod == Mod::param_func || (isStore && choice->mod == Mod::param));
  });
}

}  // namespace

void addMemoryCases(std::vector<Case>& cases) {
  for (const Form& form : ptx::allForms()) {
    if (!isAccess(form)) continue;
    const auto all = combinations(form, 160);
    for (size_t index = 0; index < all.size(); ++index) {
      if (!isOffered(form, all[index]) || isOfFunctions(all[index], form.opcode == Opcode::St)) continue;
      const auto number = static_cast<unsigned>(hashOf(std::string(form.text) + std::to_string(index)) % 100000);
      cases.push_back(AccessBuilder(form, all[index], false, number).build());
      if (number % 4 == 0) cases.push_back(AccessBuilder(form, all[index], true, number / 4).build());
    }
  }
}

}  // namespace mulciber::conformance
