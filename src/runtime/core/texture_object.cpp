#include "runtime/core/texture_object.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/core/array_view.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/vk/aliased_plane.h"
#include "runtime/vk/descriptors.h"
#include "runtime/vk/device.h"
#include "runtime/vk/formats.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

using abi::ChannelType;
using abi::ImageShape;

constexpr uint64_t addressAlignment = 512, pitchAlignment = 32;  // as the device's attributes say
constexpr uint64_t mostTexels = ~uint32_t{0};                    // of linear memory: CUDA takes more than its limit
constexpr uint64_t mostColumns = 131072, mostRows = 65000, mostPitch = (1u << 21) - 1;
constexpr uint32_t mostAnisotropy = 16;

// cudaChannelFormatKind
enum Kind : uint32_t { Signed = 0, Unsigned = 1, Float = 2, FirstUnorm = 5, LastUnorm = 10, LastSnorm = 16 };

// The format that shows a texel's bits as they are.
VkFormat rawFormat(uint32_t bits, uint32_t channels) {
  constexpr VkFormat formats[3][3] = {
      {VK_FORMAT_R8_UINT, VK_FORMAT_R8G8_UINT, VK_FORMAT_R8G8B8A8_UINT},
      {VK_FORMAT_R16_UINT, VK_FORMAT_R16G16_UINT, VK_FORMAT_R16G16B16A16_UINT},
      {VK_FORMAT_R32_UINT, VK_FORMAT_R32G32_UINT, VK_FORMAT_R32G32B32A32_UINT},
  };
  return formats[bits / 16][channels / 2];
}

// The one of these numbers of channels and bits that samplers give as numbers, of which kernels make the integers.
VkFormat numberFormat(uint32_t bits, uint32_t channels) {
  constexpr VkFormat formats[3][3] = {
      {VK_FORMAT_R8_UNORM, VK_FORMAT_R8G8_UNORM, VK_FORMAT_R8G8B8A8_UNORM},
      {VK_FORMAT_R16_UNORM, VK_FORMAT_R16G16_UNORM, VK_FORMAT_R16G16B16A16_UNORM},
      {VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT},
  };
  return formats[bits / 16][channels / 2];
}

// Those that arrays of words can be viewed as, from CU_RES_VIEW_FORMAT_UNSIGNED_BC1 on.
const ArrayFormat* blockFormat(uint32_t place) {
  constexpr struct {
    uint32_t code, channels;  // of ArrayFormat
  } formats[] = {{0x91, 4}, {0x93, 4}, {0x95, 4}, {0x97, 1}, {0x98, 1},
                 {0x99, 2}, {0x9a, 2}, {0x9b, 3}, {0x9c, 3}, {0x9d, 4}};
  return place < std::size(formats) ? findArrayFormat(formats[place].code, formats[place].channels) : nullptr;
}

VkSamplerAddressMode addressMode(uint32_t mode) {
  switch (static_cast<abi::AddressMode>(mode)) {
    case abi::AddressMode::Wrap: return VK_SAMPLER_ADDRESS_MODE_REPEAT;
    case abi::AddressMode::Mirror: return VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
    case abi::AddressMode::Border: return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
    default: return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  }
}

// Toward zero, and not beyond the largest one.
uint32_t halfBits(float number) {
  const float magnitude = std::min(std::fabs(number), 65504.f);
  const uint32_t sign = std::bit_cast<uint32_t>(number) >> 16 & 0x8000;
  if (magnitude < 0x1p-14f) return sign | static_cast<uint32_t>(magnitude * 0x1p24f);
  return sign | ((std::bit_cast<uint32_t>(magnitude) >> 13) - (112u << 10));
}

