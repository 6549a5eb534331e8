// The Vulkan instance and the physical devices that can run CUDA kernels.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/vk/newer_vulkan.h"
#include "runtime/vk/status.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

// Drivers that Mulciber knows more of than they say of themselves.
enum class Driver : uint8_t { Other, Nvidia, Nvk, Lavapipe };

// Everything a device says about itself. Not movable: the structures point at one another.
struct PhysicalDevice {
  PhysicalDevice(VkPhysicalDevice device, const InstanceFunctions& instanceFunctions);
  PhysicalDevice(const PhysicalDevice&) = delete;
  PhysicalDevice& operator=(const PhysicalDevice&) = delete;

  VkPhysicalDevice handle;
  InstanceFunctions functions;

  VkPhysicalDeviceProperties2 properties2{};
  VkPhysicalDeviceVulkan11Properties properties11{};
  VkPhysicalDeviceVulkan12Properties properties12{};
  VkPhysicalDeviceVulkan13Properties properties13{};
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci{};
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT externalHost{};
  VkPhysicalDeviceMapMemoryPlacedPropertiesEXT mapPlacedProperties{};
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV multiprocessors{};

  // Of the features those that Mulciber uses (features.def); of an engine's device, those it was made with.
  VkPhysicalDeviceFeatures2 features2{};
  VkPhysicalDeviceVulkan11Features features11{};
  VkPhysicalDeviceVulkan12Features features12{};
  VkPhysicalDeviceVulkan13Features features13{};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomicFloat{};
  VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT atomicFloat2{};
  VkPhysicalDeviceShaderAtomicFloat16VectorFeaturesNV atomicFloat16Vector{};
  VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR explicitLayout{};
  VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR maximalReconvergence{};
  VkPhysicalDeviceShaderClockFeaturesKHR shaderClock{};
  VkPhysicalDeviceShaderSMBuiltinsFeaturesNV smBuiltins{};
  VkPhysicalDeviceMapMemoryPlacedFeaturesEXT mapPlaced{};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR cooperativeMatrix{};
  VkPhysicalDeviceShaderBfloat16FeaturesKHR brainFloats{};
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executableProperties{};
  VkPhysicalDeviceConditionalRenderingFeaturesEXT conditionalRendering{};
  VkPhysicalDeviceRobustness2FeaturesEXT nullDescriptors{};
  VkPhysicalDeviceNonSeamlessCubeMapFeaturesEXT seamedCubes{};
  VkPhysicalDeviceCustomBorderColorFeaturesEXT borderColors{};

  VkPhysicalDeviceMemoryProperties memory{};
  std::vector<VkQueueFamilyProperties> queueFamilies;
  std::vector<VkCooperativeMatrixPropertiesKHR> matrices;  // the products of cooperative matrices
  std::set<std::string, std::less<>> extensions;           // less those of MULCIBER_DISABLE_EXTENSIONS

  const VkPhysicalDeviceProperties& properties() const { return properties2.properties; }
  const VkPhysicalDeviceLimits& limits() const { return properties2.properties.limits; }
  bool has(std::string_view extension) const { return extensions.find(extension) != extensions.end(); }
  Driver driver() const;
  bool isCpu() const { return properties().deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }

  // Empty when Mulciber can use the device, else what it lacks.
  std::string whyUnusable() const;
  // Names device and driver so that what one made is never given to another: part of every cache key.
  std::string identity() const;

 private:
  void listMatrices();
};

class Instance {
 public:
  // The process's instance, made at first use and never destroyed. When there is no loader, driver or fit device,
  // devices() is empty and problem() says why in one sentence.
  static const Instance& get();

  const std::vector<std::unique_ptr<PhysicalDevice>>& devices() const { return devices_; }  // best first
  const std::vector<std::string>& unusable() const { return unusable_; }                    // "name: what it lacks"
  const std::string& problem() const { return problem_; }

 private:
  Instance();
  void findDevices();

  VkInstance handle_ = VK_NULL_HANDLE;
  InstanceFunctions functions_;
  std::vector<std::unique_ptr<PhysicalDevice>> devices_;
  std::vector<std::string> unusable_;
  std::string problem_;
};

}  // namespace mulciber::vk
