#include "runtime/core/kernel_pipeline.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "recordHash.h"
#include "runtime/core/compilation.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/kernel_record.h"
#include "runtime/core/module.h"
#include "runtime/core/shader_cache.h"
#include "runtime/vk/device.h"
#include "runtime/vk/machine_code.h"
#include "runtime/vk/pipeline.h"
#include "util/environment.h"
#include "util/log.h"

namespace mulciber::core {

TranslationRequest translationRequest(const Context& context, std::string_view contentKey, std::string_view kernel,
                                      LaunchNeeds needs) {
  TranslationRequest request;
  request.profile = profileOf(context, needs.filtersTextures);
  TranslateOptions& options = request.options;
  options.exactDenormals = util::environment().exactDenormals;
  options.dotProducts = !needs.repairedSums;
  options.debugInfo = util::environment().debugInfo;
  options.inlineLimit = static_cast<uint32_t>(std::clamp<int64_t>(util::environment().inlineLimit, 0, UINT32_MAX));
  options.validate = util::environment().validateSpirv;
  options.sharedInScratch = needs.sharedInScratch;
  options.localInScratch = needs.localInScratch;
  options.partialWarps = needs.partialWarps;
  // All the translation depends on: the text, the translator, its options, and every word of the profile, which also
  // differs when extensions of the same device are hidden; and how it is written into the cache.
  request.key = fmt::format("kernel|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", contentKey, kernel, translatorVersion(), recordHash,
                            context.vulkan().physical().identity(), context.profileHash(needs.filtersTextures),
                            options.exactDenormals, options.debugInfo, options.inlineLimit, needs.index());
  return request;
}

namespace {
std::string codeKey(std::string_view translationKey) { return fmt::format("code|{}", translationKey); }
}  // namespace

// Stands in the cache instead of a pipeline whose dot products the driver has taken apart.
constexpr uint8_t takenApart[] = {0};

// The code first: what is known of a kernel says that its code was there.
void storeKernel(ShaderCache& cache, const std::string& translationKey, const Kernel& kernel) {
  const auto* const code = reinterpret_cast<const uint8_t*>(kernel.spirv.data());
  cache.store(codeKey(translationKey), {code, kernel.spirv.size() * sizeof(uint32_t)});
  cache.store(translationKey, writeInfo(kernel.info));
}

bool loadInfo(ShaderCache& cache, const std::string& translationKey, KernelInfo& info) {
  const auto bytes = cache.load(translationKey);
  return bytes && readInfo(*bytes, info);
}

bool loadCode(ShaderCache& cache, const std::string& translationKey, std::vector<uint32_t>& spirv) {
  const auto bytes = cache.load(codeKey(translationKey));
  if (!bytes || bytes->empty() || bytes->size() % sizeof(uint32_t) != 0) return false;
  spirv.resize(bytes->size() / sizeof(uint32_t));
  std::memcpy(spirv.data(), bytes->data(), bytes->size());
  return true;
}

std::string pipelineKey(std::string_view translationKey, const PipelineVariant& variant) {
  return fmt::format("pipeline|{}|{}x{}x{}|{}|{}", translationKey, variant.block[0], variant.block[1], variant.block[2],
                     variant.dynamicSharedBytes, variant.stackBytes);
}

Error makePipeline(Context& context, const Kernel& kernel, const PipelineVariant& variant, const std::string& key,
                   bool isMeasured, std::shared_ptr<const vk::Pipeline>& out) {
  ShaderCache& cache = context.device().cache();
  vk::PipelineDescription description;
  description.spirv = kernel.spirv;
  description.isKernel = true;
  std::copy_n(variant.block, 3, description.block);
  description.dynamicSharedBytes = variant.dynamicSharedBytes;
  description.stackBytes = variant.stackBytes;
  description.needsWarps = true;
  description.usesTextures = kernel.info.usesTextures;
  description.isMeasured = isMeasured;
  std::vector<uint8_t> blob = cache.load(key).value_or(std::vector<uint8_t>());
  if (std::ranges::equal(blob, takenApart)) return Error::Success;
  const bool isNew = blob.empty();
  Compilation compilation(Compilation::Step::Pipeline, kernel.info.name);
  if (!isNew) compilation.wasCached();
  std::unique_ptr<vk::Pipeline> pipeline;
  const vk::Status status = vk::Pipeline::create(context.vulkan(), description, blob, pipeline);
  if (kernel.info.usesDotProducts && isNew && !isMeasured && status != vk::Status::OutOfMemory &&
      (status != vk::Status::Ok || vk::productsIn(blob) != vk::Products::Fused)) {
    util::log().info(
        "the driver's code for the kernel {} does not show that its multiply-adds are fused: they are repaired",
        kernel.info.name);
    if (status == vk::Status::Ok) cache.store(key, takenApart);
    return Error::Success;
  }
  if (status != vk::Status::Ok) {
    util::log().error("the driver cannot compile the kernel {}", kernel.info.name);
    return status == vk::Status::OutOfMemory ? Error::OutOfMemory : Error::InvalidImage;
  }
  if (isNew && !blob.empty()) cache.store(key, blob);
  out = std::move(pipeline);
  return Error::Success;
}

}  // namespace mulciber::core
