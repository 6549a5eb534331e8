#include "translator/lower/matrix_units.h"

#include <array>

namespace mulciber::lower {

using ptx::Type;

std::optional<MatrixUnit> MatrixUnit::find(const TargetProfile& profile, Type a, Type b, ir::Type sum) {
  if (!profile.hasWarps()) return std::nullopt;
  if (a == Type::F16) {
    const bool isThere = profile.float16 && (sum == ir::F16 ? profile.matricesF16F16 : profile.matricesF16F32);
    return isThere ? std::optional(MatrixUnit(ir::MatrixType::Halves, sum)) : std::nullopt;
  }
  if (a == Type::BF16 || a == Type::TF32)
    return profile.matricesBF16 ? std::optional(MatrixUnit(ir::MatrixType::BrainFloats, sum)) : std::nullopt;
  if (!profile.int8) return std::nullopt;
  // Numbers of four bits fit signed bytes.
  const bool areSigned = ptx::bitWidth(a) == 4 || (a == Type::S8 && b == Type::S8);
  if (areSigned && profile.matricesS8) return MatrixUnit(ir::MatrixType::SignedBytes, sum);
  if (a == Type::U8 && b == Type::U8 && profile.matricesU8) return MatrixUnit(ir::MatrixType::UnsignedBytes, sum);
  return std::nullopt;
}

void MatrixUnit::addProducts(ir::Builder& b, const MatrixShape& shape, const std::vector<Value>& wordsOfA,
                             const std::vector<Value>& wordsOfB, std::vector<Value>& sums) const {
  const unsigned rows = shape.rowBlocks(), depth = static_cast<unsigned>(wordsOfA.size()) / rows;
  auto wordOfA = [&](unsigned row, unsigned k) {
    return row < rows && k < depth ? wordsOfA[k * rows + row] : b.i32(0);
  };
  auto wordOfB = [&](unsigned column, unsigned k) { return k < depth ? wordsOfB[column * depth + k] : b.i32(0); };
  for (unsigned column = 0; column < shape.columnBlocks(); column++)
    for (unsigned row = 0; row < rows; row += 2) {
      Value* first = &sums[2 * (column * rows + row)];
      const unsigned count = row + 1 < rows ? 4 : 2;
      std::array<Value, 4> parts;
      for (unsigned i = 0; i < 4; i++) parts[i] = i < count ? first[i] : b.constant(sum_, 0);
      Value total = b.vector(parts);
      for (unsigned k = 0; k < depth; k += 2) {
        Value left =
            b.vector(std::array{wordOfA(row, k), wordOfA(row + 1, k), wordOfA(row, k + 1), wordOfA(row + 1, k + 1)});
        Value right = b.vector(std::array{wordOfB(column, k), wordOfB(column, k + 1)});
        total = b.emit(ir::Op::MatrixProduct, total->type, {left, right, total}, static_cast<uint64_t>(type_));
      }
      for (unsigned i = 0; i < count; i++) first[i] = b.extract(total, i);
    }
}

}  // namespace mulciber::lower
