// Samples a texture in the shader: addressing, and filtering with the weights of NVIDIA's hardware, which have 8 bits
// behind the point. For devices whose samplers give other results, and for what no sampler of Vulkan takes.
#pragma once

#include <optional>
#include <vector>

#include "translator/lower/texel.h"

namespace mulciber::lower {

// Of one instruction.
struct TextureGeometry {
  unsigned dimensions;  // 1 to 3; cubes have 3 coordinates
  bool isLayered, isCube;

  // What fetches see: layers and faces are layers of planes.
  abi::ImageShape fetched() const;
  abi::ImageShape sampled() const;
};

// The operands of an instruction that samples.
struct TextureSample {
  TextureGeometry geometry;
  std::vector<Value> coordinates;  // f32, or i32 where they count texels
  Value layer = nullptr;           // i32, of layered ones
  Value level = nullptr;           // f32; i32 with integer coordinates
  std::vector<Value> offsets;      // i32 in texels, or none
};

class TextureFilter {
 public:
  TextureFilter(FunctionLowering& f, const TextureRecord& record, const TextureSample& sample);

  Channels texel();                   // at integer coordinates
  Channels sample();                  // at f32 coordinates
  Channels gather(unsigned channel);  // that channel of the four texels that a linear filter would take

 private:
  struct Axis {
    Value coordinate;  // within the texture's period
    Value mode;
    size_t extent;  // offset of the size in the record
  };
  struct Position {
    Value index;   // of the first texel, i32
    Value weight;  // of the second one, f32
    Value size;
  };
  struct Taps {
    Value channels[4];
  };

  void selectFace();
  void prepareAxes();
  Value reduce(Value coordinate, Value mode);
  Position locate(const Axis& axis, Value level, Value isLinear);
  Value resolve(Value index, Value size, Value mode, Value& isInside);
  Channels readAt(const std::vector<Value>& indices, const std::vector<Value>& sizes, Value level);
  Value sizeOf(size_t extent, Value level);
  Value layerIndex();

  FunctionLowering& f_;
  ir::Builder& b_;
  const TextureRecord& record_;
  TextureSample sample_;
  TexelReader reader_;
  std::vector<Axis> axes_;
  Value face_ = nullptr;
};

}  // namespace mulciber::lower
