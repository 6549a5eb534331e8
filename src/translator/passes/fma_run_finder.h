// Which multiply-adds of a block share a branch, and what that branch has to look at.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "translator/analyses/float_ranges.h"
#include "translator/ir/ir.h"

namespace mulciber::passes {

// Multiply-adds that share a branch, with all that depends on them so far.
struct FmaRun {
  std::vector<ir::Instruction*> members;  // in order
  std::unordered_set<const ir::Instruction*> dependent;
  std::unordered_map<ir::VariableId, ir::Instruction*> written;  // variables that hold a dependent value
  std::vector<ir::Instruction*> sums;                            // the multiply-adds
  std::vector<ir::Instruction*> factors, addends;                // whose magnitudes decide, each once, without signs

  // Products of factors from 2^-40 on are multiples of 2^-126, the smallest normal number, as numbers from 2^-103 on
  // are. Sums of multiples are multiples, and rounded they stay so: they are zero or normal, whatever cancels. So
  // nothing is denormal in a run whose factors and first addends have these sizes.
  static constexpr float leastFactor = 0x1p-40f, leastAddend = 0x1p-103f;

  bool concerns(const ir::Instruction& i) const;
  bool isLookedAt() const { return !factors.empty() || !addends.empty(); }
};

// Is given the instructions of one block after the other.
class FmaRunFinder {
 public:
  // `longest`: in multiply-adds. All of a run are computed again where one has to be.
  FmaRunFinder(const std::unordered_set<const ir::Instruction*>& sums, const analyses::FloatRanges& ranges,
               size_t longest)
      : sums_(sums), ranges_(ranges), longest_(longest) {}

  void beginBlock() { held_.clear(); }
  // Whether the run at hand ends in front of an instruction.
  bool endsBefore(const ir::Instruction& i) const;
  void add(ir::Instruction* i);
  FmaRun take();
  void forget(ir::VariableId variable) { held_.erase(variable); }  // it will be written

 private:
  ir::Instruction* magnitudeOf(ir::Instruction* value) const;
  bool isAtLeast(const ir::Instruction* value, float least) const;
  bool isLarge(ir::Instruction* value) const;
  bool isMultipleByAddend(const ir::Instruction* sum, float least) const;
  bool isMultiple(ir::Instruction* value, int depth = 6) const;
  ir::Instruction* origin(ir::Instruction* value) const;

  const std::unordered_set<const ir::Instruction*>& sums_;
  const analyses::FloatRanges& ranges_;
  const size_t longest_;
  std::unordered_map<const ir::Instruction*, ir::Instruction*> origins_;  // of what is read from variables
  std::unordered_map<ir::VariableId, ir::Instruction*> held_;             // by variables at this place of the block
  FmaRun run_;
};

}  // namespace mulciber::passes
