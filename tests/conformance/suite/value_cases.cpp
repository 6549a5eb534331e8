// Cases of the instructions that compute registers from registers: arithmetic, comparison, logic, conversion, video.
#include <algorithm>
#include <array>
#include <set>

#include "conformance/suite/inputs.h"
#include "conformance/suite/operands.h"

namespace mulciber::conformance {

namespace {

// What is varied besides the modifiers.
struct Shape {
  bool immediate = false;   // the last operand that can is a constant
  bool same = false;        // operands of the same type are the same register
  bool predicated = false;  // under a predicate, over an old value
  bool negated = false;     // !p
  bool optional = false;    // with the second destination and the optional operands
  bool wider = false;       // registers wider than the type, with anything in their upper bits
  bool dense = false;       // many numbers of every size: for approximations
  unsigned number = 0;      // picks constants and selectors
};

std::string hex(uint64_t value, unsigned digits) {
  std::string text(digits, '0');
  for (unsigned i = digits; i-- > 0; value >>= 4) text[i] = "0123456789ABCDEF"[value & 15];
  return text;
}

std::string constant(Type type, const FormOperand& operand, bool isCount, unsigned number) {
  const std::vector<uint64_t> list = fewSpecialValues(valuesOf(type, isCount));
  const uint64_t bits = list[number % list.size()];
  if (type == Type::F32) return "0f" + hex(bits, 8);
  if (type == Type::F64) return "0d" + hex(bits, 16);
  if (operand.low != INT32_MIN || operand.step != 1) {
    const int64_t low = operand.low == INT32_MIN ? 0 : operand.low,
                  high = operand.low == INT32_MIN ? 255 : operand.high;
    const int64_t steps = (high - low) / operand.step + 1;
    return std::to_string(low + static_cast<int64_t>(number) % steps * operand.step);
  }
  const unsigned width = ptx::bitWidth(type);
  if (ptx::isSigned(type)) return std::to_string(static_cast<int64_t>(bits << (64 - width)) >> (64 - width));
  return "0x" + hex(bits, width / 4);
}

// .b2, .h1 of the scalar video instructions, .b0321 and .h20 of those on several lanes.
std::string selector(Opcode opcode, bool isDestination, bool required, unsigned number) {
  const std::string_view name = ptx::spelling(opcode);
  const char last = name.back();
  if (last != '2' && last != '4') {
    static constexpr std::array<const char*, 7> kParts = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
    return kParts[required ? 1 + number % 6 : number % 7];
  }
  if (number % 4 == 0) return "";
  const unsigned lanes = static_cast<unsigned>(last - '0');
  std::string text = last == '2' ? ".h" : ".b";
  if (!isDestination) {
    for (unsigned i = 0; i < lanes; ++i) text += std::to_string((number * 37 + number * i * 11 + i) % (2 * lanes));
    return text;
  }
  unsigned mask = 1 + number % ((1u << lanes) - 1);
  for (unsigned i = lanes; i-- > 0;)
    if (mask >> i & 1) text += std::to_string(i);
  return text;
}

class CaseBuilder : CaseMaker {
 public:
  CaseBuilder(const Form& form, const std::vector<const FormChoice*>& choices, Shape shape)
      : CaseMaker(form, choices), shape_(shape) {
    for (size_t i = 0; i < operands_.size(); ++i)
      if (takesConstant(operands_[i])) lastConstant_ = static_cast<int>(i);
  }

