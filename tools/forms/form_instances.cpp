#include "forms/form_instances.h"

#include <array>

namespace mulciber::ptx {
namespace {

constexpr unsigned kRegisters = 300;  // of each kind

// Takes out what tied and excluding groups forbid, puts in what they demand.
void settle(const Form& form, FormChoices& choices) {
  for (size_t g = 0; g < form.groups.size(); ++g) {
    const FormGroup& group = form.groups[g];
    if (group.tied >= 0) {
      bool wanted = choices[static_cast<size_t>(group.tied)] != nullptr;
      if (!wanted) choices[g] = nullptr;
      else if (!choices[g]) choices[g] = &group.choices.front();
    }
    if (group.excludes >= 0 && choices[static_cast<size_t>(group.excludes)]) choices[g] = nullptr;
  }
}

class Names {
 public:
  explicit Names(OperandShape shape) : shape_(shape) {}

  std::string next(Type type) {
    if (shape_ == OperandShape::SameRegister) return std::string(registerPrefix(type)) + '1';
    return std::string(registerPrefix(type)) + std::to_string(1 + used_++ % (kRegisters - 1));
  }

 private:
  OperandShape shape_;
  unsigned used_ = 0;
};

bool holdsInteger(Type type) { return isUntyped(type) || isInteger(type); }

int constantFor(const FormOperand& form) {
  if (form.low != INT32_MIN) return form.low;
  return form.step != 1 ? form.step : 3;
}

std::string immediate(const ExpectedOperand& expected) {
  const FormOperand& form = *expected.form;
  if (form.kind == FormOperand::Kind::FloatImmediate) return "1.0";
  return std::to_string(constantFor(form));
}

std::string addressBase(const ExpectedOperand& expected, Names& names) {
  if (expected.form->space == FormOperand::Space::Tensor) return names.next(Type::B32);
  return names.next(Type::B64);
}

std::string coordinates(const Form& form, const ExpectedOperand& expected, std::span<const Mod> modifiers,
                        Names& names) {
  bool isTexture = form.opcode == Opcode::Tex || form.opcode == Opcode::Tld4;
  Type type = Type::S32;
  bool hasIndex = false;
  for (Mod mod : modifiers) {
    if (isTexture && typeOf(mod) != Type::None) type = typeOf(mod);
    if (mod == Mod::a1d || mod == Mod::a2d || mod == Mod::acube || mod == Mod::a2dms) hasIndex = true;
  }
  std::string text = "{";
  for (unsigned i = 0; i < expected.count; ++i)
    text += (i ? ", " : "") + names.next(hasIndex && i == 0 ? Type::B32 : type);
  return text + '}';
}

std::string operandText(const Form& form, const ExpectedOperand& expected, std::span<const Mod> modifiers,
                        OperandShape shape, Names& names) {
  using Kind = FormOperand::Kind;
  switch (expected.form->kind) {
    case Kind::Address: return '[' + addressBase(expected, names) + ']';
    case Kind::Texture: return '[' + names.next(Type::B64) + ", " + coordinates(form, expected, modifiers, names) + ']';
    case Kind::Label: return "DONE";
    case Kind::Targets: return "TARGETS";
    case Kind::Call: return "callee";
    case Kind::Sink: return "_";
    case Kind::Immediate:
    case Kind::FloatImmediate: return immediate(expected);
    default: break;
  }
  Type type = expected.type == Type::None ? Type::B64 : expected.type;
  if (expected.count != 0) {
    std::string text = "{";
    for (unsigned i = 0; i < expected.count; ++i) text += (i ? ", " : "") + names.next(type);
    return text + '}';
  }
  bool canBeImmediate = expected.form->kind == Kind::Value &&
                        (holdsInteger(type) || type == Type::F32 || type == Type::F64) && type != Type::B128;
  if (shape == OperandShape::Immediates && canBeImmediate)
    return holdsInteger(type) ? std::to_string(constantFor(*expected.form)) : "1.5";
  std::string text = names.next(type);
  if (expected.form->pair && (!expected.form->pairOptional || shape == OperandShape::Optional))
    text += '|' + names.next(Type::Pred);
  return text;
}

}  // namespace

std::string_view registerPrefix(Type type) {
  if (type == Type::Pred) return "%p";
  if (type == Type::F32) return "%f";
  if (type == Type::F64) return "%fd";
  switch (bitWidth(type)) {
    case 8: return "%c";
    case 16: return "%h";
    case 64: return "%rd";
    case 128: return "%q";
    default: return "%r";
  }
}

std::string registerDeclarations(bool has128) {
  static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"pred", "%p"}, {"b8", "%c"},  {"b16", "%h"},  {"b32", "%r"},
      {"b64", "%rd"}, {"f32", "%f"}, {"f64", "%fd"}, {"b128", "%q"}};
  std::string text;
  for (auto [type, prefix] : kKinds)
    if (has128 || type != "b128")
      text += "  .reg ." + std::string(type) + ' ' + std::string(prefix) + '<' + std::to_string(kRegisters) + ">;\n";
  return text;
}

