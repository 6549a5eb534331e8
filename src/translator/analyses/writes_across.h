// Which write of a variable a read in another block sees, while registers are variables.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

class WritesAcross {
 public:
  explicit WritesAcross(const ir::Function& function) : function_(function) {}

  // The only write that a read may see; null where there are several, or where a block writes before the read.
  const ir::Instruction* writeOf(const ir::Instruction* read);
  // Whether all reads in other blocks that may see a write can see no other one, and stand in later blocks of the
  // function's text, and the same is true of the variable's other writes. False as well where there is too much to
  // look at.
  bool isClear(const ir::Instruction* write);
  // Whether a read in another block, or in another round of its own, may see it.
  bool isSeen(const ir::Instruction* write);

 private:
  struct Place {                                // what a block does with a variable
    std::vector<const ir::Instruction*> reads;  // before it writes
    const ir::Instruction* write = nullptr;     // the last one
  };
  struct Variable {
    std::unordered_map<const ir::Block*, Place> places;
    std::unordered_map<const ir::Instruction*, const ir::Instruction*> writes;  // of reads: null if several
    std::unordered_map<const ir::Instruction*, bool> areClear;                  // of writes
    std::unordered_set<const ir::Instruction*> areSeen;                         // of writes
    bool isResolved = false;
  };

  Variable& resolved(ir::VariableId id);
  void findPlaces();
  void resolve(Variable& variable);
  void spread(Variable& variable, const ir::Block& from, const ir::Instruction* write);

  const ir::Function& function_;
  std::unordered_map<const ir::Block*, size_t> order_;
  std::unordered_map<ir::VariableId, Variable> variables_;
  size_t steps_ = 0;
};

}  // namespace mulciber::analyses
