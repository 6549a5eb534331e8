// Samples a texture in the shader: addressing, and filtering with the weights of NVIDIA's hardware, which are whole
// numbers of 256ths. For devices whose samplers give other results, and for what no sampler of Vulkan takes.
#pragma once

#include <optional>
#include <vector>

#include "translator/lower/texel_sum.h"

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
    Value coordinate;  // none: the hardware takes a line for a plane of one row
    Value mode;
    size_t extent;  // offset of the size in the record
  };
  // From the texture's beginning, in 256ths of a texel.
  struct Place {
    Value floor, rounded;  // down, and to the nearest, halves upwards
    Value isMirrored;
  };
  struct Position {
    Value index;       // of the first texel, i32
    Value weight;      // of the second one, in 256ths
    Value isMirrored;  // then the second one is the filter's near one
  };
  // One of the texels that a filter takes: the near or the far one along each axis.
  struct Corner {
    bool isFar[3];
    Value weight;
  };

  void selectFace();
  void prepareAxes();
  Place place(const Axis& axis, Value size);
  Position locate(const Axis& axis, Value level, Value isLinear);
  std::vector<Position> locate(Value level, Value isLinear);
  Value indexOf(const Position& position, bool isFar);  // of the filter's near or far texel
  std::vector<Corner> corners(const std::vector<Position>& positions, Value whole);
  std::vector<Plane> planes(Value level, Value weight, Value isLinear);
  std::vector<Plane> planesIf(Value condition, Value level, Value weight, Value isLinear);
  Value hasTexel(Value level);            // at integer coordinates
  Value fourth(Value channel);            // what the texture's reader gets for it
  Value moved(Value index, size_t axis);  // by the instruction's offset
  Value resolve(Value index, Value size, Value mode, Value& isInside);
  // Each of `indices` has one for each axis.
  std::vector<Channels> readAt(const std::vector<std::vector<Value>>& indices, Value level);
  Value sizeOf(size_t extent, Value level);
  Value layerIndex();

  FunctionLowering& f_;
  ir::Builder& b_;
  const TextureRecord& record_;
  TextureSample sample_;
  TexelFormat format_;
  TexelReader reader_;
  std::vector<Axis> axes_;
  Value face_ = nullptr;
};

}  // namespace mulciber::lower
