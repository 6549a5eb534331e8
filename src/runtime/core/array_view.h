// What shaders see of a CUDA array's image.
#pragma once

#include "mulciber/texture_abi.h"
#include "runtime/core/array.h"

namespace mulciber::core {

abi::ImageShape shapeOf(const ArrayDescription& array);
// The same without cubes, and arrayed where it can be: faces and layers are layers.
abi::ImageShape rawShapeOf(abi::ImageShape shape);
VkImageViewType viewType(abi::ImageShape shape);

// False, and a warning, where the driver gives kernels wrong channels of texels of this size.
bool readsTexels(const vk::Device& device, uint32_t bytes);

}  // namespace mulciber::core
