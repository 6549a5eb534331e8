// Products of matrices as those of cooperative matrices of a subgroup. Their components are taken to lie as NVIDIA's
// driver has them (580.159.04 on an H200), which runtime/vk/matrix_probe asks of the device. B and the sums lie as
// PTX's fragments, and those of columns 8 to 15 follow: in B after the others, in the sums in each half of the rows. Of
// A, four blocks of 8 rows by half of k, those of the upper rows come first.
#include <array>

#include "translator/spirv/memory.h"

namespace mulciber::spirv {
namespace {

using spv::CooperativeMatrixUse;
using Mask = spv::CooperativeMatrixOperandsMask;

// Younger than the oldest headers that Mulciber builds with.
constexpr auto brainFloatMatrices = static_cast<spv::Capability>(5118);

// The components of a matrix: their type, that of a word of halves, and how many a word holds.
struct Components {
  Id type, ofWord;
  uint32_t packed;
};

Components componentsOf(Emitter& e, ir::MatrixType type) {
  if (type == ir::MatrixType::BrainFloats) {
    e.module.capability(brainFloatMatrices);
    const Id number = e.brainFloatType();
    return {number, e.module.vectorType(number, 2), 2};
  }
  const ir::Type factor = type == ir::MatrixType::Halves ? ir::F16 : ir::I8;
  if (!e.isNative(factor)) e.refuse("the device has no 8-bit integers");
  if (factor == ir::I8) return {e.type(factor), 0, 4};
  return {e.type(factor), e.type(factor.withLanes(2)), 2};
}

// NVIDIA's driver (580.159.04) puts bytes shifted out of a word into a matrix with fewer instructions than those of a
// vector: s8 products of 4,096 rows took 741 us instead of 881 on an H200, and 484 by castFactor.
Id byteOf(Emitter& e, Id word, uint32_t place, Id type) {
  if (place != 0) word = e.op(spv::Op::OpShiftRightLogical, ir::I32, {word, e.constant(ir::I32, 8 * place)});
  return e.module.emit(spv::Op::OpUConvert, type, {word});
}

// The words of a fragment as a matrix. `places` says which words of the matrix they are; the others are zeros.
Id matrix(Emitter& e, const ir::Instruction& words, std::span<const uint8_t> places, const Components& components,
          Id matrixType, bool isFilled = true) {
  Id value = e.value(&words);
  Id result = isFilled
                  ? Id{}
                  : e.module.emit(spv::Op::OpCompositeConstruct, matrixType, {e.module.nullConstant(components.type)});
  for (uint32_t i = 0; i < places.size(); ++i) {
    Id word = e.extract(value, words.type.scalar(), i);
    const Id halves = components.packed == 2 ? e.module.emit(spv::Op::OpBitcast, components.ofWord, {word}) : Id{};
    for (uint32_t j = 0; j < components.packed; ++j) {
      Id part = word;
      if (components.packed == 2) part = e.module.emit(spv::Op::OpCompositeExtract, components.type, {halves, j});
      if (components.packed == 4) part = byteOf(e, word, j, components.type);
      const uint32_t place = places[i] * components.packed + j;
      result = result ? e.module.emit(spv::Op::OpCompositeInsert, matrixType, {part, result, place})
                      : e.module.emit(spv::Op::OpCompositeConstruct, matrixType, {part});  // in all its components
    }
  }
  return result;
}

// A factor of bytes as one of halves of half the depth, whose components' bits are those of two bytes each.
Id castFactor(Emitter& e, const ir::Instruction& words, std::span<const uint8_t> places, Id type,
              CooperativeMatrixUse use) {
  const bool isOfA = use == CooperativeMatrixUse::MatrixAKHR;
  const Components halves = componentsOf(e, ir::MatrixType::Halves);
  const Id typeOfHalves = e.module.matrixType(halves.type, 16, isOfA ? 16 : 8, use);
  return e.module.emit(spv::Op::OpBitcast, type, {matrix(e, words, places, halves, typeOfHalves)});
}

// Units multiply signed bytes to signed sums and unsigned ones to unsigned sums, which have the same bits.
Mask signsOf(ir::MatrixType type) {
  if (type != ir::MatrixType::SignedBytes) return Mask::MaskNone;
  return Mask::MatrixASignedComponentsKHR | Mask::MatrixBSignedComponentsKHR | Mask::MatrixCSignedComponentsKHR |
         Mask::MatrixResultSignedComponentsKHR;
}

// Behind which row of 16 bytes the driver looks for the one that the lane brings, where rows follow each other. Of A it
// brings four blocks of 8x8 halves in the order of PTX's fragments, of B two.
Id rowOfLane(Emitter& e, bool isOfA, bool isTransposed) {
  e.module.capability(spv::Capability::GroupNonUniform);
  const Id lane = e.module.prologueLoad(
      e.u32(), e.module.builtin(spv::BuiltIn::SubgroupLocalInvocationId, e.u32(), "laneInSubgroup"));
  auto bits = [&](uint32_t mask, int left) {
    Id part = e.op(spv::Op::OpBitwiseAnd, ir::I32, {lane, e.constant(ir::I32, mask)});
    const auto by = e.constant(ir::I32, static_cast<uint32_t>(left < 0 ? -left : left));
    return left == 0 ? part
                     : e.op(left < 0 ? spv::Op::OpShiftRightLogical : spv::Op::OpShiftLeftLogical, ir::I32, {part, by});
  };
  auto sum = [&](Id x, Id y) { return e.op(spv::Op::OpIAdd, ir::I32, {x, y}); };
  if (isOfA && isTransposed) return sum(sum(bits(7, 0), bits(16, -1)), bits(8, -3));
  if (isOfA) return sum(bits(15, 0), bits(16, -4));
  return isTransposed ? bits(15, 0) : sum(bits(7, 0), bits(8, -3));
}

}  // namespace

Id emitMatrixProduct(Emitter& e, const ir::Instruction& i) {
  e.module.capability(spv::Capability::CooperativeMatrixKHR);
  e.module.extension("SPV_KHR_cooperative_matrix");
  const auto type = static_cast<ir::MatrixType>(i.payload);
  const ir::Type sum = i.type.scalar();
  const Components factors = componentsOf(e, type), sums{e.type(sum), 0, 1};
  // Of bf16 the device has products by 16 columns alone; the other 8 are zeros, which the driver leaves out.
  const bool isWide = type == ir::MatrixType::BrainFloats;
  const uint32_t rows = 16, depth = 8 * factors.packed, columns = isWide ? 16 : 8;
  const Id typeOfA = e.module.matrixType(factors.type, rows, depth, CooperativeMatrixUse::MatrixAKHR);
  const Id typeOfB = e.module.matrixType(factors.type, depth, columns, CooperativeMatrixUse::MatrixBKHR);
  const Id typeOfSums = e.module.matrixType(sums.type, rows, columns, CooperativeMatrixUse::MatrixAccumulatorKHR);
  constexpr std::array<uint8_t, 4> placesOfA{0, 2, 1, 3}, inOrder{0, 1, 2, 3}, inHalves{0, 1, 4, 5};
  constexpr std::array<uint8_t, 2> placesOfB{0, 1};
  const std::span<const uint8_t> placesOfSums = isWide ? inHalves : inOrder;
  std::vector<uint32_t> operands;
  if (factors.packed == 4 && e.profile.castsMatrices) {
    operands = {castFactor(e, *i.operands[0], placesOfA, typeOfA, CooperativeMatrixUse::MatrixAKHR),
                castFactor(e, *i.operands[1], placesOfB, typeOfB, CooperativeMatrixUse::MatrixBKHR)};
  } else {
    operands = {matrix(e, *i.operands[0], placesOfA, factors, typeOfA),
                matrix(e, *i.operands[1], placesOfB, factors, typeOfB, !isWide)};
  }
  operands.push_back(matrix(e, *i.operands[2], placesOfSums, sums, typeOfSums, !isWide));
  if (const Mask signs = signsOf(type); signs != Mask::MaskNone) operands.push_back(static_cast<uint32_t>(signs));
  const Id result = e.module.emit(spv::Op::OpCooperativeMatrixMulAddKHR, typeOfSums, operands);
  std::vector<Id> components;
  for (uint8_t place : placesOfSums) components.push_back(e.extract(result, sum, place));
  return e.construct(i.type, components);
}

// As a matrix of halves that begins, in each lane, where it would if its rows followed those of the lane.
Id emitLoadRows(Emitter& e, const ir::Instruction& i) {
  e.module.capability(spv::Capability::CooperativeMatrixKHR);
  e.module.extension("SPV_KHR_cooperative_matrix");
  const bool isOfA = i.type.lanes == 4, isTransposed = i.payload != 0;
  const Components halves = componentsOf(e, ir::MatrixType::Halves);
  const Id matrixType = e.module.matrixType(
      halves.type, 16, isOfA ? 16 : 8, isOfA ? CooperativeMatrixUse::MatrixAKHR : CooperativeMatrixUse::MatrixBKHR);
  MemoryEmitter& memory = e.memory();
  const Id at =
      memory.pointerBefore(memory.addressOf(i.operands[0], ir::Space::Shared), rowOfLane(e, isOfA, isTransposed));
  const bool isByRows = isOfA != isTransposed;
  const Id layout = e.module.constant32(static_cast<uint32_t>(isByRows ? spv::CooperativeMatrixLayout::RowMajorKHR
                                                                       : spv::CooperativeMatrixLayout::ColumnMajorKHR));
  const Id loaded = e.module.emit(
      spv::Op::OpCooperativeMatrixLoadKHR, matrixType,
      {at, layout, e.module.constant32(1), static_cast<uint32_t>(spv::MemoryAccessMask::NonPrivatePointer)});
  constexpr std::array<uint32_t, 4> placesOfA{0, 2, 1, 3}, placesOfB{0, 1};
  std::vector<Id> words;
  for (uint32_t word = 0; word < i.type.lanes; ++word) {
    const uint32_t place = (isOfA ? placesOfA : placesOfB)[word] * 2;
    Id low = e.module.emit(spv::Op::OpCompositeExtract, halves.type, {loaded, place});
    Id high = e.module.emit(spv::Op::OpCompositeExtract, halves.type, {loaded, place + 1});
    Id pair = e.module.emit(spv::Op::OpCompositeConstruct, halves.ofWord, {low, high});
    words.push_back(e.module.emit(spv::Op::OpBitcast, e.u32(), {pair}));
  }
  return e.construct(i.type, words);
}

}  // namespace mulciber::spirv
