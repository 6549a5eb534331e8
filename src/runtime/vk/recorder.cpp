// Recorder: the commands a batch is made of.
#include "runtime/vk/batch.h"

#include <algorithm>
#include <cstddef>

#include "mulciber/kernel_abi.h"
#include "runtime/vk/builtins.h"
#include "runtime/vk/device.h"
#include "runtime/vk/pipeline.h"
#include "runtime/vk/queue.h"

namespace mulciber::vk {

namespace {

constexpr VkPipelineStageFlags2 computeStage = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr VkPipelineStageFlags2 copyStage = VK_PIPELINE_STAGE_2_COPY_BIT;

// The largest unit copies have that all of these are multiples of.
uint32_t copyUnit(uint64_t bits) { return bits % 16 == 0 ? 16 : bits % 8 == 0 ? 8 : bits % 4 == 0 ? 4 : 1; }

// The same for fills.
uint32_t fillUnit(uint64_t bits) { return bits % 16 == 0 ? 16 : bits % 4 == 0 ? 4 : bits % 2 == 0 ? 2 : 1; }

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
  barrier.srcAccessMask = writes(from);
  barrier.dstStageMask = to;
  barrier.dstAccessMask = accesses(to);
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  api.vkCmdPipelineBarrier2(commandBuffer, &dependency);
}

uint32_t groupsFor(uint64_t units, uint32_t perGroup) {
  return static_cast<uint32_t>((units + perGroup - 1) / perGroup);
}

}  // namespace

Device& Recorder::device() const { return queue_.device_; }

// One narrow barrier when the stream's last work has none behind it yet; a wider one after transfers.
VkCommandBuffer Recorder::beginCompute() {
  Batch& batch = *queue_.open_;
  if (queue_.transferSinceBarrier_ || position_.last.epoch == queue_.epoch_) {
    pipelineBarrier(device().api(), batch.commandBuffer,
                    queue_.transferSinceBarrier_ ? computeStage | copyStage : computeStage, computeStage);
    queue_.transferSinceBarrier_ = false;
    ++queue_.epoch_;
  }
  ++batch.commands;
  return batch.commandBuffer;
}

void Recorder::barrier() { position_.last.epoch = queue_.epoch_; }

Point Recorder::point() const { return {&queue_, queue_.openValue_, queue_.epoch_}; }

void Recorder::show() { queue_.open_->isShown = true; }

void Recorder::mark() { ++queue_.open_->commands; }

void Recorder::useConstants(const Memory& memory, uint32_t bytes) {
  Batch& batch = *queue_.open_;
  if (batch.boundConstants == memory.address && batch.boundConstantBytes == bytes) return;
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
  device().api().vkCmdPushDescriptorSetKHR(batch.commandBuffer, VK_PIPELINE_BIND_POINT_COMPUTE, device().layout(),
                                           abi::constantSet, 1, &write);
  batch.boundConstants = memory.address;
  batch.boundConstantBytes = bytes;
}

void Recorder::dispatch(const Pipeline& pipeline, const void* push, uint32_t pushBytes, const uint32_t (&groups)[3],
                        const uint32_t (&first)[3]) {
  const VolkDeviceTable& api = device().api();
  const VkCommandBuffer commandBuffer = beginCompute();
  Batch& batch = *queue_.open_;
  if (batch.bound != pipeline.handle()) {
    api.vkCmdBindPipeline(commandBuffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
    batch.bound = pipeline.handle();
  }
  api.vkCmdPushConstants(commandBuffer, device().layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes, push);
  // Of y and z a device takes as many blocks as CUDA does. A base beyond its limit of x is not allowed either.
  const uint32_t most = device().physical().limits().maxComputeWorkGroupCount[0];
  for (uint64_t x = 0; x < groups[0]; x += most) {
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(most, groups[0] - x));
    uint32_t base = first[0] + static_cast<uint32_t>(x);
    if (base == 0 && first[1] == 0 && first[2] == 0) {
      api.vkCmdDispatch(commandBuffer, count, groups[1], groups[2]);
      continue;
    }
    if (device().profile().gridsInPieces) {
      api.vkCmdPushConstants(commandBuffer, device().layout(), VK_SHADER_STAGE_COMPUTE_BIT,
                             offsetof(abi::PushHeader, firstBlockX), sizeof(base), &base);
      base = 0;
    }
    api.vkCmdDispatchBase(commandBuffer, base, first[1], first[2], count, groups[1], groups[2]);
  }
}

// body(x, y, z, width, height, depth) for each part of a box that one dispatch can take.
template <typename Body>
void Recorder::inParts(uint32_t unitsPerGroup, uint64_t width, uint64_t height, uint64_t depth, Body&& body) {
  const uint32_t(&most)[3] = device().physical().limits().maxComputeWorkGroupCount;
  const uint64_t mostUnits = uint64_t(most[0]) * unitsPerGroup;
  for (uint64_t z = 0; z < depth; z += most[2])
    for (uint64_t y = 0; y < height; y += most[1])
      for (uint64_t x = 0; x < width; x += mostUnits)
        body(x, y, z, std::min(mostUnits, width - x), static_cast<uint32_t>(std::min<uint64_t>(most[1], height - y)),
             static_cast<uint32_t>(std::min<uint64_t>(most[2], depth - z)));
}