  Case build() {
    std::string operands;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].form->optional && !shape_.optional) continue;
      operands += (operands.empty() ? " " : ", ") + operand(operands_[i], static_cast<int>(i));
    }
    std::string guard;
    if (shape_.predicated) {
      for (size_t i = 0; i < case_.results.size(); ++i) {  // what the destinations hold before
        const Type type = case_.results[i];
        if (i == 0) case_.old = static_cast<int>(case_.inputs.size());
        case_.code += "mov." + std::string(ptx::spelling(type)) + " %d" + std::to_string(i) + ", " +
                      input(type, valuesOf(type)) + ";\n";
      }
      case_.guard = static_cast<int>(case_.inputs.size());
      case_.isGuardNegated = shape_.number % 2;
      guard = (case_.isGuardNegated ? "@!" : "@") + input(Type::Pred, Values::Bit) + ' ';
    }
    case_.name = guard + fullName() + operands;
    addCarries();
    if (shape_.dense) case_.name += "  // dense";
    return std::move(case_);
  }

  bool canSame() const {
    return countOf([](const ExpectedOperand& o) { return o.form->kind == Kind::Value; }) > 1;
  }
  bool canImmediate() const { return lastConstant_ >= 0; }
  bool canNegate() const {
    return countOf([](const ExpectedOperand& o) { return o.form->negatable && o.form->kind != Kind::Destination; }) > 0;
  }
  bool hasOptional() const {
    return countOf([](const ExpectedOperand& o) { return o.form->optional || o.form->pairOptional; }) > 0;
  }
  bool canWiden() const {
    return countOf([](const ExpectedOperand& o) { return o.form->wider; }) > 0;
  }
  bool hasSelectors() const {
    return countOf([](const ExpectedOperand& o) { return o.form->selector; }) > 0;
  }
  bool canDense() const {
    return (has(Mod::approx) || has(Mod::full)) &&
           countOf([](const ExpectedOperand& o) { return o.type == Type::F32; }) == static_cast<long>(operands_.size());
  }
  bool hasConstant() const {
    return countOf([](const ExpectedOperand& o) { return o.form->kind == Kind::Immediate; }) > 0;
  }

 private:
  template <class Predicate>
  long countOf(Predicate predicate) const {
    return std::count_if(operands_.begin(), operands_.end(), predicate);
  }

  static bool takesConstant(const ExpectedOperand& o) {
    return o.form->kind == Kind::Value && !o.form->optional && o.count == 0 && !o.form->selector &&
           (valuesOf(o.type) <= Values::Int64 || o.type == Type::F32 || o.type == Type::F64) && o.type != Type::Pred &&
           o.type != Type::B128 && ptx::bitWidth(o.type) >= 16;
  }

  std::string source(const ExpectedOperand& o) {
    const bool isCount = o.isFixedType && (o.type == Type::U32 || o.type == Type::S32) && !o.form->selector;
    const Type reg = registerType(o.type, shape_.wider && o.form->wider);
    const Values values = shape_.dense ? Values::DenseF32 : valuesOf(o.type, reg, isCount);
    if (shape_.same)
      for (size_t i = 0; i < case_.inputs.size(); ++i)
        if (case_.inputs[i].type == reg) return "%a" + std::to_string(i);
    return input(reg, values);
  }

  std::string operand(const ExpectedOperand& o, int index) {
    const FormOperand& form = *o.form;
    const bool isCount = o.isFixedType && (o.type == Type::U32 || o.type == Type::S32);
    if (form.kind == Kind::Sink) return "_";
    if (form.kind == Kind::Immediate)
      return constant(o.type == Type::None ? Type::U32 : o.type, form, false, shape_.number);
    if (form.kind == Kind::FloatImmediate) return "0f3F000000";
    const bool isDestination = form.kind == Kind::Destination;
    auto one = [&] {
      return isDestination ? result(registerType(o.type, shape_.wider && form.wider), valuesOf(o.type)) : source(o);
    };
    if (o.count != 0) {
      std::string text = "{";
      for (unsigned i = 0; i < o.count; ++i) text += (i ? ", " : "") + one();
      return text + '}';
    }
    if (shape_.immediate && index == lastConstant_) {
      case_.hasConstant = true;
      return constant(o.type, form, isCount, shape_.number);
    }
    std::string text = one();
    if (form.selector)
      text +=
          selector(form_.opcode, isDestination, isDestination, shape_.number * 5 + static_cast<unsigned>(index) * 3);
    if (form.negatable && shape_.negated) {
      const bool isVideo = form_.opcode == Opcode::Vmad;
      if (!isVideo || shape_.number % 3 == static_cast<unsigned>(index) % 3) text.insert(0, isVideo ? "-" : "!");
    }
    if (form.pair && (!form.pairOptional || shape_.optional)) text += '|' + result(Type::Pred);
    return text;
  }

  // The carry comes from an operand and goes to a result.
  void addCarries() {
    const Opcode op = form_.opcode;
    const bool isSub = op == Opcode::Sub || op == Opcode::Subc;
    const std::string name = isSub ? "sub" : "add";
    if (op == Opcode::Addc || op == Opcode::Subc || op == Opcode::Madc || (has(Mod::cc) && shape_.predicated)) {
      const std::string carry = input(Type::B32, Values::Bit);
      case_.code += ".reg .b32 %t0;\n";
      case_.code += isSub ? "sub.cc.u32 %t0, 0, " + carry + ";\n" : "add.cc.u32 %t0, " + carry + ", 0xFFFFFFFF;\n";
    }
    case_.code += case_.name + ";\n";
    if (has(Mod::cc)) case_.code += name + "c.u32 " + result(Type::B32) + ", 0, 0;\n";
  }

  Shape shape_;
  int lastConstant_ = -1;
};

