#include "runtime/engine/handles.h"

using namespace mulciber;
using namespace mulciber::engine_api;

namespace {

core::AllocationRef find(MulciberContext context, VkDeviceAddress address) {
  const core::AllocationRef found = context->device->memory().find(address);
  return found && found->context.lock() == context->context ? found : nullptr;
}

}  // namespace

MulciberResult mulciberAllocate(MulciberContext context, size_t bytes, VkDeviceAddress* out) {
  return guarded([&] {
    if (!context || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    return resultOf(context->context->allocate(bytes, *out), "allocating memory");
  });
}

MulciberResult mulciberFree(MulciberContext context, VkDeviceAddress address) {
  return guarded([&] {
    if (!context) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the context is null");
    if (!find(context, address)) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the context has no memory there");
    return resultOf(context->context->free(address), "freeing memory");
  });
}

MulciberResult mulciberGetBuffer(MulciberContext context, VkDeviceAddress address, MulciberBufferRange* out) {
  return guarded([&] {
    if (!context || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    const core::AllocationRef allocation = find(context, address);
    if (!allocation || allocation->kind == core::MemoryKind::Mapped)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the context has no memory there that is in one buffer");
    const uint64_t inside = allocation->offsetOf(address);
    out->buffer = vk::Allocator::buffer(allocation->memory);
    out->offset = allocation->memory.offset + inside;
    out->size = allocation->size - inside;
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberWrapBuffer(MulciberContext context, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
                                  VkDeviceAddress* out) {
  return guarded([&] {
    if (!context || buffer == VK_NULL_HANDLE || size == 0 || !out)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer or the buffer is null, or the size is 0");
    vk::Allocator& allocator = context->context->vulkan().allocator();
    vk::Memory memory;
    // Nothing is to be done when it goes: the buffer is the engine's.
    const auto status = allocator.wrap(buffer, offset, size, std::make_shared<char>(), memory);
    if (status != vk::Status::Ok)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT,
                  "the buffer has no address: it needs VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT and memory");
    const Error error = context->context->addForeign(memory, *out);
    if (error == Error::Success) return MULCIBER_SUCCESS;
    allocator.free(memory);
    if (error != Error::InvalidValue) return resultOf(error, "wrapping a buffer");
    return fail(MULCIBER_ERROR_IN_USE, "some of the buffer's addresses are known already as other memory");
  });
}
