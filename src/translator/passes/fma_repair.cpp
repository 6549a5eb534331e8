#include "translator/passes/fma_repair.h"

#include "translator/passes/fast_regions.h"
#include "translator/passes/fma_runs.h"

namespace mulciber::passes {

void repairMultiplyAdds(ir::Function& function, PassContext& context, Repair repair,
                        std::unordered_set<const ir::Instruction*> sums) {
  if (sums.empty()) return;
  if (repair == Repair::Regions) makeFastRegions(function, context.program, context.profile, sums);
  repairInRuns(function, context.profile, sums);
}

}  // namespace mulciber::passes
