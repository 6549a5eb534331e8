// Texture objects: memory or an array, and how it is read.
#pragma once

#include <memory>

#include "runtime/core/array.h"
#include "runtime/core/texture_table.h"

namespace mulciber::core {

// What a program asks for; numbers are CUDA's.
struct TextureDescription {
  enum class Resource : uint8_t { Array = 0, Mipmapped = 1, Linear = 2, Pitched = 3 } resource = Resource::Array;
  bool isMemory() const { return resource == Resource::Linear || resource == Resource::Pitched; }
  std::shared_ptr<Array> array;
  std::shared_ptr<MipmappedArray> mipmapped;
  uint64_t address = 0;  // Linear, Pitched
  uint64_t bytes = 0;    // Linear
  uint64_t width = 0, height = 0, pitch = 0;
  const ArrayFormat* format = nullptr;

  uint32_t addressModes[3] = {};
  bool filtersLinear = false, filtersLevels = false;
  bool readsIntegers = false;  // of integer formats: else numbers from -1 or 0 to 1
  bool hasNormalizedCoordinates = false, isSrgb = false, isSeamless = false, isTrilinearPlain = false;
  uint32_t anisotropy = 0;
  float levelBias = 0, minLevel = 0, maxLevel = 0;
  float border[4] = {};

  bool hasView = false;
  struct View {
    uint32_t format = 0;  // CUresourceViewFormat; 0: as it is
    uint64_t width = 0, height = 0, depth = 0;
    uint32_t firstLevel = 0, lastLevel = 0, firstLayer = 0, lastLayer = 0;
  } view;
};

class TextureObject : public TableObject {
 public:
  TextureObject(Context& context, const TextureDescription& description)
      : context_(context), description_(description) {}
  ~TextureObject() override;

  // Finds the images and the sampler, and says what kernels are to know.
  Error describe(abi::TextureRecord& record);
  const TextureDescription& description() const { return description_; }
  void release() const { blocks_ = nullptr; }  // the program has destroyed it

 private:
  struct Texels {
    uint32_t bits = 0, channels = 0;
    abi::ChannelType type{};
    bool isNormalized = false;               // by itself
    VkFormat decoded = VK_FORMAT_UNDEFINED;  // of compressed and packed ones, of which the driver makes floats
    bool isOpaque = false;                   // they have no fourth channel
    const ArrayFormat* viewed = nullptr;     // compressed, as which an array of words is viewed
  };
  Error decodedBy(const ArrayFormat& format, Texels& out) const;
  int axes() const;
  Error texelsOf(Texels& out) const;
  Error takeBlocks(const ArrayFormat& format);
  Error describeTexels(abi::TextureRecord& record, Texels& texels);
  Error describeMemory(abi::TextureRecord& record, const Texels& texels);
  Error describePlane(abi::TextureRecord& record, const Texels& texels);
  Error describeImage(abi::TextureRecord& record, const Texels& texels);
  Error chooseSampler(abi::TextureRecord& record, const Texels& texels, vk::Image::ViewShape view);
  VkFormat sampledFormat(const abi::TextureRecord& record, const Texels& texels) const;
  static bool scaleCoordinates(abi::TextureRecord& record);
  Error number(const vk::Image::ViewShape& view, uint32_t& out);

  Context& context_;
  TextureDescription description_;
  std::shared_ptr<vk::Image> image_;  // null for memory that no sampler reaches
  std::vector<uint32_t> numbers_;     // of views
  mutable vk::BlockCopies::Use blocks_;
};

Error createTexture(Context& context, const TextureDescription& description, uint64_t& handle);
Error destroyTexture(Context& context, uint64_t handle);
Error findTexture(Context& context, uint64_t handle, std::shared_ptr<const TextureObject>& out);

}  // namespace mulciber::core