FormChoices simplestChoices(const Form& form) {
  FormChoices choices(form.groups.size());
  for (size_t g = 0; g < form.groups.size(); ++g)
    if (!form.groups[g].optional) choices[g] = &form.groups[g].choices.front();
  return choices;
}

std::vector<FormChoices> singleVariations(const Form& form) {
  FormChoices simplest = simplestChoices(form);
  std::vector<FormChoices> all = {simplest};
  for (size_t g = 0; g < form.groups.size(); ++g)
    for (const FormChoice& choice : form.groups[g].choices) {
      if (simplest[g] == &choice) continue;
      FormChoices variation = simplest;
      variation[g] = &choice;
      if (int8_t tied = form.groups[g].tied; tied >= 0 && !variation[static_cast<size_t>(tied)])
        variation[static_cast<size_t>(tied)] = &form.groups[static_cast<size_t>(tied)].choices.front();
      settle(form, variation);
      if (variation[g] == &choice && isPossible(form, variation)) all.push_back(std::move(variation));
    }
  return all;
}

uint64_t combinationCount(const Form& form) {
  uint64_t count = 1;
  for (const FormGroup& group : form.groups) count *= group.choices.size() + (group.optional ? 1 : 0);
  return count;
}

FormChoices combination(const Form& form, uint64_t index) {
  FormChoices choices(form.groups.size());
  for (size_t g = 0; g < form.groups.size(); ++g) {
    const FormGroup& group = form.groups[g];
    uint64_t radix = group.choices.size() + (group.optional ? 1 : 0);
    uint64_t digit = index % radix;
    index /= radix;
    choices[g] = digit < group.choices.size() ? &group.choices[digit] : nullptr;
  }
  settle(form, choices);
  return isPossible(form, choices) ? choices : simplestChoices(form);
}

std::vector<Requirement> requirementsOf(const Form& form, const FormChoices& choices) {
  std::vector<Requirement> all = {form.requires_};
  for (size_t g = 0; g < choices.size(); ++g) all.push_back(requirementOf(form.groups[g], choices[g]));
  return all;
}

FormInstance instantiate(const Form& form, const FormChoices& choices, OperandShape shape) {
  FormInstance instance{&form, {form.name.begin(), form.name.end()}, {}};
  for (const FormChoice* choice : choices)
    if (choice) instance.modifiers.push_back(choice->mod);
  Names names(shape);
  for (const ExpectedOperand& expected : expectOperands(form, choices).operands)
    if (!expected.form->optional || shape == OperandShape::Optional)
      instance.operands.push_back(operandText(form, expected, instance.modifiers, shape, names));
  return instance;
}

std::string FormInstance::text() const {
  std::string text = fullName(form->opcode, modifiers);
  for (size_t i = 0; i < operands.size(); ++i) text += (i ? ", " : " ") + operands[i];
  return text + ';';
}

}  // namespace mulciber::ptx
