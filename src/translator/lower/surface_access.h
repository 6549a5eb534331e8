// The bytes behind a place on a surface, read and written through its storage image, whose texels are unsigned numbers
// of as many bits as the surface's: up to four words of 32. An access takes a part of one texel, a texel, or several.
#pragma once

#include <functional>

#include "translator/lower/texture_record.h"

namespace mulciber::lower {

using Words = std::vector<Value>;  // i32 each; of an access of less than four bytes the low ones count

// Where an instruction goes, all i32.
struct SurfacePlace {
  abi::ImageShape shape;  // Lines, Planes or Volume
  Value x;                // bytes, or texels of formatted accesses
  Value y, z;             // z is the layer where there are layers
  unsigned dimensions;    // without the layer
  bool isLayered, isFormatted;
};

enum class SurfaceBoundary { Trap, Clamp, Zero };

// The texel behind an access that takes exactly one, as most do: little code beside that of the others.
class ExactSurface {
 public:
  // Whether the access is one of these.
  static Value isExact(FunctionLowering& f, const TextureRecord& record, const SurfacePlace& place, unsigned bytes);

  ExactSurface(FunctionLowering& f, const TextureRecord& record, const SurfacePlace& place, SurfaceBoundary boundary,
               unsigned bytes);
  Words read();  // zeros beyond the surface
  void write(const Words& words);

 private:
  std::vector<Value> coordinates() const;
  void failOutside();

  FunctionLowering& f_;
  ir::Builder& b_;
  const TextureRecord& record_;
  SurfacePlace place_;
  const SurfaceBoundary boundary_;
  const unsigned bytes_;
  Value isInside_;
};

class SurfaceAccess {
 public:
  // `bytes` at once: 1, 2, 4, 8 or 16; of formatted accesses it is the texel that counts. Beyond the surface the thread
  // fails, or another place is taken, as `boundary` says.
  SurfaceAccess(FunctionLowering& f, const TextureRecord& record, const SurfacePlace& place, SurfaceBoundary boundary,
                unsigned bytes);

  Words read();  // zeros beyond the surface
  void write(const Words& words);
  void writeTexel(const Words& words);  // as many bytes as it has
  // The words become update(words), in one step for all threads. `atomic` does it on texels of four bytes where the
  // access has as many.
  using Update = std::function<Words(const Words& old)>;
  void update(ir::Op atomic, Value operand, const Update& update);

 private:
  void locate(SurfaceBoundary boundary);
  Value isTexelSize(unsigned bytes);
  Value texelAt(Value column);
  void storeTexel(Value column, const Words& words);
  Words readBytes();
  void writeBytes(const Words& words);
  void writePart(const Words& words);
  void forEachTexel(const std::function<void(Value column, Value offset)>& body);
  void withLock(const std::function<void()>& body);
  std::vector<Value> coordinates(Value column) const;

  FunctionLowering& f_;
  ir::Builder& b_;
  const TextureRecord& record_;
  SurfacePlace place_;
  const unsigned bytes_;
  Value image_, texelBytes_, column_, isInside_;
  bool isShared_ = false;  // between threads: others see at once what is written
};

}  // namespace mulciber::lower
