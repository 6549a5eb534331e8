// Frames drawn from what kernels have written, two in flight, with no copy and no wait between.
#include <array>

#include "engine/renderer.h"
#include "engine/test_engine.h"

namespace mulciber::test {

namespace {

class RendererTest : public EngineTest {
 protected:
  // The picture of that frame: green columns of its own, the frame's number in red.
  static void check(const Renderer& renderer, int frame) {
    const int first = 8 * (frame % 8);
    for (uint32_t y = 0; y < Renderer::height; ++y)
      for (uint32_t x = 0; x < Renderer::width; ++x) {
        const bool inside = static_cast<int>(x) >= first && static_cast<int>(x) < first + 8;
        const Renderer::Pixel& pixel = renderer.pixel(x, y);
        ASSERT_EQ(pixel.green, inside ? 255 : 0) << "frame " << frame << " at " << x << ", " << y;
        ASSERT_EQ(pixel.red, inside ? frame % 8 : 0) << "frame " << frame << " at " << x << ", " << y;
      }
  }
};

}  // namespace

TEST_F(RendererTest, DrawsWhatKernelsRecordedInItsOwnCommandBuffersWrote) {
  Engine engine;
  ASSERT_EQ(engine.result, MULCIBER_SUCCESS) << engine.message;
  constexpr int inFlight = 2, frames = 24;
  constexpr size_t vertexBytes = 6 * 32;
  const MulciberKernel quad = engine.kernel("quad");
  const MulciberLaunch shape{{1, 1, 1}, {6, 1, 1}, 0, nullptr, nullptr, 0};
  ASSERT_OK(mulciberPrepareKernel(quad, &shape));
  std::array<VkDeviceAddress, inFlight> vertices{};
  std::array<std::unique_ptr<Renderer>, inFlight> renderers;
  for (int i = 0; i < inFlight; ++i) {
    ASSERT_OK(mulciberAllocate(engine.context, vertexBytes, &vertices[i]));
    renderers[i] = std::make_unique<Renderer>(engine);
  }
  Calls::get().clear();
  std::array<uint64_t, inFlight> ends{};
  for (int frame = 0; frame < frames + inFlight; ++frame) {
    const int slot = frame % inFlight;
    if (frame >= inFlight) {
      engine.wait(ends[slot]);
      EXPECT_OK(mulciberRetireFrames(engine.context, static_cast<uint64_t>(frame - inFlight)));
      check(*renderers[slot], frame - inFlight);
    }
    if (frame >= frames) continue;
    const VkCommandBuffer commands = engine.beginCommands();
    const MulciberRecording recording = engine.record(commands, static_cast<uint64_t>(frame));
    EXPECT_OK(launch(recording, quad, 1, 6, vertices[slot], frame % 8));
    EXPECT_OK(mulciberEndRecording(recording));
    engine.barrier(commands, MULCIBER_STAGES, MULCIBER_WRITES, VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT,
                   VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT);
    MulciberBufferRange range{};
    ASSERT_OK(mulciberGetBuffer(engine.context, vertices[slot], &range));
    renderers[slot]->draw(commands, range);
    ends[slot] = engine.submit(commands);
  }
  EXPECT_EQ(Calls::get().of("vkCmdDispatch"), frames);
  EXPECT_EQ(Calls::get().ofTransfers(), 0);
  for (const char* name : {"vkQueueSubmit2", "vkWaitSemaphores", "vkAllocateMemory", "vkDeviceWaitIdle"})
    EXPECT_EQ(Calls::get().of(name), 0) << name;
  renderers = {};
}

TEST_F(RendererTest, DrawsWhatAStreamWrote) {
  Engine engine;
  ASSERT_EQ(engine.result, MULCIBER_SUCCESS) << engine.message;
  MulciberStream stream = nullptr;
  ASSERT_OK(mulciberCreateStream(engine.context, &stream));
  VkDeviceAddress vertices = 0;
  ASSERT_OK(mulciberAllocate(engine.context, 6 * 32, &vertices));
  MulciberBufferRange range{};
  ASSERT_OK(mulciberGetBuffer(engine.context, vertices, &range));
  {
    Renderer renderer(engine);
    uint64_t drawn = 0;
    for (int frame = 0; frame < 8; ++frame) {
      // The stream writes after the last frame was drawn, and the next is drawn after it wrote; the host only waits to
      // look at the picture.
      EXPECT_OK(mulciberWaitSemaphore(stream, engine.timeline, drawn));
      EXPECT_OK(launch(stream, engine.kernel("quad"), 1, 6, vertices, frame));
      VkSemaphore written = VK_NULL_HANDLE;
      uint64_t value = 0;
      ASSERT_OK(mulciberGetStreamEnd(stream, &written, &value));
      const VkCommandBuffer commands = engine.beginCommands();
      renderer.draw(commands, range);
      drawn = engine.submit(commands, {Engine::at(written, value)});
      engine.wait(drawn);
      check(renderer, frame);
    }
  }
}

}  // namespace mulciber::test
