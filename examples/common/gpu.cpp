#include "common/gpu.h"

namespace example {

Gpu::Gpu(const std::vector<const char*>& windowExtensions) {
  check(volkInitialize(), "loading Vulkan");
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  info.enabledExtensionCount = static_cast<uint32_t>(windowExtensions.size());
  info.ppEnabledExtensionNames = windowExtensions.data();
  check(vkCreateInstance(&info, nullptr, &instance_), "making an instance");
  volkLoadInstance(instance_);
  makeDevice(!windowExtensions.empty());

  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = family_;
  check(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "making a command pool");
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  check(vkCreateSemaphore(device_, &semaphore, nullptr, &timeline_.semaphore), "making a timeline");
}

void Gpu::makeDevice(bool hasWindow) {
  uint32_t count = 1;
  (void)vkEnumeratePhysicalDevices(instance_, &count, &physical_);
  if (count == 0) throw std::runtime_error("there is no Vulkan device");
  std::vector<VkQueueFamilyProperties> families;
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
  families.resize(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
  constexpr VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  while (family_ < count && (families[family_].queueFlags & wanted) != wanted) ++family_;
  if (family_ == count) throw std::runtime_error("the device has no queue that draws and computes");

  // What the engine itself wants of the device ...
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkPhysicalDeviceVulkan13Features features13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  features13.dynamicRendering = features13.synchronization2 = VK_TRUE;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features13};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  const char* const swapchain = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
  info.enabledExtensionCount = hasWindow ? 1 : 0;
  info.ppEnabledExtensionNames = &swapchain;
  // ... and what Mulciber adds.
  const MulciberPhysicalDevice physical{sizeof(physical), VK_API_VERSION_1_3, instance_, physical_,
                                        vkGetInstanceProcAddr};
  requirements_ = std::make_unique<cuda::Requirements>(physical);
  requirements_->addTo(info);
  check(vkCreateDevice(physical_, &info, nullptr, &device_), "making a device");
  volkLoadDevice(device_);
  vkGetDeviceQueue(device_, family_, 0, &queue_);

  const MulciberQueue shared{queue_, family_, nullptr, nullptr, nullptr};  // one thread uses it
  MulciberContextInfo context{};
  context.structSize = sizeof(context);
  context.physicalDevice = physical;
  context.device = device_;
  context.deviceInfo = &info;
  context.queueCount = 1;
  context.queues = &shared;
  context.bufferUsage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT;
  context.flags = MULCIBER_CONTEXT_NO_THREADS;  // others would need a lock around the queue
  context_ = std::make_unique<cuda::Context>(context);
}

Gpu::~Gpu() {
  if (device_ == VK_NULL_HANDLE) return;
  vkDeviceWaitIdle(device_);
  context_.reset();
  vkDestroySemaphore(device_, timeline_.semaphore, nullptr);
  vkDestroyCommandPool(device_, pool_, nullptr);
  vkDestroyDevice(device_, nullptr);
  vkDestroyInstance(instance_, nullptr);
}

std::string Gpu::name() const {
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical_, &properties);
  return properties.deviceName;
}

uint32_t Gpu::largestImage() const {
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical_, &properties);
  return properties.limits.maxImageDimension2D;
}

VkCommandBuffer Gpu::begin(uint32_t slot) {
  while (commands_.size() <= slot) {
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocate.commandPool = pool_;
    allocate.commandBufferCount = 1;
    check(vkAllocateCommandBuffers(device_, &allocate, &commands_.emplace_back()), "making a command buffer");
  }
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vkBeginCommandBuffer(commands_[slot], &info), "beginning a command buffer");
  return commands_[slot];
}

TimelinePoint Gpu::submit(VkCommandBuffer commands, const std::vector<TimelinePoint>& waits,
                          const std::vector<TimelinePoint>& signals) {
  check(vkEndCommandBuffer(commands), "ending a command buffer");
  ++timeline_.value;
  const auto infosOf = [](const std::vector<TimelinePoint>& points) {
    std::vector<VkSemaphoreSubmitInfo> infos;
    for (const TimelinePoint& point : points) {
      if (point.semaphore == VK_NULL_HANDLE) continue;
      VkSemaphoreSubmitInfo& info = infos.emplace_back();
      info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
      info.semaphore = point.semaphore;
      info.value = point.value;
      info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    }
    return infos;
  };
  std::vector<TimelinePoint> allSignals = signals;
  allSignals.push_back(timeline_);
  const std::vector<VkSemaphoreSubmitInfo> waitInfos = infosOf(waits), signalInfos = infosOf(allSignals);
  VkCommandBufferSubmitInfo buffer{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO};
  buffer.commandBuffer = commands;
  VkSubmitInfo2 info{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
  info.waitSemaphoreInfoCount = static_cast<uint32_t>(waitInfos.size());
  info.pWaitSemaphoreInfos = waitInfos.data();
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &buffer;
  info.signalSemaphoreInfoCount = static_cast<uint32_t>(signalInfos.size());
  info.pSignalSemaphoreInfos = signalInfos.data();
  check(vkQueueSubmit2(queue_, 1, &info, VK_NULL_HANDLE), "submitting");
  return timeline_;
}

void Gpu::wait(TimelinePoint point) const {
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &point.semaphore;
  info.pValues = &point.value;
  check(vkWaitSemaphores(device_, &info, UINT64_MAX), "waiting");
}

uint32_t Gpu::memoryType(uint32_t allowed, VkMemoryPropertyFlags wanted) const {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if ((allowed >> i & 1) != 0 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
  throw std::runtime_error("the device has no such memory");
}

HostBuffer Gpu::makeHostBuffer(VkDeviceSize bytes, VkBufferUsageFlags usage) const {
  HostBuffer made;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = usage;
  check(vkCreateBuffer(device_, &info, nullptr, &made.buffer), "making a buffer");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device_, made.buffer, &needs);
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex =
      memoryType(needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  check(vkAllocateMemory(device_, &allocate, nullptr, &made.memory), "allocating memory");
  check(vkBindBufferMemory(device_, made.buffer, made.memory, 0), "binding memory");
  check(vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &made.host), "mapping memory");
  return made;
}

void Gpu::destroy(const HostBuffer& buffer) const {
  vkDestroyBuffer(device_, buffer.buffer, nullptr);
  vkFreeMemory(device_, buffer.memory, nullptr);
}

void makeVisible(VkCommandBuffer commands, VkPipelineStageFlags2 stages, VkAccessFlags2 reads) {
  VkMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  barrier.srcStageMask = MULCIBER_STAGES;
  barrier.srcAccessMask = MULCIBER_WRITES;
  barrier.dstStageMask = stages;
  barrier.dstAccessMask = reads;
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  vkCmdPipelineBarrier2(commands, &dependency);
}

}  // namespace example