bool isValueForm(const Form& form) {
  static const std::set<std::string_view> kChapters = {
      "Integer arithmetic", "Floating point", "Half precision", "Comparison and selection",
      "Logic and shift",    "Conversion",     "Video"};
  if (kChapters.contains(form.chapter)) return true;
  return form.opcode == Opcode::Mov && std::none_of(form.operands.begin(), form.operands.end(),
                                                    [](const FormOperand& o) { return o.kind == Kind::AnyValue; });
}

void addCasesOf(const Form& form, std::vector<Case>& cases) {
  const auto all = combinations(form, 160);
  const bool few = all.size() <= 24;
  for (size_t index = 0; index < all.size(); ++index) {
    const auto& choices = all[index];
    if (!isOffered(form, choices)) continue;
    const auto number = static_cast<unsigned>(hashOf(std::string(form.text) + std::to_string(index)) % 100000);
    const CaseBuilder probe(form, choices, {});
    std::vector<Shape> shapes;
    auto add = [&](Shape shape) {
      shape.number = number + static_cast<unsigned>(shapes.size()) * 7;
      shapes.push_back(shape);
    };
    if (probe.canImmediate()) add({.immediate = true});
    if (probe.canSame()) add({.same = true});
    add({.predicated = true});
    if (probe.canNegate()) add({.negated = true});
    if (probe.hasOptional()) add({.optional = true});
    if (probe.canWiden()) add({.wider = true});
    if (!few) {  // one other shape for each
      const Shape picked = shapes[number % shapes.size()];
      shapes = {picked};
    }
    add({});
    if (probe.hasSelectors())
      for (unsigned i = 0; i < (few ? 8 : 2); ++i) add({});
    if (probe.canDense()) add({.dense = true});
    if (probe.hasConstant())
      for (unsigned i = 0; i < 40; ++i) add({.immediate = i % 4 == 3});
    if (few && probe.canImmediate())
      for (unsigned i = 0; i < 3; ++i) add({.immediate = true});
    for (const Shape& shape : shapes) cases.push_back(CaseBuilder(form, choices, shape).build());
  }
}

}  // namespace

bool isOffered(const Form& form, const std::vector<const FormChoice*>& choices) {
  static const ptx::ModuleTarget target{90, {90, 0}};
  for (const ptx::Requirement& requirement : ptx::requirementsOf(form, choices))
    if (!target.missing(requirement).empty()) return false;
  return target.missing(form.requires_, form.removed).empty();
}

std::vector<std::vector<const FormChoice*>> combinations(const Form& form, size_t limit) {
  std::vector<std::vector<const FormChoice*>> list;
  std::set<std::vector<Mod>> seen;
  auto add = [&](std::vector<const FormChoice*> choices) {
    std::vector<Mod> mods;
    for (const FormChoice* choice : choices)
      if (choice) mods.push_back(choice->mod);
    if (seen.insert(mods).second) list.push_back(std::move(choices));
  };
  const uint64_t count = ptx::combinationCount(form);
  if (count <= limit) {
    for (uint64_t i = 0; i < count; ++i) add(ptx::combination(form, i));
    return list;
  }
  for (auto& choices : ptx::singleVariations(form)) add(std::move(choices));
  const uint64_t seed = hashOf(std::string(form.text));
  for (uint64_t i = 0; list.size() < limit && i < 4 * limit; ++i)
    add(ptx::combination(form, hashOf(std::to_string(seed + i)) % count));
  return list;
}

void addValueCases(std::vector<Case>& cases) {
  for (const Form& form : ptx::allForms())
    if (isValueForm(form)) addCasesOf(form, cases);
}

}  // namespace mulciber::conformance
