// Values that drivers cannot tell to be others.
#pragma once

#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "translator/ir/builder.h"
#include "translator/ir/ir.h"
#include "translator/passes/insertions.h"

namespace mulciber::passes {

// A value with those bits flipped that a mask has; a boolean by any of the 32. Masks have the type that maskType says.
ir::Instruction* flip(ir::Builder& b, ir::Instruction* value, ir::Instruction* mask);
ir::Type maskType(ir::Type type);

// The bits of a value xor-ed with a zero that drivers do not know for one, in any of its bits: a grid has at most
// 65,535 blocks in its second and third direction. Each has another zero, because the same one twice shows the value.
class HiddenValues {
 public:
  explicit HiddenValues(ir::Function& function) : function_(function), insertions_(function) {}

  // A copy that follows the value, which may be a copy: one for each version. Drivers cannot tell two versions to be
  // the same either.
  ir::Instruction* hide(ir::Instruction* value, unsigned version = 0);
  // The same made of another value, by `b`.
  ir::Instruction* hide(ir::Builder& b, ir::Instruction* value, unsigned version = 0);

  // Lets constants of 32 bits be words that the launch carries, which cost nothing, while there is room.
  void carryWords(ir::Program& program, unsigned room);

  // The zero itself, of 8 to 64 bits, and a constant that is carried or hidden by it. Both stand where the function
  // begins.
  ir::Instruction* zero(unsigned version, unsigned bits);
  ir::Instruction* constant(ir::Type type, uint64_t bits);
  bool isConstant(const ir::Instruction* value) const { return constantIds_.contains(value->id); }

  ir::Builder after(const ir::Instruction* value) { return insertions_.after(value); }
  bool apply();  // whether there was anything to hide

 private:
  static constexpr uint32_t mostVersions = 1 << 16;
  ir::Instruction* zero(unsigned version);
  ir::Instruction* carriedWord(ir::Type type, uint32_t word);
  ir::Instruction* hiddenConstant(ir::Type type, uint64_t bits);

  ir::Function& function_;
  Insertions insertions_;
  ir::Block head_;
  ir::Instruction* first_ = nullptr;
  ir::Program* program_ = nullptr;  // that has words carried
  unsigned room_ = 0;
  uint32_t number_ = 0;                                                         // among those of the function
  std::map<std::pair<unsigned, unsigned>, ir::Instruction*> zeros_;             // by version and bits
  std::map<std::pair<uint32_t, unsigned>, ir::Instruction*> copies_;            // by id and version
  std::map<uint32_t, ir::Instruction*> originals_;                              // of copies, by id
  std::map<std::tuple<bool, unsigned, uint64_t>, ir::Instruction*> constants_;  // by type and value
  std::unordered_set<uint32_t> constantIds_;
};

}  // namespace mulciber::passes
