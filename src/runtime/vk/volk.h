// The Vulkan functions, loaded at run time. Included in place of <volk.h> and <vulkan/vulkan.h>.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
//
#include <volk.h>

namespace mulciber::vk {

// The functions of an instance that we use: of the process's own one, or of an engine's, which must be called the way
// the engine says, since layers may stand in between.
struct InstanceFunctions {
  PFN_vkEnumerateDeviceExtensionProperties vkEnumerateDeviceExtensionProperties = nullptr;
  PFN_vkGetPhysicalDeviceProperties vkGetPhysicalDeviceProperties = nullptr;
  PFN_vkGetPhysicalDeviceProperties2 vkGetPhysicalDeviceProperties2 = nullptr;
  PFN_vkGetPhysicalDeviceFeatures2 vkGetPhysicalDeviceFeatures2 = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties vkGetPhysicalDeviceMemoryProperties = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties2 vkGetPhysicalDeviceMemoryProperties2 = nullptr;
  PFN_vkGetPhysicalDeviceFormatProperties vkGetPhysicalDeviceFormatProperties = nullptr;
  PFN_vkGetPhysicalDeviceImageFormatProperties2 vkGetPhysicalDeviceImageFormatProperties2 = nullptr;
  PFN_vkGetPhysicalDeviceExternalBufferProperties vkGetPhysicalDeviceExternalBufferProperties = nullptr;
  PFN_vkGetPhysicalDeviceQueueFamilyProperties vkGetPhysicalDeviceQueueFamilyProperties = nullptr;
  PFN_vkCreateDevice vkCreateDevice = nullptr;
  PFN_vkGetDeviceProcAddr vkGetDeviceProcAddr = nullptr;
  // Null where the driver does not know it. Files that see older Vulkan headers do not know its type.
  PFN_vkVoidFunction vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR = nullptr;

  // False when one is missing that every loader has.
  bool load(VkInstance instance, PFN_vkGetInstanceProcAddr find);
};

void loadDeviceTable(VolkDeviceTable& table, VkDevice device, PFN_vkGetDeviceProcAddr find);

}  // namespace mulciber::vk
