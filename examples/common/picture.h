// What is drawn into: half floats with a depth buffer, on some devices several samples for each pixel, and the way from
// there into a PNG. And graphics pipelines that draw into it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/gpu.h"

namespace example {

class Picture {
 public:
  static constexpr VkFormat format = VK_FORMAT_R16G16B16A16_SFLOAT, depthFormat = VK_FORMAT_D32_SFLOAT;

  Picture(const Gpu& gpu, uint32_t width, uint32_t height, VkSampleCountFlagBits samples);
  ~Picture();
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  VkSampleCountFlagBits samples() const { return samples_; }
  void begin(VkCommandBuffer commands) const;  // over black; from here on draw
  void end(VkCommandBuffer commands) const;
  void read(VkCommandBuffer commands) const;  // once these have run, save() may be called
  // Light beyond 1 is rolled off, as a film would.
  void save(const std::string& path, float exposure) const;

 private:
  struct Image {
    VkImage image = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
  };
  Image make(VkFormat format, VkSampleCountFlagBits samples, VkImageUsageFlags usage, VkImageAspectFlags aspect) const;
  void destroy(const Image& image) const;

  const Gpu& gpu_;
  const uint32_t width_, height_;
  const VkSampleCountFlagBits samples_;
  Image colour_, resolved_, depth_;
  HostBuffer copy_;
};

struct PipelineInfo {
  std::span<const uint32_t> vertex, fragment;  // SPIR-V
  std::vector<VkFormat> attributes;            // of one vertex buffer, one after the other, of 16 bytes each
  VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  bool addsLight = false;   // what is drawn is added to what is there
  bool testsDepth = false;  // nearer is less
  uint32_t constantBytes = 0;
};

class GraphicsPipeline {
 public:
  GraphicsPipeline(const Gpu& gpu, const Picture& picture, const PipelineInfo& info);
  ~GraphicsPipeline();
  GraphicsPipeline(const GraphicsPipeline&) = delete;
  GraphicsPipeline& operator=(const GraphicsPipeline&) = delete;

  template <class Constants>
  void bind(VkCommandBuffer commands, const Constants& constants) const {
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_);
    vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                       sizeof(constants), &constants);
  }

 private:
  const Gpu& gpu_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

}  // namespace example
