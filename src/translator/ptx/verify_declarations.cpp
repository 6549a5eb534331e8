#include <algorithm>

#include "translator/ptx/linker.h"
#include "translator/ptx/suggestion.h"
#include "translator/ptx/undefined.h"
#include "translator/ptx/verifier_state.h"

namespace mulciber::ptx {
namespace {

constexpr uint64_t kMaxKernelParameters = 4352, kMaxKernelParametersLarge = 32764, kMaxVectorBits = 128;
constexpr uint64_t kMaxInitialBytes = uint64_t{1} << 31;  // the host holds them

// True when the type of a register, variable or parameter will do as far as its place does not matter.
bool verifyType(VerifierState& state, SourceOffset where, Type type, unsigned vector) {
  if (!canBeDeclared(type)) {
    state.error(where, "the type ." + std::string(spelling(type)) + " is for instructions only");
    return false;
  }
  if (type == Type::B128) state.require(where, "the type .b128", 83, "sm_70");
  if (vector > 1 && bitWidth(type) * vector > kMaxVectorBits) {
    state.error(where, "a vector cannot be larger than 128 bits");
    return false;
  }
  return true;
}

uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return alignment == 0 ? value : (value + alignment - 1) / alignment * alignment;
}

void verifyParameter(VerifierState& state, const Function& function, const Variable& parameter) {
  SourceOffset where = parameter.where;
  std::string name = quoted(parameter.name);
  if (!verifyType(state, where, parameter.type, parameter.vector)) return;
  if (isOpaque(parameter.type)) {
    if (!function.isEntry) state.error(where, "only kernels can have texture and surface parameters");
    return;
  }
  if (function.isEntry && parameter.space != StateSpace::Param)
    return state.error(where, "the kernel parameter " + name + " must be in the .param space");
  if (parameter.type == Type::Pred && parameter.space != StateSpace::Reg)
    return state.error(where, name + ": .pred exists in registers only");
  if (parameter.space == StateSpace::Param) {
    if (parameter.type == Type::F16x2 || parameter.vector > 1)
      return state.error(where, name + " cannot be in the .param space: vectors go as arrays of bytes");
    if (!function.isEntry) state.require(where, "a .func parameter in the .param space", 20, "sm_20");
  }
  if (parameter.isPointer) state.require(where, "'.ptr'", 22);
}

void verifyParameterSpace(VerifierState& state, const Function& function) {
  uint64_t bytes = 0;
  for (const Variable* parameter : function.parameters) bytes = alignUp(bytes, parameter->alignment) + parameter->size;
  if (bytes > kMaxKernelParametersLarge)
    return state.error(function.where, "kernel " + quoted(function.name) + " has " + std::to_string(bytes) +
                                           " bytes of parameters; " + std::to_string(kMaxKernelParametersLarge) +
                                           " are allowed");
  if (bytes > kMaxKernelParameters)
    state.require(function.where, "more than " + std::to_string(kMaxKernelParameters) + " bytes of kernel parameters",
                  81, "sm_70");
}

void verifyPerformance(VerifierState& state, const Function& function) {
  const PerformanceDirectives& given = function.performance;
  SourceOffset where = function.where;
  if (given.maxThreadCount != 0 && given.requiredThreadCount != 0)
    state.error(where, "'.maxntid' and '.reqntid' cannot both be given");
  for (unsigned i = 0; i < 3; ++i) {
    if (i < given.maxThreadCount && given.maxThreads[i] == 0) state.error(where, "'.maxntid' must be positive");
    if (i < given.requiredThreadCount && given.requiredThreads[i] == 0)
      state.error(where, "'.reqntid' must be positive");
    if (i < given.requiredClusterCount && given.requiredCluster[i] == 0)
      state.error(where, "'.reqnctapercluster' must be positive");
  }
  if (given.requiredClusterCount != 0 && given.maxClusterRank != 0)
    state.error(where, "'.reqnctapercluster' and '.maxclusterrank' cannot both be given");
  if (given.blocksAreClusters && (given.requiredClusterCount == 0 || given.requiredThreadCount == 0))
    state.error(where, "'.blocksareclusters' needs '.reqntid' and '.reqnctapercluster'");
  if (given.maxRegisters != 0 || given.maxThreadCount != 0) state.require(where, "'.maxnreg' and '.maxntid'", 13);
  if (given.minBlocksPerSm != 0) state.require(where, "'.minnctapersm'", 20);
  if (given.requiredThreadCount != 0) state.require(where, "'.reqntid'", 21);
  if (given.requiredClusterCount != 0) state.require(where, "'.reqnctapercluster'", 78, "sm_90");
  if (given.explicitCluster) state.require(where, "'.explicitcluster'", 78, "sm_90");
  if (given.maxClusterRank != 0) state.require(where, "'.maxclusterrank'", 78, "sm_90");
  if (given.blocksAreClusters) state.require(where, "'.blocksareclusters'", 90, "sm_90");
}

}  // namespace

