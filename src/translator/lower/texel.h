// Reads texels of a texture, wherever they lie, and converts them as the texture says: what point sampling gives. The
// device's own conversions are not used, since drivers round them in different ways.
#pragma once

#include <array>
#include <vector>

#include "translator/lower/texture_record.h"

namespace mulciber::lower {

using Channels = std::array<Value, 4>;  // i32 each: integers, or the bits of f32 numbers

// What a texture's texels are made of: i32 numbers and bools.
struct TexelFormat {
  TexelFormat(FunctionLowering& f, const TextureRecord& record);

  Value channelBits, channels, texelBytes;
  Value isByte, isShort, isSigned, isFloat, isNormalized, isSrgb;

  Value decodes(ir::Builder& b, unsigned channel) const;  // whether the channel is sRGB
};

// An integer as a correctly rounded fraction of the largest one.
Value fractionOf(ir::Builder& b, Value integer, bool isSigned, Value largest, Value reciprocal);

class TexelReader {
 public:
  // Of images those of that shape are read: Lines, Planes or Volume.
  TexelReader(FunctionLowering& f, const TextureRecord& record, const TexelFormat& format, abi::ImageShape shape);

  // All i32 and within the level's size. `z` counts layers, faces of cubes or the planes of a volume.
  struct Place {
    Value x, y, z, level;
  };
  // The bits of each channel, the rest of its word zero. All texels are read in one place of the code for each width.
  std::vector<Channels> read(const std::vector<Place>& places);
  Channels convert(const Channels& fields);

 private:
  using Words = std::array<Value, 4>;

  Channels readImage(const Place& place, ir::Type type);
  Value addressOf(const Place& place);
  Words loadWords(Value address, uint32_t bytes);
  Channels fieldsOf(const Words& words);
  Value convert(Value field, unsigned channel);

  FunctionLowering& f_;
  const TextureRecord& record_;
  const TexelFormat& format_;
  const abi::ImageShape shape_;
};

}  // namespace mulciber::lower
