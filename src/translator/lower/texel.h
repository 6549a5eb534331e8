// Reads one texel of a texture, wherever it lies, and converts it as the texture says: what point sampling gives, and
// what filters are made of. The device's own conversions are not used, since drivers round them in different ways.
#pragma once

#include <array>

#include "translator/lower/texture_record.h"

namespace mulciber::lower {

using Channels = std::array<Value, 4>;  // i32 each: integers, or the bits of f32 numbers

class TexelReader {
 public:
  // Of images those of that shape are read: Lines, Planes or Volume.
  TexelReader(FunctionLowering& f, const TextureRecord& record, abi::ImageShape shape);

  // All i32 and within the level's size. `z` counts layers, faces of cubes or the planes of a volume.
  struct Place {
    Value x, y, z, level;
  };
  Channels read(const Place& place);

  Value hasChannel(unsigned channel);  // bool: channels that a texture has not are 0, in its border too

 private:
  Channels readImage(const Place& place);
  Channels readMemory(const Place& place);
  Value convert(Value field, unsigned channel);
  Value decodeSrgb(Value x);

  FunctionLowering& f_;
  const TextureRecord& record_;
  const abi::ImageShape shape_;
  Value channelBits_, channels_, texelBytes_, isSigned_, isFloat_, isNormalized_, isSrgb_;
  Value hasImage_, image_, address_, pitch_;
};

}  // namespace mulciber::lower
