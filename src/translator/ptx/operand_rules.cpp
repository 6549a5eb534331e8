#include "translator/ptx/operand_rules.h"

#include <algorithm>

#include "translator/ptx/special_registers.h"

namespace mulciber::ptx {
namespace {

bool isPlainFloat(Type type) { return type == Type::F16 || type == Type::F32 || type == Type::F64; }
bool isInteger16x2(Type type) { return type == Type::U16x2 || type == Type::S16x2; }

bool holdsAddress(Type declared) { return (isInteger(declared) || isUntyped(declared)) && bitWidth(declared) <= 64; }

// PTX 1 had thread numbers in 16 bits, and a grid number in 32.
bool specialRegisterFits(SpecialRegister special, Type wanted) {
  if (family(special) == SpecialRegisterFamily::Place && bitWidth(wanted) == 16)
    return isInteger(wanted) || isUntyped(wanted);
  if (special == SpecialRegister::GridId && bitWidth(wanted) == 64) return isInteger(wanted) || isUntyped(wanted);
  return registerFits(typeOf(special), wanted, false, false, false);
}

bool integerFits(Type wanted) {
  return wanted == Type::None || wanted == Type::Pred || isInteger(wanted) || isUntyped(wanted);
}

bool floatFits(const Operand& operand, Type wanted) {
  if (wanted == Type::F32 || wanted == Type::F64) return true;
  return wanted == (operand.isSingle ? Type::B32 : Type::B64);
}

bool has(const OperandContext& context, Mod mod) {
  return std::ranges::find(context.modifiers, mod) != context.modifiers.end();
}

// ptxas looks at the low 32 bits of a number alone where a register could stand too, and at the low 8 of lop3's table.
bool inRange(const Operand& operand, const FormOperand& form, const OperandContext& context) {
  if (context.opcode == Opcode::Lop3) return true;
  int64_t value = static_cast<int64_t>(operand.bits);
  if (form.low == INT32_MIN) return value % form.step == 0;
  if (form.high == INT32_MAX) return value >= form.low;
  if (form.kind == FormOperand::Kind::Value && form.type != Type::Pred && form.low >= 0)
    value = static_cast<uint32_t>(operand.bits);
  return value >= form.low && value <= form.high && (value - form.low) % form.step == 0;
}

// Comparisons of bf16 are combined with a register, others also with a constant.
bool takesConstantPredicate(const OperandContext& context) {
  if (context.opcode != Opcode::Set && context.opcode != Opcode::Setp) return true;
  return !has(context, Mod::bf16) && !has(context, Mod::bf16x2);
}

// cvt takes special registers, and so does mov where it takes a register apart.
bool takesSpecialRegisters(const OperandContext& context) {
  if (context.opcode == Opcode::Cvt) return context.modifiers.front() != Mod::pack;
  return context.opcode == Opcode::Mov;
}

bool registerOperandFits(const Operand& operand, Type wanted, const ExpectedOperand& expected,
                         const OperandContext& context, bool inVector) {
  const Register& reg = context.function->registers[operand.reg];
  const bool isComponent = operand.selectsComponent();
  bool isPart = operand.select != Operand::Select::Whole && !isComponent;
  if (isPart && !expected.form->selector) return false;
  if (isComponent != (reg.vector > 1)) return false;
  if (operand.negated && !expected.form->negatable && wanted != Type::Pred) return false;
  if (operand.negated && expected.form->kind == FormOperand::Kind::Destination) return false;
  const bool wider = expected.form->wider && !(context.opcode == Opcode::Cvt && has(context, Mod::bf16));
  return registerFits(reg.type, wanted, expected.isFixedType, wider, inVector);
}

// A register plus a number.
bool sumFits(const Operand& operand, const ExpectedOperand& expected, const OperandContext& context) {
  const Type type = context.function->registers[operand.reg].type;
  const bool isSource =
      expected.form->kind == FormOperand::Kind::Value || expected.form->kind == FormOperand::Kind::AnyValue;
  return isSource && operand.select == Operand::Select::Whole && type != Type::Pred && !isFloat(type) &&
         bitWidth(type) <= 64;
}

bool elementFits(const Operand& operand, Type wanted, const ExpectedOperand& expected, const OperandContext& context,
                 bool inVector) {
  using Kind = FormOperand::Kind;
  Kind kind = expected.form->kind;
  switch (operand.kind) {
    case Operand::Kind::Register:
      if (kind == Kind::Immediate || kind == Kind::FloatImmediate) return false;
      if (operand.offset != 0 && !sumFits(operand, expected, context)) return false;
      return registerOperandFits(operand, wanted, expected, context, inVector);
    case Operand::Kind::SpecialRegister:
      return (kind == Kind::AnyValue || (kind == Kind::Value && !inVector && takesSpecialRegisters(context))) &&
             specialRegisterFits(operand.special, wanted);
    case Operand::Kind::Integer:
      if (kind == Kind::Immediate) return inRange(operand, *expected.form, context);
      if (wanted == Type::Pred && !takesConstantPredicate(context)) return false;
      return (kind == Kind::Value || kind == Kind::AnyValue) && integerFits(wanted) &&
             inRange(operand, *expected.form, context);
    case Operand::Kind::Float:
      if (kind == Kind::FloatImmediate) return true;
      return (kind == Kind::Value || kind == Kind::AnyValue) && floatFits(operand, wanted);
    case Operand::Kind::Sink: {
      // Loads may leave out elements of a vector, but not the whole result.
      const bool isLoad = context.opcode == Opcode::Ld || context.opcode == Opcode::Ldu;
      return kind == Kind::Destination && (inVector || (expected.form->sink && !isLoad));
    }
    default: return false;
  }
}

// Where {%r1} means %r1.
bool takesSingletons(Opcode opcode) {
  return opcode == Opcode::Ld || opcode == Opcode::Ldu || opcode == Opcode::St || opcode == Opcode::Mov ||
         opcode == Opcode::Suld || opcode == Opcode::Sust;
}

bool vectorFits(const Operand& operand, const ExpectedOperand& expected, const OperandContext& context) {
  size_t size = operand.elements.size();
  FormCount count = expected.form->count;
  bool fits = size == expected.count;
  if (expected.count == 0) fits = size == 1 && takesSingletons(context.opcode);
  if (count == FormCount::Offsets) fits = size >= expected.count && size <= 4 && size != 3;
  if (!fits) return false;
  unsigned bits = 0;
  bool allSinks = true;
  for (const Operand& element : operand.elements) {
    if (!elementFits(element, expected.type, expected, context, true)) return false;
    if (element.kind != Operand::Kind::Sink) allSinks = false;
    if (element.kind != Operand::Kind::Register) continue;
    unsigned width = bitWidth(context.function->registers[element.reg].type);
    if (bits != 0 && width != bits) return false;
    bits = width;
  }
  return !allSinks;
}

bool spaceFits(StateSpace wanted, StateSpace variable) {
  if (variable == StateSpace::Tex) variable = StateSpace::Global;
  if (wanted != StateSpace::None) return wanted == variable;
  return variable == StateSpace::Global || variable == StateSpace::Shared || variable == StateSpace::Local;
}

// Most instructions take an address in a register of 16 bits too.
bool takesNarrowAddresses(const OperandContext& context) {
  switch (context.opcode) {
    case Opcode::Wmma:
    case Opcode::Createpolicy:
    case Opcode::Tcgen05: return false;
    case Opcode::St: return !has(context, Mod::async) && !has(context, Mod::bulk);
    case Opcode::Red: return !has(context, Mod::async);
    case Opcode::Multimem: return !has(context, Mod::red);
    case Opcode::Tensormap: return !has(context, Mod::replace);
    default: return true;
  }
}

bool addressFits(const Operand& operand, const ExpectedOperand& expected, const OperandContext& context) {
  if (operand.kind != Operand::Kind::Address) return false;
  bool isQuery = context.opcode == Opcode::Txq || context.opcode == Opcode::Suq;
  if (operand.isUnified && context.opcode != Opcode::Ld && context.opcode != Opcode::Ldu) return false;
  if (operand.variable && !operand.isIndexed && operand.hasRegister) return false;
  if (operand.variable) {
    if (expected.form->space == FormOperand::Space::Tensor) return false;
    if (isQuery) return isOpaque(operand.variable->type) || operand.variable->space == StateSpace::Param;
    return spaceFits(expected.space, operand.variable->space);
  }
  if (operand.hasRegister) {
    const Register& base = context.function->registers[operand.reg];
    if (!holdsAddress(base.type) || base.vector > 1) return false;
    const unsigned bits = bitWidth(base.type);
    if (isQuery) return bits == 64 && operand.offset == 0;
    if (expected.form->space == FormOperand::Space::Tensor) return bits == 32;
    return bits >= 32 || takesNarrowAddresses(context);
  }
  return expected.space == StateSpace::Local;
}

// [texture(, sampler), {coordinates}]: the array index of a1d, a2d and acube and the sample number are integers.
bool textureFits(const Operand& operand, const ExpectedOperand& expected, const OperandContext& context) {
  if (operand.kind != Operand::Kind::Texture || operand.elements.size() < 2) return false;
  bool isTensor = context.opcode == Opcode::Cp;
  bool isSurface = context.opcode == Opcode::Suld || context.opcode == Opcode::Sust || context.opcode == Opcode::Sured;
  if (operand.elements.size() > (isTensor || isSurface ? 2u : 3u)) return false;
  for (const Operand& base : operand.elements.first(operand.elements.size() - 1)) {
    if (base.kind == Operand::Kind::Register) {
      const Register& handle = context.function->registers[base.reg];
      if (!holdsAddress(handle.type) || bitWidth(handle.type) != 64 || handle.vector > 1) return false;
    } else if (base.kind != Operand::Kind::Symbol) {
      return false;
    }
  }
  Type type = isSurface || isTensor ? Type::S32 : Type::None;
  bool hasIndex = false;
  for (Mod mod : context.modifiers) {
    if (Type named = typeOf(mod); named != Type::None && !isSurface && !isTensor) type = named;
    if (mod == Mod::a1d || mod == Mod::a2d || mod == Mod::acube || mod == Mod::a2dms) hasIndex = true;
  }
  const Operand& coordinates = operand.elements.back();
  ExpectedOperand one = expected;
  one.isFixedType = false;
  FormOperand form = *expected.form;
  form.kind = FormOperand::Kind::Value;
  one.form = &form;
  if (coordinates.kind != Operand::Kind::Vector)
    return expected.count == 1 && elementFits(coordinates, type, one, context, false);
  size_t size = coordinates.elements.size();
  if (isTensor ? size != expected.count : size < expected.count || size > 4 || size == 3) return false;
  for (size_t i = 0; i < size; ++i)
    if (!elementFits(coordinates.elements[i], hasIndex && i == 0 ? Type::U32 : type, one, context, true)) return false;
  return true;
}

// ptxas takes variable + offset, though not the variable alone, for an integer. Instructions that it replaces by others
// do not take it.
bool addressIsNumber(const Operand& operand, const ExpectedOperand& expected, const OperandContext& context) {
  const FormOperand& form = *expected.form;
  if (operand.kind != Operand::Kind::Symbol || operand.offset == 0 || expected.count != 0) return false;
  if (form.selector || form.high != INT32_MAX || form.step != 1 || context.opcode == Opcode::Tcgen05) return false;
  if (expected.isFixedType && bitWidth(expected.type) != 32) return false;
  return expected.type != Type::Pred && integerFits(expected.type);
}

// mov, cvta and mapa take the address of a variable or function where a value stands.
bool symbolFits(const Operand& operand, const ExpectedOperand& expected, const OperandContext& context) {
  Type wanted = expected.type;
  const FormOperand::Kind kind = expected.form->kind;
  const bool isTakenApart = kind == FormOperand::Kind::Value && context.opcode == Opcode::Mov && expected.count == 0 &&
                            bitWidth(wanted) <= 64;
  if (kind == FormOperand::Kind::Value && !isTakenApart) return addressIsNumber(operand, expected, context);
  if (kind != FormOperand::Kind::AnyValue && !isTakenApart) return false;
  if (bitWidth(wanted) < 16 || !integerFits(wanted)) return false;
  if (context.opcode == Opcode::Mov) return true;
  if (operand.kind == Operand::Kind::Function) return false;
  if (context.opcode != Opcode::Cvta) return operand.variable->space == StateSpace::Shared;
  for (Mod mod : context.modifiers) {
    switch (mod) {
      case Mod::to: return false;
      case Mod::const_: return operand.variable->space == StateSpace::Const;
      case Mod::global: return spaceFits(StateSpace::Global, operand.variable->space);
      case Mod::local: return operand.variable->space == StateSpace::Local;
      case Mod::param:
      case Mod::param_entry:
      case Mod::param_func: return operand.variable->space == StateSpace::Param;
      default: break;
    }
  }
  return operand.variable->space == StateSpace::Shared;
}

std::string explainRange(const FormOperand& form) {
  if (form.low == INT32_MIN) return "must be a multiple of " + std::to_string(form.step);
  if (form.high == INT32_MAX) return "must be at least " + std::to_string(form.low);
  std::string text = "must be from " + std::to_string(form.low) + " to " + std::to_string(form.high);
  return form.step == 1 ? text : text + " in steps of " + std::to_string(form.step);
}

std::string describe(StateSpace space) {
  return space == StateSpace::None ? "the generic address space" : '.' + std::string(spelling(space));
}

std::string describe(Type type, bool isFixed, bool wider) {
  if (type == Type::None) return "an address";
  std::string text = '.' + std::string(spelling(type));
  if (wider) text += " or wider";
  if (isFixed || isUntyped(type) || type == Type::Pred || bitWidth(type) < 8) return text;
  return text + " (or .b" + std::to_string(bitWidth(type)) + ')';
}

}  // namespace

bool registerFits(Type declared, Type wanted, bool isFixed, bool wider, bool inVector) {
  if (wanted == Type::None) return holdsAddress(declared) && bitWidth(declared) >= 32;
  if (wanted == Type::Pred || declared == Type::Pred) return wanted == declared;
  unsigned have = bitWidth(declared), want = bitWidth(wanted);
  if (wider ? have < want : have != want) return false;
  if (isUntyped(wanted)) return true;
  if (isUntyped(declared)) return true;
  if (isInteger(wanted)) return isInteger(declared) || (declared == Type::F16x2 && !isFixed);
  if (isInteger16x2(wanted) || wanted == Type::F16x2) return declared == Type::F16x2;
  if (isPlainFloat(wanted)) return declared == wanted || (wider && inVector && have == want && isInteger(declared));
  return false;
}

bool operandFits(const Operand& operand, const ExpectedOperand& expected, const OperandContext& context) {
  using Kind = FormOperand::Kind;
  const FormOperand& form = *expected.form;
  switch (form.kind) {
    case Kind::Address: return addressFits(operand, expected, context);
    case Kind::Texture: return textureFits(operand, expected, context);
    case Kind::Label: return operand.kind == Operand::Kind::Label;
    case Kind::Targets: return operand.kind == Operand::Kind::BranchTarget;
    case Kind::Sink: return operand.kind == Operand::Kind::Sink;
    case Kind::Call: return true;
    default: break;
  }
  switch (operand.kind) {
    case Operand::Kind::Vector: return vectorFits(operand, expected, context);
    case Operand::Kind::Symbol:
    case Operand::Kind::Function: return symbolFits(operand, expected, context);
    case Operand::Kind::Pair: {
      if (!form.pair || operand.elements.size() != 2) return false;
      ExpectedOperand second = expected;
      FormOperand sinkable = form;
      sinkable.sink = true;
      second.form = &sinkable;
      second.type = Type::Pred;
      return elementFits(operand.elements[0], expected.type, expected, context, false) &&
             elementFits(operand.elements[1], Type::Pred, second, context, false);
    }
    case Operand::Kind::Register: {
      const Register& reg = context.function->registers[operand.reg];
      bool whole = reg.vector > 1 && operand.select == Operand::Select::Whole;
      if (whole)
        return expected.count == reg.vector &&
               registerFits(reg.type, expected.type, expected.isFixedType, form.wider, true);
      break;
    }
    case Operand::Kind::Sink:
      if (expected.count != 0) return form.sink && context.opcode == Opcode::Atom;
      break;
    default: break;
  }
  // The second result of setp may be left out.
  const bool needsPair = form.pair && !form.pairOptional && context.opcode != Opcode::Setp;
  if (expected.count != 0 || needsPair) return false;
  return elementFits(operand, expected.type, expected, context, false);
}

std::string explainOperand(const Operand& operand, const ExpectedOperand& expected, const OperandContext& context) {
  using Kind = FormOperand::Kind;
  const FormOperand& form = *expected.form;
  std::string wanted = describe(expected.type, expected.isFixedType, form.wider);
  switch (form.kind) {
    case Kind::Address:
      if (operand.kind != Operand::Kind::Address) return "must be an address in [ ]";
      if (operand.variable && operand.variable->space != expected.space)
        return "names '" + std::string(operand.variable->name) + "', which is in " + describe(operand.variable->space) +
               ", not in " + describe(expected.space);
      if (operand.variable) return "names a variable where a register is needed";
      if (!operand.hasRegister) return "may be a plain number only in the .local state space";
      return "needs an address register";
    case Kind::Texture: return "must be a texture or surface with its coordinates, [name, {x, ...}]";
    case Kind::Label: return "must be a label";
    case Kind::Targets: return "must name a .branchtargets list";
    case Kind::Sink: return "must be _";
    case Kind::Immediate:
      if (operand.kind == Operand::Kind::Integer) return explainRange(form);
      return "must be an integer constant";
    case Kind::FloatImmediate: return "must be a floating-point constant";
    default: break;
  }
  switch (operand.kind) {
    case Operand::Kind::Register: {
      const Register& reg = context.function->registers[operand.reg];
      if (expected.count > 0) return "must be a vector of " + std::to_string(expected.count);
      if (form.pair && !form.pairOptional) return "must be two destinations, d|p";
      if (operand.negated) return "cannot be negated here";
      if (operand.offset != 0 && !sumFits(operand, expected, context)) return "cannot have a number added here";
      if (operand.select != Operand::Select::Whole && reg.vector <= 1) return "cannot have a selector here";
      return "is ." + std::string(spelling(reg.type)) + " where " + wanted + " is wanted";
    }
    case Operand::Kind::Vector:
      if (expected.count == 0) return "must not be a vector";
      if (operand.elements.size() != expected.count)
        return "has " + std::to_string(operand.elements.size()) + " elements where " + std::to_string(expected.count) +
               " are wanted";
      return "has elements that are not all " + wanted;
    case Operand::Kind::Integer:
    case Operand::Kind::Float:
      if (form.kind == Kind::Destination || form.kind == Kind::Register) return "must be a register";
      if (expected.count > 0) return "must be a vector of " + std::to_string(expected.count);
      if (operand.kind == Operand::Kind::Integer && !inRange(operand, form, context)) return explainRange(form);
      return std::string("is ") + (operand.kind == Operand::Kind::Integer ? "an integer" : "a floating-point") +
             " constant where " + wanted + " is wanted";
    case Operand::Kind::Sink: return "cannot be _ here";
    case Operand::Kind::SpecialRegister:
      return takesSpecialRegisters(context) && form.kind != Kind::Destination
                 ? "is a special register of another type than " + wanted
                 : "cannot be a special register: move it to a register first";
    case Operand::Kind::Pair: return "must be a single destination";
    default: return "must be a register or a constant";
  }
}

}  // namespace mulciber::ptx
