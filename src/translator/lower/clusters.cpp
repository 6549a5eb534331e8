#include "translator/lower/clusters.h"

#include "translator/lower/operand_walk.h"

namespace mulciber::lower {
namespace {

bool tellsCluster(ptx::SpecialRegister special) {
  return special >= ptx::SpecialRegister::IsExplicitCluster && special <= ptx::SpecialRegister::ClusterNctarank;
}

}  // namespace

bool needsSeveralBlocks(const ptx::Function& kernel) {
  const ptx::PerformanceDirectives& performance = kernel.performance;
  for (unsigned i = 0; i < performance.requiredClusterCount; i++)
    if (performance.requiredCluster[i] > 1) return true;
  return false;
}

bool dependsOnCluster(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case ptx::Opcode::Mapa:
    case ptx::Opcode::Getctarank:
    case ptx::Opcode::Clusterlaunchcontrol: return true;
    default: break;
  }
  // The scope counts too: what blocks of a cluster exchange by it may lie in global memory.
  if (instruction.has(ptx::Mod::cluster) || instruction.has(ptx::Mod::multicast_cluster)) return true;
  bool found = false;
  forEachOperand(instruction.operands, [&](const ptx::Operand& operand) {
    found |= operand.kind == ptx::Operand::Kind::SpecialRegister && tellsCluster(operand.special);
  });
  return found;
}

}  // namespace mulciber::lower
