#include "translator/spirv/emitter.h"

#include <algorithm>

#include "mulciber/kernel_abi.h"
#include "translator/ir/names.h"
#include "translator/spirv/memory.h"

namespace mulciber::spirv {
namespace {

constexpr auto none = static_cast<uint32_t>(spv::SelectionControlMask::MaskNone);

Id (*familyOf(ir::Op op))(Emitter&, const ir::Instruction&) {
  using ir::Op;
  auto within = [op](Op first, Op last) { return op >= first && op <= last; };
  if (within(Op::PopCount, Op::DotSU8)) return emitBits;
  if (within(Op::Add, Op::SMax)) return emitInteger;
  if (within(Op::IEq, Op::Select)) return emitComparison;
  if (within(Op::FAdd, Op::FRound)) return emitFloat;
  if (within(Op::ZExt, Op::VecInsert)) return emitConversion;
  if (within(Op::ImageFetch, Op::ImageAtomicSMax)) return emitImage;
  if (op == Op::Load || op == Op::Store) return emitMemory;
  if (within(Op::AtomicAdd, Op::AtomicFMax)) return emitAtomic;
  if (op == Op::MatrixProduct) return emitMatrixProduct;
  if (op == Op::LoadRows) return emitLoadRows;
  if (within(Op::Fence, Op::ClockDevice)) return emitSubgroup;
  return nullptr;
}

bool writesImages(const ir::Function& function) {
  return std::ranges::any_of(function.blocks, [](const ir::Block* block) {
    return std::ranges::any_of(block->instructions, [](const ir::Instruction* i) {
      return ir::isStorageImage(i->op) && i->op != ir::Op::ImageRead;
    });
  });
}

}  // namespace

Emitter::Emitter(const ir::Program& programToEmit, const TargetProfile& target, const TranslateOptions& settings)
    : program(programToEmit),
      profile(target),
      options(settings),
      function(*programToEmit.functions.front()),
      barrierHazards_(analyses::findBarrierHazards(function)),
      writesImages_(writesImages(function)) {
  memory_ = std::make_unique<MemoryEmitter>(*this);
}

Emitter::~Emitter() = default;

void Emitter::refuse(std::string_view why) {
  if (!refusal_.reason.empty()) return;
  refusal_.reason = why;
  refusal_.source = current_ ? current_->source : 0;
}

std::optional<std::vector<uint32_t>> Emitter::run(Refusal& refusal) {
  module.capability(spv::Capability::Shader);
  module.capability(spv::Capability::VulkanMemoryModel);
  module.capability(spv::Capability::VulkanMemoryModelDeviceScope);
  module.capability(spv::Capability::PhysicalStorageBufferAddresses);
  if (!profile.int64) refuse("the device has no 64-bit integers, which addresses need");

  Id main = module.newId();
  module.entryPoint(main, "main");
  module.name(main, program.kernel);
  emitExecutionModes(main);
  emitFunction();
  if (!refusal_.reason.empty()) {
    refusal = refusal_;
    return std::nullopt;
  }
  return module.finish();
}

void Emitter::emitFunction() {
  for (const ir::Block* block : function.blocks) {
    labels_[block] = module.newId();
    for (const ir::Instruction* i : block->instructions)
      if (i->op == ir::Op::ImageSample)
        for (const size_t number : {0, 1}) samples_[i->operands[number]].push_back(i);
  }
  module.branch(labels_.at(function.blocks.front()));
  for (const ir::Block* block : function.blocks) emitBlock(*block);
  patchPhis();
}

void Emitter::emitBlock(const ir::Block& block) {
  startBlock(labels_.at(&block));
  auto next = block.instructions.begin();
  for (; next != block.instructions.end() && (*next)->op == ir::Op::Phi; ++next) emitPhi(block, **next);

  bool isLoop = block.merge.kind == ir::Merge::Kind::Loop;
  if (isLoop) {
    // What follows may need blocks of its own, and the merge instruction has to stay with the header.
    auto control = block.merge.dontUnroll ? spv::LoopControlMask::DontUnroll : spv::LoopControlMask::MaskNone;
    module.emitVoid(spv::Op::OpLoopMerge, {labels_.at(block.merge.merge), labels_.at(block.merge.continueTarget),
                                           static_cast<uint32_t>(control)});
    if (next != block.instructions.end() || block.terminator.kind != ir::Terminator::Kind::Branch) {
      Id body = module.newId();
      module.branch(body);
      startBlock(body);
    }
  }
  for (; next != block.instructions.end(); ++next) emitInstruction(**next);
  if (block.merge.kind == ir::Merge::Kind::Selection) {
    // The condition first: nothing may stand between the merge instruction and the branch.
    if (block.terminator.value) value(block.terminator.value);
    module.emitVoid(spv::Op::OpSelectionMerge, {labels_.at(block.merge.merge), none});
  }
  emitTerminator(block);
  lastLabels_[&block] = currentLabel_;
}

void Emitter::emitInstruction(const ir::Instruction& instruction) {
  current_ = &instruction;
  switch (instruction.op) {
    case ir::Op::Constant:
    case ir::Op::Undef:
    case ir::Op::Input: return;  // made where they are used
    default: break;
  }
  if (options.debugInfo) emitLine(instruction.source);
  auto family = familyOf(instruction.op);
  if (!family) {
    refuse(instruction.op == ir::Op::Call ? "a call remains that could not be inlined"
                                          : "an internal operation has no SPIR-V form");
    values_[&instruction] = instruction.type.isVoid() ? 0 : zero(instruction.type);
    return;
  }
  Id result = family(*this, instruction);
  if (instruction.type.isVoid()) return;
  values_[&instruction] = result;
  nameValue(instruction);
  if (const auto found = samples_.find(&instruction); found != samples_.end())
    loadDescriptors(*this, instruction, found->second);
}

void Emitter::emitLine(uint32_t source) {
  const ir::SourceLine* line = program.sourceMap.find(source);
  if (!line || (line_ && line->file == line_->file && line->line == line_->line && line->column == line_->column))
    return;
  line_ = line;
  module.emitVoid(spv::Op::OpLine, {module.string(program.sourceMap.files[line->file]), line->line, line->column});
}

void Emitter::nameValue(const ir::Instruction& instruction) {
  auto found = function.valueNames.find(&instruction);
  if (found != function.valueNames.end()) module.name(values_.at(&instruction), found->second);
}

void Emitter::emitPhi(const ir::Block& block, const ir::Instruction& phi) {
  PendingPhi pending{&block, &phi, 0};
  auto pairs = static_cast<uint32_t>(phi.operands.size());
  values_[&phi] = module.deferredPhi(type(phi.type), pairs, pending.firstOperand);
  phis_.push_back(pending);
  nameValue(phi);
}

void Emitter::patchPhis() {
  for (const PendingPhi& pending : phis_) {
    size_t word = pending.firstOperand;
    for (size_t i = 0; i < pending.phi->operands.size(); ++i) {
      module.patch(word++, value(pending.phi->operands[i]));
      module.patch(word++, lastLabels_.at(pending.block->predecessors[i]));
    }
  }
}

void Emitter::emitTerminator(const ir::Block& block) {
  const ir::Terminator& terminator = block.terminator;
  switch (terminator.kind) {
    case ir::Terminator::Kind::Branch: module.branch(labels_.at(terminator.targets[0])); return;
    case ir::Terminator::Kind::Conditional:
      module.emitVoid(spv::Op::OpBranchConditional,
                      {value(terminator.value), labels_.at(terminator.targets[0]), labels_.at(terminator.targets[1])});
      return;
    case ir::Terminator::Kind::Switch: {
      std::vector<uint32_t> words{value(terminator.value), labels_.at(terminator.targets[0])};
      for (size_t i = 0; i < terminator.cases.size(); ++i) {
        words.push_back(terminator.cases[i]);
        words.push_back(labels_.at(terminator.targets[i + 1]));
      }
      module.emitVoid(spv::Op::OpSwitch, words);
      return;
    }
    case ir::Terminator::Kind::Return: module.emitVoid(spv::Op::OpReturn, {}); return;
    case ir::Terminator::Kind::None:
    case ir::Terminator::Kind::Unreachable: module.emitVoid(spv::Op::OpUnreachable, {}); return;
  }
}

Id Emitter::value(const ir::Instruction* instruction) {
  switch (instruction->op) {
    case ir::Op::Constant: return constant(instruction->type, instruction->payload);
    // Zero rather than OpUndef: a register that was never written then has one value everywhere.
    case ir::Op::Undef: return zero(instruction->type);
    case ir::Op::Input: return input(static_cast<ir::InputKind>(instruction->payload));
    default: break;
  }
  auto found = values_.find(instruction);
  if (found != values_.end()) return found->second;
  refuse("an internal error: a value is used before its definition");
  return zero(instruction->type);
}

Emitter::If Emitter::beginIf(Id condition, bool hasElse) {
  If state{module.newId(), 0};
  state.elseLabel = hasElse ? module.newId() : state.merge;
  Id thenLabel = module.newId();
  module.emitVoid(spv::Op::OpSelectionMerge, {state.merge, none});
  module.emitVoid(spv::Op::OpBranchConditional, {condition, thenLabel, state.elseLabel});
  startBlock(thenLabel);
  return state;
}

void Emitter::beginElse(If& state) {
  state.thenEnd = currentLabel_;
  module.branch(state.merge);
  startBlock(state.elseLabel);
}

void Emitter::endIf(If& state) {
  state.elseEnd = currentLabel_;
  module.branch(state.merge);
  startBlock(state.merge);
}

Id Emitter::merged(const If& state, ir::Type resultType, Id thenValue, Id elseValue) {
  return op(spv::Op::OpPhi, resultType, {thenValue, state.thenEnd, elseValue, state.elseEnd});
}

std::optional<std::vector<uint32_t>> emit(const ir::Program& program, const TargetProfile& profile,
                                          const TranslateOptions& options, Refusal& refusal) {
  return Emitter(program, profile, options).run(refusal);
}

}  // namespace mulciber::spirv
