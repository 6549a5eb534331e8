// Products of matrices as those of cooperative matrices of a subgroup. Their components are taken to lie as NVIDIA's
// driver has them (580.159.04 on an H200), which runtime/vk/matrix_probe asks of the device: B and the sums as PTX's
// fragments, of A, four blocks of 8 rows by half of k, first those of the upper rows.
#include <array>

#include "translator/spirv/emitter.h"

namespace mulciber::spirv {
namespace {

using spv::CooperativeMatrixUse;
using Mask = spv::CooperativeMatrixOperandsMask;

constexpr uint32_t rows = 16, columns = 8;

// The words of a fragment, in that order, as a matrix of such components.
Id matrix(Emitter& e, const ir::Instruction& words, std::span<const uint8_t> order, ir::Type component, Id matrixType) {
  const auto packed = static_cast<uint8_t>(words.type.bits / component.bits);
  Id value = e.value(&words), result = 0;
  uint32_t next = 0;
  for (uint8_t i : order) {
    Id word = e.extract(value, words.type.scalar(), i);
    Id parts = packed == 1 ? word : e.bitcast(word, words.type.scalar(), component.withLanes(packed));
    for (unsigned j = 0; j < packed; ++j, ++next) {
      Id part = packed == 1 ? parts : e.extract(parts, component, j);
      result = next == 0 ? e.module.emit(spv::Op::OpCompositeConstruct, matrixType, {part})  // in all its components
                         : e.module.emit(spv::Op::OpCompositeInsert, matrixType, {part, result, next});
    }
  }
  return result;
}

// Units multiply signed bytes to signed sums and unsigned ones to unsigned sums, which have the same bits.
Mask signsOf(ir::MatrixType type) {
  if (type != ir::MatrixType::SignedBytes) return Mask::MaskNone;
  return Mask::MatrixASignedComponentsKHR | Mask::MatrixBSignedComponentsKHR | Mask::MatrixCSignedComponentsKHR |
         Mask::MatrixResultSignedComponentsKHR;
}

}  // namespace

Id emitMatrixProduct(Emitter& e, const ir::Instruction& i) {
  e.module.capability(spv::Capability::CooperativeMatrixKHR);
  e.module.extension("SPV_KHR_cooperative_matrix");
  const auto type = static_cast<ir::MatrixType>(i.payload);
  const ir::Type factor = type == ir::MatrixType::Halves ? ir::F16 : ir::I8, sum = i.type.scalar();
  if (!e.isNative(factor)) e.refuse("the device has no 8-bit integers");
  const uint32_t depth = 256 / factor.bits;
  const Id typeOfA = e.module.matrixType(e.type(factor), rows, depth, CooperativeMatrixUse::MatrixAKHR);
  const Id typeOfB = e.module.matrixType(e.type(factor), depth, columns, CooperativeMatrixUse::MatrixBKHR);
  const Id typeOfSums = e.module.matrixType(e.type(sum), rows, columns, CooperativeMatrixUse::MatrixAccumulatorKHR);
  constexpr std::array<uint8_t, 4> orderOfA{0, 2, 1, 3}, inOrder{0, 1, 2, 3};
  std::vector<uint32_t> operands{matrix(e, *i.operands[0], orderOfA, factor, typeOfA),
                                 matrix(e, *i.operands[1], std::span(inOrder).first(2), factor, typeOfB),
                                 matrix(e, *i.operands[2], inOrder, sum, typeOfSums)};
  if (const Mask signs = signsOf(type); signs != Mask::MaskNone) operands.push_back(static_cast<uint32_t>(signs));
  const Id result = e.module.emit(spv::Op::OpCooperativeMatrixMulAddKHR, typeOfSums, operands);
  std::vector<Id> sums;
  for (unsigned component = 0; component < i.type.lanes; ++component) sums.push_back(e.extract(result, sum, component));
  return e.construct(i.type, sums);
}

}  // namespace mulciber::spirv
