#include "translator/passes/copies_under_way.h"

#include "translator/passes/carried_constants.h"
#include "translator/passes/carried_sums.h"
#include "translator/passes/cse.h"
#include "translator/passes/decided_branches.h"

namespace mulciber::passes {

bool CopiesUnderWay::run(ir::Function& function, PassContext& context) {
  if (!context.profile.foldsCopies || !context.program.holdsCopies) return false;
  removeCommonSubexpressions(function);  // so that equal conditions are one
  foldDecidedBranches(function);
  forgetUnneededOperands(function);
  foldCarriedConstants(function);
  shareCarriedSums(function);
  return true;
}

}  // namespace mulciber::passes
