// What an engine pays for a launch: host time to record one into its own command buffer, and a frame of such launches
// from recording to the end, on the engine's own device. Beside it the same Vulkan commands for a kernel of nothing:
// what the driver takes of that time. No CUDA library takes part.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define VOLK_IMPLEMENTATION
#include <volk.h>
//
#include "mulciber/engine.hpp"
#include "mulciber/kernel_abi.h"
#include "mulciber/translator.h"

namespace {

using Clock = std::chrono::steady_clock;
namespace engine = mulciber::engine;

constexpr int launches = 1000, rounds = 31;
constexpr char ptx[] = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 data, .param .u32 value) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd0, [data];
  ld.param.u32 %r0, [value];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd2, %rd0, %rd1;
  ld.global.b32 %r2, [%rd2];
  add.u32 %r3, %r2, %r0;
  st.global.b32 [%rd2], %r3;
  ret;
})";

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// The engine: a device with one queue that computes.
struct Host {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;
};

engine::Context open(Host& host) {
  require(volkInitialize() == VK_SUCCESS, "loading Vulkan");
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo instanceInfo{};
  instanceInfo.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  instanceInfo.pApplicationInfo = &application;
  require(vkCreateInstance(&instanceInfo, nullptr, &host.instance) == VK_SUCCESS, "vkCreateInstance");
  volkLoadInstance(host.instance);
  uint32_t count = 1;
  vkEnumeratePhysicalDevices(host.instance, &count, &host.physical);
  require(count == 1, "finding a device");
  vkGetPhysicalDeviceQueueFamilyProperties(host.physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(host.physical, &count, families.data());
  while (host.family < count && (families[host.family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++host.family;

  const float priority = 1;
  VkDeviceQueueCreateInfo queueInfo{};
  queueInfo.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queueInfo.queueFamilyIndex = host.family;
  queueInfo.queueCount = 1;
  queueInfo.pQueuePriorities = &priority;
  VkDeviceCreateInfo deviceInfo{};
  deviceInfo.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  deviceInfo.queueCreateInfoCount = 1;
  deviceInfo.pQueueCreateInfos = &queueInfo;
  const MulciberPhysicalDevice physical{sizeof(physical), VK_API_VERSION_1_3, host.instance, host.physical,
                                        vkGetInstanceProcAddr};
  const engine::Requirements requirements(physical);
  requirements.addTo(deviceInfo);
  require(vkCreateDevice(host.physical, &deviceInfo, nullptr, &host.device) == VK_SUCCESS, "vkCreateDevice");
  volkLoadDevice(host.device);
  vkGetDeviceQueue(host.device, host.family, 0, &host.queue);
  VkCommandPoolCreateInfo poolInfo{};
  poolInfo.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  poolInfo.queueFamilyIndex = host.family;
  vkCreateCommandPool(host.device, &poolInfo, nullptr, &host.pool);
  VkCommandBufferAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  allocate.commandPool = host.pool;
  allocate.commandBufferCount = 1;
  vkAllocateCommandBuffers(host.device, &allocate, &host.commands);
  VkFenceCreateInfo fenceInfo{};
  fenceInfo.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  vkCreateFence(host.device, &fenceInfo, nullptr, &host.fence);

  const MulciberQueue queue{host.queue, host.family, nullptr, nullptr, nullptr};
  MulciberContextInfo info{};
  info.structSize = sizeof(info);
  info.physicalDevice = physical;
  info.device = host.device;
  info.deviceInfo = &deviceInfo;
  info.queueCount = 1;
  info.queues = &queue;
  info.flags = MULCIBER_CONTEXT_NO_THREADS;
  return engine::Context(info);
}

struct Times {
  double record, frame;  // microseconds for a launch
};

// `record` records all launches of a round and says when it had; `finish` comes behind the frame.
template <typename Record, typename Finish>
Times measure(Host& host, Record&& record, Finish&& finish) {
  std::vector<double> records, frames;
  for (int round = 0; round < rounds; ++round) {
    vkResetCommandPool(host.device, host.pool, 0);
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    vkBeginCommandBuffer(host.commands, &begin);
    const auto [start, recorded] = record(round);
    vkEndCommandBuffer(host.commands);
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &host.commands;
    require(vkQueueSubmit(host.queue, 1, &submit, host.fence) == VK_SUCCESS, "vkQueueSubmit");
    require(vkWaitForFences(host.device, 1, &host.fence, VK_TRUE, 20'000'000'000) == VK_SUCCESS, "waiting");
    const auto end = Clock::now();
    vkResetFences(host.device, 1, &host.fence);
    finish(round);
    const auto micros = [](auto duration) {
      return std::chrono::duration<double, std::micro>(duration).count() / launches;
    };
    records.push_back(micros(recorded - start));
    frames.push_back(micros(end - start));
  }
  return {median(records), median(frames)};
}

struct Span {
  Clock::time_point start, recorded;
};

Times measureEngine(Host& host, const engine::Context& context, const engine::Kernel& kernel, VkDeviceAddress data,
                    uint32_t flags) {
  const engine::Shape shape{{1, 1, 1}, {256, 1, 1}};
  const auto record = [&](int round) {
    const MulciberRecordingInfo info{sizeof(info), host.commands, host.family, flags, static_cast<uint64_t>(round)};
    engine::Recording recording(context.get(), info);
    const auto start = Clock::now();
    for (int i = 0; i < launches; ++i) recording.launch(kernel, shape, data, 1);
    const auto recorded = Clock::now();
    recording.end();
    return Span{start, recorded};
  };
  return measure(host, record, [&](int round) { context.retire(static_cast<uint64_t>(round)); });
}

// The kernel `add` as a pipeline of the engine's own, which no library records.
class Pipeline {
 public:
  Pipeline(VkDevice device, VkDeviceAddress data) : device_(device) {
    mulciber::Diagnostics diagnostics;
    const auto module = mulciber::parseModule(std::string_view(ptx, sizeof(ptx) - 1), "add.ptx", diagnostics);
    const mulciber::TargetProfile* profile = mulciber::builtinProfile("vulkan1.3");
    const auto kernel = module ? mulciber::translate(*module, "add", *profile, {}, diagnostics) : std::nullopt;
    require(kernel.has_value(), "translating");
    push_.gridDim[0] = push_.gridDim[1] = push_.gridDim[2] = 1;
    push_.data = data;
    push_.value = 1;
    VkShaderModuleCreateInfo moduleInfo{};
    moduleInfo.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    moduleInfo.codeSize = kernel->spirv.size() * sizeof(uint32_t);
    moduleInfo.pCode = kernel->spirv.data();
    require(vkCreateShaderModule(device, &moduleInfo, nullptr, &module_) == VK_SUCCESS, "vkCreateShaderModule");
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes};
    VkPipelineLayoutCreateInfo layoutInfo{};
    layoutInfo.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layoutInfo.pushConstantRangeCount = 1;
    layoutInfo.pPushConstantRanges = &range;
    require(vkCreatePipelineLayout(device, &layoutInfo, nullptr, &layout_) == VK_SUCCESS, "vkCreatePipelineLayout");
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module_;
    info.stage.pName = "main";
    info.layout = layout_;
    require(vkCreateComputePipelines(device, nullptr, 1, &info, nullptr, &pipeline_) == VK_SUCCESS, "a pipeline");
  }
  ~Pipeline() {
    vkDestroyPipeline(device_, pipeline_, nullptr);
    vkDestroyPipelineLayout(device_, layout_, nullptr);
    vkDestroyShaderModule(device_, module_, nullptr);
  }

  Span record(VkCommandBuffer commands, bool isOrdered) const {
    VkMemoryBarrier2 barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
    barrier.srcStageMask = barrier.dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
    barrier.srcAccessMask = VK_ACCESS_2_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT;
    VkDependencyInfo dependency{};
    dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    dependency.memoryBarrierCount = 1;
    dependency.pMemoryBarriers = &barrier;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    const auto start = Clock::now();
    for (int i = 0; i < launches; ++i) {
      if (isOrdered) vkCmdPipelineBarrier2(commands, &dependency);
      vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes, &push_);
      vkCmdDispatch(commands, 1, 1, 1);
    }
    return {start, Clock::now()};
  }

 private:
  VkDevice device_;
  VkShaderModule module_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  struct : mulciber::abi::PushHeader {
    uint64_t data;
    uint32_t value;
  } push_{};
  static constexpr uint32_t pushBytes = mulciber::abi::parameterOffset + 12;
};

void print(const char* what, const Times& times) {
  std::printf("%-34s %10.3f %10.3f\n", what, times.record, times.frame);
}

}  // namespace

int main() {
  try {
    Host host;
    {
      const engine::Context context = open(host);
      const engine::Module module(context.get(), std::string_view(ptx, sizeof(ptx) - 1));
      const engine::Kernel kernel = module.kernel("add");
      kernel.prepare({{1, 1, 1}, {256, 1, 1}});
      const VkDeviceAddress data = context.allocate(1024);
      std::printf("%-34s %10s %10s\n", "us for a launch, of 1000", "recording", "in all");
      const Pipeline pipeline(host.device, data);
      for (const bool isOrdered : {true, false}) {
        print(isOrdered ? "one after the other" : "unordered",
              measureEngine(host, context, kernel, data, isOrdered ? 0 : MULCIBER_RECORDING_UNORDERED));
        print("  the driver alone",
              measure(
                  host, [&](int) { return pipeline.record(host.commands, isOrdered); }, [](int) {}));
      }
    }
    vkDestroyFence(host.device, host.fence, nullptr);
    vkDestroyCommandPool(host.device, host.pool, nullptr);
    vkDestroyDevice(host.device, nullptr);
    vkDestroyInstance(host.instance, nullptr);
  } catch (const engine::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
