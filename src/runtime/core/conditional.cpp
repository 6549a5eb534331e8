#include "runtime/core/conditional.h"

#include <cstring>

#include "runtime/core/context.h"
#include "runtime/vk/device.h"
#include "runtime/vk/queue.h"

namespace mulciber::core {

ConditionalValue::ConditionalValue(Context& context, std::optional<uint32_t> first)
    : context_(&context), alive_(context.weak_from_this()), first_(first) {}

ConditionalValue::~ConditionalValue() {
  if (const ContextRef context = alive_.lock()) context->vulkan().allocator().free(memory_);
}

Error ConditionalValue::create(Context& context, std::optional<uint32_t> first, ConditionalValueRef& out) {
  ConditionalValueRef made(new ConditionalValue(context, first));
  vk::Device& device = context.vulkan();
  vk::Status status = device.allocator().allocate(vk::MemoryUse::Device, sizeof(uint32_t), made->memory_);
  if (status != vk::Status::Ok) return errorFrom(status);
  if (void* const window = device.allocator().window(made->memory_)) {
    std::memset(window, 0, sizeof(uint32_t));
  } else {
    vk::Queue& queue = device.queue(0);
    vk::Position position(queue);
    status = queue.record(position, [&](vk::Commands& commands) {
      commands.fill({made->handle(), 0, sizeof(uint32_t), 1});
      return vk::Status::Ok;
    });
    if (status == vk::Status::Ok) status = queue.wait(position.last.value, vk::WaitMode::Auto);
  }
  out = std::move(made);
  return errorFrom(status);
}

}  // namespace mulciber::core
