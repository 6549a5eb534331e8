// What threads of a warp and a block do together: barriers, fences, shuffles, votes; and the clocks.
//
// A warp is a subgroup of 32 lanes: pipelines ask for that size and for full subgroups.
#include "translator/spirv/memory.h"

namespace mulciber::spirv {
namespace {

using ir::Op;

constexpr auto subgroup = static_cast<uint32_t>(spv::Scope::Subgroup);

void controlBarrier(Emitter& e, ir::Scope scope, uint32_t semantics) {
  Id scopeId = e.module.constant32(scopeOf(scope));
  e.module.emitVoid(spv::Op::OpControlBarrier, {scopeId, scopeId, e.module.constant32(semantics)});
}

// Everything written before is seen after, by the threads of the block. Device memory is left out where no thread can
// tell, and where the hardware orders it in any case: there fences of the narrowest scope, which cost little, keep the
// driver's compiler from moving accesses across. Reads that are settled before the barrier cannot move behind it: only
// the writes after it need a fence.
void blockBarrier(Emitter& e, const ir::Instruction& i) {
  constexpr auto deviceMemory = static_cast<uint32_t>(spv::MemorySemanticsMask::UniformMemory);
  const uint32_t all = e.semantics(ir::Order::AcquireRelease), sharedOnly = all & ~deviceMemory;
  analyses::BarrierHazard hazard = e.hazardAt(i);
  if (hazard == analyses::BarrierHazard::None) return controlBarrier(e, ir::Scope::Block, sharedOnly);
  if (!e.profile.barrierOrdersGlobal) return controlBarrier(e, ir::Scope::Block, all);
  if (hazard == analyses::BarrierHazard::Any) e.fence(ir::Order::AcquireRelease, ir::Scope::Warp);
  controlBarrier(e, ir::Scope::Block, sharedOnly);
  e.fence(ir::Order::AcquireRelease, ir::Scope::Warp);
}

Id shuffle(Emitter& e, const ir::Instruction& i) {
  if (!e.profile.subgroupShuffle) e.refuse("the device cannot shuffle between the lanes of a subgroup");
  e.module.capability(spv::Capability::GroupNonUniformShuffle);
  // 32-bit words, which need no extended-types feature.
  ir::Type type = i.type;
  bool isPlain = type.bits == 32;
  ir::Type carrier = isPlain           ? type
                     : type.bits == 64 ? ir::I32.withLanes(static_cast<uint8_t>(2 * type.lanes))
                                       : ir::I32;
  Id value = e.operand(i, 0);
  if (type.bits < 32) {
    value = e.widen(e.bitcast(value, type, type.asInt()), type.asInt(), false);
  } else if (!isPlain) {
    value = e.bitcast(value, type, carrier);
  }
  Id moved = e.op(spv::Op::OpGroupNonUniformShuffle, carrier, {e.module.constant32(subgroup), value, e.operand(i, 1)});
  if (type.bits < 32) return e.bitcast(e.narrow(moved, type.asInt()), type.asInt(), type);
  return isPlain ? moved : e.bitcast(moved, carrier, type);
}

Id vote(Emitter& e, const ir::Instruction& i, spv::Op op) {
  if (!e.profile.subgroupVote) e.refuse("the device has no subgroup votes");
  e.module.capability(spv::Capability::GroupNonUniformVote);
  return e.op(op, ir::Bool, {e.module.constant32(subgroup), e.operand(i, 0)});
}

Id ballot(Emitter& e, const ir::Instruction& i) {
  if (!e.profile.subgroupBallot) e.refuse("the device has no subgroup ballots");
  e.module.capability(spv::Capability::GroupNonUniformBallot);
  Id lanes =
      e.op(spv::Op::OpGroupNonUniformBallot, ir::I32.withLanes(4), {e.module.constant32(subgroup), e.operand(i, 0)});
  return e.extract(lanes, ir::I32, 0);
}

Id clock(Emitter& e, const ir::Instruction& i) {
  bool isDevice = i.op == Op::ClockDevice;
  if (isDevice ? !e.profile.shaderDeviceClock : !e.profile.shaderSubgroupClock) {
    e.refuse("the device has no clock that shaders can read");
    return e.zero(i.type);
  }
  e.module.capability(spv::Capability::ShaderClockKHR);
  e.module.extension("SPV_KHR_shader_clock");
  Id ticks = e.op(spv::Op::OpReadClockKHR, ir::I64,
                  {e.module.constant32(isDevice ? static_cast<uint32_t>(spv::Scope::Device) : subgroup)});
  return i.type == ir::I64 ? ticks : e.low(ticks);
}

}  // namespace

void Emitter::fence(ir::Order order, ir::Scope scope) {
  if (order == ir::Order::Weak || order == ir::Order::Relaxed) return;
  module.emitVoid(spv::Op::OpMemoryBarrier, {module.constant32(scopeOf(scope)), module.constant32(semantics(order))});
}

uint32_t Emitter::semantics(ir::Order order) const {
  const auto images = static_cast<uint32_t>(spv::MemorySemanticsMask::ImageMemory);
  return semanticsOf(order) | (writesImages_ ? images : 0);
}

Id emitSubgroup(Emitter& e, const ir::Instruction& i) {
  switch (i.op) {
    case Op::Fence: e.fence(i.memory.order, i.memory.scope); return 0;
    case Op::Barrier: blockBarrier(e, i); return 0;
    case Op::Yield: controlBarrier(e, ir::Scope::Block, e.semantics(ir::Order::AcquireRelease)); return 0;
    case Op::WarpBarrier: controlBarrier(e, ir::Scope::Warp, e.semantics(ir::Order::AcquireRelease)); return 0;
    case Op::Shuffle: return shuffle(e, i);
    case Op::Ballot: return ballot(e, i);
    case Op::VoteAll: return vote(e, i, spv::Op::OpGroupNonUniformAll);
    case Op::VoteAny: return vote(e, i, spv::Op::OpGroupNonUniformAny);
    case Op::Elect:
      e.module.capability(spv::Capability::GroupNonUniform);
      return e.op(spv::Op::OpGroupNonUniformElect, ir::Bool, {e.module.constant32(subgroup)});
    default: return clock(e, i);
  }
}

}  // namespace mulciber::spirv
