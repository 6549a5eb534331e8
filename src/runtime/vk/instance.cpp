#include "runtime/vk/instance.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "mulciber/version.h"
#include "runtime/vk/features.h"
#include "util/environment.h"
#include "util/exit_gate.h"
#include "util/log.h"

namespace mulciber::vk {

namespace {

// Adds structures to a pNext chain, each only when its extension is there.
class Chain {
 public:
  explicit Chain(void** last) : last_(last) {}
  template <typename Structure>
  void add(Structure& structure, VkStructureType type, bool present = true) {
    structure.sType = type;
    if (!present) return;
    *last_ = &structure;
    last_ = &structure.pNext;
  }

 private:
  void** last_;
};

int rank(const PhysicalDevice& device) {
  switch (device.properties().deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 1;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 2;
    default: return 3;
  }
}

}  // namespace

PhysicalDevice::PhysicalDevice(VkPhysicalDevice device, const InstanceFunctions& instanceFunctions)
    : handle(device), functions(instanceFunctions) {
  uint32_t count = 0;
  functions.vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> available(count);
  functions.vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, available.data());
  for (const VkExtensionProperties& extension : available) extensions.insert(extension.extensionName);
  for (const std::string& name : util::splitList(util::environment().disableExtensions)) extensions.erase(name);
  if (!has("VK_KHR_map_memory2") || !has("VK_EXT_map_memory_placed"))  // neither is of use alone
    for (const char* name : {"VK_KHR_map_memory2", "VK_EXT_map_memory_placed"}) extensions.erase(name);

  functions.vkGetPhysicalDeviceProperties(handle, &properties2.properties);
  if (properties().apiVersion < VK_API_VERSION_1_3) return;  // the structures below are not known to it

