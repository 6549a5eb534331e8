// What the device does with texels of a format.
#pragma once

#include "runtime/vk/volk.h"

namespace mulciber::vk {

struct PhysicalDevice;

// Whether samplers filter images of that format linearly.
bool isFiltered(const PhysicalDevice& physical, VkFormat format);

}  // namespace mulciber::vk