// A border's channel as those of a texel are: fractions are rounded, halves toward zero; of integers the low bits
// count.
uint32_t borderBits(const abi::TextureRecord& record, float border) {
  const uint32_t bits = std::bit_cast<uint32_t>(border),
                 mask = record.channelBits == 32 ? ~0u : (1u << record.channelBits) - 1;
  if (record.channelType == ChannelType::Float) return record.channelBits == 32 ? bits : halfBits(border);
  if ((record.flags & abi::ReadsNormalized) == 0) return bits & mask;
  const bool isSigned = record.channelType == ChannelType::Signed;
  const auto largest = static_cast<float>(isSigned ? mask >> 1 : mask);
  const float fraction = std::isnan(border) ? 0 : std::clamp(border, isSigned ? -1.f : 0.f, 1.f);
  const float magnitude = std::ceil(std::fabs(fraction) * largest - 0.5f);
  return static_cast<uint32_t>(static_cast<int32_t>(std::copysign(magnitude, fraction))) & mask;
}

}  // namespace

TextureObject::~TextureObject() {
  vk::Descriptors* descriptors = context_.vulkan().descriptors();
  for (const uint32_t number : numbers_) descriptors->giveBack(vk::Descriptors::Kind::Sampled, number);
}

Error TextureObject::texelsOf(Texels& out) const {
  const ArrayFormat* format = description_.format;
  if (!format) return Error::InvalidValue;
  if (description_.hasView) {
    // CU_RES_VIEW_FORMAT_UINT_1X8 ..: three numbers of channels of each kind.
    constexpr Texels kinds[] = {{8, 0, ChannelType::Unsigned},  {8, 0, ChannelType::Signed},
                                {16, 0, ChannelType::Unsigned}, {16, 0, ChannelType::Signed},
                                {32, 0, ChannelType::Unsigned}, {32, 0, ChannelType::Signed},
                                {16, 0, ChannelType::Float},    {32, 0, ChannelType::Float}};
    constexpr uint32_t plainFormats = 3 * std::size(kinds);
    const uint32_t place = description_.view.format - 1;
    if (place >= plainFormats) {
      out.viewed = blockFormat(place - plainFormats);
      const bool isWords = format->kind == Unsigned && format->bits == 32;
      if (!out.viewed || !isWords || out.viewed->bytes != format->bytes) return Error::InvalidValue;
      return decodedBy(*out.viewed, out);
    }
    if (format->isCompressed()) {
      util::log().warn("views of compressed arrays as other formats are not supported");
      return Error::NotSupported;
    }
    out = kinds[place / 3];
    out.channels = 1u << place % 3;
    return out.bits * out.channels / 8 == format->bytes ? Error::Success : Error::InvalidValue;
  }
  out.bits = format->bits;
  out.channels = format->channels;
  const bool isNormalized = format->kind >= FirstUnorm && format->kind <= LastSnorm;
  if (format->isCompressed() || (format->kind > Float && !isNormalized)) {  // or packed
    if (description_.isMemory()) return Error::InvalidValue;
    return decodedBy(*format, out);
  }
  out.isNormalized = isNormalized;
  out.type = format->kind == Float                                ? ChannelType::Float
             : format->kind == Signed || format->kind > LastUnorm ? ChannelType::Signed
                                                                  : ChannelType::Unsigned;
  return Error::Success;
}

// How many address modes mean something. A line is a plane of one row, which linear filters may leave.
int TextureObject::axes() const {
  switch (description_.resource) {
    case TextureDescription::Resource::Linear: return 1;
    case TextureDescription::Resource::Pitched: return 2;
    default: break;
  }
  const bool isMipmapped = description_.resource == TextureDescription::Resource::Mipmapped;
  const ArrayDescription& array =
      isMipmapped ? description_.mipmapped->description() : description_.array->description();
  return array.dimensions() == 1 && description_.filtersLinear ? 2 : array.dimensions();
}

