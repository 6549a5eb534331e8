#include "common/window.h"

#ifdef EXAMPLES_HAVE_GLFW

#include <GLFW/glfw3.h>

#include <algorithm>
#include <optional>

#include "common/pipeline.h"
#include "film_frag.h"
#include "full_screen_vert.h"

namespace example {

namespace {

[[noreturn]] void failWithGlfw(const char* what) {
  const char* why = nullptr;
  glfwGetError(&why);
  throw std::runtime_error(std::string(what) + " failed: " + (why != nullptr ? why : "GLFW does not say why"));
}

VkSemaphore makeSemaphore(const Gpu& gpu) {
  VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  VkSemaphore made = VK_NULL_HANDLE;
  check(vkCreateSemaphore(gpu.device(), &info, nullptr, &made), "making a semaphore");
  return made;
}

VkSurfaceFormatKHR formatOf(VkPhysicalDevice device, VkSurfaceKHR surface) {
  uint32_t count = 0;
  vkGetPhysicalDeviceSurfaceFormatsKHR(device, surface, &count, nullptr);
  std::vector<VkSurfaceFormatKHR> formats(count);
  vkGetPhysicalDeviceSurfaceFormatsKHR(device, surface, &count, formats.data());
  // The film's shader makes colours as displays take them, as those of PNG files are.
  for (const VkSurfaceFormatKHR& format : formats)
    if (format.format == VK_FORMAT_B8G8R8A8_UNORM || format.format == VK_FORMAT_R8G8B8A8_UNORM) return format;
  throw std::runtime_error("the window has no format of 8 bits a colour");
}

}  // namespace

struct Window::State {
  // An image of the swapchain.
  struct Shown {
    VkImage image;
    VkImageView view;
    VkSemaphore drawn;
  };

  const Gpu& gpu;
  const Picture& picture;
  const float exposure;
  GLFWwindow* window = nullptr;
  VkSurfaceKHR surface = VK_NULL_HANDLE;
  VkSurfaceFormatKHR format{};
  VkSwapchainKHR swapchain = VK_NULL_HANDLE;
  VkExtent2D extent{};
  std::vector<Shown> images;
  std::vector<VkSemaphore> ready;  // for each frame at work
  uint32_t current = 0;
  std::optional<GraphicsPipeline> film;

