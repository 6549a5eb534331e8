// Streams on an engine's queue: memory that both reach, and semaphores in both directions.
#include <vector>

#include "engine/test_engine.h"

namespace mulciber::test {

namespace {

constexpr int count = 256;
constexpr VkBufferUsageFlags shared = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                                      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

class StreamTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    if (IsSkipped()) return;
    engine = std::make_unique<Engine>();
    ASSERT_EQ(engine->result, MULCIBER_SUCCESS) << engine->message;
    ASSERT_OK(mulciberCreateStream(engine->context, &stream));
    ASSERT_OK(mulciberAllocate(engine->context, count * sizeof(int), &data));
    add = engine->kernel("add");
  }
  void TearDown() override {
    engine.reset();
    EngineTest::TearDown();
  }

  std::vector<int> read() {
    std::vector<int> out(count);
    EXPECT_OK(mulciberCopy(stream, reinterpret_cast<uint64_t>(out.data()), data, count * sizeof(int)));
    return out;
  }

  std::unique_ptr<Engine> engine;
  MulciberStream stream = nullptr;
  VkDeviceAddress data = 0;
  MulciberKernel add = nullptr;
};

}  // namespace

TEST_F(StreamTest, TheEngineReadsTheContextsMemory) {
  EXPECT_OK(mulciberFill(stream, data, 40, 4, count));
  EXPECT_OK(launch(stream, add, 1, count, data, count, 2));
  VkSemaphore semaphore = VK_NULL_HANDLE;
  uint64_t value = 0;
  ASSERT_OK(mulciberGetStreamEnd(stream, &semaphore, &value));
  MulciberBufferRange range{};
  ASSERT_OK(mulciberGetBuffer(engine->context, data + 64, &range));
  EXPECT_EQ(range.size, count * sizeof(int) - 64);
  const Engine::Buffer copy = engine->makeBuffer(range.size, shared);
  const VkCommandBuffer commands = engine->beginCommands();
  const VkBufferCopy region{range.offset, 0, range.size};
  engine->api.vkCmdCopyBuffer(commands, range.buffer, copy.handle, 1, &region);
  engine->barrier(commands, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
                  VK_ACCESS_2_HOST_READ_BIT);
  engine->wait(engine->submit(commands, {Engine::at(semaphore, value)}));
  for (int i = 0; i < count - 16; ++i) ASSERT_EQ(static_cast<const int*>(copy.host)[i], 42);
  engine->destroy(copy);
}

TEST_F(StreamTest, KernelsAndCopiesUseTheEnginesBuffer) {
  const Engine::Buffer buffer = engine->makeBuffer(count * sizeof(int) + 256, shared);
  VkDeviceAddress wrapped = 0;
  ASSERT_OK(mulciberWrapBuffer(engine->context, buffer.handle, 256, count * sizeof(int), &wrapped));
  VkBufferDeviceAddressInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  info.buffer = buffer.handle;
  EXPECT_EQ(wrapped, engine->api.vkGetBufferDeviceAddress(engine->device, &info) + 256);
  std::vector<int> values(count);
  for (int i = 0; i < count; ++i) values[i] = i;
  EXPECT_OK(mulciberCopy(stream, wrapped, reinterpret_cast<uint64_t>(values.data()), count * sizeof(int)));
  EXPECT_OK(launch(stream, add, 1, count, wrapped, count, 5));
  EXPECT_OK(mulciberCopy(stream, data, wrapped, count * sizeof(int)));
  const std::vector<int> out = read();
  for (int i = 0; i < count; ++i) ASSERT_EQ(out[i], i + 5);
  for (int i = 0; i < count; ++i) ASSERT_EQ(static_cast<const int*>(buffer.host)[64 + i], i + 5);
  MulciberBufferRange range{};
  EXPECT_OK(mulciberGetBuffer(engine->context, wrapped + 4, &range));
  EXPECT_EQ(range.buffer, buffer.handle);
  EXPECT_EQ(range.offset, 260u);
  VkDeviceAddress again = 0;
  EXPECT_EQ(mulciberWrapBuffer(engine->context, buffer.handle, 0, 512, &again), MULCIBER_ERROR_IN_USE);
  EXPECT_OK(mulciberFree(engine->context, wrapped));
  EXPECT_OK(mulciberWrapBuffer(engine->context, buffer.handle, 0, 512, &again));
  EXPECT_OK(mulciberFree(engine->context, again));
  engine->destroy(buffer);
}

TEST_F(StreamTest, WaitsForTheEngineAndIsWaitedFor) {
  EXPECT_OK(mulciberFill(stream, data, 1, 4, count));
  EXPECT_OK(mulciberSynchronizeStream(stream));
  // The host raises the timeline, so the stream may be told to wait for it first.
  EXPECT_OK(mulciberWaitSemaphore(stream, engine->timeline, 1));
  EXPECT_OK(launch(stream, add, 1, count, data, count, 10));
  EXPECT_OK(mulciberSignalSemaphore(stream, engine->timeline, 2));
  EXPECT_EQ(engine->reached(), 0u);
  VkSemaphore semaphore = VK_NULL_HANDLE;
  uint64_t value = 0, now = 0;
  ASSERT_OK(mulciberGetStreamEnd(stream, &semaphore, &value));
  EXPECT_EQ(engine->api.vkGetSemaphoreCounterValue(engine->device, semaphore, &now), VK_SUCCESS);
  EXPECT_LT(now, value);
  engine->signal(1);
  engine->wait(2);
  EXPECT_EQ(read().front(), 11);
}

TEST_F(StreamTest, WhatComesBehindSemaphoresComesAfterThem) {
  for (uint64_t round = 1; round <= 20; ++round) {
    EXPECT_OK(mulciberFill(stream, data, static_cast<uint32_t>(round), 4, count));
    EXPECT_OK(mulciberWaitSemaphore(stream, engine->timeline, 2 * round - 1));
    EXPECT_OK(launch(stream, add, 1, count, data, count, 100));
    EXPECT_OK(mulciberSignalSemaphore(stream, engine->timeline, 2 * round));
    engine->signal(2 * round - 1);
    engine->wait(2 * round);
  }
  EXPECT_EQ(read().back(), 120);
}

TEST_F(StreamTest, RefusesWhatItCannotDo) {
  EXPECT_EQ(mulciberWaitSemaphore(stream, VK_NULL_HANDLE, 1), MULCIBER_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(mulciberFill(stream, data, 0, 3, 1), MULCIBER_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(mulciberFree(engine->context, 4711), MULCIBER_ERROR_INVALID_ARGUMENT);
  MulciberModule module = nullptr;
  const char wrong[] = ".version 7.0\n.target sm_75\n.address_size 64\n.entry k() { nonsense; }";
  EXPECT_EQ(mulciberLoadModule(engine->context, wrong, sizeof(wrong), &module), MULCIBER_ERROR_INVALID_CODE);
  EXPECT_NE(std::string(mulciberGetErrorMessage()).find("nonsense"), std::string::npos) << mulciberGetErrorMessage();
  MulciberLaunch launch{{1, 1, 1}, {2048, 1, 1}, 0, nullptr, nullptr, 0};
  EXPECT_EQ(mulciberLaunch(stream, engine->kernel("fail"), &launch), MULCIBER_ERROR_INVALID_ARGUMENT);
}

}  // namespace mulciber::test
