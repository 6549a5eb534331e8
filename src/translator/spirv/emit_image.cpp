// Images and samplers, chosen by number from the arrays of descriptors of texture_abi.h. The lanes of a subgroup may
// choose different ones.
#include <algorithm>
#include <iterator>

#include "mulciber/texture_abi.h"
#include "translator/ir/names.h"
#include "translator/spirv/emitter.h"
#include "translator/spirv/memory.h"

namespace mulciber::spirv {
namespace {

using abi::ImageShape;
using ir::Op;

struct Dimension {
  spv::Dim dim;
  bool isArrayed;
};

Dimension dimensionOf(Emitter& e, ImageShape shape, bool isStorage) {
  switch (shape) {
    case ImageShape::Line:
    case ImageShape::Lines:
      e.module.capability(isStorage ? spv::Capability::Image1D : spv::Capability::Sampled1D);
      return {spv::Dim::Dim1D, shape == ImageShape::Lines};
    case ImageShape::Volume: return {spv::Dim::Dim3D, false};
    case ImageShape::Cube: return {spv::Dim::Cube, false};
    case ImageShape::Cubes: e.module.capability(spv::Capability::SampledCubeArray); return {spv::Dim::Cube, true};
    case ImageShape::Plane:
    case ImageShape::Planes: break;
  }
  return {spv::Dim::Dim2D, shape == ImageShape::Planes};
}

Id imageType(Emitter& e, ImageShape shape, ir::Type texel) {
  const Dimension dimension = dimensionOf(e, shape, false);
  return e.module.imageType(e.type(texel), dimension.dim, dimension.isArrayed);
}

// Where the descriptor of that number is.
Id descriptorPlace(Emitter& e, uint32_t binding, Id type, std::string_view name, Id number) {
  Id pointer = e.module.pointerType(spv::StorageClass::UniformConstant, type);
  Id at = e.module.emit(spv::Op::OpAccessChain, pointer, {e.descriptors(binding, type, name), number});
  e.module.decorate(at, spv::Decoration::NonUniform);
  return at;
}

Id descriptor(Emitter& e, uint32_t binding, Id type, std::string_view name, Id number) {
  if (const auto known = e.loadedDescriptors.find({number, type}); known != e.loadedDescriptors.end())
    return known->second;
  Id at = descriptorPlace(e, binding, type, name, number);
  Id loaded = e.module.emit(spv::Op::OpLoad, type, {at});
  e.module.decorate(loaded, spv::Decoration::NonUniform);
  return loaded;
}

// `count` operands from `first` on, as one value of their type.
Id together(Emitter& e, const ir::Instruction& i, size_t first, size_t count) {
  if (count == 1) return e.operand(i, first);
  std::vector<Id> parts;
  for (size_t n = 0; n < count; ++n) parts.push_back(e.operand(i, first + n));
  return e.construct(i.operands[first]->type.withLanes(static_cast<uint8_t>(count)), parts);
}

Id coordinates(Emitter& e, const ir::Instruction& i, size_t first) {
  return together(e, i, first, ir::coordinateCount(static_cast<ImageShape>(i.payload)));
}

Id sampledImage(Emitter& e, const ir::Instruction& i) {
  e.module.capability(spv::Capability::SampledImageArrayNonUniformIndexing);
  const Id type = imageType(e, static_cast<ImageShape>(i.payload), i.type.scalar());
  return descriptor(e, abi::sampledImageBinding, type, "images", e.operand(i, 0));
}

Id samplerOf(Emitter& e, const ir::Instruction& i) {
  return descriptor(e, abi::samplerBinding, e.module.samplerType(), "samplers", e.operand(i, 1));
}

// Of storage images, with the scope at which other threads see what is written.
std::vector<Id> imageOperands(Emitter& e, const ir::Instruction& i) {
  if (i.memory.order == ir::Order::Weak) return {};
  using Mask = spv::ImageOperandsMask;
  const Mask shares = i.op == Op::ImageRead ? Mask::MakeTexelVisible : Mask::MakeTexelAvailable;
  const uint32_t mask = static_cast<uint32_t>(shares) | static_cast<uint32_t>(Mask::NonPrivateTexel);
  return {mask, e.module.constant32(scopeOf(i.memory.scope))};
}

// Atomic operations want a format; of one that is not known, texels are read and written as the view has them.
Id storageImageType(Emitter& e, ImageShape shape, spv::ImageFormat format) {
  const Dimension dimension = dimensionOf(e, shape, true);
  return e.module.storageImageType(e.type(ir::I32), dimension.dim, dimension.isArrayed, format);
}

spv::Op atomicOperation(Op op) {
  switch (op) {
    case Op::ImageAtomicAdd: return spv::Op::OpAtomicIAdd;
    case Op::ImageAtomicAnd: return spv::Op::OpAtomicAnd;
    case Op::ImageAtomicOr: return spv::Op::OpAtomicOr;
    case Op::ImageAtomicUMin: return spv::Op::OpAtomicUMin;
    case Op::ImageAtomicUMax: return spv::Op::OpAtomicUMax;
    case Op::ImageAtomicSMin: return spv::Op::OpAtomicSMin;
    default: return spv::Op::OpAtomicSMax;
  }
}

Id emitAtomic(Emitter& e, const ir::Instruction& i, ImageShape shape) {
  const Id type = storageImageType(e, shape, spv::ImageFormat::R32ui);
  const Id image = descriptorPlace(e, abi::storageImageBinding, type, "atomicImages", e.operand(i, 0));
  const Id texelType = e.module.pointerType(spv::StorageClass::Image, e.type(ir::I32));
  const Id texel =
      e.module.emit(spv::Op::OpImageTexelPointer, texelType, {image, coordinates(e, i, 1), e.module.constant32(0)});
  e.module.decorate(texel, spv::Decoration::NonUniform);
  const Id value = e.value(i.operands.back());
  return e.op(atomicOperation(i.op), ir::I32,
              {texel, e.module.constant32(scopeOf(ir::Scope::Device)), e.module.constant32(0), value});
}

Id emitStorageImage(Emitter& e, const ir::Instruction& i, ImageShape shape) {
  e.module.capability(spv::Capability::StorageImageArrayNonUniformIndexing);
  if (i.op != Op::ImageRead && i.op != Op::ImageWrite) return emitAtomic(e, i, shape);
  const Id type = storageImageType(e, shape, spv::ImageFormat::Unknown);
  const Id image = descriptor(e, abi::storageImageBinding, type, "surfaces", e.operand(i, 0));
  std::vector<Id> operands = {image, coordinates(e, i, 1)};
  if (i.op == Op::ImageWrite) operands.push_back(e.value(i.operands.back()));
  std::ranges::copy(imageOperands(e, i), std::back_inserter(operands));
  if (i.op == Op::ImageRead) {
    e.module.capability(spv::Capability::StorageImageReadWithoutFormat);
    return e.module.emit(spv::Op::OpImageRead, e.type(i.type), operands);
  }
  e.module.capability(spv::Capability::StorageImageWriteWithoutFormat);
  e.module.emitVoid(spv::Op::OpImageWrite, operands);
  return 0;
}

}  // namespace

Id Emitter::descriptors(uint32_t binding, Id elementType, std::string_view name) {
  Id& variable = descriptors_[elementType];
  if (variable != 0) return variable;
  module.capability(spv::Capability::RuntimeDescriptorArray);
  variable = module.globalVariable(spv::StorageClass::UniformConstant, module.runtimeArrayType(elementType), name);
  module.decorate(variable, spv::Decoration::DescriptorSet, {abi::textureSet});
  module.decorate(variable, spv::Decoration::Binding, {binding});
  return variable;
}

Id emitImage(Emitter& e, const ir::Instruction& i) {
  const auto shape = static_cast<ImageShape>(i.payload);
  if (isStorageImage(i.op)) return emitStorageImage(e, i, shape);
  const Id image = sampledImage(e, i);
  constexpr auto lod = static_cast<uint32_t>(spv::ImageOperandsMask::Lod);
  if (i.op == Op::ImageFetch)
    return e.op(spv::Op::OpImageFetch, i.type, {image, coordinates(e, i, 2), lod, e.operand(i, 1)});
  const Id type = imageType(e, shape, i.type.scalar());
  const Id both = e.module.emit(spv::Op::OpSampledImage, e.module.sampledImageType(type), {image, samplerOf(e, i)});
  e.module.decorate(both, spv::Decoration::NonUniform);
  const size_t first = i.operands.size() - ir::coordinateCount(shape), gradient = (first - 2) / 2;
  const Id place = coordinates(e, i, first);
  if (gradient == 0) return e.op(spv::Op::OpImageSampleExplicitLod, i.type, {both, place, lod, e.operand(i, 2)});
  return e.op(spv::Op::OpImageSampleExplicitLod, i.type,
              {both, place, static_cast<uint32_t>(spv::ImageOperandsMask::Grad), together(e, i, 2, gradient),
               together(e, i, 2 + gradient, gradient)});
}

// Drivers load a descriptor again after each store to memory where the instruction that samples says so.
void loadDescriptors(Emitter& e, const ir::Instruction& number, const std::vector<const ir::Instruction*>& samples) {
  for (const ir::Instruction* sample : samples) {
    const bool isImage = sample->operands[0] == &number;
    const Id type = isImage ? imageType(e, static_cast<ImageShape>(sample->payload), sample->type.scalar())
                            : e.module.samplerType();
    const Id loaded = isImage ? sampledImage(e, *sample) : samplerOf(e, *sample);
    e.loadedDescriptors.emplace(std::pair(e.value(&number), type), loaded);
  }
}

}  // namespace mulciber::spirv
