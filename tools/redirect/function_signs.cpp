#include "function_signs.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <bit>

namespace mulciber::redirect {

namespace {

constexpr int64_t pushBytes = 8;

// Arguments in registers, by their place in the calling convention; -1 for any other register.
int argumentPlace(ZydisRegister reg) {
  switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg)) {
    case ZYDIS_REGISTER_RDI: return 0;
    case ZYDIS_REGISTER_RSI: return 1;
    case ZYDIS_REGISTER_RDX: return 2;
    case ZYDIS_REGISTER_RCX: return 3;
    case ZYDIS_REGISTER_R8: return 4;
    case ZYDIS_REGISTER_R9: return 5;
    default: return -1;
  }
}

// Follows which arguments a function reads. Looks at the code in the order it stands, up to the first way out.
class ArgumentReads {
 public:
  void step(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
    const bool clears = instruction.mnemonic == ZYDIS_MNEMONIC_XOR && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                        operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                        operands[0].reg.value == operands[1].reg.value;
    unsigned written = 0;
    for (unsigned i = 0; i < instruction.operand_count_visible; ++i) {
      const ZydisDecodedOperand& operand = operands[i];
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
        read(operand.mem.base);
        read(operand.mem.index);
        if (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) readStack(operand.mem);
      } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
        if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) && !clears) read(operand.reg.value);
        const int place = argumentPlace(operand.reg.value);
        if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && place >= 0) written |= 1u << place;
      }
    }
    written_ |= written;
    followStack(instruction, operands);
  }
  // What registers hold after a call is not the arguments any more.
  void call() { written_ = ~0u; }
  unsigned registers() const { return static_cast<unsigned>(std::popcount(read_)); }
  unsigned onStack() const { return static_cast<unsigned>(std::popcount(stackRead_)); }

 private:
  void read(ZydisRegister reg) {
    const int place = argumentPlace(reg);
    if (place >= 0 && !(written_ & 1u << place)) read_ |= 1u << place;
  }
  void readStack(const ZydisDecodedOperandMem& memory) {
    int64_t offset = memory.disp.has_displacement ? memory.disp.value : 0;
    if (memory.base == ZYDIS_REGISTER_RSP) {
      offset -= depth_;
    } else if (memory.base == ZYDIS_REGISTER_RBP && hasFrame_) {
      offset -= frameDepth_;
    } else {
      return;
    }
    if (offset < pushBytes || offset >= 32 * pushBytes) return;  // below is the return address
    stackRead_ |= 1u << (offset / pushBytes - 1);
  }
  void followStack(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
    const bool onStackPointer =
        operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].reg.value == ZYDIS_REGISTER_RSP;
    const bool byConstant = onStackPointer && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    switch (instruction.mnemonic) {
      case ZYDIS_MNEMONIC_PUSH: depth_ += pushBytes; break;
      case ZYDIS_MNEMONIC_POP: depth_ -= pushBytes; break;
      case ZYDIS_MNEMONIC_SUB:
        if (byConstant) depth_ += operands[1].imm.value.s;
        break;
      case ZYDIS_MNEMONIC_ADD:
        if (byConstant) depth_ -= operands[1].imm.value.s;
        break;
      case ZYDIS_MNEMONIC_MOV:
        if (operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].reg.value == ZYDIS_REGISTER_RBP) {
          hasFrame_ = operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[1].reg.value == ZYDIS_REGISTER_RSP;
          frameDepth_ = depth_;
        }
        break;
      default: break;
    }
  }

  unsigned read_ = 0, written_ = 0, stackRead_ = 0;
  int64_t depth_ = 0, frameDepth_ = 0;
  bool hasFrame_ = false;
};

bool leaves(ZydisMnemonic mnemonic) { return mnemonic == ZYDIS_MNEMONIC_RET || mnemonic == ZYDIS_MNEMONIC_JMP; }

}  // namespace

bool FunctionSigns::calledAnywhere(uint64_t target) const {
  return std::find(calls.begin(), calls.end(), target) != calls.end();
}

FunctionSigns readSigns(fatbin::Bytes code, uint64_t address) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  FunctionSigns signs;
  ArgumentReads arguments;
  bool mayReadArguments = true;
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  for (size_t at = 0; at < code.size(); at += instruction.length) {
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data() + at, code.size() - at, &instruction, operands))) {
      return signs;
    }
    ++signs.instructions;
    const uint64_t next = address + at + instruction.length;
    const bool isDirect = operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[0].imm.is_relative;
    if (mayReadArguments) arguments.step(instruction, operands);
    if (instruction.mnemonic == ZYDIS_MNEMONIC_CALL) {
      arguments.call();
      if (isDirect) signs.calls.push_back(next + static_cast<uint64_t>(operands[0].imm.value.s));
    } else if (leaves(instruction.mnemonic)) {
      mayReadArguments = false;
      const uint64_t target = isDirect ? next + static_cast<uint64_t>(operands[0].imm.value.s) : 0;
      const bool isInside = target - address < code.size();
      if (instruction.mnemonic == ZYDIS_MNEMONIC_JMP && isDirect && !isInside) signs.tailCall = target;
    } else if (instruction.mnemonic == ZYDIS_MNEMONIC_MOV && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               operands[0].reg.value == ZYDIS_REGISTER_EDI && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      signs.firstArguments.push_back(static_cast<uint32_t>(operands[1].imm.value.u));
    }
  }
  signs.argumentRegisters = arguments.registers();
  signs.stackArguments = arguments.onStack();
  signs.isIntact = true;
  return signs;
}

}  // namespace mulciber::redirect
