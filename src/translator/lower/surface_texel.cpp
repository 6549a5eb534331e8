#include "translator/lower/surface_texel.h"

namespace mulciber::lower {
namespace {

using abi::ChannelType;
using ir::Op;

// Toward zero, and no finite number becomes infinite, as an H200 does it. NaNs keep what fits of them.
Value halfOf(ir::Builder& b, Value single) {
  const Value sign = b.bitAnd(b.lshr(single, b.i32(16)), b.i32(0x8000)),
              magnitude = b.bitAnd(single, b.i32(0x7FFFFFFF));
  const Value special = b.bitOr(b.emit(Op::BitExtractU, ir::I32, {magnitude, b.i32(13), b.i32(10)}), b.i32(0x7C00));
  const Value finite = b.binary(Op::UMin, magnitude, b.i32(0x477FE000));  // 65504
  const Value normal = b.sub(b.lshr(finite, b.i32(13)), b.i32(112 << 10));
  const Value fine = b.floating(Op::FMul, {}, {b.bitcast(ir::F32, finite), b.f32(0x1p24f)});
  const Value isSmall = b.compare(Op::ULt, magnitude, b.i32(0x38800000));  // than any normal number
  const Value number = b.select(isSmall, b.convert(Op::FToS, ir::I32, fine), normal);
  return b.bitOr(sign, b.select(b.compare(Op::ULt, magnitude, b.i32(0x7F800000)), number, special));
}

// One channel, in the low bits.
Value encode(FunctionLowering& f, const TextureRecord& record, Value given) {
  ir::Builder& b = f.b;
  const Value type = record.word(offsetof(abi::TextureRecord, channelType));
  const Value bits = record.word(offsetof(abi::TextureRecord, channelBits));
  auto isType = [&](ChannelType which) { return b.compare(Op::IEq, type, b.i32(static_cast<uint32_t>(which))); };
  const Value isSigned = isType(ChannelType::Signed), isWord = b.compare(Op::IEq, bits, b.i32(32));
  const Value one = b.i32(1);
  const Value largest =
      b.sub(b.shl(one, b.sub(b.select(isWord, b.i32(31), bits), b.select(isSigned, one, b.i32(0)))), one);
  const Value isUnsigned = b.bitNot(isSigned);

  Value integer = b.select(isUnsigned, b.binary(Op::UMin, given, largest),
                           b.binary(Op::SMax, b.binary(Op::SMin, given, largest), b.bitNot(largest)));
  integer = b.select(isWord, given, integer);

  const Value number = b.bitcast(ir::F32, given);
  const Value scale = b.convert(Op::UToF, ir::F32, largest);
  const Value lowest = b.select(isSigned, b.f32(-1), b.f32(0));
  Value fraction = b.binary(Op::FMin, b.binary(Op::FMax, number, lowest), b.f32(1));
  fraction = b.select(b.unary(Op::FIsNan, number), b.f32(0), fraction);
  const Value rounded = b.unary(Op::FRound, b.floating(Op::FMul, {}, {fraction, scale}));
  const Value normalized = b.convert(Op::FToS, ir::I32, rounded);

  const Value floating = b.select(isWord, given, halfOf(b, given));
  Value result = b.select(record.flag(abi::ReadsNormalized), normalized, integer);
  return b.select(isType(ChannelType::Float), floating, result);
}

}  // namespace

Words surfaceTexel(FunctionLowering& f, const TextureRecord& record, const Words& channels) {
  ir::Builder& b = f.b;
  const Value bits = record.word(offsetof(abi::TextureRecord, channelBits));
  Words encoded;
  for (unsigned i = 0; i < 4; ++i) encoded.push_back(i < channels.size() ? encode(f, record, channels[i]) : b.i32(0));
  auto field = [&](unsigned channel, unsigned bit, unsigned width) {
    const Value low = b.emit(Op::BitExtractU, ir::I32, {encoded[channel], b.i32(0), b.i32(width)});
    return bit == 0 ? low : b.shl(low, b.i32(bit));
  };
  const Value bytes = b.bitOr(b.bitOr(field(0, 0, 8), field(1, 8, 8)), b.bitOr(field(2, 16, 8), field(3, 24, 8)));
  const Value isByte = b.compare(Op::IEq, bits, b.i32(8)), isShort = b.compare(Op::IEq, bits, b.i32(16));
  Words texel = encoded;
  for (unsigned i = 0; i < 2; ++i) {
    const Value shorts = b.bitOr(field(2 * i, 0, 16), field(2 * i + 1, 16, 16));
    texel[i] = b.select(isShort, shorts, encoded[i]);
  }
  texel[0] = b.select(isByte, bytes, texel[0]);
  // Devices store the largest number that a texel takes where one of more bits is given.
  const Value texelBits = b.shl(record.word(offsetof(abi::TextureRecord, texelBytes)), b.i32(3));
  texel[0] = b.emit(Op::BitExtractU, ir::I32, {texel[0], b.i32(0), b.binary(Op::UMin, texelBits, b.i32(32))});
  return texel;
}

}  // namespace mulciber::lower
