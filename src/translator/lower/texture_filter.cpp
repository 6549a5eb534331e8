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

// What `share` 256ths of an integer are, halves upwards.
Value portion(ir::Builder& b, Value whole, Value share) {
  return b.lshr(b.add(b.mul(whole, share), b.i32(128)), b.i32(8));
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
    : f_(f),
      b_(f.b),
      record_(record),
      sample_(sample),
      format_(f, record),
      reader_(f, record, format_, sample.geometry.fetched()) {}

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
  for (size_t i = 0; i < sample_.coordinates.size(); ++i) {
    const Value mode = record_.word(offsetof(abi::TextureRecord, addressModes) + 4 * i);
    axes_.push_back({sample_.coordinates[i], mode, extents[i]});
  }
  const TextureGeometry& geometry = sample_.geometry;
  if (geometry.dimensions == 1 && !geometry.isLayered)
    axes_.push_back({nullptr, record_.word(offsetof(abi::TextureRecord, addressModes) + 4), extents[1]});
}

// Of normalised coordinates the hardware takes 21 bits behind the point, or as many as the size has and 8 more.
TextureFilter::Place TextureFilter::place(const Axis& axis, Value size) {
  const ir::VariableId floor = b_.function().addVariable(ir::I32, "place");
  const ir::VariableId rounded = b_.function().addVariable(ir::I32, "place");
  const Value coordinate = b_.select(b_.unary(Op::FIsNan, axis.coordinate), b_.f32(0), axis.coordinate);
  const Value isNormalized = record_.flag(abi::NormalizedCoordinates);
  auto within = [&](Value number, Value low, Value high) {
    return b_.binary(Op::FMin, b_.binary(Op::FMax, number, low), high);
  };
  // The period that a mirrored or wrapped coordinate is in. Between -1 and 1 a difference might be rounded.
  const Value period = floorOf(b_, coordinate), half = times(b_, period, b_.f32(0.5f));
  const Value mirrors = isMode(b_, axis.mode, AddressMode::Mirror);
  const Value repeats = b_.bitOr(isMode(b_, axis.mode, AddressMode::Wrap), mirrors);
  const Value isMirrored = b_.bitAnd(b_.bitAnd(isNormalized, mirrors), b_.compare(Op::FNe, floorOf(b_, half), half));
  f_.beginIf(isNormalized);
  {
    Value bitsOfSize = b_.add(b_.convert(Op::FindMsbU, ir::I32, b_.sub(size, b_.i32(1))), b_.i32(1));
    Value shift = b_.binary(Op::SMax, b_.add(bitsOfSize, b_.i32(8)), b_.i32(21));
    Value one = b_.bitcast(ir::F32, b_.shl(b_.add(shift, b_.i32(127)), b_.i32(23)));
    Value isSmall = b_.compare(Op::FLt, b_.unary(Op::FAbs, coordinate), b_.f32(1));
    Value inPeriod = b_.select(isSmall, coordinate, minus(b_, coordinate, period));
    Value number = within(b_.select(repeats, inPeriod, coordinate), b_.f32(-2), b_.f32(3));
    Value fixed = b_.convert(Op::FToS, ir::I32, floorOf(b_, times(b_, number, one)));
    Value mask = b_.sub(b_.shl(b_.i32(1), shift), b_.i32(1));
    fixed = b_.select(repeats, b_.bitAnd(fixed, mask), fixed);
    Value product = b_.mul(b_.convert(Op::SExt, ir::I64, fixed), b_.convert(Op::ZExt, ir::I64, size));
    Value twice = b_.convert(Op::Trunc, ir::I32, b_.ashr(product, b_.sub(shift, b_.i32(9))));
    Value down = b_.ashr(twice, b_.i32(1)), nearest = b_.ashr(b_.add(twice, b_.i32(1)), b_.i32(1));
    Value end = b_.shl(size, b_.i32(8));
    b_.write(floor, b_.select(isMirrored, b_.sub(b_.sub(end, b_.i32(1)), down), down));
    b_.write(rounded, b_.select(isMirrored, b_.sub(end, nearest), nearest));
  }
  f_.beginElse();
  {
    Value behind = plus(b_, b_.convert(Op::UToF, ir::F32, size), b_.f32(2));
    Value fine = times(b_, within(coordinate, b_.f32(-2), behind), b_.f32(256));
    Value whole = floorOf(b_, fine);
    Value isUpper = b_.compare(Op::FLe, b_.f32(0.5f), minus(b_, fine, whole));
    Value down = b_.convert(Op::FToS, ir::I32, whole);
    b_.write(floor, down);
    b_.write(rounded, b_.add(down, b_.convert(Op::ZExt, ir::I32, isUpper)));
  }
  f_.endIf();
  return {b_.read(floor), b_.read(rounded), isMirrored};
}

