#include "translator/lower/program_lowering.h"

#include <algorithm>

#include "translator/lower/function_lowering.h"
#include "translator/lower/operand_walk.h"
#include "translator/lower/service_functions.h"

namespace mulciber::lower {
namespace {

constexpr uint32_t alignUp(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

std::optional<ir::Program> lowerKernel(const ptx::ModuleHolder& module, const ptx::Function& kernel,
                                       const ModuleLayout& layout, const TargetProfile& profile,
                                       Diagnostics& diagnostics) {
  return ProgramLowering(module, kernel, layout, profile, diagnostics).run();
}

ProgramLowering::ProgramLowering(const ptx::ModuleHolder& module, const ptx::Function& kernel,
                                 const ModuleLayout& layout, const TargetProfile& profile, Diagnostics& diagnostics)
    : holder_(module),
      kernel_(kernel),
      layout_(layout),
      profile_(profile),
      diagnostics_(diagnostics),
      graph_(kernel, layout) {}

std::optional<ir::Program> ProgramLowering::run() {
  result_.kernel = kernel_.name;
  if (module().addressSize != 64) refuse(kernel_.where, "", "modules with 32-bit addresses are not supported");
  const ptx::PerformanceDirectives& performance = kernel_.performance;
  if (performance.maxThreadCount > 0) {
    result_.maxThreads = 1;
    for (uint32_t n : performance.maxThreads) result_.maxThreads *= std::max(1u, n);
  }
  if (performance.requiredThreadCount > 0)
    for (unsigned i = 0; i < 3; i++) result_.requiredBlock[i] = std::max(1u, performance.requiredThreads[i]);

  layOutParameters();
  layOutShared();
  for (const ptx::Function* function : graph_.functions()) {
    auto& lowered = result_.functions.emplace_back(std::make_unique<ir::Function>());
    lowered->name = function->name;
    lowered->isKernel = function == &kernel_;
    functions_[function] = lowered.get();
    if (isServiceFunction(*function)) (function->name == "vprintf" ? result_.usesPrintf : result_.usesHeap) = true;
    const FunctionInfo& info = graph_.info(*function);
    lowered->localBytes = function == &kernel_ ? graph_.frameBytes() : info.frameBytes;
    if (!info.isRecursive && function != &kernel_) lowered->localBytes += info.frameBegin;
  }
  for (const ptx::Function* function : graph_.functions())
    FunctionLowering(*this, *function, *functions_.at(function)).lowerBody();
  if (failed_) return std::nullopt;
  return std::move(result_);
}

void ProgramLowering::refuse(uint32_t where, std::string_view what, std::string_view why) {
  failed_ = true;
  std::string text = "kernel '" + std::string(kernel_.name) + "': ";
  if (!what.empty()) text += std::string(what) + ": ";
  text += why;
  holder_.source.error(diagnostics_, where, std::move(text));
}

ir::Function& ProgramLowering::functionFor(const ptx::Function& function) { return *functions_.at(&function); }

// Where a barrier is no more than a turn for each warp, waiting for a word of memory and the device's barriers do not
// go together.
bool ProgramLowering::countsAllBarriers() const {
  const BarrierUse& use = graph_.barriers();
  return !profile_.warpsProgress && profile_.barrierYields && (use.arrives || use.counts || use.waits);
}

void ProgramLowering::noteGeneric(ir::Space space) {
  if (space == ir::Space::Shared) result_.hasGenericShared = true;
  if (space == ir::Space::Local) result_.hasGenericLocal = true;
  if (space == ir::Space::Param) result_.hasGenericParam = true;
}

void ProgramLowering::layOutParameters() {
  uint32_t offset = 0;
  for (const ptx::Variable* parameter : kernel_.parameters) {
    offset = alignUp(offset, std::max(1u, parameter->alignment));
    parameterOffsets_[parameter] = offset;
    offset += static_cast<uint32_t>(parameter->size);
  }
  result_.parameterBytes = offset;
}

// Static arrays in the order of their first use; extern ones all begin where the static ones end.
void ProgramLowering::layOutShared() {
  std::vector<const ptx::Variable*> dynamic;
  uint32_t offset = 0, dynamicAlignment = 16;
  for (const ptx::Function* function : graph_.functions()) {
    forEachOperand(*function, [&](const ptx::Instruction&, const ptx::Operand& operand) {
      using Kind = ptx::Operand::Kind;
      if ((operand.kind != Kind::Symbol && operand.kind != Kind::Address) || !operand.variable) return;
      const ptx::Variable& variable = *operand.variable;
      if (variable.space != ptx::StateSpace::Shared || sharedOffsets_.contains(&variable)) return;
      if (variable.isExtern) {
        dynamic.push_back(&variable);
        dynamicAlignment = std::max(dynamicAlignment, variable.alignment);
        sharedOffsets_[&variable] = 0;
        return;
      }
      offset = alignUp(offset, std::max(1u, variable.alignment));
      sharedOffsets_[&variable] = offset;
      offset += static_cast<uint32_t>(variable.size);
    });
  }
  hasBarrierWords_ = graph_.barriers().counts || graph_.barriers().reduces || countsAllBarriers();
  if (hasBarrierWords_) {
    barrierWords_ = alignUp(offset, 16);
    offset = barrierWords_ + 128;
  }
  result_.sharedBytes = dynamic.empty() ? offset : alignUp(offset, dynamicAlignment);
  for (const ptx::Variable* variable : dynamic) sharedOffsets_[variable] = result_.sharedBytes;
}

}  // namespace mulciber::lower
