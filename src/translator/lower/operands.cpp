// Reading operands and writing results.
#include <algorithm>
#include <array>
#include <bit>

#include "translator/lower/function_lowering.h"
#include "translator/lower/program_lowering.h"

namespace mulciber::lower {
namespace {

unsigned component(ptx::Operand::Select select) {
  using Select = ptx::Operand::Select;
  switch (select) {
    case Select::Y: return 1;
    case Select::Z: return 2;
    case Select::W: return 3;
    default: return 0;
  }
}

}  // namespace

ir::Type irType(ptx::Type type) {
  switch (type) {
    case ptx::Type::None:
    case ptx::Type::Pred: return type == ptx::Type::Pred ? ir::Bool : ir::Void;
    case ptx::Type::F16: return ir::F16;
    case ptx::Type::F32: return ir::F32;
    case ptx::Type::F64: return ir::F64;
    case ptx::Type::TexRef:
    case ptx::Type::SamplerRef:
    case ptx::Type::SurfRef: return ir::I64;
    default: break;
  }
  unsigned bits = ptx::bitWidth(type);
  if (bits > 64) return ir::I64x2;
  return ir::intType(std::max(8u, std::bit_ceil(bits)));
}

ptx::Type FunctionLowering::registerType(const ptx::Operand& operand) const {
  if (operand.kind != ptx::Operand::Kind::Register) return ptx::Type::None;
  return function_.registers[operand.reg].type;
}

FunctionLowering::Pair FunctionLowering::pair(const ptx::Operand& operand) {
  if (operand.kind != ptx::Operand::Kind::Pair) return {&operand, nullptr};
  return {&operand.elements[0], operand.elements.size() > 1 ? &operand.elements[1] : nullptr};
}

ir::VariableId FunctionLowering::variableOf(ptx::RegisterId id, unsigned which) {
  ir::VariableId& first = registers_[id];
  if (first == noVariable) {
    const ptx::Register& declared = function_.registers[id];
    for (unsigned i = 0; i < declared.vector; i++) {
      std::string name(declared.name);
      if (declared.vector > 1) name += std::string(".") + "xyzw"[i & 3];
      ir::VariableId variable = b.function().addVariable(irType(declared.type), std::move(name));
      if (i == 0) first = variable;
    }
  }
  return first + which;
}

ir::Instruction* FunctionLowering::value(const ptx::Operand& operand, ir::Type type) {
  using Kind = ptx::Operand::Kind;
  switch (operand.kind) {
    case Kind::Register: {
      const ptx::Register& declared = function_.registers[operand.reg];
      if (declared.vector > 1 && !operand.selectsComponent()) {
        std::vector<ir::Instruction*> parts;
        for (unsigned i = 0; i < declared.vector; i++) parts.push_back(b.read(variableOf(operand.reg, i)));
        return fit(b.vector(parts), type);
      }
      ir::Instruction* whole = b.read(variableOf(operand.reg, component(operand.select)));
      if (operand.offset != 0) whole = b.add(whole, b.constant(whole->type, static_cast<uint64_t>(operand.offset)));
      ir::Instruction* result = fit(whole, type);
      if (!operand.negated) return result;
      if (type.isBool()) return b.bitNot(result);
      return b.unary(type.isFloat() ? ir::Op::FNeg : ir::Op::Neg, result);
    }
    case Kind::SpecialRegister: return fit(specialRegister(operand.special), type);
    case Kind::Integer:
    case Kind::Float: return constant(operand, type);
    case Kind::Symbol: {
      if (operand.isIndexed) return fit(fit(element(operand).value, ir::I64), type);
      ir::Instruction* address = addressOf(*operand.variable, false);
      if (operand.offset != 0) address = b.add(address, b.i64(static_cast<uint64_t>(operand.offset)));
      return fit(address, type);
    }
    case Kind::Function: return fit(b.i64(program_.layout().functionAddress(*operand.function)), type);
    case Kind::Vector: return pack(operand, type);
    case Kind::Sink: return b.undef(type);
    default: break;
  }
  refuse(operand.where, "this operand is not a value");
  return b.undef(type);
}

ir::Instruction* FunctionLowering::predicate(const ptx::Operand& operand) { return value(operand, ir::Bool); }

ir::Instruction* FunctionLowering::constant(const ptx::Operand& operand, ir::Type type) {
  if (operand.kind == ptx::Operand::Kind::Integer) {
    if (type.isVector()) return fit(b.i64(operand.bits), type, !operand.isUnsigned);
    if (type.isBool()) return b.boolean((operand.bits != 0) != operand.negated);
    if (!type.isFloat()) return b.constant(type, operand.bits);
    double number = operand.isUnsigned ? static_cast<double>(operand.bits)
                                       : static_cast<double>(static_cast<int64_t>(operand.bits));
    if (type == ir::F32) return b.f32(static_cast<float>(number));
    if (type == ir::F64) return b.f64(number);
    return b.constant(type, operand.bits);  // f16 has no literals: these are its bits
  }
  double number = operand.isSingle ? std::bit_cast<float>(static_cast<uint32_t>(operand.bits))
                                   : std::bit_cast<double>(operand.bits);
  uint32_t single =
      operand.isSingle ? static_cast<uint32_t>(operand.bits) : std::bit_cast<uint32_t>(static_cast<float>(number));
  uint64_t wide = operand.isSingle ? std::bit_cast<uint64_t>(number) : operand.bits;
  switch (type.totalBits()) {
    case 32: return b.constant(type, single);
    case 64: return b.constant(type, wide);
    default: break;
  }
  refuse(operand.where, "a floating-point literal must be f32 or f64 here");
  return b.undef(type);
}

// {a, b, ...} as one value, element 0 lowest.
ir::Instruction* FunctionLowering::pack(const ptx::Operand& operand, ir::Type type) {
  if (operand.elements.empty()) return b.undef(type);
  auto count = static_cast<unsigned>(operand.elements.size());
  ir::Type element = type.isVector() && type.lanes == count ? type.scalar() : ir::intType(type.totalBits() / count);
  std::vector<ir::Instruction*> parts;
  for (const ptx::Operand& part : operand.elements) parts.push_back(value(part, element));
  return b.bitcast(type, parts.size() == 1 ? parts[0] : b.vector(parts));
}

ir::Instruction* FunctionLowering::fit(ir::Instruction* v, ir::Type type, bool isSigned) {
  if (v->type == type) return v;
  if (v->type.isBool()) return fit(b.convert(ir::Op::ZExt, ir::I32, v), type);
  if (type.isBool()) return b.compare(ir::Op::INe, v, b.constant(v->type, 0));
  uint32_t from = v->type.totalBits(), to = type.totalBits();
  if (from == to) return b.bitcast(type, v);
  if (from > 64) return fit(b.extract(b.bitcast(ir::I64x2, v), 0), type);
  ir::Instruction* bits = b.bitcast(ir::intType(from), v);
  if (to > 64) {
    ir::Instruction* low = fit(bits, ir::I64, isSigned);
    ir::Instruction* high = isSigned ? b.ashr(low, b.i32(63)) : b.i64(0);
    return b.bitcast(type, b.vector(std::array{low, high}));
  }
  ir::Op op = from > to ? ir::Op::Trunc : isSigned ? ir::Op::SExt : ir::Op::ZExt;
  return b.bitcast(type, b.convert(op, ir::intType(to), bits));
}

void FunctionLowering::write(const ptx::Operand& destination, ir::Instruction* result, bool isSigned) {
  using Kind = ptx::Operand::Kind;
  switch (destination.kind) {
    case Kind::Sink:
    case Kind::None: return;
    case Kind::Register: {
      const ptx::Register& declared = function_.registers[destination.reg];
      ir::Type type = irType(declared.type);
      if (declared.vector > 1 && !destination.selectsComponent()) {
        result = fit(result, type.withLanes(declared.vector));
        for (unsigned i = 0; i < declared.vector; i++) assign(variableOf(destination.reg, i), b.extract(result, i));
        return;
      }
      assign(variableOf(destination.reg, component(destination.select)), fit(result, type, isSigned));
      return;
    }
    case Kind::Vector: {
      auto count = static_cast<uint8_t>(destination.elements.size());
      if (count == 1) return write(destination.elements[0], result, isSigned);
      if (result->type.lanes != count)
        result = b.bitcast(ir::intType(result->type.totalBits() / count).withLanes(count), result);
      for (unsigned i = 0; i < count; i++)
        if (destination.elements[i].kind != Kind::Sink) write(destination.elements[i], b.extract(result, i), isSigned);
      return;
    }
    default: refuse(destination.where, "this operand cannot be written");
  }
}

void FunctionLowering::assign(ir::VariableId variable, ir::Instruction* v) {
  if (guard_) v = b.select(guard_, v, b.read(variable));
  b.write(variable, v);
}

ir::Instruction* FunctionLowering::carry() {
  if (carry_ == noVariable) carry_ = b.function().addVariable(ir::I32, "cc.cf");
  return b.read(carry_);
}

void FunctionLowering::writeCarry(ir::Instruction* v) {
  if (carry_ == noVariable) carry_ = b.function().addVariable(ir::I32, "cc.cf");
  assign(carry_, v);
}

}  // namespace mulciber::lower
