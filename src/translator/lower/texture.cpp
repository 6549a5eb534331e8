// tex and tld4: the forms of the instructions. How a texture is read is in texture_filter.h.
#include <algorithm>
#include <iterator>

#include "translator/lower/texture_filter.h"
#include "translator/lower/texture_query.h"

namespace mulciber::lower {
namespace {

using abi::ImageShape;
using ir::Op;
using ptx::Mod;

TextureGeometry geometryOf(const ptx::Instruction& instruction) {
  switch (instruction.first({Mod::_1d, Mod::_2d, Mod::_3d, Mod::a1d, Mod::a2d, Mod::cube, Mod::acube}, Mod::pred)) {
    case Mod::_1d: return {1, false, false};
    case Mod::a1d: return {1, true, false};
    case Mod::_3d: return {3, false, false};
    case Mod::a2d: return {2, true, false};
    case Mod::cube: return {3, false, true};
    case Mod::acube: return {3, true, true};
    default: return {2, false, false};
  }
}

std::vector<Value> elements(FunctionLowering& f, const ptx::Operand& operand, size_t first, size_t count,
                            ir::Type type) {
  std::vector<Value> values;
  for (size_t i = 0; i < count; ++i) values.push_back(vectorElement(f, operand, first + i, type));
  return values;
}

// What stands in brackets, and the offsets behind it. False when the form is refused.
bool readPlace(FunctionLowering& f, const ptx::Instruction& instruction, ir::Type coordinate, size_t fixedOperands,
               TextureSample& sample) {
  if (instruction.has(Mod::_2dms) || instruction.has(Mod::a2dms)) {
    f.refuse(instruction, "CUDA has no textures of several samples");
    return false;
  }
  const ptx::Operand& place = instruction.operands[1];
  if (place.elements.size() != 2) {
    f.refuse(instruction, "samplers apart from textures (.texmode_independent) are not supported");
    return false;
  }
  sample.geometry = geometryOf(instruction);
  const ptx::Operand& coordinates = place.elements[1];
  if (sample.geometry.isLayered) sample.layer = vectorElement(f, coordinates, 0, ir::I32);
  sample.coordinates =
      elements(f, coordinates, sample.geometry.isLayered ? 1 : 0, sample.geometry.dimensions, coordinate);
  for (size_t i = fixedOperands; i < instruction.operands.size(); ++i) {
    const ptx::Operand& operand = instruction.operands[i];
    // What is no vector is a depth to compare with. No texture of CUDA compares: an H200 reads it as without.
    if (operand.kind == ptx::Operand::Kind::Vector)
      sample.offsets = elements(f, operand, 0, sample.geometry.dimensions, ir::I32);
  }
  return true;
}

constexpr ir::FloatControl plain{.flush = true};
// Of what gives the same whether the device keeps denormals or not: a kernel that asks for both pays for one of them.
constexpr ir::FloatControl either{.approximate = true};

// Of a step of up to three coordinates, as an H200 takes it: the longest one, 11/32 of the next and 1/4 of the last.
Value lengthOf(ir::Builder& b, const std::vector<Value>& step) {
  const auto scaled = [&](Value x, float factor, Value rest) {
    return b.floating(Op::Fma, plain, {x, b.f32(factor), rest});
  };
  const Value x = b.unary(Op::FAbs, step[0]);
  if (step.size() == 1) return x;
  const Value y = b.unary(Op::FAbs, step[1]);
  const Value more = b.binary(Op::FMax, x, y), less = b.binary(Op::FMin, x, y);
  if (step.size() == 2) return scaled(less, 11 / 32.f, more);
  const Value z = b.unary(Op::FAbs, step[2]);
  const Value middle = b.binary(Op::FMax, less, b.binary(Op::FMin, more, z));
  return scaled(b.binary(Op::FMin, less, z), 0.25f, scaled(middle, 11 / 32.f, b.binary(Op::FMax, more, z)));
}

// The level whose texels are as far apart as the gradients say. An H200 looks at the two steps and at 11/16 of their
// sum and difference, and takes the logarithm of nine bits; the sums' last bits it computes otherwise.
Value levelOfGradients(FunctionLowering& f, const TextureRecord& record, const ptx::Instruction& instruction,
                       unsigned dimensions) {
  ir::Builder& b = f.b;
  constexpr size_t extents[] = {offsetof(abi::TextureRecord, width), offsetof(abi::TextureRecord, height),
                                offsetof(abi::TextureRecord, depth)};
  std::vector<Value> steps[4];  // two, their sum and their difference
  for (unsigned i = 0; i < dimensions; ++i) {
    const Value texels = b.convert(Op::UToF, ir::F32, record.word(extents[i]));
    for (const size_t which : {0, 1})
      steps[which].push_back(b.binary(Op::FMul, vectorElement(f, instruction.operands[2 + which], i, ir::F32), texels));
    steps[2].push_back(b.binary(Op::FAdd, steps[0][i], steps[1][i]));
    steps[3].push_back(b.binary(Op::FSub, steps[0][i], steps[1][i]));
  }
  Value longest = b.binary(Op::FMax, lengthOf(b, steps[0]), lengthOf(b, steps[1]));
  for (const size_t which : {2, 3})
    longest = b.binary(Op::FMax, longest, b.binary(Op::FMul, lengthOf(b, steps[which]), b.f32(11 / 16.f)));
  // Eight bits behind the first one are kept, and half of the last where they are not all zeros.
  const Value bits = b.bitAnd(b.bitcast(ir::I32, longest), b.i32(0xFFFF8000));
  const Value hasFraction = b.compare(Op::INe, b.bitAnd(bits, b.i32(0x7FFFFF)), b.i32(0));
  const Value kept = b.bitOr(bits, b.select(hasFraction, b.i32(0x4000), b.i32(0)));
  const Value fine =
      b.floating(Op::Fma, plain, {b.unary(Op::FLog2, b.bitcast(ir::F32, kept)), b.f32(256), b.f32(0.5f)});
  return b.binary(Op::FMul, b.unary(Op::FFloor, fine), b.f32(1 / 256.f));
}

// Of a number below 2^22, by additions: a GPU has few units that round to integers. Of larger ones something as large,
// and of denormals 0.
Value floorOf(ir::Builder& b, Value x) {
  const Value shift = b.f32(0x1.8p23f);  // the sum's last bit counts ones
  const Value nearest = b.floating(Op::FSub, either, {b.floating(Op::FAdd, either, {x, shift}), shift});
  const Value isAbove = b.compare(Op::FLe, b.f32(0x1p-126f), b.floating(Op::FSub, either, {nearest, x}));
  return b.floating(Op::FSub, either, {nearest, b.select(isAbove, b.f32(1), b.f32(0))});
}

// Texel coordinates for a sampler of normalised ones, of which it makes the same 256ths of a texel again.
std::vector<Value> scaled(FunctionLowering& f, const TextureRecord& record, const TextureSample& sample) {
  ir::Builder& b = f.b;
  const Value scale = record.numbers(offsetof(abi::TextureRecord, scale)),
              shift = record.numbers(offsetof(abi::TextureRecord, shift));
  const Value isScaled = b.compare(Op::INe, b.bitAnd(record.stored(), b.i32(abi::ScalesCoordinates)), b.i32(0));
  std::vector<Value> result;
  for (unsigned i = 0; i < sample.coordinates.size(); ++i) {
    const Value x = sample.coordinates[i];
    const Value place = floorOf(b, b.floating(Op::Fma, either, {x, b.extract(scale, 3), b.extract(shift, 3)}));
    result.push_back(
        b.select(isScaled, b.floating(Op::Fma, either, {place, b.extract(scale, i), b.extract(shift, i)}), x));
  }
  return result;
}

// Of planes whose rows have more columns than the texture: their samplers know no end of it.
std::vector<Value> clamped(FunctionLowering& f, const TextureRecord& record, const TextureSample& sample) {
  ir::Builder& b = f.b;
  const Value x = sample.coordinates[0], bounds = record.numbers(offsetof(abi::TextureRecord, scale));
  const Value isClamped = b.compare(Op::INe, b.bitAnd(record.stored(), b.i32(abi::ClampsColumn)), b.i32(0));
  const Value atLeast = b.floating(Op::FMax, either, {x, b.extract(bounds, 0)});
  const Value within = b.floating(Op::FMin, either, {atLeast, b.extract(bounds, 1)});
  return {b.select(isClamped, within, x), sample.coordinates[1]};
}

// Of integers of 8 and 16 bits.
struct Integers {
  Value largest;  // f32
  Value sign;     // the one bit by which they are extended
  Value areThere;
};

// `fits`: the record is of this shape, and of an object.
Integers integersOf(FunctionLowering& f, const TextureRecord& record, ImageShape shape, Value fits) {
  ir::Builder& b = f.b;
  const Value areThere =
      b.bitAnd(fits, b.compare(Op::INe, b.bitAnd(record.stored(), b.i32(abi::IntegerTexels)), b.i32(0)));
  if (shape == ImageShape::Plane) {  // in the record beside what clamped() reads
    const Value numbers = record.numbers(offsetof(abi::TextureRecord, scale));
    return {b.extract(numbers, 2), b.bitcast(ir::I32, b.extract(numbers, 3)), areThere};
  }
  constexpr uint32_t shortest = 10;  // bits to be extended of an integer of 16 bits
  const Value bits =
      b.emit(Op::BitExtractU, ir::I32, {record.stored(), b.i32(abi::extendedShift), b.i32(abi::extendedBits)});
  return {b.select(b.compare(Op::ULt, bits, b.i32(shortest)), b.f32(255), b.f32(65535)),
          b.binary(Op::LShr, b.shl(b.i32(1), bits), b.i32(1)), areThere};
}

// A channel as the texture's reader wants it: integers of 8 and 16 bits come as fractions of the largest one, those of
// 32 bits as the numbers that have their bits.
Value channelOf(ir::Builder& b, const Integers& integers, Value sampled) {
  // The sum's last bit counts ones. A number is extended in two steps, by turning its sign and taking it away again.
  constexpr uint32_t one = 0x4B000000;  // the bits of 2^23
  const Value sum = b.floating(Op::Fma, either, {sampled, integers.largest, b.f32(0x1p23f)});
  const Value turned = b.bitXor(b.bitcast(ir::I32, sum), integers.sign);
  const Value integer = b.sub(turned, b.add(integers.sign, b.i32(one)));
  return b.select(integers.areThere, integer, b.bitcast(ir::I32, sampled));
}

// By the device's own sampler that the record names, where it gives what CUDA's gives. The runtime sees to it that
// there is no texture which samplers do not serve, or translates again without them. What is no object any more has the
// image of number 0, of zeros. There is no branch around the instruction, so that several are on their way at once.
Channels sampled(FunctionLowering& f, const TextureRecord& record, const TextureSample& sample,
                 const std::vector<Value>& gradients) {
  ir::Builder& b = f.b;
  const TextureGeometry& geometry = sample.geometry;
  const Value zero = b.i32(0), key = b.bitAnd(record.stored(), b.i32(abi::ShapeMask | abi::IsSampled));
  const Value hasShape = b.compare(Op::IEq, key, b.i32(static_cast<uint32_t>(geometry.sampled()) | abi::IsSampled));
  const Value fits = b.bitAnd(record.isLive(), hasShape);
  f.beginIf(b.bitAnd(record.isLive(), b.bitNot(hasShape)));
  f.fail(KernelFault::Trap);  // an image of another geometry
  f.endIf();
  std::vector<Value> operands = {b.select(fits, record.image(), zero), b.select(fits, record.sampler(), zero)};
  if (gradients.empty()) {
    Value level = b.f32(0);
    if (sample.level) {
      const Value hasOne = b.compare(Op::INe, b.bitAnd(record.stored(), b.i32(abi::HasOneLevel)), zero);
      level = b.select(hasOne, level, sample.level);
    }
    operands.push_back(level);
  }
  operands.insert(operands.end(), gradients.begin(), gradients.end());
  const bool mayBeScaled = !geometry.isCube && (geometry.isLayered || geometry.dimensions == 3);
  const std::vector<Value> coordinates = mayBeScaled                               ? scaled(f, record, sample)
                                         : geometry.sampled() == ImageShape::Plane ? clamped(f, record, sample)
                                                                                   : sample.coordinates;
  operands.insert(operands.end(), coordinates.begin(), coordinates.end());
  if (sample.layer) operands.push_back(b.convert(Op::UToF, ir::F32, sample.layer));
  Value all = b.emit(Op::ImageSample, ir::F32.withLanes(4), {}, static_cast<uint32_t>(geometry.sampled()));
  all->operands = std::move(operands);
  Channels result;
  const Integers integers = integersOf(f, record, geometry.sampled(), fits);
  for (unsigned i = 0; i < 4; ++i) result[i] = channelOf(b, integers, b.extract(all, i));
  // A fourth channel that the texture has not is one to Vulkan, and zero to CUDA.
  const Value hasFourth = b.compare(Op::INe, b.bitAnd(record.stored(), b.i32(abi::HasFourth)), zero);
  result[3] = b.select(b.bitAnd(fits, hasFourth), result[3], zero);
  return result;
}

// Of linear memory, whose channels mostly have 32 bits and are read as they are.
Channels fetch(FunctionLowering& f, const TextureRecord& record, const TextureSample& sample) {
  ir::Builder& b = f.b;
  const TextureGeometry& geometry = sample.geometry;
  const auto read = [&] { return TextureFilter(f, record, sample).texel(); };
  if (geometry.dimensions != 1 || geometry.isLayered || sample.level || !sample.offsets.empty()) return read();
  std::array<ir::VariableId, 4> results;
  for (ir::VariableId& result : results) {
    result = b.function().addVariable(ir::I32, "channel");
    b.write(result, b.i32(0));
  }
  const Value x = sample.coordinates[0];
  const Value isInside = b.compare(Op::ULt, x, record.word(offsetof(abi::TextureRecord, width)));
  const Value key = b.bitAnd(record.sampling(), b.i32(abi::FetchesWords | abi::channelMask));
  constexpr uint32_t counts[] = {1, 4, 2};  // the commonest first
  for (const uint32_t count : counts) {
    f.beginIf(b.compare(Op::IEq, key, b.i32(abi::FetchesWords | count)));
    f.beginIf(isInside);
    ir::MemoryAccess access;
    access.space = ir::Space::Global;
    access.alignment = static_cast<uint8_t>(4 * count);
    const Value offset = b.mul(b.convert(Op::ZExt, ir::I64, x), b.i64(4 * count));
    const Value words = b.load(ir::I32.withLanes(static_cast<uint8_t>(count)), b.add(record.address(), offset), access);
    for (uint32_t i = 0; i < count; ++i) b.write(results[i], count == 1 ? words : b.extract(words, i));
    f.endIf();
    f.beginElse();
  }
  const Channels others = read();
  for (unsigned i = 0; i < 4; ++i) b.write(results[i], others[i]);
  for (size_t i = 0; i < std::size(counts); ++i) f.endIf();
  return {b.read(results[0]), b.read(results[1]), b.read(results[2]), b.read(results[3])};
}

void writeChannels(FunctionLowering& f, const ptx::Instruction& instruction, const Channels& channels) {
  ir::Builder& b = f.b;
  const auto [destination, isResident] = FunctionLowering::pair(instruction.operands[0]);
  if (isResident) f.write(*isResident, b.boolean(true));
  if (instruction.types[0] != ptx::Type::F16x2) return f.write(*destination, b.vector(channels));
  std::vector<Value> halves;
  for (Value channel : channels) {
    Value half = b.convert(Op::FConvert, ir::F16, b.bitcast(ir::F32, channel));
    halves.push_back(half);
  }
  f.write(*destination, b.bitcast(ir::I32.withLanes(2), b.vector(halves)));
}

bool canReadTextures(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (!f.profile().textures)
    f.refuse(instruction, "the device cannot choose images from arrays of descriptors, which textures need");
  return f.profile().textures;
}

void lowerTex(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (!canReadTextures(f, instruction)) return;
  const bool isInteger = instruction.types[1] == ptx::Type::S32;
  const ir::Type coordinate = isInteger ? ir::I32 : ir::F32;
  const bool hasLevel = instruction.has(Mod::level), hasGradients = instruction.has(Mod::grad);
  const size_t fixedOperands = hasGradients ? 4 : hasLevel ? 3 : 2;
  TextureSample sample;
  if (!readPlace(f, instruction, coordinate, fixedOperands, sample)) return;
  const TextureRecord record(f, textureHandle(f, instruction.operands[1].elements[0]));
  if (hasLevel) sample.level = f.value(instruction.operands[2], coordinate);
  std::vector<Value> gradients;
  if (hasGradients) {
    sample.level = levelOfGradients(f, record, instruction, sample.geometry.dimensions);
    for (const size_t which : {size_t{2}, size_t{3}})
      std::ranges::copy(elements(f, instruction.operands[which], 0, sample.geometry.dimensions, ir::F32),
                        std::back_inserter(gradients));
  }
  const bool isSampled = f.profile().samplesLikeCuda && sample.offsets.empty();
  const Channels channels = isInteger   ? fetch(f, record, sample)
                            : isSampled ? sampled(f, record, sample, gradients)
                                        : TextureFilter(f, record, sample).sample();
  writeChannels(f, instruction, channels);
}

void lowerTld4(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (!canReadTextures(f, instruction)) return;
  TextureSample sample;
  if (!readPlace(f, instruction, ir::F32, 2, sample)) return;
  const TextureRecord record(f, textureHandle(f, instruction.operands[1].elements[0]));
  const Mod channel = instruction.first({Mod::r, Mod::g, Mod::b, Mod::a}, Mod::r);
  const unsigned index = channel == Mod::g ? 1 : channel == Mod::b ? 2 : channel == Mod::a ? 3 : 0;
  writeChannels(f, instruction, TextureFilter(f, record, sample).gather(index));
}

constexpr Lowering rows[] = {
    {ptx::Opcode::Tex, lowerTex, Effect::Effects},
    {ptx::Opcode::Tld4, lowerTld4, Effect::Effects},
    {ptx::Opcode::Txq, lowerQuery, Effect::Effects},
    {ptx::Opcode::Istypep, lowerIstypep},
};

}  // namespace

std::span<const Lowering> textureLowerings() { return rows; }

}  // namespace mulciber::lower
