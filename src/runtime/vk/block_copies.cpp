#include "runtime/vk/block_copies.h"

#include <algorithm>

#include "runtime/vk/commands.h"
#include "runtime/vk/device.h"
#include "runtime/vk/image.h"

namespace mulciber::vk {

namespace {
constexpr uint32_t block = 4;  // texels in either direction

uint32_t sizeAt(uint32_t size, uint32_t level) { return std::max(size >> level, 1u); }
uint32_t blocksAt(uint32_t elements, uint32_t level) { return (sizeAt(elements * block, level) + block - 1) / block; }
}  // namespace

Status BlockCopies::take(VkFormat format, std::shared_ptr<Image>& copy, Use& use) {
  std::lock_guard one(taking_);
  if (haveSurfaces()) return Status::Unsupported;
  {
    std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(copies_, format, &Copy::format);
    if (known != copies_.end()) {
      copy = known->image.lock();
      use = known->use.lock();
    }
  }
  if (copy && use) return Status::Ok;
  if (!copy) TRY(make(format, copy));
  use = std::make_shared<char>();
  {
    std::lock_guard lock(mutex_);
    std::erase_if(copies_, [&](const Copy& old) { return old.format == format; });
    copies_.push_back({format, copy, use});
  }
  return fill(copy);
}

BlockCopies::Use BlockCopies::takeSurface() {
  std::lock_guard one(taking_);
  if (!inUse().empty()) return nullptr;
  Use use = surfaces_.lock();
  if (!use) surfaces_ = use = std::make_shared<char>();
  return use;
}

std::vector<std::shared_ptr<Image>> BlockCopies::inUse() const {
  std::vector<std::shared_ptr<Image>> result;
  std::lock_guard lock(mutex_);
  for (const Copy& copy : copies_) {
    std::shared_ptr<Image> image = copy.image.lock();
    if (image && !copy.use.expired()) result.push_back(std::move(image));
  }
  return result;
}

Status BlockCopies::make(VkFormat format, std::shared_ptr<Image>& out) const {
  ImageShape shape = image_.shape();
  if (shape.type != VK_IMAGE_TYPE_2D || image_.isShared()) return Status::Unsupported;
  for (const uint32_t size : {shape.width, shape.height})
    for (uint32_t level = 0; level < shape.levels; ++level)
      if (size > UINT32_MAX / block || blocksAt(size, level) != sizeAt(size, level)) return Status::Unsupported;
  shape.format = format;
  shape.width *= block;
  shape.height *= block;
  shape.block = block;
  shape.isStorage = shape.isAttachment = false;
  return Image::create(image_.device(), shape, out);
}

Status BlockCopies::fill(const std::shared_ptr<Image>& copy) const {
  Device& device = image_.device();
  device.noteBlockCopy();
  // What was recorded before goes to the image alone.
  for (const auto& queue : device.queues()) TRY(queue->wait(queue->end().value, WaitMode::Auto));
  const ImageShape& shape = image_.shape();
  Queue& queue = device.idleQueue();
  Position position(queue);
  const Status status = queue.record(position, [&](Commands& commands) {
    for (uint32_t level = 0; level < shape.levels; ++level) {
      const uint32_t width = sizeAt(shape.width, level), height = sizeAt(shape.height, level);
      const ImageBox from{image_.shared_from_this(),           level, 0, 0, 0, width, height, shape.layers, 0,
                          uint64_t{width} * shape.elementBytes};
      ImageBox to = from;
      to.image = copy;
      TRY(commands.copyImage(to, from));
    }
    return Status::Ok;
  });
  return status == Status::Ok ? queue.wait(position.last.value, WaitMode::Auto) : status;
}

}  // namespace mulciber::vk
