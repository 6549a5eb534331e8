// Branches and the end of a thread.
#include "translator/lower/families.h"

namespace mulciber::lower {
namespace {

void lowerBra(FunctionLowering& f, const ptx::Instruction& instruction) {
  f.branchTo(*instruction.operands[0].label, instruction.guard);
}

void lowerBrx(FunctionLowering& f, const ptx::Instruction& instruction) {
  f.branchIndexed(instruction.operands[0], *instruction.operands[1].targets, instruction.guard);
}

void lowerRet(FunctionLowering& f, const ptx::Instruction& instruction) { f.returnUnder(instruction.guard); }

void lowerExit(FunctionLowering& f, const ptx::Instruction&) { f.endThread(); }

constexpr Lowering rows[] = {
    {ptx::Opcode::Bra, lowerBra, Effect::Control},
    {ptx::Opcode::Brx, lowerBrx, Effect::Control},
    {ptx::Opcode::Ret, lowerRet, Effect::Control},
    {ptx::Opcode::Exit, lowerExit, Effect::Effects},
};

}  // namespace

std::span<const Lowering> controlLowerings() { return rows; }

}  // namespace mulciber::lower
