// Smoke that flows around a ball: CUDA kernels sample and write the renderer's own images through textures and
// surfaces, in the renderer's command buffer, and the renderer samples the same images. Nothing is copied.
#include <cstdio>
#include <utility>

#include "common/frames.h"
#include "common/pipeline.h"
#include "fluid_frag.h"
#include "full_screen_vert.h"

namespace {

using namespace example;

constexpr std::string_view ptx =
#include "fluid_ptx.h"
    ;

constexpr float secondsPerStep = 1.0f / 60, whirls = 9;
constexpr uint32_t pressureSteps = 40;

// One image of the renderer's, as it is to the renderer and to kernels.
class Field {
 public:
  Field(const Gpu& gpu, VkFormat format, uint32_t width, uint32_t height)
      : info_{format,
              width,
              height,
              VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                  VK_IMAGE_USAGE_TRANSFER_DST_BIT,
              VK_IMAGE_ASPECT_COLOR_BIT,
              VK_SAMPLE_COUNT_1_BIT,
              VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT},
        image_(gpu, info_),
        wrapped_(gpu.context().get(), image_.get(), info_.forVulkan()) {
    MulciberTextureInfo sampling{};
    sampling.structSize = sizeof(sampling);
    sampling.flags = MULCIBER_TEXTURE_NORMALIZED_COORDINATES;
    for (VkSamplerAddressMode& mode : sampling.addressModes) mode = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    texels = wrapped_.texture(sampling);
    sampling.flags |= MULCIBER_TEXTURE_LINEAR;
    smooth = wrapped_.texture(sampling);
    surface = wrapped_.surface(0);
  }

  void clear(VkCommandBuffer commands) const {
    image_.turn(commands, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    const VkClearColorValue black{};
    const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdClearColorImage(commands, image_.get(), VK_IMAGE_LAYOUT_GENERAL, &black, 1, &all);
    image_.turn(commands, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL);
  }
  VkImageView view() const { return image_.view(); }

  uint64_t texels = 0, smooth = 0, surface = 0;

 private:
  const ImageInfo info_;
  const Image image_;
  const cuda::Image wrapped_;
};

// What kernels read, and what they write to become it.
struct Pair {
  Pair(const Gpu& gpu, VkFormat format, uint32_t width, uint32_t height)
      : fields{{gpu, format, width, height}, {gpu, format, width, height}} {}
  const Field& now() const { return fields[current]; }
  const Field& next() const { return fields[1 - current]; }
  void swap() { current = 1 - current; }

  const Field fields[2];
  int current = 0;
};

class Fluid {
 public:
  Fluid(const Gpu& gpu, uint32_t width, uint32_t height)
      : gpu_(gpu),
        width_(width),
        height_(height),
        module_(gpu.context().get(), ptx),
        carry_(prepared("carry", full())),
        whirl_(prepared("whirl", full())),
        diverge_(prepared("diverge", full())),
        relax_(prepared("relax", full())),
        project_(prepared("project", full())),
        light_(prepared("light", full())),
        blur_(prepared("blur", quarter())),
        velocity_(gpu, VK_FORMAT_R32G32_SFLOAT, width, height),
        smoke_(gpu, VK_FORMAT_R16G16B16A16_SFLOAT, width, height),
        pressure_(gpu, VK_FORMAT_R32_SFLOAT, width, height),
        divergence_(gpu, VK_FORMAT_R32_SFLOAT, width, height),
        lit_(gpu, VK_FORMAT_R16G16B16A16_SFLOAT, width, height),
        glow_(gpu, VK_FORMAT_R16G16B16A16_SFLOAT, width / 4, height / 4) {}

  std::vector<VkImageView> views() const { return {lit_.view(), glow_.fields[0].view()}; }

