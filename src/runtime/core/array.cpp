#include "runtime/core/array.h"

#include <algorithm>
#include <bit>

#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/platform.h"
#include "runtime/vk/device.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

constexpr ArrayFormat formats[] = {
#define ARRAY_FORMAT(name, code, channels, kind, bits, bytes, block, element, normalized) \
  {code, channels, kind, bits, bytes, block, VK_FORMAT_##element, VK_FORMAT_##normalized},
#include "runtime/core/array_formats.def"
#undef ARRAY_FORMAT
};

constexpr uint32_t knownFlags = 0x1FF;
constexpr uint32_t facesOfCube = 6;

// Whether CUDA has arrays of that shape, on whatever device.
bool isShape(const ArrayDescription& wanted) {
  if (!wanted.format || wanted.width == 0 || (wanted.flags & ~knownFlags) != 0) return false;
  if (wanted.isCube()) {
    if (wanted.width != wanted.height) return false;
    return wanted.isLayered() ? wanted.depth != 0 && wanted.depth % facesOfCube == 0 : wanted.depth == facesOfCube;
  }
  if (wanted.isLayered()) return wanted.depth != 0;
  return wanted.height != 0 || wanted.depth == 0;
}

Error check(const ArrayDescription& wanted, bool isImported) {
  if (!isShape(wanted)) return Error::InvalidValue;
  // Formats for depth and for rendering come from graphics alone.
  if ((wanted.flags & ArrayDepthTexture) != 0 || ((wanted.flags & ArrayColorAttachment) != 0 && !isImported))
    return Error::InvalidValue;
  const uint32_t memoryLater = wanted.flags & (ArraySparse | ArrayDeferredMapping);
  if (memoryLater == (ArraySparse | ArrayDeferredMapping) || (memoryLater == ArraySparse && wanted.dimensions() == 1))
    return Error::InvalidValue;
  if (memoryLater != 0) {
    util::log().warn("arrays without memory of their own (sparse, or mapped later) are not supported");
    return Error::NotSupported;
  }
  if ((wanted.flags & ArrayVideo) != 0) {
    util::log().warn("arrays for video encoders and decoders are not supported");
    return Error::NotSupported;
  }
  const bool isPlain = wanted.dimensions() == 2 && !wanted.hasLayers();
  if ((wanted.flags & ArrayTextureGather) != 0 && !isPlain) return Error::InvalidValue;
  if (wanted.format->isCompressed() && wanted.dimensions() == 1) return Error::InvalidValue;
  if (wanted.format->isCompressed() && (wanted.dimensions() == 3 || (wanted.flags & ArraySurfaceLoadStore) != 0)) {
    util::log().warn("compressed arrays have two dimensions and no surfaces");
    return Error::NotSupported;
  }
  // Beyond what any device has; Vulkan's numbers have 32 bits.
  if (std::max({wanted.width, wanted.height, wanted.depth}) > INT32_MAX) return Error::InvalidValue;
  return Error::Success;
}

vk::ImageShape shapeOf(const ArrayDescription& wanted, uint32_t levels) {
  constexpr VkImageType types[] = {VK_IMAGE_TYPE_1D, VK_IMAGE_TYPE_2D, VK_IMAGE_TYPE_3D};
  vk::ImageShape shape;
  shape.type = types[wanted.dimensions() - 1];
  shape.format = wanted.format->element;
  shape.width = static_cast<uint32_t>(wanted.width);
  shape.height = static_cast<uint32_t>(std::max<size_t>(wanted.height, 1));
  (wanted.hasLayers() ? shape.layers : shape.depth) = static_cast<uint32_t>(wanted.slices());
  shape.elementBytes = wanted.format->bytes;
  shape.block = wanted.format->block;
  shape.isCube = wanted.isCube();
  shape.isStorage = (wanted.flags & ArraySurfaceLoadStore) != 0;
  shape.isAttachment = (wanted.flags & ArrayColorAttachment) != 0;
  shape.levels =
      std::clamp(levels, 1u, static_cast<uint32_t>(std::bit_width(std::max({shape.width, shape.height, shape.depth}))));
  return shape;
}

// With surfaces where the format has them: CUDA makes surfaces of arrays without the flag as well.
template <class Make>
vk::Status makeImage(const ArrayDescription& wanted, uint32_t levels, Make&& make) {
  vk::ImageShape shape = shapeOf(wanted, levels);
  shape.isStorage = !wanted.format->isCompressed();
  const vk::Status status = make(shape);
  if (status != vk::Status::Unsupported || !shape.isStorage || (wanted.flags & ArraySurfaceLoadStore) != 0)
    return status;
  shape.isStorage = false;
  return make(shape);
}

Error createImage(Context& context, const ArrayDescription& wanted, uint32_t levels, std::shared_ptr<vk::Image>& out) {
  TRY(context.error());
  TRY(check(wanted, false));
  const vk::Status status = makeImage(wanted, levels, [&](const vk::ImageShape& shape) {
    const vk::Status first = vk::Image::create(context.vulkan(), shape, out);
    if (first != vk::Status::OutOfMemory || !context.freeUnused()) return first;
    return vk::Image::create(context.vulkan(), shape, out);
  });
  return status == vk::Status::Unsupported ? Error::InvalidValue : errorFrom(status);
}

ArrayDescription descriptionOf(const ArrayDescription& whole, uint32_t level) {
  const auto part = [&](size_t extent) { return extent == 0 ? 0 : std::max<size_t>(extent >> level, 1); };
  ArrayDescription description = whole;
  description.width = part(whole.width);
  description.height = part(whole.height);
  if (!whole.hasLayers()) description.depth = part(whole.depth);
  return description;
}

}  // namespace

