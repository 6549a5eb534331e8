#include <algorithm>
#include <bit>

#include "translator/lower/surface_access.h"

namespace mulciber::lower {

using abi::ImageShape;
using ir::Op;

Value ExactSurface::isExact(FunctionLowering& f, const TextureRecord& record, const SurfacePlace& place,
                            unsigned bytes) {
  ir::Builder& b = f.b;
  constexpr uint32_t size = ((1u << abi::extendedBits) - 1) << abi::extendedShift;
  const Value key = b.bitAnd(record.sampling(), b.i32(abi::IsSurface | abi::ShapeMask | size));
  const auto wanted = abi::IsSurface | static_cast<uint32_t>(place.shape) |
                      static_cast<uint32_t>(std::countr_zero(bytes)) << abi::extendedShift;
  return b.compare(Op::IEq, key, b.i32(wanted));
}

ExactSurface::ExactSurface(FunctionLowering& f, const TextureRecord& record, const SurfacePlace& place,
                           SurfaceBoundary boundary, unsigned bytes)
    : f_(f), b_(f.b), record_(record), place_(place), boundary_(boundary), bytes_(bytes), isInside_(b_.boolean(true)) {
  const Value extents = record.extents();
  auto limit = [&](Value& coordinate, unsigned extent) {
    if (boundary == SurfaceBoundary::Clamp) {
      const Value last = b_.sub(b_.extract(extents, extent), b_.i32(1));
      coordinate = b_.binary(Op::SMax, b_.binary(Op::SMin, coordinate, last), b_.i32(0));
    } else {
      isInside_ = b_.bitAnd(isInside_, b_.compare(Op::ULt, coordinate, b_.extract(extents, extent)));
    }
  };
  if (bytes > 1) {
    f_.beginIf(b_.compare(Op::INe, b_.bitAnd(place_.x, b_.i32(bytes - 1)), b_.i32(0)));
    f_.fail(KernelFault::Misaligned);
    f_.endIf();
  }
  place_.x = b_.ashr(place_.x, b_.i32(static_cast<uint32_t>(std::countr_zero(bytes))));
  limit(place_.x, 0);
  if (place_.dimensions > 1) limit(place_.y, 1);
  if (place_.dimensions > 2) limit(place_.z, 2);
  if (place_.isLayered) {
    place_.z = b_.bitAnd(place_.z, b_.i32(0xFFFF));  // an H200 looks at no more
    limit(place_.z, 3);
  }
}

void ExactSurface::failOutside() {
  if (boundary_ != SurfaceBoundary::Trap) return;
  f_.beginIf(b_.bitNot(isInside_));
  f_.fail(KernelFault::IllegalAddress);
  f_.endIf();
}

std::vector<Value> ExactSurface::coordinates() const {
  if (place_.shape == ImageShape::Lines) return {record_.image(), place_.x, place_.z};
  return {record_.image(), place_.x, place_.y, place_.z};
}

// The read does not wait for the surface's size: beyond it an image gives no error, but any texel.
Words ExactSurface::read() {
  Value texel = b_.emit(Op::ImageRead, ir::I32.withLanes(4), {}, static_cast<uint64_t>(place_.shape));
  texel->operands = coordinates();
  failOutside();
  Words words;
  for (unsigned i = 0; i < std::max(bytes_ / 4, 1u); ++i)
    words.push_back(b_.select(isInside_, b_.extract(texel, i), b_.i32(0)));
  return words;
}

void ExactSurface::write(const Words& words) {
  failOutside();
  Words all = words;
  all.resize(4, b_.i32(0));
  f_.beginIf(isInside_);
  const Value texel = b_.vector(all);
  Value write = b_.emit(Op::ImageWrite, ir::Void, {}, static_cast<uint64_t>(place_.shape));
  write->operands = coordinates();
  write->operands.push_back(texel);
  f_.endIf();
}

}  // namespace mulciber::lower
