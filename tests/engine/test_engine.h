// An engine, as small as can be: its own instance with the validation layer, a device, a queue, and a timeline. What
// Mulciber calls of Vulkan comes through functions of the engine's, which count.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/volk.h"
//
#include "mulciber/engine.h"

namespace mulciber::test {

class Instance {
 public:
  static Instance& get();

  VkInstance handle = VK_NULL_HANDLE;
  std::vector<VkPhysicalDevice> devices;
  bool validates = false;
  std::atomic<int> messages{0};  // of the validation layer

 private:
  Instance();
};

// What Mulciber has called, since clear().
class Calls {
 public:
  static Calls& get();
  void count(const char* name);
  void clear();
  int of(const std::string& name);
  int ofTransfers();  // copies, fills, updates, blits

 private:
  std::mutex mutex_;
  std::map<std::string, int> counts_;
};
PFN_vkVoidFunction VKAPI_CALL countingInstanceFunctions(VkInstance instance, const char* name);

class Engine {
 public:
  // Changes what the device is made with, after Mulciber's needs have been added, and the context.
  struct Changes {
    std::function<void(VkDeviceCreateInfo&)> device;
    std::function<void(MulciberContextInfo&)> context;
    bool asksForNeeds = true;
    size_t number = 0;  // of the physical device
  };
  Engine() : Engine(Changes()) {}
  explicit Engine(const Changes& changes);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  VkCommandBuffer beginCommands();
  // Ends and submits it. Gives the value that the timeline then reaches.
  uint64_t submit(VkCommandBuffer commands, std::vector<VkSemaphoreSubmitInfo> waits = {});
  void wait(uint64_t value);  // for the timeline
  uint64_t reached();
  void signal(uint64_t value);  // by the host
  static VkSemaphoreSubmitInfo at(VkSemaphore semaphore, uint64_t value);
  void barrier(VkCommandBuffer commands, VkPipelineStageFlags2 from, VkAccessFlags2 writes, VkPipelineStageFlags2 to,
               VkAccessFlags2 reads);

  struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    void* host = nullptr;
  };
  Buffer makeBuffer(VkDeviceSize size, VkBufferUsageFlags usage);
  void destroy(const Buffer& buffer);
  uint32_t memoryType(uint32_t allowed, VkMemoryPropertyFlags wanted) const;

  // Kernels of kernels.ptx.
  MulciberKernel kernel(const char* name);
  MulciberRecording record(VkCommandBuffer commands, uint64_t frame, uint32_t flags = 0);

  VkPhysicalDevice physical;
  VkDevice device = VK_NULL_HANDLE;
  VolkDeviceTable api{};
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  VkSemaphore timeline = VK_NULL_HANDLE;
  std::atomic<bool> isLocked{false};
  std::atomic<int> locks{0};
  MulciberResult result = MULCIBER_SUCCESS;  // of making the context
  std::string message;
  MulciberContext context = nullptr;

 private:
  void makeContext(const VkDeviceCreateInfo& deviceInfo, const Changes& changes);

  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> commands_;
  std::atomic<uint64_t> submitted_{0};
  MulciberModule module_ = nullptr;
};

MulciberPhysicalDevice describe(VkPhysicalDevice device);

// A launch with arguments of any types.
template <class... Arguments>
MulciberResult launch(MulciberRecording recording, MulciberKernel kernel, uint32_t grid, uint32_t block,
                      Arguments... arguments) {
  void* pointers[] = {&arguments..., nullptr};
  MulciberLaunch launch{{grid, 1, 1}, {block, 1, 1}, 0, pointers, nullptr, 0};
  return mulciberRecordLaunch(recording, kernel, &launch);
}
template <class... Arguments>
MulciberResult launch(MulciberStream stream, MulciberKernel kernel, uint32_t grid, uint32_t block,
                      Arguments... arguments) {
  void* pointers[] = {&arguments..., nullptr};
  MulciberLaunch launch{{grid, 1, 1}, {block, 1, 1}, 0, pointers, nullptr, 0};
  return mulciberLaunch(stream, kernel, &launch);
}

#define EXPECT_OK(call) EXPECT_EQ(call, MULCIBER_SUCCESS) << mulciberGetErrorMessage()
#define ASSERT_OK(call) ASSERT_EQ(call, MULCIBER_SUCCESS) << mulciberGetErrorMessage()

class EngineTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;  // the validation layer has said nothing

  int messagesBefore_ = 0;
};

}  // namespace mulciber::test
