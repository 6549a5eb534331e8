#include "common/picture.h"

#include <cmath>

#include "common/png.h"

namespace example {

namespace {

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
    : gpu_(gpu),
      width_(width),
      height_(height),
      samples_(samples),
      resolved_(gpu,
                {format, width, height,
                 VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_SAMPLED_BIT}),
      depth_(gpu, {depthFormat, width, height, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_IMAGE_ASPECT_DEPTH_BIT,
                   samples}),
      copy_(gpu.makeHostBuffer(VkDeviceSize{width} * height * 8, VK_BUFFER_USAGE_TRANSFER_DST_BIT)) {
  if (samples != VK_SAMPLE_COUNT_1_BIT)
    colour_.emplace(
        gpu, ImageInfo{format, width, height, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_IMAGE_ASPECT_COLOR_BIT, samples});
}

Picture::~Picture() { gpu_.destroy(copy_); }

void Picture::begin(VkCommandBuffer commands) const {
  constexpr VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
  for (const Image* image : {colour_ ? &*colour_ : nullptr, &resolved_, &depth_})
    if (image != nullptr) image->turn(commands, VK_IMAGE_LAYOUT_UNDEFINED, layout);
  VkRenderingAttachmentInfo colour{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  colour.imageView = resolved_.view();
  colour.imageLayout = layout;
  colour.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  colour.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  if (colour_) {
    colour.imageView = colour_->view();
    colour.resolveImageView = resolved_.view();
    colour.resolveImageLayout = layout;
    colour.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
    colour.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  }
  VkRenderingAttachmentInfo depth{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  depth.imageView = depth_.view();
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

void Picture::makeVisible(VkCommandBuffer commands) const {
  resolved_.turn(commands, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL);
}

void Picture::read(VkCommandBuffer commands) const {
  resolved_.turn(commands, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {width_, height_, 1};
  vkCmdCopyImageToBuffer(commands, resolved_.get(), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, copy_.buffer, 1, &region);
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

}  // namespace example
