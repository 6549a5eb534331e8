// What is recorded into the engine's own command buffers.
#include <vector>

#include "core/archive.h"

#include "engine/recording_fixture.h"
#include "mulciber/offline.h"

namespace mulciber::test {

TEST_F(RecordingTest, WorkComesInOrder) {
  const MulciberKernel add = engine->kernel("add"), squares = engine->kernel("squares");
  run(0, [&](MulciberRecording recording) {
    EXPECT_OK(launch(recording, add, 4, 256, data, count, 2));          // 3
    EXPECT_OK(launch(recording, squares, 4, 256, other, data, count));  // 18
    EXPECT_OK(launch(recording, add, 4, 256, other, count, -16));       // 2
    EXPECT_OK(launch(recording, squares, 4, 256, data, other, count));  // 8
    EXPECT_OK(mulciberRecordCopy(recording, other, data, count * sizeof(int)));
    EXPECT_OK(mulciberRecordFill(recording, data, 5, 4, count / 2));
    EXPECT_OK(launch(recording, add, 4, 256, data, count, 1));
  });
  const std::vector<int> first = read(data), second = read(other);
  EXPECT_EQ(first.front(), 6);
  EXPECT_EQ(first.back(), 9);
  EXPECT_EQ(second.front(), 8);
  EXPECT_EQ(second.back(), 8);
  EXPECT_EQ(Calls::get().ofTransfers(), 0);
}

TEST_F(RecordingTest, BarriersAreSetWhereTheyAreAskedFor) {
  const MulciberKernel add = engine->kernel("add");
  const MulciberLaunch shape{{1, 1, 1}, {256, 1, 1}, 0, nullptr, nullptr, 0};
  ASSERT_OK(mulciberPrepareKernel(add, &shape));
  const auto barriers = [&](uint32_t flags, bool explicitly) {
    Calls::get().clear();
    run(flags, [&](MulciberRecording recording) {
      EXPECT_OK(launch(recording, add, 1, 256, data, 256, 1));
      if (explicitly) {
        EXPECT_OK(mulciberRecordBarrier(recording));
      }
      EXPECT_OK(launch(recording, add, 1, 256, data + 1024, 256, 1));
      EXPECT_OK(launch(recording, add, 1, 256, data + 2048, 256, 1));
    });
    EXPECT_EQ(Calls::get().of("vkCmdDispatch"), 3);
    return Calls::get().of("vkCmdPipelineBarrier2");
  };
  const int none = barriers(MULCIBER_RECORDING_UNORDERED, false);  // but for the host's reads
  EXPECT_LE(none, 1);
  EXPECT_EQ(barriers(MULCIBER_RECORDING_UNORDERED, true), none + 1);
  EXPECT_EQ(barriers(0, false), none + 2);
  EXPECT_EQ(barriers(0, true), none + 2);
  EXPECT_EQ(barriers(MULCIBER_RECORDING_BARRIER_BEFORE | MULCIBER_RECORDING_BARRIER_AFTER, false), none + 4);
}

TEST_F(RecordingTest, BarriersReachTheEnginesOwnWork) {
  const VkBufferUsageFlags usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  const Engine::Buffer buffer = engine->makeBuffer(count * sizeof(int), usage);
  MulciberBufferRange range{};
  ASSERT_OK(mulciberGetBuffer(engine->context, data, &range));
  const VkCommandBuffer commands = engine->beginCommands();
  engine->api.vkCmdFillBuffer(commands, range.buffer, range.offset, count * sizeof(int), 7);
  const MulciberRecording recording =
      engine->record(commands, 1, MULCIBER_RECORDING_BARRIER_BEFORE | MULCIBER_RECORDING_BARRIER_AFTER);
  EXPECT_OK(launch(recording, engine->kernel("add"), 4, 256, data, count, 3));
  EXPECT_OK(mulciberEndRecording(recording));
  const VkBufferCopy region{range.offset, 0, count * sizeof(int)};
  engine->api.vkCmdCopyBuffer(commands, range.buffer, buffer.handle, 1, &region);
  engine->barrier(commands, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
                  VK_ACCESS_2_HOST_READ_BIT);
  engine->wait(engine->submit(commands));
  for (int i = 0; i < count; ++i) ASSERT_EQ(static_cast<const int*>(buffer.host)[i], 10);
  engine->destroy(buffer);
}

TEST_F(RecordingTest, ParametersLiveUntilTheirFrameRetires) {
  const MulciberKernel addTable = engine->kernel("addTable");
  struct Table {
    int values[128];
  };
  // Three frames are recorded before the first one runs: none takes the memory of another.
  std::vector<VkCommandBuffer> commands;
  for (uint64_t number = 1; number <= 3; ++number) {
    commands.push_back(engine->beginCommands());
    const MulciberRecording recording = engine->record(commands.back(), number, MULCIBER_RECORDING_BARRIER_BEFORE);
    Table table;
    for (int i = 0; i < 128; ++i) table.values[i] = static_cast<int>(number) * 1000 + i;
    EXPECT_OK(launch(recording, addTable, 1, 128, data, table));
    EXPECT_OK(mulciberEndRecording(recording));
    EXPECT_OK(mulciberRetireFrames(engine->context, 0));
  }
  for (const VkCommandBuffer one : commands) engine->wait(engine->submit(one));
  const std::vector<int> out = read(data);
  for (int i = 0; i < 128; ++i) ASSERT_EQ(out[i], 1 + 6000 + 3 * i);
}

TEST_F(RecordingTest, FramesTakeNothingNewOnceTheyHaveRun) {
  const MulciberKernel add = engine->kernel("add"), addTable = engine->kernel("addTable");
  struct Table {
    int values[128];
  } table{};
  const auto one = [&] {
    run(MULCIBER_RECORDING_BARRIER_BEFORE, [&](MulciberRecording recording) {
      for (int i = 0; i < 20; ++i) EXPECT_OK(launch(recording, add, 4, 256, data, count, 1));
      EXPECT_OK(launch(recording, addTable, 1, 128, data, table));
    });
  };
  one();
  Calls::get().clear();
  for (int i = 0; i < 10; ++i) one();
  EXPECT_EQ(Calls::get().of("vkCmdDispatch"), 210);
  for (const char* name : {"vkQueueSubmit2", "vkQueueSubmit", "vkAllocateMemory", "vkCreateBuffer", "vkWaitSemaphores",
                           "vkWaitForFences", "vkDeviceWaitIdle", "vkQueueWaitIdle", "vkCreateComputePipelines"})
    EXPECT_EQ(Calls::get().of(name), 0) << name;
  EXPECT_EQ(Calls::get().ofTransfers(), 0);
  EXPECT_EQ(read(data).back(), 1 + 11 * 20);
}

TEST_F(RecordingTest, LoadingCompilesAndRecordingDoesNot) {
  const char ptx[] = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry count(.param .u64 out) .reqntid 64, 1, 1 {
  .reg .b64 %rd<3>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r0;
  ret;
})";
  const std::string archive = core::translated(ptx, mulciber::portableProfiles(false));
  Calls::get().clear();
  MulciberModule module = nullptr;
  ASSERT_OK(mulciberLoadModule(engine->context, archive.data(), archive.size(), &module));
  EXPECT_EQ(Calls::get().of("vkCreateComputePipelines"), 1);
  MulciberKernel kernel = nullptr;
  ASSERT_OK(mulciberGetKernel(module, "count", &kernel));
  Calls::get().clear();
  run(0, [&](MulciberRecording recording) { EXPECT_OK(launch(recording, kernel, 1, 64, data)); });
  EXPECT_EQ(Calls::get().of("vkCmdDispatch"), 1);
  EXPECT_EQ(Calls::get().of("vkCreateComputePipelines"), 0) << "recording compiles nothing";
  EXPECT_EQ(read(data)[63], 63);
}

