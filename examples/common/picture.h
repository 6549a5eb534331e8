// The render target: half floats and a depth buffer, on some devices with several samples for each pixel. It can be
// saved as a PNG.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/image.h"

namespace example {

class Picture {
 public:
  static constexpr VkFormat format = VK_FORMAT_R16G16B16A16_SFLOAT, depthFormat = VK_FORMAT_D32_SFLOAT;

  Picture(const Gpu& gpu, uint32_t width, uint32_t height, VkSampleCountFlagBits samples);
  ~Picture();
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  VkSampleCountFlagBits samples() const { return samples_; }
  void begin(VkCommandBuffer commands) const;  // over black; from here on draw
  void end(VkCommandBuffer commands) const;
  VkImageView view() const { return resolved_.view(); }  // in layout GENERAL
  void makeVisible(VkCommandBuffer commands) const;      // to fragment shaders
  void read(VkCommandBuffer commands) const;             // once these have run, save() may be called
  // Light beyond 1 is rolled off, as a film would.
  void save(const std::string& path, float exposure) const;

 private:
  const Gpu& gpu_;
  const uint32_t width_, height_;
  const VkSampleCountFlagBits samples_;
  const Image resolved_, depth_;
  std::optional<Image> colour_;  // with several samples
  HostBuffer copy_;
};

}  // namespace example
