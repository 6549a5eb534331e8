#include <type_traits>

#define VOLK_IMPLEMENTATION
#include "runtime/vk/volk.h"

namespace mulciber::vk {

bool InstanceFunctions::load(VkInstance instance, PFN_vkGetInstanceProcAddr find) {
  const auto get = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find(instance, name));
    return function != nullptr;
  };
  bool all = true;
#define LOAD(name) all &= get(name, #name)
  LOAD(vkEnumerateDeviceExtensionProperties);
  LOAD(vkGetPhysicalDeviceProperties);
  LOAD(vkGetPhysicalDeviceProperties2);
  LOAD(vkGetPhysicalDeviceFeatures2);
  LOAD(vkGetPhysicalDeviceMemoryProperties);
  LOAD(vkGetPhysicalDeviceMemoryProperties2);
  LOAD(vkGetPhysicalDeviceFormatProperties);
  LOAD(vkGetPhysicalDeviceImageFormatProperties2);
  LOAD(vkGetPhysicalDeviceExternalBufferProperties);
  LOAD(vkGetPhysicalDeviceQueueFamilyProperties);
  LOAD(vkCreateDevice);
  LOAD(vkGetDeviceProcAddr);
#undef LOAD
  get(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
  return all;
}

// volk's own function asks the loader that the process uses.
void loadDeviceTable(VolkDeviceTable& table, VkDevice device, PFN_vkGetDeviceProcAddr find) {
  struct Source {
    VkDevice device;
    PFN_vkGetDeviceProcAddr find;
  } source{device, find};
  volkGenLoadDeviceTable(&table, &source, [](void* from, const char* name) {
    const auto& known = *static_cast<const Source*>(from);
    return known.find(known.device, name);
  });
}

}  // namespace mulciber::vk
