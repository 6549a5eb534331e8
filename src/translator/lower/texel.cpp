#include "translator/lower/texel.h"

#include "translator/lower/float_formats.h"

namespace mulciber::lower {
namespace {

using abi::ChannelType;
using abi::ImageShape;
using ir::Op;

constexpr ir::FloatControl plain{
    .flush = true};  // no denormals come up but those of the texels, which are not computed with

using TexelVariables = std::array<ir::VariableId, 4>;

// For each of `count` texels, with zeros in it.
std::vector<TexelVariables> addVariables(ir::Builder& b, size_t count) {
  std::vector<TexelVariables> all(count);
  for (TexelVariables& texel : all)
    for (ir::VariableId& word : texel) {
      word = b.function().addVariable(ir::I32, "texel");
      b.write(word, b.i32(0));
    }
  return all;
}

void write(ir::Builder& b, const TexelVariables& variables, const std::array<Value, 4>& values) {
  for (size_t i = 0; i < values.size(); ++i) b.write(variables[i], values[i]);
}

std::array<Value, 4> read(ir::Builder& b, const TexelVariables& variables) {
  return {b.read(variables[0]), b.read(variables[1]), b.read(variables[2]), b.read(variables[3])};
}

}  // namespace

TexelFormat::TexelFormat(FunctionLowering& f, const TextureRecord& record) {
  ir::Builder& b = f.b;
  Value channelType = record.word(offsetof(abi::TextureRecord, channelType));
  auto isType = [&](ChannelType type) { return b.compare(Op::IEq, channelType, b.i32(static_cast<uint32_t>(type))); };
  channelBits = record.word(offsetof(abi::TextureRecord, channelBits));
  channels = record.word(offsetof(abi::TextureRecord, channels));
  texelBytes = record.word(offsetof(abi::TextureRecord, texelBytes));
  isByte = b.compare(Op::IEq, channelBits, b.i32(8));
  isShort = b.compare(Op::IEq, channelBits, b.i32(16));
  isSigned = isType(ChannelType::Signed);
  isFloat = isType(ChannelType::Float);
  isNormalized = record.flag(abi::ReadsNormalized);
  isSrgb = record.flag(abi::Srgb);
}

// Of two channels the hardware decodes one.
Value TexelFormat::decodes(ir::Builder& b, unsigned channel) const {
  return channel == 1 ? b.bitAnd(isSrgb, b.compare(Op::INe, channels, b.i32(2))) : isSrgb;
}

// A product with the rounded reciprocal, and one step that repairs it.
Value fractionOf(ir::Builder& b, Value integer, bool isSigned, Value largest, Value reciprocal) {
  Value dividend = b.convert(isSigned ? Op::SToF : Op::UToF, ir::F32, integer);
  Value estimate = b.floating(Op::FMul, plain, {dividend, reciprocal});
  Value rest = b.floating(Op::Fma, plain, {b.unary(Op::FNeg, estimate), largest, dividend});
  return b.floating(Op::Fma, plain, {rest, reciprocal, estimate});
}

TexelReader::TexelReader(FunctionLowering& f, const TextureRecord& record, const TexelFormat& format, ImageShape shape)
    : f_(f), record_(record), format_(format), shape_(shape) {}

std::vector<Channels> TexelReader::read(const std::vector<Place>& places) {
  ir::Builder& b = f_.b;
  const auto fields = addVariables(b, places.size());
  Value hasShape =
      b.compare(Op::IEq, record_.word(offsetof(abi::TextureRecord, rawShape)), b.i32(static_cast<uint32_t>(shape_)));
  f_.beginIf(b.bitAnd(record_.isKind(abi::TextureKind::Image), hasShape));
  f_.beginIf(record_.flag(abi::Decoded));
  for (size_t i = 0; i < places.size(); ++i) write(b, fields[i], readImage(places[i], ir::F32));
  f_.beginElse();
  for (size_t i = 0; i < places.size(); ++i) write(b, fields[i], readImage(places[i], ir::I32));
  f_.endIf();
  if (shape_ != ImageShape::Volume) {
    f_.beginElse();
    const Value linear = record_.isKind(abi::TextureKind::Linear), pitched = record_.isKind(abi::TextureKind::Pitched);
    f_.beginIf(b.bitOr(linear, pitched));
    std::vector<Value> addresses;
    for (const Place& place : places) addresses.push_back(addressOf(place));
    const auto words = addVariables(b, places.size());
    constexpr uint32_t sizes[] = {4, 16, 8, 1, 2};  // the commonest first
    for (uint32_t size : sizes) {
      const bool isLast = size == sizes[4];
      if (!isLast) f_.beginIf(b.compare(Op::IEq, format_.texelBytes, b.i32(size)));
      for (size_t i = 0; i < places.size(); ++i) write(b, words[i], loadWords(addresses[i], size));
      if (!isLast) f_.beginElse();
    }
    for (size_t i = 1; i < std::size(sizes); ++i) f_.endIf();
    for (size_t i = 0; i < places.size(); ++i) write(b, fields[i], fieldsOf(lower::read(b, words[i])));
    f_.endIf();
  }
  f_.endIf();
  std::vector<Channels> result;
  for (const TexelVariables& texel : fields) result.push_back(lower::read(b, texel));
  return result;
}

Channels TexelReader::readImage(const Place& place, ir::Type type) {
  ir::Builder& b = f_.b;
  const auto shape = static_cast<uint64_t>(shape_);
  const ir::Type texel = type.withLanes(4);
  const Value image = record_.word(offsetof(abi::TextureRecord, rawImage));
  Value fetched = shape_ == ImageShape::Lines
                      ? b.emit(Op::ImageFetch, texel, {image, place.level, place.x, place.z}, shape)
                      : b.emit(Op::ImageFetch, texel, {image, place.level, place.x, place.y, place.z}, shape);
  if (type == ir::F32) fetched = b.bitcast(ir::I32.withLanes(4), fetched);
  return {b.extract(fetched, 0), b.extract(fetched, 1), b.extract(fetched, 2), b.extract(fetched, 3)};
}

Value TexelReader::addressOf(const Place& place) {
  ir::Builder& b = f_.b;
  auto product = [&](Value x, Value y) {
    return b.mul(b.convert(Op::ZExt, ir::I64, x), b.convert(Op::ZExt, ir::I64, y));
  };
  Value address = b.add(record_.address(), product(place.x, format_.texelBytes));
  if (shape_ != ImageShape::Planes) return address;
  return b.add(address, product(place.y, record_.word(offsetof(abi::TextureRecord, pitch))));
}

TexelReader::Words TexelReader::loadWords(Value address, uint32_t bytes) {
  ir::Builder& b = f_.b;
  const ir::Type type = bytes < 4 ? ir::intType(bytes * 8) : ir::I32.withLanes(static_cast<uint8_t>(bytes / 4));
  ir::MemoryAccess access;
  access.space = ir::Space::Global;
  access.alignment = static_cast<uint8_t>(bytes);
  Value loaded = b.load(type, address, access);
  const Value zero = b.i32(0);
  if (bytes < 4) return {b.convert(Op::ZExt, ir::I32, loaded), zero, zero, zero};
  Words words = {bytes == 4 ? loaded : b.extract(loaded, 0), zero, zero, zero};
  for (unsigned i = 1; i < bytes / 4; ++i) words[i] = b.extract(loaded, i);
  return words;
}

Channels TexelReader::fieldsOf(const Words& words) {
  ir::Builder& b = f_.b;
  Channels fields;
  for (unsigned i = 0; i < 4; ++i) {
    Value byte = b.emit(Op::BitExtractU, ir::I32, {words[0], b.i32(8 * i), b.i32(8)});
    Value pair = b.emit(Op::BitExtractU, ir::I32, {words[i / 2], b.i32(16 * (i % 2)), b.i32(16)});
    fields[i] = b.select(format_.isByte, byte, b.select(format_.isShort, pair, words[i]));
  }
  return fields;
}

Channels TexelReader::convert(const Channels& fields) {
  Channels result;
  for (unsigned i = 0; i < 4; ++i) result[i] = convert(fields[i], i);
  return result;
}

Value TexelReader::convert(Value field, unsigned channel) {
  ir::Builder& b = f_.b;
  Value shift = b.sub(b.i32(32), format_.channelBits);
  Value extended = b.ashr(b.shl(field, shift), shift);
  Value integer = b.select(format_.isSigned, extended, field);

  auto choose = [&](float ofByte, float ofHalf) { return b.select(format_.isByte, b.f32(ofByte), b.f32(ofHalf)); };
  Value fraction =
      b.select(format_.isSigned, fractionOf(b, extended, true, choose(127, 32767), choose(1.f / 127, 1.f / 32767)),
               fractionOf(b, field, false, choose(255, 65535), choose(1.f / 255, 1.f / 65535)));
  fraction = b.binary(Op::FMax, fraction, b.f32(-1));  // the smallest integer is one too many
  if (channel < 3)
    fraction = b.select(format_.decodes(b, channel), record_.decodedSrgb(b.bitAnd(field, b.i32(255))), fraction);

  Value widened = b.convert(Op::FConvert, ir::F32, b.bitcast(ir::F16, b.convert(Op::Trunc, ir::I16, field)));
  Value number = b.select(format_.isShort, b.bitcast(ir::I32, widened), field);
  Value result =
      b.select(format_.isFloat, number, b.select(format_.isNormalized, b.bitcast(ir::I32, fraction), integer));
  return b.select(b.compare(Op::ULt, b.i32(channel), format_.channels), result, b.i32(0));
}

}  // namespace mulciber::lower
