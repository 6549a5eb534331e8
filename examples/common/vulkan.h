// Vulkan through volk, which gets its functions from the loader when the program runs.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
//
#include <volk.h>