TextureFilter::Position TextureFilter::locate(const Axis& axis, Value level, Value isLinear) {
  if (!axis.coordinate) {  // that of a line, which lies at the edge of its border
    Value isAtEdge = b_.bitAnd(isLinear, isMode(b_, axis.mode, AddressMode::Border));
    return {b_.select(isAtEdge, b_.i32(~0u), b_.i32(0)), b_.select(isAtEdge, b_.i32(128), b_.i32(0)),
            b_.boolean(false)};
  }
  const Place at = place(axis, sizeOf(axis.extent, level));
  // A texel's middle is half of one behind its edge. A mirrored place that is a middle has that texel as its second
  // one.
  Value step = b_.convert(Op::ZExt, ir::I32, at.isMirrored);
  Value middle = b_.sub(b_.sub(at.rounded, b_.i32(128)), step);
  return {b_.ashr(b_.select(isLinear, middle, at.floor), b_.i32(8)),
          b_.select(isLinear, b_.add(b_.bitAnd(middle, b_.i32(255)), step), b_.i32(0)), at.isMirrored};
}

std::vector<TextureFilter::Position> TextureFilter::locate(Value level, Value isLinear) {
  std::vector<Position> positions;
  for (const Axis& axis : axes_) positions.push_back(locate(axis, level, isLinear));
  return positions;
}

// Along a mirrored axis the hardware meets the second texel first.
Value TextureFilter::indexOf(const Position& position, bool isFar) {
  return b_.add(position.index, b_.select(position.isMirrored, b_.i32(isFar ? 0 : 1), b_.i32(isFar ? 1 : 0)));
}

// The hardware divides the whole weight along the third axis first, then along the first and the second, and rounds
// each part: of the two along the second axis the one that lies on the same side as along the first.
std::vector<TextureFilter::Corner> TextureFilter::corners(const std::vector<Position>& positions, Value whole) {
  std::vector<Corner> result = {{{false, false, false}, whole}};
  auto divide = [&](size_t axis, auto&& farWeight) {
    if (axis >= positions.size()) return;
    std::vector<Corner> halves;
    for (const Corner& corner : result) {
      Corner far = corner, near = corner;
      far.isFar[axis] = true;
      far.weight = farWeight(corner, positions[axis].weight);
      near.weight = b_.sub(corner.weight, far.weight);
      halves.push_back(near);
      halves.push_back(far);
    }
    result = std::move(halves);
  };
  auto rounded = [&](const Corner& corner, Value weight) { return portion(b_, corner.weight, weight); };
  divide(2, rounded);
  divide(0, rounded);
  divide(1, [&](const Corner& corner, Value weight) {
    if (corner.isFar[0]) return rounded(corner, weight);
    return b_.sub(corner.weight, rounded(corner, b_.sub(b_.i32(256), weight)));
  });
  return result;
}

