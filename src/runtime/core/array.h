// CUDA arrays: images that programs reach through textures, surfaces and copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/vk/image.h"

namespace mulciber::core {

class Array;
class Context;

struct ArrayFormat {
  uint32_t code, channels;  // CUarray_format and its NumChannels
  uint32_t kind, bits;      // cudaChannelFormatKind, and the bits of the first channel
  uint32_t bytes;           // of an element: a texel, or a compressed block
  uint32_t block;           // texels of a block in either direction: 1 or 4
  VkFormat element, normalized;

  bool isCompressed() const { return block != 1; }
  // Compressed ones that are there as sRGB too, as which they are the next kind.
  bool hasSrgb() const { return (kind >= 17 && kind <= 22) || kind == 29 || kind == 30; }
  bool isSrgb() const { return hasSrgb() && kind % 2 == 0; }
};

// Null when CUDA has no such format of arrays.
const ArrayFormat* findArrayFormat(uint32_t code, uint32_t channels);
// Of the images of that format: the one whose textures may give numbers as well as integers, where there are two.
const ArrayFormat* findArrayFormat(VkFormat format);
const ArrayFormat* findArrayFormatByKind(uint32_t kind, uint32_t bits, uint32_t channels);

enum ArrayFlag : uint32_t {  // as CUDA_ARRAY3D_* and cudaArray* number them
  ArrayLayered = 0x01,
  ArraySurfaceLoadStore = 0x02,
  ArrayCubemap = 0x04,
  ArrayTextureGather = 0x08,
  ArrayDepthTexture = 0x10,
  ArrayColorAttachment = 0x20,
  ArraySparse = 0x40,
  ArrayDeferredMapping = 0x80,
  ArrayVideo = 0x100,
};

// As the program says it: height 0 for one dimension, depth 0 for two; the depth of a layered array counts its layers,
// those of a cubemap its faces.
struct ArrayDescription {
  size_t width = 0, height = 0, depth = 0;
  const ArrayFormat* format = nullptr;
  uint32_t flags = 0;

  bool isLayered() const { return (flags & ArrayLayered) != 0; }
  bool isCube() const { return (flags & ArrayCubemap) != 0; }
  bool hasLayers() const { return (flags & (ArrayLayered | ArrayCubemap)) != 0; }
  int dimensions() const { return height == 0 ? 1 : depth == 0 || hasLayers() ? 2 : 3; }
  // In elements, at least 1 of each.
  size_t columns() const { return elements(width); }
  size_t rows() const { return elements(height); }
  size_t slices() const { return depth == 0 ? 1 : depth; }  // of either kind
  size_t rowBytes() const { return columns() * format->bytes; }

 private:
  size_t elements(size_t texels) const { return texels == 0 ? 1 : (texels + format->block - 1) / format->block; }
};

// One level of an image.
class Array {
 public:
  Array(Context& context, std::shared_ptr<vk::Image> image, uint32_t level, const ArrayDescription& description);

  const ArrayDescription& description() const { return description_; }  // of this level
  const ArrayFormat& format() const { return *description_.format; }
  const std::shared_ptr<vk::Image>& image() const { return image_; }
  uint32_t level() const { return level_; }
  bool isLevel() const { return isLevel_; }  // of a mipmapped array, with which it goes
  std::shared_ptr<Context> context() const { return context_.lock(); }
  int device() const { return device_; }

 private:
  friend class MipmappedArray;
  const std::shared_ptr<vk::Image> image_;
  const uint32_t level_;
  const ArrayDescription description_;
  const std::weak_ptr<Context> context_;
  const int device_;
  bool isLevel_ = false;
};

class MipmappedArray {
 public:
  MipmappedArray(Context& context, std::shared_ptr<vk::Image> image, const ArrayDescription& description);
  ~MipmappedArray();

  const ArrayDescription& description() const { return description_; }  // of level 0
  const std::shared_ptr<vk::Image>& image() const { return image_; }
  uint32_t levels() const { return image_->shape().levels; }
  std::shared_ptr<Context> context() const { return context_.lock(); }
  // A handle that lasts as long as this does. InvalidValue for a level that is not there.
  Error level(uint32_t level, Array*& out);

 private:
  const std::shared_ptr<vk::Image> image_;
  const ArrayDescription description_;
  const std::weak_ptr<Context> context_;
  std::mutex mutex_;
  std::vector<Array*> made_;  // by level
};

// InvalidValue for shapes that CUDA or the device does not have, NotSupported for sparse arrays and deferred mapping.
Error createArray(Context& context, const ArrayDescription& description, Array*& out);
Error createMipmappedArray(Context& context, const ArrayDescription& description, uint32_t levels,
                           MipmappedArray*& out);
// Over another process's memory, which holds an image of that shape. InvalidValue where the memory has no room for
// it.
Error importMipmappedArray(Context& context, const ArrayDescription& description, uint32_t levels,
                           const vk::ExternalMemory& memory, uint64_t offset, MipmappedArray*& out);
// Over an image of an engine's.
Error wrapMipmappedArray(Context& context, const ArrayDescription& description, uint32_t levels, VkImage image,
                         MipmappedArray*& out);
// Of any context. They wait until nothing uses the array any more. A level lives as long as its mipmapped array.
Error destroyArray(Array* array);
Error destroyMipmappedArray(MipmappedArray* array);

}  // namespace mulciber::core
