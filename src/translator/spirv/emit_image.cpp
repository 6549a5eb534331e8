// Images and samplers, chosen by number from the arrays of descriptors of texture_abi.h. The lanes of a subgroup may
// choose different ones.
#include "mulciber/texture_abi.h"
#include "translator/spirv/emitter.h"

namespace mulciber::spirv {
namespace {

using abi::ImageShape;
using ir::Op;

struct Dimension {
  spv::Dim dim;
  bool isArrayed;
};

Dimension dimensionOf(Emitter& e, ImageShape shape) {
  switch (shape) {
    case ImageShape::Line:
    case ImageShape::Lines:
      e.module.capability(spv::Capability::Sampled1D);
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
  const Dimension dimension = dimensionOf(e, shape);
  return e.module.imageType(e.type(texel), dimension.dim, dimension.isArrayed);
}

// The descriptor of that number, loaded.
Id descriptor(Emitter& e, uint32_t binding, Id type, std::string_view name, Id number) {
  Id pointer = e.module.pointerType(spv::StorageClass::UniformConstant, type);
  Id at = e.module.emit(spv::Op::OpAccessChain, pointer, {e.descriptors(binding, type, name), number});
  e.module.decorate(at, spv::Decoration::NonUniform);
  Id loaded = e.module.emit(spv::Op::OpLoad, type, {at});
  e.module.decorate(loaded, spv::Decoration::NonUniform);
  return loaded;
}

// The operands from `first` on, as one value of their type.
Id coordinates(Emitter& e, const ir::Instruction& i, unsigned first) {
  const auto count = static_cast<uint8_t>(i.operands.size() - first);
  if (count == 1) return e.operand(i, first);
  std::vector<Id> parts;
  for (unsigned n = 0; n < count; ++n) parts.push_back(e.operand(i, first + n));
  return e.construct(i.operands[first]->type.withLanes(count), parts);
}

}  // namespace

Id Emitter::descriptors(uint32_t binding, Id elementType, std::string_view name) {
  Id& variable = descriptors_[elementType];
  if (variable != 0) return variable;
  module.capability(spv::Capability::RuntimeDescriptorArray);
  module.capability(spv::Capability::SampledImageArrayNonUniformIndexing);
  variable = module.globalVariable(spv::StorageClass::UniformConstant, module.runtimeArrayType(elementType), name);
  module.decorate(variable, spv::Decoration::DescriptorSet, {abi::textureSet});
  module.decorate(variable, spv::Decoration::Binding, {binding});
  return variable;
}

Id emitImage(Emitter& e, const ir::Instruction& i) {
  const auto shape = static_cast<ImageShape>(i.payload);
  const Id type = imageType(e, shape, i.type.scalar());
  const Id image = descriptor(e, abi::sampledImageBinding, type, "images", e.operand(i, 0));
  constexpr auto lod = static_cast<uint32_t>(spv::ImageOperandsMask::Lod);
  if (i.op == Op::ImageFetch)
    return e.op(spv::Op::OpImageFetch, i.type, {image, coordinates(e, i, 2), lod, e.operand(i, 1)});
  const Id sampler = descriptor(e, abi::samplerBinding, e.module.samplerType(), "samplers", e.operand(i, 1));
  const Id both = e.module.emit(spv::Op::OpSampledImage, e.module.sampledImageType(type), {image, sampler});
  e.module.decorate(both, spv::Decoration::NonUniform);
  return e.op(spv::Op::OpImageSampleExplicitLod, i.type, {both, coordinates(e, i, 3), lod, e.operand(i, 2)});
}

}  // namespace mulciber::spirv
