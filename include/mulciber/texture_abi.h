// What a kernel finds behind the handle of a texture or surface object. The records of all objects stand in one table
// in device memory; images and samplers stand in arrays of descriptors, by the numbers that the records hold.
// Everything here is plain data, identical on host and device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mulciber::abi {

// The arrays of descriptors. Images are bound under the type that a record's `shape` or `rawShape` says, so that the
// shader declares one binding several times, once for each type that it uses.
inline constexpr uint32_t textureSet = 1;
inline constexpr uint32_t sampledImageBinding = 0, samplerBinding = 1, storageImageBinding = 2;

// A handle is generation << 32 | number of the record. Record 0 is no object's: handles that are not the table's are
// read as that one.
constexpr uint64_t textureHandle(uint32_t record, uint32_t generation) { return uint64_t(generation) << 32 | record; }

enum class TextureKind : uint32_t {
  None = 0,     // reads give zeros
  Image = 1,    // a CUDA array
  Linear = 2,   // a row of texels in device memory
  Pitched = 3,  // rows of texels in device memory
  Surface = 4,  // a CUDA array that is read and written by bytes
};

// The type of an image as a shader declares it. `rawImage` is arrayed where it can be, and its texels are unsigned.
enum class ImageShape : uint32_t {
  Line = 0,
  Plane = 1,
  Volume = 2,
  Cube = 3,
  Lines = 4,  // layered
  Planes = 5,
  Cubes = 6,
};

enum class ChannelType : uint32_t { Unsigned = 0, Signed = 1, Float = 2 };
enum class AddressMode : uint32_t { Wrap = 0, Clamp = 1, Mirror = 2, Border = 3 };  // as CUDA numbers them

enum TextureFlag : uint32_t {
  ReadsNormalized = 1,        // integers are read as fractions of the largest one
  NormalizedCoordinates = 2,  // 1 is the size of the texture
  LinearFilter = 4,           // between texels
  LinearMipFilter = 8,        // between levels
  Srgb = 16,                  // the first three channels
};

// TextureRecord::sampling, of textures that a sampler of the device reads as CUDA does: `image` and `sampler` give it
// then, to instructions of the image's own geometry. Linear memory has FetchesWords where its channels have 32 bits,
// and their number. 0 of others, which shaders read and filter by themselves.
enum Sampling : uint32_t {
  ShapeMask = 7,  // ImageShape of `image`
  IsSampled = 8,
  IntegerTexels = 16,      // the image's channels are unsigned integers; signed ones are to be extended
  HasOneLevel = 32,        // the sampler takes texel coordinates, and no level but 0
  ScalesCoordinates = 64,  // texel coordinates are to be made normalised ones, by `scale` and `shift`
  HasFourth = 128,         // channel
  FetchesWords = 1 << 16,
  // A surface has its `rawShape`, the binary logarithm of a texel's bytes from signShift on, and its number as `image`.
  IsSurface = 1 << 18,
  ClampsColumn = 1 << 17,  // the image has more columns: the first coordinate is to lie between scale[0] and scale[1]
};
inline constexpr uint32_t channelMask = 7;
inline constexpr uint32_t signShift = 8, signShiftBits = 5;  // in `sampling`: the bits above a signed channel

struct alignas(16) TextureRecord {
  uint32_t generation;      // of the handle that is good for this record
  uint32_t sampling;        // Sampling
  uint32_t image, sampler;  // in the arrays of descriptors
  // A texel coordinate x becomes floor(x * fine + half) * scale + shift.
  float scale[3], fine, shift[3], half;

  uint32_t width, height, depth, layers;  // at least 1 each; a cube has six layers
  TextureKind kind;
  ImageShape shape;  // as the program made it
  uint64_t address;  // Linear, Pitched
  uint32_t pitch;    // bytes from row to row
  uint32_t levels;   // at least 1
  uint32_t texelBytes;
  ChannelType channelType;
  uint32_t channelBits, channels;
  uint32_t flags;            // TextureFlag
  uint32_t addressModes[3];  // AddressMode
  uint32_t border[4];        // the bits of its channels, as those of a texel
  float levelBias, minLevel, maxLevel;
  uint32_t rawImage, storageImage;
  ImageShape rawShape;
};
static_assert(sizeof(TextureRecord) == 160 && offsetof(TextureRecord, border) == 120);

// What LaunchState::textures is the address of.
struct TextureTable {
  uint32_t count;  // of records
  uint32_t reserved[39];
  // The records follow.
};
static_assert(sizeof(TextureTable) == sizeof(TextureRecord));

}  // namespace mulciber::abi