  void makeSwapchain();
  void dropSwapchain();
};

std::vector<const char*> Window::extensions() {
  if (glfwInit() == GLFW_FALSE) failWithGlfw("opening a window");
  uint32_t count = 0;
  const char** const names = glfwGetRequiredInstanceExtensions(&count);
  if (names == nullptr) failWithGlfw("finding Vulkan's way to windows");
  return {names, names + count};
}

Window::Window(const Gpu& gpu, const Picture& picture, const std::string& title, uint32_t width, uint32_t height,
               float exposure)
    : state_(new State{gpu, picture, exposure}) {
  glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
  state_->window = glfwCreateWindow(static_cast<int>(width), static_cast<int>(height), title.c_str(), nullptr, nullptr);
  if (state_->window == nullptr) failWithGlfw("opening a window");
  check(glfwCreateWindowSurface(gpu.instance(), state_->window, nullptr, &state_->surface), "making a surface");
  VkBool32 isSupported = VK_FALSE;
  vkGetPhysicalDeviceSurfaceSupportKHR(gpu.physicalDevice(), gpu.family(), state_->surface, &isSupported);
  if (isSupported == VK_FALSE) throw std::runtime_error("the device's queue cannot show pictures in this window");
  state_->format = formatOf(gpu.physicalDevice(), state_->surface);

  PipelineInfo info;
  info.vertex = full_screen_vert;
  info.fragment = film_frag;
  info.images = {picture.view()};
  info.constantBytes = sizeof(float);
  info.format = state_->format.format;
  info.depthFormat = VK_FORMAT_UNDEFINED;
  state_->film.emplace(gpu, info);
}

Window::~Window() {
  vkDeviceWaitIdle(state_->gpu.device());
  state_->dropSwapchain();
  for (const VkSemaphore semaphore : state_->ready) vkDestroySemaphore(state_->gpu.device(), semaphore, nullptr);
  vkDestroySurfaceKHR(state_->gpu.instance(), state_->surface, nullptr);
  glfwDestroyWindow(state_->window);
  glfwTerminate();
}

bool Window::isClosed() {
  glfwPollEvents();
  if (glfwGetKey(state_->window, GLFW_KEY_ESCAPE) == GLFW_PRESS) return true;
  return glfwWindowShouldClose(state_->window) != GLFW_FALSE;
}

void Window::State::makeSwapchain() {
  VkSurfaceCapabilitiesKHR can{};
  check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(gpu.physicalDevice(), surface, &can), "asking for the surface");
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  extent = can.currentExtent.width != UINT32_MAX
               ? can.currentExtent
               : VkExtent2D{static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
  if (extent.width == 0 || extent.height == 0) return;  // it is an icon
  VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
  info.surface = surface;
  info.minImageCount = std::max(can.minImageCount, std::min(3u, can.maxImageCount != 0 ? can.maxImageCount : 3u));
  info.imageFormat = format.format;
  info.imageColorSpace = format.colorSpace;
  info.imageExtent = extent;
  info.imageArrayLayers = 1;
  info.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  info.preTransform = can.currentTransform;
  info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
  info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
  info.clipped = VK_TRUE;
  check(vkCreateSwapchainKHR(gpu.device(), &info, nullptr, &swapchain), "making a swapchain");
  uint32_t count = 0;
  vkGetSwapchainImagesKHR(gpu.device(), swapchain, &count, nullptr);
  std::vector<VkImage> made(count);
  check(vkGetSwapchainImagesKHR(gpu.device(), swapchain, &count, made.data()), "asking for the swapchain's images");
  for (const VkImage image : made) {
    VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view.image = image;
    view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view.format = format.format;
    view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    Shown& shown = images.emplace_back(Shown{image, VK_NULL_HANDLE, makeSemaphore(gpu)});
    check(vkCreateImageView(gpu.device(), &view, nullptr, &shown.view), "making a view");
  }
}

void Window::State::dropSwapchain() {
  for (const Shown& shown : images) {
    vkDestroyImageView(gpu.device(), shown.view, nullptr);
    vkDestroySemaphore(gpu.device(), shown.drawn, nullptr);
  }
  images.clear();
  vkDestroySwapchainKHR(gpu.device(), swapchain, nullptr);
  swapchain = VK_NULL_HANDLE;
}

Window::Semaphores Window::draw(VkCommandBuffer commands, uint32_t slot) {
  State& s = *state_;
  while (s.ready.size() <= slot) s.ready.push_back(makeSemaphore(s.gpu));
  for (;;) {
    if (s.swapchain == VK_NULL_HANDLE) s.makeSwapchain();
    if (s.swapchain == VK_NULL_HANDLE) return {};
    const VkResult result =
        vkAcquireNextImageKHR(s.gpu.device(), s.swapchain, UINT64_MAX, s.ready[slot], VK_NULL_HANDLE, &s.current);
    if (result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR) break;
    if (result != VK_ERROR_OUT_OF_DATE_KHR) check(result, "asking for an image to show");
    vkDeviceWaitIdle(s.gpu.device());  // the window has another size
    s.dropSwapchain();
  }

  s.picture.makeVisible(commands);
  const State::Shown& shown = s.images[s.current];
  turn(commands, shown.image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
  VkRenderingAttachmentInfo colour{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  colour.imageView = shown.view;
  colour.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
  colour.loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  colour.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  VkRenderingInfo rendering{VK_STRUCTURE_TYPE_RENDERING_INFO};
  rendering.renderArea.extent = s.extent;
  rendering.layerCount = 1;
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachments = &colour;
  vkCmdBeginRendering(commands, &rendering);
  const VkViewport viewport{0, 0, static_cast<float>(s.extent.width), static_cast<float>(s.extent.height), 0, 1};
  vkCmdSetViewport(commands, 0, 1, &viewport);
  vkCmdSetScissor(commands, 0, 1, &rendering.renderArea);
  s.film->bind(commands, s.exposure);
  vkCmdDraw(commands, 3, 1, 0, 0);
  vkCmdEndRendering(commands);
  turn(commands, shown.image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
  return {{s.ready[slot], 0}, {shown.drawn, 0}};
}

void Window::show() {
  State& s = *state_;
  VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
  info.waitSemaphoreCount = info.swapchainCount = 1;
  info.pWaitSemaphores = &s.images[s.current].drawn;
  info.pSwapchains = &s.swapchain;
  info.pImageIndices = &s.current;
  const VkResult result = vkQueuePresentKHR(s.gpu.queue(), &info);
  if (result != VK_SUCCESS && result != VK_SUBOPTIMAL_KHR && result != VK_ERROR_OUT_OF_DATE_KHR)
    check(result, "showing a picture");
}

}  // namespace example

#else

namespace example {

struct Window::State {};

std::vector<const char*> Window::extensions() {
  throw std::runtime_error("--window needs GLFW, without which the examples were built");
}
Window::Window(const Gpu&, const Picture&, const std::string&, uint32_t, uint32_t, float) {}
Window::~Window() = default;
bool Window::isClosed() { return true; }
Window::Semaphores Window::draw(VkCommandBuffer, uint32_t) { return {}; }
void Window::show() {}

}  // namespace example

#endif
