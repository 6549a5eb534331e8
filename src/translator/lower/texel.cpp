#include "translator/lower/texel.h"

#include "translator/lower/floats.h"

namespace mulciber::lower {
namespace {

using abi::ChannelType;
using abi::ImageShape;
using ir::Op;

constexpr ir::FloatControl plain{
    .flush = true};  // no denormals come up but those of the texels, which are not computed with

Value loadTexel(ir::Builder& b, ir::Type type, Value address) {
  ir::MemoryAccess access;
  access.space = ir::Space::Global;
  access.alignment = static_cast<uint8_t>(type.totalBits() / 8);
  return b.load(type, address, access);
}

}  // namespace

TexelReader::TexelReader(FunctionLowering& f, const TextureRecord& record, ImageShape shape)
    : f_(f), record_(record), shape_(shape) {
  ir::Builder& b = f.b;
  Value channelType = record.word(offsetof(abi::TextureRecord, channelType));
  auto isType = [&](ChannelType type) { return b.compare(Op::IEq, channelType, b.i32(static_cast<uint32_t>(type))); };
  channelBits_ = record.word(offsetof(abi::TextureRecord, channelBits));
  channels_ = record.word(offsetof(abi::TextureRecord, channels));
  texelBytes_ = record.word(offsetof(abi::TextureRecord, texelBytes));
  isSigned_ = isType(ChannelType::Signed);
  isFloat_ = isType(ChannelType::Float);
  isNormalized_ = record.flag(abi::ReadsNormalized);
  isSrgb_ = record.flag(abi::Srgb);
  Value rawShape = record.word(offsetof(abi::TextureRecord, rawShape));
  hasImage_ = b.bitAnd(record.isKind(abi::TextureKind::Image),
                       b.compare(Op::IEq, rawShape, b.i32(static_cast<uint32_t>(shape))));
  image_ = record.word(offsetof(abi::TextureRecord, rawImage));
  address_ = record.address();
  pitch_ = record.word(offsetof(abi::TextureRecord, pitch));
}

Channels TexelReader::read(const Place& place) {
  ir::Builder& b = f_.b;
  std::array<ir::VariableId, 4> fields;
  for (ir::VariableId& field : fields) {
    field = b.function().addVariable(ir::I32, "texel");
    b.write(field, b.i32(0));
  }
  auto write = [&](const Channels& values) {
    for (size_t i = 0; i < values.size(); ++i) b.write(fields[i], values[i]);
  };
  f_.beginIf(hasImage_);
  write(readImage(place));
  if (shape_ != ImageShape::Volume) {
    f_.beginElse();
    const Value linear = record_.isKind(abi::TextureKind::Linear), pitched = record_.isKind(abi::TextureKind::Pitched);
    f_.beginIf(b.bitOr(linear, pitched));
    write(readMemory(place));
    f_.endIf();
  }
  f_.endIf();
  Channels result;
  for (unsigned i = 0; i < 4; ++i) result[i] = convert(b.read(fields[i]), i);
  return result;
}

Channels TexelReader::readImage(const Place& place) {
  ir::Builder& b = f_.b;
  const auto shape = static_cast<uint64_t>(shape_);
  const ir::Type texel = ir::I32.withLanes(4);
  Value fetched = shape_ == ImageShape::Lines
                      ? b.emit(Op::ImageFetch, texel, {image_, place.level, place.x, place.z}, shape)
                      : b.emit(Op::ImageFetch, texel, {image_, place.level, place.x, place.y, place.z}, shape);
  return {b.extract(fetched, 0), b.extract(fetched, 1), b.extract(fetched, 2), b.extract(fetched, 3)};
}

// The channels' bits, the rest of each word zero.
Channels TexelReader::readMemory(const Place& place) {
  ir::Builder& b = f_.b;
  auto product = [&](Value x, Value y) {
    return b.mul(b.convert(Op::ZExt, ir::I64, x), b.convert(Op::ZExt, ir::I64, y));
  };
  Value address = b.add(address_, product(place.x, texelBytes_));
  if (shape_ == ImageShape::Planes) address = b.add(address, product(place.y, pitch_));

  std::array<ir::VariableId, 4> words;
  for (ir::VariableId& word : words) {
    word = b.function().addVariable(ir::I32, "word");
    b.write(word, b.i32(0));
  }
  constexpr uint32_t sizes[] = {4, 16, 8, 1, 2};  // the commonest first
  for (uint32_t size : sizes) {
    const bool isLast = size == sizes[4];
    if (!isLast) f_.beginIf(b.compare(Op::IEq, texelBytes_, b.i32(size)));
    if (size < 4) {
      b.write(words[0], b.convert(Op::ZExt, ir::I32, loadTexel(b, ir::intType(size * 8), address)));
    } else {
      Value loaded = loadTexel(b, ir::I32.withLanes(static_cast<uint8_t>(size / 4)), address);
      for (unsigned i = 0; i < size / 4; ++i) b.write(words[i], size == 4 ? loaded : b.extract(loaded, i));
    }
    if (!isLast) f_.beginElse();
  }
  for (size_t i = 1; i < std::size(sizes); ++i) f_.endIf();

  const Channels whole = {b.read(words[0]), b.read(words[1]), b.read(words[2]), b.read(words[3])};
  const Value isByte = b.compare(Op::IEq, channelBits_, b.i32(8)),
              isShort = b.compare(Op::IEq, channelBits_, b.i32(16));
  Channels fields;
  for (unsigned i = 0; i < 4; ++i) {
    Value byte = b.emit(Op::BitExtractU, ir::I32, {whole[0], b.i32(8 * i), b.i32(8)});
    Value pair = b.emit(Op::BitExtractU, ir::I32, {whole[i / 2], b.i32(16 * (i % 2)), b.i32(16)});
    fields[i] = b.select(isByte, byte, b.select(isShort, pair, whole[i]));
  }
  return fields;
}

// Fractions are correctly rounded quotients: a product with the rounded reciprocal, and one step that repairs it.
Value TexelReader::convert(Value field, unsigned channel) {
  ir::Builder& b = f_.b;
  const Value isByte = b.compare(Op::IEq, channelBits_, b.i32(8)),
              isShort = b.compare(Op::IEq, channelBits_, b.i32(16));
  Value shift = b.sub(b.i32(32), channelBits_);
  Value extended = b.ashr(b.shl(field, shift), shift);
  Value integer = b.select(isSigned_, extended, field);

  auto choose = [&](float ofByte, float ofHalf) { return b.select(isByte, b.f32(ofByte), b.f32(ofHalf)); };
  Value largest = b.select(isSigned_, choose(127, 32767), choose(255, 65535));
  Value reciprocal = b.select(isSigned_, choose(1.f / 127, 1.f / 32767), choose(1.f / 255, 1.f / 65535));
  Value dividend = b.select(isSigned_, b.convert(Op::SToF, ir::F32, extended), b.convert(Op::UToF, ir::F32, field));
  Value estimate = b.floating(Op::FMul, plain, {dividend, reciprocal});
  Value rest = b.floating(Op::Fma, plain, {b.unary(Op::FNeg, estimate), largest, dividend});
  Value fraction = b.floating(Op::Fma, plain, {rest, reciprocal, estimate});
  fraction = b.binary(Op::FMax, fraction, b.f32(-1));  // the smallest integer is one too many
  if (channel < 3) fraction = b.select(isSrgb_, decodeSrgb(fraction), fraction);

  Value widened = b.convert(Op::FConvert, ir::F32, b.bitcast(ir::F16, b.convert(Op::Trunc, ir::I16, field)));
  Value number = b.select(isShort, b.bitcast(ir::I32, widened), field);
  Value result = b.select(isFloat_, number, b.select(isNormalized_, b.bitcast(ir::I32, fraction), integer));
  return b.select(hasChannel(channel), result, b.i32(0));
}

Value TexelReader::hasChannel(unsigned channel) { return f_.b.compare(Op::ULt, f_.b.i32(channel), channels_); }

Value TexelReader::decodeSrgb(Value x) {
  ir::Builder& b = f_.b;
  Value low = b.floating(Op::FMul, plain, {x, b.f32(1 / 12.92f)});
  Value base = b.floating(Op::Fma, plain, {x, b.f32(1 / 1.055f), b.f32(0.055f / 1.055f)});
  Value power = b.floating(Op::FMul, plain, {b.unary(Op::FLog2, base), b.f32(2.4f)});
  return b.select(b.compare(Op::FLe, x, b.f32(0.04045f)), low, b.unary(Op::FExp2, power));
}

}  // namespace mulciber::lower