std::vector<Plane> TextureFilter::planes(Value level, Value weight, Value isLinear) {
  std::vector<Position> positions = locate(level, isLinear);
  for (size_t i = 0; i < axes_.size(); ++i) {
    // Beyond the middle of the first and the last texel nothing is mixed in, wherever an offset leads.
    Value hasEdge =
        b_.bitOr(isMode(b_, axes_[i].mode, AddressMode::Clamp), isMode(b_, axes_[i].mode, AddressMode::Mirror));
    Value isBetween =
        b_.compare(Op::ULt, moved(positions[i].index, i), b_.sub(sizeOf(axes_[i].extent, level), b_.i32(1)));
    positions[i].weight = b_.select(b_.bitOr(isBetween, b_.bitNot(hasEdge)), positions[i].weight, b_.i32(0));
    positions[i].weight =
        b_.select(positions[i].isMirrored, b_.sub(b_.i32(256), positions[i].weight), positions[i].weight);
  }
  const std::vector<Corner> all = corners(positions, weight);
  std::vector<std::vector<Value>> indices;
  for (const Corner& corner : all) {
    std::vector<Value> index;
    for (size_t axis = 0; axis < positions.size(); ++axis)
      index.push_back(indexOf(positions[axis], corner.isFar[axis]));
    indices.push_back(std::move(index));
  }
  const std::vector<Channels> fields = readAt(indices, level);
  std::vector<Plane> result(axes_.size() == 3 ? 2 : 1);
  for (size_t i = 0; i < all.size(); ++i) result[all[i].isFar[2] ? 1 : 0].push_back({fields[i], all[i].weight});
  return result;
}

// Where the condition does not hold all is zero.
std::vector<Plane> TextureFilter::planesIf(Value condition, Value level, Value weight, Value isLinear) {
  struct Variables {
    std::array<ir::VariableId, 4> fields;
    ir::VariableId weight;
  };
  auto zero = [&] {
    const ir::VariableId variable = b_.function().addVariable(ir::I32, "tap");
    b_.write(variable, b_.i32(0));
    return variable;
  };
  std::vector<std::vector<Variables>> variables(axes_.size() == 3 ? 2 : 1);
  for (auto& plane : variables)
    for (size_t tap = 0; tap < size_t{1} << std::min<size_t>(axes_.size(), 2); ++tap)
      plane.push_back({{zero(), zero(), zero(), zero()}, zero()});
  f_.beginIf(condition);
  const std::vector<Plane> all = planes(level, weight, isLinear);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t tap = 0; tap < all[i].size(); ++tap) {
      for (unsigned channel = 0; channel < 4; ++channel)
        b_.write(variables[i][tap].fields[channel], all[i][tap].fields[channel]);
      b_.write(variables[i][tap].weight, all[i][tap].weight);
    }
  f_.endIf();
  std::vector<Plane> result;
  for (const auto& plane : variables) {
    result.emplace_back();
    for (const auto& [fields, share] : plane)
      result.back().push_back(
          {{b_.read(fields[0]), b_.read(fields[1]), b_.read(fields[2]), b_.read(fields[3])}, b_.read(share)});
  }
  return result;
}

