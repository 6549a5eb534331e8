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
  for (auto family :
       {moveLowerings(), controlLowerings(), memoryLowerings(), callLowerings(), serviceLowerings(), warpLowerings(),
        barrierLowerings(), atomicLowerings(), asyncLowerings(), integerLowerings(), carryLowerings(), bitLowerings(),
        compareLowerings(), floatLowerings(), convertLowerings(), videoLowerings()})
    for (const Lowering& row : family) table[static_cast<size_t>(row.opcode)] = &row;
  return table;
}

}  // namespace

const Lowering* findLowering(ptx::Opcode opcode) {
  static const Table table = buildTable();
  return table[static_cast<size_t>(opcode)];
}

}  // namespace mulciber::lower
