#include "translator/lower/texture_query.h"

#include "translator/lower/texture_record.h"

namespace mulciber::lower {
namespace {

using ir::Op;
using ptx::Mod;

Value extent(FunctionLowering& f, const TextureRecord& record, size_t offset, const ptx::Instruction& instruction) {
  Value size = record.word(offset);
  if (!instruction.has(Mod::level)) return size;
  Value level = f.b.emit(Op::UMin, ir::I32, {f.value(instruction.operands[2], ir::I32), f.b.i32(31)});
  return f.b.binary(Op::UMax, f.b.lshr(size, level), f.b.i32(1));
}

}  // namespace

Value textureHandle(FunctionLowering& f, const ptx::Operand& operand) {
  if (operand.kind == ptx::Operand::Kind::Register) return f.value(operand, ir::I64);
  const bool isNamed = operand.variable && !operand.hasRegister && operand.offset == 0;
  if (isNamed && operand.variable->space == ptx::StateSpace::Global) return f.addressOf(*operand.variable, false);
  if (operand.kind == ptx::Operand::Kind::Address && operand.hasRegister)
    return f.address(operand, ptx::StateSpace::Global).value;
  f.refuse(operand.where, "textures and surfaces are named, or their handles are in registers");
  return f.b.i64(0);
}

Value vectorElement(FunctionLowering& f, const ptx::Operand& operand, size_t index, ir::Type type) {
  if (operand.kind == ptx::Operand::Kind::Vector) return f.value(operand.elements[index], type);
  if (index == 0 && f.registerType(operand) != ptx::Type::None && operand.elements.empty())
    return f.value(operand, type);
  f.refuse(operand.where, "coordinates are written as a vector");
  return f.b.undef(type);
}

void lowerQuery(FunctionLowering& f, const ptx::Instruction& instruction) {
  const TextureRecord record(f, textureHandle(f, instruction.operands[1]));
  Value result = nullptr;
  switch (instruction.first(
      {Mod::width, Mod::height, Mod::depth, Mod::array_size, Mod::num_mipmap_levels, Mod::normalized_coords},
      Mod::pred)) {
    case Mod::width: result = extent(f, record, offsetof(abi::TextureRecord, width), instruction); break;
    case Mod::height: result = extent(f, record, offsetof(abi::TextureRecord, height), instruction); break;
    case Mod::depth: result = extent(f, record, offsetof(abi::TextureRecord, depth), instruction); break;
    case Mod::array_size: result = record.word(offsetof(abi::TextureRecord, layers)); break;
    case Mod::num_mipmap_levels: result = record.word(offsetof(abi::TextureRecord, levels)); break;
    case Mod::normalized_coords:
      result = f.b.convert(Op::ZExt, ir::I32, record.flag(abi::NormalizedCoordinates));
      break;
    default: return f.refuse(instruction, "what CUDA answers to this question is not known");
  }
  f.write(instruction.operands[0], result);
}

void lowerIstypep(FunctionLowering& f, const ptx::Instruction& instruction) {
  f.refuse(instruction, "what CUDA answers to this question is not known");
}

}  // namespace mulciber::lower
