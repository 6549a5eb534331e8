// An image with memory and a view of its own.
#pragma once

#include "common/gpu.h"

namespace example {

struct ImageInfo {
  VkFormat format = VK_FORMAT_UNDEFINED;
  uint32_t width = 0, height = 0;
  VkImageUsageFlags usage = 0;
  VkImageAspectFlags aspect = VK_IMAGE_ASPECT_COLOR_BIT;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  VkImageCreateFlags flags = 0;

  VkImageCreateInfo forVulkan() const;
};

class Image {
 public:
  Image(const Gpu& gpu, const ImageInfo& info);
  ~Image();
  Image(Image&& other) noexcept;
  Image& operator=(Image&&) = delete;

  VkImage get() const { return image_; }
  VkImageView view() const { return view_; }
  // After all that was done with it, and before all that follows. What it held is dropped where `from` is undefined.
  void turn(VkCommandBuffer commands, VkImageLayout from, VkImageLayout to) const;

 private:
  const Gpu& gpu_;
  VkImageAspectFlags aspect_;
  VkImage image_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
};

void turn(VkCommandBuffer commands, VkImage image, VkImageAspectFlags aspect, VkImageLayout from, VkImageLayout to);

}  // namespace example
