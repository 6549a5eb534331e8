#include "runtime/core/array_view.h"

#include "runtime/vk/device.h"
#include "util/log.h"

namespace mulciber::core {

using abi::ImageShape;

VkImageViewType viewType(ImageShape shape) {
  switch (shape) {
    case ImageShape::Line: return VK_IMAGE_VIEW_TYPE_1D;
    case ImageShape::Volume: return VK_IMAGE_VIEW_TYPE_3D;
    case ImageShape::Cube: return VK_IMAGE_VIEW_TYPE_CUBE;
    case ImageShape::Lines: return VK_IMAGE_VIEW_TYPE_1D_ARRAY;
    case ImageShape::Planes: return VK_IMAGE_VIEW_TYPE_2D_ARRAY;
    case ImageShape::Cubes: return VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
    default: return VK_IMAGE_VIEW_TYPE_2D;
  }
}

ImageShape shapeOf(const ArrayDescription& array) {
  if (array.isCube()) return array.isLayered() ? ImageShape::Cubes : ImageShape::Cube;
  switch (array.dimensions()) {
    case 1: return array.isLayered() ? ImageShape::Lines : ImageShape::Line;
    case 2: return array.isLayered() ? ImageShape::Planes : ImageShape::Plane;
    default: return ImageShape::Volume;
  }
}

ImageShape rawShapeOf(ImageShape shape) {
  if (shape == ImageShape::Volume) return shape;
  return shape == ImageShape::Line || shape == ImageShape::Lines ? ImageShape::Lines : ImageShape::Planes;
}

// lavapipe mixes up the channels of different lanes where its vectors have 32 lanes; with 8 and 16 they are right.
bool readsTexels(const vk::Device& device, uint32_t bytes) {
  if (bytes < 16 || !device.physical().isCpu() || device.profile().subgroupSize < 32) return true;
  util::log().warn(
      "the CPU driver with 32 lanes reads wrong texels of 16 bytes: no textures or surfaces of such arrays");
  return false;
}

}  // namespace mulciber::core
