#include "translator/lower/texture_filter.h"

namespace mulciber::lower {
namespace {

using abi::AddressMode;
using abi::ImageShape;
using ir::Op;

constexpr size_t extents[] = {offsetof(abi::TextureRecord, width), offsetof(abi::TextureRecord, height),
                              offsetof(abi::TextureRecord, depth)};
constexpr ir::FloatControl plain{.flush = true};

Value isMode(ir::Builder& b, Value mode, AddressMode which) {
  return b.compare(Op::IEq, mode, b.i32(static_cast<uint32_t>(which)));
}

Value times(ir::Builder& b, Value x, Value y) { return b.floating(Op::FMul, plain, {x, y}); }
Value plus(ir::Builder& b, Value x, Value y) { return b.floating(Op::FAdd, plain, {x, y}); }
Value minus(ir::Builder& b, Value x, Value y) { return b.floating(Op::FSub, plain, {x, y}); }
Value floorOf(ir::Builder& b, Value x) { return b.unary(Op::FFloor, x); }
// A number that is one of the integers from `low` to `high`, `low` for a NaN.
Value toInteger(ir::Builder& b, Value x, Value low, Value high) {
  return b.convert(Op::FToS, ir::I32, b.binary(Op::FMin, b.binary(Op::FMax, x, low), high));
}

// To multiples of 1/256.
Value roundWeight(ir::Builder& b, Value x) {
  return times(b, floorOf(b, b.floating(Op::Fma, plain, {x, b.f32(256), b.f32(0.5f)})), b.f32(1 / 256.f));
}

}  // namespace

ImageShape TextureGeometry::fetched() const {
  if (isCube || dimensions == 2) return ImageShape::Planes;
  return dimensions == 1 ? ImageShape::Lines : ImageShape::Volume;
}

ImageShape TextureGeometry::sampled() const {
  if (isCube) return isLayered ? ImageShape::Cubes : ImageShape::Cube;
  if (dimensions == 3) return ImageShape::Volume;
  if (dimensions == 2) return isLayered ? ImageShape::Planes : ImageShape::Plane;
  return isLayered ? ImageShape::Lines : ImageShape::Line;
}

TextureFilter::TextureFilter(FunctionLowering& f, const TextureRecord& record, const TextureSample& sample)
    : f_(f), b_(f.b), record_(record), sample_(sample), reader_(f, record, sample.geometry.fetched()) {}

Value TextureFilter::sizeOf(size_t extent, Value level) {
  return b_.binary(Op::UMax, b_.lshr(record_.word(extent), level), b_.i32(1));
}

// Layers are clamped, and a cube's faces are layers.
Value TextureFilter::layerIndex() {
  Value layer = b_.i32(0);
  if (sample_.layer) {
    Value last = b_.sub(record_.word(offsetof(abi::TextureRecord, layers)), b_.i32(1));
    layer = b_.binary(Op::UMin, sample_.layer, last);
  }
  if (!face_) return layer;
  return b_.add(b_.mul(layer, b_.i32(6)), face_);
}

// The coordinate of the largest magnitude says the face; the other two, divided by it, are the place on the face.
void TextureFilter::selectFace() {
  const Value x = sample_.coordinates[0], y = sample_.coordinates[1], z = sample_.coordinates[2];
  const Value ax = b_.unary(Op::FAbs, x), ay = b_.unary(Op::FAbs, y), az = b_.unary(Op::FAbs, z);
  const Value zIsMajor = b_.bitAnd(b_.compare(Op::FLe, ax, az), b_.compare(Op::FLe, ay, az));
  const Value yIsMajor = b_.compare(Op::FLe, ax, ay);
  auto choose = [&](Value ofX, Value ofY, Value ofZ) {
    return b_.select(zIsMajor, ofZ, b_.select(yIsMajor, ofY, ofX));
  };
  auto negative = [&](Value v) { return b_.unary(Op::FNeg, v); };
  const Value isNegative = b_.compare(Op::FLt, choose(x, y, z), b_.f32(0));
  face_ = b_.add(choose(b_.i32(0), b_.i32(2), b_.i32(4)), b_.convert(Op::ZExt, ir::I32, isNegative));
  const Value s = choose(b_.select(isNegative, z, negative(z)), x, b_.select(isNegative, negative(x), x));
  const Value t = choose(negative(y), b_.select(isNegative, negative(z), z), negative(y));
  const Value magnitude = choose(ax, ay, az);
  auto place = [&](Value v) {
    return b_.floating(Op::Fma, plain, {b_.floating(Op::FDiv, plain, {v, magnitude}), b_.f32(0.5f), b_.f32(0.5f)});
  };
  sample_.coordinates = {place(s), place(t)};
}

void TextureFilter::prepareAxes() {
  if (sample_.geometry.isCube) selectFace();
  const auto clamp = b_.i32(static_cast<uint32_t>(AddressMode::Clamp));
  for (size_t i = 0; i < sample_.coordinates.size(); ++i) {
    // A cube's height is its width; its faces end where others begin.
    Value mode = face_ ? clamp : record_.word(offsetof(abi::TextureRecord, addressModes) + 4 * i);
    axes_.push_back({reduce(sample_.coordinates[i], mode), mode, extents[i]});
  }
}

// Wrapped and mirrored coordinates, which are always normalised, become those of the first period.
Value TextureFilter::reduce(Value coordinate, Value mode) {
  Value whole = floorOf(b_, coordinate);
  Value fraction = minus(b_, coordinate, whole);
  Value half = times(b_, whole, b_.f32(0.5f));
  Value isOdd = b_.compare(Op::FNe, floorOf(b_, half), half);
  Value mirrored = b_.select(isOdd, minus(b_, b_.f32(1), fraction), fraction);
  return b_.select(isMode(b_, mode, AddressMode::Wrap), fraction,
                   b_.select(isMode(b_, mode, AddressMode::Mirror), mirrored, coordinate));
}

TextureFilter::Position TextureFilter::locate(const Axis& axis, Value level, Value isLinear) {
  Position position;
  position.size = sizeOf(axis.extent, level);
  Value size = b_.convert(Op::UToF, ir::F32, position.size);
  Value place = b_.select(record_.flag(abi::NormalizedCoordinates), times(b_, axis.coordinate, size), axis.coordinate);
  place = b_.select(b_.unary(Op::FIsNan, place), b_.f32(0), place);
  place = b_.select(isLinear, minus(b_, place, b_.f32(0.5f)), place);
  Value whole = floorOf(b_, place);
  Value weight = roundWeight(b_, minus(b_, place, whole));
  // The weight may be rounded up to one.
  Value isNext = b_.bitAnd(isLinear, b_.compare(Op::FEq, weight, b_.f32(1)));
  weight = b_.select(b_.compare(Op::FLt, weight, b_.f32(1)), weight, b_.f32(0));  // 0 for a NaN
  position.weight = weight;
  position.index = toInteger(b_, whole, b_.f32(-2), plus(b_, size, b_.f32(1)));
  position.index = b_.add(position.index, b_.convert(Op::ZExt, ir::I32, isNext));
  return position;
}

// The index of a texel that the texture has.
Value TextureFilter::resolve(Value index, Value size, Value mode, Value& isInside) {
  Value last = b_.sub(size, b_.i32(1));
  Value inside = b_.compare(Op::ULt, index, size);
  Value isBorder = isMode(b_, mode, AddressMode::Border);
  isInside = b_.bitAnd(isInside, b_.bitOr(inside, b_.bitNot(isBorder)));
  Value clamped = b_.binary(Op::SMax, b_.binary(Op::SMin, index, last), b_.i32(0));
  // One period is behind: one step leads back into it, but where a coordinate was no number.
  Value below = b_.compare(Op::SLt, index, b_.i32(0));
  Value wrapped = b_.select(below, b_.add(index, size), b_.select(inside, index, b_.sub(index, size)));
  wrapped = b_.binary(Op::SMax, b_.binary(Op::SMin, wrapped, last), b_.i32(0));
  return b_.select(isMode(b_, mode, AddressMode::Wrap), wrapped, clamped);
}

Channels TextureFilter::readAt(const std::vector<Value>& indices, const std::vector<Value>& sizes, Value level) {
  Value isInside = b_.bitNot(record_.isKind(abi::TextureKind::None));
  std::vector<Value> resolved;
  for (size_t i = 0; i < axes_.size(); ++i) {
    Value index = sample_.offsets.empty() ? indices[i] : b_.add(indices[i], sample_.offsets[i]);
    resolved.push_back(resolve(index, sizes[i], axes_[i].mode, isInside));
  }
  const Value y = resolved.size() > 1 ? resolved[1] : b_.i32(0);
  const Value z = resolved.size() > 2 ? resolved[2] : layerIndex();
  Channels channels = reader_.read({resolved[0], y, z, level});
  const Value isNothing = record_.isKind(abi::TextureKind::None);
  for (unsigned i = 0; i < channels.size(); ++i) {
    Value border = record_.word(offsetof(abi::TextureRecord, border) + 4 * i);
    Value outside = b_.select(b_.bitOr(isNothing, b_.bitNot(reader_.hasChannel(i))), b_.i32(0), border);
    channels[i] = b_.select(isInside, channels[i], outside);
  }
  return channels;
}

Channels TextureFilter::texel() {
  const Value none = b_.i32(0);
  const Value levels = record_.word(offsetof(abi::TextureRecord, levels));
  const Value level = sample_.level ? b_.binary(Op::UMin, sample_.level, b_.sub(levels, b_.i32(1))) : none;
  std::vector<Value> sizes;
  for (size_t i = 0; i < sample_.coordinates.size(); ++i) {
    axes_.push_back({nullptr, record_.word(offsetof(abi::TextureRecord, addressModes) + 4 * i), extents[i]});
    sizes.push_back(sizeOf(extents[i], level));
  }
  return readAt(sample_.coordinates, sizes, level);
}

// One loop over all the texels that count: two for each axis that is filtered, of two levels where these are.
Channels TextureFilter::sample() {
  prepareAxes();
  const Value isLinear = record_.flag(abi::LinearFilter), mixesLevels = record_.flag(abi::LinearMipFilter);
  const Value lastLevel =
      b_.convert(Op::UToF, ir::F32, b_.sub(record_.word(offsetof(abi::TextureRecord, levels)), b_.i32(1)));
  Value level = sample_.level ? sample_.level : b_.f32(0);
  level = plus(b_, level, record_.number(offsetof(abi::TextureRecord, levelBias)));
  level = b_.binary(Op::FMax, level, record_.number(offsetof(abi::TextureRecord, minLevel)));
  level = b_.binary(Op::FMin, level, record_.number(offsetof(abi::TextureRecord, maxLevel)));
  level = b_.binary(Op::FMin, b_.binary(Op::FMax, level, b_.f32(0)), lastLevel);
  Value place = b_.select(mixesLevels, level, plus(b_, level, b_.f32(0.5f)));
  Value whole = floorOf(b_, place);
  const Value levelWeight = b_.select(mixesLevels, roundWeight(b_, minus(b_, place, whole)), b_.f32(0));
  const Value firstLevel = toInteger(b_, whole, b_.f32(0), lastLevel);
  const Value secondLevel = toInteger(b_, plus(b_, whole, b_.f32(1)), b_.f32(0), lastLevel);

  const auto axisCount = static_cast<uint32_t>(axes_.size());
  const Value bitsOfLevel = b_.select(isLinear, b_.i32(axisCount), b_.i32(0));
  const Value isMixed = b_.compare(Op::FLt, b_.f32(0), levelWeight);
  const Value taps = b_.shl(b_.i32(1), b_.add(bitsOfLevel, b_.convert(Op::ZExt, ir::I32, isMixed)));

  const ir::VariableId tapVariable = b_.function().addVariable(ir::I32, "tap");
  std::array<ir::VariableId, 4> sums, last;
  for (unsigned i = 0; i < 4; ++i) {
    sums[i] = b_.function().addVariable(ir::F32, "sum");
    last[i] = b_.function().addVariable(ir::I32, "texel");
    b_.write(sums[i], b_.f32(0));
  }
  b_.write(tapVariable, b_.i32(0));
  f_.beginLoop();
  const Value tap = b_.read(tapVariable);
  const Value isSecond = b_.compare(Op::INe, b_.lshr(tap, bitsOfLevel), b_.i32(0));
  const Value tapLevel = b_.select(isSecond, secondLevel, firstLevel);
  Value weight = b_.select(isSecond, levelWeight, minus(b_, b_.f32(1), levelWeight));
  std::vector<Value> indices, sizes;
  for (uint32_t i = 0; i < axisCount; ++i) {
    const Position position = locate(axes_[i], tapLevel, isLinear);
    const Value step = b_.select(isLinear, b_.bitAnd(b_.lshr(tap, b_.i32(i)), b_.i32(1)), b_.i32(0));
    const Value isFar = b_.compare(Op::INe, step, b_.i32(0));
    const Value share = b_.select(isFar, position.weight, minus(b_, b_.f32(1), position.weight));
    weight = b_.select(isLinear, times(b_, weight, share), weight);
    indices.push_back(b_.add(position.index, step));
    sizes.push_back(position.size);
  }
  const Channels channels = readAt(indices, sizes, tapLevel);
  for (unsigned i = 0; i < 4; ++i) {
    b_.write(last[i], channels[i]);
    const Value texel = b_.bitcast(ir::F32, channels[i]);
    b_.write(sums[i], b_.floating(Op::Fma, plain, {weight, texel, b_.read(sums[i])}));
  }
  const Value next = b_.add(tap, b_.i32(1));
  b_.write(tapVariable, next);
  f_.endLoop(b_.compare(Op::ULt, next, taps));

  const Value isFiltered = b_.bitOr(isLinear, isMixed);
  Channels result;
  for (unsigned i = 0; i < 4; ++i)
    result[i] = b_.select(isFiltered, b_.bitcast(ir::I32, b_.read(sums[i])), b_.read(last[i]));
  return result;
}

// Counter-clockwise from the lower left one, as PTX has it.
Channels TextureFilter::gather(unsigned channel) {
  prepareAxes();
  constexpr uint32_t columns[] = {0, 1, 1, 0}, rows[] = {1, 1, 0, 0};
  const Value level = b_.i32(0);
  const Position x = locate(axes_[0], level, b_.boolean(true)), y = locate(axes_[1], level, b_.boolean(true));
  Channels result;
  for (unsigned i = 0; i < 4; ++i)
    result[i] = readAt({b_.add(x.index, b_.i32(columns[i])), b_.add(y.index, b_.i32(rows[i]))}, {x.size, y.size},
                       level)[channel];
  return result;
}

}  // namespace mulciber::lower
