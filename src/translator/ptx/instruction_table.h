// The instruction table: every form of every instruction, as instruction_table.txt states it. Parser, verifier, the
// coverage table and the generated tests all read it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "translator/ptx/ast.h"

namespace mulciber::ptx {

// The ISA version and target that something asks for.
struct Requirement {
  uint8_t version = 10;      // 10 * major + minor
  uint8_t rule = 0;          // index into targetRules()
  uint8_t earlyVersion = 0;  // some targets have it from this lower version on; 0 for none
  uint8_t earlyRule = 0;

  std::string_view target() const;  // a rule of target.h: "sm_80", "sm_90a", "sm_100f+sm_110f"; empty for any
  std::string_view earlyTarget() const;
};
std::span<const std::string_view> targetRules();

struct FormChoice {
  Mod mod;
  Requirement requires_;
};

// Some of the modifiers of a form, of which an instruction carries one.
struct FormGroup {
  std::string_view name;  // empty for a choice written in place
  std::span<const FormChoice> choices;
  bool optional;
  int8_t tied;          // group that is present exactly when this one is, -1 for none
  int8_t excludes;      // group that is absent when this one is present, -1 for none
  Requirement without;  // of an instruction that carries none

  const FormChoice* find(Mod mod) const {
    for (const FormChoice& choice : choices)
      if (choice.mod == mod) return &choice;
    return nullptr;
  }
};

// What an instruction asks for by making this choice, null for none.
inline Requirement requirementOf(const FormGroup& group, const FormChoice* choice) {
  return choice ? choice->requires_ : group.without;
}

// How many elements a vector has: a number, or what the modifier of that kind says.
enum class FormCount : uint8_t {
  Scalar,
  Fixed,
  Vector,
  Matrices,
  WgmmaColumns,
  Coordinates,
  Gradients,
  Offsets,
  TensorCoordinates,
  Im2colOffsets
};

struct FormOperand {
  enum class Kind : uint8_t {
    Value,
    Register,
    Immediate,
    FloatImmediate,
    Destination,
    Address,
    Texture,
    AnyValue,  // mov and cvta: also an address, a special register, a vector
    Label,
    Targets,
    Call,
    Sink
  };
  enum class TypeFrom : uint8_t { Fixed, Nth, Last, Wide, Part };
  enum class Space : uint8_t { FromModifier, Global, Shared, Tensor };

  Kind kind;
  std::string_view name;
  TypeFrom typeFrom;
  uint8_t nth;     // of the types among the modifiers, from 0
  Type type;       // Fixed
  bool wider;      // a wider register will do
  bool sink;       // _ will do
  bool negatable;  // !p
  bool selector;   // .b0, .h1, .b3210
  bool pair;       // d|p
  bool pairOptional;
  bool optional;
  int8_t presentWith;  // group whose presence brings the operand, -1 for none
  FormCount count;
  uint8_t number;     // Fixed: the count; otherwise what the modifier says is multiplied by this
  uint8_t divisor;    //   and divided by this
  Space space;        // Address
  uint8_t step;       // constants are a multiple of this
  int32_t low, high;  // and in this range; INT32_MIN and INT32_MAX are no limits
};

struct Form {
  Opcode opcode;
  std::span<const Mod> name;  // the words after the opcode that belong to its name: mul.wide
  std::span<const FormGroup> groups;
  std::span<const FormOperand> operands;
  Requirement requires_;
  Requirement removed;  // from this version on for these targets; version 0 for never
  std::string_view text;
  std::string_view chapter;
};

std::span<const Form> allForms();  // in the order of the opcodes
std::span<const Form> formsOf(Opcode opcode);

// The number of elements that the modifier calls for, 0 when it says nothing of that kind.
unsigned countOf(FormCount kind, Mod mod);

}  // namespace mulciber::ptx
