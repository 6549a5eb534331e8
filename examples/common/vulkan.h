// Vulkan through volk, which gets its functions from the loader when the program runs.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
//
#include <volk.h>

#include <stdexcept>
#include <string>

namespace example {

// What a machine may lack, in words; the rest by its number.
inline std::string describe(VkResult result) {
  switch (result) {
    case VK_ERROR_INITIALIZATION_FAILED: return "there is no Vulkan loader, or its driver does not start";
    case VK_ERROR_INCOMPATIBLE_DRIVER: return "there is no Vulkan driver for it";
    case VK_ERROR_EXTENSION_NOT_PRESENT: return "the device lacks an extension that is needed";
    case VK_ERROR_FEATURE_NOT_PRESENT: return "the device lacks a feature that is needed";
    case VK_ERROR_OUT_OF_HOST_MEMORY: return "there is not enough memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return "the device has not enough memory";
    case VK_ERROR_DEVICE_LOST: return "the device is lost";
    default: return "Vulkan answers " + std::to_string(result);
  }
}

inline void check(VkResult result, const char* what) {
  if (result != VK_SUCCESS) throw std::runtime_error(std::string(what) + " failed: " + describe(result));
}

}  // namespace example
