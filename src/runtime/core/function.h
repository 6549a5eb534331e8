// A kernel of a module: translated at first use, one pipeline for each block shape it is launched with.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/kernel_pipeline.h"

namespace mulciber::core {

class Module;

// What the calls from before CUDA 4 set one by one, for the launches that follow.
struct LaunchSettings {
  uint32_t block[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;
  std::vector<uint8_t> parameters;
  size_t parameterBytes = 0;  // of them, what a launch takes
};

// What launches with one block shape run. It lives as long as the function.
struct LaunchCode {
  PipelineVariant variant;
  const KernelInfo* kernel = nullptr;
  std::shared_ptr<const vk::Pipeline> pipeline;

  // Whether a launch that is not cooperative runs this whatever happened since: its block, its dynamic shared memory
  // and the device decide it.
  bool isSettled() const { return kernel->stackCount == 0 && !kernel->usesTextures; }
};

class Function {
 public:
  Function(Module& module, std::string name);
  ~Function();

  const std::string& name() const { return name_; }
  Module& module() const { return module_; }

  // Translates if that has not been done. The messages of a failure go to the log, and to `messages` when not null.
  Error info(const KernelInfo*& out, std::string* messages = nullptr, LaunchNeeds needs = {});
  Error code(const PipelineVariant& variant, const LaunchCode*& out);
  // Where most launches end their search: what the last one ran, if one with that block that is not cooperative may run
  // it; else null.
  const LaunchCode* lastCode(const uint32_t (&block)[3], uint32_t dynamicSharedBytes) const {
    const LaunchCode* const last = lastCode_.load(std::memory_order_acquire);
    if (!last || last->variant.dynamicSharedBytes != dynamicSharedBytes || last->variant.block[0] != block[0] ||
        last->variant.block[1] != block[1] || last->variant.block[2] != block[2])
      return nullptr;
    // The program may have lowered the limit since.
    return static_cast<int>(dynamicSharedBytes) <= maxDynamicShared_.load(std::memory_order_relaxed) ? last : nullptr;
  }
  void setLastCode(const LaunchCode& code) { lastCode_.store(&code, std::memory_order_release); }
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
  std::optional<Kernel> translateNow(const TranslationRequest& request, Error& error, std::string& messages);
  Error loadCode(Translation& translation, LaunchNeeds needs);  // a kernel from the cache comes without
  Error makePipeline(const PipelineVariant& variant, bool isMeasured, std::shared_ptr<const vk::Pipeline>& out);
  Error make(LaunchCode& code);
  Error measure(PipelineVariant variant, uint32_t& registers);

  Module& module_;
  const std::string name_;
  std::mutex translating_;
  Translation translations_[LaunchNeeds::count];  // by LaunchNeeds::index
  std::shared_mutex mutex_;
  std::unordered_map<PipelineVariant, LaunchCode, VariantHash> codes_;
  std::atomic<const LaunchCode*> lastCode_{nullptr};  // of codes_, settled
  std::atomic<bool> repairsSums_{false};              // the driver has taken dot products apart
  std::atomic<uint32_t> registers_{0};                // 0: not asked yet
  std::atomic<int> maxDynamicShared_, preferredCarveout_{-1}, nonPortableClusters_{0};
  std::mutex settingsMutex_;
  LaunchSettings settings_;
};

}  // namespace mulciber::core
