#include "engine/renderer.h"

#include "engine/draw_frag.h"
#include "engine/draw_vert.h"

namespace mulciber::test {

namespace {

constexpr VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
constexpr VkImageSubresourceRange whole{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

}  // namespace

Renderer::Renderer(Engine& engine)
    : engine_(engine), copy_(engine.makeBuffer(width * height * sizeof(Pixel), VK_BUFFER_USAGE_TRANSFER_DST_BIT)) {
  makeImage();
  makePipeline();
}

Renderer::~Renderer() {
  const VolkDeviceTable& api = engine_.api;
  api.vkDestroyPipeline(engine_.device, pipeline_, nullptr);
  api.vkDestroyPipelineLayout(engine_.device, layout_, nullptr);
  api.vkDestroyImageView(engine_.device, view_, nullptr);
  api.vkDestroyImage(engine_.device, image_, nullptr);
  api.vkFreeMemory(engine_.device, memory_, nullptr);
  engine_.destroy(copy_);
}

void Renderer::makeImage() {
  const VolkDeviceTable& api = engine_.api;
  VkImageCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = format;
  info.extent = {width, height, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  ASSERT_EQ(api.vkCreateImage(engine_.device, &info, nullptr, &image_), VK_SUCCESS);
  VkMemoryRequirements requirements{};
  api.vkGetImageMemoryRequirements(engine_.device, image_, &requirements);
  VkMemoryAllocateInfo memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  memory.allocationSize = requirements.size;
  memory.memoryTypeIndex = engine_.memoryType(requirements.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  ASSERT_EQ(api.vkAllocateMemory(engine_.device, &memory, nullptr, &memory_), VK_SUCCESS);
  ASSERT_EQ(api.vkBindImageMemory(engine_.device, image_, memory_, 0), VK_SUCCESS);
  VkImageViewCreateInfo view{};
  view.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
  view.image = image_;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = format;
  view.subresourceRange = whole;
  ASSERT_EQ(api.vkCreateImageView(engine_.device, &view, nullptr, &view_), VK_SUCCESS);
}

void Renderer::makePipeline() {
  const VolkDeviceTable& api = engine_.api;
  VkPipelineLayoutCreateInfo layout{};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  ASSERT_EQ(api.vkCreatePipelineLayout(engine_.device, &layout, nullptr, &layout_), VK_SUCCESS);
  VkShaderModule modules[2] = {};
  VkPipelineShaderStageCreateInfo stages[2] = {};
  const auto addStage = [&](int index, VkShaderStageFlagBits stage, const uint32_t* code, size_t bytes) {
    VkShaderModuleCreateInfo module{};
    module.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module.codeSize = bytes;
    module.pCode = code;
    EXPECT_EQ(api.vkCreateShaderModule(engine_.device, &module, nullptr, &modules[index]), VK_SUCCESS);
    stages[index].sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    stages[index].stage = stage;
    stages[index].module = modules[index];
    stages[index].pName = "main";
  };
  addStage(0, VK_SHADER_STAGE_VERTEX_BIT, draw_vert, sizeof(draw_vert));
  addStage(1, VK_SHADER_STAGE_FRAGMENT_BIT, draw_frag, sizeof(draw_frag));

  const VkVertexInputBindingDescription binding{0, 32, VK_VERTEX_INPUT_RATE_VERTEX};
  const VkVertexInputAttributeDescription attributes[] = {{0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0},
                                                          {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 16}};
  VkPipelineVertexInputStateCreateInfo vertices{};
  vertices.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
  vertices.vertexBindingDescriptionCount = 1;
  vertices.pVertexBindingDescriptions = &binding;
  vertices.vertexAttributeDescriptionCount = 2;
  vertices.pVertexAttributeDescriptions = attributes;
  VkPipelineInputAssemblyStateCreateInfo assembly{};
  assembly.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
  assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  const VkViewport viewport{0, 0, width, height, 0, 1};
  const VkRect2D scissor{{0, 0}, {width, height}};
  VkPipelineViewportStateCreateInfo view{};
  view.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO;
  view.viewportCount = view.scissorCount = 1;
  view.pViewports = &viewport;
  view.pScissors = &scissor;
  VkPipelineRasterizationStateCreateInfo raster{};
  raster.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO;
  raster.lineWidth = 1;
  VkPipelineMultisampleStateCreateInfo samples{};
  samples.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO;
  samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  VkPipelineColorBlendAttachmentState attachment{};
  attachment.colorWriteMask = 15;
  VkPipelineColorBlendStateCreateInfo blend{};
  blend.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO;
  blend.attachmentCount = 1;
  blend.pAttachments = &attachment;
  VkPipelineRenderingCreateInfo rendering{};
  rendering.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO;
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachmentFormats = &format;
  VkGraphicsPipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
  info.pNext = &rendering;
  info.stageCount = 2;
  info.pStages = stages;
  info.pVertexInputState = &vertices;
  info.pInputAssemblyState = &assembly;
  info.pViewportState = &view;
  info.pRasterizationState = &raster;
  info.pMultisampleState = &samples;
  info.pColorBlendState = &blend;
  info.layout = layout_;
  EXPECT_EQ(api.vkCreateGraphicsPipelines(engine_.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_), VK_SUCCESS);
  for (const VkShaderModule module : modules) api.vkDestroyShaderModule(engine_.device, module, nullptr);
}

void Renderer::turn(VkCommandBuffer commands, VkImageLayout from, VkImageLayout to) {
  const bool isFirst = from == VK_IMAGE_LAYOUT_UNDEFINED;
  VkImageMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
  barrier.srcStageMask = isFirst ? VK_PIPELINE_STAGE_2_COPY_BIT : VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT;
  barrier.srcAccessMask = isFirst ? VK_ACCESS_2_NONE : VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT;
  barrier.dstStageMask = isFirst ? VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT : VK_PIPELINE_STAGE_2_COPY_BIT;
  barrier.dstAccessMask = isFirst ? VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT : VK_ACCESS_2_TRANSFER_READ_BIT;
  barrier.oldLayout = from;
  barrier.newLayout = to;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image_;
  barrier.subresourceRange = whole;
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.imageMemoryBarrierCount = 1;
  dependency.pImageMemoryBarriers = &barrier;
  engine_.api.vkCmdPipelineBarrier2(commands, &dependency);
}

void Renderer::draw(VkCommandBuffer commands, const MulciberBufferRange& vertices) {
  const VolkDeviceTable& api = engine_.api;
  turn(commands, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
  VkRenderingAttachmentInfo colour{};
  colour.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO;
  colour.imageView = view_;
  colour.imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  colour.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  colour.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  VkRenderingInfo rendering{};
  rendering.sType = VK_STRUCTURE_TYPE_RENDERING_INFO;
  rendering.renderArea.extent = {width, height};
  rendering.layerCount = 1;
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachments = &colour;
  api.vkCmdBeginRendering(commands, &rendering);
  api.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_);
  api.vkCmdBindVertexBuffers(commands, 0, 1, &vertices.buffer, &vertices.offset);
  api.vkCmdDraw(commands, 6, 1, 0, 0);
  api.vkCmdEndRendering(commands);
  turn(commands, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {width, height, 1};
  api.vkCmdCopyImageToBuffer(commands, image_, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, copy_.handle, 1, &region);
  engine_.barrier(commands, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
                  VK_ACCESS_2_HOST_READ_BIT);
}

}  // namespace mulciber::test
