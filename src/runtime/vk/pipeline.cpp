#include "runtime/vk/pipeline.h"

#include <array>
#include <mutex>
#include <string_view>

#include "mulciber/kernel_abi.h"
#include "runtime/vk/descriptors.h"
#include "runtime/vk/device.h"

namespace mulciber::vk {

namespace {

struct Specialization {
  std::array<VkSpecializationMapEntry, 6> entries{};
  std::array<uint32_t, 6> values{};
  VkSpecializationInfo info{};

  explicit Specialization(const PipelineDescription& description) {
    const uint32_t threads = description.block[0] * description.block[1] * description.block[2];
    values[abi::BlockX] = description.block[0];
    values[abi::BlockY] = description.block[1];
    values[abi::BlockZ] = description.block[2];
    values[abi::BlockThreads] = threads;
    values[abi::DynamicSharedBytes] = description.dynamicSharedBytes;
    values[abi::StackBytes] = description.stackBytes != 0 ? description.stackBytes : abi::defaultStackBytes;
    for (uint32_t i = 0; i < entries.size(); ++i) entries[i] = {i, i * 4, 4};
    info.mapEntryCount = static_cast<uint32_t>(entries.size());
    info.pMapEntries = entries.data();
    info.dataSize = sizeof(values);
    info.pData = values.data();
  }
};

// Where a driver's blob would be large for nothing: lavapipe keeps its own cache and gives a bare header.
constexpr size_t cacheHeaderBytes = 32;

std::unique_lock<std::mutex> turnToMake(const Device& device) {
  static std::mutex& one = *new std::mutex;  // never destroyed: threads may still be at work when the process exits
  if (!device.workarounds().has(Workaround::OnePipelineAtATime)) return {};
  return std::unique_lock(one);
}

}  // namespace

Status Pipeline::create(Device& device, const PipelineDescription& description, std::vector<uint8_t>& cache,
                        std::unique_ptr<Pipeline>& out) {
  const VolkDeviceTable& api = device.api();
  VkShaderModuleCreateInfo moduleInfo{};
  moduleInfo.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  moduleInfo.codeSize = description.spirv.size_bytes();
  moduleInfo.pCode = description.spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  TRY(device.status(api.vkCreateShaderModule(device.handle(), &moduleInfo, device.callbacks(), &module),
                    "creating a shader module"));

  VkPipelineCacheCreateInfo cacheInfo{};
  cacheInfo.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  cacheInfo.initialDataSize = cache.size();
  cacheInfo.pInitialData = cache.data();
  VkPipelineCache pipelineCache = VK_NULL_HANDLE;
  if (api.vkCreatePipelineCache(device.handle(), &cacheInfo, device.callbacks(), &pipelineCache) != VK_SUCCESS)
    pipelineCache = VK_NULL_HANDLE;

  const Specialization specialization(description);
  const uint32_t threads = description.block[0] * description.block[1] * description.block[2];
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
  subgroup.requiredSubgroupSize = 32;
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = description.entry;
  if (description.isKernel) info.stage.pSpecializationInfo = &specialization.info;
  const auto& properties13 = device.physical().properties13;
  if (description.needsWarps && device.physical().features13.subgroupSizeControl == VK_TRUE &&
      (properties13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
      properties13.minSubgroupSize <= 32 && properties13.maxSubgroupSize >= 32) {
    info.stage.pNext = &subgroup;
    if (device.physical().features13.computeFullSubgroups == VK_TRUE && threads % 32 == 0)
      info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  }
  // Grids beyond the device's limits are dispatched in pieces.
  info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT;
  // Of one pipeline of a kernel alone: drivers may leave their caches aside for it.
  if (description.isMeasured && device.physical().executableProperties.pipelineExecutableInfo == VK_TRUE)
    info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  info.layout = description.usesTextures ? device.descriptors()->pipelineLayout() : device.layout();
  VkPipeline handle = VK_NULL_HANDLE;
  VkResult result = VK_SUCCESS;
  {
    const auto turn = turnToMake(device);
    result = api.vkCreateComputePipelines(device.handle(), pipelineCache, 1, &info, device.callbacks(), &handle);
  }
  api.vkDestroyShaderModule(device.handle(), module, device.callbacks());

  if (pipelineCache != VK_NULL_HANDLE) {
    size_t size = 0;
    if (result == VK_SUCCESS && cache.empty() &&
        api.vkGetPipelineCacheData(device.handle(), pipelineCache, &size, nullptr) == VK_SUCCESS &&
        size > cacheHeaderBytes) {
      cache.resize(size);
      if (api.vkGetPipelineCacheData(device.handle(), pipelineCache, &size, cache.data()) != VK_SUCCESS) size = 0;
      cache.resize(size);
    }
    api.vkDestroyPipelineCache(device.handle(), pipelineCache, device.callbacks());
  }
  TRY(device.status(result, "compiling a pipeline"));
  out.reset(new Pipeline(device, handle, description.usesTextures));
  return Status::Ok;
}

std::optional<uint32_t> registersOf(std::span<const VkPipelineExecutableStatisticKHR> statistics) {
  for (const VkPipelineExecutableStatisticKHR& statistic : statistics) {
    const std::string_view name = statistic.name;
    if (name != "Register Count" && name != "VGPRs") continue;  // NVIDIA's; AMD's, of a thread's own
    if (statistic.format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR)
      return static_cast<uint32_t>(statistic.value.u64);
    if (statistic.format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR)
      return static_cast<uint32_t>(statistic.value.i64);
  }
  return std::nullopt;
}

std::optional<uint32_t> Pipeline::registers() const {
  if (device_.physical().executableProperties.pipelineExecutableInfo != VK_TRUE) return std::nullopt;
  VkPipelineExecutableInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR;
  info.pipeline = handle_;
  const auto ask = device_.api().vkGetPipelineExecutableStatisticsKHR;
  uint32_t count = 0;
  if (ask(device_.handle(), &info, &count, nullptr) != VK_SUCCESS) return std::nullopt;
  std::vector<VkPipelineExecutableStatisticKHR> statistics(count);
  for (auto& statistic : statistics) statistic.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
  if (ask(device_.handle(), &info, &count, statistics.data()) != VK_SUCCESS) return std::nullopt;
  return registersOf(std::span(statistics).first(count));
}

Pipeline::~Pipeline() {
  if (!device_.isStuck()) device_.api().vkDestroyPipeline(device_.handle(), handle_, device_.callbacks());
}

}  // namespace mulciber::vk
