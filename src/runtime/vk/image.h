// Images with memory of their own. They are in layout GENERAL from their creation on, so that kernels and copies use
// them in any order, and may be seen in every format of the same texel size.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/vk/block_copies.h"
#include "runtime/vk/external.h"
#include "runtime/vk/memory.h"
#include "runtime/vk/status.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Device;

struct ImageShape {
  VkImageType type = VK_IMAGE_TYPE_2D;
  VkFormat format = VK_FORMAT_UNDEFINED;
  uint32_t width = 1, height = 1, depth = 1;  // depth is 1 but for 3-D images
  uint32_t layers = 1, levels = 1;
  uint32_t elementBytes = 4, block = 1;  // of a texel, or of a block of block x block texels
  bool isCube = false;                   // layers may be taken as faces
  bool isStorage = true;                 // kernels may write it
  bool isAttachment = false;             // somebody else renders to it
};

class Image : public std::enable_shared_from_this<Image> {
 public:
  // Waits until the image can be used. Unsupported when the device has no image of that shape.
  static Status create(Device& device, const ImageShape& shape, std::shared_ptr<Image>& out);
  // An image over another process's memory. That process has an image of the same shape there, in layout GENERAL.
  static Status import(Device& device, const ImageShape& shape, const ExternalMemory& memory, uint64_t offset,
                       std::shared_ptr<Image>& out);
  // An image of somebody else's, who keeps it as long as this is used, and in layout GENERAL meanwhile.
  static std::shared_ptr<Image> wrap(Device& device, const ImageShape& shape, VkImage handle);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  // What a view shows. `usage`: sampled or storage, of what the view's format can do.
  struct ViewShape {
    VkImageViewType type;
    VkFormat format;
    VkImageUsageFlags usage;
    uint32_t baseLevel, levels, baseLayer, layers;
    bool operator==(const ViewShape&) const = default;
  };
  // Made at the first call and kept as long as the image.
  Status view(const ViewShape& shape, VkImageView& out);
  // Of the view of a level as numbers, in the device's Descriptors; given back when the image goes.
  Status storageNumber(uint32_t level, uint32_t& out);

  VkImage handle() const { return handle_; }
  const ImageShape& shape() const { return shape_; }
  Device& device() const { return device_; }
  bool isShared() const { return isForeign_ || imported_ != VK_NULL_HANDLE; }  // somebody else may write it
  BlockCopies& blockCopies() { return blockCopies_; }
  uint64_t alignment() const { return alignment_; }

 private:
  Image(Device& device, const ImageShape& shape) : device_(device), shape_(shape) {}
  Status createHandle(bool isExternal);
  Status bind(VkDeviceMemory memory, uint64_t offset);
  template <class Record>
  Status recordAndWait(Record&& record);
  void prepareCopies() const;

  Device& device_;
  const ImageShape shape_;
  VkImage handle_ = VK_NULL_HANDLE;
  bool isForeign_ = false;
  Memory memory_;
  VkDeviceMemory imported_ = VK_NULL_HANDLE;  // in place of memory_
  uint64_t alignment_ = 0;

  struct View {
    ViewShape shape;
    VkImageView handle;
  };
  std::mutex mutex_;
  std::vector<View> views_;
  std::vector<std::pair<uint32_t, uint32_t>> storageNumbers_;  // by level
  BlockCopies blockCopies_{*this};
};

// The format that shows a texel as one unsigned number, or as words of 32 bits.
VkFormat wordFormat(uint32_t texelBytes);

// A box of elements of one level: x, y and z count texels or blocks, z those of a 3-D image, else layers. Of the bytes
// of each row some at both ends may not be meant.
struct ImageBox {
  std::shared_ptr<Image> image;
  uint32_t level, x, y, z, width, height, depth;
  uint64_t skippedBytes, rowBytes;  // before those that are meant, and they

  uint64_t elementRowBytes() const { return uint64_t{width} * image->shape().elementBytes; }
  bool isWhole() const { return rowBytes == elementRowBytes(); }
  bool is3d() const { return image->shape().type == VK_IMAGE_TYPE_3D; }
};

}  // namespace mulciber::vk