Error TextureObject::decodedBy(const ArrayFormat& format, Texels& out) const {
  out.bits = 32;
  out.channels = 4;
  out.type = ChannelType::Float;
  out.decoded = format.element;
  out.isOpaque = format.channels != 4;
  if (!format.hasSrgb()) return Error::Success;
  // Each of these formats is followed by the same as sRGB. Arrays of the latter are not read otherwise, as natively.
  if (format.isSrgb() && !description_.isSrgb) return Error::InvalidValue;
  if (description_.isSrgb && !format.isSrgb()) out.decoded = static_cast<VkFormat>(out.decoded + 1);
  return Error::Success;
}

Error TextureObject::describeTexels(abi::TextureRecord& record, Texels& texels) {
  const TextureDescription& asked = description_;
  TRY(texelsOf(texels));
  record.texelBytes = texels.bits * texels.channels / 8;
  record.channelType = texels.type;
  record.channelBits = texels.bits;
  record.channels = texels.channels;
  const bool isInteger = texels.type != ChannelType::Float;
  const bool isNormalized = texels.isNormalized || (isInteger && texels.bits < 32 && !asked.readsIntegers);
  if (isNormalized) record.flags |= abi::ReadsNormalized;
  if (texels.decoded != VK_FORMAT_UNDEFINED) record.flags |= abi::Decoded | (texels.isOpaque ? abi::Opaque : 0u);
  if (asked.isSrgb && isNormalized && texels.bits == 8 && texels.type == ChannelType::Unsigned)
    record.flags |= abi::Srgb;
  const bool filters = asked.filtersLinear && asked.resource != TextureDescription::Resource::Linear;
  if (filters && isInteger && !isNormalized) {  // the driver API makes them, and no manual says what they read
    util::log().warn("linear filters of textures that are read as integers are not supported");
    return Error::NotSupported;
  }
  if (filters) record.flags |= abi::LinearFilter;
  if (asked.filtersLevels && asked.resource == TextureDescription::Resource::Mipmapped)
    record.flags |= abi::LinearMipFilter;
  if (asked.hasNormalizedCoordinates) record.flags |= abi::NormalizedCoordinates;
  for (int i = 0; i < 3; ++i) {
    auto mode = static_cast<abi::AddressMode>(asked.addressModes[i]);
    if (mode > abi::AddressMode::Border) {
      if (i < axes()) return Error::InvalidValue;
      mode = abi::AddressMode::Clamp;  // as the driver tells it back
      description_.addressModes[i] = static_cast<uint32_t>(mode);
    }
    // Only normalised coordinates have a period.
    const bool hasPeriod = mode == abi::AddressMode::Wrap || mode == abi::AddressMode::Mirror;
    record.addressModes[i] =
        static_cast<uint32_t>(hasPeriod && !asked.hasNormalizedCoordinates ? abi::AddressMode::Clamp : mode);
  }
  for (int i = 0; i < 4; ++i) record.border[i] = borderBits(record, asked.border[i]);
  const auto numberOf = [](float level) { return std::isnan(level) ? 0.f : level; };
  record.levelBias = numberOf(asked.levelBias);
  record.minLevel = numberOf(asked.minLevel);
  record.maxLevel = numberOf(asked.maxLevel);
  return Error::Success;
}

Error TextureObject::describeMemory(abi::TextureRecord& record, const Texels& texels) {
  const TextureDescription& asked = description_;
  if (asked.address == 0 || asked.address % addressAlignment != 0 || asked.hasView) return Error::InvalidValue;
  record.address = asked.address;
  if (asked.resource == TextureDescription::Resource::Linear) {
    const uint64_t width = asked.bytes / record.texelBytes;
    if (width > mostTexels) return Error::InvalidValue;
    record.kind = abi::TextureKind::Linear;
    record.width = static_cast<uint32_t>(width);
    if (texels.bits == 32) record.sampling = abi::FetchesWords | texels.channels;
    // What lies outside is zero, whatever the program asks for.
    std::ranges::fill(record.addressModes, static_cast<uint32_t>(abi::AddressMode::Border));
    std::ranges::fill(record.border, 0);
    return Error::Success;
  }
  // Rows may overlap, as natively.
  if (asked.width > mostColumns || asked.height > mostRows || asked.pitch > mostPitch ||
      asked.pitch % pitchAlignment != 0)
    return Error::InvalidValue;
  record.kind = abi::TextureKind::Pitched;
  // An H200 takes no columns for as many as there can be, and no rows for one.
  record.width = static_cast<uint32_t>(asked.width == 0 ? mostColumns : asked.width);
  record.height = std::max(static_cast<uint32_t>(asked.height), 1u);
  record.pitch = static_cast<uint32_t>(asked.pitch);
  record.shape = ImageShape::Plane;
  return context_.vulkan().profile().samplesLikeCuda ? describePlane(record, texels) : Error::Success;
}

