#include "runtime/core/external.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "runtime/core/array.h"
#include "runtime/core/capture.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/platform.h"
#include "runtime/core/stream.h"
#include "runtime/vk/device.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

constexpr uint32_t dedicatedFlag = 1;  // CUDA_EXTERNAL_MEMORY_DEDICATED

const char* nameOf(ExternalMemoryType type) {
  switch (type) {
    case ExternalMemoryType::OpaqueFd: return "an opaque file descriptor";
    case ExternalMemoryType::OpaqueWin32:
    case ExternalMemoryType::OpaqueWin32Kmt: return "a handle of Windows";
    case ExternalMemoryType::D3d12Heap:
    case ExternalMemoryType::D3d12Resource:
    case ExternalMemoryType::D3d11Resource:
    case ExternalMemoryType::D3d11ResourceKmt: return "an object of Direct3D";
    case ExternalMemoryType::NvSciBuf: return "an NvSciBuf object";
    case ExternalMemoryType::DmabufFd: return "a dma-buf";
  }
  return nullptr;
}

const char* nameOf(ExternalSemaphoreType type) {
  switch (type) {
    case ExternalSemaphoreType::OpaqueFd: return "an opaque file descriptor";
    case ExternalSemaphoreType::TimelineFd: return "a timeline's file descriptor";
    case ExternalSemaphoreType::OpaqueWin32:
    case ExternalSemaphoreType::OpaqueWin32Kmt:
    case ExternalSemaphoreType::TimelineWin32: return "a handle of Windows";
    case ExternalSemaphoreType::D3d12Fence:
    case ExternalSemaphoreType::D3d11Fence:
    case ExternalSemaphoreType::D3d11KeyedMutex:
    case ExternalSemaphoreType::D3d11KeyedMutexKmt: return "an object of Direct3D";
    case ExternalSemaphoreType::NvSciSync: return "an NvSciSync object";
  }
  return nullptr;
}

// InvalidValue for what is none of CUDA's kinds, and for some of Direct3D's, which Linux does not know natively either.
bool isKnown(ExternalMemoryType type) {
  switch (type) {
    case ExternalMemoryType::D3d12Resource:
    case ExternalMemoryType::D3d11Resource:
    case ExternalMemoryType::D3d11ResourceKmt: return false;
    default: return nameOf(type) != nullptr;
  }
}
bool isKnown(ExternalSemaphoreType type) { return nameOf(type) != nullptr; }

template <class Type>
Error refuse(const char* what, Type type) {
  if (const char* const name = nameOf(type))
    util::log().warn("external {} that is {} cannot be imported: only file descriptors from Vulkan can", what, name);
  return isKnown(type) ? Error::NotSupported : Error::InvalidValue;
}

Error refuseDevice(const char* what, const char* extension, const Device& device) {
  util::log().warn("external {} cannot be imported: the Vulkan driver of {} has no {}", what, device.name(), extension);
  return Error::NotSupported;
}

}  // namespace

ExternalMemory::ExternalMemory(Context& context, const ExternalMemoryDescription& description)
    : context_(context.weak_from_this()),
      memory_{description.descriptor, description.size, (description.flags & dedicatedFlag) != 0} {}

ExternalMemory::~ExternalMemory() { close(memory_.descriptor); }

Error ExternalMemory::mapBuffer(uint64_t offset, uint64_t size, uint32_t flags, uint64_t& address) const {
  const ContextRef context = context_.lock();
  if (!context) return Error::ContextIsDestroyed;
  if (flags != 0 || size == 0 || offset > memory_.size || size > memory_.size - offset) return Error::InvalidValue;
  vk::Memory mapped;
  const vk::Status status = vk::importBuffer(context->vulkan(), memory_, offset, size, mapped);
  if (status == vk::Status::Unsupported) return Error::InvalidValue;
  if (status != vk::Status::Ok) return errorFrom(status);
  const Error error = context->addForeign(mapped, address);
  if (error != Error::Success) context->vulkan().allocator().free(mapped);
  return error;
}

Error ExternalMemory::mapArray(uint64_t offset, const ArrayDescription& description, uint32_t levels,
                               MipmappedArray*& out) const {
  const ContextRef context = context_.lock();
  if (!context) return Error::ContextIsDestroyed;
  if (levels == 0) return Error::InvalidValue;
  return importMipmappedArray(*context, description, levels, memory_, offset, out);
}

