#include "translator/lower/texture_record.h"

#include "mulciber/kernel_abi.h"

namespace mulciber::lower {
namespace {

Value readOnly(ir::Builder& b, ir::Type type, Value address) {
  ir::MemoryAccess access;
  access.space = ir::Space::Global;
  access.alignment = static_cast<uint8_t>(type.totalBits() / 8);
  access.isReadOnly = true;  // records change only while nothing that knows their handle runs
  access.mayComeEarly = true;
  return b.load(type, address, access);
}

}  // namespace

TextureRecord::TextureRecord(FunctionLowering& f, Value handle) : f_(f) {
  ir::Builder& b = f.b;
  // One load says where the table is and how long.
  Value state = f.launchState(offsetof(abi::LaunchState, textures));
  table_ = b.bitAnd(state, b.i64(~uint64_t{abi::tableAlignment - 1}));
  Value bits = b.bitAnd(b.convert(ir::Op::Trunc, ir::I32, state), b.i32(abi::tableAlignment - 1));
  Value number = b.convert(ir::Op::Trunc, ir::I32, handle);
  number = b.select(b.compare(ir::Op::IEq, b.lshr(number, bits), b.i32(0)), number, b.i32(0));
  Value offset = b.mul(b.convert(ir::Op::ZExt, ir::I64, number), b.i64(sizeof(abi::TextureRecord)));
  record_ = b.add(b.add(table_, b.i64(sizeof(abi::TextureTable))), offset);
  Value generation = b.convert(ir::Op::Trunc, ir::I32, b.lshr(handle, b.i32(32)));
  static_assert(offsetof(abi::TextureRecord, generation) == 0 && offsetof(abi::TextureRecord, sampler) == 12);
  Value first = field(ir::I32.withLanes(4), 0);
  isLive_ = b.compare(ir::Op::IEq, b.extract(first, 0), generation);
  stored_ = b.extract(first, 1);
  sampling_ = b.select(isLive_, stored_, b.i32(0));
  image_ = b.extract(first, 2);
  sampler_ = b.extract(first, 3);
  constexpr auto none = static_cast<uint32_t>(abi::TextureKind::None);
  kind_ = b.select(isLive_, word(offsetof(abi::TextureRecord, kind)), b.i32(none));
  flags_ = word(offsetof(abi::TextureRecord, flags));
  if (!f.profile().checksTextures) return;
  f.beginIf(isKind(abi::TextureKind::None));
  const FunctionLowering::FaultText text{handle, b.i64(0), b.i32(0), b.i64(0)};
  f.fail(KernelFault::NoTexture, &text);
  f.endIf();
}

Value TextureRecord::field(ir::Type type, size_t offset) const {
  return readOnly(f_.b, type, f_.b.add(record_, f_.b.i64(offset)));
}

Value TextureRecord::numbers(size_t offset) const { return field(ir::F32.withLanes(4), offset); }
Value TextureRecord::extents() const {
  static_assert(offsetof(abi::TextureRecord, layers) == offsetof(abi::TextureRecord, width) + 12);
  return field(ir::I32.withLanes(4), offsetof(abi::TextureRecord, width));
}
Value TextureRecord::word(size_t offset) const { return field(ir::I32, offset); }
Value TextureRecord::number(size_t offset) const { return field(ir::F32, offset); }
Value TextureRecord::address() const { return field(ir::I64, offsetof(abi::TextureRecord, address)); }

Value TextureRecord::decodedSrgb(Value byte) const {
  ir::Builder& b = f_.b;
  const Value offset = b.shl(b.convert(ir::Op::ZExt, ir::I64, byte), b.i32(2));
  return readOnly(b, ir::F32, b.add(b.add(table_, b.i64(offsetof(abi::TextureTable, decodedSrgb))), offset));
}

Value TextureRecord::isKind(abi::TextureKind kind) const {
  return f_.b.compare(ir::Op::IEq, kind_, f_.b.i32(static_cast<uint32_t>(kind)));
}

Value TextureRecord::flag(abi::TextureFlag flag) const {
  return f_.b.compare(ir::Op::INe, f_.b.bitAnd(flags_, f_.b.i32(flag)), f_.b.i32(0));
}

}  // namespace mulciber::lower
