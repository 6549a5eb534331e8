#include "common/picture.h"

#include <cmath>

#include "common/png.h"

namespace example {

namespace {

constexpr VkImageSubresourceRange allOf(VkImageAspectFlags aspect) { return {aspect, 0, 1, 0, 1}; }

// What an image held before is dropped where `from` is undefined.
void turn(VkCommandBuffer commands, VkImage image, VkImageAspectFlags aspect, VkImageLayout from, VkImageLayout to) {
  VkImageMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2};
  barrier.srcStageMask = barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  barrier.srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
  barrier.oldLayout = from;
  barrier.newLayout = to;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = allOf(aspect);
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.imageMemoryBarrierCount = 1;
  dependency.pImageMemoryBarriers = &barrier;
  vkCmdPipelineBarrier2(commands, &dependency);
}

float fromHalf(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const float fraction = static_cast<float>(bits & 1023) / 1024;
  const float size = exponent == 0    ? std::ldexp(fraction, -14)
                     : exponent == 31 ? 65504.0f
                                      : std::ldexp(1 + fraction, exponent - 15);
  return (bits & 0x8000) != 0 ? 0 : size;  // there is no light below zero
}

}  // namespace

Picture::Picture(const Gpu& gpu, uint32_t width, uint32_t height, VkSampleCountFlagBits samples)
    : gpu_(gpu), width_(width), height_(height), samples_(samples) {
  constexpr VkImageUsageFlags target = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  resolved_ = make(format, VK_SAMPLE_COUNT_1_BIT, target | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, VK_IMAGE_ASPECT_COLOR_BIT);
  if (samples != VK_SAMPLE_COUNT_1_BIT) colour_ = make(format, samples, target, VK_IMAGE_ASPECT_COLOR_BIT);
  depth_ = make(depthFormat, samples, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_IMAGE_ASPECT_DEPTH_BIT);
  copy_ = gpu.makeHostBuffer(VkDeviceSize{width} * height * 8, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
}

Picture::~Picture() {
  for (const Image& image : {colour_, resolved_, depth_}) destroy(image);
  gpu_.destroy(copy_);
}

Picture::Image Picture::make(VkFormat made, VkSampleCountFlagBits samples, VkImageUsageFlags usage,
                             VkImageAspectFlags aspect) const {
  Image out;
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = made;
  info.extent = {width_, height_, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = samples;
  info.usage = usage;
  check(vkCreateImage(gpu_.device(), &info, nullptr, &out.image), "making an image");
  VkMemoryRequirements needs;
  vkGetImageMemoryRequirements(gpu_.device(), out.image, &needs);
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = gpu_.memoryType(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  check(vkAllocateMemory(gpu_.device(), &allocate, nullptr, &out.memory), "allocating memory");
  check(vkBindImageMemory(gpu_.device(), out.image, out.memory, 0), "binding memory");
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = out.image;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = made;
  view.subresourceRange = allOf(aspect);
  check(vkCreateImageView(gpu_.device(), &view, nullptr, &out.view), "making a view");
  return out;
}

void Picture::destroy(const Image& image) const {
  vkDestroyImageView(gpu_.device(), image.view, nullptr);
  vkDestroyImage(gpu_.device(), image.image, nullptr);
  vkFreeMemory(gpu_.device(), image.memory, nullptr);
}

void Picture::begin(VkCommandBuffer commands) const {
  constexpr VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
  for (const VkImage image : {colour_.image, resolved_.image})
    if (image != VK_NULL_HANDLE) turn(commands, image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED, layout);
  turn(commands, depth_.image, VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_LAYOUT_UNDEFINED, layout);
  VkRenderingAttachmentInfo colour{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  colour.imageView = resolved_.view;
  colour.imageLayout = layout;
  colour.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  colour.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  if (colour_.image != VK_NULL_HANDLE) {
    colour.imageView = colour_.view;
    colour.resolveImageView = resolved_.view;
    colour.resolveImageLayout = layout;
    colour.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
    colour.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  }
  VkRenderingAttachmentInfo depth{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  depth.imageView = depth_.view;
  depth.imageLayout = layout;
  depth.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  depth.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  depth.clearValue.depthStencil.depth = 1;
  VkRenderingInfo rendering{VK_STRUCTURE_TYPE_RENDERING_INFO};
  rendering.renderArea.extent = {width_, height_};
  rendering.layerCount = 1;
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachments = &colour;
  rendering.pDepthAttachment = &depth;
  vkCmdBeginRendering(commands, &rendering);
  const VkViewport viewport{0, 0, static_cast<float>(width_), static_cast<float>(height_), 0, 1};
  vkCmdSetViewport(commands, 0, 1, &viewport);
  vkCmdSetScissor(commands, 0, 1, &rendering.renderArea);
}

void Picture::end(VkCommandBuffer commands) const { vkCmdEndRendering(commands); }

void Picture::read(VkCommandBuffer commands) const {
  turn(commands, resolved_.image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_GENERAL,
       VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {width_, height_, 1};
  vkCmdCopyImageToBuffer(commands, resolved_.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, copy_.buffer, 1, &region);
  VkMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  barrier.srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
  barrier.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
  barrier.dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT;
  barrier.dstAccessMask = VK_ACCESS_2_HOST_READ_BIT;
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  vkCmdPipelineBarrier2(commands, &dependency);
}

void Picture::save(const std::string& path, float exposure) const {
  const auto* const halves = static_cast<const uint16_t*>(copy_.host);
  std::vector<uint8_t> rgb(size_t{width_} * height_ * 3);
  for (size_t pixel = 0; pixel < rgb.size() / 3; ++pixel)
    for (size_t channel = 0; channel < 3; ++channel) {
      const float light = 1 - std::exp(-exposure * fromHalf(halves[pixel * 4 + channel]));
      rgb[pixel * 3 + channel] = static_cast<uint8_t>(std::pow(light, 1 / 2.2f) * 255 + 0.5f);
    }
  writePng(path, width_, height_, rgb);
}

GraphicsPipeline::GraphicsPipeline(const Gpu& gpu, const Picture& picture, const PipelineInfo& info) : gpu_(gpu) {
  constexpr VkShaderStageFlags both = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
  const VkPushConstantRange range{both, 0, info.constantBytes};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
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
  samples.rasterizationSamples = picture.samples();
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
  rendering.pColorAttachmentFormats = &Picture::format;
  rendering.depthAttachmentFormat = Picture::depthFormat;
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

GraphicsPipeline::~GraphicsPipeline() {
  vkDestroyPipeline(gpu_.device(), pipeline_, nullptr);
  vkDestroyPipelineLayout(gpu_.device(), layout_, nullptr);
}

}  // namespace example
