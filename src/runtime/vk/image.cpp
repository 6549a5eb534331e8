#include "runtime/vk/image.h"

#include <algorithm>

#include "runtime/vk/descriptors.h"
#include "runtime/vk/device.h"
#include "util/log.h"

namespace mulciber::vk {

namespace {

VkImageCreateInfo createInfo(const ImageShape& shape) {
  VkImageCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  info.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
  if (shape.isCube) info.flags |= VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
  info.imageType = shape.type;
  info.format = shape.format;
  info.extent = {shape.width, shape.height, shape.depth};
  info.mipLevels = shape.levels;
  info.arrayLayers = shape.layers;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  if (shape.isStorage) info.usage |= VK_IMAGE_USAGE_STORAGE_BIT;
  if (shape.isAttachment) info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  return info;
}

Status check(const Device& device, const VkImageCreateInfo& info, bool isExternal) {
  VkPhysicalDeviceExternalImageFormatInfo external{};
  external.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO;
  external.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkPhysicalDeviceImageFormatInfo2 wanted{};
  wanted.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2;
  if (isExternal) wanted.pNext = &external;
  wanted.format = info.format;
  wanted.type = info.imageType;
  wanted.tiling = info.tiling;
  wanted.usage = info.usage;
  wanted.flags = info.flags;
  VkExternalImageFormatProperties sharing{};
  sharing.sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES;
  VkImageFormatProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2;
  if (isExternal) properties.pNext = &sharing;
  const PhysicalDevice& physical = device.physical();
  if (physical.functions.vkGetPhysicalDeviceImageFormatProperties2(physical.handle, &wanted, &properties) != VK_SUCCESS)
    return Status::Unsupported;
  if (isExternal &&
      (sharing.externalMemoryProperties.externalMemoryFeatures & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) == 0)
    return Status::Unsupported;
  const VkImageFormatProperties& most = properties.imageFormatProperties;
  const bool fits = info.extent.width <= most.maxExtent.width && info.extent.height <= most.maxExtent.height &&
                    info.extent.depth <= most.maxExtent.depth && info.mipLevels <= most.maxMipLevels &&
                    info.arrayLayers <= most.maxArrayLayers;
  return fits ? Status::Ok : Status::Unsupported;
}

}  // namespace

VkFormat wordFormat(uint32_t texelBytes) {
  switch (texelBytes) {
    case 1: return VK_FORMAT_R8_UINT;
    case 2: return VK_FORMAT_R16_UINT;
    case 4: return VK_FORMAT_R32_UINT;
    case 8: return VK_FORMAT_R32G32_UINT;
    default: return VK_FORMAT_R32G32B32A32_UINT;
  }
}

Status Image::createHandle(bool isExternal) {
  VkImageCreateInfo info = createInfo(shape_);
  VkExternalMemoryImageCreateInfo external{};
  external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO;
  external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  if (isExternal) info.pNext = &external;
  TRY(check(device_, info, isExternal));
  const VkResult result = device_.api().vkCreateImage(device_.handle(), &info, device_.callbacks(), &handle_);
  if (result != VK_SUCCESS) handle_ = VK_NULL_HANDLE;
  return device_.status(result, "creating an image");
}

Status Image::bind(VkDeviceMemory memory, uint64_t offset) {
  return device_.status(device_.api().vkBindImageMemory(device_.handle(), handle_, memory, offset),
                        "binding the memory of an image");
}

// The host waits: kernels of any queue may use the image next, and nothing tells which.
template <class Record>
Status Image::recordAndWait(Record&& record) {
  Queue& queue = device_.idleQueue();
  Position position(queue);
  const Status status = queue.record(position, [&](Commands& commands) {
    record(commands, queue);
    return Status::Ok;
  });
  return status == Status::Ok ? queue.wait(position.last.value, WaitMode::Auto) : status;
}

Status Image::create(Device& device, const ImageShape& shape, std::shared_ptr<Image>& out) {
  std::shared_ptr<Image> image(new Image(device, shape));
  TRY(image->createHandle(false));
  VkMemoryRequirements needed{};
  device.api().vkGetImageMemoryRequirements(device.handle(), image->handle_, &needed);
  image->alignment_ = needed.alignment;
  Status status = device.allocator().allocateImage(needed, image->memory_);
  if (status == Status::Ok) status = image->bind(Allocator::deviceMemory(image->memory_), image->memory_.offset);
  if (status == Status::Ok)
    status = image->recordAndWait([&](Commands& commands, Queue&) { commands.makeGeneral(image->handle_); });
  if (status != Status::Ok) return status;
  image->prepareCopies();
  out = std::move(image);
  return Status::Ok;
}

Status Image::import(Device& device, const ImageShape& shape, const ExternalMemory& memory, uint64_t offset,
                     std::shared_ptr<Image>& out) {
  std::shared_ptr<Image> image(new Image(device, shape));
  TRY(image->createHandle(true));
  VkMemoryRequirements needed{};
  device.api().vkGetImageMemoryRequirements(device.handle(), image->handle_, &needed);
  image->alignment_ = needed.alignment;
  if (offset % needed.alignment != 0 || offset > memory.size || needed.size > memory.size - offset) {
    util::log().warn("an image of that shape needs {} bytes at a multiple of {}, and the imported memory has {} at {}",
                     needed.size, needed.alignment, memory.size - std::min(memory.size, offset), offset);
    return Status::Unsupported;
  }
  Status status = importImageMemory(device, memory, image->handle_, image->imported_);
  if (status == Status::Ok) status = image->bind(image->imported_, offset);
  if (status == Status::Ok)
    status = image->recordAndWait(
        [&](Commands& commands, Queue& queue) { commands.acquireGeneral(image->handle_, queue.family()); });
  if (status == Status::Ok) out = std::move(image);
  return status;
}

std::shared_ptr<Image> Image::wrap(Device& device, const ImageShape& shape, VkImage handle) {
  std::shared_ptr<Image> image(new Image(device, shape));
  image->handle_ = handle;
  image->isForeign_ = true;
  return image;
}

Image::~Image() {
  if (device_.isStuck()) return;
  for (const auto& [level, number] : storageNumbers_)
    device_.descriptors()->giveBack(Descriptors::Kind::Storage, number);
  const VkImage own = isForeign_ ? VK_NULL_HANDLE : handle_;
  device_.destroyWhenIdle([&device = device_, views = std::move(views_), own, imported = imported_, memory = memory_] {
    const VolkDeviceTable& api = device.api();
    for (const View& view : views) api.vkDestroyImageView(device.handle(), view.handle, device.callbacks());
    if (own != VK_NULL_HANDLE) api.vkDestroyImage(device.handle(), own, device.callbacks());
    if (imported != VK_NULL_HANDLE) device.freeMemory(imported);
    device.allocator().free(memory);
  });
}

Status Image::view(const ViewShape& shape, VkImageView& out) {
  std::lock_guard lock(mutex_);
  const auto made = std::ranges::find(views_, shape, &View::shape);
  if (made != views_.end()) {
    out = made->handle;
    return Status::Ok;
  }
  VkImageViewUsageCreateInfo usage{};
  usage.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO;
  usage.usage = shape.usage;
  VkImageViewCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
  info.pNext = &usage;
  info.image = handle_;
  info.viewType = shape.type;
  info.format = shape.format;
  info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, shape.baseLevel, shape.levels, shape.baseLayer, shape.layers};
  VkImageView view = VK_NULL_HANDLE;
  TRY(device_.status(device_.api().vkCreateImageView(device_.handle(), &info, device_.callbacks(), &view),
                     "creating a view of an image"));
  views_.push_back({shape, view});
  out = view;
  return Status::Ok;
}

Status Image::storageNumber(uint32_t level, uint32_t& out) {
  constexpr VkImageViewType types[] = {VK_IMAGE_VIEW_TYPE_1D_ARRAY, VK_IMAGE_VIEW_TYPE_2D_ARRAY, VK_IMAGE_VIEW_TYPE_3D};
  VkImageView handle = VK_NULL_HANDLE;
  TRY(view(
      {types[shape_.type], wordFormat(shape_.elementBytes), VK_IMAGE_USAGE_STORAGE_BIT, level, 1, 0, shape_.layers},
      handle));
  std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(storageNumbers_, level, [](const auto& pair) { return pair.first; });
  if (known != storageNumbers_.end()) {
    out = known->second;
    return Status::Ok;
  }
  TRY(device_.descriptors()->number(Descriptors::Kind::Storage, handle, out));
  storageNumbers_.emplace_back(level, out);
  return Status::Ok;
}

}  // namespace mulciber::vk
