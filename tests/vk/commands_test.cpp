// Command buffers that a queue does not record itself: those that run many times, and those of somebody else.
#include "runtime/vk/commands.h"

#include "runtime/vk/memory.h"
#include "vk/vulkan_test.h"

namespace mulciber::vk {
namespace {

class CommandsTest : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    if (IsSkipped()) return;
    for (Memory* memory : {&a_, &b_, &results_})
      ASSERT_EQ(device->allocator().allocate(MemoryUse::Host, bytes, *memory), Status::Ok);
  }
  void TearDown() override {
    if (!device) return;
    for (const Memory& memory : {a_, b_, results_}) device->allocator().free(memory);
  }

  static constexpr uint64_t bytes = 1u << 16;
  static const uint32_t* words(const Memory& memory) { return static_cast<const uint32_t*>(memory.host); }

  Memory a_, b_, results_;
};

TEST_F(CommandsTest, ReusableCommandsRunManyTimesInTheQueuesOrder) {
  Queue& queue = device->queue(0);
  std::unique_ptr<Commands> recorded;
  ASSERT_EQ(Commands::create(*device, queue.family(), Commands::Kind::Reusable, recorded), Status::Ok);
  ASSERT_EQ(recorded->begin({}), Status::Ok);
  recorded->copy({b_.address, a_.address, bytes / 2});
  recorded->barrier();
  recorded->copy({b_.address + bytes / 2, b_.address, bytes / 2});
  ASSERT_EQ(recorded->end(), Status::Ok);
  const std::shared_ptr<Commands> commands = std::move(recorded);

  constexpr uint32_t runs = 200;
  Position position(queue);
  for (uint32_t run = 0; run < runs; ++run) {
    ASSERT_EQ(queue.record(position,
                           [&](Commands& before) {
                             before.fill({a_.address, run + 1, 4, bytes / 8});
                             return Status::Ok;
                           }),
              Status::Ok);
    ASSERT_EQ(queue.run(commands, position), Status::Ok);
    ASSERT_EQ(queue.record(position,
                           [&](Commands& behind) {
                             behind.copy({results_.address + run * 4, b_.address + bytes - 4, 4});
                             return Status::Ok;
                           }),
              Status::Ok);
  }
  ASSERT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
  for (uint32_t run = 0; run < runs; ++run) ASSERT_EQ(words(results_)[run], run + 1);
}

TEST_F(CommandsTest, ARunWaitsForAnotherQueue) {
  if (device->kernelQueueCount() < 2) GTEST_SKIP() << "skipped: the device has one queue";
  std::unique_ptr<Commands> recorded;
  ASSERT_EQ(Commands::create(*device, device->queue(1).family(), Commands::Kind::Reusable, recorded), Status::Ok);
  ASSERT_EQ(recorded->begin({}), Status::Ok);
  recorded->copy({b_.address, a_.address, bytes});
  ASSERT_EQ(recorded->end(), Status::Ok);
  const std::shared_ptr<Commands> commands = std::move(recorded);
  for (uint32_t run = 1; run <= 50; ++run) {
    Position first(device->queue(0)), second(device->queue(1));
    ASSERT_EQ(device->queue(0).record(first,
                                      [&](Commands& before) {
                                        before.fill({a_.address, run, 4, bytes / 4});
                                        return Status::Ok;
                                      }),
              Status::Ok);
    second.after(first.last);
    ASSERT_EQ(device->queue(1).run(commands, second), Status::Ok);
    ASSERT_EQ(device->queue(1).wait(second.last.value, WaitMode::Auto), Status::Ok);
    ASSERT_EQ(words(b_)[bytes / 4 - 1], run);
  }
}

TEST_F(CommandsTest, BorrowedCommandsAreTheOwnersToBeginAndSubmit) {
  const VolkDeviceTable& api = device->api();
  const uint32_t family = device->queue(0).family();
  VkCommandPoolCreateInfo poolInfo{};
  poolInfo.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  poolInfo.queueFamilyIndex = family;
  VkCommandPool pool = VK_NULL_HANDLE;
  ASSERT_EQ(api.vkCreateCommandPool(device->handle(), &poolInfo, nullptr, &pool), VK_SUCCESS);
  VkCommandBufferAllocateInfo allocateInfo{};
  allocateInfo.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  allocateInfo.commandPool = pool;
  allocateInfo.commandBufferCount = 1;
  VkCommandBuffer theirs = VK_NULL_HANDLE;
  ASSERT_EQ(api.vkAllocateCommandBuffers(device->handle(), &allocateInfo, &theirs), VK_SUCCESS);
  VkCommandBufferBeginInfo beginInfo{};
  beginInfo.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  ASSERT_EQ(api.vkBeginCommandBuffer(theirs, &beginInfo), VK_SUCCESS);

  const std::unique_ptr<Commands> commands = Commands::borrow(*device, theirs);
  ASSERT_EQ(commands->begin({}), Status::Ok);
  commands->fill({a_.address, 7, 4, bytes / 4});
  commands->barrier();
  commands->copy({b_.address, a_.address, bytes});
  commands->makeVisibleToHost();
  ASSERT_EQ(commands->end(), Status::Ok);

  ASSERT_EQ(api.vkEndCommandBuffer(theirs), VK_SUCCESS);
  VkQueue queue = VK_NULL_HANDLE;
  api.vkGetDeviceQueue(device->handle(), family, 0, &queue);
  VkSubmitInfo submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &theirs;
  {
    const auto lock = device->queue(0).lock();
    ASSERT_EQ(api.vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    ASSERT_EQ(api.vkQueueWaitIdle(queue), VK_SUCCESS);
  }
  for (uint64_t i = 0; i < bytes / 4; ++i) ASSERT_EQ(words(b_)[i], 7u);
  api.vkDestroyCommandPool(device->handle(), pool, nullptr);
}

}  // namespace
}  // namespace mulciber::vk
