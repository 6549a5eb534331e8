// An ocean: CUDA kernels make waves and write the vertices and indices that the renderer draws, recorded into the
// renderer's own command buffers. Nothing is copied, and only the host waits: for the frame before the last.
#include <cstdio>

#include "common/camera.h"
#include "common/frames.h"
#include "common/pipeline.h"
#include "sky_frag.h"
#include "sky_vert.h"
#include "water_frag.h"
#include "water_vert.h"

namespace {

using namespace example;

constexpr std::string_view ptx =
#include "ocean_ptx.h"
    ;

constexpr float patchLength = 180, wind = 11, strength = 0.9f, choppiness = 1.15f;
constexpr uint32_t patchesOnASide = 9;

// CUDA's side: the waves, and how they become triangles.
class Waves {
 public:
  Waves(const Gpu& gpu, int points)
      : context_(gpu.context()),
        n_(points),
        module_(context_.get(), ptx),
        evolve_(module_.kernel("evolve")),
        transform_(module_.kernel("transform")),
        surface_(module_.kernel("surface")),
        waves_(context_.allocate(fieldBytes())),
        first_(context_.allocate(fieldBytes())),
        second_(context_.allocate(fieldBytes())),
        indices_(context_.allocate(size_t{indexCount()} * 4)) {
    const cuda::Stream stream(context_.get());
    stream.launch(module_.kernel("spectrum"), over(n_), waves_, n_, patchLength, wind, strength);
    stream.launch(module_.kernel("triangles"), over(n_), indices_, n_);
    stream.synchronize();
    evolve_.prepare(over(n_));
    transform_.prepare(lines());
    surface_.prepare(over(n_ + 1));
  }

  uint32_t indexCount() const { return static_cast<uint32_t>(n_) * static_cast<uint32_t>(n_) * 6; }
  MulciberBufferRange indices() const { return context_.buffer(indices_); }
  VkDeviceAddress allocateVertices() const { return context_.allocate(size_t(n_ + 1) * size_t(n_ + 1) * 32); }

  void record(VkCommandBuffer commands, uint32_t frame, float time, VkDeviceAddress vertices) const {
    // Two frames share the fields: this one's kernels come after those of the frame before.
    const MulciberRecordingInfo info{sizeof(info), commands, 0, MULCIBER_RECORDING_BARRIER_BEFORE, frame};
    cuda::Recording recording(context_.get(), info);
    recording.launch(evolve_, over(n_), waves_, first_, second_, n_, patchLength, time);
    recording.launch(transform_, lines(), first_, second_, n_, 1, n_);
    recording.launch(transform_, lines(), first_, second_, n_, n_, 1);
    recording.launch(surface_, over(n_ + 1), first_, second_, vertices, n_, patchLength, choppiness);
    recording.end();
  }

 private:
  size_t fieldBytes() const { return size_t(n_) * size_t(n_) * 8; }
  static cuda::Shape over(int points) {
    const uint32_t blocks = (static_cast<uint32_t>(points) + 15) / 16;
    return {{blocks, blocks, 1}, {16, 16, 1}};
  }
  cuda::Shape lines() const {
    const auto n = static_cast<uint32_t>(n_);
    return {{n, 2, 1}, {n / 2, 1, 1}, n * 8};
  }

  const cuda::Context& context_;
  const int n_;
  const cuda::Module module_;
  const cuda::Kernel evolve_, transform_, surface_;
  const VkDeviceAddress waves_, first_, second_, indices_;
};

struct Constants {
  Matrix camera;
  float eye[4], forward[4], right[4], up[4];
};

Constants lookAt(const Options& options, float time) {
  const Vector eye{14 + 0.8f * time, 7.5f, 90};
  const Camera camera(eye, {eye[0] + 18, 2.2f, -10}, 0.82f,
                      static_cast<float>(options.width()) / static_cast<float>(options.height()));
  Constants constants{camera.matrix(0.3f), {}, {}, {}, {}};
  for (size_t i = 0; i < 3; ++i) {
    constants.eye[i] = camera.eye[i];
    constants.forward[i] = camera.forward[i];
    constants.right[i] = camera.right[i] * camera.slope * camera.aspect;
    constants.up[i] = camera.up[i] * camera.slope;
  }
  constants.eye[3] = patchLength;
  constants.forward[3] = patchesOnASide;
  return constants;
}

PipelineInfo pipelineInfo(std::span<const uint32_t> vertex, std::span<const uint32_t> fragment, bool isWater) {
  PipelineInfo info;
  info.vertex = vertex;
  info.fragment = fragment;
  if (isWater) info.attributes.assign(2, VK_FORMAT_R32G32B32A32_SFLOAT);
  info.testsDepth = isWater;
  info.samples = VK_SAMPLE_COUNT_4_BIT;
  info.constantBytes = sizeof(Constants);
  return info;
}

void run(const Options& options) {
  Gpu gpu(Frames::windowExtensions(options));
  Picture picture(gpu, options.width(), options.height(), VK_SAMPLE_COUNT_4_BIT);
  const GraphicsPipeline sky(gpu, pipelineInfo(sky_vert, sky_frag, false));
  const GraphicsPipeline water(gpu, pipelineInfo(water_vert, water_frag, true));
  const Waves waves(gpu, static_cast<int>(options.number("points")));
  const MulciberBufferRange indices = waves.indices();
  const VkDeviceAddress vertices[Frames::inFlight] = {waves.allocateVertices(), waves.allocateVertices()};

  Frames frames(gpu, picture, options, "ocean", 1.3f);
  while (frames.next()) {
    if (frames.number() >= Frames::inFlight) gpu.context().retire(frames.number() - Frames::inFlight);
    const float time = 20 + static_cast<float>(frames.number()) / 60;
    const VkCommandBuffer commands = frames.begin();
    waves.record(commands, frames.number(), time, vertices[frames.slot()]);
    makeVisible(commands, VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT,
                VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_INDEX_READ_BIT);
    picture.begin(commands);
    const Constants constants = lookAt(options, time);
    sky.bind(commands, constants);
    vkCmdDraw(commands, 3, 1, 0, 0);
    water.bind(commands, constants);
    const MulciberBufferRange range = gpu.context().buffer(vertices[frames.slot()]);
    vkCmdBindVertexBuffers(commands, 0, 1, &range.buffer, &range.offset);
    vkCmdBindIndexBuffer(commands, indices.buffer, indices.offset, VK_INDEX_TYPE_UINT32);
    vkCmdDrawIndexed(commands, waves.indexCount(), patchesOnASide * patchesOnASide, 0, 0, 0);
    picture.end(commands);
    frames.end(commands);
  }
  frames.finish(options.text("points") + " x " + options.text("points") + " waves");
}

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv,
                        "ocean [--points 512] [--frames 200] [--width 1280] [--height 720] [--output ocean.png] "
                        "[--window]",
                        {{"points", "512"},
                         {"frames", "200"},
                         {"width", "1280"},
                         {"height", "720"},
                         {"output", "ocean.png"},
                         {"window", "off"}});
  const uint32_t points = options.number("points");
  if (points < 16 || points > 1024 || (points & (points - 1)) != 0)
    options.refuse("--points must be a power of two from 16 to 1024");
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ocean: %s\n", error.what());
    return 1;
  }
  return 0;
}
