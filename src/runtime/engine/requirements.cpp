#include <fmt/format.h>

#include "runtime/engine/handles.h"

namespace mulciber::engine_api {

std::unique_ptr<vk::PhysicalDevice> describe(const MulciberPhysicalDevice& info, MulciberResult& result) {
  if (info.structSize < sizeof(MulciberPhysicalDevice) || info.instance == VK_NULL_HANDLE ||
      info.physicalDevice == VK_NULL_HANDLE || !info.getInstanceProcAddr) {
    result = fail(MULCIBER_ERROR_INVALID_ARGUMENT,
                  "MulciberPhysicalDevice: the size, the instance, the device and vkGetInstanceProcAddr must be given");
    return nullptr;
  }
  vk::InstanceFunctions functions;
  if (!functions.load(info.instance, info.getInstanceProcAddr)) {
    result = fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the given vkGetInstanceProcAddr does not know Vulkan's functions");
    return nullptr;
  }
  if (info.apiVersion < MULCIBER_VULKAN_VERSION) {
    result = fail(MULCIBER_ERROR_MISSING_FEATURE,
                  fmt::format("the instance was made for Vulkan {}.{}, 1.3 is needed",
                              VK_API_VERSION_MAJOR(info.apiVersion), VK_API_VERSION_MINOR(info.apiVersion)));
    return nullptr;
  }
  auto device = std::make_unique<vk::PhysicalDevice>(info.physicalDevice, functions);
  if (const std::string why = device->whyUnusable(); !why.empty()) {
    result = fail(MULCIBER_ERROR_MISSING_FEATURE,
                  fmt::format("the physical device {} cannot be used: {}", device->properties().deviceName, why));
    return nullptr;
  }
  result = MULCIBER_SUCCESS;
  return device;
}

}  // namespace mulciber::engine_api

using namespace mulciber;
using namespace mulciber::engine_api;

MulciberResult mulciberCreateRequirements(const MulciberPhysicalDevice* physicalDevice, MulciberRequirements* out) {
  return guarded([&] {
    if (!physicalDevice || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    MulciberResult result = MULCIBER_SUCCESS;
    auto made = std::make_unique<MulciberRequirements_T>();
    made->device = describe(*physicalDevice, result);
    if (!made->device) return result;
    made->request = std::make_unique<vk::FeatureRequest>(*made->device);
    for (const vk::Feature& feature : vk::features())
      made->features.push_back(
          {feature.name, feature.extension, feature.need == vk::Need::Required, vk::isPresent(feature, *made->device)});
    *out = made.release();
    return MULCIBER_SUCCESS;
  });
}

void mulciberDestroyRequirements(MulciberRequirements requirements) { delete requirements; }

MulciberResult mulciberGetFeatures(MulciberRequirements requirements, uint32_t* count, const MulciberFeature** out) {
  if (!requirements || !count || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
  *count = static_cast<uint32_t>(requirements->features.size());
  *out = requirements->features.data();
  return MULCIBER_SUCCESS;
}

MulciberResult mulciberGetExtensions(MulciberRequirements requirements, uint32_t* count, const char* const** out) {
  if (!requirements || !count || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
  *count = static_cast<uint32_t>(requirements->request->extensions().size());
  *out = requirements->request->extensions().data();
  return MULCIBER_SUCCESS;
}

MulciberResult mulciberAddToDevice(MulciberRequirements requirements, VkDeviceCreateInfo* info) {
  return guarded([&] {
    if (!requirements || !info || info->sType != VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null, or leads to no VkDeviceCreateInfo");
    requirements->request->addTo(*info);
    return MULCIBER_SUCCESS;
  });
}
