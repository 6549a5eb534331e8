// The pipelines of the built-in shaders that copy and fill memory, and that decide what runs.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "runtime/vk/pipeline.h"

namespace mulciber::vk {

class Builtins {
 public:
  static Status create(Device& device, std::unique_ptr<Builtins>& out);

  // For units of that many bytes: 16, 8, 4 or 1.
  const Pipeline& copy(uint32_t unitBytes) const;
  // 16, 4, 2 or 1.
  const Pipeline& fill(uint32_t unitBytes) const;
  const Pipeline& decide() const { return *decide_; }
  // Between memory and images of one dimension, two or three, made at first use.
  Status imageCopy(Device& device, VkImageType type, const Pipeline*& out);

 private:
  std::array<std::unique_ptr<Pipeline>, 4> copies_;
  std::array<std::unique_ptr<Pipeline>, 4> fills_;
  std::unique_ptr<Pipeline> decide_;
  std::mutex mutex_;
  std::array<std::unique_ptr<Pipeline>, 3> imageCopies_;  // by VkImageType
};

// What a workgroup of each does.
inline constexpr uint32_t copyUnitsPerGroup = 1024, fillUnitsPerGroup = 256;
inline constexpr uint32_t imageCopyColumns = 32, imageCopyRows = 8;

}  // namespace mulciber::vk
