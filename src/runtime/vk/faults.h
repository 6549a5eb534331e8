// Makes Vulkan calls fail, for tests: what a program sees when memory runs out or the device is lost at any moment.
#pragma once

#include <cstdint>

#include "runtime/vk/volk.h"

namespace mulciber::vk {

// From now on the call of that number, counted from 1, gives `error`; 0 for none. A lost device stays lost: all later
// calls on it fail too. Only calls that can fail are counted, and no polls, on devices opened after the first
// use of this function.
void failVulkanCall(uint64_t number, VkResult error);
uint64_t countedVulkanCalls();  // since then

// Puts the counting before the device's functions, if tests have asked for it.
void prepareFaults(VolkDeviceTable& api);

}  // namespace mulciber::vk
