// Your engine here: a Vulkan device that exists already, and one CUDA kernel, translated when the engine was built,
// recorded into its own command buffer.
// Everything that Mulciber needs stands behind a comment that begins with a star.
#include <cstdio>
#include <vector>

#include "common/png.h"
#include "common/vulkan.h"
//
#include <mulciber/engine.hpp>  // *

#include "julia.h"  // * made of julia.cu by mulciber_add_kernels() in CMakeLists.txt

namespace {

namespace cuda = mulciber::engine;  // *

constexpr uint32_t width = 480, height = 270;

void check(VkResult result) { example::check(result, "a call of Vulkan"); }

// ---- What an engine has anyway: an instance, a device, a queue, command buffers, memory that the host reads ----

struct Engine {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physicalDevice = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  VkCommandPool pool = VK_NULL_HANDLE;
  const uint32_t family = 0;  // every driver's first family computes
};

void makeInstance(Engine& engine) {
  check(volkInitialize());
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = MULCIBER_VULKAN_VERSION;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  check(vkCreateInstance(&info, nullptr, &engine.instance));
  volkLoadInstance(engine.instance);
  uint32_t one = 1;
  (void)vkEnumeratePhysicalDevices(engine.instance, &one, &engine.physicalDevice);
  if (one == 0) throw std::runtime_error("there is no Vulkan device");
}

VkCommandBuffer beginCommands(Engine& engine) {
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = engine.family;
  check(vkCreateCommandPool(engine.device, &pool, nullptr, &engine.pool));
  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = engine.pool;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(vkAllocateCommandBuffers(engine.device, &allocate, &commands));
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  check(vkBeginCommandBuffer(commands, &begin));
  return commands;
}

void submitAndWait(const Engine& engine, VkCommandBuffer commands) {
  check(vkEndCommandBuffer(commands));
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  check(vkQueueSubmit(engine.queue, 1, &info, VK_NULL_HANDLE));
  check(vkQueueWaitIdle(engine.queue));
}

// ---- The engine's device, with Mulciber's wishes ----

void run(const char* output) {
  Engine engine;
  makeInstance(engine);

  const float priority = 1;
  VkDeviceQueueCreateInfo queueInfo{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queueInfo.queueFamilyIndex = engine.family;
  queueInfo.queueCount = 1;
  queueInfo.pQueuePriorities = &priority;
  VkDeviceCreateInfo deviceInfo{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  deviceInfo.queueCreateInfoCount = 1;
  deviceInfo.pQueueCreateInfos = &queueInfo;

  // * Features and extensions that Mulciber uses join those that the engine asks for.
  const MulciberPhysicalDevice physical{sizeof(physical), MULCIBER_VULKAN_VERSION, engine.instance,
                                        engine.physicalDevice, vkGetInstanceProcAddr};
  const cuda::Requirements requirements(physical);
  requirements.addTo(deviceInfo);

  check(vkCreateDevice(engine.physicalDevice, &deviceInfo, nullptr, &engine.device));
  volkLoadDevice(engine.device);
  vkGetDeviceQueue(engine.device, engine.family, 0, &engine.queue);
  {
    // * A context on the device, and the kernels of julia.cu: no translator runs.
    const MulciberQueue queue{engine.queue, engine.family, nullptr, nullptr, nullptr};
    MulciberContextInfo contextInfo{};
    contextInfo.structSize = sizeof(contextInfo);
    contextInfo.physicalDevice = physical;
    contextInfo.device = engine.device;
    contextInfo.deviceInfo = &deviceInfo;
    contextInfo.queueCount = 1;
    contextInfo.queues = &queue;
    contextInfo.bufferUsage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    contextInfo.flags = MULCIBER_CONTEXT_NO_THREADS;
    const cuda::Context context(contextInfo);
    julia_kernels kernels{};
    cuda::check(julia_load(context.get(), &kernels));
    const MulciberShape shape{{(width + 15) / 16, (height + 15) / 16, 1}, {16, 16, 1}};
    const MulciberLaunch launch = mulciberShaped(&shape, nullptr, 0);
    cuda::check(mulciberPrepareKernel(kernels.julia, &launch));

    // * Memory of the device, which the engine could as well draw from: mulciberGetBuffer tells its VkBuffer.
    constexpr size_t bytes = size_t{width} * height * 4;
    const VkDeviceAddress pixels = context.allocate(bytes);

    // * The kernel, in the engine's command buffer. What comes before and after is the engine's own.
    const VkCommandBuffer commands = beginCommands(engine);
    const MulciberRecordingInfo recordingInfo{sizeof(recordingInfo), commands, engine.family,
                                              MULCIBER_RECORDING_BARRIER_AFTER, 0};
    cuda::Recording recording(context.get(), recordingInfo);
    const julia_julia_arguments arguments{pixels, width, height, -0.79f, 0.156f};
    cuda::check(julia_record_julia(&kernels, recording.get(), &shape, &arguments));
    recording.end();
    submitAndWait(engine, commands);

    // * A stream, for a look at the result.
    const cuda::Stream stream(context.get());
    std::vector<uint8_t> host(bytes);
    cuda::check(mulciberCopy(stream.get(), reinterpret_cast<uintptr_t>(host.data()), pixels, bytes));
    std::vector<uint8_t> rgb;
    for (size_t i = 0; i < bytes; i += 4) rgb.insert(rgb.end(), host.begin() + i, host.begin() + i + 3);
    example::writePng(output, width, height, rgb);
    std::printf("%s\n", output);
    cuda::check(mulciberUnloadModule(kernels.module));
  }
  vkDestroyCommandPool(engine.device, engine.pool, nullptr);
  vkDestroyDevice(engine.device, nullptr);
  vkDestroyInstance(engine.instance, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    std::fprintf(stderr, "usage: your_engine [your_engine.png]\n");
    return 2;
  }
  try {
    run(argc > 1 ? argv[1] : "your_engine.png");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "your_engine: %s\n", error.what());
    return 1;
  }
  return 0;
}