// An image over the same memory, where the driver lays planes out in the same way: samplers take no addresses.
Error TextureObject::describePlane(abi::TextureRecord& record, const Texels& texels) {
  const uint64_t lastRow = uint64_t{record.pitch} * (record.height - 1);
  const AllocationRef allocation =
      context_.device().memory().find(record.address, lastRow + uint64_t{record.width} * record.texelBytes);
  if (!allocation || allocation->context.lock().get() != &context_ ||
      allocation->memory.address != allocation->deviceAddress)
    return Error::Success;
  vk::ImageShape shape;
  shape.format = sampledFormat(record, texels);
  shape.width = record.width;
  shape.height = record.height;
  shape.elementBytes = record.texelBytes;
  shape.isStorage = false;
  vk::Memory memory = allocation->memory;
  memory.offset += allocation->offsetOf(record.address);
  vk::Device& vulkan = context_.vulkan();
  vk::Status made = vk::planeOver(vulkan, memory, shape, record.pitch, image_);
  // With all that lies between the rows it may be a plane that the driver would make.
  const bool mayBeWider = !description_.hasNormalizedCoordinates && record.pitch % record.texelBytes == 0 &&
                          record.addressModes[0] == static_cast<uint32_t>(abi::AddressMode::Clamp);
  const bool isWider = made == vk::Status::Unsupported && mayBeWider;
  if (isWider) {
    shape.width = record.pitch / record.texelBytes;
    made = vk::planeOver(vulkan, memory, shape, record.pitch, image_);
  }
  if (made != vk::Status::Ok) return Error::Success;
  vk::Image::ViewShape view{};
  view.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  view.levels = view.layers = 1;
  view.format = shape.format;
  TRY(chooseSampler(record, texels, view));
  if (!isWider || record.sampling == 0) return Error::Success;
  record.sampling |= abi::ClampsColumn;
  record.scale[0] = (record.flags & abi::LinearFilter) != 0 ? 0.5f : 0.f;
  record.scale[1] = static_cast<float>(record.width) - 0.5f;
  return Error::Success;
}

Error TextureObject::number(const vk::Image::ViewShape& shape, uint32_t& out) {
  VkImageView view = VK_NULL_HANDLE;
  if (const auto status = image_->view(shape, view); status != vk::Status::Ok) return errorFrom(status);
  const auto status = context_.vulkan().descriptors()->number(vk::Descriptors::Kind::Sampled, view, out);
  if (status != vk::Status::Ok) return errorFrom(status);
  numbers_.push_back(out);
  return Error::Success;
}