  properties2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  Chain properties(&properties2.pNext);
  properties.add(properties11, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES);
  properties.add(properties12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  properties.add(properties13, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES);
  properties.add(pci, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT, has("VK_EXT_pci_bus_info"));
  properties.add(externalHost, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT,
                 has("VK_EXT_external_memory_host"));
  properties.add(mapPlacedProperties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAP_MEMORY_PLACED_PROPERTIES_EXT,
                 has("VK_EXT_map_memory_placed"));
  properties.add(multiprocessors, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV,
                 has("VK_NV_shader_sm_builtins"));
  functions.vkGetPhysicalDeviceProperties2(handle, &properties2);

  features2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  Chain features(&features2.pNext);
  features.add(features11, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  features.add(features12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  features.add(features13, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  features.add(atomicFloat, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT,
               has("VK_EXT_shader_atomic_float"));
  features.add(atomicFloat2, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_2_FEATURES_EXT,
               has("VK_EXT_shader_atomic_float2"));
  features.add(atomicFloat16Vector, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT16_VECTOR_FEATURES_NV,
               has("VK_NV_shader_atomic_float16_vector"));
  features.add(explicitLayout, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR,
               has("VK_KHR_workgroup_memory_explicit_layout"));
  features.add(maximalReconvergence, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_MAXIMAL_RECONVERGENCE_FEATURES_KHR,
               has("VK_KHR_shader_maximal_reconvergence"));
  features.add(shaderClock, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR, has("VK_KHR_shader_clock"));
  features.add(smBuiltins, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_FEATURES_NV,
               has("VK_NV_shader_sm_builtins"));
  features.add(cooperativeMatrix, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
               has("VK_KHR_cooperative_matrix"));
  features.add(brainFloats, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR,
               has("VK_KHR_shader_bfloat16"));
  features.add(mapPlaced, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAP_MEMORY_PLACED_FEATURES_EXT,
               has("VK_EXT_map_memory_placed"));
  features.add(executableProperties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
               has("VK_KHR_pipeline_executable_properties"));
  features.add(conditionalRendering, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT,
               has("VK_EXT_conditional_rendering"));
  features.add(nullDescriptors, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT, has("VK_EXT_robustness2"));
  features.add(seamedCubes, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NON_SEAMLESS_CUBE_MAP_FEATURES_EXT,
               has("VK_EXT_non_seamless_cube_map"));
  features.add(borderColors, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT,
               has("VK_EXT_custom_border_color"));
  functions.vkGetPhysicalDeviceFeatures2(handle, &features2);

  functions.vkGetPhysicalDeviceMemoryProperties(handle, &memory);
  functions.vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, nullptr);
  queueFamilies.resize(count);
  functions.vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, queueFamilies.data());
  keepListed(*this);
  listMatrices();
}

void PhysicalDevice::listMatrices() {
  const auto list = reinterpret_cast<PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR>(
      functions.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR);
  uint32_t count = 0;
  if (cooperativeMatrix.cooperativeMatrix == VK_FALSE || !list || list(handle, &count, nullptr) != VK_SUCCESS) return;
  matrices.resize(count);
  for (VkCooperativeMatrixPropertiesKHR& one : matrices)
    one.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
  if (list(handle, &count, matrices.data()) < VK_SUCCESS) count = 0;
  matrices.resize(count);
}

Driver PhysicalDevice::driver() const {
  switch (properties12.driverID) {
    case VK_DRIVER_ID_NVIDIA_PROPRIETARY: return Driver::Nvidia;
    case VK_DRIVER_ID_MESA_NVK: return Driver::Nvk;
    case VK_DRIVER_ID_MESA_LLVMPIPE: return Driver::Lavapipe;
    default: return Driver::Other;
  }
}

std::string PhysicalDevice::whyUnusable() const {
  if (properties().apiVersion < VK_API_VERSION_1_3)
    return fmt::format("it has Vulkan {}.{}, 1.3 is needed", VK_API_VERSION_MAJOR(properties().apiVersion),
                       VK_API_VERSION_MINOR(properties().apiVersion));
  // docs/spirv.md: seen to give wrong results. Lavapipe tells its version in words only.
  unsigned mesa = 0;
  if (driver() == Driver::Lavapipe && std::sscanf(properties12.driverInfo, "Mesa %u", &mesa) == 1 && mesa < 23)
    return fmt::format("{} is known to compute wrong results, Mesa 25 does not", properties12.driverInfo);
  std::vector<const char*> missing;
  for (const Feature& feature : features())
    if (feature.need == Need::Required && !isPresent(feature, *this)) missing.push_back(feature.name);
  if (!missing.empty())
    return fmt::format("it lacks the feature{} {}", missing.size() > 1 ? "s" : "", fmt::join(missing, ", "));
  const bool hasCompute = std::any_of(queueFamilies.begin(), queueFamilies.end(), [](const auto& family) {
    return (family.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
  });
  if (!hasCompute) return "it has no compute queue";
  return {};
}

std::string PhysicalDevice::identity() const {
  std::string id = fmt::format("{}|{:x}|{:x}|{:x}|{}|", properties().deviceName, properties().vendorID,
                               properties().deviceID, properties().driverVersion, properties12.driverInfo);
  for (uint8_t byte : properties().pipelineCacheUUID) id += fmt::format("{:02x}", byte);
  id += '|';
  for (const Feature& feature : features()) id += isPresent(feature, *this) ? '1' : '0';
  return id;
}

const Instance& Instance::get() {
  static const Instance& instance = *new Instance;
  return instance;
}

Instance::Instance() {
  if (volkInitialize() != VK_SUCCESS) {
    problem_ = "there is no Vulkan loader (libvulkan.so.1) on this machine: install the package libvulkan1";
    return;
  }
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pEngineName = "Mulciber";
  application.engineVersion =
      VK_MAKE_API_VERSION(0, MULCIBER_VERSION_MAJOR, MULCIBER_VERSION_MINOR, MULCIBER_VERSION_PATCH);
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  if (const VkResult result = vkCreateInstance(&info, nullptr, &handle_); result != VK_SUCCESS) {
    problem_ = result == VK_ERROR_INCOMPATIBLE_DRIVER
                   ? "no Vulkan driver was found: install one (mesa-vulkan-drivers has lavapipe, which needs no GPU)"
                   : fmt::format("the Vulkan instance could not be created (VkResult {})", static_cast<int>(result));
    return;
  }
  volkLoadInstanceOnly(handle_);
  // The validation layer makes static objects as late as with the first dispatch: exit handlers would find them gone.
  for (const char* name : {"VK_INSTANCE_LAYERS", "VK_LOADER_LAYERS_ENABLE"})
    if (const char* layers = std::getenv(name); layers && *layers) util::refuseAllAtExit();
  functions_.load(handle_, vkGetInstanceProcAddr);
  findDevices();
}

void Instance::findDevices() {
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(handle_, &count, nullptr);
  std::vector<VkPhysicalDevice> handles(count);
  if (count != 0) vkEnumeratePhysicalDevices(handle_, &count, handles.data());
  handles.resize(count);

  const std::string& wanted = util::environment().device;
  const bool byNumber = !wanted.empty() && wanted.find_first_not_of("0123456789") == std::string::npos;
  for (uint32_t i = 0; i < handles.size(); ++i) {
    auto device = std::make_unique<PhysicalDevice>(handles[i], functions_);
    const std::string name = device->properties().deviceName;
    if (byNumber ? std::to_string(i) != wanted : name.find(wanted) == std::string::npos) {
      unusable_.push_back(name + ": MULCIBER_DEVICE leaves it out");
    } else if (const std::string why = device->whyUnusable(); !why.empty()) {
      unusable_.push_back(name + ": " + why);
    } else {
      devices_.push_back(std::move(device));
    }
  }
  // A CPU only when there is nothing else: no CUDA program expects one beside a GPU.
  std::stable_sort(devices_.begin(), devices_.end(), [](const auto& a, const auto& b) { return rank(*a) < rank(*b); });
  if (!devices_.empty() && !devices_.front()->isCpu())
    devices_.erase(std::remove_if(devices_.begin(), devices_.end(), [](const auto& device) { return device->isCpu(); }),
                   devices_.end());
  if (!devices_.empty()) return;
  problem_ =
      unusable_.empty()
          ? "no Vulkan driver offers a device: install one (mesa-vulkan-drivers has lavapipe, which needs no GPU)"
          : fmt::format("no Vulkan device can be used ({}): {}", fmt::join(unusable_, "; "),
                        wanted.empty() ? "install a newer driver" : "unset MULCIBER_DEVICE, or install a newer driver");
}

}  // namespace mulciber::vk
