// From a kernel of a text to a pipeline: what its translation and the pipeline depend on, which are the keys that the
// cache has them by, and how the driver is asked for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mulciber/translator.h"
#include "runtime/core/error.h"

namespace mulciber::vk {
class Pipeline;
}

namespace mulciber::core {

class Context;
class ShaderCache;

// What a launch demands of a translation: shared or private memory in device memory, when the launch has more than the
// device; no operations of whole warps, when the last warp of each block has fewer than 32 threads; code that filters
// textures, when there is one that no sampler serves; multiply-adds that are repaired, when the driver has taken dot
// products apart.
struct LaunchNeeds {
  bool sharedInScratch = false, localInScratch = false, partialWarps = false, filtersTextures = false;
  bool repairedSums = false;
  bool operator==(const LaunchNeeds&) const = default;
  size_t index() const {
    return size_t(sharedInScratch) + 2 * size_t(localInScratch) + 4 * size_t(partialWarps) +
           8 * size_t(filtersTextures) + 16 * size_t(repairedSums);
  }
  static constexpr size_t count = 32;
};

// Everything about a launch that the pipeline depends on.
struct PipelineVariant {
  uint32_t block[3];
  uint32_t dynamicSharedBytes;
  uint32_t stackBytes = 0;  // of each thread, for kernels that use a stack
  LaunchNeeds needs{};
  bool operator==(const PipelineVariant&) const = default;
};

struct TranslationRequest {
  TargetProfile profile;
  TranslateOptions options;
  std::string key;
};
// `contentKey` is the hash of the sources (Module::contentKey).
TranslationRequest translationRequest(const Context& context, std::string_view contentKey, std::string_view kernel,
                                      LaunchNeeds needs);

// In the cache, what a launch has to know of a kernel is apart from its code. That may be megabytes, and is only read
// to make a pipeline.
void storeKernel(ShaderCache& cache, const std::string& translationKey, const Kernel& kernel);
bool loadInfo(ShaderCache& cache, const std::string& translationKey, KernelInfo& info);
bool loadCode(ShaderCache& cache, const std::string& translationKey, std::vector<uint32_t>& spirv);

std::string pipelineKey(std::string_view translationKey, const PipelineVariant& variant);
// The driver's part, from the cache where it is there. A pipeline that is measured tells its registers. There is none
// where the driver has taken dot products of the kernel apart: LaunchNeeds::repairedSums is what it needs then.
Error makePipeline(Context& context, const Kernel& kernel, const PipelineVariant& variant, const std::string& key,
                   bool isMeasured, std::shared_ptr<const vk::Pipeline>& out);

}  // namespace mulciber::core
