// tex and tld4: the forms of the instructions. How a texture is read is in texture_filter.h.
#include "translator/lower/texture_filter.h"
#include "translator/lower/texture_query.h"

namespace mulciber::lower {
namespace {

using abi::ImageShape;
using ir::Op;
using ptx::Mod;

TextureGeometry geometryOf(const ptx::Instruction& instruction) {
  switch (instruction.first({Mod::_1d, Mod::_2d, Mod::_3d, Mod::a1d, Mod::a2d, Mod::cube, Mod::acube}, Mod::pred)) {
    case Mod::_1d: return {1, false, false};
    case Mod::a1d: return {1, true, false};
    case Mod::_3d: return {3, false, false};
    case Mod::a2d: return {2, true, false};
    case Mod::cube: return {3, false, true};
    case Mod::acube: return {3, true, true};
    default: return {2, false, false};
  }
}

std::vector<Value> elements(FunctionLowering& f, const ptx::Operand& operand, size_t first, size_t count,
                            ir::Type type) {
  std::vector<Value> values;
  for (size_t i = 0; i < count; ++i) values.push_back(vectorElement(f, operand, first + i, type));
  return values;
}

// What stands in brackets, and the offsets behind it. False when the form is refused.
bool readPlace(FunctionLowering& f, const ptx::Instruction& instruction, ir::Type coordinate, size_t fixedOperands,
               TextureSample& sample) {
  if (instruction.has(Mod::_2dms) || instruction.has(Mod::a2dms)) {
    f.refuse(instruction, "CUDA has no textures of several samples");
    return false;
  }
  const ptx::Operand& place = instruction.operands[1];
  if (place.elements.size() != 2) {
    f.refuse(instruction, "samplers apart from textures (.texmode_independent) are not supported");
    return false;
  }
  sample.geometry = geometryOf(instruction);
  const ptx::Operand& coordinates = place.elements[1];
  if (sample.geometry.isLayered) sample.layer = vectorElement(f, coordinates, 0, ir::I32);
  sample.coordinates =
      elements(f, coordinates, sample.geometry.isLayered ? 1 : 0, sample.geometry.dimensions, coordinate);
  for (size_t i = fixedOperands; i < instruction.operands.size(); ++i) {
    const ptx::Operand& operand = instruction.operands[i];
    if (operand.kind == ptx::Operand::Kind::Vector) {
      sample.offsets = elements(f, operand, 0, sample.geometry.dimensions, ir::I32);
    } else {
      f.refuse(instruction, "CUDA has no textures to compare depths with");
      return false;
    }
  }
  return true;
}

// The level whose texels are as far apart as the gradients say.
Value levelOfGradients(FunctionLowering& f, const TextureRecord& record, const ptx::Instruction& instruction,
                       unsigned dimensions) {
  ir::Builder& b = f.b;
  constexpr size_t extents[] = {offsetof(abi::TextureRecord, width), offsetof(abi::TextureRecord, height),
                                offsetof(abi::TextureRecord, depth)};
  Value longest = b.f32(0);
  for (size_t which = 2; which < 4; ++which) {
    Value square = b.f32(0);
    for (unsigned i = 0; i < dimensions; ++i) {
      Value texels = b.convert(Op::UToF, ir::F32, record.word(extents[i]));
      Value step = b.binary(Op::FMul, vectorElement(f, instruction.operands[which], i, ir::F32), texels);
      square = b.floating(Op::Fma, {}, {step, step, square});
    }
    longest = b.binary(Op::FMax, longest, square);
  }
  return b.binary(Op::FMul, b.unary(Op::FLog2, longest), b.f32(0.5f));
}

// By the device's own sampler where the record says that this gives what CUDA gives.
Channels sampleOrFilter(FunctionLowering& f, const TextureRecord& record, const TextureSample& sample) {
  ir::Builder& b = f.b;
  if (!f.profile().samplesLikeCuda || !sample.offsets.empty()) return TextureFilter(f, record, sample).sample();
  std::array<ir::VariableId, 4> results;
  for (ir::VariableId& result : results) result = b.function().addVariable(ir::I32, "channel");
  const auto shape = static_cast<uint32_t>(sample.geometry.sampled());
  const Value hasShape = b.compare(Op::IEq, record.word(offsetof(abi::TextureRecord, shape)), b.i32(shape));
  const Value usesSampler = b.bitAnd(record.isKind(abi::TextureKind::Image), record.flag(abi::UsesSampler));
  f.beginIf(b.bitAnd(usesSampler, hasShape));
  // Samplers of texel coordinates know one level.
  Value level = b.f32(0);
  if (sample.level) level = b.select(record.flag(abi::NormalizedCoordinates), sample.level, level);
  std::vector<Value> operands = {record.word(offsetof(abi::TextureRecord, image)),
                                 record.word(offsetof(abi::TextureRecord, sampler)), level};
  operands.insert(operands.end(), sample.coordinates.begin(), sample.coordinates.end());
  if (sample.layer) operands.push_back(b.convert(Op::UToF, ir::F32, sample.layer));
  Value sampled = b.emit(Op::ImageSample, ir::F32.withLanes(4), {}, shape);
  sampled->operands = std::move(operands);
  // A fourth channel that the texture has not is one to Vulkan, and zero to CUDA.
  const Value hasFourth = b.compare(Op::IEq, record.word(offsetof(abi::TextureRecord, channels)), b.i32(4));
  for (unsigned i = 0; i < 4; ++i) {
    Value channel = b.bitcast(ir::I32, b.extract(sampled, i));
    b.write(results[i], i < 3 ? channel : b.select(hasFourth, channel, b.i32(0)));
  }
  f.beginElse();
  const Channels filtered = TextureFilter(f, record, sample).sample();
  for (unsigned i = 0; i < 4; ++i) b.write(results[i], filtered[i]);
  f.endIf();
  return {b.read(results[0]), b.read(results[1]), b.read(results[2]), b.read(results[3])};
}

void writeChannels(FunctionLowering& f, const ptx::Instruction& instruction, const Channels& channels) {
  ir::Builder& b = f.b;
  const auto [destination, isResident] = FunctionLowering::pair(instruction.operands[0]);
  if (isResident) f.write(*isResident, b.boolean(true));
  if (instruction.types[0] != ptx::Type::F16x2) return f.write(*destination, b.vector(channels));
  std::vector<Value> halves;
  for (Value channel : channels) {
    Value half = b.convert(Op::FConvert, ir::F16, b.bitcast(ir::F32, channel));
    halves.push_back(half);
  }
  f.write(*destination, b.bitcast(ir::I32.withLanes(2), b.vector(halves)));
}

bool canReadTextures(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (!f.profile().textures)
    f.refuse(instruction, "the device cannot choose images from arrays of descriptors, which textures need");
  return f.profile().textures;
}

void lowerTex(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (!canReadTextures(f, instruction)) return;
  const bool isInteger = instruction.types[1] == ptx::Type::S32;
  const ir::Type coordinate = isInteger ? ir::I32 : ir::F32;
  const bool hasLevel = instruction.has(Mod::level), hasGradients = instruction.has(Mod::grad);
  const size_t fixedOperands = hasGradients ? 4 : hasLevel ? 3 : 2;
  TextureSample sample;
  if (!readPlace(f, instruction, coordinate, fixedOperands, sample)) return;
  const TextureRecord record(f, textureHandle(f, instruction.operands[1].elements[0]));
  if (hasLevel) sample.level = f.value(instruction.operands[2], coordinate);
  if (hasGradients) sample.level = levelOfGradients(f, record, instruction, sample.geometry.dimensions);
  const Channels channels = isInteger ? TextureFilter(f, record, sample).texel() : sampleOrFilter(f, record, sample);
  writeChannels(f, instruction, channels);
}

void lowerTld4(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (!canReadTextures(f, instruction)) return;
  TextureSample sample;
  if (!readPlace(f, instruction, ir::F32, 2, sample)) return;
  const TextureRecord record(f, textureHandle(f, instruction.operands[1].elements[0]));
  const Mod channel = instruction.first({Mod::r, Mod::g, Mod::b, Mod::a}, Mod::r);
  const unsigned index = channel == Mod::g ? 1 : channel == Mod::b ? 2 : channel == Mod::a ? 3 : 0;
  writeChannels(f, instruction, TextureFilter(f, record, sample).gather(index));
}

constexpr Lowering rows[] = {
    {ptx::Opcode::Tex, lowerTex, Effect::Effects},
    {ptx::Opcode::Tld4, lowerTld4, Effect::Effects},
    {ptx::Opcode::Txq, lowerQuery, Effect::Effects},
    {ptx::Opcode::Istypep, lowerIstypep},
};

}  // namespace

std::span<const Lowering> textureLowerings() { return rows; }

}  // namespace mulciber::lower
