// The warp operations that several instruction families share.
#pragma once

#include <array>

#include "translator/lower/function_lowering.h"

namespace mulciber::lower {

class WarpTools {
 public:
  explicit WarpTools(FunctionLowering& lowering) : f(lowering), b(lowering.b) {}

  ir::Instruction* shuffle(ir::Instruction* value, ir::Instruction* lane);  // also of 64 bits
  ir::Instruction* ballot(ir::Instruction* condition);
  ir::Instruction* lowestLane(ir::Instruction* mask);
  ir::Instruction* members(const ptx::Operand* mask);  // the active lanes among those named; null names all
  static bool isFull(const ptx::Operand* mask);

 private:
  FunctionLowering& f;
  ir::Builder& b;
};

}  // namespace mulciber::lower
