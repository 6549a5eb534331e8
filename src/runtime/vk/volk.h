// The Vulkan functions, loaded at run time. Included in place of <volk.h> and <vulkan/vulkan.h>.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
//
#include <volk.h>
