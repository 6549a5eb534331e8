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

// The type of an image as a shader declares it. `rawImage` is arrayed where it can be, and its texels are unsigned
// but where they are Decoded.
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
  Decoded = 32,  // the driver makes floats of the texels, also behind `rawImage`: compressed and packed ones
  Opaque = 64,   // the fourth channel is 1, of compressed texels that have none
};

// TextureRecord::sampling, of textures that a sampler of the device reads as CUDA does: `image` and `sampler` give it
// then, to instructions of the image's own geometry. Linear memory has FetchesWords where its channels have 32 bits,
// and their number. 0 of others, which shaders read and filter by themselves.
enum Sampling : uint32_t {
  ShapeMask = 7,  // ImageShape of `image`
  IsSampled = 8,
  IntegerTexels = 16,      // the image gives integers of 8 or 16 bits as fractions of the largest one
  HasOneLevel = 32,        // the sampler takes texel coordinates, and no level but 0
  ScalesCoordinates = 64,  // texel coordinates are to be made normalised ones, by `scale` and `shift`
  HasFourth = 128,         // channel
  FetchesWords = 1 << 16,
  // A surface has its `rawShape`, the binary logarithm of a texel's bytes from extendedShift on, and its number as
  // `image`.
  IsSurface = 1 << 18,
  ClampsColumn = 1 << 17,  // the image has more columns: the first coordinate is to lie between scale[0] and scale[1]
};
inline constexpr uint32_t channelMask = 7;
// In `sampling`: how many low bits of such an integer are extended by the highest of them. Of unsigned ones it is one
// bit more than they have.
inline constexpr uint32_t extendedShift = 8, extendedBits = 5;

// Of records that are no object's. No handle has it, and hardly a number that is no handle.
inline constexpr uint32_t noGeneration = 0x9D2C5681;

struct alignas(16) TextureRecord {
  uint32_t generation = noGeneration;  // of the handle that is good for this record
  uint32_t sampling;                   // Sampling
  uint32_t image, sampler;             // in the arrays of descriptors
  // A texel coordinate x becomes floor(x * fine + half) * scale + shift. A plane that has IntegerTexels has their
  // largest number as scale[2], and as the bits of `fine` the one bit by which they are extended.
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

// What LaunchState::textures is the address of, a multiple of tableAlignment. In the bits that are free so it holds the
// binary logarithm of the number of records.
struct TextureTable {
  float decodedSrgb[256];
  // The records follow.
};
inline constexpr uint32_t tableAlignment = 64;
constexpr uint64_t textureTable(uint64_t address, uint32_t logarithm) { return address | logarithm; }

// What bytes of sRGB are, in 16384ths, as an H200 has it.
inline constexpr uint16_t decodedSrgb[256] = {
    0,     5,     10,    15,    20,    25,    30,    35,    40,    45,    50,    55,    60,    66,    72,    78,
    85,    92,    99,    107,   115,   123,   131,   140,   150,   159,   169,   180,   190,   201,   213,   224,
    236,   250,   262,   276,   290,   304,   318,   332,   348,   364,   380,   396,   412,   430,   448,   466,
    484,   504,   524,   544,   564,   584,   604,   624,   648,   672,   692,   716,   740,   764,   788,   816,
    840,   864,   896,   920,   944,   976,   1000,  1032,  1064,  1088,  1120,  1152,  1184,  1216,  1248,  1280,
    1312,  1352,  1384,  1416,  1456,  1488,  1528,  1560,  1600,  1640,  1672,  1712,  1752,  1792,  1832,  1872,
    1920,  1952,  2000,  2048,  2080,  2128,  2176,  2224,  2272,  2320,  2368,  2416,  2464,  2512,  2560,  2608,
    2656,  2704,  2752,  2816,  2864,  2912,  2976,  3024,  3072,  3136,  3184,  3248,  3296,  3360,  3424,  3472,
    3536,  3600,  3664,  3712,  3776,  3840,  3904,  3968,  4032,  4096,  4160,  4224,  4288,  4352,  4416,  4512,
    4576,  4640,  4704,  4768,  4864,  4928,  4992,  5056,  5152,  5216,  5280,  5376,  5440,  5536,  5600,  5696,
    5760,  5824,  5920,  6016,  6080,  6176,  6240,  6336,  6400,  6496,  6592,  6688,  6752,  6848,  6944,  7008,
    7104,  7200,  7296,  7392,  7488,  7584,  7680,  7744,  7872,  7936,  8064,  8128,  8256,  8320,  8448,  8512,
    8640,  8768,  8832,  8960,  9024,  9152,  9280,  9344,  9472,  9600,  9664,  9792,  9920,  9984,  10112, 10240,
    10304, 10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712, 11840, 11968, 12096,
    12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376, 13504, 13632, 13760, 13888, 14016, 14144,
    14272, 14400, 14528, 14656, 14848, 14976, 15104, 15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384};

}  // namespace mulciber::abi
