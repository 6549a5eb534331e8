// An engine with a stream and two blocks of memory, of which one holds ones, and what to record with.
#pragma once

#include <memory>
#include <vector>

#include "engine/test_engine.h"

namespace mulciber::test {

inline constexpr int count = 1024;

class RecordingTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    if (IsSkipped()) return;
    engine = std::make_unique<Engine>();
    ASSERT_EQ(engine->result, MULCIBER_SUCCESS) << engine->message;
    ASSERT_OK(mulciberCreateStream(engine->context, &stream));
    ASSERT_OK(mulciberAllocate(engine->context, count * sizeof(int), &data));
    ASSERT_OK(mulciberAllocate(engine->context, count * sizeof(int), &other));
    EXPECT_OK(mulciberFill(stream, data, 1, 4, count));
    EXPECT_OK(mulciberSynchronizeStream(stream));
  }
  void TearDown() override {
    engine.reset();
    EngineTest::TearDown();
  }

  std::vector<int> read(VkDeviceAddress from) {
    std::vector<int> out(count);
    EXPECT_OK(mulciberCopy(stream, reinterpret_cast<uint64_t>(out.data()), from, count * sizeof(int)));
    return out;
  }
  // Runs what `body` records.
  template <class Body>
  void run(uint32_t flags, Body&& body) {
    const VkCommandBuffer commands = engine->beginCommands();
    const MulciberRecording recording = engine->record(commands, ++frame, flags);
    body(recording);
    EXPECT_OK(mulciberEndRecording(recording));
    engine->wait(engine->submit(commands));
    EXPECT_OK(mulciberRetireFrames(engine->context, frame));
  }

  std::unique_ptr<Engine> engine;
  MulciberStream stream = nullptr;
  VkDeviceAddress data = 0, other = 0;
  uint64_t frame = 0;
};

}  // namespace mulciber::test