const ArrayFormat* findArrayFormat(uint32_t code, uint32_t channels) {
  const auto found = std::ranges::find_if(
      formats, [&](const ArrayFormat& format) { return format.code == code && format.channels == channels; });
  return found != std::end(formats) ? found : nullptr;
}

const ArrayFormat* findArrayFormat(VkFormat format) {
  const auto found = std::ranges::find_if(
      formats, [&](const ArrayFormat& one) { return one.element == format || one.normalized == format; });
  return found != std::end(formats) && !found->isCompressed() ? found : nullptr;
}

const ArrayFormat* findArrayFormatByKind(uint32_t kind, uint32_t bits, uint32_t channels) {
  const auto found = std::ranges::find_if(formats, [&](const ArrayFormat& format) {
    return format.kind == kind && format.bits == bits && format.channels == channels;
  });
  return found != std::end(formats) ? found : nullptr;
}

Array::Array(Context& context, std::shared_ptr<vk::Image> image, uint32_t level, const ArrayDescription& description)
    : image_(std::move(image)),
      level_(level),
      description_(description),
      context_(context.weak_from_this()),
      device_(context.device().ordinal()) {}

MipmappedArray::MipmappedArray(Context& context, std::shared_ptr<vk::Image> image, const ArrayDescription& description)
    : image_(std::move(image)),
      description_(description),
      context_(context.weak_from_this()),
      made_(image_->shape().levels) {}

MipmappedArray::~MipmappedArray() {
  const ContextRef owner = context();
  if (!owner) return;
  for (Array* array : made_)
    if (array) owner->arrays().remove(array);
}

Error MipmappedArray::level(uint32_t level, Array*& out) {
  const ContextRef owner = context();
  if (!owner) return Error::ContextIsDestroyed;
  if (level >= levels()) return Error::InvalidValue;
  std::lock_guard lock(mutex_);
  if (!made_[level]) {
    auto array = std::make_shared<Array>(*owner, image_, level, descriptionOf(description_, level));
    array->isLevel_ = true;
    made_[level] = owner->arrays().add(std::move(array));
  }
  out = made_[level];
  return Error::Success;
}

Error createArray(Context& context, const ArrayDescription& description, Array*& out) {
  std::shared_ptr<vk::Image> image;
  TRY(createImage(context, description, 1, image));
  out = context.arrays().add(std::make_shared<Array>(context, std::move(image), 0, description));
  return Error::Success;
}

Error createMipmappedArray(Context& context, const ArrayDescription& description, uint32_t levels,
                           MipmappedArray*& out) {
  std::shared_ptr<vk::Image> image;
  TRY(createImage(context, description, levels, image));
  out = context.mipmappedArrays().add(std::make_shared<MipmappedArray>(context, std::move(image), description));
  return Error::Success;
}

Error importMipmappedArray(Context& context, const ArrayDescription& description, uint32_t levels,
                           const vk::ExternalMemory& memory, uint64_t offset, MipmappedArray*& out) {
  TRY(context.error());
  TRY(check(description, true));
  std::shared_ptr<vk::Image> image;
  const vk::Status status = makeImage(description, levels, [&](const vk::ImageShape& shape) {
    return vk::Image::import(context.vulkan(), shape, memory, offset, image);
  });
  if (status == vk::Status::Unsupported) return Error::InvalidValue;
  if (status != vk::Status::Ok) return errorFrom(status);
  out = context.mipmappedArrays().add(std::make_shared<MipmappedArray>(context, std::move(image), description));
  return Error::Success;
}

Error wrapMipmappedArray(Context& context, const ArrayDescription& description, uint32_t levels, VkImage image,
                         MipmappedArray*& out) {
  TRY(context.error());
  TRY(check(description, true));
  auto wrapped = vk::Image::wrap(context.vulkan(), shapeOf(description, levels), image);
  out = context.mipmappedArrays().add(std::make_shared<MipmappedArray>(context, std::move(wrapped), description));
  return Error::Success;
}

Error destroyArray(Array* array) {
  ArrayRef held;
  TRY(findArray(array, held));
  if (held->isLevel()) return Error::Success;
  const ContextRef owner = held->context();
  TRY(owner->waitIdle());
  return owner->arrays().remove(array) ? Error::Success : Error::InvalidHandle;
}

Error destroyMipmappedArray(MipmappedArray* array) {
  MipmappedArrayRef held;
  TRY(findMipmappedArray(array, held));
  const ContextRef owner = held->context();
  TRY(owner->waitIdle());
  return owner->mipmappedArrays().remove(array) ? Error::Success : Error::InvalidHandle;
}

}  // namespace mulciber::core