Error TextureObject::describeImage(abi::TextureRecord& record, const Texels& texels) {
  const bool isMipmapped = description_.resource == TextureDescription::Resource::Mipmapped;
  const ArrayDescription& array =
      isMipmapped ? description_.mipmapped->description() : description_.array->description();
  image_ = isMipmapped ? description_.mipmapped->image() : description_.array->image();
  if (isMipmapped && !description_.hasNormalizedCoordinates) {  // as above
    util::log().warn("mipmapped arrays whose textures have texel coordinates are not supported");
    return Error::NotSupported;
  }
  // A reference's format may have been set after its array.
  const ArrayFormat& format = *description_.format;
  if (format.bytes != array.format->bytes || format.isCompressed() != array.format->isCompressed())
    return Error::InvalidValue;
  uint32_t firstLevel = isMipmapped ? 0 : description_.array->level();
  uint32_t levels = isMipmapped ? description_.mipmapped->levels() : 1;
  uint32_t firstLayer = 0, layers = image_->shape().layers;
  if (description_.hasView) {
    const TextureDescription::View& view = description_.view;
    const uint64_t texelsOfElement = texels.viewed ? texels.viewed->block : 1;  // in either direction
    if (view.width != texelsOfElement * array.width || view.height != texelsOfElement * array.height ||
        (!array.hasLayers() && view.depth != array.depth))
      return Error::InvalidValue;
    if (view.lastLevel < view.firstLevel || view.lastLevel >= levels || view.lastLayer < view.firstLayer ||
        view.lastLayer >= layers)
      return Error::InvalidValue;
    firstLevel += view.firstLevel;
    levels = view.lastLevel - view.firstLevel + 1;
    if (array.hasLayers()) {
      firstLayer = view.firstLayer;
      layers = view.lastLayer - view.firstLayer + 1;
    }
    if (array.isCube() && layers % 6 != 0) return Error::InvalidValue;
  }
  if (texels.viewed) TRY(takeBlocks(*texels.viewed));
  const bool isDecoded = texels.decoded != VK_FORMAT_UNDEFINED;
  const uint32_t stored = isDecoded ? format.bytes : record.texelBytes;
  if (!readsTexels(context_.vulkan(), stored)) return Error::NotSupported;
  record.kind = abi::TextureKind::Image;
  const auto sizeAt = [&](uint32_t size) { return std::max(size >> firstLevel, 1u); };
  record.width = sizeAt(image_->shape().width);
  record.height = sizeAt(image_->shape().height);
  record.depth = sizeAt(image_->shape().depth);
  record.levels = levels;
  record.layers = array.isCube() ? layers / 6 : layers;
  record.shape = shapeOf(array);
  if (array.isCube() && description_.isSeamless)
    std::ranges::fill(record.addressModes, static_cast<uint32_t>(abi::AddressMode::Clamp));
  record.rawShape = rawShapeOf(record.shape);
  vk::Image::ViewShape view{};
  view.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  view.baseLevel = firstLevel;
  view.levels = levels;
  view.baseLayer = firstLayer;
  view.layers = layers;
  view.type = viewType(record.rawShape);
  view.format = isDecoded ? texels.decoded : rawFormat(texels.bits, texels.channels);
  TRY(number(view, record.rawImage));
  return chooseSampler(record, texels, view);
}

// Kernels that write the array, or copies that are under way, write nothing to the image of its blocks.
Error TextureObject::takeBlocks(const ArrayFormat& format) {
  TRY(context_.waitIdle());
  vk::BlockCopies& copies = image_->blockCopies();
  std::shared_ptr<vk::Image> blocks;
  const vk::Status status = copies.take(format.element, blocks, blocks_);
  if (status == vk::Status::Unsupported)
    util::log().warn(copies.haveSurfaces()
                         ? "views of an array as compressed texels are not supported beside its surfaces"
                         : "such an array cannot be viewed as compressed texels");
  if (status != vk::Status::Ok) return errorFrom(status);
  image_ = std::move(blocks);
  return Error::Success;
}

// What samplers convert texels from.
VkFormat TextureObject::sampledFormat(const abi::TextureRecord& record, const Texels& texels) const {
  if (texels.decoded != VK_FORMAT_UNDEFINED) return texels.decoded;
  if ((record.flags & abi::ReadsNormalized) == 0)
    return texels.type == ChannelType::Float ? description_.format->element
                                             : numberFormat(texels.bits, texels.channels);
  const VkFormat plain = description_.format->normalized;
  if ((record.flags & abi::Srgb) == 0) return plain;
  // Of two channels Vulkan decodes both, and CUDA one.
  return plain == VK_FORMAT_R8G8B8A8_UNORM ? VK_FORMAT_R8G8B8A8_SRGB
         : plain == VK_FORMAT_R8_UNORM     ? VK_FORMAT_R8_SRGB
                                           : plain;
}

