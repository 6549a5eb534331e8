// A headless renderer: a pipeline that draws triangles from a vertex buffer into an image, and the image's way to the
// host.
#pragma once

#include <cstdint>

#include "engine/test_engine.h"

namespace mulciber::test {

class Renderer {
 public:
  static constexpr uint32_t width = 64, height = 16;
  struct Pixel {
    uint8_t red, green, blue, alpha;
  };

  explicit Renderer(Engine& engine);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // Draws two triangles from there, over black; the image is readable once the commands have run.
  void draw(VkCommandBuffer commands, const MulciberBufferRange& vertices);
  const Pixel& pixel(uint32_t x, uint32_t y) const { return static_cast<const Pixel*>(copy_.host)[y * width + x]; }

 private:
  void makeImage();
  void makePipeline();
  void turn(VkCommandBuffer commands, VkImageLayout from, VkImageLayout to);

  Engine& engine_;
  VkImage image_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  Engine::Buffer copy_;
};

}  // namespace mulciber::test
