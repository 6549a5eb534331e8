#include "runtime/vk/commands.h"

#include <algorithm>
#include <cstddef>

#include "mulciber/kernel_abi.h"
#include "mulciber/texture_abi.h"
#include "runtime/vk/descriptors.h"
#include "runtime/vk/device.h"
#include "runtime/vk/pipeline.h"

namespace mulciber::vk {

namespace {

constexpr uint64_t arenaBytes = 64u << 10;
constexpr VkPipelineStageFlags2 computeStage = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr VkPipelineStageFlags2 copyStage = VK_PIPELINE_STAGE_2_COPY_BIT;
constexpr VkPipelineStageFlags2 anyStage = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;

VkAccessFlags2 writes(VkPipelineStageFlags2 stages) {
  return ((stages & computeStage) != 0 ? VK_ACCESS_2_SHADER_WRITE_BIT : 0) |
         ((stages & copyStage) != 0 ? VK_ACCESS_2_TRANSFER_WRITE_BIT : 0);
}

VkAccessFlags2 accesses(VkPipelineStageFlags2 stages) {
  return writes(stages) |
         ((stages & computeStage) != 0 ? VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_UNIFORM_READ_BIT : 0) |
         ((stages & copyStage) != 0 ? VK_ACCESS_2_TRANSFER_READ_BIT : 0);
}

void pipelineBarrier(const VolkDeviceTable& api, VkCommandBuffer commandBuffer, VkPipelineStageFlags2 from,
                     VkPipelineStageFlags2 to) {
  VkMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  barrier.srcStageMask = from;
  barrier.srcAccessMask = from == anyStage ? VK_ACCESS_2_MEMORY_WRITE_BIT : writes(from);
  barrier.dstStageMask = to;
  barrier.dstAccessMask = to == anyStage ? VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT : accesses(to);
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  api.vkCmdPipelineBarrier2(commandBuffer, &dependency);
}

// What is common to the ways an image comes into layout GENERAL.
VkImageMemoryBarrier2 toGeneral(VkImage image) {
  VkImageMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
  barrier.dstStageMask = computeStage | copyStage;
  barrier.dstAccessMask = accesses(barrier.dstStageMask);
  barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  barrier.image = image;
  barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS};
  return barrier;
}

}  // namespace

