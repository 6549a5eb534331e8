// Which lowering belongs to which opcode.
#include <array>

#include "translator/lower/families.h"

namespace mulciber::lower {
namespace {

constexpr size_t opcodeCount = 0
#define OPCODE(id, spelling) +1
#include "translator/ptx/opcodes.def"
#undef OPCODE
    ;

using Table = std::array<const Lowering*, opcodeCount>;

Table buildTable() {
  Table table{};
  for (auto family : {moveLowerings(), controlLowerings(), memoryLowerings(), callLowerings(), serviceLowerings(),
                      warpLowerings(), barrierLowerings(), atomicLowerings(), asyncLowerings(), integerLowerings(),
                      carryLowerings(), bitLowerings(), compareLowerings(), floatLowerings(), convertLowerings(),
                      videoLowerings(), matrixLowerings(), textureLowerings(), surfaceLowerings()})
    for (const Lowering& row : family) table[static_cast<size_t>(row.opcode)] = &row;
  return table;
}

}  // namespace

std::string_view whyNotLowered(ptx::Opcode opcode) {
  switch (opcode) {
    case ptx::Opcode::Wgmma: return "Vulkan has no matrix operations of a warpgroup";
    case ptx::Opcode::Tcgen05: return "Vulkan has no tensor memory";
    case ptx::Opcode::Multimem: return "Vulkan has no multicast addresses";
    case ptx::Opcode::Tensormap: return "tensor maps are not supported";
    default: return "this instruction is not translated yet";
  }
}

const Lowering* findLowering(ptx::Opcode opcode) {
  static const Table table = buildTable();
  return table[static_cast<size_t>(opcode)];
}

}  // namespace mulciber::lower
