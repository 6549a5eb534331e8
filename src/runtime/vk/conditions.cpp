#include "runtime/vk/conditions.h"

#include "runtime/vk/builtins.h"
#include "runtime/vk/commands.h"
#include "runtime/vk/device.h"

namespace mulciber::vk {

namespace {

constexpr VkPipelineStageFlags2 shaders = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr VkAccessFlags2 shaderAccess =
    VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_UNIFORM_READ_BIT;
constexpr VkPipelineStageFlags2 conditions = VK_PIPELINE_STAGE_2_CONDITIONAL_RENDERING_BIT_EXT;

void barrier(const Commands& commands, VkPipelineStageFlags2 from, VkAccessFlags2 written, VkPipelineStageFlags2 to,
             VkAccessFlags2 read) {
  VkMemoryBarrier2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  memory.srcStageMask = from;
  memory.srcAccessMask = written;
  memory.dstStageMask = to;
  memory.dstAccessMask = read;
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &memory;
  commands.device().api().vkCmdPipelineBarrier2(commands.handle(), &dependency);
}

}  // namespace

bool canLeaveOutWork(const Device& device) {
  return device.physical().conditionalRendering.conditionalRendering != VK_FALSE;
}

void decide(Commands& commands, const Condition& condition) {
  // After all that may set the value, and what an earlier run still reads the words for.
  barrier(commands, shaders | conditions, VK_ACCESS_2_SHADER_WRITE_BIT, shaders, shaderAccess);
  commands.after(0);
  const struct {
    uint64_t value, within, words;
    uint32_t count, isSwitch;
  } push = {condition.value, condition.within, condition.words, condition.count, condition.isSwitch ? 1u : 0u};
  commands.dispatch(commands.device().builtins().decide(), &push, sizeof(push), {1, 1, 1});
}

void letSetConditions(Commands& commands) { barrier(commands, conditions, 0, shaders, 0); }

void beginIf(Commands& commands, const Memory& words, uint32_t number) {
  barrier(commands, shaders | conditions, VK_ACCESS_2_SHADER_WRITE_BIT, shaders | conditions,
          shaderAccess | VK_ACCESS_2_CONDITIONAL_RENDERING_READ_BIT_EXT);
  VkConditionalRenderingBeginInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT;
  info.buffer = Allocator::buffer(words);
  info.offset = words.offset + uint64_t{number} * sizeof(uint32_t);
  commands.device().api().vkCmdBeginConditionalRenderingEXT(commands.handle(), &info);
}

void endIf(Commands& commands) { commands.device().api().vkCmdEndConditionalRenderingEXT(commands.handle()); }

}  // namespace mulciber::vk
