// A window that nobody sees, for programs that use GLFW and a swapchain of Vulkan's: it gives them images of its own
// instead, writes some of what they present to files, ends them after a number of frames, and lets their clock tick 10
// ms each time they ask it, so that their pictures can be compared with those of other runs.
//   c++ -std=c++20 -shared -fPIC unseen_window.cpp -o libglfw.so.3 -ldl
//   LD_LIBRARY_PATH=. LD_PRELOAD=./libglfw.so.3 WINDOW_FRAMES=64 WINDOW_KEEP=16 WINDOW_FILE=picture mulciber run
//   program
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

template <class Function>
Function next(const char* name) {
  static void* const library = dlopen("libvulkan.so.1", RTLD_NOW);
  return reinterpret_cast<Function>(dlsym(library, name));
}
#define NEXT(name) (next<PFN_##name>(#name))
#define CHECK(call)                                                 \
  do {                                                              \
    const VkResult result_ = (call);                                \
    if (result_ != VK_SUCCESS) {                                    \
      std::fprintf(stderr, "window: %s gave %d\n", #call, result_); \
      std::_Exit(3);                                                \
    }                                                               \
  } while (false)

int width = 640, height = 480;
unsigned presented = 0;
void* user = nullptr;
VkPhysicalDevice physicalDevice = VK_NULL_HANDLE;
VkDevice device = VK_NULL_HANDLE;
VkQueue queue = VK_NULL_HANDLE;
uint32_t family = 0;

struct Image {
  VkImage image;
  VkDeviceMemory memory;
};
std::vector<Image> images;
uint32_t nextImage = 0;
VkExtent2D extent{};
VkBuffer readback = VK_NULL_HANDLE;
void* pixels = nullptr;
VkCommandPool pool = VK_NULL_HANDLE;
VkCommandBuffer commands = VK_NULL_HANDLE;

unsigned number(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text ? static_cast<unsigned>(std::atoi(text)) : otherwise;
}

VkDeviceMemory allocate(const VkMemoryRequirements& needed, VkMemoryPropertyFlags wanted) {
  VkPhysicalDeviceMemoryProperties properties;
  NEXT(vkGetPhysicalDeviceMemoryProperties)(physicalDevice, &properties);
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = needed.size;
  while (info.memoryTypeIndex + 1 < properties.memoryTypeCount &&
         ((needed.memoryTypeBits >> info.memoryTypeIndex & 1) == 0 ||
          (properties.memoryTypes[info.memoryTypeIndex].propertyFlags & wanted) != wanted))
    ++info.memoryTypeIndex;
  VkDeviceMemory memory;
  CHECK(NEXT(vkAllocateMemory)(device, &info, nullptr, &memory));
  return memory;
}

void makeReadback() {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = VkDeviceSize{extent.width} * extent.height * 4;
  info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  CHECK(NEXT(vkCreateBuffer)(device, &info, nullptr, &readback));
  VkMemoryRequirements needed;
  NEXT(vkGetBufferMemoryRequirements)(device, readback, &needed);
  const VkDeviceMemory memory =
      allocate(needed, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  CHECK(NEXT(vkBindBufferMemory)(device, readback, memory, 0));
  CHECK(NEXT(vkMapMemory)(device, memory, 0, VK_WHOLE_SIZE, 0, &pixels));
  VkCommandPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  poolInfo.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  poolInfo.queueFamilyIndex = family;
  CHECK(NEXT(vkCreateCommandPool)(device, &poolInfo, nullptr, &pool));
  VkCommandBufferAllocateInfo allocateInfo{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocateInfo.commandPool = pool;
  allocateInfo.commandBufferCount = 1;
  CHECK(NEXT(vkAllocateCommandBuffers)(device, &allocateInfo, &commands));
}

void recordCopy(VkImage image) {
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  CHECK(NEXT(vkBeginCommandBuffer)(commands, &begin));
  VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
  barrier.oldLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
  barrier.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  NEXT(vkCmdPipelineBarrier)
  (commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, 1,
   &barrier);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {extent.width, extent.height, 1};
  NEXT(vkCmdCopyImageToBuffer)(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, readback, 1, &region);
  std::swap(barrier.oldLayout, barrier.newLayout);
  NEXT(vkCmdPipelineBarrier)
  (commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0, nullptr, 1,
   &barrier);
  CHECK(NEXT(vkEndCommandBuffer)(commands));
}

}  // namespace

extern "C" {

// GLFW
int glfwInit() { return 1; }
void glfwTerminate() {}
void glfwWindowHint(int, int) {}
void* glfwCreateWindow(int w, int h, const char*, void*, void*) {
  width = w;
  height = h;
  return &width;
}
void glfwDestroyWindow(void*) {}
void glfwSetWindowTitle(void*, const char*) {}
void glfwSetWindowUserPointer(void*, void* pointer) { user = pointer; }
void* glfwGetWindowUserPointer(void*) { return user; }
void* glfwSetFramebufferSizeCallback(void*, void*) { return nullptr; }
void glfwGetFramebufferSize(void*, int* w, int* h) {
  *w = width;
  *h = height;
}
const char** glfwGetRequiredInstanceExtensions(uint32_t* count) {
  static const char* const names[] = {nullptr};
  *count = 0;
  return const_cast<const char**>(names);
}
int glfwWindowShouldClose(void*) { return presented >= number("WINDOW_FRAMES", 64); }
void glfwPollEvents() {}
void glfwWaitEvents() {}
VkResult glfwCreateWindowSurface(VkInstance, void*, const void*, VkSurfaceKHR* surface) {
  *surface = reinterpret_cast<VkSurfaceKHR>(uintptr_t{0x5u});
  return VK_SUCCESS;
}

// The surface and the device
void vkDestroySurfaceKHR(VkInstance, VkSurfaceKHR, const VkAllocationCallbacks*) {}
VkResult vkGetPhysicalDeviceSurfaceSupportKHR(VkPhysicalDevice, uint32_t, VkSurfaceKHR, VkBool32* is) {
  *is = VK_TRUE;
  return VK_SUCCESS;
}
VkResult vkGetPhysicalDeviceSurfaceCapabilitiesKHR(VkPhysicalDevice, VkSurfaceKHR, VkSurfaceCapabilitiesKHR* out) {
  *out = {};
  out->minImageCount = 2;
  out->maxImageCount = 8;
  out->currentExtent = out->minImageExtent =
      out->maxImageExtent = {static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
  out->maxImageArrayLayers = 1;
  out->supportedTransforms = out->currentTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR;
  out->supportedCompositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
  out->supportedUsageFlags = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  return VK_SUCCESS;
}
VkResult vkGetPhysicalDeviceSurfaceFormatsKHR(VkPhysicalDevice, VkSurfaceKHR, uint32_t* count,
                                              VkSurfaceFormatKHR* out) {
  if (out && *count != 0) out[0] = {VK_FORMAT_B8G8R8A8_UNORM, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR};
  *count = 1;
  return VK_SUCCESS;
}
VkResult vkGetPhysicalDeviceSurfacePresentModesKHR(VkPhysicalDevice, VkSurfaceKHR, uint32_t* count,
                                                   VkPresentModeKHR* out) {
  if (out && *count != 0) out[0] = VK_PRESENT_MODE_FIFO_KHR;
  *count = 1;
  return VK_SUCCESS;
}
VkResult vkCreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                        const VkAllocationCallbacks* callbacks, VkDevice* out) {
  // The swapchain is ours.
  std::vector<const char*> extensions;
  for (uint32_t i = 0; i < info->enabledExtensionCount; ++i)
    if (std::strcmp(info->ppEnabledExtensionNames[i], VK_KHR_SWAPCHAIN_EXTENSION_NAME) != 0)
      extensions.push_back(info->ppEnabledExtensionNames[i]);
  VkDeviceCreateInfo without = *info;
  without.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  without.ppEnabledExtensionNames = extensions.data();
  const VkResult result = NEXT(vkCreateDevice)(physical, &without, callbacks, out);
  if (result == VK_SUCCESS && !device && info->queueCreateInfoCount != 0) {
    physicalDevice = physical;
    device = *out;
    family = info->pQueueCreateInfos[0].queueFamilyIndex;
  }
  return result;
}
VkResult vkEnumerateDeviceExtensionProperties(VkPhysicalDevice physical, const char* layer, uint32_t* count,
                                              VkExtensionProperties* out) {
  uint32_t all = 0;
  NEXT(vkEnumerateDeviceExtensionProperties)(physical, layer, &all, nullptr);
  std::vector<VkExtensionProperties> list(all);
  NEXT(vkEnumerateDeviceExtensionProperties)(physical, layer, &all, list.data());
  list.push_back({VK_KHR_SWAPCHAIN_EXTENSION_NAME, 70});
  for (uint32_t i = 0; out && i < *count && i < list.size(); ++i) out[i] = list[i];
  if (!out) *count = static_cast<uint32_t>(list.size());
  return VK_SUCCESS;
}
void vkGetDeviceQueue(VkDevice of, uint32_t queueFamily, uint32_t index, VkQueue* out) {
  NEXT(vkGetDeviceQueue)(of, queueFamily, index, out);
  if (of == device && !queue) {
    queue = *out;
    family = queueFamily;
  }
}

// The swapchain
VkResult vkCreateSwapchainKHR(VkDevice, const VkSwapchainCreateInfoKHR* info, const VkAllocationCallbacks*,
                              VkSwapchainKHR* out) {
  extent = info->imageExtent;
  images.resize(info->minImageCount);
  for (Image& one : images) {
    VkImageCreateInfo image{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    image.imageType = VK_IMAGE_TYPE_2D;
    image.format = info->imageFormat;
    image.extent = {extent.width, extent.height, 1};
    image.mipLevels = image.arrayLayers = 1;
    image.samples = VK_SAMPLE_COUNT_1_BIT;
    image.usage = info->imageUsage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    CHECK(NEXT(vkCreateImage)(device, &image, nullptr, &one.image));
    VkMemoryRequirements needed;
    NEXT(vkGetImageMemoryRequirements)(device, one.image, &needed);
    one.memory = allocate(needed, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    CHECK(NEXT(vkBindImageMemory)(device, one.image, one.memory, 0));
  }
  *out = reinterpret_cast<VkSwapchainKHR>(uintptr_t{0x7u});
  return VK_SUCCESS;
}
void vkDestroySwapchainKHR(VkDevice, VkSwapchainKHR, const VkAllocationCallbacks*) {}
VkResult vkGetSwapchainImagesKHR(VkDevice, VkSwapchainKHR, uint32_t* count, VkImage* out) {
  for (uint32_t i = 0; out && i < *count && i < images.size(); ++i) out[i] = images[i].image;
  *count = static_cast<uint32_t>(images.size());
  return VK_SUCCESS;
}
VkResult vkAcquireNextImageKHR(VkDevice, VkSwapchainKHR, uint64_t, VkSemaphore semaphore, VkFence fence,
                               uint32_t* index) {
  *index = nextImage++ % images.size();
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.signalSemaphoreCount = semaphore ? 1 : 0;
  submit.pSignalSemaphores = &semaphore;
  return NEXT(vkQueueSubmit)(queue, 1, &submit, fence);
}
VkResult vkQueuePresentKHR(VkQueue on, const VkPresentInfoKHR* info) {
  const unsigned every = number("WINDOW_KEEP", 16);
  const bool isKept = ++presented % every == 0;
  if (!readback) makeReadback();
  if (isKept) recordCopy(images[info->pImageIndices[0]].image);
  const std::vector<VkPipelineStageFlags> stages(info->waitSemaphoreCount, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.waitSemaphoreCount = info->waitSemaphoreCount;
  submit.pWaitSemaphores = info->pWaitSemaphores;
  submit.pWaitDstStageMask = stages.data();
  submit.commandBufferCount = isKept ? 1 : 0;
  submit.pCommandBuffers = &commands;
  CHECK(NEXT(vkQueueSubmit)(on, 1, &submit, VK_NULL_HANDLE));
  if (!isKept) return VK_SUCCESS;
  CHECK(NEXT(vkQueueWaitIdle)(on));
  const char* const prefix = std::getenv("WINDOW_FILE");
  const std::string name = std::string(prefix ? prefix : "window") + "_" + std::to_string(presented) + ".ppm";
  if (std::FILE* const file = std::fopen(name.c_str(), "wb")) {
    std::fprintf(file, "P6\n%u %u\n255\n", extent.width, extent.height);
    std::vector<unsigned char> colours;
    const auto* bytes = static_cast<const unsigned char*>(pixels);
    for (size_t i = 0; i < size_t{extent.width} * extent.height; ++i)
      colours.insert(colours.end(), {bytes[4 * i + 2], bytes[4 * i + 1], bytes[4 * i]});
    std::fwrite(colours.data(), 1, colours.size(), file);
    std::fclose(file);
  }
  return VK_SUCCESS;
}
}

// The program's clock: 10 ms for each call that the program itself makes.
namespace std::chrono {
inline namespace _V2 {
system_clock::time_point system_clock::now() noexcept {
  static long long ticks = 0;
  return time_point(duration(1'700'000'000'000'000'000LL + 10'000'000LL * ++ticks));
}
}  // namespace _V2
}  // namespace std::chrono
