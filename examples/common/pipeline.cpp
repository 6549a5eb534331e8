#include "common/pipeline.h"

namespace example {

GraphicsPipeline::GraphicsPipeline(const Gpu& gpu, const PipelineInfo& info) : gpu_(gpu) {
  if (!info.images.empty()) bindImages(info.images);
  constexpr VkShaderStageFlags both = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
  const VkPushConstantRange range{both, 0, info.constantBytes};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  layout.setLayoutCount = set_ != VK_NULL_HANDLE ? 1 : 0;
  layout.pSetLayouts = &setLayout_;
  check(vkCreatePipelineLayout(gpu.device(), &layout, nullptr, &layout_), "making a pipeline layout");

  VkPipelineShaderStageCreateInfo stages[2] = {};
  const std::span<const uint32_t> codes[] = {info.vertex, info.fragment};
  for (int i = 0; i < 2; ++i) {
    VkShaderModuleCreateInfo module{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    module.codeSize = codes[i].size_bytes();
    module.pCode = codes[i].data();
    stages[i].sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    stages[i].stage = i == 0 ? VK_SHADER_STAGE_VERTEX_BIT : VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[i].pName = "main";
    check(vkCreateShaderModule(gpu.device(), &module, nullptr, &stages[i].module), "making a shader");
  }

  std::vector<VkVertexInputAttributeDescription> attributes;
  for (const VkFormat format : info.attributes) {
    const auto index = static_cast<uint32_t>(attributes.size());
    attributes.push_back({index, 0, format, index * 16});
  }
  const auto attributeCount = static_cast<uint32_t>(attributes.size());
  const VkVertexInputBindingDescription binding{0, attributeCount * 16, VK_VERTEX_INPUT_RATE_VERTEX};
  VkPipelineVertexInputStateCreateInfo vertices{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  vertices.vertexBindingDescriptionCount = attributes.empty() ? 0 : 1;
  vertices.pVertexBindingDescriptions = &binding;
  vertices.vertexAttributeDescriptionCount = attributeCount;
  vertices.pVertexAttributeDescriptions = attributes.data();
  VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  assembly.topology = info.topology;
  VkPipelineViewportStateCreateInfo viewport{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  viewport.viewportCount = viewport.scissorCount = 1;
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  raster.lineWidth = 1;
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  samples.rasterizationSamples = info.samples;
  VkPipelineDepthStencilStateCreateInfo depth{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
  depth.depthTestEnable = depth.depthWriteEnable = info.testsDepth ? VK_TRUE : VK_FALSE;
  depth.depthCompareOp = VK_COMPARE_OP_LESS;
  VkPipelineColorBlendAttachmentState attachment{};
  attachment.blendEnable = info.addsLight ? VK_TRUE : VK_FALSE;
  attachment.srcColorBlendFactor = attachment.dstColorBlendFactor = VK_BLEND_FACTOR_ONE;
  attachment.colorWriteMask = 15;
  VkPipelineColorBlendStateCreateInfo blend{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  blend.attachmentCount = 1;
  blend.pAttachments = &attachment;
  const VkDynamicState dynamic[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
  VkPipelineDynamicStateCreateInfo dynamicInfo{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  dynamicInfo.dynamicStateCount = 2;
  dynamicInfo.pDynamicStates = dynamic;
  VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachmentFormats = &info.format;
  rendering.depthAttachmentFormat = info.depthFormat;
  VkGraphicsPipelineCreateInfo create{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &rendering};
  create.stageCount = 2;
  create.pStages = stages;
  create.pVertexInputState = &vertices;
  create.pInputAssemblyState = &assembly;
  create.pViewportState = &viewport;
  create.pRasterizationState = &raster;
  create.pMultisampleState = &samples;
  create.pDepthStencilState = &depth;
  create.pColorBlendState = &blend;
  create.pDynamicState = &dynamicInfo;
  create.layout = layout_;
  const VkResult made = vkCreateGraphicsPipelines(gpu.device(), VK_NULL_HANDLE, 1, &create, nullptr, &pipeline_);
  for (const VkPipelineShaderStageCreateInfo& stage : stages)
    vkDestroyShaderModule(gpu.device(), stage.module, nullptr);
  check(made, "making a graphics pipeline");
}

void GraphicsPipeline::bindImages(const std::vector<VkImageView>& images) {
  const auto count = static_cast<uint32_t>(images.size());
  VkSamplerCreateInfo sampler{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  sampler.magFilter = sampler.minFilter = VK_FILTER_LINEAR;
  sampler.addressModeU = sampler.addressModeV = sampler.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  check(vkCreateSampler(gpu_.device(), &sampler, nullptr, &sampler_), "making a sampler");

  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (uint32_t i = 0; i < count; ++i)
    bindings.push_back({i, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr});
  VkDescriptorSetLayoutCreateInfo layout{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  layout.bindingCount = count;
  layout.pBindings = bindings.data();
  check(vkCreateDescriptorSetLayout(gpu_.device(), &layout, nullptr, &setLayout_), "making a descriptor set layout");

  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, count};
  VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  check(vkCreateDescriptorPool(gpu_.device(), &pool, nullptr, &pool_), "making a descriptor pool");
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocate.descriptorPool = pool_;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &setLayout_;
  check(vkAllocateDescriptorSets(gpu_.device(), &allocate, &set_), "allocating a descriptor set");

  for (uint32_t i = 0; i < count; ++i) {
    const VkDescriptorImageInfo image{sampler_, images[i], VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set_;
    write.dstBinding = i;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    write.pImageInfo = &image;
    vkUpdateDescriptorSets(gpu_.device(), 1, &write, 0, nullptr);
  }
}

GraphicsPipeline::~GraphicsPipeline() {
  vkDestroyPipeline(gpu_.device(), pipeline_, nullptr);
  vkDestroyPipelineLayout(gpu_.device(), layout_, nullptr);
  vkDestroyDescriptorPool(gpu_.device(), pool_, nullptr);
  vkDestroyDescriptorSetLayout(gpu_.device(), setLayout_, nullptr);
  vkDestroySampler(gpu_.device(), sampler_, nullptr);
}

}  // namespace example
