#include "runtime/vk/features.h"

#include <algorithm>
#include <cstring>

#include "runtime/vk/instance.h"

namespace mulciber::vk {

namespace {

template <typename Structure>
struct TypeOf;
#define TYPE(structure, type)                                                          \
  template <>                                                                          \
  struct TypeOf<structure> {                                                           \
    static constexpr VkStructureType value = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##type; \
  };
TYPE(VkPhysicalDeviceFeatures2, FEATURES_2)
TYPE(VkPhysicalDeviceVulkan11Features, VULKAN_1_1_FEATURES)
TYPE(VkPhysicalDeviceVulkan12Features, VULKAN_1_2_FEATURES)
TYPE(VkPhysicalDeviceVulkan13Features, VULKAN_1_3_FEATURES)
TYPE(VkPhysicalDeviceShaderAtomicFloatFeaturesEXT, SHADER_ATOMIC_FLOAT_FEATURES_EXT)
TYPE(VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT, SHADER_ATOMIC_FLOAT_2_FEATURES_EXT)
TYPE(VkPhysicalDeviceShaderAtomicFloat16VectorFeaturesNV, SHADER_ATOMIC_FLOAT16_VECTOR_FEATURES_NV)
TYPE(VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR, WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR)
TYPE(VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR, SHADER_MAXIMAL_RECONVERGENCE_FEATURES_KHR)
TYPE(VkPhysicalDeviceShaderClockFeaturesKHR, SHADER_CLOCK_FEATURES_KHR)
TYPE(VkPhysicalDeviceShaderSMBuiltinsFeaturesNV, SHADER_SM_BUILTINS_FEATURES_NV)
TYPE(VkPhysicalDeviceMapMemoryPlacedFeaturesEXT, MAP_MEMORY_PLACED_FEATURES_EXT)
TYPE(VkPhysicalDeviceCooperativeMatrixFeaturesKHR, COOPERATIVE_MATRIX_FEATURES_KHR)
TYPE(VkPhysicalDeviceShaderBfloat16FeaturesKHR, SHADER_BFLOAT16_FEATURES_KHR)
TYPE(VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR, PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR)
TYPE(VkPhysicalDeviceConditionalRenderingFeaturesEXT, CONDITIONAL_RENDERING_FEATURES_EXT)
TYPE(VkPhysicalDeviceRobustness2FeaturesEXT, ROBUSTNESS_2_FEATURES_EXT)
TYPE(VkPhysicalDeviceNonSeamlessCubeMapFeaturesEXT, NON_SEAMLESS_CUBE_MAP_FEATURES_EXT)
TYPE(VkPhysicalDeviceCustomBorderColorFeaturesEXT, CUSTOM_BORDER_COLOR_FEATURES_EXT)
#undef TYPE

// Without the structure that it lies in.
constexpr const char* nameOf(const char* feature) {
  for (const char* at = feature; *at; ++at)
    if (*at == '.') feature = at + 1;
  return feature;
}

const Feature table[] = {
#define IN(member) [](PhysicalDevice& device) -> void* { return &device.member; }
#define TOGETHER(member, feature)                                                                         \
  {                                                                                                       \
    TypeOf<decltype(PhysicalDevice::member)>::value, offsetof(decltype(PhysicalDevice::member), feature), \
        sizeof(PhysicalDevice::member)                                                                    \
  }
#define FEATURE(member, feature, need, structure, type)                                         \
  {nameOf(#feature),                                                                            \
   Need::need,                                                                                  \
   IN(member),                                                                                  \
   TOGETHER(member, feature),                                                                   \
   {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##type, offsetof(structure, feature), sizeof(structure)}, \
   nullptr},
#define EXTENSION_FEATURE(member, feature, extension) \
  {nameOf(#feature), Need::Optional, IN(member), TOGETHER(member, feature), TOGETHER(member, feature), extension},
#include "runtime/vk/features.def"
#undef EXTENSION_FEATURE
#undef FEATURE
#undef TOGETHER
#undef IN
};

// Beside those of the features. None of them is required.
constexpr const char* wantedExtensions[] = {"VK_EXT_pci_bus_info",       "VK_EXT_external_memory_host",
                                            "VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd",
                                            "VK_EXT_memory_budget",      "VK_KHR_push_descriptor",
                                            "VK_KHR_map_memory2",        "VK_EXT_image_drm_format_modifier"};

VkBool32& switchIn(void* structure, const FeatureSwitch& which) {
  return *reinterpret_cast<VkBool32*>(static_cast<char*>(structure) + which.offset);
}

void* findIn(const void* chain, VkStructureType type) {
  // Vulkan's chains are of pointers to const, those given here to be changed are not.
  for (auto* one = static_cast<VkBaseOutStructure*>(const_cast<void*>(chain)); one; one = one->pNext)
    if (one->sType == type) return one;
  return nullptr;
}

bool isOn(const VkDeviceCreateInfo& info, const FeatureSwitch& which) {
  if (void* structure = findIn(info.pNext, which.structure); structure && switchIn(structure, which)) return true;
  if (which.structure != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 || !info.pEnabledFeatures) return false;
  VkPhysicalDeviceFeatures2 features{};
  features.features = *info.pEnabledFeatures;
  return switchIn(&features, which) == VK_TRUE;
}

}  // namespace

std::span<const Feature> features() { return table; }

VkBool32& valueOf(const Feature& feature, PhysicalDevice& device) {
  return switchIn(feature.structure(device), feature.together);
}

bool isPresent(const Feature& feature, const PhysicalDevice& device) {
  return valueOf(feature, const_cast<PhysicalDevice&>(device)) == VK_TRUE;
}

void keepListed(PhysicalDevice& device) {
  std::vector<VkBool32> listed;
  for (const Feature& feature : table) listed.push_back(valueOf(feature, device));
  for (const Feature& feature : table) {
    std::memset(static_cast<char*>(feature.structure(device)) + sizeof(VkBaseOutStructure), 0,
                feature.together.structureBytes - sizeof(VkBaseOutStructure));
  }
  for (size_t i = 0; i < listed.size(); ++i) valueOf(table[i], device) = listed[i];
}

void restrictTo(const VkDeviceCreateInfo& info, PhysicalDevice& device) {
  std::set<std::string, std::less<>> enabled;
  for (uint32_t i = 0; i < info.enabledExtensionCount; ++i)
    if (device.has(info.ppEnabledExtensionNames[i])) enabled.insert(info.ppEnabledExtensionNames[i]);
  device.extensions.swap(enabled);
  if (!device.has("VK_EXT_external_memory_host")) device.externalHost.minImportedHostPointerAlignment = 0;
  for (const Feature& feature : table) {
    const bool on = (isOn(info, feature.together) || isOn(info, feature.alone)) &&
                    (!feature.extension || device.has(feature.extension));
    if (!on) valueOf(feature, device) = VK_FALSE;
  }
}

FeatureRequest::FeatureRequest(const PhysicalDevice& device) : device_(device) {
  const auto want = [&](const char* name) {
    const auto isName = [&](const char* known) { return std::strcmp(known, name) == 0; };
    if (device.has(name) && std::ranges::none_of(extensions_, isName)) extensions_.push_back(name);
  };
  for (const char* name : wantedExtensions) want(name);
  for (const Feature& feature : table)
    if (feature.extension) want(feature.extension);
}

void FeatureRequest::addTo(VkDeviceCreateInfo& info) {
  names_.assign(info.ppEnabledExtensionNames, info.ppEnabledExtensionNames + info.enabledExtensionCount);
  for (const char* wanted : extensions_)
    if (std::none_of(names_.begin(), names_.end(), [&](const char* name) { return std::strcmp(name, wanted) == 0; }))
      names_.push_back(wanted);
  info.enabledExtensionCount = static_cast<uint32_t>(names_.size());
  info.ppEnabledExtensionNames = names_.data();
  addFeatures(info);
}

// The structure in the chain, put there if it is not.
void* FeatureRequest::structure(VkDeviceCreateInfo& info, const FeatureSwitch& wanted) {
  if (void* found = findIn(info.pNext, wanted.structure)) return found;
  std::vector<uint64_t>& storage = added_[wanted.structure];
  storage.assign((wanted.structureBytes + 7) / 8, 0);
  auto* made = reinterpret_cast<VkBaseOutStructure*>(storage.data());
  made->sType = wanted.structure;
  made->pNext = static_cast<VkBaseOutStructure*>(const_cast<void*>(info.pNext));
  info.pNext = made;
  return made;
}

void FeatureRequest::addFeatures(VkDeviceCreateInfo& info) {
  if (info.pEnabledFeatures) {  // may not stand beside the structure in the chain
    const FeatureSwitch all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, 0, sizeof(VkPhysicalDeviceFeatures2)};
    static_cast<VkPhysicalDeviceFeatures2*>(structure(info, all))->features = *info.pEnabledFeatures;
    info.pEnabledFeatures = nullptr;
  }
  // A chain must not have a feature's old structure beside that of a whole version.
  std::set<VkStructureType> apart;
  for (const Feature& feature : table)
    if (findIn(info.pNext, feature.alone.structure)) apart.insert(feature.together.structure);
  for (const Feature& feature : table) {
    if (!isPresent(feature, device_)) continue;
    const bool isApart =
        apart.count(feature.together.structure) != 0 && !findIn(info.pNext, feature.together.structure);
    const FeatureSwitch& which = isApart ? feature.alone : feature.together;
    switchIn(structure(info, which), which) = VK_TRUE;
  }
}

}  // namespace mulciber::vk
