#include "common/image.h"

#include <utility>

namespace example {

namespace {

constexpr VkImageSubresourceRange allOf(VkImageAspectFlags aspect) { return {aspect, 0, 1, 0, 1}; }

}  // namespace

VkImageCreateInfo ImageInfo::forVulkan() const {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.flags = flags;
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = format;
  info.extent = {width, height, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = samples;
  info.usage = usage;
  return info;
}

Image::Image(const Gpu& gpu, const ImageInfo& info) : gpu_(gpu), aspect_(info.aspect) {
  if (const uint32_t most = gpu.largestImage(); info.width > most || info.height > most)
    throw std::runtime_error("the device's images have at most " + std::to_string(most) + " x " + std::to_string(most) +
                             " pixels");
  const VkImageCreateInfo create = info.forVulkan();
  check(vkCreateImage(gpu_.device(), &create, nullptr, &image_), "making an image");
  VkMemoryRequirements needs;
  vkGetImageMemoryRequirements(gpu_.device(), image_, &needs);
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = gpu_.memoryType(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  check(vkAllocateMemory(gpu_.device(), &allocate, nullptr, &memory_), "allocating memory");
  check(vkBindImageMemory(gpu_.device(), image_, memory_, 0), "binding memory");
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = image_;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = info.format;
  view.subresourceRange = allOf(aspect_);
  check(vkCreateImageView(gpu_.device(), &view, nullptr, &view_), "making a view");
}

Image::Image(Image&& other) noexcept
    : gpu_(other.gpu_),
      aspect_(other.aspect_),
      image_(std::exchange(other.image_, VK_NULL_HANDLE)),
      memory_(std::exchange(other.memory_, VK_NULL_HANDLE)),
      view_(std::exchange(other.view_, VK_NULL_HANDLE)) {}

Image::~Image() {
  vkDestroyImageView(gpu_.device(), view_, nullptr);
  vkDestroyImage(gpu_.device(), image_, nullptr);
  vkFreeMemory(gpu_.device(), memory_, nullptr);
}

void Image::turn(VkCommandBuffer commands, VkImageLayout from, VkImageLayout to) const {
  example::turn(commands, image_, aspect_, from, to);
}

void turn(VkCommandBuffer commands, VkImage image, VkImageAspectFlags aspect, VkImageLayout from, VkImageLayout to) {
  VkImageMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2};
  barrier.srcStageMask = barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  barrier.srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
  barrier.oldLayout = from;
  barrier.newLayout = to;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = allOf(aspect);
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.imageMemoryBarrierCount = 1;
  dependency.pImageMemoryBarriers = &barrier;
  vkCmdPipelineBarrier2(commands, &dependency);
}

}  // namespace example
