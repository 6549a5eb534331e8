#include "runtime/vk/image.h"

#include <algorithm>

#include "runtime/vk/device.h"

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
  return info;
}

Status check(const Device& device, const VkImageCreateInfo& info) {
  VkImageFormatProperties most{};
  if (vkGetPhysicalDeviceImageFormatProperties(device.physical().handle, info.format, info.imageType, info.tiling,
                                               info.usage, info.flags, &most) != VK_SUCCESS)
    return Status::Unsupported;
  const bool fits = info.extent.width <= most.maxExtent.width && info.extent.height <= most.maxExtent.height &&
                    info.extent.depth <= most.maxExtent.depth && info.mipLevels <= most.maxMipLevels &&
                    info.arrayLayers <= most.maxArrayLayers;
  return fits ? Status::Ok : Status::Unsupported;
}

}  // namespace

Status Image::create(Device& device, const ImageShape& shape, std::shared_ptr<Image>& out) {
  std::shared_ptr<Image> image(new Image(device, shape));
  if (Status status = image->create(); status != Status::Ok) return status;
  out = std::move(image);
  return Status::Ok;
}

Status Image::create() {
  const VolkDeviceTable& api = device_.api();
  const VkImageCreateInfo info = createInfo(shape_);
  if (Status status = check(device_, info); status != Status::Ok) return status;
  const VkResult result = api.vkCreateImage(device_.handle(), &info, device_.callbacks(), &handle_);
  if (result != VK_SUCCESS) handle_ = VK_NULL_HANDLE;
  if (Status status = device_.status(result, "creating an image"); status != Status::Ok) return status;
  VkMemoryRequirements needed{};
  api.vkGetImageMemoryRequirements(device_.handle(), handle_, &needed);
  alignment_ = needed.alignment;
  if (Status status = device_.allocator().allocateImage(needed, memory_); status != Status::Ok) return status;
  if (Status status = device_.status(
          api.vkBindImageMemory(device_.handle(), handle_, Allocator::deviceMemory(memory_), memory_.offset),
          "binding the memory of an image");
      status != Status::Ok)
    return status;
  return makeGeneral();
}

// The host waits: kernels of any queue may use the image next, and nothing tells which.
Status Image::makeGeneral() {
  Queue& queue = device_.idleQueue();
  Position position(queue);
  const Status status = queue.record(position, [&](Commands& commands) {
    commands.makeGeneral(handle_);
    return Status::Ok;
  });
  return status == Status::Ok ? queue.wait(position.last.value, WaitMode::Auto) : status;
}

Image::~Image() {
  if (device_.isStuck()) return;
  const VolkDeviceTable& api = device_.api();
  for (const View& view : views_) api.vkDestroyImageView(device_.handle(), view.handle, device_.callbacks());
  if (handle_ != VK_NULL_HANDLE) api.vkDestroyImage(device_.handle(), handle_, device_.callbacks());
  device_.allocator().free(memory_);
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
  if (Status status =
          device_.status(device_.api().vkCreateImageView(device_.handle(), &info, device_.callbacks(), &view),
                         "creating a view of an image");
      status != Status::Ok)
    return status;
  views_.push_back({shape, view});
  out = view;
  return Status::Ok;
}

}  // namespace mulciber::vk
