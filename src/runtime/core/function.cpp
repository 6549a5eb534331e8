#include "runtime/core/function.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "recordHash.h"
#include "runtime/core/compilation.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/explanation.h"
#include "runtime/core/kernel_archive.h"
#include "runtime/core/module.h"
#include "runtime/core/occupancy.h"
#include "runtime/core/pipelines_ahead.h"
#include "runtime/core/shader_cache.h"
#include "runtime/core/translation_dump.h"
#include "runtime/vk/device.h"
#include "runtime/vk/pipeline.h"
#include "util/environment.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

enum Attribute : int {  // CUfunction_attribute
  MaxThreadsPerBlock = 0,
  SharedSizeBytes = 1,
  ConstSizeBytes = 2,
  LocalSizeBytes = 3,
  NumRegs = 4,
  PtxVersion = 5,
  BinaryVersion = 6,
  CacheModeCa = 7,
  MaxDynamicSharedSizeBytes = 8,
  PreferredSharedMemoryCarveout = 9,
  NonPortableClusterSizeAllowed = 14,
  LastAttribute = 15,  // the cluster attributes lie between
};

// For drivers that do not say how many registers a pipeline uses: as many as native code of small kernels has, and as
// the largest block can have twice over.
constexpr uint32_t estimatedRegisters = 32;
constexpr uint32_t usualBlockThreads = 256;
// Words of SPIR-V. A driver compiles larger kernels for seconds, once for the question how many registers they use and
// once more if they are launched with other blocks. They use as many as there can be.
constexpr size_t mostMeasuredWords = 100'000;

}  // namespace

size_t Function::VariantHash::operator()(const PipelineVariant& variant) const {
  uint64_t hash = variant.dynamicSharedBytes ^ uint64_t(variant.stackBytes) << 32 ^ variant.needs.index() << 60;
  for (const uint32_t size : variant.block) hash = (hash ^ size) * 0x9E3779B97F4A7C15u;
  return hash;
}

Function::Function(Module& module, std::string name)
    : module_(module),
      name_(std::move(name)),
      maxDynamicShared_(static_cast<int>(module.context().device().shape().sharedPerBlock)) {}

Function::~Function() = default;

Function::Translation& Function::translateOnce(LaunchNeeds needs) {
  Translation& result = translations_[needs.index()];
  if (result.isDone.load(std::memory_order_acquire)) return result;
  std::lock_guard lock(translating_);
  if (result.isDone.load(std::memory_order_acquire)) return result;
  TranslationRequest request = translationRequest(module_.context(), module_.contentKey(), name_, needs);
  result.cacheKey = request.key;
  std::optional<TranslationDump> dump;
  if (const std::string& folder = util::environment().dump; !folder.empty()) {
    dump.emplace(folder, name_, module_.contentKey()).attachTo(request.options);
  }
  Compilation compilation(Compilation::Step::Translation, name_);
  if (const KernelArchive* const archive = module_.archive()) {
    compilation.wasCached();
    result.kernel.info.name = name_;
    if (!archive->kernel(name_, needs.index(), result.kernel)) {
      result.messages = fmt::format("the kernel {} was not translated ahead of time for such launches", name_);
      util::log().error("{}", result.messages);
      result.error = Error::InvalidImage;
    }
  } else if (!dump && loadInfo(module_.context().device().cache(), result.cacheKey, result.kernel.info)) {
    result.kernel.info.name = name_;
    compilation.wasCached();
  } else {
    auto translated = translateNow(request, result.error, result.messages);
    if (translated) result.kernel = std::move(*translated);
  }
  if (Explanation* const explanation = Explanation::active()) {
    if (compilation.isCached()) (void)loadCode(result, needs);
    explanation->addKernel(result.kernel, name_, request.profile, compilation.seconds(), compilation.isCached(),
                           result.error == Error::Success ? std::string() : result.messages);
  }
  result.isDone.store(true, std::memory_order_release);
  return result;
}

std::optional<Kernel> Function::translateNow(const TranslationRequest& request, Error& error, std::string& messages) {
  Diagnostics diagnostics;
  const ParsedModule* parsed = nullptr;
  error = module_.parsed(parsed);
  auto kernel = parsed ? translate(*parsed, name_, request.profile, request.options, diagnostics) : std::nullopt;
  messages = diagnostics.toString();
  if (kernel) {
    storeKernel(module_.context().device().cache(), request.key, *kernel);
  } else {
    util::log().error("the kernel {} cannot be translated\n{}", name_, messages);
    error = Error::InvalidPtx;
  }
  return kernel;
}

Error Function::loadCode(Translation& translation, LaunchNeeds needs) {
  std::vector<uint32_t>& spirv = translation.kernel.spirv;
  if (!spirv.empty()) return Error::Success;
  if (core::loadCode(module_.context().device().cache(), translation.cacheKey, spirv)) return Error::Success;
  // The cache has lost it since.
  Error error = Error::Success;
  std::string messages;
  auto kernel =
      translateNow(translationRequest(module_.context(), module_.contentKey(), name_, needs), error, messages);
  if (kernel) spirv = std::move(kernel->spirv);
  return error;
}

