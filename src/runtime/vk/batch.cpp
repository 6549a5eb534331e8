#include "runtime/vk/batch.h"

#include "runtime/vk/device.h"

namespace mulciber::vk {

namespace {
constexpr uint64_t arenaBytes = 64u << 10;
}

Status Batch::create(Device& device, uint32_t family) {
  const VolkDeviceTable& api = device.api();
  VkCommandPoolCreateInfo poolInfo{};
  poolInfo.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  poolInfo.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  poolInfo.queueFamilyIndex = family;
  if (Status status =
          device.status(api.vkCreateCommandPool(device.handle(), &poolInfo, nullptr, &pool), "creating a command pool");
      status != Status::Ok)
    return status;
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  return device.status(api.vkAllocateCommandBuffers(device.handle(), &info, &commandBuffer),
                       "allocating a command buffer");
}

Status Batch::begin(Device& device) {
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  return device.status(device.api().vkBeginCommandBuffer(commandBuffer, &info), "beginning a command buffer");
}

void Batch::finishWrites(Device& device, VkPipelineStageFlags2 before) {
  const bool hostLooks = isShown || device.hostLooks();
  if (!hostLooks && before == VK_PIPELINE_STAGE_2_NONE) return;
  VkMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  barrier.srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT;
  barrier.dstStageMask = before;
  if (hostLooks) {
    barrier.srcAccessMask = VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
    barrier.dstStageMask |= VK_PIPELINE_STAGE_2_HOST_BIT;
    barrier.dstAccessMask = VK_ACCESS_2_HOST_READ_BIT;
  }
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  device.api().vkCmdPipelineBarrier2(commandBuffer, &dependency);
}

Status Batch::end(Device& device) {
  finishWrites(device, VK_PIPELINE_STAGE_2_NONE);
  return device.status(device.api().vkEndCommandBuffer(commandBuffer), "ending a command buffer");
}

void Batch::reset(Device& device) {
  device.api().vkResetCommandPool(device.handle(), pool, 0);
  for (const Memory& memory : moreArenas) device.allocator().free(memory);
  moreArenas.clear();
  kept.clear();
  waits.clear();
  arenaUsed = 0;
  commands = 0;
  isShown = false;
  bound = VK_NULL_HANDLE;
  boundConstants = 0;
}

void Batch::destroy(Device& device) {
  for (const Memory& memory : moreArenas) device.allocator().free(memory);
  device.allocator().free(arena);
  if (pool != VK_NULL_HANDLE) device.api().vkDestroyCommandPool(device.handle(), pool, nullptr);
}

Status Batch::upload(Device& device, uint64_t bytes, void*& host, uint64_t& address) {
  bytes = (bytes + 255) / 256 * 256;
  if (bytes > arenaBytes / 4) {
    Memory memory;
    if (Status status = device.allocator().allocate(MemoryUse::Staging, bytes, memory); status != Status::Ok)
      return status;
    host = memory.host;
    address = memory.address;
    moreArenas.push_back(memory);
    return Status::Ok;
  }
  if (!arena.chunk || arenaUsed + bytes > arena.size) {
    Memory memory;
    if (Status status = device.allocator().allocate(MemoryUse::Staging, arenaBytes, memory); status != Status::Ok)
      return status;
    if (arena.chunk) moreArenas.push_back(arena);
    arena = memory;
    arenaUsed = 0;
  }
  host = static_cast<char*>(arena.host) + arenaUsed;
  address = arena.address + arenaUsed;
  arenaUsed += bytes;
  return Status::Ok;
}

}  // namespace mulciber::vk
