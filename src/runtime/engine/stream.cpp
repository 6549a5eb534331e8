#include <algorithm>

#include "runtime/core/copy.h"
#include "runtime/engine/launches.h"

using namespace mulciber;
using namespace mulciber::engine_api;

MulciberResult mulciberCreateStream(MulciberContext context, MulciberStream* out) {
  return guarded([&] {
    if (!context || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    auto made = std::make_unique<MulciberStream_T>();
    made->context = context;
    core::Context& core = *context->context;
    Error error = core.createStream(core::Stream::NonBlocking, 0, made->handle);
    if (error == Error::Success) error = core.stream(reinterpret_cast<uintptr_t>(made->handle), false, made->stream);
    TRY(resultOf(error, "creating a stream"));
    std::lock_guard lock(context->mutex);
    context->streams.push_back(std::move(made));
    *out = context->streams.back().get();
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberDestroyStream(MulciberStream stream) {
  return guarded([&] {
    if (!stream) return MULCIBER_SUCCESS;
    MulciberContext_T& context = *stream->context;
    TRY(resultOf(context.context->destroyStream(stream->handle), "destroying a stream"));
    std::lock_guard lock(context.mutex);
    std::erase_if(context.streams, [&](const auto& held) { return held.get() == stream; });
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberLaunch(MulciberStream stream, MulciberKernel kernel, const MulciberLaunch* launch) {
  return guarded([&] {
    if (!stream || !kernel || !launch) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    return resultOf(core::launch(*kernel->function, shapeOf(*launch), argumentsOf(*launch), *stream->stream),
                    kernel->function->name().c_str());
  });
}

MulciberResult mulciberCopy(MulciberStream stream, uint64_t destination, uint64_t source, size_t bytes) {
  return guarded([&] {
    if (!stream) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the stream is null");
    core::Copy copy;
    copy.destination = destination;
    copy.source = source;
    copy.width = bytes;
    const bool isCaptured = stream->stream->capture() != nullptr;  // nothing is waited for then
    return resultOf(core::copy(*stream->stream, copy, isCaptured), "a copy");
  });
}

MulciberResult mulciberFill(MulciberStream stream, VkDeviceAddress destination, uint32_t value, uint32_t valueBytes,
                            size_t count) {
  return guarded([&] {
    if (!stream || (valueBytes != 1 && valueBytes != 2 && valueBytes != 4))
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the stream is null, or the value has neither 1, 2 nor 4 bytes");
    core::Fill fill;
    fill.destination = destination;
    fill.value = value;
    fill.valueBytes = valueBytes;
    fill.width = count;
    return resultOf(core::fill(*stream->stream, fill, true), "a fill");
  });
}

MulciberResult mulciberSynchronizeStream(MulciberStream stream) {
  return guarded([&] {
    if (!stream) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the stream is null");
    return resultOf(stream->stream->synchronize(), "the stream");
  });
}

namespace {

MulciberResult exchange(MulciberStream stream, VkSemaphore semaphore, uint64_t value, bool signals) {
  return guarded([&] {
    if (!stream || semaphore == VK_NULL_HANDLE)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the stream or the semaphore is null");
    core::SemaphoreExchange semaphores;
    (signals ? semaphores.signals : semaphores.waits).push_back({semaphore, value});
    std::vector<core::Operation> operations;
    operations.emplace_back(std::move(semaphores));
    return resultOf(stream->stream->enqueue(std::move(operations)), "a semaphore");
  });
}

}  // namespace

MulciberResult mulciberWaitSemaphore(MulciberStream stream, VkSemaphore semaphore, uint64_t value) {
  return exchange(stream, semaphore, value, false);
}

MulciberResult mulciberSignalSemaphore(MulciberStream stream, VkSemaphore semaphore, uint64_t value) {
  return exchange(stream, semaphore, value, true);
}

MulciberResult mulciberGetStreamEnd(MulciberStream stream, VkSemaphore* semaphore, uint64_t* value) {
  return guarded([&] {
    if (!stream || !semaphore || !value) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    core::MarkerRef marker;
    TRY(resultOf(stream->stream->mark(core::Precision::Exact, marker), "the stream"));
    if (!marker->isResolved())
      return fail(MULCIBER_ERROR_WRONG_STATE, "the stream waits for a function of the host: its end is not known yet");
    const vk::Point& end = marker->point();
    TRY(resultOf(core::errorFrom(end.queue->submit(end.value)), "the stream"));
    *semaphore = end.queue->timeline();
    *value = end.value;
    return MULCIBER_SUCCESS;
  });
}
