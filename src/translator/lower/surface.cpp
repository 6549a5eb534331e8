// suld, sust and sured: the forms of the instructions. How a surface is reached is in surface_access.h.
#include <algorithm>

#include "translator/lower/surface_access.h"
#include "translator/lower/surface_texel.h"
#include "translator/lower/texture_query.h"

namespace mulciber::lower {
namespace {

using abi::ImageShape;
using ir::Op;
using ptx::Mod;

bool canReachSurfaces(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (!f.profile().surfaces)
    f.refuse(instruction, "the device cannot write images of arrays of descriptors, which surfaces need");
  return f.profile().surfaces;
}

SurfaceBoundary boundaryOf(const ptx::Instruction& instruction) {
  if (instruction.has(Mod::clamp)) return SurfaceBoundary::Clamp;
  return instruction.has(Mod::zero) ? SurfaceBoundary::Zero : SurfaceBoundary::Trap;
}

// What stands in brackets.
SurfacePlace placeOf(FunctionLowering& f, const ptx::Instruction& instruction, const ptx::Operand& brackets) {
  const Mod geometry = instruction.first({Mod::_1d, Mod::_2d, Mod::_3d, Mod::a1d, Mod::a2d}, Mod::_2d);
  const bool isLayered = geometry == Mod::a1d || geometry == Mod::a2d;
  const unsigned dimensions = geometry == Mod::_1d || geometry == Mod::a1d ? 1 : geometry == Mod::_3d ? 3 : 2;
  const ImageShape shapes[] = {ImageShape::Lines, ImageShape::Planes, ImageShape::Volume};
  auto coordinate = [&](unsigned index) { return vectorElement(f, brackets.elements[1], index, ir::I32); };
  const unsigned first = isLayered ? 1 : 0;
  SurfacePlace place{shapes[dimensions - 1], coordinate(first), f.b.i32(0), f.b.i32(0), dimensions, isLayered,
                     instruction.has(Mod::p)};
  if (dimensions > 1) place.y = coordinate(first + 1);
  if (dimensions > 2) place.z = coordinate(first + 2);
  if (isLayered) place.z = coordinate(0);
  return place;
}

// How many numbers of how many bits an instruction moves.
struct Vector {
  unsigned count, bits;
  unsigned bytes() const { return count * bits / 8; }
  ir::Type type() const { return ir::intType(bits).withLanes(static_cast<uint8_t>(count)); }
};

Vector vectorOf(const ptx::Instruction& instruction) {
  return {instruction.has(Mod::v4) ? 4u : instruction.has(Mod::v2) ? 2u : 1u, ptx::bitWidth(instruction.types[0])};
}

Value component(ir::Builder& b, Value vector, unsigned count, unsigned index) {
  return count == 1 ? vector : b.extract(vector, index);
}

void lowerSuld(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (!canReachSurfaces(f, instruction)) return;
  ir::Builder& b = f.b;
  const ptx::Operand& brackets = instruction.operands[1];
  const TextureRecord record(f, textureHandle(f, brackets.elements[0]));
  const Vector vector = vectorOf(instruction);
  const SurfacePlace place = placeOf(f, instruction, brackets);
  const SurfaceBoundary boundary = boundaryOf(instruction);
  std::vector<ir::VariableId> variables(std::max(vector.bytes() / 4, 1u));
  for (ir::VariableId& variable : variables) variable = b.function().addVariable(ir::I32, "word");
  auto take = [&](auto&& access) {
    const Words read = access.read();
    for (size_t i = 0; i < read.size(); ++i) b.write(variables[i], read[i]);
  };
  f.beginIf(ExactSurface::isExact(f, record, place, vector.bytes()));
  take(ExactSurface(f, record, place, boundary, vector.bytes()));
  f.beginElse();
  take(SurfaceAccess(f, record, place, boundary, vector.bytes()));
  f.endIf();
  Words words;
  for (const ir::VariableId variable : variables) words.push_back(b.read(variable));
  std::vector<Value> parts;
  for (unsigned i = 0; i < vector.count; ++i) {
    const unsigned bit = i * vector.bits;
    if (vector.bits == 64) {
      parts.push_back(b.bitcast(ir::I64, b.vector(Words{words[2 * i], words[2 * i + 1]})));
    } else if (vector.bits == 32) {
      parts.push_back(words[i]);
    } else {
      Value part = b.emit(Op::BitExtractU, ir::I32, {words[bit / 32], b.i32(bit % 32), b.i32(vector.bits)});
      parts.push_back(b.convert(Op::Trunc, ir::intType(vector.bits), part));
    }
  }
  f.write(instruction.operands[0], parts.size() == 1 ? parts[0] : b.vector(parts));
}

Words wordsOf(ir::Builder& b, Value value, const Vector& vector) {
  if (vector.bits >= 32) {
    const auto count = static_cast<uint8_t>(vector.bytes() / 4);
    const Value whole = b.bitcast(ir::I32.withLanes(count), value);
    Words words;
    for (unsigned i = 0; i < count; ++i) words.push_back(component(b, whole, count, i));
    return words;
  }
  Words words((vector.bytes() + 3) / 4);
  for (unsigned i = 0; i < vector.count; ++i) {
    const unsigned bit = i * vector.bits;
    const Value part = b.convert(Op::ZExt, ir::I32, component(b, value, vector.count, i));
    Value& word = words[bit / 32];
    word = bit % 32 == 0 ? part : b.bitOr(word, b.shl(part, b.i32(bit % 32)));
  }
  return words;
}

void lowerSust(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (!canReachSurfaces(f, instruction)) return;
  const ptx::Operand& brackets = instruction.operands[0];
  const TextureRecord record(f, textureHandle(f, brackets.elements[0]));
  const Vector vector = vectorOf(instruction);
  const SurfacePlace place = placeOf(f, instruction, brackets);
  const SurfaceBoundary boundary = boundaryOf(instruction);
  const Words words = wordsOf(f.b, f.value(instruction.operands[1], vector.type()), vector);
  if (instruction.has(Mod::p)) {
    SurfaceAccess(f, record, place, boundary, vector.bytes()).writeTexel(surfaceTexel(f, record, words));
    return;
  }
  f.beginIf(ExactSurface::isExact(f, record, place, vector.bytes()));
  ExactSurface(f, record, place, boundary, vector.bytes()).write(words);
  f.beginElse();
  SurfaceAccess(f, record, place, boundary, vector.bytes()).write(words);
  f.endIf();
}

struct Reduction {
  Op atomic, plain;
};

Reduction reductionOf(const ptx::Instruction& instruction, bool isSigned) {
  if (instruction.has(Mod::add)) return {Op::ImageAtomicAdd, Op::Add};
  if (instruction.has(Mod::and_)) return {Op::ImageAtomicAnd, Op::And};
  if (instruction.has(Mod::or_)) return {Op::ImageAtomicOr, Op::Or};
  if (instruction.has(Mod::min))
    return isSigned ? Reduction{Op::ImageAtomicSMin, Op::SMin} : Reduction{Op::ImageAtomicUMin, Op::UMin};
  return isSigned ? Reduction{Op::ImageAtomicSMax, Op::SMax} : Reduction{Op::ImageAtomicUMax, Op::UMax};
}

// An H200 updates words of 32 bits, whatever the texels are, and counts them where the instruction is formatted.
SurfacePlace wordPlaceOf(FunctionLowering& f, const ptx::Instruction& instruction, const ptx::Operand& brackets) {
  ir::Builder& b = f.b;
  SurfacePlace place = placeOf(f, instruction, brackets);
  if (!place.isFormatted) return place;
  constexpr uint32_t most = 1u << 28;  // words, which no row has
  const Value word = b.binary(Op::SMax, b.binary(Op::SMin, place.x, b.i32(most)), b.i32(~0u));
  place.x = b.shl(word, b.i32(2));
  place.isFormatted = false;
  return place;
}

void lowerSured(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (!canReachSurfaces(f, instruction)) return;
  ir::Builder& b = f.b;
  const ptx::Operand& brackets = instruction.operands[0];
  const TextureRecord record(f, textureHandle(f, brackets.elements[0]));
  const Vector vector = vectorOf(instruction);
  const Value operand = f.value(instruction.operands[1], vector.type());
  auto reduce = [&](bool isSigned) {
    const auto [atomic, plain] = reductionOf(instruction, isSigned);
    SurfaceAccess access(f, record, wordPlaceOf(f, instruction, brackets), boundaryOf(instruction), vector.bytes());
    access.update(atomic, operand, [&, plain = plain](const Words& old) {
      const Value before = old.size() == 1 ? old[0] : b.bitcast(ir::I64, b.vector(old));
      return wordsOf(b, b.binary(plain, before, operand), vector);
    });
  };
  const bool comparesTexels = instruction.has(Mod::p) && (instruction.has(Mod::min) || instruction.has(Mod::max));
  if (!comparesTexels) return reduce(ptx::isSigned(instruction.types[0]));
  // What is less, the surface's format says.
  const auto isSigned = b.i32(static_cast<uint32_t>(abi::ChannelType::Signed));
  f.beginIf(b.compare(Op::IEq, record.word(offsetof(abi::TextureRecord, channelType)), isSigned));
  reduce(true);
  f.beginElse();
  reduce(false);
  f.endIf();
}

constexpr Lowering rows[] = {
    {ptx::Opcode::Suld, lowerSuld, Effect::Effects},
    {ptx::Opcode::Sust, lowerSust, Effect::Effects},
    {ptx::Opcode::Sured, lowerSured, Effect::Effects},
    {ptx::Opcode::Suq, lowerQuery, Effect::Effects},
};

}  // namespace

std::span<const Lowering> surfaceLowerings() { return rows; }

}  // namespace mulciber::lower
