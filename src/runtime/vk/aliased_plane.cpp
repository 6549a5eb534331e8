#include "runtime/vk/aliased_plane.h"

#include <algorithm>

#include "runtime/vk/commands.h"
#include "runtime/vk/memory_chunks.h"
#include "runtime/vk/queue.h"

namespace mulciber::vk {

namespace {

constexpr size_t mostPlanes = 256;      // of a chunk, beyond which those go that nobody holds
constexpr uint64_t linearModifier = 0;  // DRM_FORMAT_MOD_LINEAR

bool areEqual(const ImageShape& a, const ImageShape& b) {
  return a.format == b.format && a.width == b.width && a.height == b.height;
}

// How an image that is to lie over memory is made.
struct Creation {
  VkImageCreateInfo info{};
  VkImageDrmFormatModifierExplicitCreateInfoEXT modifier{};
  VkSubresourceLayout row{};
  bool hasPitch = false;  // of its own, and not the driver's

  explicit Creation(const ImageShape& shape) {
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = shape.format;
    info.extent = {shape.width, shape.height, 1};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.tiling = VK_IMAGE_TILING_LINEAR;
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    info.initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED;  // it has contents
  }
  // Drivers name few formats for this.
  Creation(const ImageShape& shape, uint64_t rowBytes) : Creation(shape) {
    hasPitch = true;
    row.rowPitch = rowBytes;
    modifier.sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT;
    modifier.drmFormatModifier = linearModifier;
    modifier.drmFormatModifierPlaneCount = 1;
    modifier.pPlaneLayouts = &row;
    info.pNext = &modifier;
    info.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
  }
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;

  bool isSupported(const PhysicalDevice& physical) const {
    VkPhysicalDeviceImageDrmFormatModifierInfoEXT linear{};
    linear.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT;
    linear.drmFormatModifier = linearModifier;
    VkPhysicalDeviceImageFormatInfo2 wanted{};
    wanted.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2;
    if (hasPitch) wanted.pNext = &linear;
    wanted.format = info.format;
    wanted.type = info.imageType;
    wanted.tiling = info.tiling;
    wanted.usage = info.usage;
    VkImageFormatProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2;
    const VkExtent3D& most = properties.imageFormatProperties.maxExtent;
    return physical.functions.vkGetPhysicalDeviceImageFormatProperties2(physical.handle, &wanted, &properties) ==
               VK_SUCCESS &&
           info.extent.width <= most.width && info.extent.height <= most.height;
  }
};

// Kernels of any queue may use the image next.
Status makeGeneral(Device& device, VkImage image) {
  Queue& queue = device.idleQueue();
  Position position(queue);
  TRY(queue.record(position, [&](Commands& commands) {
    VkImageMemoryBarrier2 barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
    barrier.srcStageMask = barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    barrier.srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT;
    barrier.oldLayout = VK_IMAGE_LAYOUT_PREINITIALIZED;
    barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkDependencyInfo dependency{};
    dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    dependency.imageMemoryBarrierCount = 1;
    dependency.pImageMemoryBarriers = &barrier;
    device.api().vkCmdPipelineBarrier2(commands.handle(), &dependency);
    commands.mark();
    return Status::Ok;
  }));
  return queue.wait(position.last.value, WaitMode::Auto);
}

Status bind(Device& device, VkImage image, bool hasPitch, const Memory& memory, uint64_t rowBytes) {
  const VolkDeviceTable& api = device.api();
  const VkImageSubresource plane{hasPitch ? VK_IMAGE_ASPECT_MEMORY_PLANE_0_BIT_EXT : VK_IMAGE_ASPECT_COLOR_BIT, 0, 0};
  VkSubresourceLayout layout{};
  api.vkGetImageSubresourceLayout(device.handle(), image, &plane, &layout);
  VkMemoryRequirements needed{};
  api.vkGetImageMemoryRequirements(device.handle(), image, &needed);
  const Chunk& chunk = *memory.chunk;
  const bool fits = layout.offset == 0 && layout.rowPitch == rowBytes && memory.offset % needed.alignment == 0 &&
                    (needed.memoryTypeBits >> chunk.type & 1) != 0 && needed.size <= chunk.size - memory.offset;
  if (!fits) return Status::Unsupported;
  TRY(device.status(api.vkBindImageMemory(device.handle(), image, chunk.memory, memory.offset),
                    "binding an image to a buffer's memory"));
  return makeGeneral(device, image);
}

// An image that is destroyed with the last reference to it.
std::shared_ptr<Image> holderOf(Device& device, const ImageShape& shape, VkImage handle) {
  std::shared_ptr<Image> wrapped = Image::wrap(device, shape, handle);
  Image* const image = wrapped.get();
  return {image, [wrapped = std::move(wrapped), &device, handle](Image*) mutable {
            wrapped.reset();  // and its views
            if (!device.isStuck()) device.api().vkDestroyImage(device.handle(), handle, device.callbacks());
          }};
}

Status create(Device& device, const Creation& creation, const Memory& memory, const ImageShape& shape,
              uint64_t rowBytes, std::shared_ptr<Image>& out) {
  if (!creation.isSupported(device.physical())) return Status::Unsupported;
  VkImage handle = VK_NULL_HANDLE;
  TRY(device.status(device.api().vkCreateImage(device.handle(), &creation.info, device.callbacks(), &handle),
                    "creating an image over a buffer's memory"));
  std::shared_ptr<Image> image = holderOf(device, shape, handle);
  TRY(bind(device, handle, creation.hasPitch, memory, rowBytes));
  out = std::move(image);
  return Status::Ok;
}

}  // namespace

Status planeOver(Device& device, const Memory& memory, const ImageShape& shape, uint64_t rowBytes,
                 std::shared_ptr<Image>& out) {
  Chunk* const chunk = memory.chunk;
  // Planes go with their chunk, while the allocator is locked: not where images wait for a time without work.
  if (device.workarounds().has(Workaround::ImagesBetweenKernels)) return Status::Unsupported;
  if (!chunk || chunk->isImported || chunk->memory == VK_NULL_HANDLE) return Status::Unsupported;
  std::vector<Planes::One>& planes = chunk->planes->all;
  {
    std::lock_guard lock(chunk->planes->mutex);
    for (const Planes::One& known : planes)
      if (known.offset == memory.offset && known.rowBytes == rowBytes && areEqual(known.image->shape(), shape)) {
        out = known.image;
        return Status::Ok;
      }
  }
  std::shared_ptr<Image> image;
  Status status = create(device, Creation(shape), memory, shape, rowBytes, image);
  if (status == Status::Unsupported && device.physical().has("VK_EXT_image_drm_format_modifier"))
    status = create(device, Creation(shape, rowBytes), memory, shape, rowBytes, image);
  if (status != Status::Ok) return status;
  std::lock_guard lock(chunk->planes->mutex);
  if (planes.size() >= mostPlanes)
    std::erase_if(planes, [](const Planes::One& plane) { return plane.image.use_count() == 1; });
  planes.push_back({memory.offset, rowBytes, image});
  out = std::move(image);
  return Status::Ok;
}

}  // namespace mulciber::vk
