// The shapes of matrix instructions, and which lane holds what.
//
// But for the f16 form of mma.m8n8k4, one rule gives all fragments of mma, and wmma, whose fragments PTX leaves open,
// is given them too. A register holds `packed` values that are neighbours along k. Lane 4 * g + t holds, of
//   A  row 8 * i + g,  the values from k = (4 * j + t) * packed on,  in register j * rowBlocks + i
//   B  column 8 * i + g,  the same k,                               in register i * innerBlocks + j
//   C  row 8 * i + g,  columns 8 * j + 2 * t and the next,          as values 2 * (j * rowBlocks + i) and the next
#pragma once

#include "translator/ptx/ast.h"

namespace mulciber::lower {

struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;

  unsigned rowBlocks() const { return m / 8; }
  unsigned columnBlocks() const { return n / 8; }
};

MatrixShape matrixShape(const ptx::Instruction& instruction);

// How many values of A or B a register holds.
unsigned packedValues(ptx::Type type);

}  // namespace mulciber::lower
