// Small pieces that the arithmetic families share.
#pragma once

#include <vector>

#include "translator/lower/families.h"

namespace mulciber::lower {

using Value = ir::Instruction*;

inline uint64_t lowMask(unsigned bits) { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }

// The smaller or larger of two integers.
Value minInt(ir::Builder& b, bool isSigned, Value x, Value y);
Value maxInt(ir::Builder& b, bool isSigned, Value x, Value y);
// min(max(x, low), high), where the bounds are given as signed numbers.
Value clampInt(ir::Builder& b, bool isSigned, Value x, int64_t low, int64_t high);
Value absInt(ir::Builder& b, Value x);
// An integer as a wider or narrower one.
Value resize(ir::Builder& b, Value x, ir::Type type, bool isSigned);

// Shifts for any i32 amount: PTX clamps it to the width.
Value shiftLeft(ir::Builder& b, Value x, Value amount);
Value shiftRight(ir::Builder& b, Value x, Value amount, bool isSigned);

// `count` integers in one register, lowest first. Lanes are worked on as i32, sign- or zero-extended; of a result the
// low bits are kept.
Value lane(ir::Builder& b, Value packed, unsigned index, unsigned bits, bool isSigned);
Value packLanes(ir::Builder& b, const std::vector<Value>& lanes, unsigned bits);

// Sums, differences and distances of all lanes at once. Distances are of unsigned numbers.
Value addLanes(ir::Builder& b, Value x, Value y, unsigned bits);
Value subtractLanes(ir::Builder& b, Value x, Value y, unsigned bits);
Value laneDistances(ir::Builder& b, Value x, Value y, unsigned bits);

// a < b and the other five, for integers. `mod` is one of eq ne lt le gt ge lo ls hi hs.
Value compareInt(ir::Builder& b, ptx::Mod mod, bool isSigned, Value x, Value y);
// eq ... ge, equ ... geu, num, nan. `flush` reads denormals as zeros.
Value compareFloat(ir::Builder& b, ptx::Mod mod, bool flush, Value x, Value y);

// The comparison and the boolean operator among an instruction's modifiers; none when there is no such.
struct Comparison {
  ptx::Mod compare;
  ptx::Mod combine;  // and_, or_, xor_, or `compare` again when there is none
  bool hasCombine;
};
Comparison comparisonOf(const ptx::Instruction& instruction);
Value combine(ir::Builder& b, ptx::Mod boolOp, Value x, Value y);

inline Value operand(FunctionLowering& f, const ptx::Instruction& instruction, unsigned index, ptx::Type type) {
  return f.value(instruction.operands[index], type);
}

Value highProduct(ir::Builder& b, bool isSigned, Value x, Value y);

// Lowerings of the opcodes that more than one family shares.
void lowerCarry(FunctionLowering& f, const ptx::Instruction& instruction);
void lowerFloatArithmetic(FunctionLowering& f, const ptx::Instruction& instruction);

}  // namespace mulciber::lower