TEST_F(RecordingTest, VariablesAndConstantsAreThere) {
  MulciberModule module = nullptr;
  const char ptx[] = R"(.version 7.0
.target sm_75
.address_size 64
.const .b32 table[4] = {10, 20, 30, 40};
.visible .entry look(.param .u64 out) {
  .reg .b64 %rd<4>; .reg .b32 %r<3>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  mov.u64 %rd2, table;
  add.u64 %rd2, %rd2, %rd1;
  ld.const.b32 %r1, [%rd2];
  add.u64 %rd3, %rd0, %rd1;
  st.global.b32 [%rd3], %r1;
  ret;
})";
  ASSERT_OK(mulciberLoadModule(engine->context, ptx, sizeof(ptx), &module));
  MulciberKernel look = nullptr;
  ASSERT_OK(mulciberGetKernel(module, "look", &look));
  EXPECT_EQ(mulciberGetKernel(module, "miss", &look), MULCIBER_ERROR_NOT_FOUND);
  run(0, [&](MulciberRecording recording) {
    EXPECT_OK(launch(recording, look, 1, 4, data));
    EXPECT_OK(launch(recording, engine->kernel("addOffset"), 1, 4, data));
  });
  EXPECT_EQ(read(data)[3], 47);
}

TEST_F(RecordingTest, RefusesKernelsThatNeedTheHost) {
  const VkCommandBuffer commands = engine->beginCommands();
  const MulciberRecording recording = engine->record(commands, 1);
  EXPECT_EQ(launch(recording, engine->kernel("print"), 1, 1, 5), MULCIBER_ERROR_NEEDS_HOST);
  EXPECT_NE(std::string(mulciberGetErrorMessage()).find("print calls printf"), std::string::npos)
      << mulciberGetErrorMessage();
  EXPECT_EQ(launch(recording, engine->kernel("allocate"), 1, 1, data), MULCIBER_ERROR_NEEDS_HOST);
  EXPECT_OK(launch(recording, engine->kernel("add"), 4, 256, data, count, 1));  // nothing is lost
  EXPECT_OK(mulciberEndRecording(recording));
  engine->wait(engine->submit(commands));
  EXPECT_EQ(read(data).front(), 2);
}

