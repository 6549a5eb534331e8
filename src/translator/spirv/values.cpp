// How IR types and values appear in SPIR-V: see emitter.h.
#include "translator/spirv/emitter.h"

namespace mulciber::spirv {
namespace {

constexpr ir::Type wordType = ir::I32;

// The type an emulated one is kept in.
ir::Type carrier(ir::Type type) { return ir::Type{ir::Kind::Int, 32, type.lanes}; }

}  // namespace

bool Emitter::isNative(ir::Type type) const {
  if (!type.isInt()) return true;
  return type.bits == 8 ? profile.int8 : type.bits == 16 ? profile.int16 : true;
}

Id Emitter::brainFloatType() {
  constexpr auto capability = static_cast<spv::Capability>(5116);  // younger than the oldest headers that serve
  module.capability(capability);
  module.extension("SPV_KHR_bfloat16");
  return module.brainFloatType();
}

Id Emitter::type(ir::Type wanted) {
  if (wanted.isVoid()) return module.voidType();
  Id scalar = 0;
  if (wanted.isBool()) {
    scalar = module.boolType();
  } else if (wanted.isInt()) {
    bool native = isNative(wanted);
    if (native && wanted.bits == 8) module.capability(spv::Capability::Int8);
    if (native && wanted.bits == 16) module.capability(spv::Capability::Int16);
    scalar = module.intType(native ? wanted.bits : 32);
  } else {
    if (wanted.bits == 16) {
      if (!profile.float16) refuse("the device has no 16-bit floats");
      module.capability(spv::Capability::Float16);
    }
    if (wanted.bits == 64 && !profile.float64) refuse("the device has no 64-bit floats");
    scalar = module.floatType(wanted.bits);
  }
  if (wanted.lanes == 1) return scalar;
  return wanted.lanes <= 4 ? module.vectorType(scalar, wanted.lanes) : module.plainArrayType(scalar, wanted.lanes);
}

Id Emitter::constant(ir::Type wanted, uint64_t bits) {
  if (wanted.isVector()) {
    std::vector<Id> lanes(wanted.lanes, constant(wanted.scalar(), bits));
    return module.compositeConstant(type(wanted), lanes);
  }
  if (wanted.isBool()) return module.boolConstant(bits & 1);
  if (wanted.bits < 64) bits &= (uint64_t{1} << wanted.bits) - 1;
  return module.scalarConstant(type(wanted), wanted.bits, bits);
}

Id Emitter::extract(Id composite, ir::Type componentType, unsigned lane) {
  return module.emit(spv::Op::OpCompositeExtract, type(componentType), {composite, lane});
}

Id Emitter::construct(ir::Type wanted, std::span<const Id> components) {
  if (components.size() == 1) return components.front();
  return module.emit(spv::Op::OpCompositeConstruct, type(wanted), components);
}

Id Emitter::select(Id condition, ir::Type resultType, Id a, Id b) {
  return op(spv::Op::OpSelect, resultType, {condition, a, b});
}

Id Emitter::low(Id value64) { return op(spv::Op::OpUConvert, ir::I32, {value64}); }

Id Emitter::high(Id value64) {
  return low(op(spv::Op::OpShiftRightLogical, ir::I64, {value64, constant(ir::I32, 32)}));
}

Id Emitter::insertHalf(Id word, Id bits, Id shift) {
  const Id kept = op(spv::Op::OpShiftRightLogical, ir::I32, {constant(ir::I32, 0xFFFF'0000), shift});
  const Id moved = op(spv::Op::OpShiftLeftLogical, ir::I32, {bits, shift});
  return op(spv::Op::OpBitwiseOr, ir::I32, {op(spv::Op::OpBitwiseAnd, ir::I32, {word, kept}), moved});
}

Id Emitter::join(Id lowWord, Id highWord) {
  Id pair = op(spv::Op::OpCompositeConstruct, wordType.withLanes(2), {lowWord, highWord});
  return op(spv::Op::OpBitcast, ir::I64, {pair});
}

Id Emitter::widen(Id narrowValue, ir::Type from, bool isSigned) {
  if (from.bits >= 32) return narrowValue;
  if (isNative(from)) return op(isSigned ? spv::Op::OpSConvert : spv::Op::OpUConvert, carrier(from), {narrowValue});
  if (!isSigned) return narrowValue;
  return op(spv::Op::OpBitFieldSExtract, carrier(from),
            {narrowValue, constant(ir::I32, 0), constant(ir::I32, from.bits)});
}

Id Emitter::narrow(Id wideValue, ir::Type to) {
  if (to.bits >= 32) return wideValue;
  if (isNative(to)) return op(spv::Op::OpUConvert, to, {wideValue});
  return op(spv::Op::OpBitwiseAnd, to, {wideValue, constant(to, ~uint64_t{0})});
}

Id Emitter::bitcast(Id source, ir::Type from, ir::Type to) {
  if (from == to) return source;
  bool plain = isNative(from) && isNative(to) && from.lanes <= 4 && to.lanes <= 4;
  if (plain) return op(spv::Op::OpBitcast, to, {source});

  // Through 32-bit words, built from and taken apart into lanes.
  auto lanesOf = [&](ir::Type vector) {
    std::vector<Id> lanes;
    for (unsigned lane = 0; lane < vector.lanes; ++lane)
      lanes.push_back(vector.isVector() ? extract(source, vector.scalar(), lane) : source);
    return lanes;
  };
  std::vector<Id> words;
  std::vector<Id> lanes = lanesOf(from);
  if (from.bits == 64) {
    for (Id lane : lanes) {
      Id bits = bitcast(lane, from.scalar(), ir::I64);
      words.push_back(low(bits));
      words.push_back(high(bits));
    }
  } else if (from.bits == 32) {
    for (Id lane : lanes) words.push_back(bitcast(lane, from.scalar(), ir::I32));
  } else {
    for (unsigned lane = 0; lane < lanes.size(); ++lane) {
      Id bits = 0;
      if (from.isFloat()) {
        Id pair = op(spv::Op::OpCompositeConstruct, ir::F16.withLanes(2), {lanes[lane], zero(ir::F16)});
        bits = op(spv::Op::OpBitcast, ir::I32, {pair});
      } else {
        bits = widen(lanes[lane], from.scalar(), false);
      }
      unsigned shift = lane * from.bits % 32;
      if (shift == 0) {
        words.push_back(bits);
        continue;
      }
      Id moved = op(spv::Op::OpShiftLeftLogical, ir::I32, {bits, constant(ir::I32, shift)});
      words.back() = op(spv::Op::OpBitwiseOr, ir::I32, {words.back(), moved});
    }
  }

  std::vector<Id> result;
  for (unsigned lane = 0; lane < to.lanes; ++lane) {
    unsigned bit = lane * to.bits;
    if (to.bits == 64) {
      result.push_back(bitcast(join(words[bit / 32], words[bit / 32 + 1]), ir::I64, to.scalar()));
      continue;
    }
    Id word = words[bit / 32];
    if (bit % 32 != 0) word = op(spv::Op::OpShiftRightLogical, ir::I32, {word, constant(ir::I32, bit % 32)});
    if (to.bits == 32) {
      result.push_back(bitcast(word, ir::I32, to.scalar()));
    } else if (to.isFloat()) {
      Id pair = op(spv::Op::OpBitcast, ir::F16.withLanes(2), {word});
      result.push_back(extract(pair, ir::F16, 0));
    } else {
      result.push_back(narrow(word, to.scalar()));
    }
  }
  return construct(to, result);
}

}  // namespace mulciber::spirv
