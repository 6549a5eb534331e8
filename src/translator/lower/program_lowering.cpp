#include "translator/lower/program_lowering.h"

#include <algorithm>

#include "mulciber/references.h"
#include "translator/lower/async_copies.h"
#include "translator/lower/function_lowering.h"
#include "translator/lower/operand_walk.h"
#include "translator/lower/service_functions.h"
#include "translator/ptx/special_registers.h"

namespace mulciber::lower {
namespace {

constexpr uint32_t alignUp(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

std::optional<ir::Program> lowerKernel(const ptx::ModuleHolder& module, const ptx::Function& kernel,
                                       const ModuleLayout& layout, const TargetProfile& profile,
                                       Diagnostics& diagnostics, bool threadsWait) {
  return ProgramLowering(module, kernel, layout, profile, diagnostics, threadsWait).run();
}

ProgramLowering::ProgramLowering(const ptx::ModuleHolder& module, const ptx::Function& kernel,
                                 const ModuleLayout& layout, const TargetProfile& profile, Diagnostics& diagnostics,
                                 bool threadsWait)
    : holder_(module),
      kernel_(kernel),
      layout_(layout),
      profile_(profile),
      diagnostics_(diagnostics),
      graph_(kernel, layout) {
  result_.waits = threadsWait;
}

ProgramLowering::~ProgramLowering() = default;

void ProgramLowering::beginAsyncCopies(FunctionLowering& lowering) {
  const std::optional<AsyncCopies::Shape> shape = AsyncCopies::shapeFor(lowering);
  asyncCopies_ = shape ? std::make_unique<AsyncCopies>(lowering, *shape) : nullptr;
  if (shape) result_.holdsCopies = true;
}

std::optional<ir::Program> ProgramLowering::run() {
  result_.kernel = kernel_.name;
  result_.constantBytes = layout_.constantEnd();
  if (module().addressSize != 64) refuse(kernel_.where, "", "modules with 32-bit addresses are not supported");
  const ptx::PerformanceDirectives& performance = kernel_.performance;
  if (performance.maxThreadCount > 0) {
    result_.maxThreads = 1;
    for (uint32_t n : performance.maxThreads) result_.maxThreads *= std::max(1u, n);
  }
  if (performance.requiredThreadCount > 0)
    for (unsigned i = 0; i < 3; i++) result_.requiredBlock[i] = std::max(1u, performance.requiredThreads[i]);

  noteSourceLines();
  layOutParameters();
  const BarrierUse& use = graph_.barriers();
  result_.waits |= use.arrives || use.counts || use.waits;
  layOutShared();
  for (const ptx::Function* function : graph_.functions()) {
    auto& lowered = result_.functions.emplace_back(std::make_unique<ir::Function>());
    lowered->name = function->name;
    lowered->isKernel = function == &kernel_;
    functions_[function] = lowered.get();
    if (isServiceFunction(*function)) noteService(function->name);
    const FunctionInfo& info = graph_.info(*function);
    lowered->localBytes = function == &kernel_ ? graph_.frameBytes() : info.frameBytes;
    if (!info.isRecursive && function != &kernel_) lowered->localBytes += info.frameBegin;
    if (function == &kernel_) lowered->stackCount = graph_.stackCount();
  }
  for (const ptx::Function* function : graph_.functions())
    FunctionLowering(*this, *function, *functions_.at(function)).lowerBody();
  if (failed_) return std::nullopt;
  return std::move(result_);
}

void ProgramLowering::noteService(std::string_view name) {
  result_.usesPrintf |= name == "vprintf";
  result_.usesHeap |= name == "malloc" || name == "free";
}

void ProgramLowering::refuse(uint32_t where, std::string_view what, std::string_view why) {
  failed_ = true;
  std::string text = "kernel '" + std::string(kernel_.name) + "': ";
  if (!what.empty()) text += std::string(what) + ": ";
  text += why;
  if (std::string place = result_.sourceMap.describe(where); !place.empty()) text += " (" + place + ")";
  holder_.source.error(diagnostics_, where, std::move(text));
}

ir::Function& ProgramLowering::functionFor(const ptx::Function& function) { return *functions_.at(&function); }

// Where a barrier is no more than a turn for each warp, waiting for a word of memory and the device's barriers do not
// go together. They do in rounds of single threads.
bool ProgramLowering::countsAllBarriers() const {
  return !profile_.warpsProgress && profile_.hasWarps() && result_.waits;
}

// Memory for passes/block_rounds, which finds out whether the kernel has to run in rounds.
uint32_t ProgramLowering::blockRoundsBytes() const {
  const BarrierUse& use = graph_.barriers();
  if (!profile_.hasWarps() && (use.warps || result_.waits)) {
    const uint32_t required = result_.requiredBlock[0] * result_.requiredBlock[1] * result_.requiredBlock[2];
    const uint32_t threads = required             ? required
                             : result_.maxThreads ? result_.maxThreads
                                                  : profile_.maxThreadsPerBlock;
    return ir::blockRoundsBytes + ir::blockRoundsBytesPerThread * std::min(threads, profile_.maxThreadsPerBlock);
  }
  const bool needsTurns = result_.waits && !profile_.warpsProgress && !profile_.barrierYields;
  return needsTurns || use.apart || (use.any && !profile_.exitedThreadsArrive) ? ir::blockRoundsBytes : 0;
}

void ProgramLowering::noteGeneric(ir::Space space) {
  if (space == ir::Space::Shared) result_.hasGenericShared = true;
  if (space == ir::Space::Local) result_.hasGenericLocal = true;
  if (space == ir::Space::Param) result_.hasGenericParam = true;
}

// Each function's lines begin with its body; what a service is made of has none.
void ProgramLowering::noteSourceLines() {
  ir::SourceMap& map = result_.sourceMap;
  std::unordered_map<uint32_t, uint32_t> places;
  for (const ptx::Module::File& file : module().files) {
    places[file.index] = static_cast<uint32_t>(map.files.size());
    map.files.emplace_back(file.name);
  }
  for (const ptx::Function* function : graph_.functions()) {
    if (isServiceFunction(*function)) continue;
    map.lines.push_back({function->where, 0, 0, 0});
    for (const ptx::Statement& statement : function->body) {
      if (statement.kind != ptx::Statement::Kind::Location) continue;
      const ptx::Location& location = *statement.location;
      auto file = places.find(location.file);
      if (file == places.end()) continue;
      map.lines.push_back({statement.where, file->second, location.line, location.column});
    }
  }
  std::ranges::sort(map.lines, {}, &ir::SourceLine::source);
}

void ProgramLowering::layOutParameters() {
  uint32_t offset = 0;
  for (const ptx::Variable* parameter : kernel_.parameters) {
    offset = alignUp(offset, std::max(1u, parameter->alignment));
    parameterOffsets_[parameter] = offset;
    offset += static_cast<uint32_t>(parameter->size);
  }
  for (const ptx::Variable* reference : layout_.references()) {
    offset = alignUp(offset, referenceBytes);
    parameterOffsets_[reference] = offset;
    offset += referenceBytes;
  }
  result_.parameterBytes = offset;
}

// Static arrays in the order of their first use; extern ones all begin where the static ones end.
void ProgramLowering::layOutShared() {
  std::vector<const ptx::Variable*> dynamic;
  uint32_t offset = 0, dynamicAlignment = 16;
  bool usesReserved = false, declaresDynamic = false;
  for (const ptx::Variable* variable : module().variables) {
    if (variable->space != ptx::StateSpace::Shared || !variable->isExtern) continue;
    declaresDynamic = true;
    dynamicAlignment = std::max(dynamicAlignment, variable->alignment);
  }
  for (const ptx::Function* function : graph_.functions()) {
    forEachOperand(*function, [&](const ptx::Instruction&, const ptx::Operand& operand) {
      using Kind = ptx::Operand::Kind;
      usesReserved |= operand.kind == Kind::SpecialRegister &&
                      ptx::family(operand.special) == ptx::SpecialRegisterFamily::ReservedMemory;
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
  // As ptxas has it, what the kernel declares ends on a multiple of 16 bytes where the module declares dynamic memory,
  // used or not. The rest CUDA has apart, or not at all.
  result_.staticSharedBytes = offset;
  if (offset > 0) offset = alignUp(offset, dynamicAlignment);
  if (declaresDynamic || !dynamic.empty()) result_.staticSharedBytes = offset;
  if (usesReserved) {
    reservedShared_ = alignUp(offset, 16);
    offset = reservedShared_ + reservedBytes;
  }
  hasBarrierWords_ = graph_.barriers().counts || graph_.barriers().reduces || countsAllBarriers();
  if (hasBarrierWords_) {
    barrierWords_ = alignUp(offset, 16);
    offset = barrierWords_ + 128;
  }
  if (uint32_t bytes = blockRoundsBytes()) {
    result_.blockRoundsOffset = alignUp(offset, 16);
    offset = result_.blockRoundsOffset + bytes;
  }
  result_.namesDynamicShared = !dynamic.empty();
  result_.sharedBytes = dynamic.empty() ? offset : alignUp(offset, dynamicAlignment);
  for (const ptx::Variable* variable : dynamic) sharedOffsets_[variable] = result_.sharedBytes;
}

}  // namespace mulciber::lower