Status Commands::create(Device& device, uint32_t family, Kind kind, std::unique_ptr<Commands>& out) {
  const VolkDeviceTable& api = device.api();
  const bool computes = (device.physical().queueFamilies[family].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
  std::unique_ptr<Commands> commands(new Commands(device, kind, computes ? computeStage | copyStage : copyStage));
  VkCommandPoolCreateInfo poolInfo{};
  poolInfo.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  if (kind == Kind::Transient) poolInfo.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  poolInfo.queueFamilyIndex = family;
  TRY(device.status(api.vkCreateCommandPool(device.handle(), &poolInfo, device.callbacks(), &commands->pool_),
                    "creating a command pool"));
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = commands->pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  TRY(device.status(api.vkAllocateCommandBuffers(device.handle(), &info, &commands->commandBuffer_),
                    "allocating a command buffer"));
  out = std::move(commands);
  return Status::Ok;
}

std::unique_ptr<Commands> Commands::borrow(Device& device, VkCommandBuffer commandBuffer) {
  std::unique_ptr<Commands> commands(new Commands(device, Kind::Borrowed, computeStage | copyStage));
  commands->commandBuffer_ = commandBuffer;
  return commands;
}

void Commands::borrow(VkCommandBuffer commandBuffer) { commandBuffer_ = commandBuffer; }

Commands::~Commands() {
  for (const Memory& memory : moreArenas_) device_.allocator().free(memory);
  device_.allocator().free(arena_);
  if (pool_ != VK_NULL_HANDLE) device_.api().vkDestroyCommandPool(device_.handle(), pool_, device_.callbacks());
}

Status Commands::begin(const Hazards& before) {
  hazards_ = before;
  if (kind_ == Kind::Borrowed) return Status::Ok;
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = kind_ == Kind::Reusable ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
                                       : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  const Status status =
      device_.status(device_.api().vkBeginCommandBuffer(commandBuffer_, &info), "beginning a command buffer");
  if (status != Status::Ok || kind_ != Kind::Reusable) return status;
  // Each run comes after other work, of which nothing is known here.
  pipelineBarrier(device_.api(), commandBuffer_, stages_, stages_);
  hostReads_ = true;
  return Status::Ok;
}

// Before what follows in these stages all writes are done; and visible to the host, if it reads any.
void Commands::finishWrites(VkPipelineStageFlags2 before) {
  const bool hostReads = hostReads_ || device_.hostReads();
  if (!hostReads && before == VK_PIPELINE_STAGE_2_NONE) return;
  VkMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  barrier.srcStageMask = stages_;
  barrier.dstStageMask = before;
  if (hostReads) {
    barrier.srcAccessMask = writes(stages_);
    barrier.dstStageMask |= VK_PIPELINE_STAGE_2_HOST_BIT;
    barrier.dstAccessMask = VK_ACCESS_2_HOST_READ_BIT;
  }
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  device_.api().vkCmdPipelineBarrier2(commandBuffer_, &dependency);
}

void Commands::comeAfterOwner() { pipelineBarrier(device_.api(), commandBuffer_, anyStage, computeStage); }

void Commands::comeBeforeOwner() { pipelineBarrier(device_.api(), commandBuffer_, computeStage, anyStage); }

Status Commands::end() {
  finishWrites(VK_PIPELINE_STAGE_2_NONE);
  if (kind_ == Kind::Borrowed) return Status::Ok;
  return device_.status(device_.api().vkEndCommandBuffer(commandBuffer_), "ending a command buffer");
}

void Commands::reset() {
  if (pool_ != VK_NULL_HANDLE) device_.api().vkResetCommandPool(device_.handle(), pool_, 0);
  for (const Memory& memory : moreArenas_) device_.allocator().free(memory);
  moreArenas_.clear();
  kept_.clear();
  arenaUsed_ = 0;
  count_ = 0;
  after_ = 0;
  hostReads_ = false;
  bound_ = VK_NULL_HANDLE;
  boundConstants_ = 0;
  boundTextures_ = false;
}

// One narrow barrier when what this comes after has none behind it yet; a wider one after transfers.
VkCommandBuffer Commands::beginCompute() {
  if (hazards_.transferSinceBarrier || after_ == hazards_.epoch) {
    pipelineBarrier(device_.api(), commandBuffer_,
                    hazards_.transferSinceBarrier ? computeStage | copyStage : computeStage, computeStage);
    hazards_.transferSinceBarrier = false;
    ++hazards_.epoch;
  }
  ++count_;
  return commandBuffer_;
}

// After all the rest.
VkCommandBuffer Commands::beginTransfer() {
  pipelineBarrier(device_.api(), commandBuffer_, stages_, stages_);
  ++hazards_.epoch;
  hazards_.transferSinceBarrier = true;
  ++count_;
  return commandBuffer_;
}

void Commands::useConstants(const Memory& memory, uint32_t bytes) {
  if (boundConstants_ == memory.address && boundConstantBytes_ == bytes) return;
  VkDescriptorBufferInfo buffer{};
  buffer.buffer = Allocator::buffer(memory);
  buffer.offset = memory.offset;
  buffer.range = bytes;
  VkWriteDescriptorSet write{};
  write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
  write.dstBinding = abi::constantBinding;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
  write.pBufferInfo = &buffer;
  device_.api().vkCmdPushDescriptorSetKHR(commandBuffer_, VK_PIPELINE_BIND_POINT_COMPUTE, device_.layout(),
                                          abi::constantSet, 1, &write);
  boundConstants_ = memory.address;
  boundConstantBytes_ = bytes;
}

void Commands::bindTextures() {
  if (boundTextures_) return;
  Descriptors& descriptors = *device_.descriptors();
  VkDescriptorSet set = VK_NULL_HANDLE;
  if (descriptors.set(set) != Status::Ok) return;
  device_.api().vkCmdBindDescriptorSets(commandBuffer_, VK_PIPELINE_BIND_POINT_COMPUTE, descriptors.pipelineLayout(),
                                        abi::textureSet, 1, &set, 0, nullptr);
  boundTextures_ = true;
}

void Commands::dispatch(const Pipeline& pipeline, const void* push, uint32_t pushBytes, const uint32_t (&groups)[3],
                        const uint32_t (&first)[3]) {
  const VolkDeviceTable& api = device_.api();
  const VkCommandBuffer commandBuffer = beginCompute();
  if (bound_ != pipeline.handle()) {
    api.vkCmdBindPipeline(commandBuffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
    bound_ = pipeline.handle();
  }
  if (pipeline.usesTextures()) bindTextures();
  api.vkCmdPushConstants(commandBuffer, device_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes, push);
  // Of y and z a device takes as many blocks as CUDA does. A base beyond its limit of x is not allowed either.
  const uint32_t most = device_.physical().limits().maxComputeWorkGroupCount[0];
  for (uint64_t x = 0; x < groups[0]; x += most) {
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(most, groups[0] - x));
    uint32_t base = first[0] + static_cast<uint32_t>(x);
    if (base == 0 && first[1] == 0 && first[2] == 0) {
      api.vkCmdDispatch(commandBuffer, count, groups[1], groups[2]);
      continue;
    }
    if (device_.profile().gridsInPieces) {
      api.vkCmdPushConstants(commandBuffer, device_.layout(), VK_SHADER_STAGE_COMPUTE_BIT,
                             offsetof(abi::PushHeader, firstBlockX), sizeof(base), &base);
      base = 0;
    }
    api.vkCmdDispatchBase(commandBuffer, base, first[1], first[2], count, groups[1], groups[2]);
  }
}

void Commands::write(const TimestampRef& timestamp) {
  ++count_;
  finishWrites(VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
  device_.api().vkCmdWriteTimestamp2(commandBuffer_, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, timestamp->pool(),
                                     timestamp->index());
  keep(timestamp);
}

void Commands::copyBuffer(const Memory& destination, uint64_t destinationOffset, const Memory& source,
                          uint64_t sourceOffset, uint64_t bytes) {
  VkBufferCopy region{};
  region.srcOffset = source.offset + sourceOffset;
  region.dstOffset = destination.offset + destinationOffset;
  region.size = bytes;
  device_.api().vkCmdCopyBuffer(beginTransfer(), Allocator::buffer(source), Allocator::buffer(destination), 1, &region);
}

void Commands::makeGeneral(VkImage image) {
  VkImageMemoryBarrier2 barrier = toGeneral(image);
  // Its memory may have been another image's.
  barrier.srcStageMask = barrier.dstStageMask;
  barrier.srcAccessMask = writes(barrier.srcStageMask);
  barrier.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  recordBarrier(barrier);
}

void Commands::acquireGeneral(VkImage image, uint32_t family) {
  VkImageMemoryBarrier2 barrier = toGeneral(image);
  barrier.oldLayout = VK_IMAGE_LAYOUT_GENERAL;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_EXTERNAL;
  barrier.dstQueueFamilyIndex = family;
  recordBarrier(barrier);
}

void Commands::recordBarrier(const VkImageMemoryBarrier2& barrier) {
  ++count_;
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.imageMemoryBarrierCount = 1;
  dependency.pImageMemoryBarriers = &barrier;
  device_.api().vkCmdPipelineBarrier2(commandBuffer_, &dependency);
}

Status Commands::upload(uint64_t bytes, Memory& out) {
  bytes = (bytes + 255) / 256 * 256;
  if (bytes > arenaBytes / 4) {
    TRY(device_.allocator().allocate(MemoryUse::Staging, bytes, out));
    moreArenas_.push_back(out);
    return Status::Ok;
  }
  if (!arena_.chunk || arenaUsed_ + bytes > arena_.size) {
    Memory memory;
    TRY(device_.allocator().allocate(MemoryUse::Upload, arenaBytes, memory));
    if (arena_.chunk) moreArenas_.push_back(arena_);
    arena_ = memory;
    arenaUsed_ = 0;
  }
  out = {arena_.chunk, arena_.offset + arenaUsed_, bytes, arena_.address + arenaUsed_,
         static_cast<char*>(arena_.host) + arenaUsed_};
  arenaUsed_ += bytes;
  return Status::Ok;
}

Status Commands::upload(uint64_t bytes, void*& host, uint64_t& address) {
  Memory memory;
  TRY(upload(bytes, memory));
  host = memory.host;
  address = memory.address;
  return Status::Ok;
}

Status Commands::temporary(uint64_t bytes, Memory& out) {
  TRY(device_.allocator().allocate(MemoryUse::Device, bytes, out));
  moreArenas_.push_back(out);
  return Status::Ok;
}

}  // namespace mulciber::vk
