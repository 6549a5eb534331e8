// Which of Vulkan's features Mulciber uses, which a device was made with, and how an engine switches them on with its
// own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/vk/volk.h"

namespace mulciber::vk {

struct PhysicalDevice;

enum class Need : uint8_t { Required, Optional };

// A switch in a structure of a pNext chain.
struct FeatureSwitch {
  VkStructureType structure;
  size_t offset, structureBytes;
};

struct Feature {
  const char* name;
  Need need;
  void* (*structure)(PhysicalDevice& device);  // where the device says whether it has it
  FeatureSwitch together;                      // with the others of its version of Vulkan or of its extension
  FeatureSwitch alone;    // as it was before it became part of Vulkan; the same where there is no such structure
  const char* extension;  // null where it is part of Vulkan
};

std::span<const Feature> features();
VkBool32& valueOf(const Feature& feature, PhysicalDevice& device);
bool isPresent(const Feature& feature, const PhysicalDevice& device);

// Forgets what the device offers beyond features.def.
void keepListed(PhysicalDevice& device);
// Leaves of what the device offers what a device made with `info` has.
void restrictTo(const VkDeviceCreateInfo& info, PhysicalDevice& device);

// Adds to an engine's VkDeviceCreateInfo all that Mulciber uses and the device offers. The structures that it adds to
// the chain live as long as this object; those that are there already, which the engine owns, are changed.
class FeatureRequest {
 public:
  explicit FeatureRequest(const PhysicalDevice& device);

  const std::vector<const char*>& extensions() const { return extensions_; }  // of the device; all are optional
  void addTo(VkDeviceCreateInfo& info);

 private:
  void* structure(VkDeviceCreateInfo& info, const FeatureSwitch& wanted);
  void addFeatures(VkDeviceCreateInfo& info);

  const PhysicalDevice& device_;
  std::vector<const char*> extensions_, names_;
  std::map<VkStructureType, std::vector<uint64_t>> added_;
};

}  // namespace mulciber::vk