Error Function::info(const KernelInfo*& out, std::string* messages, LaunchNeeds needs) {
  const Translation& translation = translateOnce(needs);
  if (messages) *messages = translation.messages;
  out = &translation.kernel.info;
  return translation.error;
}

Error Function::code(const PipelineVariant& variant, const LaunchCode*& out) {
  {
    std::shared_lock lock(mutex_);
    const auto found = codes_.find(variant);
    if (found != codes_.end()) {
      out = &found->second;
      return Error::Success;
    }
  }
  TRY(translateOnce(variant.needs).error);
  std::unique_lock lock(mutex_);
  if (const auto found = codes_.find(variant); found != codes_.end()) {
    out = &found->second;
    return Error::Success;
  }
  LaunchCode code{variant, nullptr, nullptr};
  TRY(make(code));
  out = &codes_.emplace(variant, std::move(code)).first->second;
  return Error::Success;
}

// What the driver makes of the kernel may say that it has to be translated in another way.
Error Function::make(LaunchCode& code) {
  LaunchNeeds& needs = code.variant.needs;
  for (;;) {
    needs.repairedSums = repairsSums_.load();
    const Translation& translation = translateOnce(needs);
    TRY(translation.error);
    const KernelInfo& kernel = *(code.kernel = &translation.kernel.info);
    const Error made = makePipeline(code.variant, false, code.pipeline);
    if (made == Error::Success && !code.pipeline) {
      repairsSums_.store(true);
      registers_.store(0);  // a repair takes more of them
    } else if (made == Error::InvalidImage && kernel.localBytes != 0 && !kernel.localInScratch) {
      // Spilled registers are private memory too, and no driver tells how much there may be of both together.
      needs.localInScratch = true;
      util::log().warn("the kernel {} has its {} bytes of private memory in device memory instead, which is slower",
                       name_, kernel.localBytes);
    } else {
      return made;
    }
  }
}

// One that is measured is made anew: drivers tell nothing of those from their caches.
Error Function::makePipeline(const PipelineVariant& variant, bool isMeasured,
                             std::shared_ptr<const vk::Pipeline>& out) {
  Translation& translation = translateOnce(variant.needs);
  Context& context = module_.context();
  const std::string key = pipelineKey(translation.cacheKey, variant);
  auto make = [&]() -> Error {
    TRY(loadCode(translation, variant.needs));
    return core::makePipeline(context, translation.kernel, variant, key, isMeasured, out);
  };
  if (isMeasured) return make();
  const PipelinesAhead::Turn turn(context.pipelinesAhead());
  out = context.pipelinesAhead().take(key);
  if (!out) TRY(make());
  if (out && !module_.archive()) context.pipelinesAhead().remember({module_.contentKey(), name_, variant});
  return Error::Success;
}

Error Function::registers(uint32_t& out) {
  out = registers_.load(std::memory_order_acquire);
  if (out != 0) return Error::Success;
  const KernelInfo* kernel = nullptr;
  TRY(info(kernel));
  out = estimatedRegisters;
  const vk::Device& vulkan = module_.context().vulkan();
  // A kernel whose memory lies in scratch has other code, which is chosen at the launch.
  const bool isWhole = kernel->dynamicSharedOffset <= vulkan.profile().maxSharedBytes &&
                       kernel->localBytes <= vulkan.profile().maxLocalBytes && kernel->stackCount == 0;
  if (vulkan.physical().executableProperties.pipelineExecutableInfo == VK_TRUE && isWhole) {
    const uint32_t most = kernel->maxThreads != 0 ? kernel->maxThreads : usualBlockThreads;
    PipelineVariant variant{{std::min(most, module_.context().device().shape().threadsPerBlock), 1, 1}, 0};
    if (kernel->requiredBlock[0] != 0) std::copy_n(kernel->requiredBlock, 3, variant.block);
    variant.needs.repairedSums = repairsSums_.load();
    TRY(measure(variant, out));
  }
  registers_.store(out, std::memory_order_release);
  return Error::Success;
}