// Where a sampler of the device gives what CUDA gives.
Error TextureObject::chooseSampler(abi::TextureRecord& record, const Texels& texels, vk::Image::ViewShape view) {
  const bool isPlain = record.shape == ImageShape::Line || record.shape == ImageShape::Plane;
  const bool isCube = record.shape == ImageShape::Cube || record.shape == ImageShape::Cubes;
  const bool filters = (record.flags & abi::LinearFilter) != 0;
  const bool isNormalized = (record.flags & abi::ReadsNormalized) != 0;
  const bool isInteger = texels.type != ChannelType::Float && !isNormalized;
  const bool hasBorder =
      std::ranges::find(record.addressModes, uint32_t(abi::AddressMode::Border)) != std::end(record.addressModes);
  if (!context_.vulkan().profile().samplesLikeCuda) return Error::Success;
  const bool hasColor = hasBorder && std::ranges::any_of(record.border, [](uint32_t channel) { return channel != 0; });
  const vk::PhysicalDevice& physical = context_.vulkan().physical();
  if (hasColor && !vk::Descriptors::haveBorderColors(physical)) return Error::Success;
  if (isInteger && (record.flags & abi::LinearMipFilter) != 0) return Error::Success;
  // To CUDA a line is a plane of one row, which lies at the edge of its border.
  if (record.shape == ImageShape::Line && filters &&
      record.addressModes[1] == static_cast<uint32_t>(abi::AddressMode::Border))
    return Error::Success;
  // Vulkan filters across the edges of a cube, and clamps there, unless it is told otherwise.
  const bool clamps = record.addressModes[0] == static_cast<uint32_t>(abi::AddressMode::Clamp) &&
                      record.addressModes[1] == static_cast<uint32_t>(abi::AddressMode::Clamp);
  const bool hasSeams = isCube && (filters || !clamps) && !description_.isSeamless;
  if (hasSeams && !vk::Descriptors::haveSeams(physical)) return Error::Success;
  if (description_.hasView && !texels.viewed) return Error::Success;
  const bool hasTexelCoordinates = !description_.hasNormalizedCoordinates;
  if (hasTexelCoordinates && !isPlain && !scaleCoordinates(record)) return Error::Success;
  view.type = viewType(record.shape);
  view.format = sampledFormat(record, texels);
  const bool isSrgb = view.format == VK_FORMAT_R8G8B8A8_SRGB || view.format == VK_FORMAT_R8_SRGB;
  if ((record.flags & abi::Srgb) != 0 && (!isSrgb || !vk::isFiltered(context_.vulkan().physical(), view.format)))
    return Error::Success;
  TRY(number(view, record.image));
  vk::SamplerDescription sampler;
  sampler.filter = filters ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
  for (int i = 0; i < 3; ++i) sampler.address[i] = addressMode(record.addressModes[i]);
  sampler.hasTexelCoordinates = hasTexelCoordinates && isPlain;
  sampler.hasSeams = hasSeams;
  const bool isSmall = isInteger && texels.bits < 32;
  if (hasColor) {
    const float largest = texels.bits == 8 ? 255.f : 65535.f;
    sampler.border = VK_BORDER_COLOR_FLOAT_CUSTOM_EXT;
    for (int i = 0; i < 4; ++i) {
      const float color = isSmall ? static_cast<float>(record.border[i]) / largest : description_.border[i];
      sampler.borderBits[i] = std::bit_cast<uint32_t>(color);
    }
  }
  if (!sampler.hasTexelCoordinates) {
    sampler.mipFilter =
        (record.flags & abi::LinearMipFilter) != 0 ? VK_SAMPLER_MIPMAP_MODE_LINEAR : VK_SAMPLER_MIPMAP_MODE_NEAREST;
    sampler.levelBias = std::clamp(record.levelBias, -15.f, 15.f);
    sampler.minLevel = record.minLevel;
    sampler.maxLevel = std::max(record.minLevel, record.maxLevel);
    sampler.anisotropy = static_cast<float>(std::clamp(description_.anisotropy, 1u, mostAnisotropy));
  }
  const auto status = context_.vulkan().descriptors()->sampler(sampler, record.sampler);
  if (status == vk::Status::OutOfMemory) return Error::Success;  // the device has all samplers that it can have
  if (status != vk::Status::Ok) return errorFrom(status);
  record.sampling = static_cast<uint32_t>(record.shape) | abi::IsSampled;
  if (texels.channels == 4) record.sampling |= abi::HasFourth;
  if (isSmall) {
    const uint32_t bits = texels.bits + (texels.type == ChannelType::Signed ? 0 : 1);
    record.sampling |= abi::IntegerTexels | bits << abi::extendedShift;
    if (record.shape == ImageShape::Plane) {
      record.scale[2] = texels.bits == 8 ? 255.f : 65535.f;
      record.fine = std::bit_cast<float>(1u << (bits - 1));
    }
  }
  if (sampler.hasTexelCoordinates) record.sampling |= abi::HasOneLevel;
  else if (hasTexelCoordinates) record.sampling |= abi::ScalesCoordinates;
  return Error::Success;
}

