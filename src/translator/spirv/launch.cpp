// What a kernel gets from its launch: indices, dimensions, specialisation constants, and the execution modes that the
// kernel's own code asks for.
#include <algorithm>

#include "mulciber/kernel_abi.h"
#include "translator/spirv/memory.h"

namespace mulciber::spirv {
namespace {

using ir::InputKind;
using ir::Op;

constexpr uint32_t laneBits = 5;  // of 32 lanes

// Differs between the threads of a warp, as far as one instruction can tell.
bool isVaryingSource(const ir::Instruction& i) {
  if (i.op == Op::Input) {
    auto kind = static_cast<InputKind>(i.payload);
    return kind == InputKind::LocalIndex || kind == InputKind::ThreadIdX || kind == InputKind::ThreadIdY ||
           kind == InputKind::ThreadIdZ;
  }
  if (i.op == Op::Load) return i.memory.space != ir::Space::Param;
  return ir::isAtomic(i.op) || i.op == Op::Phi || i.op == Op::Elect || i.op == Op::Shuffle ||
         i.op == Op::MatrixProduct || i.op == Op::LoadRows || i.op == Op::ClockSubgroup || i.op == Op::ClockDevice;
}

bool isVarying(const ir::Instruction* i, unsigned depth = 16) {
  if (depth == 0 || isVaryingSource(*i)) return true;
  return std::ranges::any_of(i->operands, [depth](const ir::Instruction* o) { return isVarying(o, depth - 1); });
}

// Warp operations need the lanes to come back together after a branch that split them.
bool needsReconvergence(const ir::Function& function) {
  bool diverges = false, converges = false;
  for (const ir::Block* block : function.blocks) {
    diverges |= block->terminator.value && isVarying(block->terminator.value);
    converges |=
        std::ranges::any_of(block->instructions, [](const ir::Instruction* i) { return isWarpOperation(i->op); });
  }
  return diverges && converges;
}

}  // namespace

Id Emitter::makeThreadIndex(unsigned dimension) {
  Id linear = input(InputKind::LocalIndex), width = input(InputKind::BlockDimX);
  Id height = input(InputKind::BlockDimY), depth = input(InputKind::BlockDimZ);
  Id one = module.constant32(1), zeroId = module.constant32(0);
  auto isOne = [&](Id size) { return module.specOperation(spv::Op::OpIEqual, module.boolType(), {size, one}); };
  auto choose = [&](Id condition, Id a, Id b) { return module.prologue(spv::Op::OpSelect, u32(), {condition, a, b}); };
  auto divide = [&](spv::Op op, Id a, Id b) { return module.prologue(op, u32(), {a, b}); };
  // The conditions are known when the pipeline is made, so that a one-dimensional block divides nothing.
  Id plane = module.specOperation(spv::Op::OpIMul, u32(), {width, height});
  if (dimension == 0) {
    Id rest = module.specOperation(spv::Op::OpIMul, u32(), {height, depth});
    return choose(isOne(rest), linear, divide(spv::Op::OpUMod, linear, width));
  }
  if (dimension == 1) {
    Id row = divide(spv::Op::OpUDiv, linear, width);
    Id inPlane = choose(isOne(depth), row, divide(spv::Op::OpUMod, row, height));
    return choose(isOne(height), zeroId, inPlane);
  }
  return choose(isOne(depth), zeroId, divide(spv::Op::OpUDiv, linear, plane));
}

Id Emitter::makeInput(InputKind kind) {
  auto builtinVector = [&](spv::BuiltIn which, const char* name, unsigned component) {
    Id vector = module.vectorType(u32(), 3);
    Id variable = module.builtin(which, vector, name);
    Id pointer = module.pointerType(spv::StorageClass::Input, u32());
    Id at = module.prologue(spv::Op::OpAccessChain, pointer, {variable, module.constant32(component)});
    return module.prologueLoad(u32(), at);
  };
  auto smBuiltin = [&](spv::BuiltIn which, const char* name) {
    if (!profile.smBuiltins) refuse("the device does not tell which multiprocessor a block runs on");
    module.capability(spv::Capability::ShaderSMBuiltinsNV);
    module.extension("SPV_NV_shader_sm_builtins");
    return module.prologueLoad(u32(), module.builtin(which, u32(), name));
  };
  auto dimension = [kind](InputKind first) { return static_cast<unsigned>(kind) - static_cast<unsigned>(first); };
  switch (kind) {
    case InputKind::LocalIndex:
      return module.prologueLoad(u32(), module.builtin(spv::BuiltIn::LocalInvocationIndex, u32(), "localIndex"));
    case InputKind::BlockIdX:
      if (profile.gridsInPieces) {
        Id inPiece = builtinVector(spv::BuiltIn::WorkgroupId, "blockId", 0);
        return module.prologue(spv::Op::OpIAdd, u32(), {inPiece, memory_->pushConstant(5)});
      }
      [[fallthrough]];
    case InputKind::BlockIdY:
    case InputKind::BlockIdZ:
      return builtinVector(spv::BuiltIn::WorkgroupId, "blockId", dimension(InputKind::BlockIdX));
    case InputKind::ThreadIdX:
    case InputKind::ThreadIdY:
    case InputKind::ThreadIdZ: return makeThreadIndex(dimension(InputKind::ThreadIdX));
    case InputKind::GridDimX:
    case InputKind::GridDimY:
    case InputKind::GridDimZ: return memory_->pushConstant(2 + dimension(InputKind::GridDimX));
    case InputKind::BlockDimX:
      return module.specConstant32(abi::BlockX, std::max(program.requiredBlock[0], 1u), "blockX");
    case InputKind::BlockDimY:
      return module.specConstant32(abi::BlockY, std::max(program.requiredBlock[1], 1u), "blockY");
    case InputKind::BlockDimZ:
      return module.specConstant32(abi::BlockZ, std::max(program.requiredBlock[2], 1u), "blockZ");
    case InputKind::DynamicSharedSize: return module.specConstant32(abi::DynamicSharedBytes, 0, "dynamicSharedBytes");
    case InputKind::StackBytes: return module.specConstant32(abi::StackBytes, abi::defaultStackBytes, "stackBytes");
    case InputKind::LaunchState: return memory_->pushConstant(0);
    case InputKind::ModuleData: return memory_->pushConstant(1);
    case InputKind::SmId: return smBuiltin(spv::BuiltIn::SMIDNV, "smId");
    case InputKind::SmCount: return smBuiltin(spv::BuiltIn::SMCountNV, "smCount");
    case InputKind::SmWarps: return smBuiltin(spv::BuiltIn::WarpsPerSMNV, "warpsPerSm");
    case InputKind::SubgroupId: break;
  }
  return module.prologue(spv::Op::OpShiftRightLogical, u32(),
                         {input(InputKind::LocalIndex), module.constant32(laneBits)});
}

Id Emitter::input(InputKind kind) {
  auto found = inputs_.find(static_cast<uint8_t>(kind));
  if (found != inputs_.end()) return found->second;
  Id id = makeInput(kind);
  return inputs_[static_cast<uint8_t>(kind)] = id;
}

void Emitter::emitExecutionModes(Id main) {
  uint32_t threads = 1;
  for (uint32_t size : program.requiredBlock) threads *= std::max(size, 1u);
  Id one = module.constant32(1);
  module.executionModeId(main, spv::ExecutionMode::LocalSizeId,
                         {module.specConstant32(abi::BlockThreads, threads, "blockThreads"), one, one});
  if (profile.maximalReconvergence && needsReconvergence(function)) {
    module.extension("SPV_KHR_maximal_reconvergence");
    module.executionMode(main, spv::ExecutionMode::MaximallyReconvergesKHR);
  }
  if (profile.signedZeroPreserve) {
    module.capability(spv::Capability::SignedZeroInfNanPreserve);
    for (uint32_t bits : {16u, 32u, 64u})
      if (bits == 32 || (bits == 16 ? profile.float16 : profile.float64))
        module.executionMode(main, spv::ExecutionMode::SignedZeroInfNanPreserve, {bits});
  }
  if (program.denormals32 == ir::Denormals::Preserve && profile.denormPreserve32) {
    module.capability(spv::Capability::DenormPreserve);
    module.executionMode(main, spv::ExecutionMode::DenormPreserve, {32});
  }
  if (program.denormals32 == ir::Denormals::Flush && profile.denormFlush32) {
    module.capability(spv::Capability::DenormFlushToZero);
    module.executionMode(main, spv::ExecutionMode::DenormFlushToZero, {32});
  }
}

}  // namespace mulciber::spirv
