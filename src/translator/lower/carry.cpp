// add.cc, addc, sub.cc, subc, mad.cc, madc: arithmetic on numbers of several words. The flag is the hardware's: after a
// subtraction it says that nothing was borrowed, which is what addc then adds (nvcc's division of __int128 relies on
// it).
#include "translator/lower/arithmetic.h"

namespace mulciber::lower {
namespace {

using ir::Op;
using ptx::Mod;
using ptx::Opcode;

struct Sum {
  Value value;
  Value flag;
};

// In 64 bits, whose upper half is the flag. `flag` may be null.
Sum addWords(ir::Builder& b, Value x, Value y, Value flag) {
  auto wide = [&](Value word) { return b.convert(Op::ZExt, ir::I64, word); };
  Value sum = b.add(wide(x), wide(y));
  if (flag) sum = b.add(sum, wide(flag));
  auto word = [&](Value v) { return b.convert(Op::Trunc, ir::I32, v); };
  return {word(sum), word(b.lshr(sum, b.i32(32)))};
}

// By comparing what comes out with what went in.
Sum addLongs(ir::Builder& b, bool isSub, Value x, Value y, Value flag) {
  Value carried = nullptr;
  auto step = [&](Value from, Value by) {
    Value result = b.binary(isSub ? Op::Sub : Op::Add, from, by);
    Value isBeyond = isSub ? b.compare(Op::ULt, from, by) : b.compare(Op::ULt, result, from);
    carried = carried ? b.bitOr(carried, isBeyond) : isBeyond;
    return result;
  };
  Value value = step(x, y);
  if (flag) value = step(value, b.convert(Op::ZExt, ir::I64, b.compare(isSub ? Op::IEq : Op::INe, flag, b.i32(0))));
  return {value, b.convert(Op::ZExt, ir::I32, isSub ? b.bitNot(carried) : carried)};
}

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
  Value flag = readsFlag ? f.carry() : nullptr;
  Sum result = x->type == ir::I32 ? addWords(b, x, isSub ? b.bitNot(y) : y, isSub && !flag ? b.i32(1) : flag)
                                  : addLongs(b, isSub, x, y, flag);
  f.write(instruction.operands[0], result.value, ptx::isSigned(type));
  if (instruction.has(Mod::cc)) f.writeCarry(result.flag);
}

namespace {
constexpr Lowering rows[] = {{Opcode::Addc, lowerCarry}, {Opcode::Subc, lowerCarry}, {Opcode::Madc, lowerCarry}};
}  // namespace

std::span<const Lowering> carryLowerings() { return rows; }

}  // namespace mulciber::lower
