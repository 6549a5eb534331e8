// Instructions put behind others, many at once, while a pass still looks at the function as it was.
#pragma once

#include <unordered_map>
#include <vector>

#include "translator/ir/builder.h"
#include "translator/ir/ir.h"

namespace mulciber::passes {

class Insertions {
 public:
  explicit Insertions(ir::Function& function);

  // Appends to what follows the value; behind the phis of its block where it is one.
  ir::Builder after(const ir::Instruction* value);
  // A phi, whose operands are for the caller to add, at the head of the block of `like`.
  ir::Instruction* addPhi(ir::Type type, const ir::Instruction* like);
  // Behind the phis of the block of `phi`, before all that follows them.
  ir::Builder behindPhis(const ir::Instruction* phi);

  bool isEmpty() const { return following_.empty() && heads_.empty(); }
  void apply();

 private:
  struct Head {
    std::vector<ir::Instruction*> phis;
    ir::Block behind;
  };
  Head& headOf(const ir::Instruction* phi) { return heads_[homes_[phi->id]]; }
  void applyTo(ir::Block* block);

  ir::Function& function_;
  std::vector<const ir::Block*> homes_;                // by instruction id
  std::unordered_map<uint32_t, ir::Block> following_;  // by instruction id
  std::unordered_map<const ir::Block*, Head> heads_;
};

}  // namespace mulciber::passes
