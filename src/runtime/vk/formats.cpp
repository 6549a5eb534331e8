#include "runtime/vk/formats.h"

#include "runtime/vk/instance.h"

namespace mulciber::vk {

bool isFiltered(const PhysicalDevice& physical, VkFormat format) {
  VkFormatProperties properties{};
  physical.functions.vkGetPhysicalDeviceFormatProperties(physical.handle, format, &properties);
  constexpr VkFormatFeatureFlags wanted =
      VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT | VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
  return (properties.optimalTilingFeatures & wanted) == wanted;
}

}  // namespace mulciber::vk
