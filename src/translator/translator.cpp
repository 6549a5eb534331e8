// The public interface: one kernel's way from PTX text to SPIR-V, stage by stage.
#include "mulciber/translator.h"

#include <algorithm>
#include <charconv>

#include "mulciber/offline.h"
#include "mulciber/references.h"
#include "translator/analyses/push_constants.h"
#include "translator/lower/module_layout.h"
#include "translator/lower/program_lowering.h"
#include "translator/passes/apart_lanes.h"
#include "translator/passes/block_rounds.h"
#include "translator/passes/constant_registers.h"
#include "translator/passes/inline.h"
#include "translator/passes/lockstep.h"
#include "translator/passes/pipeline.h"
#include "translator/passes/recursion.h"
#include "translator/passes/spin_loops.h"
#include "translator/passes/waits.h"
#include "translator/ptx/assembler_options.h"
#include "translator/ptx/linker.h"
#include "translator/ptx/parser.h"
#include "translator/ptx/printer.h"
#include "translator/ptx/verifier.h"
#include "translator/spirv/spirv.h"
#include "translator/spirv/validation.h"
#include "translatorHash.h"

namespace mulciber {

class ParsedModule {
 public:
  explicit ParsedModule(std::unique_ptr<ptx::ModuleHolder> parsed)
      : holder(std::move(parsed)), layout(holder->module) {}

