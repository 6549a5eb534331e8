#include "runtime/core/surface_object.h"

#include <algorithm>
#include <bit>

#include "runtime/core/array_view.h"
#include "runtime/core/context.h"
#include "runtime/vk/descriptors.h"
#include "runtime/vk/device.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

// cudaChannelFormatKind
enum Kind : uint32_t { Signed = 0, Unsigned = 1, Float = 2, FirstUnorm = 5, LastUnorm = 10, LastSnorm = 16 };

abi::ChannelType channelType(uint32_t kind) {
  if (kind == Float) return abi::ChannelType::Float;
  return kind == Signed || kind > LastUnorm ? abi::ChannelType::Signed : abi::ChannelType::Unsigned;
}

}  // namespace

SurfaceObject::~SurfaceObject() {
  if (hasNumber_) context_.vulkan().descriptors()->giveBack(vk::Descriptors::Kind::Storage, number_);
}

Error SurfaceObject::describe(abi::TextureRecord& record) {
  const ArrayDescription& array = array_->description();
  const ArrayFormat& format = *array.format;
  const vk::Image& image = *array_->image();
  if (format.isCompressed()) return Error::InvalidValue;
  if (format.kind > LastSnorm || !image.shape().isStorage) {
    util::log().warn("surfaces of such formats are not supported");
    return Error::NotSupported;
  }
  const auto sizeAt = [&](uint32_t size) { return std::max(size >> array_->level(), 1u); };
  if (!readsTexels(context_.vulkan(), format.bytes)) return Error::NotSupported;
  record.kind = abi::TextureKind::Surface;
  record.width = sizeAt(image.shape().width);
  record.height = sizeAt(image.shape().height);
  record.depth = sizeAt(image.shape().depth);
  record.layers = image.shape().layers;
  record.levels = 1;
  record.texelBytes = format.bytes;
  record.channelType = channelType(format.kind);
  record.channelBits = format.bits;
  record.channels = format.channels;
  record.flags = format.kind >= FirstUnorm ? uint32_t{abi::ReadsNormalized} : 0;
  record.shape = shapeOf(array);
  record.rawShape = rawShapeOf(record.shape);
  vk::Image::ViewShape shape{};
  shape.type = viewType(record.rawShape);
  shape.format = vk::wordFormat(format.bytes);
  shape.usage = VK_IMAGE_USAGE_STORAGE_BIT;
  shape.baseLevel = array_->level();
  shape.levels = 1;
  shape.layers = image.shape().layers;
  VkImageView view = VK_NULL_HANDLE;
  if (const auto status = array_->image()->view(shape, view); status != vk::Status::Ok) return errorFrom(status);
  use_ = array_->image()->blockCopies().takeSurface();
  if (!use_) {
    util::log().warn("surfaces of an array are not supported beside textures that view it as compressed texels");
    return Error::NotSupported;
  }
  const auto status = context_.vulkan().descriptors()->number(vk::Descriptors::Kind::Storage, view, number_);
  hasNumber_ = status == vk::Status::Ok;
  record.storageImage = record.image = number_;
  record.sampling = abi::IsSurface | static_cast<uint32_t>(record.rawShape) |
                    static_cast<uint32_t>(std::countr_zero(record.texelBytes)) << abi::extendedShift;
  return errorFrom(status);
}

Error createSurface(Context& context, const ArrayRef& array, uint64_t& handle) {
  TRY(context.error());
  if (!context.vulkan().profile().surfaces) {
    util::log().warn("surfaces are not supported: the device cannot write images of arrays of descriptors");
    return Error::NotSupported;
  }
  auto object = std::make_shared<SurfaceObject>(context, array);
  abi::TextureRecord record{};
  TRY(object->describe(record));
  return context.textures().add(record, std::move(object), handle);
}

Error destroySurface(Context& context, uint64_t handle) {
  std::shared_ptr<const SurfaceObject> object;
  if (findSurface(context, handle, object) == Error::Success && context.textures().remove(handle) == Error::Success)
    object->release();
  return Error::Success;  // whatever the handle is, as natively
}

Error findSurface(Context& context, uint64_t handle, std::shared_ptr<const SurfaceObject>& out) {
  out = std::dynamic_pointer_cast<const SurfaceObject>(context.textures().find(handle));
  return out ? Error::Success : Error::InvalidValue;
}

}  // namespace mulciber::core
