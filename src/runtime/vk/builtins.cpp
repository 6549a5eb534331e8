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

const Pipeline& Builtins::copy(uint32_t unitBytes) const {
  return *copies_[unitBytes == 16 ? 0 : unitBytes == 8 ? 1 : unitBytes == 4 ? 2 : 3];
}

const Pipeline& Builtins::fill(uint32_t unitBytes) const {
  return *fills_[unitBytes == 16 ? 0 : unitBytes == 4 ? 1 : unitBytes == 2 ? 2 : 3];
}

}  // namespace mulciber::vk
