#include "engine/test_engine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "support/test_data.h"

namespace mulciber::test {

namespace {

VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                              const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  ++*static_cast<std::atomic<int>*>(user);
  std::fprintf(stderr, "validation: %s\n", data->pMessage);
  return VK_FALSE;
}

// The version of Vulkan that the layer knows; 0 when there is no such layer.
uint32_t versionOf(const char* wanted) {
  uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  for (const VkLayerProperties& layer : layers)
    if (std::strcmp(layer.layerName, wanted) == 0) return layer.specVersion;
  return 0;
}

}  // namespace

Instance& Instance::get() {
  static Instance& instance = *new Instance;  // never destroyed, as layers are not made for exit()
  return instance;
}

Instance::Instance() {
  if (volkInitialize() != VK_SUCCESS) return;
  const char* layer = "VK_LAYER_KHRONOS_validation";
  const uint32_t version = versionOf(layer);
  validates = version != 0;
  // A layer that is older than an extension takes its use for an error.
  if (validates && version < VK_MAKE_API_VERSION(0, 1, 3, 280))
    setenv("MULCIBER_DISABLE_EXTENSIONS", "VK_KHR_shader_maximal_reconvergence", 0);
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = VK_API_VERSION_1_3;
  const VkValidationFeatureEnableEXT enabled[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkValidationFeaturesEXT validation{};
  validation.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
  validation.enabledValidationFeatureCount = 1;
  validation.pEnabledValidationFeatures = enabled;
  const char* extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  if (validates) {
    info.pNext = &validation;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &layer;
    info.enabledExtensionCount = 2;
    info.ppEnabledExtensionNames = extensions;
  }
  if (vkCreateInstance(&info, nullptr, &handle) != VK_SUCCESS) return;
  volkLoadInstanceOnly(handle);
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(handle, &count, nullptr);
  devices.resize(count);
  vkEnumeratePhysicalDevices(handle, &count, devices.data());
  if (!validates) return;
  VkDebugUtilsMessengerCreateInfoEXT messenger{};
  messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  messenger.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  messenger.pfnUserCallback = onMessage;
  messenger.pUserData = &messages;
  VkDebugUtilsMessengerEXT made = VK_NULL_HANDLE;
  vkCreateDebugUtilsMessengerEXT(handle, &messenger, nullptr, &made);
}

Calls& Calls::get() {
  static Calls calls;
  return calls;
}

void Calls::count(const char* name) {
  std::lock_guard lock(mutex_);
  ++counts_[name];
}

void Calls::clear() {
  std::lock_guard lock(mutex_);
  counts_.clear();
}

int Calls::of(const std::string& name) {
  std::lock_guard lock(mutex_);
  return counts_[name];
}

int Calls::ofTransfers() {
  int all = 0;
  for (const char* name : {"vkCmdCopyBuffer", "vkCmdCopyBuffer2", "vkCmdFillBuffer", "vkCmdUpdateBuffer",
                           "vkCmdCopyImage", "vkCmdCopyBufferToImage", "vkCmdCopyImageToBuffer"})
    all += of(name);
  return all;
}

namespace {

// The function of that name, in front of `found`, if it is one of those that are counted.
PFN_vkVoidFunction counting(const std::string& name, PFN_vkVoidFunction found) {
#define COUNT(function)                                    \
  if (name == #function) {                                 \
    static PFN_##function real = nullptr;                  \
    real = reinterpret_cast<PFN_##function>(found);        \
    const PFN_##function counted = [](auto... arguments) { \
      Calls::get().count(#function);                       \
      return real(arguments...);                           \
    };                                                     \
    return reinterpret_cast<PFN_vkVoidFunction>(counted);  \
  }
  COUNT(vkCmdCopyBuffer)
  COUNT(vkCmdCopyBuffer2)
  COUNT(vkCmdFillBuffer)
  COUNT(vkCmdUpdateBuffer)
  COUNT(vkCmdCopyImage)
  COUNT(vkCmdCopyBufferToImage)
  COUNT(vkCmdCopyImageToBuffer)
  COUNT(vkCmdDispatch)
  COUNT(vkCmdPipelineBarrier2)
  COUNT(vkQueueSubmit)
  COUNT(vkQueueSubmit2)
  COUNT(vkQueueWaitIdle)
  COUNT(vkDeviceWaitIdle)
  COUNT(vkWaitSemaphores)
  COUNT(vkWaitForFences)
  COUNT(vkAllocateMemory)
  COUNT(vkCreateBuffer)
  COUNT(vkCreateComputePipelines)
  COUNT(vkCreateDevice)
  COUNT(vkDestroyDevice)
#undef COUNT
  return found;
}

PFN_vkVoidFunction VKAPI_CALL countingDeviceFunctions(VkDevice device, const char* name) {
  const PFN_vkVoidFunction found = vkGetDeviceProcAddr(device, name);
  return found ? counting(name, found) : nullptr;
}

}  // namespace

PFN_vkVoidFunction VKAPI_CALL countingInstanceFunctions(VkInstance instance, const char* name) {
  Calls::get().count("vkGetInstanceProcAddr");
  if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
    return reinterpret_cast<PFN_vkVoidFunction>(countingDeviceFunctions);
  return vkGetInstanceProcAddr(instance, name);
}

MulciberPhysicalDevice describe(VkPhysicalDevice device) {
  return {sizeof(MulciberPhysicalDevice), VK_API_VERSION_1_3, Instance::get().handle, device,
          countingInstanceFunctions};
}

Engine::Engine(const Changes& changes) : physical(Instance::get().devices.at(changes.number)) {
  const float priority = 1;
  VkDeviceQueueCreateInfo queueInfo{};
  queueInfo.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queueInfo.queueFamilyIndex = family;
  queueInfo.queueCount = 1;
  queueInfo.pQueuePriorities = &priority;
  // What the engine itself needs.
  VkPhysicalDeviceVulkan13Features features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  features.dynamicRendering = VK_TRUE;
  features.synchronization2 = VK_TRUE;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queueInfo;
  MulciberRequirements requirements = nullptr;
  const MulciberPhysicalDevice described = describe(physical);
  EXPECT_OK(mulciberCreateRequirements(&described, &requirements));
  if (changes.asksForNeeds) {
    EXPECT_OK(mulciberAddToDevice(requirements, &info));
  }
  if (changes.device) changes.device(info);
  EXPECT_EQ(vkCreateDevice(physical, &info, nullptr, &device), VK_SUCCESS);
  volkLoadDeviceTable(&api, device);
  api.vkGetDeviceQueue(device, family, 0, &queue);

  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo semaphoreInfo{};
  semaphoreInfo.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  semaphoreInfo.pNext = &type;
  if (changes.asksForNeeds) api.vkCreateSemaphore(device, &semaphoreInfo, nullptr, &timeline);
  VkCommandPoolCreateInfo poolInfo{};
  poolInfo.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  poolInfo.queueFamilyIndex = family;
  api.vkCreateCommandPool(device, &poolInfo, nullptr, &pool_);
  makeContext(info, changes);
  mulciberDestroyRequirements(requirements);
}

void Engine::makeContext(const VkDeviceCreateInfo& deviceInfo, const Changes& changes) {
  MulciberQueue shared{queue, family,
                       [](void* user) {
                         auto& engine = *static_cast<Engine*>(user);
                         EXPECT_FALSE(engine.isLocked.exchange(true));
                         ++engine.locks;
                       },
                       [](void* user) { static_cast<Engine*>(user)->isLocked = false; }, this};
  MulciberContextInfo info{};
  info.structSize = sizeof(info);
  info.physicalDevice = describe(physical);
  info.device = device;
  info.deviceInfo = &deviceInfo;
  info.queueCount = 1;
  info.queues = &shared;
  info.bufferUsage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT;
  info.flags = MULCIBER_CONTEXT_NO_THREADS;  // the engine here does not lock its queue
  if (changes.context) changes.context(info);
  result = mulciberCreateContext(&info, &context);
  if (result != MULCIBER_SUCCESS) message = mulciberGetErrorMessage();
}

Engine::~Engine() {
  // Before the context's semaphores go: Mesa's queues look at those that a submission waited for once more after it is
  // seen to be done.
  api.vkDeviceWaitIdle(device);
  EXPECT_OK(mulciberDestroyContext(context));
  api.vkDestroyCommandPool(device, pool_, nullptr);
  api.vkDestroySemaphore(device, timeline, nullptr);
  api.vkDestroyDevice(device, nullptr);
}

VkCommandBuffer Engine::beginCommands() {
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool_;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  EXPECT_EQ(api.vkAllocateCommandBuffers(device, &info, &commands), VK_SUCCESS);
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  EXPECT_EQ(api.vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
  return commands;
}

VkSemaphoreSubmitInfo Engine::at(VkSemaphore semaphore, uint64_t value) {
  VkSemaphoreSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  info.semaphore = semaphore;
  info.value = value;
  info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  return info;
}

uint64_t Engine::submit(VkCommandBuffer commands, std::vector<VkSemaphoreSubmitInfo> waits) {
  EXPECT_EQ(api.vkEndCommandBuffer(commands), VK_SUCCESS);
  const uint64_t value = ++submitted_;
  const VkSemaphoreSubmitInfo signal = at(timeline, value);
  VkCommandBufferSubmitInfo buffer{};
  buffer.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
  buffer.commandBuffer = commands;
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.waitSemaphoreInfoCount = static_cast<uint32_t>(waits.size());
  info.pWaitSemaphoreInfos = waits.data();
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &buffer;
  info.signalSemaphoreInfoCount = 1;
  info.pSignalSemaphoreInfos = &signal;
  EXPECT_EQ(api.vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
  return value;
}

void Engine::wait(uint64_t value) {
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline;
  info.pValues = &value;
  constexpr uint64_t longest = 20'000'000'000;
  ASSERT_EQ(api.vkWaitSemaphores(device, &info, longest), VK_SUCCESS);
}

uint64_t Engine::reached() {
  uint64_t value = 0;
  EXPECT_EQ(api.vkGetSemaphoreCounterValue(device, timeline, &value), VK_SUCCESS);
  return value;
}

void Engine::signal(uint64_t value) {
  VkSemaphoreSignalInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO;
  info.semaphore = timeline;
  info.value = value;
  ASSERT_EQ(api.vkSignalSemaphore(device, &info), VK_SUCCESS);
  submitted_ = value;
}

void Engine::barrier(VkCommandBuffer commands, VkPipelineStageFlags2 from, VkAccessFlags2 writes,
                     VkPipelineStageFlags2 to, VkAccessFlags2 reads) {
  VkMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  barrier.srcStageMask = from;
  barrier.srcAccessMask = writes;
  barrier.dstStageMask = to;
  barrier.dstAccessMask = reads;
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  api.vkCmdPipelineBarrier2(commands, &dependency);
}

uint32_t Engine::memoryType(uint32_t allowed, VkMemoryPropertyFlags wanted) const {
  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if ((allowed >> i & 1) != 0 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
  ADD_FAILURE() << "no memory of the wanted type";
  return 0;
}

Engine::Buffer Engine::makeBuffer(VkDeviceSize size, VkBufferUsageFlags usage) {
  Buffer buffer;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = size;
  info.usage = usage;
  EXPECT_EQ(api.vkCreateBuffer(device, &info, nullptr, &buffer.handle), VK_SUCCESS);
  VkMemoryRequirements requirements{};
  api.vkGetBufferMemoryRequirements(device, buffer.handle, &requirements);
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  if ((usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0) flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  memory.pNext = &flags;
  memory.allocationSize = requirements.size;
  memory.memoryTypeIndex = memoryType(requirements.memoryTypeBits,
                                      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  EXPECT_EQ(api.vkAllocateMemory(device, &memory, nullptr, &buffer.memory), VK_SUCCESS);
  EXPECT_EQ(api.vkBindBufferMemory(device, buffer.handle, buffer.memory, 0), VK_SUCCESS);
  EXPECT_EQ(api.vkMapMemory(device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &buffer.host), VK_SUCCESS);
  return buffer;
}

void Engine::destroy(const Buffer& buffer) {
  api.vkDestroyBuffer(device, buffer.handle, nullptr);
  api.vkFreeMemory(device, buffer.memory, nullptr);
}

MulciberKernel Engine::kernel(const char* name) {
  if (!module_) {
    std::ifstream file(dataFolder() / "kernels.ptx");
    const std::string ptx{std::istreambuf_iterator<char>(file), {}};
    EXPECT_OK(mulciberLoadModule(context, ptx.data(), ptx.size(), &module_));
  }
  MulciberKernel kernel = nullptr;
  EXPECT_OK(mulciberGetKernel(module_, name, &kernel));
  return kernel;
}

MulciberRecording Engine::record(VkCommandBuffer commands, uint64_t frame, uint32_t flags) {
  const MulciberRecordingInfo info{sizeof(info), commands, family, flags, frame};
  MulciberRecording recording = nullptr;
  EXPECT_OK(mulciberBeginRecording(context, &info, &recording));
  return recording;
}

void EngineTest::SetUp() {
  if (Instance::get().devices.empty()) GTEST_SKIP() << "skipped: there is no Vulkan device";
  messagesBefore_ = Instance::get().messages;
  Calls::get().clear();
}

void EngineTest::TearDown() { EXPECT_EQ(Instance::get().messages, messagesBefore_); }

}  // namespace mulciber::test
