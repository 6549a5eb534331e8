#include <algorithm>

#include <fmt/format.h>

#include "runtime/engine/launches.h"

using namespace mulciber;
using namespace mulciber::engine_api;

namespace {

constexpr uint32_t knownFlags =
    MULCIBER_RECORDING_BARRIER_BEFORE | MULCIBER_RECORDING_BARRIER_AFTER | MULCIBER_RECORDING_UNORDERED;

MulciberResult checkFamily(const vk::Device& device, uint32_t family) {
  const std::vector<uint32_t>& families = device.adopted()->families;
  if (std::find(families.begin(), families.end(), family) == families.end())
    return fail(MULCIBER_ERROR_WRONG_QUEUE, fmt::format("the device was made with no queue of family {}", family));
  if ((device.physical().queueFamilies[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0)
    return fail(MULCIBER_ERROR_WRONG_QUEUE,
                fmt::format("the command buffer is for family {}, which does not compute", family));
  return MULCIBER_SUCCESS;
}

// Before each piece of work: it comes after those before.
MulciberResult open(MulciberRecording recording) {
  TRY(checkOpen(recording));
  const bool isFirst = recording->commands->count() == 0;
  if ((recording->flags & MULCIBER_RECORDING_UNORDERED) == 0 && !isFirst) recording->commands->barrier();
  return MULCIBER_SUCCESS;
}

// What a kernel asks of the host is looked after by whoever waits for it, and nobody waits for a borrowed one.
MulciberResult checkHost(MulciberKernel_T& handle) {
  if (handle.needsNoHost.load(std::memory_order_relaxed)) return MULCIBER_SUCCESS;
  core::Function& function = *handle.function;
  const KernelInfo* kernel = nullptr;
  TRY(resultOf(function.info(kernel), function.name().c_str()));
  if (!kernel->usesPrintf && !kernel->usesHeap) {
    handle.needsNoHost.store(true, std::memory_order_relaxed);
    return MULCIBER_SUCCESS;
  }
  return fail(MULCIBER_ERROR_NEEDS_HOST,
              fmt::format("the kernel {} calls {}, which needs the host: launch it in a stream", function.name(),
                          kernel->usesPrintf ? "printf" : "malloc"));
}

MulciberResult begin(MulciberRecording_T& recording) {
  vk::Commands& commands = *recording.commands;
  TRY(resultOf(core::errorFrom(commands.begin({})), "beginning a recording"));
  if ((recording.flags & MULCIBER_RECORDING_BARRIER_BEFORE) != 0) commands.comeAfterOwner();
  recording.isOpen = true;
  return MULCIBER_SUCCESS;
}

}  // namespace

MulciberResult engine_api::checkOpen(MulciberRecording recording) {
  if (!recording || !recording->isOpen) return fail(MULCIBER_ERROR_WRONG_STATE, "the recording is null or has ended");
  TRY(resultOf(recording->context->context->error(), "the context"));
  return MULCIBER_SUCCESS;
}

MulciberResult mulciberBeginRecording(MulciberContext context, const MulciberRecordingInfo* info,
                                      MulciberRecording* out) {
  return guarded([&] {
    if (!context || !info || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    if (info->structSize < sizeof(MulciberRecordingInfo) || info->commandBuffer == VK_NULL_HANDLE ||
        (info->flags & ~knownFlags) != 0)
      return fail(
          MULCIBER_ERROR_INVALID_ARGUMENT,
          "MulciberRecordingInfo: the size and the command buffer must be given, and no flag that is not known");
    vk::Device& device = context->context->vulkan();
    TRY(checkFamily(device, info->queueFamily));
    TRY(resultOf(context->context->error(), "the context"));
    std::lock_guard lock(context->mutex);
    for (const auto& other : context->recordings)
      if (other->isOpen && other->commands->handle() == info->commandBuffer)
        return fail(MULCIBER_ERROR_WRONG_STATE, "another recording in the same command buffer has not ended");
    std::unique_ptr<MulciberRecording_T> recording;
    if (context->spare.empty()) {
      recording = std::make_unique<MulciberRecording_T>();
      recording->context = context;
      recording->commands = vk::Commands::borrow(device, info->commandBuffer);
    } else {
      recording = std::move(context->spare.back());
      context->spare.pop_back();
      recording->commands->borrow(info->commandBuffer);
    }
    recording->frame = info->frame;
    recording->flags = info->flags;
    TRY(begin(*recording));
    *out = recording.get();
    context->recordings.push_back(std::move(recording));
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberEndRecording(MulciberRecording recording) {
  return guarded([&] {
    if (!recording || !recording->isOpen) return fail(MULCIBER_ERROR_WRONG_STATE, "the recording is null or has ended");
    if ((recording->flags & MULCIBER_RECORDING_BARRIER_AFTER) != 0) recording->commands->comeBeforeOwner();
    const vk::Status status = recording->commands->end();
    std::lock_guard lock(recording->context->mutex);
    recording->isOpen = false;
    return resultOf(core::errorFrom(status), "ending a recording");
  });
}

MulciberResult mulciberRecordLaunch(MulciberRecording recording, MulciberKernel kernel, const MulciberLaunch* launch) {
  return guarded([&] {
    TRY(open(recording));
    if (!kernel || !launch) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    if (kernel->module->context != recording->context)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the kernel is of another context");
    TRY(checkHost(*kernel));
    core::KernelLaunch prepared;
    TRY(prepare(*kernel, *launch, prepared));
    const vk::Status status = prepared.record(*recording->commands);
    return resultOf(core::errorFrom(status), kernel->function->name().c_str());
  });
}

MulciberResult mulciberRecordCopy(MulciberRecording recording, VkDeviceAddress destination, VkDeviceAddress source,
                                  size_t bytes) {
  return guarded([&] {
    TRY(open(recording));
    if (bytes != 0) recording->commands->copy({destination, source, bytes});
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberRecordFill(MulciberRecording recording, VkDeviceAddress destination, uint32_t value,
                                  uint32_t valueBytes, size_t count) {
  return guarded([&] {
    TRY(open(recording));
    if ((valueBytes != 1 && valueBytes != 2 && valueBytes != 4) || destination % valueBytes != 0)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "values have 1, 2 or 4 bytes and lie at multiples of that");
    if (count != 0) recording->commands->fill({destination, value, valueBytes, count});
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberRecordBarrier(MulciberRecording recording) {
  return guarded([&] {
    if (!recording || !recording->isOpen) return fail(MULCIBER_ERROR_WRONG_STATE, "the recording is null or has ended");
    recording->commands->barrier();
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberRetireFrames(MulciberContext context, uint64_t frame) {
  return guarded([&] {
    if (!context) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the context is null");
    std::lock_guard lock(context->mutex);
    const auto done = std::partition(context->recordings.begin(), context->recordings.end(),
                                     [&](const auto& held) { return held->isOpen || held->frame > frame; });
    for (auto one = done; one != context->recordings.end(); ++one) {
      (*one)->commands->reset();
      context->spare.push_back(std::move(*one));
    }
    context->recordings.erase(done, context->recordings.end());
    return MULCIBER_SUCCESS;
  });
}
