#include "runtime/vk/descriptors.h"

#include <algorithm>
#include <array>

#include "mulciber/texture_abi.h"
#include "runtime/vk/device.h"

namespace mulciber::vk {

namespace {

// Of each array, where the device has as many: what a set takes of memory grows with them.
constexpr uint32_t mostSampled = 1u << 18, mostStorage = 1u << 16, mostSamplers = 4000;

struct Array {
  uint32_t binding, count;
  VkDescriptorType type;
};

std::array<Array, 3> arraysOf(const PhysicalDevice& physical) {
  const auto& limits = physical.properties12;
  const uint32_t sampled = std::min({mostSampled, limits.maxPerStageDescriptorUpdateAfterBindSampledImages / 2,
                                     limits.maxDescriptorSetUpdateAfterBindSampledImages / 2});
  const uint32_t storage = std::min({mostStorage, limits.maxPerStageDescriptorUpdateAfterBindStorageImages / 2,
                                     limits.maxDescriptorSetUpdateAfterBindStorageImages / 2});
  const uint32_t samplers =
      std::min({mostSamplers, limits.maxPerStageDescriptorUpdateAfterBindSamplers / 2,
                limits.maxDescriptorSetUpdateAfterBindSamplers / 2, physical.limits().maxSamplerAllocationCount / 2});
  return {{{abi::sampledImageBinding, sampled, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE},
           {abi::samplerBinding, samplers, VK_DESCRIPTOR_TYPE_SAMPLER},
           {abi::storageImageBinding, storage, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE}}};
}

}  // namespace

bool Descriptors::areSupported(const PhysicalDevice& physical) {
  const auto& features = physical.features12;
  return features.runtimeDescriptorArray && features.descriptorBindingPartiallyBound &&
         features.descriptorBindingUpdateUnusedWhilePending && features.descriptorBindingSampledImageUpdateAfterBind &&
         features.descriptorBindingStorageImageUpdateAfterBind && features.shaderSampledImageArrayNonUniformIndexing &&
         features.shaderStorageImageArrayNonUniformIndexing;
}

bool Descriptors::haveBorderColors(const PhysicalDevice& physical) {
  return physical.borderColors.customBorderColors == VK_TRUE &&
         physical.borderColors.customBorderColorWithoutFormat == VK_TRUE;
}

bool Descriptors::haveSeams(const PhysicalDevice& physical) {
  return physical.seamedCubes.nonSeamlessCubeMap == VK_TRUE;
}

bool Descriptors::haveNothing(const PhysicalDevice& physical) {
  return physical.nullDescriptors.nullDescriptor == VK_TRUE;
}

Status Descriptors::create(Device& device, VkDescriptorSetLayout constants, std::unique_ptr<Descriptors>& out) {
  std::unique_ptr<Descriptors> made(new Descriptors(device));
  TRY(made->createLayout(constants));
  out = std::move(made);
  return Status::Ok;
}

Status Descriptors::createLayout(VkDescriptorSetLayout constants) {
  const VolkDeviceTable& api = device_.api();
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (const Array& array : arraysOf(device_.physical()))
    bindings.push_back({array.binding, array.type, array.count, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
  images_[0] = {abi::sampledImageBinding, bindings[0].descriptorCount, {}, {}, {}};
  samplerCapacity_ = bindings[1].descriptorCount;
  images_[1] = {abi::storageImageBinding, bindings[2].descriptorCount, {}, {}, {}};
  const std::vector<VkDescriptorBindingFlags> flags(
      bindings.size(), VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT | VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT |
                           VK_DESCRIPTOR_BINDING_UPDATE_UNUSED_WHILE_PENDING_BIT);
  VkDescriptorSetLayoutBindingFlagsCreateInfo flagsInfo{};
  flagsInfo.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO;
  flagsInfo.bindingCount = static_cast<uint32_t>(flags.size());
  flagsInfo.pBindingFlags = flags.data();
  VkDescriptorSetLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  info.pNext = &flagsInfo;
  info.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT;
  info.bindingCount = static_cast<uint32_t>(bindings.size());
  info.pBindings = bindings.data();
  TRY(device_.status(api.vkCreateDescriptorSetLayout(device_.handle(), &info, device_.callbacks(), &layout_),
                     "creating the layout of textures"));
  const VkDescriptorSetLayout sets[] = {constants, layout_};
  VkPushConstantRange range{};
  range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  range.size = device_.physical().limits().maxPushConstantsSize;
  VkPipelineLayoutCreateInfo pipelineInfo{};
  pipelineInfo.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  pipelineInfo.setLayoutCount = 2;
  pipelineInfo.pSetLayouts = sets;
  pipelineInfo.pushConstantRangeCount = 1;
  pipelineInfo.pPushConstantRanges = &range;
  return device_.status(
      api.vkCreatePipelineLayout(device_.handle(), &pipelineInfo, device_.callbacks(), &pipelineLayout_),
      "creating the layout of pipelines with textures");
}

Status Descriptors::createSet() {
  const VolkDeviceTable& api = device_.api();
  std::vector<VkDescriptorPoolSize> sizes;
  for (const Array& array : arraysOf(device_.physical())) sizes.push_back({array.type, array.count});
  VkDescriptorPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  info.flags = VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT;
  info.maxSets = 1;
  info.poolSizeCount = static_cast<uint32_t>(sizes.size());
  info.pPoolSizes = sizes.data();
  if (pool_ == VK_NULL_HANDLE)
    TRY(device_.status(api.vkCreateDescriptorPool(device_.handle(), &info, device_.callbacks(), &pool_),
                       "creating the arrays of textures"));
  VkDescriptorSetAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocation.descriptorPool = pool_;
  allocation.descriptorSetCount = 1;
  allocation.pSetLayouts = &layout_;
  TRY(device_.status(api.vkAllocateDescriptorSets(device_.handle(), &allocation, &set_),
                     "allocating the arrays of textures"));
  return writeNothing();
}

// The image of number 0, and the sampler, are no object's: reads give zeros.
Status Descriptors::writeNothing() {
  for (Images& images : images_) {
    images.used.push_back({VK_NULL_HANDLE, 1});
    if (haveNothing(device_.physical()))
      write(images.binding, 0, {VK_NULL_HANDLE, VK_NULL_HANDLE, VK_IMAGE_LAYOUT_UNDEFINED});
  }
  uint32_t number = 0;
  return makeSampler({}, number);
}

Descriptors::~Descriptors() {
  const VolkDeviceTable& api = device_.api();
  for (const auto& [description, sampler] : samplers_)
    api.vkDestroySampler(device_.handle(), sampler.first, device_.callbacks());
  if (pool_ != VK_NULL_HANDLE) api.vkDestroyDescriptorPool(device_.handle(), pool_, device_.callbacks());
  if (pipelineLayout_ != VK_NULL_HANDLE)
    api.vkDestroyPipelineLayout(device_.handle(), pipelineLayout_, device_.callbacks());
  if (layout_ != VK_NULL_HANDLE) api.vkDestroyDescriptorSetLayout(device_.handle(), layout_, device_.callbacks());
}

Status Descriptors::set(VkDescriptorSet& out) {
  std::lock_guard lock(mutex_);
  if (set_ == VK_NULL_HANDLE) TRY(createSet());
  out = set_;
  return Status::Ok;
}

void Descriptors::write(uint32_t binding, uint32_t number, const VkDescriptorImageInfo& info) {
  constexpr VkDescriptorType types[] = {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, VK_DESCRIPTOR_TYPE_SAMPLER,
                                        VK_DESCRIPTOR_TYPE_STORAGE_IMAGE};
  static_assert(abi::sampledImageBinding == 0 && abi::samplerBinding == 1 && abi::storageImageBinding == 2);
  VkWriteDescriptorSet write{};
  write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
  write.dstSet = set_;
  write.dstBinding = binding;
  write.dstArrayElement = number;
  write.descriptorCount = 1;
  write.descriptorType = types[binding];
  write.pImageInfo = &info;
  device_.api().vkUpdateDescriptorSets(device_.handle(), 1, &write, 0, nullptr);
}

Status Descriptors::number(Kind kind, VkImageView view, uint32_t& out) {
  std::lock_guard lock(mutex_);
  if (set_ == VK_NULL_HANDLE) TRY(createSet());
  Images& images = images_[static_cast<size_t>(kind)];
  if (const auto known = images.numbers.find(view); known != images.numbers.end()) {
    out = known->second;
    ++images.used[out].second;
    return Status::Ok;
  }
  if (!images.free.empty()) {
    out = images.free.back();
    images.free.pop_back();
  } else if (images.used.size() < images.capacity) {
    out = static_cast<uint32_t>(images.used.size());
    images.used.emplace_back();
  } else {
    return Status::OutOfMemory;
  }
  images.used[out] = {view, 1};
  images.numbers.emplace(view, out);
  write(images.binding, out, {VK_NULL_HANDLE, view, VK_IMAGE_LAYOUT_GENERAL});
  return Status::Ok;
}

void Descriptors::giveBack(Kind kind, uint32_t number) {
  std::lock_guard lock(mutex_);
  Images& images = images_[static_cast<size_t>(kind)];
  auto& [view, uses] = images.used[number];
  if (--uses != 0) return;
  images.numbers.erase(view);
  images.free.push_back(number);
}

Status Descriptors::sampler(const SamplerDescription& description, uint32_t& out) {
  std::lock_guard lock(mutex_);
  if (set_ == VK_NULL_HANDLE) TRY(createSet());
  return makeSampler(description, out);
}

Status Descriptors::makeSampler(const SamplerDescription& description, uint32_t& out) {
  if (const auto known = samplers_.find(description); known != samplers_.end()) {
    out = known->second.second;
    return Status::Ok;
  }
  if (samplers_.size() == samplerCapacity_) return Status::OutOfMemory;
  VkSamplerCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
  info.magFilter = info.minFilter = description.filter;
  info.mipmapMode = description.mipFilter;
  info.addressModeU = description.address[0];
  info.addressModeV = description.address[1];
  info.addressModeW = description.address[2];
  info.mipLodBias = description.levelBias;
  info.anisotropyEnable = description.anisotropy > 1 ? VK_TRUE : VK_FALSE;
  info.maxAnisotropy = description.anisotropy;
  info.minLod = description.minLevel;
  info.maxLod = description.maxLevel;
  info.borderColor = description.border;
  info.unnormalizedCoordinates = description.hasTexelCoordinates ? VK_TRUE : VK_FALSE;
  if (description.hasSeams) info.flags |= VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT;
  VkSamplerCustomBorderColorCreateInfoEXT border{};
  border.sType = VK_STRUCTURE_TYPE_SAMPLER_CUSTOM_BORDER_COLOR_CREATE_INFO_EXT;
  std::ranges::copy(description.borderBits, border.customBorderColor.uint32);
  if (description.border == VK_BORDER_COLOR_FLOAT_CUSTOM_EXT || description.border == VK_BORDER_COLOR_INT_CUSTOM_EXT)
    info.pNext = &border;
  VkSampler made = VK_NULL_HANDLE;
  TRY(device_.status(device_.api().vkCreateSampler(device_.handle(), &info, device_.callbacks(), &made),
                     "creating a sampler"));
  out = static_cast<uint32_t>(samplers_.size());
  samplers_.emplace(description, std::pair(made, out));
  write(abi::samplerBinding, out, {made, VK_NULL_HANDLE, VK_IMAGE_LAYOUT_UNDEFINED});
  return Status::Ok;
}

}  // namespace mulciber::vk
