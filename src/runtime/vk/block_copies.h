// Copies of an image whose elements are blocks of compressed texels, as images of such texels: no view of Vulkan's
// shows the image itself so. What is copied to the image goes to its copies as well (Commands::copyToImage). What
// kernels write does not, so that an image has either copies or surfaces.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/vk/status.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Image;

class BlockCopies {
 public:
  using Use = std::shared_ptr<const void>;

  explicit BlockCopies(Image& image) : image_(image) {}

  // Waits until the copy can be used. Unsupported while there are surfaces, of images that somebody else writes, and
  // where a level of blocks has another number of them than the image has elements.
  Status take(VkFormat format, std::shared_ptr<Image>& copy, Use& use);
  // For as long as kernels may write to the image. Null while a copy is in use.
  Use takeSurface();
  bool haveSurfaces() const { return !surfaces_.expired(); }
  std::vector<std::shared_ptr<Image>> inUse() const;

 private:
  struct Copy {
    VkFormat format;
    std::weak_ptr<Image> image;
    std::weak_ptr<const void> use;
  };
  Status make(VkFormat format, std::shared_ptr<Image>& out) const;
  Status fill(const std::shared_ptr<Image>& copy) const;

  Image& image_;
  std::mutex taking_;  // held while a copy is made
  std::weak_ptr<const void> surfaces_;
  mutable std::mutex mutex_;
  std::vector<Copy> copies_;
};

}  // namespace mulciber::vk
