// Where variables are, and the addresses that memory operands name.
#include <algorithm>
#include <bit>

#include "mulciber/kernel_abi.h"
#include "mulciber/references.h"
#include "translator/lower/function_lowering.h"
#include "translator/lower/program_lowering.h"

namespace mulciber::lower {
namespace {

// The largest power of two, at most 32, that divides the offset.
uint32_t alignmentOf(int64_t offset, uint32_t base) {
  uint32_t known = std::min(std::max(base, 1u), 32u);
  if (offset == 0) return known;
  return std::min(known, 1u << std::min(5, std::countr_zero(static_cast<uint64_t>(offset))));
}

}  // namespace

FunctionLowering::Address FunctionLowering::locate(const ptx::Variable& variable) {
  switch (variable.space) {
    case ptx::StateSpace::Global:
    case ptx::StateSpace::Const:
      if (!program_.layout().contains(variable)) {
        refuse(variable.where, "'" + std::string(variable.name) + "' is declared extern and no module defines it");
        return {b.i64(0), ir::Space::Global, 1};
      }
      return {b.add(b.input(ir::InputKind::ModuleData), b.i64(program_.layout().offsetOf(variable))), ir::Space::Global,
              variable.alignment};
    case ptx::StateSpace::Shared:
      return {b.i32(program_.sharedOffset(variable)), ir::Space::Shared, variable.alignment};
    case ptx::StateSpace::Local:
    case ptx::StateSpace::Param:
      if (auto found = info().frameOffsets.find(&variable); found != info().frameOffsets.end())
        return {frameAddress(found->second), ir::Space::Local, std::min(variable.alignment, 16u)};
      if (const std::optional<uint32_t> place = program_.parameterOffset(variable))
        return {b.i32(*place), ir::Space::Param, variable.alignment};
      break;
    default: break;
  }
  refuse(variable.where, "'" + std::string(variable.name) + "' has no address");
  return {b.i64(0), ir::Space::Global, 1};
}

FunctionLowering::Address FunctionLowering::offset(const Address& base, int64_t bytes) {
  if (bytes == 0) return base;
  ir::Instruction* sum = b.add(base.value, b.constant(base.value->type, static_cast<uint64_t>(bytes)));
  return {sum, base.space, alignmentOf(bytes, base.knownAlignment)};
}

// As ptxas computes it: in 32 bits, whatever the index's register is.
FunctionLowering::Address FunctionLowering::element(const ptx::Operand& operand) {
  const ptx::Register& index = function_.registers[operand.reg];
  const auto size = static_cast<uint32_t>(ptx::scalarSize(operand.variable->type));
  ir::Instruction* position = fit(b.read(variableOf(operand.reg)), ir::I32, ptx::isSigned(index.type));
  ir::Instruction* bytes = b.add(b.mul(position, b.i32(size)), b.i32(static_cast<uint32_t>(operand.offset)));
  const Address base = locate(*operand.variable);
  return {b.add(base.value, fit(bytes, base.value->type)), base.space, std::min(base.knownAlignment, size)};
}

FunctionLowering::Address FunctionLowering::address(const ptx::Operand& operand, ptx::StateSpace space) {
  if (operand.isIndexed) return element(operand);
  if (operand.kind == ptx::Operand::Kind::Address && !operand.hasRegister && operand.variable) {
    Address base = locate(*operand.variable);
    return offset(base, operand.offset);
  }
  ir::Space irSpace = ir::Space::Generic;
  switch (space) {
    case ptx::StateSpace::Global:
    case ptx::StateSpace::Const: irSpace = ir::Space::Global; break;
    case ptx::StateSpace::Shared: irSpace = ir::Space::Shared; break;
    case ptx::StateSpace::Local: irSpace = ir::Space::Local; break;
    case ptx::StateSpace::Param: irSpace = function_.isEntry ? ir::Space::Param : ir::Space::Local; break;
    default: break;
  }
  bool isWide = irSpace == ir::Space::Global || irSpace == ir::Space::Generic;
  ir::Type type = isWide ? ir::I64 : ir::I32;
  if (!operand.hasRegister) return {b.constant(type, static_cast<uint64_t>(operand.offset)), irSpace, 1};
  ir::Instruction* base = b.read(variableOf(operand.reg));
  if (space == ptx::StateSpace::Const && base->type.totalBits() == 32) {
    // The low half of a constant's address: the upper half is the module's.
    ir::Instruction* module = b.input(ir::InputKind::ModuleData);
    ir::Instruction* distance = b.sub(base, b.convert(ir::Op::Trunc, ir::I32, module));
    base = b.add(module, b.convert(ir::Op::ZExt, ir::I64, distance));
  }
  return offset({fit(base, type), irSpace, 1}, operand.offset);
}

ir::Instruction* FunctionLowering::generic(const Address& address) {
  uint64_t window = 0;
  switch (address.space) {
    case ir::Space::Shared: window = abi::sharedWindow; break;
    case ir::Space::Local: window = abi::localWindow; break;
    case ir::Space::Param: window = abi::paramWindow; break;
    default: return address.value;
  }
  program_.noteGeneric(address.space);
  return b.bitOr(b.convert(ir::Op::ZExt, ir::I64, fit(address.value, ir::I32)), b.i64(window));
}

ir::Instruction* FunctionLowering::allocate(ir::Instruction* bytes, uint32_t alignment) {
  uint32_t mask = std::bit_ceil(std::max(alignment, 8u)) - 1;
  ir::Instruction* begin = b.bitAnd(b.add(stack(), b.i32(mask)), b.i32(~mask));
  ir::Instruction* limit = stackEnd();
  ir::Instruction* left = b.sub(limit, begin);
  ir::Instruction* fits = b.bitAnd(b.compare(ir::Op::ULe, begin, limit), b.compare(ir::Op::ULe, bytes, left));
  beginIf(b.bitNot(fits));
  fail(KernelFault::OutOfStack);
  endIf();
  restoreStack(b.add(begin, bytes));
  return begin;
}

// Of a reference the handle of its object, which instructions take from a register too.
ir::Instruction* FunctionLowering::addressOf(const ptx::Variable& variable, bool asGeneric) {
  if (ptx::isOpaque(variable.type) && variable.space == ptx::StateSpace::Global) {
    const std::optional<uint32_t> place = program_.parameterOffset(variable);
    if (!place) refuse(variable.where, "samplers apart from textures (.texmode_independent) are not supported");
    ir::MemoryAccess access;
    access.space = ir::Space::Param;
    access.alignment = referenceBytes;
    return b.load(ir::I64, b.i32(place.value_or(0)), access);
  }
  Address place = locate(variable);
  return asGeneric ? generic(place) : fit(place.value, ir::I64);
}

}  // namespace mulciber::lower
