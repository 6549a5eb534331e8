// %tid, %ctaid, %laneid and the other special registers.
#include "translator/lower/function_lowering.h"

namespace mulciber::lower {
namespace {

using Id = ptx::SpecialRegister;
using ir::InputKind;

ir::Instruction* threadIndex(ir::Builder& b, unsigned dimension) {
  ir::Instruction* linear = b.input(InputKind::LocalIndex);
  ir::Instruction* width = b.input(InputKind::BlockDimX);
  if (dimension == 0) return b.binary(ir::Op::URem, linear, width);
  ir::Instruction* height = b.input(InputKind::BlockDimY);
  if (dimension == 1) return b.binary(ir::Op::URem, b.binary(ir::Op::UDiv, linear, width), height);
  return b.binary(ir::Op::UDiv, linear, b.mul(width, height));
}

}  // namespace

ir::Instruction* FunctionLowering::laneId() { return b.bitAnd(b.input(InputKind::LocalIndex), b.i32(31)); }

ir::Instruction* FunctionLowering::specialRegister(Id which) {
  ir::Instruction* lane = nullptr;
  switch (which) {
    case Id::TidX: return threadIndex(b, 0);
    case Id::TidY: return threadIndex(b, 1);
    case Id::TidZ: return threadIndex(b, 2);
    case Id::NtidX: return b.input(InputKind::BlockDimX);
    case Id::NtidY: return b.input(InputKind::BlockDimY);
    case Id::NtidZ: return b.input(InputKind::BlockDimZ);
    case Id::CtaidX:
    case Id::ClusteridX: return b.input(InputKind::BlockIdX);
    case Id::CtaidY:
    case Id::ClusteridY: return b.input(InputKind::BlockIdY);
    case Id::CtaidZ:
    case Id::ClusteridZ: return b.input(InputKind::BlockIdZ);
    case Id::NctaidX:
    case Id::NclusteridX: return b.input(InputKind::GridDimX);
    case Id::NctaidY:
    case Id::NclusteridY: return b.input(InputKind::GridDimY);
    case Id::NctaidZ:
    case Id::NclusteridZ: return b.input(InputKind::GridDimZ);
    // Every block is a cluster of its own.
    case Id::ClusterCtaidX:
    case Id::ClusterCtaidY:
    case Id::ClusterCtaidZ:
    case Id::ClusterCtarank: return b.i32(0);
    case Id::ClusterNctaidX:
    case Id::ClusterNctaidY:
    case Id::ClusterNctaidZ:
    case Id::ClusterNctarank: return b.i32(1);
    case Id::IsExplicitCluster: return b.boolean(false);
    case Id::LaneId: return laneId();
    case Id::WarpId: return b.lshr(b.input(InputKind::LocalIndex), b.i32(5));
    case Id::NwarpId: return b.i32(64);
    case Id::SmId: return b.i32(0);
    case Id::NsmId: return b.i32(1);
    case Id::LanemaskEq: return b.shl(b.i32(1), laneId());
    case Id::LanemaskLt: return b.sub(b.shl(b.i32(1), laneId()), b.i32(1));
    case Id::LanemaskLe:
      lane = b.shl(b.i32(2), laneId());  // lane 31: the bit falls out, and all ones remain
      return b.sub(lane, b.i32(1));
    case Id::LanemaskGt: lane = b.shl(b.i32(2), laneId()); return b.bitNot(b.sub(lane, b.i32(1)));
    case Id::LanemaskGe: return b.bitNot(b.sub(b.shl(b.i32(1), laneId()), b.i32(1)));
    default: break;
  }
  refuse(0, "this special register is not supported");
  return b.i32(0);
}

}  // namespace mulciber::lower
