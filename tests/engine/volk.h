// Vulkan as the engine of the tests has it: with its own loader, apart from Mulciber's.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
//
#include <volk.h>
