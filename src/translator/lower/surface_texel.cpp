#include "translator/lower/surface_texel.h"

namespace mulciber::lower {
namespace {

using abi::ChannelType;
using ir::Op;

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

  const Value half = b.convert(Op::ZExt, ir::I32, b.bitcast(ir::I16, b.convert(Op::FConvert, ir::F16, number)));
  const Value floating = b.select(isWord, given, half);
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
  return texel;
}

}  // namespace mulciber::lower
