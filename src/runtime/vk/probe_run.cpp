#include "runtime/vk/probe_run.h"

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "mulciber/kernel_abi.h"
#include "mulciber/translator.h"
#include "runtime/vk/device.h"
#include "util/log.h"

namespace mulciber::vk {

Status runProbe(Device& device, const PipelineDescription& description, uint32_t groups, uint32_t addressOffset,
                void* data, size_t bytes, std::vector<uint8_t>* cache) {
  Memory memory;
  TRY(device.allocator().allocate(MemoryUse::Host, bytes, memory));
  std::memcpy(memory.host, data, bytes);
  std::vector<uint8_t> push(addressOffset + sizeof(memory.address)), unused;
  std::memcpy(push.data() + addressOffset, &memory.address, sizeof(memory.address));
  std::unique_ptr<Pipeline> pipeline;
  Status status = Pipeline::create(device, description, cache ? *cache : unused, pipeline);
  if (status == Status::Ok) {
    Queue& queue = device.queue(0);
    Position position(queue);
    status = queue.record(position, [&](Commands& commands) {
      commands.dispatch(*pipeline, push.data(), static_cast<uint32_t>(push.size()), {groups, 1, 1});
      return Status::Ok;
    });
    if (status == Status::Ok) status = queue.wait(position.last.value, WaitMode::Block);
  }
  if (status == Status::Ok) std::memcpy(data, memory.host, bytes);
  device.allocator().free(memory);
  return status;
}

bool runWarp(Device& device, const std::string& text, TargetProfile profile, void* data, size_t bytes) {
  const PhysicalDevice& physical = device.physical();
  profile.int8 = physical.features12.shaderInt8;
  profile.float16 = physical.features12.shaderFloat16;
  Diagnostics diagnostics;
  const ModulePtr module = parseModule(text, "probe", diagnostics);
  const auto kernel = module ? translate(*module, "probe", profile, {}, diagnostics) : std::nullopt;
  if (!kernel) {
    util::log().error("a probe cannot be translated\n{}", diagnostics.toString());
    return false;
  }
  PipelineDescription description;
  description.spirv = kernel->spirv;
  description.isKernel = description.needsWarps = true;
  description.block[0] = 32;
  return runProbe(device, description, 1, abi::parameterOffset, data, bytes) == Status::Ok;
}

}  // namespace mulciber::vk
