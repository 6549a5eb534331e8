#include "translator/passes/fma_repair.h"

#include "translator/passes/fast_regions.h"
#include "translator/passes/fma_runs.h"

namespace mulciber::passes {

void repairMultiplyAdds(ir::Function& function, PassContext& context, Repair repair,
                        std::unordered_set<const ir::Instruction*> sums) {
  if (sums.empty()) return;
  std::unordered_set<const ir::Instruction*> copies;
  if (repair != Repair::Runs)
    copies = makeFastRegions(function, context.program, context.profile, sums, repair == Repair::Cheaper);
  repairInRuns(function, context.profile, sums, RunLength::Long);
  repairInRuns(function, context.profile, copies, RunLength::Short);
}

}  // namespace mulciber::passes
