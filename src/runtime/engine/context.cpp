#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "runtime/core/kernel_services.h"
#include "runtime/core/platform.h"
#include "runtime/core/shader_cache.h"
#include "runtime/engine/handles.h"

using namespace mulciber;
using namespace mulciber::engine_api;

namespace {

std::vector<uint32_t> familiesOf(const VkDeviceCreateInfo& info) {
  std::vector<uint32_t> families;
  for (uint32_t i = 0; i < info.queueCreateInfoCount; ++i) {
    const uint32_t family = info.pQueueCreateInfos[i].queueFamilyIndex;
    if (std::find(families.begin(), families.end(), family) == families.end()) families.push_back(family);
  }
  return families;
}

constexpr size_t sizeOfVersion1 = offsetof(MulciberContextInfo, memoryCallbacks);

// Null where the engine gave none, or knows an older version.
const MulciberMemoryCallbacks* memoryCallbacks(const MulciberContextInfo& info) {
  return info.structSize < sizeof(MulciberContextInfo) ? nullptr : info.memoryCallbacks;
}

MulciberResult checkQueues(const MulciberContextInfo& info, const vk::AdoptedDevice& engine) {
  if (info.queueCount == 0 || !info.queues)
    return fail(MULCIBER_ERROR_WRONG_QUEUE, "a context needs a queue that it may submit to");
  for (uint32_t i = 0; i < info.queueCount; ++i) {
    const MulciberQueue& queue = info.queues[i];
    if (queue.queue == VK_NULL_HANDLE || !queue.lock != !queue.unlock)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT,
                  fmt::format("queue {} is null, or has one of lock and unlock alone", i));
    if (std::find(engine.families.begin(), engine.families.end(), queue.family) == engine.families.end() ||
        queue.family >= engine.physical->queueFamilies.size())
      return fail(MULCIBER_ERROR_WRONG_QUEUE,
                  fmt::format("the device was made with no queue of family {}", queue.family));
    if ((engine.physical->queueFamilies[queue.family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0)
      return fail(MULCIBER_ERROR_WRONG_QUEUE,
                  fmt::format("queue {} is of family {}, which does not compute", i, queue.family));
  }
  return MULCIBER_SUCCESS;
}

}  // namespace

MulciberResult mulciberCreateContext(const MulciberContextInfo* info, MulciberContext* out) {
  return guarded([&] {
    if (!info || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    if (info->structSize < sizeOfVersion1 || info->device == VK_NULL_HANDLE || !info->deviceInfo)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT,
                  "MulciberContextInfo: the size, the device and what it was made with must be given");
    MulciberResult result = MULCIBER_SUCCESS;
    auto physical = describe(info->physicalDevice, result);
    if (!physical) return result;
    vk::restrictTo(*info->deviceInfo, *physical);
    if (const std::string why = physical->whyUnusable(); !why.empty())
      return fail(MULCIBER_ERROR_MISSING_FEATURE,
                  "as the device was made " + why + " (mulciberAddToDevice() adds what is needed)");
    vk::AdoptedDevice engine;
    engine.handle = info->device;
    engine.physical = std::move(physical);
    engine.families = familiesOf(*info->deviceInfo);
    engine.bufferUsage = info->bufferUsage;
    engine.callbacks = info->allocationCallbacks;
    if (const MulciberMemoryCallbacks* memory = memoryCallbacks(*info)) {
      if (!memory->allocate || !memory->free)
        return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "MulciberMemoryCallbacks: one of allocate and free is null");
      engine.memory = {memory->allocate, memory->free, memory->user};
    }
    engine.mayStartThreads = (info->flags & MULCIBER_CONTEXT_NO_THREADS) == 0;
    TRY(checkQueues(*info, engine));
    for (uint32_t i = 0; i < info->queueCount; ++i) {
      const MulciberQueue& queue = info->queues[i];
      engine.queues.push_back({queue.queue, queue.family, {queue.lock, queue.unlock, queue.user}});
    }
    auto made = std::make_unique<MulciberContext_T>();
    const bool usesDisk = (info->flags & MULCIBER_CONTEXT_NO_DISK) == 0;
    core::ShaderCache& cache = usesDisk ? core::ShaderCache::get() : core::ShaderCache::none();
    TRY(resultOf(core::Device::adopt(std::move(engine), cache, made->device), "the context cannot use the device"));
    TRY(resultOf(made->device->createContext(0, made->context), "the context cannot be created"));
    *out = made.release();
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberDestroyContext(MulciberContext context) {
  return guarded([&] {
    if (!context) return MULCIBER_SUCCESS;
    if (core::currentContext() == context->context) core::setCurrentContext(nullptr);
    context->recordings.clear();
    context->graphs.clear();
    context->images.clear();
    context->spare.clear();
    context->streams.clear();
    context->modules.clear();
    context->context->destroy();
    // What is left of it would use the device when it goes.
    if (context->context.use_count() > 1)
      return fail(MULCIBER_ERROR_IN_USE,
                  "a thread has the context current (cuCtxSetCurrent): once it has not, destroy it again");
    delete context;
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberCheck(MulciberContext context) {
  return guarded([&] {
    if (!context) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the context is null");
    return resultOf(context->context->services().afterWait(), "the context");
  });
}

void* mulciberGetCudaContext(MulciberContext context) { return context ? context->context.get() : nullptr; }