// A line has a second axis, and no offset along it.
Value TextureFilter::moved(Value index, size_t axis) {
  return axis < sample_.offsets.size() ? b_.add(index, sample_.offsets[axis]) : index;
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

std::vector<Channels> TextureFilter::readAt(const std::vector<std::vector<Value>>& indices, Value level) {
  const Value isSomething = b_.bitNot(record_.isKind(abi::TextureKind::None));
  std::vector<Value> sizes;
  for (const Axis& axis : axes_) sizes.push_back(sizeOf(axis.extent, level));
  std::vector<TexelReader::Place> places;
  std::vector<Value> areInside;
  for (const std::vector<Value>& indicesOfOne : indices) {
    Value isInside = b_.boolean(true);
    std::vector<Value> resolved;
    for (size_t i = 0; i < axes_.size(); ++i) {
      resolved.push_back(resolve(moved(indicesOfOne[i], i), sizes[i], axes_[i].mode, isInside));
    }
    const Value y = resolved.size() > 1 ? resolved[1] : b_.i32(0);
    const Value z = resolved.size() > 2 ? resolved[2] : layerIndex();
    places.push_back({resolved[0], y, z, level});
    areInside.push_back(isInside);
  }
  std::vector<Channels> texels = reader_.read(places);
  for (size_t i = 0; i < texels.size(); ++i)
    for (unsigned channel = 0; channel < 4; ++channel) {
      Value border = record_.word(offsetof(abi::TextureRecord, border) + 4 * channel);
      border = b_.select(isSomething, border, b_.i32(0));
      texels[i][channel] = b_.select(areInside[i], texels[i][channel], border);
    }
  return texels;
}

// An H200 reads zeros at integers beyond the edges and layers of what has texel coordinates, beyond the levels, and
// from arrays of one dimension, whatever their address mode.
Value TextureFilter::hasTexel(Value level) {
  Value beyond = b_.boolean(false);
  for (size_t i = 0; i < sample_.coordinates.size(); ++i) {
    const Value isInside = b_.compare(Op::ULt, moved(sample_.coordinates[i], i), sizeOf(extents[i], level));
    const Value isBorder = isMode(b_, axes_[i].mode, AddressMode::Border);
    beyond = b_.bitOr(beyond, b_.bitNot(b_.bitOr(isInside, isBorder)));
  }
  const Value layers = record_.word(offsetof(abi::TextureRecord, layers));
  if (sample_.layer) beyond = b_.bitOr(beyond, b_.compare(Op::ULe, layers, sample_.layer));
  Value isNone = b_.bitAnd(beyond, b_.bitNot(record_.flag(abi::NormalizedCoordinates)));
  if (sample_.level) {
    const Value levels = record_.word(offsetof(abi::TextureRecord, levels));
    isNone = b_.bitOr(isNone, b_.compare(Op::ULe, levels, sample_.level));
  }
  if (sample_.geometry.dimensions == 1 && !sample_.geometry.isLayered)
    isNone = b_.bitOr(isNone, record_.isKind(abi::TextureKind::Image));
  return b_.bitNot(isNone);
}

// Compressed texels without a fourth channel have 1 for it, even where there are none.
Value TextureFilter::fourth(Value channel) {
  const Value isOpaque = b_.bitAnd(record_.flag(abi::Opaque), b_.bitNot(record_.isKind(abi::TextureKind::None)));
  return b_.select(isOpaque, b_.bitcast(ir::I32, b_.f32(1)), channel);
}

Channels TextureFilter::texel() {
  const Value none = b_.i32(0);
  const Value levels = record_.word(offsetof(abi::TextureRecord, levels));
  const Value level = sample_.level ? b_.binary(Op::UMin, sample_.level, b_.sub(levels, b_.i32(1))) : none;
  for (size_t i = 0; i < sample_.coordinates.size(); ++i)
    axes_.push_back({nullptr, record_.word(offsetof(abi::TextureRecord, addressModes) + 4 * i), extents[i]});
  Channels fields = readAt({sample_.coordinates}, level)[0];
  const Value isInside = hasTexel(level);
  for (Value& field : fields) field = b_.select(isInside, field, none);
  fields = reader_.convert(fields);
  fields[3] = fourth(fields[3]);
  return fields;
}

Channels TextureFilter::sample() {
  prepareAxes();
  const Value isLinear = record_.flag(abi::LinearFilter), mixesLevels = record_.flag(abi::LinearMipFilter);
  // Levels count in 256ths; what is less is dropped.
  auto fixed = [&](Value number) {
    Value within = b_.binary(Op::FMin, b_.binary(Op::FMax, number, b_.f32(-64)), b_.f32(64));
    return b_.convert(Op::FToS, ir::I32, floorOf(b_, times(b_, within, b_.f32(256))));
  };
  auto bound = [&](size_t offset) { return fixed(record_.number(offset)); };
  Value fine = bound(offsetof(abi::TextureRecord, levelBias));
  if (sample_.level) fine = b_.add(fine, fixed(sample_.level));
  fine = b_.binary(Op::SMax, fine, bound(offsetof(abi::TextureRecord, minLevel)));
  fine = b_.binary(Op::SMin, fine, bound(offsetof(abi::TextureRecord, maxLevel)));
  const Value last = b_.sub(record_.word(offsetof(abi::TextureRecord, levels)), b_.i32(1));
  fine = b_.binary(Op::SMin, b_.binary(Op::SMax, fine, b_.i32(0)), b_.shl(last, b_.i32(8)));
  fine = b_.select(mixesLevels, fine, b_.add(fine, b_.i32(128)));
  const Value firstLevel = b_.lshr(fine, b_.i32(8));
  const Value secondWeight = b_.select(mixesLevels, b_.bitAnd(fine, b_.i32(255)), b_.i32(0));
  const Value isMixed = b_.compare(Op::INe, secondWeight, b_.i32(0));

  std::array<ir::VariableId, 4> results;
  for (ir::VariableId& result : results) result = b_.function().addVariable(ir::I32, "sampled");
  auto write = [&](const Channels& channels) {
    for (size_t i = 0; i < channels.size(); ++i) b_.write(results[i], channels[i]);
  };
  const Value hasFractions = b_.bitOr(format_.isFloat, format_.isNormalized);
  f_.beginIf(b_.bitAnd(b_.bitOr(isLinear, mixesLevels), hasFractions));
  std::vector<Plane> all = planes(firstLevel, b_.sub(b_.i32(256), secondWeight), isLinear);
  const Value secondLevel = b_.add(firstLevel, b_.i32(1));
  for (Plane& plane : planesIf(isMixed, secondLevel, secondWeight, isLinear)) all.push_back(std::move(plane));
  write(TexelSum(f_, record_, format_).of(all));
  f_.beginElse();
  std::vector<Value> nearest;
  for (const Position& position : locate(firstLevel, b_.boolean(false))) nearest.push_back(position.index);
  write(reader_.convert(readAt({nearest}, firstLevel)[0]));
  f_.endIf();
  return {b_.read(results[0]), b_.read(results[1]), b_.read(results[2]), fourth(b_.read(results[3]))};
}

// Counter-clockwise from the lower left one, as PTX has it.
Channels TextureFilter::gather(unsigned channel) {
  prepareAxes();
  constexpr bool columnIsFar[] = {false, true, true, false}, rowIsFar[] = {true, true, false, false};
  const Value level = b_.i32(0);
  const std::vector<Position> first = locate(level, b_.boolean(true));
  std::vector<std::vector<Value>> indices;
  for (unsigned i = 0; i < 4; ++i)
    indices.push_back({indexOf(first[0], columnIsFar[i]), indexOf(first[1], rowIsFar[i])});
  const std::vector<Channels> texels = readAt(indices, level);
  TexelSum sum(f_, record_, format_);
  Channels result;
  for (unsigned i = 0; i < 4; ++i) {
    // Fractions come through the filter. What a filter gives of one sRGB texel is that texel.
    Value fraction = sum.ofFractions({{{texels[i], b_.i32(256)}}}, channel);
    Value isFraction = b_.bitAnd(format_.isNormalized, b_.bitNot(b_.bitOr(format_.isFloat, format_.isSrgb)));
    Value hasChannel = b_.compare(Op::ULt, b_.i32(channel), format_.channels);
    result[i] = b_.select(b_.bitAnd(isFraction, hasChannel), fraction, reader_.convert(texels[i])[channel]);
    if (channel == 3) result[i] = fourth(result[i]);
  }
  return result;
}

}  // namespace mulciber::lower
