// The warp operations that several instruction families share.
#pragma once

#include <array>

#include "translator/lower/function_lowering.h"

namespace mulciber::lower {

class WarpTools {
 public:
  // Operations of the lanes that are there, of those that a mask names, and of all lanes of the warp.
  explicit WarpTools(FunctionLowering& lowering) : WarpTools(lowering, lowering.b.i32(0)) {}
  WarpTools(FunctionLowering& lowering, const ptx::Operand& mask) : WarpTools(lowering, lowering.value(mask, ir::I32)) {
    isOfPart_ = !isFull(&mask);
  }
  static WarpTools ofWholeWarp(FunctionLowering& lowering) { return WarpTools(lowering, lowering.b.i32(~0u)); }

  void synchronise() { b.emit(ir::Op::WarpBarrier, ir::Void, {}, isOfPart_ ? 1 : 0); }
  ir::Instruction* shuffle(ir::Instruction* value, ir::Instruction* lane);  // also of 64 bits
  ir::Instruction* ballot(ir::Instruction* condition);
  ir::Instruction* lowestLane(ir::Instruction* mask);
  ir::Instruction* members(const ptx::Operand* mask);  // the active lanes among those named; null names all
  static bool isFull(const ptx::Operand* mask);

 private:
  WarpTools(FunctionLowering& lowering, ir::Instruction* expected);

  FunctionLowering& f;
  ir::Builder& b;
  bool isOfPart_ = false;  // what the mask names, which may not be all lanes
};

}  // namespace mulciber::lower
