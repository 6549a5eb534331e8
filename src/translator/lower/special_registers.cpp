// %tid, %ctaid, %laneid and the other special registers.
#include <cstddef>

#include "translator/lower/function_lowering.h"
#include "translator/lower/program_lowering.h"
#include "translator/ptx/special_registers.h"

namespace mulciber::lower {
namespace {

using Id = ptx::SpecialRegister;
using ir::InputKind;

ir::Instruction* highWord(ir::Builder& b, ir::Instruction* value) {
  return b.convert(ir::Op::Trunc, ir::I32, b.lshr(value, b.i32(32)));
}

}  // namespace

ir::Instruction* FunctionLowering::laneId() {
  ir::Instruction* thread = b.input(InputKind::LocalIndex);
  return b.bitAnd(thread, b.i32(31));
}

ir::Instruction* FunctionLowering::specialRegister(Id which) {
  ir::Instruction* lane = nullptr;
  switch (which) {
    case Id::TidX: return b.input(InputKind::ThreadIdX);
    case Id::TidY: return b.input(InputKind::ThreadIdY);
    case Id::TidZ: return b.input(InputKind::ThreadIdZ);
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
    // Without a device that tells: one multiprocessor, with room for a block and more.
    case Id::NwarpId: return profile().smBuiltins ? b.input(InputKind::SmWarps) : b.i32(64);
    case Id::SmId: return profile().smBuiltins ? b.input(InputKind::SmId) : b.i32(0);
    case Id::NsmId: return profile().smBuiltins ? b.input(InputKind::SmCount) : b.i32(1);
    case Id::LanemaskEq: return b.shl(b.i32(1), laneId());
    case Id::LanemaskLt: return b.sub(b.shl(b.i32(1), laneId()), b.i32(1));
    case Id::LanemaskLe:
      lane = b.shl(b.i32(2), laneId());  // lane 31: the bit falls out, and all ones remain
      return b.sub(lane, b.i32(1));
    case Id::LanemaskGt: lane = b.shl(b.i32(2), laneId()); return b.bitNot(b.sub(lane, b.i32(1)));
    case Id::LanemaskGe: return b.bitNot(b.sub(b.shl(b.i32(1), laneId()), b.i32(1)));
    case Id::DynamicSmemSize: return b.input(InputKind::DynamicSharedSize);
    case Id::TotalSmemSize:
    case Id::AggrSmemSize: {  // in units of what CUDA allocates
      constexpr uint32_t unit = 128;
      ir::Instruction* bytes =
          b.add(b.input(InputKind::DynamicSharedSize), b.i32(program_.result().staticSharedBytes + unit - 1));
      return b.bitAnd(bytes, b.i32(~(unit - 1)));
    }
    case Id::ReservedSmemCap: return b.i32(ProgramLowering::reservedBytes);
    case Id::ReservedSmemBegin:
    case Id::ReservedSmem0: return b.i32(program_.reservedShared());
    case Id::ReservedSmem1: return b.i32(program_.reservedShared() + ProgramLowering::reservedBytes / 2);
    case Id::ReservedSmemEnd: return b.i32(program_.reservedShared() + ProgramLowering::reservedBytes);
    case Id::Clock64: return clock(ir::Op::ClockSubgroup);
    case Id::Clock: return b.convert(ir::Op::Trunc, ir::I32, clock(ir::Op::ClockSubgroup));
    case Id::ClockHi: return highWord(b, clock(ir::Op::ClockSubgroup));
    case Id::GlobalTimer: return clock(ir::Op::ClockDevice);
    case Id::GlobalTimerLo: return b.convert(ir::Op::Trunc, ir::I32, clock(ir::Op::ClockDevice));
    case Id::GlobalTimerHi: return highWord(b, clock(ir::Op::ClockDevice));
    case Id::GridId:
    case Id::CurrentGraphExec: return b.i64(0);
    case Id::Envreg1: return highWord(b, launchState(offsetof(abi::LaunchState, gridWorkspace)));
    case Id::Envreg2: return b.convert(ir::Op::Trunc, ir::I32, launchState(offsetof(abi::LaunchState, gridWorkspace)));
    default: break;
  }
  // Nothing counts events, and other environment registers hold what a driver would put there.
  return ptx::typeOf(which) == ptx::Type::U64 ? b.i64(0) : b.i32(0);
}

ir::Instruction* FunctionLowering::clock(ir::Op op) {
  bool has = op == ir::Op::ClockSubgroup ? profile().shaderSubgroupClock : profile().shaderDeviceClock;
  if (!has) refuse(b.source(), "the device lets kernels read no such clock");
  return b.emit(op, ir::I64, {});
}

ir::Instruction* FunctionLowering::blockThreads() {
  ir::Instruction* area = b.mul(b.input(InputKind::BlockDimX), b.input(InputKind::BlockDimY));
  return b.mul(area, b.input(InputKind::BlockDimZ));
}

}  // namespace mulciber::lower
