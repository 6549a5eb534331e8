// The sum of texels by weight that a linear filter is, bit for bit as NVIDIA's hardware makes it (one 3-D read of f32
// or f16 texels in a thousand differs in the last place). Fractions are summed up as 16-bit integers. Floats are
// brought to the exponent of the largest one first, and lose the bits that then lie too low: 28 are kept of f32
// numbers, 15 of halves, whose sum is a half. Each plane of a volume and each level is a sum of its own until the end.
// Bytes of sRGB are decoded first; their sum is not rounded, and an H200 rounds it in a way that is not known.
#pragma once

#include "translator/lower/texel.h"

namespace mulciber::lower {

struct Tap {
  Channels fields;  // as TexelReader::read gives them
  Value weight;     // i32; those of all taps add up to 256
};

using Plane = std::vector<Tap>;

class TexelSum {
 public:
  TexelSum(FunctionLowering& f, const TextureRecord& record, const TexelFormat& format)
      : f_(f), b_(f.b), record_(record), format_(format) {}

  Channels of(const std::vector<Plane>& planes);
  Value ofFractions(const std::vector<Plane>& planes, unsigned channel);

 private:
  // Of floats. The unit is the last bit that is kept of the largest number, by 1/256 for the weights.
  struct PlaneSum {
    Value sum;       // i64
    Value exponent;  // of the largest number, as f32 has it
    Value specials;  // 1 for a positive infinity, 2 for a negative one, 3 for both or a NaN
  };

  Value ofDecoded(const std::vector<Plane>& planes, unsigned channel);
  Value ofFloats(const std::vector<Plane>& planes, unsigned channel);
  PlaneSum sumOf(const Plane& plane, unsigned channel);
  Value rounded(Value sum, Value exponent);

  FunctionLowering& f_;
  ir::Builder& b_;
  const TextureRecord& record_;
  const TexelFormat& format_;
};

}  // namespace mulciber::lower
