// Copies between images and memory. The copy engine wants memory at multiples of the texel size, in rows that are such
// multiples too; what lies otherwise passes through memory without gaps.
#include <algorithm>

#include "runtime/vk/builtins.h"
#include "runtime/vk/commands.h"
#include "runtime/vk/device.h"
#include "runtime/vk/image.h"

namespace mulciber::vk {

namespace {

VkImageSubresourceLayers layersOf(const ImageBox& box) {
  return {VK_IMAGE_ASPECT_COLOR_BIT, box.level, box.is3d() ? 0 : box.z, box.is3d() ? 1 : box.depth};
}

VkOffset3D offsetOf(const ImageBox& box) {
  const uint32_t block = box.image->shape().block;
  return {static_cast<int32_t>(box.x * block), static_cast<int32_t>(box.y * block),
          box.is3d() ? static_cast<int32_t>(box.z) : 0};
}

// In texels. The last blocks of a level may reach beyond it.
VkExtent3D extentOf(const ImageBox& box) {
  const ImageShape& shape = box.image->shape();
  const auto within = [&](uint32_t first, uint32_t count, uint32_t size) {
    return std::min(count * shape.block, std::max(size >> box.level, 1u) - first * shape.block);
  };
  return {within(box.x, box.width, shape.width), within(box.y, box.height, shape.height), box.is3d() ? box.depth : 1};
}

MemoryBox withoutGaps(const Memory& memory, const ImageBox& image) {
  return {memory, memory.address, image.rowBytes, image.rowBytes * image.height};
}

// False when the copy engine cannot read or write the memory as it lies.
bool regionOf(const MemoryBox& memory, const ImageBox& image, VkBufferImageCopy& out) {
  if (!memory.memory.chunk) return false;
  const ImageShape& shape = image.image->shape();
  const uint64_t slice = image.depth > 1 ? memory.slice : image.height * memory.pitch;
  const uint64_t pitch = image.height > 1 ? memory.pitch : image.depth > 1 ? slice : image.rowBytes;
  const uint64_t rows = image.height > 1 ? slice / pitch : 1;
  out.bufferOffset = memory.memory.offset + (memory.address - memory.memory.address);
  const bool fits = out.bufferOffset % shape.elementBytes == 0 && pitch % shape.elementBytes == 0 &&
                    pitch >= image.rowBytes && pitch <= INT32_MAX && rows >= image.height && rows <= INT32_MAX &&
                    (image.depth == 1 || slice == rows * pitch);
  if (!fits) return false;
  out.bufferRowLength = static_cast<uint32_t>(pitch / shape.elementBytes * shape.block);
  out.bufferImageHeight = static_cast<uint32_t>(rows * shape.block);
  out.imageSubresource = layersOf(image);
  out.imageOffset = offsetOf(image);
  out.imageExtent = extentOf(image);
  return true;
}

CopyRegion regionOf(const MemoryBox& destination, const MemoryBox& source, const ImageBox& image) {
  return {destination.address, source.address, image.rowBytes,    image.height, image.depth,
          destination.pitch,   source.pitch,   destination.slice, source.slice};
}

// With all bytes of its elements.
ImageBox wholeOf(const ImageBox& box) {
  ImageBox whole = box;
  whole.skippedBytes = 0;
  whole.rowBytes = box.elementRowBytes();
  return whole;
}

bool canCopyDirectly(const ImageBox& destination, const ImageBox& source) {
  if (!destination.isWhole() || !source.isWhole()) return false;
  const ImageShape &to = destination.image->shape(), &from = source.image->shape();
  return destination.image != source.image && to.type == from.type && to.block == from.block;
}

// Of device memory. What crosses the bus is as fast by the copy engine.
bool isFasterByKernel(const Device& device, const MemoryBox& memory) {
  const bool crossesBus = memory.memory.host && !device.physical().isCpu();
  return device.workarounds().has(Workaround::SlowImageCopies) && !crossesBus;
}

}  // namespace

// Otherwise the first copy, which a program may time, would wait for the driver's compiler. If it fails here, it fails
// there too.
void Image::prepareCopies() const {
  const Pipeline* pipeline = nullptr;
  if (device_.workarounds().has(Workaround::SlowImageCopies) && device_.profile().surfaces && shape_.isStorage)
    (void)device_.builtins().imageCopy(device_, shape_.type, pipeline);
}

Status Commands::copyByKernel(const ImageBox& image, const MemoryBox& memory, bool toImage) {
  const ImageShape& shape = image.image->shape();
  const uint64_t bits = memory.address | (image.height > 1 ? memory.pitch : 0) | (image.depth > 1 ? memory.slice : 0);
  if (!device_.profile().surfaces || !shape.isStorage || shape.block != 1 || !image.isWhole() ||
      bits % shape.elementBytes != 0)
    return Status::Unsupported;
  // Lavapipe with 32 lanes takes words of other texels for those of 16 bytes.
  if (!toImage && shape.elementBytes == 16 && device_.physical().driver() == Driver::Lavapipe)
    return Status::Unsupported;
  struct {
    uint64_t address, pitch, slice;
    uint32_t image, texelBytes, firstX, firstY, firstZ, width, height, toImage;
  } push = {memory.address, memory.pitch, memory.slice,     0, shape.elementBytes, image.x, image.y, image.z,
            image.width,    image.height, toImage ? 1u : 0u};
  TRY(image.image->storageNumber(image.level, push.image));
  const Pipeline* pipeline = nullptr;
  TRY(device_.builtins().imageCopy(device_, shape.type, pipeline));
  keep(image.image);
  const auto groups = [](uint32_t size, uint32_t ofGroup) { return (size + ofGroup - 1) / ofGroup; };
  dispatch(*pipeline, &push, sizeof(push),
           {groups(image.width, imageCopyColumns), groups(image.height, imageCopyRows), image.depth});
  return Status::Ok;
}

Status Commands::packedCopyOf(const ImageBox& whole, MemoryBox& out) {
  Memory memory;
  TRY(temporary(whole.rowBytes * whole.height * whole.depth, memory));
  out = withoutGaps(memory, whole);
  return copyFromImage(out, whole);
}

Status Commands::copyToImage(const ImageBox& destination, const MemoryBox& source) {
  TRY(writeImage(destination, source));
  return copyToBlocks(destination);
}

// To the copies that show the elements as compressed blocks.
Status Commands::copyToBlocks(const ImageBox& changed) {
  for (std::shared_ptr<Image>& copy : changed.image->blockCopies().inUse()) {
    const ImageBox from = wholeOf(changed);
    ImageBox to = from;
    to.image = std::move(copy);
    barrier();
    TRY(copyImage(to, from));
  }
  return Status::Ok;
}

Status Commands::writeImage(const ImageBox& destination, const MemoryBox& source) {
  keep(destination.image);
  VkBufferImageCopy region{};
  if (!destination.isWhole()) {  // the rest of the elements stays
    const ImageBox whole = wholeOf(destination);
    MemoryBox packed;
    TRY(packedCopyOf(whole, packed));
    barrier();
    MemoryBox part = packed;
    part.address += destination.skippedBytes;
    copy(regionOf(part, source, destination));
    barrier();
    return writeImage(whole, packed);
  }
  if (isFasterByKernel(device_, source) && copyByKernel(destination, source, true) == Status::Ok) return Status::Ok;
  if (regionOf(source, destination, region)) {
    device_.api().vkCmdCopyBufferToImage(beginTransfer(), Allocator::buffer(source.memory), destination.image->handle(),
                                         VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    return Status::Ok;
  }
  Memory memory;
  TRY(temporary(destination.rowBytes * destination.height * destination.depth, memory));
  const MemoryBox packed = withoutGaps(memory, destination);
  copy(regionOf(packed, source, destination));
  barrier();
  return writeImage(destination, packed);
}

Status Commands::copyFromImage(const MemoryBox& destination, const ImageBox& source) {
  keep(source.image);
  if (isFasterByKernel(device_, destination) && copyByKernel(source, destination, false) == Status::Ok)
    return Status::Ok;
  VkBufferImageCopy region{};
  if (source.isWhole() && regionOf(destination, source, region)) {
    device_.api().vkCmdCopyImageToBuffer(beginTransfer(), source.image->handle(), VK_IMAGE_LAYOUT_GENERAL,
                                         Allocator::buffer(destination.memory), 1, &region);
    return Status::Ok;
  }
  MemoryBox packed;
  TRY(packedCopyOf(wholeOf(source), packed));
  packed.address += source.skippedBytes;
  barrier();
  copy(regionOf(destination, packed, source));
  return Status::Ok;
}

Status Commands::copyImage(const ImageBox& destination, const ImageBox& source) {
  if (!canCopyDirectly(destination, source)) {
    MemoryBox packed;
    TRY(packedCopyOf(wholeOf(source), packed));
    packed.address += source.skippedBytes;
    barrier();
    return copyToImage(destination, packed);
  }
  keep(destination.image);
  keep(source.image);
  VkImageCopy region{};
  region.srcSubresource = layersOf(source);
  region.srcOffset = offsetOf(source);
  region.dstSubresource = layersOf(destination);
  region.dstOffset = offsetOf(destination);
  region.extent = extentOf(source);
  device_.api().vkCmdCopyImage(beginTransfer(), source.image->handle(), VK_IMAGE_LAYOUT_GENERAL,
                               destination.image->handle(), VK_IMAGE_LAYOUT_GENERAL, 1, &region);
  return copyToBlocks(destination);
}

}  // namespace mulciber::vk
