#include "runtime/vk/image.h"

#include <chrono>
#include <future>

#include "support/becomes.h"
#include "vulkan_test.h"

namespace mulciber::vk {
namespace {

// An event that the device waits for until the host sets it, as a kernel may wait for a word.
class HostEvent {
 public:
  explicit HostEvent(Device& device) : device_(device) {
    VkEventCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO;
    EXPECT_EQ(device.api().vkCreateEvent(device.handle(), &info, device.callbacks(), &handle_), VK_SUCCESS);
  }
  ~HostEvent() { device_.api().vkDestroyEvent(device_.handle(), handle_, device_.callbacks()); }
  HostEvent(const HostEvent&) = delete;
  HostEvent& operator=(const HostEvent&) = delete;

  void set() { EXPECT_EQ(device_.api().vkSetEvent(device_.handle(), handle_), VK_SUCCESS); }
  bool isSet() const { return device_.api().vkGetEventStatus(device_.handle(), handle_) == VK_EVENT_SET; }
  void recordSet(Commands& commands) {
    device_.api().vkCmdSetEvent(commands.handle(), handle_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    commands.mark();
  }
  void recordWait(Commands& commands) {
    VkMemoryBarrier2 barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
    barrier.srcStageMask = VK_PIPELINE_STAGE_2_HOST_BIT;
    barrier.dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
    VkDependencyInfo dependency{};
    dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    dependency.memoryBarrierCount = 1;
    dependency.pMemoryBarriers = &barrier;
    device_.api().vkCmdWaitEvents2(commands.handle(), 1, &handle_, &dependency);
    commands.mark();
  }

 private:
  Device& device_;
  VkEvent handle_ = VK_NULL_HANDLE;
};

class ImageTest : public VulkanTest {
 protected:
  std::shared_ptr<Image> imageWithView() {
    ImageShape shape;
    shape.format = VK_FORMAT_R32_UINT;
    shape.width = shape.height = 16;
    std::shared_ptr<Image> image;
    EXPECT_EQ(Image::create(*device, shape, image), Status::Ok);
    VkImageView view = VK_NULL_HANDLE;
    EXPECT_EQ(image->view({VK_IMAGE_VIEW_TYPE_2D, shape.format, VK_IMAGE_USAGE_SAMPLED_BIT, 0, 1, 0, 1}, view),
              Status::Ok);
    return image;
  }
  // Whether the call returns while the device waits for the host.
  template <typename Call>
  static bool returnsEarly(HostEvent& event, Call&& call) {
    auto done = std::async(std::launch::async, call);
    const bool isEarly = done.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
    event.set();
    done.wait();
    return isEarly;
  }
  // Submits work that waits for the event, and sets another one before.
  static Position waitOnDevice(Queue& queue, HostEvent& event, std::shared_ptr<const void> kept = nullptr,
                               HostEvent* begun = nullptr) {
    Position position(queue);
    EXPECT_EQ(queue.record(position,
                           [&](Commands& commands) {
                             if (begun) begun->recordSet(commands);
                             event.recordWait(commands);
                             if (kept) commands.keep(std::move(kept));
                             return Status::Ok;
                           }),
              Status::Ok);
    EXPECT_EQ(queue.submit(position.last.value), Status::Ok);
    return position;
  }
};

// "images-between-kernels": lavapipe's driver lets the thread wait that destroys a view while something runs.
TEST_F(ImageTest, IsDestroyedWhileTheDeviceWaitsForTheHost) {
  HostEvent begun(*device), event(*device);
  std::shared_ptr<Image> image = imageWithView();
  Queue& queue = device->queue(0);
  const Position position = waitOnDevice(queue, event, nullptr, &begun);
  ASSERT_TRUE(test::becomes([&] { return begun.isSet(); }));
  EXPECT_TRUE(returnsEarly(event, [&] { image.reset(); }));
  EXPECT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
}

// The queue lets go of what finished work kept when it is given more work, and other work may run meanwhile.
TEST_F(ImageTest, IsLetGoOfByFinishedWorkWhileTheDeviceWaitsForTheHost) {
  HostEvent first(*device), begun(*device), second(*device);
  Queue& queue = device->queue(0);
  const Position finished = waitOnDevice(queue, first, imageWithView());
  const Position waiting = waitOnDevice(queue, second, nullptr, &begun);
  first.set();
  ASSERT_EQ(queue.wait(finished.last.value, WaitMode::Auto), Status::Ok);
  ASSERT_TRUE(test::becomes([&] { return begun.isSet(); }));
  EXPECT_TRUE(returnsEarly(second, [&] {
    for (int i = 0; i < 2; ++i) {
      Position position(queue);
      EXPECT_EQ(queue.record(position,
                             [](Commands& commands) {
                               commands.mark();
                               return Status::Ok;
                             }),
                Status::Ok);
      EXPECT_EQ(queue.submit(position.last.value), Status::Ok);
    }
  }));
  EXPECT_EQ(queue.wait(waiting.last.value, WaitMode::Auto), Status::Ok);
  EXPECT_EQ(queue.waitIdle(WaitMode::Auto), Status::Ok);
}

}  // namespace
}  // namespace mulciber::vk