Error Function::measure(PipelineVariant variant, uint32_t& registers) {
  ShaderCache& cache = module_.context().device().cache();
  const auto key = [&] { return fmt::format("registers|{}", translateOnce(variant.needs).cacheKey); };
  const auto load = [&] {
    const auto known = cache.load(key());
    const bool isKnown = known && known->size() == sizeof(registers);
    if (isKnown) std::memcpy(&registers, known->data(), sizeof(registers));
    return isKnown;
  };
  if (load()) return Error::Success;
  bool isSmall = false;
  {
    Translation& translation = translateOnce(variant.needs);
    std::lock_guard lock(mutex_);
    TRY(loadCode(translation, variant.needs));
    isSmall = translation.kernel.spirv.size() <= mostMeasuredWords;
  }
  if (isSmall) {
    if (translateOnce(variant.needs).kernel.info.usesDotProducts) {  // the driver's code says what will run
      const LaunchCode* code = nullptr;
      TRY(this->code(variant, code));
      variant.needs = code->variant.needs;
      if (load()) return Error::Success;
    }
    const Translation& translation = translateOnce(variant.needs);
    std::lock_guard lock(mutex_);
    std::shared_ptr<const vk::Pipeline> pipeline;
    TRY(makePipeline(variant, true, pipeline));
    registers = pipeline->registers().value_or(registers);
    codes_.try_emplace(variant, LaunchCode{variant, &translation.kernel.info, std::move(pipeline)});
  } else {
    registers = mostRegisters(variant.block[0] * variant.block[1] * variant.block[2]);
  }
  uint8_t bytes[sizeof(registers)];
  std::memcpy(bytes, &registers, sizeof(registers));
  cache.store(key(), bytes);
  return Error::Success;
}

Error Function::attribute(int attribute, int& value) {
  const KernelInfo* kernel = nullptr;
  TRY(info(kernel));
  const Device& device = module_.context().device();
  switch (attribute) {
    case MaxThreadsPerBlock: {
      const uint32_t most = device.shape().threadsPerBlock;
      value = static_cast<int>(kernel->maxThreads != 0 ? std::min(kernel->maxThreads, most) : most);
      return Error::Success;
    }
    case SharedSizeBytes: value = static_cast<int>(kernel->staticSharedBytes); return Error::Success;
    case ConstSizeBytes: value = static_cast<int>(module_.constantBytes()); return Error::Success;
    case LocalSizeBytes: value = static_cast<int>(kernel->localBytes); return Error::Success;
    case NumRegs: {
      uint32_t count = 0;
      TRY(registers(count));
      value = static_cast<int>(count);
      return Error::Success;
    }
    // The architecture the PTX was made for: libraries choose their tuning by it.
    case PtxVersion: value = static_cast<int>(module_.architecture()); return Error::Success;
    case BinaryVersion: value = static_cast<int>(device.computeCapability()); return Error::Success;
    case MaxDynamicSharedSizeBytes: value = maxDynamicShared_.load(); return Error::Success;
    case PreferredSharedMemoryCarveout: value = preferredCarveout_.load(); return Error::Success;
    case NonPortableClusterSizeAllowed: value = nonPortableClusters_.load(); return Error::Success;
    default:
      if (attribute < 0 || attribute > LastAttribute) return Error::InvalidValue;
      value = 0;
      return Error::Success;
  }
}

Error Function::setAttribute(int attribute, int value) {
  if (attribute == MaxDynamicSharedSizeBytes) {
    if (value < 0) return Error::InvalidValue;
    const auto most = static_cast<int64_t>(module_.context().device().shape().sharedPerBlockOptin);
    // Programs set it for kernels that they never launch. What fits beside all that ptxas lets a kernel declare fits
    // without a translation.
    constexpr int64_t mostDeclared = 48 << 10;
    if (value > most - mostDeclared) {
      const KernelInfo* kernel = nullptr;
      TRY(info(kernel));
      if (value + static_cast<int64_t>(kernel->staticSharedBytes) > most) {
        util::log().info(
            "kernel {} cannot have {} bytes of dynamic shared memory beside {} of its own: the device has {}", name_,
            value, kernel->staticSharedBytes, most);
        return Error::InvalidValue;
      }
    }
    maxDynamicShared_.store(value);
    return Error::Success;
  }
  if (attribute == PreferredSharedMemoryCarveout) {
    if (value < -1 || value > 100) return Error::InvalidValue;
    preferredCarveout_.store(value);  // a hint
    return Error::Success;
  }
  if (attribute == NonPortableClusterSizeAllowed) {
    nonPortableClusters_.store(value !=
                               0);  // asks nothing of the device: launches of clusters are refused by themselves
    return Error::Success;
  }
  return Error::InvalidValue;
}

Error Function::maxActiveBlocks(uint32_t blockThreads, size_t dynamicSharedBytes, int& blocks) {
  const KernelInfo* kernel = nullptr;
  TRY(info(kernel));
  if (blockThreads == 0) return Error::InvalidValue;
  uint32_t count = 0;
  TRY(registers(count));
  count = std::min(count, mostRegisters(blockThreads));  // what the driver does for larger blocks
  const uint64_t shared = kernel->staticSharedBytes + dynamicSharedBytes;
  blocks = static_cast<int>(blocksThatFit(module_.context().device().shape(), {blockThreads, count, shared}));
  return Error::Success;
}

}  // namespace mulciber::core
