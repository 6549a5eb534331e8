#include "translator/passes/fma_repair.h"

#include "translator/passes/fast_regions.h"
#include "translator/passes/fma_runs.h"

namespace mulciber::passes {

// What runs seldom must not take registers from what runs often.
constexpr size_t longestInCopies = 4;

void repairMultiplyAdds(ir::Function& function, PassContext& context, Repair repair,
                        std::unordered_set<const ir::Instruction*> sums) {
  if (sums.empty()) return;
  std::unordered_set<const ir::Instruction*> copies;
  if (repair != Repair::Runs)
    copies = makeFastRegions(function, context.program, context.profile, sums, repair == Repair::Cheaper);
  repairInRuns(function, context.profile, sums);
  repairInRuns(function, context.profile, copies, longestInCopies);
}

}  // namespace mulciber::passes
