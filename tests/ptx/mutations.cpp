#include "mutations.h"

#include <algorithm>
#include <vector>

namespace mulciber::ptx {
namespace {

template <class Item>
Item pick(const std::vector<Item>& items, std::mt19937& random) {
  return items[random() % items.size()];
}

// A modifier that some form of the opcode takes.
Mod relatedModifier(Opcode opcode, std::mt19937& random) {
  std::vector<Mod> mods;
  for (const Form& form : formsOf(opcode))
    for (const FormGroup& group : form.groups)
      for (const FormChoice& choice : group.choices) mods.push_back(choice.mod);
  return mods.empty() ? Mod::ftz : pick(mods, random);
}

Mod anyType(std::mt19937& random) {
  static const std::vector<Mod> kTypes = {Mod::b8,  Mod::b16, Mod::b32,  Mod::b64,  Mod::u8,   Mod::u16,   Mod::u32,
                                          Mod::u64, Mod::s8,  Mod::s16,  Mod::s32,  Mod::s64,  Mod::f16,   Mod::f16x2,
                                          Mod::f32, Mod::f64, Mod::b128, Mod::bf16, Mod::pred, Mod::bf16x2};
  return pick(kTypes, random);
}

std::string anyNumber(std::mt19937& random) {
  static const std::vector<std::string> kNumbers = {"0",  "1",  "4",   "5",   "8",          "15",        "16",
                                                    "31", "32", "33",  "64",  "128",        "255",       "256",
                                                    "-1", "-8", "511", "512", "4294967295", "4294967296"};
  return pick(kNumbers, random);
}

// The variables are those that JudgeModule declares.
std::string anyOperand(std::mt19937& random) {
  static const std::vector<std::string> kOperands = {"%p7",        "!%p7",
                                                     "%c7",        "%h7",
                                                     "%r7",        "%rd7",
                                                     "%q7",        "%f7",
                                                     "%fd7",       "1.5",
                                                     "%tid.x",     "_",
                                                     "DONE",       "0d3FF0000000000000",
                                                     "0f3F800000", "{%r7, %r8}",
                                                     "{%h7, %h8}", "[%rd7]",
                                                     "[%h7]",      "{%r5, %r6, %r7, %r8}",
                                                     "[%rd7+4]",   "[%rd7+-4]",
                                                     "[16]",       "[global]",
                                                     "[global+4]", "[local]",
                                                     "[shared+8]", "[shared]",
                                                     "[constant]", "global",
                                                     "shared",     "constant",
                                                     "local",      "global+4"};
  return random() % 5 == 0 ? anyNumber(random) : pick(kOperands, random);
}

bool isNumber(const std::string& operand) {
  return !operand.empty() && operand.find_first_not_of("-0123456789") == std::string::npos;
}

}  // namespace

FormInstance mutate(FormInstance instance, std::mt19937& random) {
  auto& mods = instance.modifiers;
  auto& operands = instance.operands;
  auto anyIndex = [&](size_t size) { return static_cast<long>(random() % size); };
  switch (random() % 8) {
    case 0:
      if (mods.size() > 1) {
        size_t i = random() % (mods.size() - 1);
        std::swap(mods[i], mods[i + 1]);
      }
      break;
    case 1:
      if (!mods.empty()) mods.erase(mods.begin() + anyIndex(mods.size()));
      break;
    case 2:
      mods.insert(mods.begin() + anyIndex(mods.size() + 1), relatedModifier(instance.form->opcode, random));
      break;
    case 3:
      for (Mod& mod : mods)
        if (typeOf(mod) != Type::None && random() % 2) mod = anyType(random);
      break;
    case 4:
      if (!mods.empty()) mods[random() % mods.size()] = relatedModifier(instance.form->opcode, random);
      break;
    case 5:
    case 6:
      if (!operands.empty()) {
        std::string& operand = operands[random() % operands.size()];
        operand = isNumber(operand) && random() % 2 ? anyNumber(random) : anyOperand(random);
      }
      break;
    case 7:
      if (!operands.empty() && random() % 2) operands.pop_back();
      else operands.push_back(anyOperand(random));
      break;
  }
  return instance;
}

}  // namespace mulciber::ptx
