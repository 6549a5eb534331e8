#include "runtime/vk/builtins.h"

#include "shaders/copy1.h"
#include "shaders/copy16.h"
#include "shaders/copy4.h"
#include "shaders/copy8.h"
#include "shaders/decide.h"
#include "shaders/fill1.h"
#include "shaders/fill16.h"
#include "shaders/fill2.h"
#include "shaders/fill4.h"
#include "shaders/image_copy_lines.h"
#include "shaders/image_copy_planes.h"
#include "shaders/image_copy_volume.h"

namespace mulciber::vk {

Status Builtins::create(Device& device, std::unique_ptr<Builtins>& out) {
  auto builtins = std::make_unique<Builtins>();
  const struct {
    std::span<const uint32_t> spirv;
    std::unique_ptr<Pipeline>& pipeline;
  } all[] = {
      {copy16, builtins->copies_[0]}, {copy8, builtins->copies_[1]}, {copy4, builtins->copies_[2]},
      {copy1, builtins->copies_[3]},  {fill16, builtins->fills_[0]}, {fill4, builtins->fills_[1]},
      {fill2, builtins->fills_[2]},   {fill1, builtins->fills_[3]},  {::decide, builtins->decide_},
  };
  for (const auto& [spirv, pipeline] : all) {
    PipelineDescription description;
    description.spirv = spirv;
    std::vector<uint8_t> cache;
    TRY(Pipeline::create(device, description, cache, pipeline));
  }
  out = std::move(builtins);
  return Status::Ok;
}

Status Builtins::imageCopy(Device& device, VkImageType type, const Pipeline*& out) {
  static_assert(VK_IMAGE_TYPE_1D == 0 && VK_IMAGE_TYPE_3D == 2);
  const std::span<const uint32_t> shaders[] = {image_copy_lines, image_copy_planes, image_copy_volume};
  std::lock_guard lock(mutex_);
  std::unique_ptr<Pipeline>& pipeline = imageCopies_[type];
  if (!pipeline) {
    PipelineDescription description;
    description.spirv = shaders[type];
    description.usesTextures = true;
    std::vector<uint8_t> cache;
    TRY(Pipeline::create(device, description, cache, pipeline));
  }
  out = pipeline.get();
  return Status::Ok;
}

const Pipeline& Builtins::copy(uint32_t unitBytes) const {
  return *copies_[unitBytes == 16 ? 0 : unitBytes == 8 ? 1 : unitBytes == 4 ? 2 : 3];
}

const Pipeline& Builtins::fill(uint32_t unitBytes) const {
  return *fills_[unitBytes == 16 ? 0 : unitBytes == 4 ? 1 : unitBytes == 2 ? 2 : 3];
}

}  // namespace mulciber::vk
