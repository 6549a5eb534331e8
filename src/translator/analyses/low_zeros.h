// What numbers are visibly multiples of.
#pragma once

#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

// How many low bits of each scalar integer are zero, at most 32. Of values in SSA form; a snapshot.
class LowZeros {
 public:
  explicit LowZeros(const ir::Function& function);

  unsigned of(const ir::Instruction* value) const { return zeros_[value->id]; }

 private:
  unsigned find(const ir::Instruction& instruction) const;

  std::vector<unsigned> zeros_;  // by instruction id
};

unsigned lowZerosOf(uint64_t constant);                  // at most 32
unsigned shiftAmount(const ir::Instruction& leftShift);  // 0 where it is not a constant

}  // namespace mulciber::analyses
