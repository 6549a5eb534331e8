// Which barriers must order device memory as well as shared memory.
//
// A workgroup barrier whose semantics include device memory costs a memory fence (6 % of a tiled matrix product on
// NVIDIA). Most barriers of most kernels stand between accesses to shared memory only: no thread passes on through
// device memory what another one reads on the other side.
#pragma once

#include <unordered_map>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

enum class BarrierHazard : uint8_t {
  None,         // nothing written on one side of the barrier is accessed on the other
  SettledRead,  // only: read before, its value used in a store before the barrier, and written after
  Any,
};

using BarrierHazards = std::unordered_map<const ir::Instruction*, BarrierHazard>;
BarrierHazards findBarrierHazards(const ir::Function& function);

}  // namespace mulciber::analyses