  const std::unique_ptr<ptx::ModuleHolder> holder;
  const lower::ModuleLayout layout;
};

void ParsedModuleDeleter::operator()(const ParsedModule* module) const { delete module; }

namespace {

template <class Question>
bool hasAny(const ir::Program& program, Question question) {
  for (const auto& function : program.functions)
    for (const ir::Block* block : function->blocks)
      for (const ir::Instruction* instruction : block->instructions)
        if (question(*instruction)) return true;
  return false;
}

bool usesMatrixUnits(const ir::Program& program) {
  return hasAny(program,
                [](const ir::Instruction& i) { return i.op == ir::Op::MatrixProduct || i.op == ir::Op::LoadRows; });
}

bool usesBrainFloats(const ir::Program& program) {
  return hasAny(program, [](const ir::Instruction& i) {
    return i.op == ir::Op::PackBfloats ||
           (i.op == ir::Op::MatrixProduct && i.payload == static_cast<uint64_t>(ir::MatrixType::BrainFloats));
  });
}

// A load of the whole system's scope, as volatile ones are, or a fence before other loads.
bool readsHostWrites(const ir::Instruction& instruction) {
  const ir::MemoryAccess& memory = instruction.memory;
  if (instruction.op == ir::Op::Fence) return memory.scope == ir::Scope::System;
  return instruction.op == ir::Op::Load && memory.order != ir::Order::Weak && memory.scope == ir::Scope::System &&
         (memory.space == ir::Space::Global || memory.space == ir::Space::Generic);
}

KernelInfo describe(const ptx::Function& kernel, const ir::Program& program, const TargetProfile& profile) {
  KernelInfo info;
  info.name = program.kernel;
  uint64_t end = 0;
  for (const ptx::Variable* parameter : kernel.parameters) {
    uint64_t alignment = std::max<uint64_t>(parameter->alignment, 1);
    uint64_t offset = (end + alignment - 1) / alignment * alignment;
    end = offset + parameter->size;
    info.parameters.push_back(
        {static_cast<uint32_t>(offset), static_cast<uint32_t>(parameter->size), static_cast<uint32_t>(alignment)});
  }
  info.parameterBytes = program.parameterBytes;
  info.parametersInBuffer = analyses::parametersInBuffer(program, profile);
  info.carriedWords = program.carriedWords;
  info.staticSharedBytes = program.staticSharedBytes;
  info.dynamicSharedOffset = program.sharedBytes;
  info.localBytes = program.functions.front()->localBytes;
  if (program.readsConstants) info.constantBytes = spirv::constantBlockBytes(program);
  info.maxThreads = program.maxThreads;
  std::ranges::copy(program.requiredBlock, info.requiredBlock);
  info.usesPrintf = program.usesPrintf;
  info.usesHeap = program.usesHeap;
  info.reportsErrors = program.reportsErrors;
  info.sharedInScratch = program.sharedInScratch;
  info.localInScratch = program.localInScratch;
  info.usesLocks = program.usesLocks;
  info.usesTextures = program.usesTextures;
  info.usesMatrixUnits = usesMatrixUnits(program);
  info.stackCount = program.functions.front()->stackCount;
  for (const auto& function : program.functions)
    for (const ir::Block* block : function->blocks)
      for (const ir::Instruction* instruction : block->instructions) {
        info.usesWarpOperations |= isWarpOperation(instruction->op);
        info.usesDotProducts |= instruction->fp.isDot;
        info.readsHostWrites |= readsHostWrites(*instruction);
      }
  return info;
}

// Answers what shows when all calls are inlined: how lanes of one warp wait for each other at different places. Both
// sides of a branch may come to a body that calls share, behind which it does not show on which side they are. Only a
// kernel too large without such bodies is asked with them.
bool showsInlined(bool (*question)(ir::Function&), const ptx::ModuleHolder& holder, const ptx::Function& kernel,
                  const lower::ModuleLayout& layout, const TargetProfile& profile, const TranslateOptions& options) {
  Diagnostics ignored;
  auto program = lower::lowerKernel(holder, kernel, layout, profile, ignored);
  if (!program) return false;
  passes::removeRecursion(*program);
  if (!passes::inlineCalls(*program, UINT32_MAX).empty() && !passes::inlineCalls(*program, options.inlineLimit).empty())
    return false;
  passes::useConstantRegisters(*program->functions.front());
  return question(*program->functions.front());
}

}  // namespace

ModulePtr parseModule(std::string_view text, std::string_view fileName, Diagnostics& diagnostics,
                      std::string_view assemblerOptions) {
  auto holder = ptx::parse(text, fileName, diagnostics);
  if (!holder || !ptx::verify(holder->module, holder->source, diagnostics)) return nullptr;
  if (ptx::roundsEach(assemblerOptions)) ptx::markRoundedEach(*holder);
  return ModulePtr(new ParsedModule(std::move(holder)));
}

std::vector<Reference> references(const ParsedModule& module) {
  std::vector<Reference> result;
  for (const ptx::Variable* variable : module.layout.references())
    result.push_back({std::string(variable->name), variable->type == ptx::Type::SurfRef});
  return result;
}

ModulePtr linkModules(std::vector<const ParsedModule*> modules, Diagnostics& diagnostics) {
  std::vector<const ptx::ModuleHolder*> holders;
  for (const ParsedModule* module : modules) holders.push_back(module->holder.get());
  auto linked = ptx::link(holders, diagnostics);
  if (linked) ptx::dropUnreachable(*linked);
  return linked ? ModulePtr(new ParsedModule(std::move(linked))) : nullptr;
}

bool checkWholeProgram(const ParsedModule& module, Diagnostics& diagnostics) {
  return ptx::checkWholeProgram(*module.holder, diagnostics);
}

std::vector<std::string> kernelNames(const ParsedModule& module) {
  std::vector<std::string> names;
  for (const ptx::Function* function : module.holder->module.functions)
    if (function->isEntry && function->isDefined) names.emplace_back(function->name);
  return names;
}

std::vector<ParameterKind> parameterKinds(const ParsedModule& module, std::string_view kernel) {
  std::vector<ParameterKind> kinds;
  const ptx::Function* function = module.holder->module.findFunction(kernel);
  if (!function) return kinds;
  for (const ptx::Variable* parameter : function->parameters) {
    const bool isFloat = parameter->type == ptx::Type::F32 || parameter->type == ptx::Type::F64;
    const bool isWhole = !parameter->isArray && parameter->vector == 1 && parameter->size <= 8;
    kinds.push_back(!isWhole ? ParameterKind::Bytes : isFloat ? ParameterKind::Float : ParameterKind::Integer);
  }
  return kinds;
}

uint32_t targetArchitecture(const ParsedModule& module) {
  const std::string_view target = module.holder->module.target;
  const size_t digits = std::min(target.find_first_of("0123456789"), target.size());
  uint32_t architecture = 0;
  std::from_chars(target.data() + digits, target.data() + target.size(), architecture);
  return architecture;
}

const ModuleData& moduleData(const ParsedModule& module) { return module.layout.data(); }

std::string printModule(const ParsedModule& module) { return ptx::print(module.holder->module); }

std::optional<Kernel> translate(const ParsedModule& module, std::string_view kernelName, const TargetProfile& profile,
                                const TranslateOptions& options, Diagnostics& diagnostics) {
  const ptx::ModuleHolder& holder = *module.holder;
  auto fail = [&](std::string text) {
    diagnostics.add({Diagnostics::Severity::Error, {}, 0, 0, std::move(text), {}, 1, 0});
    return std::nullopt;
  };
  auto dump = [&](std::string_view stage, const auto& makeText) {
    if (options.dump) options.dump(options.dumpUser, stage, makeText());
  };

  const ptx::Function* function = holder.module.findFunction(kernelName);
  if (!function || !function->isEntry || !function->isDefined)
    return fail("the module has no kernel '" + std::string(kernelName) + "'");
  dump("ptx", [&] { return ptx::print(holder.module); });

  TargetProfile target = profile;
  if (options.partialWarps)
    target.matricesF16F32 = target.matricesF16F16 = target.matricesBF16 = target.matricesS8 = target.matricesU8 =
        target.loadsMatrixRows = false;
  if (options.sharedInScratch) target.loadsMatrixRows = false;
  auto program = lower::lowerKernel(holder, *function, module.layout, target, diagnostics);
  if (!program) return std::nullopt;
  if (target.loadsMatrixRows && program->sharedBytes > target.maxSharedBytes) {  // which scratch memory has then
    target.loadsMatrixRows = false;
    program = lower::lowerKernel(holder, *function, module.layout, target, diagnostics);
    if (!program) return std::nullopt;
  }
  // What shows in the program and not in the PTX: threads that take turns, for each other or as lanes of a warp. Lanes
  // of the device's warps run together or not at all: rounds of single threads are for those that wait for each other.
  const auto shows = [&](bool (*question)(ir::Function&)) {
    return showsInlined(question, holder, *function, module.layout, target, options);
  };
  const bool holdsLocks = passes::hasPartBarriers(*program) && shows(passes::holdLocksAtPartBarriers);
  const bool lanesWait = holdsLocks || (passes::hasOrderedLoads(*program) && shows(passes::waitForEachOther));
  if (lanesWait) {
    target.subgroupSize = 1;
    target.warpsProgress = false;
  }
  auto takeTurns = [&] {
    // Code that says which lanes meet where a lock is held counts on no others to keep step.
    const bool inStep = !target.hasWarps() && !holdsLocks && passes::keepVolatileInStep(*program);
    const bool waits = !target.warpsProgress && passes::yieldInWaits(*program, lanesWait);
    if (!target.hasWarps() && passes::usesWarps(*program)) passes::yieldInLocks(*program);
    return inStep || waits;
  };
  const bool turns = takeTurns();
  // Lowered anew for what the target has become: rounds need memory of their own.
  const auto lowerAgain = [&] {
    program = lower::lowerKernel(holder, *function, module.layout, target, diagnostics, turns);
    if (program) takeTurns();
    return program.has_value();
  };
  if (turns || lanesWait || (!target.hasWarps() && usesMatrixUnits(*program))) {
    const uint32_t subgroupSize = target.subgroupSize;
    const bool haveFewStops = turns && passes::countStops(*program) <= passes::mostStopsOfThreads;
    const bool areApart = turns && !haveFewStops && shows(passes::haveBarriersApart);
    if (haveFewStops || areApart) target.subgroupSize = 1;
    if (!lowerAgain()) return std::nullopt;
    // Single threads that take turns also stop to keep step, where warps do not.
    if (haveFewStops && target.subgroupSize != subgroupSize &&
        passes::countInlinedStops(*program) > passes::mostInlinedStopsOfThreads && !shows(passes::haveBarriersApart)) {
      target.subgroupSize = subgroupSize;
      if (!lowerAgain()) return std::nullopt;
    }
  }
  auto refused = [&](const std::string& why) {
    return "kernel '" + program->kernel + "' cannot be translated: " + why;
  };
  passes::PassContext context{target, options, *program};
  if (std::string why = passes::runPipeline(context); !why.empty()) return fail(refused(why));

  spirv::Refusal refusal;
  auto words = spirv::emit(*program, target, options, refusal);
  if (!words) {
    std::string place = program->sourceMap.describe(refusal.source);
    holder.source.error(diagnostics, refusal.source,
                        refused(refusal.reason) + (place.empty() ? "" : " (" + place + ")"));
    return std::nullopt;
  }
  dump("spirv", [&] { return spirv::disassemble(*words); });
  // The oldest validator that Mulciber builds with does not know numbers of bf16, and none allows casts of matrices.
  const bool isBeyondValidators = usesBrainFloats(*program) || (target.castsMatrices && usesMatrixUnits(*program));
  if (options.validate && !isBeyondValidators) {
    if (std::string faults = spirv::validate(*words); !faults.empty())
      return fail("internal error: kernel '" + program->kernel + "' became invalid SPIR-V: " + faults);
  }
  return Kernel{std::move(*words), describe(*function, *program, target)};
}

uint32_t translatorVersion() { return translatorHash; }

}  // namespace mulciber