bool verifyHeader(VerifierState& state) {
  const Module& module = state.module;
  const std::string name =
      "PTX ISA version " + std::to_string(module.versionMajor) + '.' + std::to_string(module.versionMinor);
  static constexpr uint8_t kLastMinor[] = {0, 5, 3, 2, 3, 0, 5, 8, 8, kNewestMinor};
  static_assert(std::size(kLastMinor) == kNewestMajor + 1);
  const bool isNewer = isNewerThanKnown(module.versionMajor, module.versionMinor);
  if (!isNewer && (module.versionMajor < 1 || module.versionMinor > kLastMinor[module.versionMajor])) {
    state.error(module.versionWhere, name + " is not one of 1.0 to 9.0");
    return false;
  }
  // Some forms of newer versions are known.
  const unsigned version = std::min(module.versionMajor * 10 + std::min(module.versionMinor, 9u), 255u);
  auto target = parseTarget(module.target);
  if (!target) {
    state.error(module.targetWhere, quoted(module.target) + " is not one of the targets sm_10 to sm_121");
    return false;
  }
  state.target = {static_cast<uint8_t>(version), *target, isMixedModule(module)};
  uint8_t first = versionOf(*target);
  if (version < first)
    state.error(module.targetWhere, name + " does not know .target " + std::string(module.target) +
                                        "; that came with " + std::to_string(first / 10) + '.' +
                                        std::to_string(first % 10));
  return true;
}

void verifyRegisters(VerifierState& state, const RegisterDeclaration& registers, SourceOffset where) {
  if (isOpaque(registers.type))
    return state.error(where, "textures and surfaces are module variables or kernel parameters, not registers");
  if (!verifyType(state, where, registers.type, registers.vector)) return;
  if (registers.type == Type::Pred && registers.vector > 1) state.error(where, "there are no vectors of .pred");
}

// ptxas has none of those that it provides itself either.
void verifyTaken(VerifierState& state, const Function& function, SourceOffset where) {
  if (!isDefinition(function) && isProvidedFunction(function.name))
    state.error(where, quoted(function.name) + " can be called by its name only: it has no address");
}

void verifyVariable(VerifierState& state, const Variable& variable) {
  SourceOffset where = variable.where;
  std::string name = quoted(variable.name);
  if (!verifyType(state, where, variable.type, variable.vector)) return;
  if (variable.type == Type::Pred) return state.error(where, name + ": .pred exists in registers only");
  if (isOpaque(variable.type)) {
    if (variable.space != StateSpace::Global)
      state.error(where, name + ": textures and surfaces are declared in the .global space");
    return;
  }
  bool isModuleScope = variable.owner == nullptr;
  switch (variable.space) {
    case StateSpace::Param:
      if (isModuleScope) return state.error(where, name + ": parameters cannot be declared at module scope");
      break;
    case StateSpace::Tex:
      if (state.target.version >= 15)
        return state.error(where, "the .tex space is gone since PTX ISA version 1.5: declare .global .texref " + name);
      break;
    default: break;
  }
  if (variable.initializer)
    for (const InitializerElement& element : variable.initializer->elements)
      if (element.function) verifyTaken(state, *element.function, element.where);
  bool holdsValue = variable.space == StateSpace::Global || variable.space == StateSpace::Const;
  if (variable.initializer && !holdsValue)
    state.error(where, name + " cannot have an initial value: its state space has none");
  if (variable.isExtern && !isModuleScope)
    return state.error(where, name + ": .extern variables are declared at module scope");
  if (variable.initializer && variable.isExtern)
    state.error(where, name + " is .extern and cannot have an initial value");
  if (variable.initializer && initialBytes(variable) > kMaxInitialBytes)
    state.error(where, name + ": initial values reach " + std::to_string(initialBytes(variable)) + " bytes far; " +
                           std::to_string(kMaxInitialBytes) + " are allowed");
  if (variable.size == 0 && variable.isArray && !variable.isExtern && !variable.initializer)
    state.error(where, name + " has no size; only .extern arrays may leave it out");
  if (variable.isCommon) {
    state.require(where, "'.common'", 50);
    if (variable.space != StateSpace::Global) state.error(where, name + ": .common is for the .global space");
  }
  if (variable.isManaged) {
    state.require(where, "'.managed'", 40, "sm_30");
    if (variable.space != StateSpace::Global) state.error(where, name + ": .managed is for the .global space");
  }
}

void verifySignature(VerifierState& state, const Function& function) {
  for (const Variable* parameter : function.parameters) verifyParameter(state, function, *parameter);
  for (const Variable* result : function.results) verifyParameter(state, function, *result);
  if (function.results.size() > 1)
    for (const Variable* result : function.results)
      if (result->space == StateSpace::Param) {
        state.error(result->where, "several results must be .reg, not .param");
        break;
      }
  if (function.isEntry) {
    verifyParameterSpace(state, function);
    verifyPerformance(state, function);
  }
  if (function.isNoReturn) {
    state.require(function.where, "'.noreturn'", 64, "sm_30");
    if (function.isEntry) state.error(function.where, "a kernel cannot be .noreturn");
    if (!function.results.empty()) state.error(function.where, "a .noreturn function cannot have results");
  }
  if (!function.aliasee) return;
  state.require(function.where, "'.alias'", 63, "sm_30");
  if (function.aliasee->isEntry) return state.error(function.where, "a kernel cannot have an alias");
  if (function.parameters.size() != function.aliasee->parameters.size() ||
      function.results.size() != function.aliasee->results.size())
    state.error(function.where, quoted(function.name) + " and " + quoted(function.aliasee->name) +
                                    ", which it is an alias of, have different parameters");
}

}  // namespace mulciber::ptx
