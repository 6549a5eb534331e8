#include "translator/lower/texture_query.h"

#include "translator/lower/program_lowering.h"
#include "translator/lower/texture_record.h"

namespace mulciber::lower {
namespace {

using ir::Op;
using ptx::Mod;

using abi::ImageShape;

// Sizes as an H200 tells them: the layers stand behind the other sizes, what there is none of is 0, and so is every
// size of a level that the texture has not.
class Sizes {
 public:
  Sizes(FunctionLowering& f, const TextureRecord& record, const ptx::Instruction& instruction)
      : b_(f.b), record_(record), isSurface_(instruction.opcode == ptx::Opcode::Suq) {
    if (instruction.has(Mod::level)) level_ = f.value(instruction.operands[2], ir::I32);
    shape_ = record.word(offsetof(abi::TextureRecord, shape));
  }

  Value width() { return ofLevel(shifted(offsetof(abi::TextureRecord, width))); }
  Value height() {
    const Value isPitched = record_.isKind(abi::TextureKind::Pitched);
    const Value isLine = b_.bitAnd(is(ImageShape::Line), b_.bitNot(isPitched));
    // To a texture a line of an array is a plane of one row.
    const Value isImage = isSurface_ ? b_.boolean(false) : record_.isKind(abi::TextureKind::Image);
    Value rows = b_.select(is(ImageShape::Lines), layers(), shifted(offsetof(abi::TextureRecord, height)));
    rows = b_.select(isLine, b_.convert(Op::ZExt, ir::I32, isImage), rows);
    return ofLevel(rows);
  }
  Value depth() {
    Value hasLayers = b_.bitOr(is(ImageShape::Planes), is(ImageShape::Cubes));
    if (isSurface_) hasLayers = b_.bitOr(hasLayers, is(ImageShape::Cube));
    const Value ofVolume = b_.select(is(ImageShape::Volume), shifted(offsetof(abi::TextureRecord, depth)), b_.i32(0));
    return ofLevel(b_.select(hasLayers, layers(), ofVolume));
  }

 private:
  Value is(ImageShape shape) { return b_.compare(Op::IEq, shape_, b_.i32(static_cast<uint32_t>(shape))); }
  Value layers() { return record_.word(offsetof(abi::TextureRecord, layers)); }
  Value shifted(size_t extent) {
    const Value size = record_.word(extent);
    if (!level_) return size;
    return b_.binary(Op::UMax, b_.lshr(size, b_.binary(Op::UMin, level_, b_.i32(31))), b_.i32(1));
  }
  Value ofLevel(Value size) {
    if (!level_) return size;
    const Value hasLevel = b_.compare(Op::ULt, level_, record_.word(offsetof(abi::TextureRecord, levels)));
    return b_.select(hasLevel, size, b_.i32(0));
  }

  ir::Builder& b_;
  const TextureRecord& record_;
  const bool isSurface_;
  Value level_ = nullptr, shape_;
};

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
    case Mod::width: result = Sizes(f, record, instruction).width(); break;
    case Mod::height: result = Sizes(f, record, instruction).height(); break;
    case Mod::depth: result = Sizes(f, record, instruction).depth(); break;
    case Mod::array_size: result = record.word(offsetof(abi::TextureRecord, layers)); break;
    case Mod::num_mipmap_levels: result = record.word(offsetof(abi::TextureRecord, levels)); break;
    case Mod::normalized_coords:
      result = f.b.convert(Op::ZExt, ir::I32, record.flag(abi::NormalizedCoordinates));
      break;
    default: return f.refuse(instruction, "NVIDIA's driver makes no kernels of this question either");
  }
  f.write(instruction.operands[0], result);
}

// A handle in a register is a reference's own where it is what one of the module's references gives, which is not the
// handle of an object. As on an H200 objects are none of the three kinds.
void lowerIstypep(FunctionLowering& f, const ptx::Instruction& instruction) {
  const ptx::Type kind = instruction.has(Mod::texref)    ? ptx::Type::TexRef
                         : instruction.has(Mod::surfref) ? ptx::Type::SurfRef
                                                         : ptx::Type::SamplerRef;
  const Value handle = f.value(instruction.operands[1], ir::I64);
  Value isOne = f.b.boolean(false);
  for (const ptx::Variable* reference : f.program().layout().references())
    if (reference->type == kind) isOne = f.b.bitOr(isOne, f.b.compare(Op::IEq, handle, f.addressOf(*reference, false)));
  f.write(instruction.operands[0], isOne);
}

}  // namespace mulciber::lower
