// add.cc, addc, sub.cc, subc, mad.cc, madc: arithmetic on numbers of several words. The flag is the hardware's: after a
// subtraction it says that nothing was borrowed, which is what addc then adds (nvcc's division of __int128 relies on it).
#include "translator/lower/arithmetic.h"

namespace mulciber::lower {
namespace {

using ir::Op;
using ptx::Mod;
using ptx::Opcode;

struct Sum {
  Value value;
  Value flag;  // carry or borrow out
};

Sum add(ir::Builder& b, Value x, Value y) {
  Value sum = b.add(x, y);
  return {sum, b.compare(Op::ULt, sum, x)};
}

Sum subtract(ir::Builder& b, Value x, Value y) { return {b.sub(x, y), b.compare(Op::ULt, x, y)}; }

}  // namespace

void lowerCarry(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  ptx::Type type = instruction.type();
  Opcode opcode = instruction.opcode;
  bool isSub = opcode == Opcode::Sub || opcode == Opcode::Subc;
  bool readsFlag = opcode == Opcode::Addc || opcode == Opcode::Subc || opcode == Opcode::Madc;
  Value x = operand(f, instruction, 1, type), y = operand(f, instruction, 2, type);
  if (opcode == Opcode::Mad || opcode == Opcode::Madc) {
    x = instruction.has(Mod::hi) ? highProduct(b, ptx::isSigned(type), x, y) : b.mul(x, y);
    y = operand(f, instruction, 3, type);
  }
  auto step = isSub ? subtract : add;
  Sum result = step(b, x, y);
  if (readsFlag) {
    Value flag = isSub ? b.bitNot(f.carry()) : f.carry();
    Sum second = step(b, result.value, b.convert(Op::ZExt, x->type, flag));
    result = {second.value, b.bitOr(result.flag, second.flag)};
  }
  f.write(instruction.operands[0], result.value, ptx::isSigned(type));
  if (instruction.has(Mod::cc)) f.writeCarry(isSub ? b.bitNot(result.flag) : result.flag);
}

namespace {
constexpr Lowering rows[] = {{Opcode::Addc, lowerCarry}, {Opcode::Subc, lowerCarry}, {Opcode::Madc, lowerCarry}};
}  // namespace

std::span<const Lowering> carryLowerings() { return rows; }

}  // namespace mulciber::lower
