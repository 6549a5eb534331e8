#include "translator/analyses/push_constants.h"

#include "mulciber/kernel_abi.h"

namespace mulciber::analyses {
namespace {

// Whether the kernel reads parameters at places that it computes.
bool computesParameterPlaces(const ir::Program& program) {
  if (program.hasGenericParam) return true;
  for (const auto& function : program.functions)
    for (const ir::Block* block : function->blocks)
      for (const ir::Instruction* i : block->instructions)
        if (i->op == ir::Op::Load && i->memory.space == ir::Space::Param && !i->operands[0]->isConstant()) return true;
  return false;
}

}  // namespace

bool parametersInBuffer(const ir::Program& program, const TargetProfile& profile) {
  return abi::parameterOffset + program.parameterBytes > profile.maxPushConstants ||
         (profile.readsParametersUniformly && computesParameterPlaces(program));
}

unsigned roomForWords(const ir::Program& program, const TargetProfile& profile) {
  const uint32_t taken = parametersInBuffer(program, profile) ? uint32_t{sizeof(uint64_t)} : program.carriedOffset();
  const uint32_t first = abi::parameterOffset + taken;
  return first < profile.maxPushConstants ? (profile.maxPushConstants - first) / sizeof(uint32_t) : 0;
}

}  // namespace mulciber::analyses
