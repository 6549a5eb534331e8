// A kernel of a module: translated at first use, one pipeline for each block shape it is launched with.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "mulciber/translator.h"
#include "runtime/core/error.h"

namespace mulciber::vk {
class Pipeline;
}

namespace mulciber::core {

class Module;

// What a launch demands of a translation: shared or private memory in device memory, when the launch has more than the
// device; no operations of whole warps, when the last warp of each block has fewer than 32 threads; code that filters
// textures, when there is one that no sampler serves.
struct LaunchNeeds {
  bool sharedInScratch = false, localInScratch = false, partialWarps = false, filtersTextures = false;
  bool operator==(const LaunchNeeds&) const = default;
  size_t index() const {
    return size_t(sharedInScratch) + 2 * size_t(localInScratch) + 4 * size_t(partialWarps) +
           8 * size_t(filtersTextures);
  }
  static constexpr size_t count = 16;
};

// Everything about a launch that the pipeline depends on.
struct PipelineVariant {
  uint32_t block[3];
  uint32_t dynamicSharedBytes;
  uint32_t stackBytes = 0;  // of each thread, for kernels that use a stack
  LaunchNeeds needs{};
  bool operator==(const PipelineVariant&) const = default;
};

// What the calls from before CUDA 4 set one by one, for the launches that follow.
struct LaunchSettings {
  uint32_t block[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;
  std::vector<uint8_t> parameters;
  size_t parameterBytes = 0;  // of them, what a launch takes
};

class Function {
 public:
  Function(Module& module, std::string name);
  ~Function();

  const std::string& name() const { return name_; }
  Module& module() const { return module_; }

  // Translates if that has not been done. The messages of a failure go to the log, and to `messages` when not null.
  Error info(const KernelInfo*& out, std::string* messages = nullptr, LaunchNeeds needs = {});
  Error pipeline(const PipelineVariant& variant, std::shared_ptr<const vk::Pipeline>& out);
  // Of each thread, as the driver says of the pipeline for the largest block that the kernel declares, or for 256
  // threads; compiled when this is first asked. Where drivers do not tell, an estimate.
  Error registers(uint32_t& out);

  // By CUfunction_attribute number.
  Error attribute(int attribute, int& value);
  Error setAttribute(int attribute, int value);

  // Changes the settings, or takes them for a launch, while no other thread does.
  template <class Body>
  void withSettings(Body&& body) {
    std::lock_guard lock(settingsMutex_);
    body(settings_);
  }

  // Blocks of that size which fit one multiprocessor (occupancy.h).
  Error maxActiveBlocks(uint32_t blockThreads, size_t dynamicSharedBytes, int& blocks);

 private:
  struct VariantHash {
    size_t operator()(const PipelineVariant& variant) const;
  };
  struct Translation {
    std::atomic<bool> isDone{false};
    Error error = Error::Success;
    std::string messages, cacheKey;
    Kernel kernel;
  };
  Translation& translateOnce(LaunchNeeds needs);
  Error makePipeline(const PipelineVariant& variant, bool isMeasured, std::shared_ptr<const vk::Pipeline>& out);

  Module& module_;
  const std::string name_;
  std::mutex translating_;
  Translation translations_[LaunchNeeds::count];  // by LaunchNeeds::index
  std::shared_mutex mutex_;
  std::unordered_map<PipelineVariant, std::shared_ptr<const vk::Pipeline>, VariantHash> pipelines_;
  std::atomic<uint32_t> registers_{0};  // 0: not asked yet
  std::atomic<int> maxDynamicShared_, preferredCarveout_{-1};
  std::mutex settingsMutex_;
  LaunchSettings settings_;
};

}  // namespace mulciber::core