TEST_F(RecordingTest, TellsOfKernelsThatFailed) {
  run(0, [&](MulciberRecording recording) { EXPECT_OK(launch(recording, engine->kernel("fail"), 1, 1)); });
  EXPECT_EQ(mulciberCheck(engine->context), MULCIBER_ERROR_KERNEL_FAILED);
  const VkCommandBuffer commands = engine->beginCommands();
  const MulciberRecordingInfo info{sizeof(info), commands, engine->family, 0, 9};
  MulciberRecording recording = nullptr;
  EXPECT_EQ(mulciberBeginRecording(engine->context, &info, &recording), MULCIBER_ERROR_KERNEL_FAILED);
  engine->wait(engine->submit(commands));
}

TEST_F(RecordingTest, RefusesTheWrongState) {
  const VkCommandBuffer commands = engine->beginCommands();
  const MulciberRecording recording = engine->record(commands, 1);
  MulciberRecordingInfo info{sizeof(info), commands, engine->family, 0, 1};
  MulciberRecording second = nullptr;
  EXPECT_EQ(mulciberBeginRecording(engine->context, &info, &second), MULCIBER_ERROR_WRONG_STATE);
  EXPECT_OK(mulciberRetireFrames(engine->context, 5));  // an open one stays
  EXPECT_OK(mulciberEndRecording(recording));
  EXPECT_EQ(mulciberEndRecording(recording), MULCIBER_ERROR_WRONG_STATE);
  EXPECT_EQ(launch(recording, engine->kernel("add"), 1, 1, data, 1, 1), MULCIBER_ERROR_WRONG_STATE);
  info.queueFamily = 9;
  EXPECT_EQ(mulciberBeginRecording(engine->context, &info, &second), MULCIBER_ERROR_WRONG_QUEUE);
  info.queueFamily = engine->family;
  info.commandBuffer = VK_NULL_HANDLE;
  EXPECT_EQ(mulciberBeginRecording(engine->context, &info, &second), MULCIBER_ERROR_INVALID_ARGUMENT);
  engine->wait(engine->submit(commands));
}

TEST_F(RecordingTest, KeepsContextsApart) {
  Engine another;
  ASSERT_EQ(another.result, MULCIBER_SUCCESS) << another.message;
  const VkCommandBuffer commands = engine->beginCommands();
  const MulciberRecording recording = engine->record(commands, 1);
  EXPECT_EQ(launch(recording, another.kernel("add"), 1, 1, data, 1, 1), MULCIBER_ERROR_INVALID_ARGUMENT);
  EXPECT_OK(mulciberEndRecording(recording));
  engine->wait(engine->submit(commands));
}

}  // namespace mulciber::test