// NVIDIA's samplers take 21 bits behind the point of a normalised coordinate: with half of the last one more than the
// quotient has, a product with the size comes to lie in the 256th of a texel that was meant. False for large sizes.
bool TextureObject::scaleCoordinates(abi::TextureRecord& record) {
  constexpr uint32_t mostTexelsOfEdge = 4096;
  const bool filters = (record.flags & abi::LinearFilter) != 0;
  const uint32_t sizes[] = {record.width, record.height, record.depth};
  for (int i = 0; i < 3; ++i) {
    if (sizes[i] > mostTexelsOfEdge) return false;
    const auto size = static_cast<float>(sizes[i]);
    record.scale[i] = filters ? 1 / (256 * size) : 1 / size;
    record.shift[i] = filters ? 0x1p-22f : 0.5f / size;
  }
  record.fine = filters ? 256.f : 1.f;
  record.half = filters ? 0.5f : 0.f;
  return true;
}

Error TextureObject::describe(abi::TextureRecord& record) {
  record.height = record.depth = record.layers = record.levels = 1;
  Texels texels;
  TRY(describeTexels(record, texels));
  return description_.isMemory() ? describeMemory(record, texels) : describeImage(record, texels);
}

Error createTexture(Context& context, const TextureDescription& description, uint64_t& handle) {
  TRY(context.error());
  if (!context.vulkan().descriptors()) {
    util::log().warn("textures are not supported: the device cannot choose images from arrays of descriptors");
    return Error::NotSupported;
  }
  auto object = std::make_shared<TextureObject>(context, description);
  abi::TextureRecord record{};
  TRY(object->describe(record));
  return context.textures().add(record, std::move(object), handle);
}

Error destroyTexture(Context& context, uint64_t handle) {
  std::shared_ptr<const TextureObject> object;
  if (findTexture(context, handle, object) == Error::Success && context.textures().remove(handle) == Error::Success)
    object->release();
  return Error::Success;  // whatever the handle is, as natively
}

Error findTexture(Context& context, uint64_t handle, std::shared_ptr<const TextureObject>& out) {
  out = std::dynamic_pointer_cast<const TextureObject>(context.textures().find(handle));
  return out ? Error::Success : Error::InvalidValue;
}

}  // namespace mulciber::core
