// The arrays of images and samplers from which kernels choose by number (texture_abi.h). They are one descriptor set
// for the whole device, written while kernels that use other numbers run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/vk/status.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Device;
struct PhysicalDevice;

// Everything about a sampler that kernels see.
struct SamplerDescription {
  VkFilter filter = VK_FILTER_NEAREST;
  VkSamplerMipmapMode mipFilter = VK_SAMPLER_MIPMAP_MODE_NEAREST;
  VkSamplerAddressMode address[3] = {};
  VkBorderColor border = VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK;
  uint32_t borderBits[4] = {};  // of custom colours: floats or integers
  float levelBias = 0, minLevel = 0, maxLevel = 0, anisotropy = 1;
  bool hasTexelCoordinates = false;
  bool hasSeams = false;  // of cubes: filters stay on one face
  auto operator<=>(const SamplerDescription&) const = default;
};

class Descriptors {
 public:
  static bool areSupported(const PhysicalDevice& physical);
  static bool haveBorderColors(const PhysicalDevice& physical);
  static bool haveSeams(const PhysicalDevice& physical);
  // Whether kernels may read the image of number 0, of zeros.
  static bool haveNothing(const PhysicalDevice& physical);
  // `constants`: the layout of the set before, which all pipelines have.
  static Status create(Device& device, VkDescriptorSetLayout constants, std::unique_ptr<Descriptors>& out);
  ~Descriptors();
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  VkPipelineLayout pipelineLayout() const { return pipelineLayout_; }
  // The set is made at first use.
  Status set(VkDescriptorSet& out);

  enum class Kind : uint8_t { Sampled, Storage };
  // The number of a view. A view that is there already keeps its number; it is free again once it has been given back
  // as often as it was asked for, which must not be before the work that uses it is done.
  Status number(Kind kind, VkImageView view, uint32_t& out);
  void giveBack(Kind kind, uint32_t number);
  // Equal samplers are one, and stay: devices have room for thousands, and programs use dozens.
  Status sampler(const SamplerDescription& description, uint32_t& out);

 private:
  explicit Descriptors(Device& device) : device_(device) {}
  Status createLayout(VkDescriptorSetLayout constants);
  Status createSet();
  Status writeNothing();
  Status makeSampler(const SamplerDescription& description, uint32_t& out);
  void write(uint32_t binding, uint32_t number, const VkDescriptorImageInfo& info);

  struct Images {
    uint32_t binding, capacity;
    std::vector<uint32_t> free;
    std::vector<std::pair<VkImageView, uint32_t>> used;  // by number: the view, and how often it was asked for
    std::unordered_map<VkImageView, uint32_t> numbers;
  };

  Device& device_;
  VkDescriptorSetLayout layout_ = VK_NULL_HANDLE;
  VkPipelineLayout pipelineLayout_ = VK_NULL_HANDLE;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  std::mutex mutex_;
  Images images_[2];  // by Kind
  uint32_t samplerCapacity_ = 0;
  std::map<SamplerDescription, std::pair<VkSampler, uint32_t>> samplers_;
};

}  // namespace mulciber::vk
