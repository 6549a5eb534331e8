// How large an integer can be, as far as its operations tell: threads and lanes have small numbers.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

// Of values in SSA form.
class IntegerRanges {
 public:
  // The largest unsigned number that the value may be; all bits of its type when nothing is known.
  uint64_t largest(const ir::Instruction* value);

  // value + constant, both of one type, is what it is among all integers: without a carry out, or as signed numbers.
  bool addsUnsigned(const ir::Instruction* value, uint64_t constant);
  bool addsSigned(const ir::Instruction* value, uint64_t constant);

 private:
  uint64_t bound(const ir::Instruction& value, int depth);
  uint64_t boundOf(const ir::Instruction* operand, int depth);

  std::unordered_map<const ir::Instruction*, uint64_t> known_;
};

}  // namespace mulciber::analyses
