// Compute pipelines for kernels that obey kernel_abi.h, and for the built-in shaders.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/vk/status.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Device;

struct PipelineDescription {
  std::span<const uint32_t> spirv;
  const char* entry = "main";
  // For kernels: the block's shape and dynamic shared memory, given as specialisation constants.
  bool isKernel = false;
  uint32_t block[3] = {1, 1, 1};
  uint32_t dynamicSharedBytes = 0;
  uint32_t stackBytes = 0;    // 0: the default
  bool needsWarps = false;    // subgroups of 32
  bool usesTextures = false;  // has the device's Descriptors
  bool isMeasured = false;    // for Pipeline::registers
};

// The registers of each thread among what a driver tells of a pipeline, by the names that drivers give them.
std::optional<uint32_t> registersOf(std::span<const VkPipelineExecutableStatisticKHR> statistics);

class Pipeline : public std::enable_shared_from_this<Pipeline> {
 public:
  // `cache`: the pipeline cache's data of the same description from before, or empty. Replaced by the new data when the
  // driver has made any. Contents the driver does not accept cost a compile and nothing else.
  static Status create(Device& device, const PipelineDescription& description, std::vector<uint8_t>& cache,
                       std::unique_ptr<Pipeline>& out);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  VkPipeline handle() const { return handle_; }
  bool usesTextures() const { return usesTextures_; }
  // Of each thread, for a pipeline made to be measured; nothing where the driver does not tell.
  std::optional<uint32_t> registers() const;

 private:
  Pipeline(Device& device, VkPipeline handle, bool usesTextures)
      : device_(device), handle_(handle), usesTextures_(usesTextures) {}
  Device& device_;
  const VkPipeline handle_;
  const bool usesTextures_;
};

}  // namespace mulciber::vk
