// A million particles: a CUDA kernel writes the vertex buffer that the renderer draws, on one device, with no copy. The
// two take turns by timeline semaphores. The host waits for them only when it saves a picture.
#include <cmath>
#include <cstdio>

#include "common/frames.h"
#include "scene.h"

namespace {

using namespace example;

// CUDA's side: the particles, and a stream that moves them.
class Particles {
 public:
  Particles(const Gpu& gpu, uint32_t count)
      : count_(count),
        module_(gpu.context().get(), particlesPtx),
        stream_(gpu.context().get()),
        shape_{{blocksFor(count), 1, 1}, {threadsPerBlock, 1, 1}},
        memory_(gpu.context().allocate(size_t{count} * particleBytes)),
        range_(gpu.context().buffer(memory_)) {
    stream_.launch(module_.kernel("place"), shape_, memory_, count, particlesExtent);
  }

  uint32_t count() const { return count_; }
  const MulciberBufferRange& vertices() const { return range_; }

  // After `drawn`, where the renderer has read what is there. What is given is where they have moved.
  TimelinePoint advance(TimelinePoint drawn) {
    if (drawn.value != 0) cuda::check(mulciberWaitSemaphore(stream_.get(), drawn.semaphore, drawn.value));
    stream_.launch(module_.kernel("advance"), shape_, memory_, count_, secondsPerStep, stepsPerFrame);
    TimelinePoint moved;
    cuda::check(mulciberGetStreamEnd(stream_.get(), &moved.semaphore, &moved.value));
    return moved;
  }

 private:
  const uint32_t count_;
  const cuda::Module module_;
  const cuda::Stream stream_;
  const cuda::Shape shape_;
  const VkDeviceAddress memory_;
  const MulciberBufferRange range_;
};

ParticleConstants lookAt(const Options& options, uint32_t frame) {
  const float angle = 0.9f + 0.004f * static_cast<float>(frame);
  const Camera camera({9.5f * std::cos(angle), 5.5f, 9.5f * std::sin(angle)}, {0.3f, 0.3f, 0.3f}, 0.78f,
                      static_cast<float>(options.width()) / static_cast<float>(options.height()));
  return example::lookAt(camera, options.width(), options.height(), options.number("count"));
}

void run(const Options& options) {
  Gpu gpu(Frames::windowExtensions(options));
  Picture picture(gpu, options.width(), options.height(), VK_SAMPLE_COUNT_1_BIT);
  const GraphicsPipeline pipeline(gpu, particlePipeline());
  Particles particles(gpu, options.number("count"));

  Frames frames(gpu, picture, options, "particles", 1);
  while (frames.next()) {
    const TimelinePoint moved = particles.advance(frames.before());
    const VkCommandBuffer commands = frames.begin();
    picture.begin(commands);
    pipeline.bind(commands, lookAt(options, frames.number()));
    vkCmdBindVertexBuffers(commands, 0, 1, &particles.vertices().buffer, &particles.vertices().offset);
    vkCmdDraw(commands, particles.count(), 1, 0, 0);
    picture.end(commands);
    frames.end(commands, moved);
  }
  frames.finish(options.text("count") + " particles");
}

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv,
                        "particles [--count 1000000] [--frames 200] [--width 1280] [--height 720] "
                        "[--output particles.png] [--window]",
                        {{"count", "1000000"},
                         {"frames", "200"},
                         {"width", "1280"},
                         {"height", "720"},
                         {"output", "particles.png"},
                         {"window", "off"}});
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "particles: %s\n", error.what());
    return 1;
  }
  return 0;
}