Error importMemory(Context& context, const ExternalMemoryDescription& description, ExternalMemory*& out) {
  if (description.type != ExternalMemoryType::OpaqueFd) return refuse("memory", description.type);
  if ((description.flags & ~dedicatedFlag) != 0 || description.size == 0) return Error::InvalidValue;
  if (!vk::canImportMemory(context.device().physical()))
    return refuseDevice("memory", "VK_KHR_external_memory_fd", context.device());
  const bool isDedicated = (description.flags & dedicatedFlag) != 0;
  // Memory that was made for one buffer or image is known once it is said which of them it is.
  if (!isDedicated) {
    vk::Memory known;
    const vk::Status status =
        vk::importBuffer(context.vulkan(), {description.descriptor, description.size, false}, 0, 1, known);
    if (status != vk::Status::Ok) return errorFrom(status);
    context.vulkan().allocator().free(known);
  }
  out = context.externalMemory().add(std::make_shared<ExternalMemory>(context, description));
  return Error::Success;
}

Error destroyExternalMemory(ExternalMemory* memory) {
  if (!memory) return Error::InvalidValue;
  for (const ContextRef& context : Platform::get().contexts())
    if (context->externalMemory().remove(memory)) return Error::Success;
  return Error::InvalidHandle;
}

Error importSemaphore(Context& context, const ExternalSemaphoreDescription& description, ExternalSemaphore*& out) {
  const bool isTimeline = description.type == ExternalSemaphoreType::TimelineFd;
  if (!isTimeline && description.type != ExternalSemaphoreType::OpaqueFd) return refuse("semaphore", description.type);
  if (description.flags != 0) return Error::InvalidValue;
  if (!vk::canImportSemaphores(context.device().physical()))
    return refuseDevice("semaphores", "VK_KHR_external_semaphore_fd", context.device());
  std::shared_ptr<vk::ImportedSemaphore> imported;
  if (const vk::Status status =
          vk::ImportedSemaphore::create(context.sharedVulkan(), description.descriptor, isTimeline, imported);
      status != vk::Status::Ok)
    return errorFrom(status);
  out = context.externalSemaphores().add(std::make_shared<ExternalSemaphore>(std::move(imported)));
  return Error::Success;
}

// Work that streams already have may still use it.
Error destroyExternalSemaphore(ExternalSemaphore* semaphore) {
  if (!semaphore) return Error::InvalidValue;
  for (const ContextRef& context : Platform::get().contexts())
    if (context->externalSemaphores().remove(semaphore)) return Error::Success;
  return Error::InvalidHandle;
}

Error findSemaphores(ExternalSemaphoreUses& uses) {
  for (size_t i = 0; i < uses.handles.size(); ++i) {
    ExternalSemaphoreRef semaphore;
    TRY(findExternalSemaphore(uses.handles[i], semaphore));
    if (uses.parameters[i].flags != 0) return Error::InvalidValue;
    uses.semaphores.push_back(semaphore->imported());
  }
  return Error::Success;
}

namespace {

template <class Make>
Error makeOperations(const Context& context, const ExternalSemaphoreUses& uses, std::vector<Operation>& out,
                     Make&& make) {
  for (size_t i = 0; i < uses.semaphores.size(); ++i) {
    const auto& semaphore = uses.semaphores[i];
    if (&semaphore->device() != &context.vulkan()) return Error::InvalidHandle;
    out.emplace_back(make(semaphore, uses.parameters[i].value));
  }
  return Error::Success;
}

}  // namespace

Error signalOperations(const Context& context, const ExternalSemaphoreUses& uses, std::vector<Operation>& out) {
  return makeOperations(context, uses, out, [](const auto& semaphore, uint64_t value) {
    return SemaphoreExchange{{}, {{semaphore->handle(), value}}, semaphore};
  });
}

Error waitOperations(const Context& context, const ExternalSemaphoreUses& uses, std::vector<Operation>& out) {
  return makeOperations(context, uses, out, [](const auto& semaphore, uint64_t value) {
    return WaitForSemaphore{semaphore, value};
  });
}

namespace {

template <class Node>
Error give(Stream& stream, ExternalSemaphoreUses uses,
           Error (*makeOperations)(const Context&, const ExternalSemaphoreUses&, std::vector<Operation>&)) {
  TRY(findSemaphores(uses));
  std::vector<Operation> operations;
  TRY(makeOperations(stream.context(), uses, operations));
  if (const CaptureRef capture = stream.capture()) return capture->add(stream, Node{std::move(uses)});
  return stream.enqueue(std::move(operations));
}

}  // namespace

Error signal(Stream& stream, ExternalSemaphoreUses uses) {
  return give<SemaphoreSignalNode>(stream, std::move(uses), signalOperations);
}

Error wait(Stream& stream, ExternalSemaphoreUses uses) {
  return give<SemaphoreWaitNode>(stream, std::move(uses), waitOperations);
}

}  // namespace mulciber::core
