// Graphics pipelines, with the images that they sample.
#pragma once

#include <span>
#include <vector>

#include "common/picture.h"

namespace example {

struct PipelineInfo {
  std::span<const uint32_t> vertex, fragment;  // SPIR-V
  std::vector<VkFormat> attributes;            // of one vertex buffer, one after the other, of 16 bytes each
  std::vector<VkImageView> images;  // that the fragment shader samples, in layout GENERAL; set 0, binding 0 on
  VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  bool addsLight = false;   // what is drawn is added to what is there
  bool testsDepth = false;  // nearer is less
  uint32_t constantBytes = 0;
  VkFormat format = Picture::format, depthFormat = Picture::depthFormat;  // of what is drawn into
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
};

class GraphicsPipeline {
 public:
  GraphicsPipeline(const Gpu& gpu, const PipelineInfo& info);
  ~GraphicsPipeline();
  GraphicsPipeline(const GraphicsPipeline&) = delete;
  GraphicsPipeline& operator=(const GraphicsPipeline&) = delete;

  template <class Constants>
  void bind(VkCommandBuffer commands, const Constants& constants) const {
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_);
    if (set_ != VK_NULL_HANDLE)
      vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout_, 0, 1, &set_, 0, nullptr);
    vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                       sizeof(constants), &constants);
  }

 private:
  void bindImages(const std::vector<VkImageView>& images);

  const Gpu& gpu_;
  VkSampler sampler_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout setLayout_ = VK_NULL_HANDLE;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

}  // namespace example