void Recorder::copyUnits(const CopyRegion& region, uint32_t unitBytes) {
  inParts(copyUnitsPerGroup, region.width / unitBytes, region.height, region.depth,
          [&](uint64_t x, uint64_t y, uint64_t z, uint64_t width, uint32_t height, uint32_t depth) {
            const struct {
              uint64_t destination, source, width, destinationPitch, sourcePitch, destinationSlice, sourceSlice;
            } push = {region.destination + z * region.destinationSlice + y * region.destinationPitch + x * unitBytes,
                      region.source + z * region.sourceSlice + y * region.sourcePitch + x * unitBytes,
                      width,
                      region.destinationPitch,
                      region.sourcePitch,
                      region.destinationSlice,
                      region.sourceSlice};
            dispatch(device().builtins().copy(unitBytes), &push, sizeof(push),
                     {groupsFor(width, copyUnitsPerGroup), height, depth});
          });
}

void Recorder::copy(const CopyRegion& region) {
  if (region.width == 0 || region.height == 0 || region.depth == 0) return;
  if (region.height > 1 || region.depth > 1) {
    uint64_t bits = region.destination | region.source | region.width;
    if (region.height > 1) bits |= region.destinationPitch | region.sourcePitch;
    if (region.depth > 1) bits |= region.destinationSlice | region.sourceSlice;
    copyUnits(region, copyUnit(bits));
    return;
  }
  // A long run of bytes: the ragged ends by bytes, the middle by the largest unit both sides agree on.
  const uint32_t unit = copyUnit(region.destination - region.source);
  const uint64_t head = std::min((unit - region.destination % unit) % unit, region.width);
  const uint64_t body = (region.width - head) / unit * unit;
  const uint64_t tail = region.width - head - body;
  auto piece = [&](uint64_t offset, uint64_t bytes, uint32_t by) {
    copyUnits({region.destination + offset, region.source + offset, bytes}, by);
  };
  piece(0, head, 1);
  piece(head, body, unit);
  piece(head + body, tail, 1);
}

void Recorder::fillUnits(const FillRegion& region, uint32_t unitBytes) {
  inParts(fillUnitsPerGroup, region.width / unitBytes, region.height, region.depth,
          [&](uint64_t x, uint64_t y, uint64_t z, uint64_t width, uint32_t height, uint32_t depth) {
            const struct {
              uint64_t destination, width, pitch, slice;
              uint32_t pattern, padding;
            } push = {region.destination + z * region.slice + y * region.pitch + x * unitBytes,
                      width,
                      region.pitch,
                      region.slice,
                      region.value,
                      0};
            dispatch(device().builtins().fill(unitBytes), &push, sizeof(push),
                     {groupsFor(width, fillUnitsPerGroup), height, depth});
          });
}

void Recorder::fill(const FillRegion& given) {
  if (given.width == 0 || given.height == 0 || given.depth == 0) return;
  FillRegion region = given;
  region.width *= given.valueBytes;  // in bytes from here
  if (given.valueBytes == 1) region.value = (given.value & 0xFF) * 0x01010101u;
  if (given.valueBytes == 2) region.value = (given.value & 0xFFFF) * 0x00010001u;
  if (region.height > 1 || region.depth > 1) {
    uint64_t bits = region.destination | region.width;
    if (region.height > 1) bits |= region.pitch;
    if (region.depth > 1) bits |= region.slice;
    fillUnits(region, fillUnit(bits));
    return;
  }
  const uint64_t head = std::min((16 - region.destination % 16) % 16, region.width);
  const uint64_t body = (region.width - head) / 16 * 16;
  auto piece = [&](uint64_t offset, uint64_t bytes, uint32_t unit) {
    fillUnits({region.destination + offset, region.value, 4, bytes}, unit);
  };
  // The value's own width at the ends: the pattern starts anew with every value.
  piece(0, head, given.valueBytes);
  piece(head, body, 16);
  piece(head + body, region.width - head - body, given.valueBytes);
}

void Recorder::copyBuffer(const Memory& destination, uint64_t destinationOffset, const Memory& source,
                          uint64_t sourceOffset, uint64_t bytes) {
  const VolkDeviceTable& api = device().api();
  Batch& batch = *queue_.open_;
  pipelineBarrier(api, batch.commandBuffer, computeStage | copyStage, computeStage | copyStage);
  ++queue_.epoch_;
  queue_.transferSinceBarrier_ = true;
  ++batch.commands;
  VkBufferCopy region{};
  region.srcOffset = source.offset + sourceOffset;
  region.dstOffset = destination.offset + destinationOffset;
  region.size = bytes;
  api.vkCmdCopyBuffer(batch.commandBuffer, Allocator::buffer(source), Allocator::buffer(destination), 1, &region);
}

void Recorder::write(const TimestampRef& timestamp) {
  ++queue_.open_->commands;
  queue_.open_->finishWrites(device(), VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
  device().api().vkCmdWriteTimestamp2(queue_.open_->commandBuffer, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                      timestamp->pool(), timestamp->index());
  keep(timestamp);
}

Status Recorder::upload(uint64_t bytes, void*& host, uint64_t& address) {
  return queue_.open_->upload(device(), bytes, host, address);
}

void Recorder::keep(std::shared_ptr<const void> object) { queue_.open_->kept.push_back(std::move(object)); }

}  // namespace mulciber::vk
