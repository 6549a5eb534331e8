// Products of matrices on the device's matrix units, whose fragments lie as those of mma (matrix_shape.h).
#pragma once

#include <optional>
#include <vector>

#include "mulciber/translator.h"
#include "translator/lower/arithmetic.h"
#include "translator/lower/matrix_shape.h"

namespace mulciber::lower {

class MatrixUnit {
 public:
  // The one for such A and B whose sums are of that type; nothing where the device has none.
  static std::optional<MatrixUnit> find(const TargetProfile& profile, ptx::Type a, ptx::Type b, ir::Type sum);

  ir::Type sumType() const { return sum_; }

  // Adds A * B to the sums. Each word of A and B holds 4 bytes along k; fragments of less than the unit takes are
  // filled up with zeros.
  void addProducts(ir::Builder& b, const MatrixShape& shape, const std::vector<Value>& wordsOfA,
                   const std::vector<Value>& wordsOfB, std::vector<Value>& sums) const;

 private:
  MatrixUnit(ir::MatrixType type, ir::Type sum) : type_(type), sum_(sum) {}

  ir::MatrixType type_;
  ir::Type sum_;
};

}  // namespace mulciber::lower
