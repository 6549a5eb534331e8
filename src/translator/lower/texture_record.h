// What lowerings know of a texture or surface object: the fields of the record behind its handle (texture_abi.h).
#pragma once

#include <cstddef>

#include "mulciber/texture_abi.h"
#include "translator/lower/arithmetic.h"

namespace mulciber::lower {

class TextureRecord {
 public:
  // A handle that is no object's, or no longer, gets a record of kind None.
  TextureRecord(FunctionLowering& f, Value handle);

  Value kind() const { return kind_; }
  // 0 where there is no object, else as the record has it; and the numbers beside it.
  Value sampling() const { return sampling_; }
  Value stored() const { return stored_; }  // the same, whether there is an object or not
  Value isLive() const { return isLive_; }  // the handle is the record's
  Value image() const { return image_; }
  Value sampler() const { return sampler_; }
  Value numbers(size_t offset) const;  // <4 x f32>
  Value extents() const;               // <4 x i32>: width, height, depth and layers
  Value isKind(abi::TextureKind kind) const;
  Value word(size_t offset) const;          // i32
  Value number(size_t offset) const;        // f32
  Value address() const;                    // of the texels, where they lie in device memory
  Value flag(abi::TextureFlag flag) const;  // bool
  Value decodedSrgb(Value byte) const;      // f32

 private:
  Value field(ir::Type type, size_t offset) const;

  FunctionLowering& f_;
  Value table_, record_, isLive_, stored_, sampling_, image_, sampler_, kind_, flags_;
};

}  // namespace mulciber::lower