  void record(VkCommandBuffer commands, uint32_t frame) {
    if (frame == 0)
      for (const Field* field : {&velocity_.now(), &velocity_.next(), &smoke_.now(), &smoke_.next(), &pressure_.now(),
                                 &pressure_.next(), &divergence_, &lit_, &glow_.now(), &glow_.next()})
        field->clear(commands);
    // The frame before may still be drawn from the images.
    const MulciberRecordingInfo info{sizeof(info), commands, gpu_.family(), MULCIBER_RECORDING_BARRIER_BEFORE, frame};
    cuda::Recording recording(gpu_.context().get(), info);
    const auto width = static_cast<int>(width_), height = static_cast<int>(height_);
    const float time = static_cast<float>(frame) * secondsPerStep;
    recording.launch(carry_, full(), velocity_.now().smooth, smoke_.now().smooth, velocity_.next().surface,
                     smoke_.next().surface, width, height, secondsPerStep, time);
    velocity_.swap();
    smoke_.swap();
    recording.launch(whirl_, full(), velocity_.now().texels, velocity_.next().surface, width, height, secondsPerStep,
                     whirls);
    velocity_.swap();
    recording.launch(diverge_, full(), velocity_.now().texels, divergence_.surface, width, height);
    for (uint32_t step = 0; step < pressureSteps; ++step) {
      recording.launch(relax_, full(), pressure_.now().texels, divergence_.texels, pressure_.next().surface, width,
                       height);
      pressure_.swap();
    }
    recording.launch(project_, full(), velocity_.now().texels, pressure_.now().texels, velocity_.next().surface, width,
                     height);
    velocity_.swap();
    recording.launch(light_, full(), smoke_.now().smooth, lit_.surface, width, height);
    constexpr float reach = 0.006f;  // between the points that are blurred together
    recording.launch(blur_, quarter(), lit_.smooth, glow_.fields[1].surface, width / 4, height / 4, reach, 0.0f);
    recording.launch(blur_, quarter(), glow_.fields[1].smooth, glow_.fields[0].surface, width / 4, height / 4, 0.0f,
                     reach);
    recording.end();
    makeVisible(commands, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, VK_ACCESS_2_SHADER_SAMPLED_READ_BIT);
  }

 private:
  static cuda::Shape over(uint32_t width, uint32_t height) {
    return {{(width + 31) / 32, (height + 7) / 8, 1}, {32, 8, 1}};
  }
  cuda::Shape full() const { return over(width_, height_); }
  cuda::Shape quarter() const { return over(width_ / 4, height_ / 4); }
  cuda::Kernel prepared(const char* name, const cuda::Shape& shape) const {
    const cuda::Kernel kernel = module_.kernel(name);
    kernel.prepare(shape);
    return kernel;
  }

  const Gpu& gpu_;
  const uint32_t width_, height_;
  const cuda::Module module_;
  const cuda::Kernel carry_, whirl_, diverge_, relax_, project_, light_, blur_;
  Pair velocity_, smoke_, pressure_;
  const Field divergence_, lit_;
  const Pair glow_;
};

void run(const Options& options) {
  Gpu gpu(Frames::windowExtensions(options));
  Picture picture(gpu, options.width(), options.height(), VK_SAMPLE_COUNT_1_BIT);
  Fluid fluid(gpu, options.width(), options.height());
  PipelineInfo info;
  info.vertex = full_screen_vert;
  info.fragment = fluid_frag;
  info.images = fluid.views();
  info.constantBytes = sizeof(float);
  const GraphicsPipeline pipeline(gpu, info);

  Frames frames(gpu, picture, options, "fluid", 1.5f);
  while (frames.next()) {
    if (frames.number() >= Frames::inFlight) gpu.context().retire(frames.number() - Frames::inFlight);
    const VkCommandBuffer commands = frames.begin();
    fluid.record(commands, frames.number());
    picture.begin(commands);
    pipeline.bind(commands, static_cast<float>(options.width()) / static_cast<float>(options.height()));
    vkCmdDraw(commands, 3, 1, 0, 0);
    picture.end(commands);
    frames.end(commands);
  }
  frames.finish(options.text("width") + " x " + options.text("height") + " cells of smoke");
}

}  // namespace

int main(int argc, char** argv) {
  const Options options(
      argc, argv, "fluid [--frames 400] [--width 1280] [--height 720] [--output fluid.png] [--window]",
      {{"frames", "400"}, {"width", "1280"}, {"height", "720"}, {"output", "fluid.png"}, {"window", "off"}});
  if (options.width() < 32 || options.height() < 32) options.refuse("the picture must have 32 x 32 pixels at least");
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fluid: %s\n", error.what());
    return 1;
  }
  return 0;
}
