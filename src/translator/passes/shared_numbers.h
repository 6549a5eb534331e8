// Floats in shared memory, looked at where they are stored instead of wherever they are read.
//
// A word of shared memory remembers for the block whether any was small: it is written before another thread may read
// the number, and read behind what reads numbers, so that whoever may see such a number sees the word.
#pragma once

#include <optional>

#include "mulciber/translator.h"
#include "translator/ir/builder.h"
#include "translator/ir/ir.h"

namespace mulciber::passes {

// The order of these is that of magnitudes, but for zeros, which are the largest: zeros are many, and harmless.
ir::Instruction* twiceTheBitsLessOne(ir::Builder& b, ir::Instruction* number);

class SharedNumbers {
 public:
  // `least`: of the numbers that are not small. Zeros are not either.
  SharedNumbers(ir::Function& function, ir::Program& program, const TargetProfile& profile, float least);

  // Whether a value is one that was looked at where it was stored: where shared memory holds nothing but words of 32
  // bits that are read as floats, and most are read several times.
  bool has(const ir::Instruction* value) const { return isPossible_ && loadOf(value) != nullptr; }
  // The load of a number from shared memory, or null.
  static const ir::Instruction* loadOf(const ir::Instruction* value);

  // Not zero if any was small; 0 or 1. This and what relies on it asks for the other two.
  ir::Instruction* readWord(ir::Builder& b);
  bool isUsed() const { return address_.has_value(); }
  void begin(ir::Builder& b);  // at the kernel's
  void lookAtStores(ir::Builder& b);

 private:
  bool reachesDynamicMemory() const;
  bool findWhetherPossible(const TargetProfile& profile) const;
  ir::Instruction* lookAt(ir::Builder& b, const ir::Instruction& store, ir::Instruction* least);
  void remember(ir::Builder& b, ir::Instruction* least);

  ir::Function& function_;
  ir::Program& program_;
  const float least_;
  const bool isPossible_;
  std::optional<uint32_t> address_;  // of the word
};

}  // namespace mulciber::passes
