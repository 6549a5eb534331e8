#include "translator/passes/pipeline.h"

#include <memory>
#include <vector>

#include "translator/ir/printer.h"
#include "translator/ir/verifier.h"
#include "translator/passes/address_offsets.h"
#include "translator/passes/address_spaces.h"
#include "translator/passes/aligned_addresses.h"
#include "translator/passes/bounded_sums.h"
#include "translator/passes/byte_swaps.h"
#include "translator/passes/clamped_conversions.h"
#include "translator/passes/constant_reads.h"
#include "translator/passes/constant_zeros.h"
#include "translator/passes/contraction.h"
#include "translator/passes/cse.h"
#include "translator/passes/dce.h"
#include "translator/passes/divisions.h"
#include "translator/passes/float_exactness.h"
#include "translator/passes/fold_branches.h"
#include "translator/passes/half_round_trips.h"
#include "translator/passes/inline.h"
#include "translator/passes/loop_flags.h"
#include "translator/passes/negated_signs.h"
#include "translator/passes/recursion.h"
#include "translator/passes/rounds.h"
#include "translator/passes/scratch.h"
#include "translator/passes/simplify.h"
#include "translator/passes/ssa.h"
#include "translator/passes/structurize.h"

namespace mulciber::passes {
namespace {

std::vector<std::unique_ptr<Pass>> passes() {
  std::vector<std::unique_ptr<Pass>> list;
  list.push_back(std::make_unique<Contraction>());
  list.push_back(std::make_unique<FloatExactness>());
  list.push_back(std::make_unique<Rounds>());
  list.push_back(std::make_unique<Structurize>());
  list.push_back(std::make_unique<Ssa>());
  list.push_back(std::make_unique<Simplify>());
  list.push_back(std::make_unique<AddressSpaces>());
  list.push_back(std::make_unique<Scratch>());
  list.push_back(std::make_unique<Simplify>());
  list.push_back(std::make_unique<AddressOffsets>());
  list.push_back(std::make_unique<ConstantReads>());
  list.push_back(std::make_unique<Divisions>());
  list.push_back(std::make_unique<FoldBranches>());
  list.push_back(std::make_unique<ConstantZeros>());
  list.push_back(std::make_unique<BoundedSums>());
  list.push_back(std::make_unique<AlignedAddresses>());
  list.push_back(std::make_unique<Cse>());
  list.push_back(std::make_unique<Dce>());
  list.push_back(std::make_unique<ClampedConversions>());
  list.push_back(std::make_unique<HalfRoundTrips>());
  list.push_back(std::make_unique<ByteSwaps>());
  list.push_back(std::make_unique<NegatedSigns>());
  list.push_back(std::make_unique<LoopFlags>());
  return list;
}

#ifdef NDEBUG
constexpr bool isDebugBuild = false;
#else
constexpr bool isDebugBuild = true;
#endif

// Looks at the function between passes: a fault is a fault of Mulciber, not of the kernel.
std::string finish(std::string_view stage, PassContext& context) {
  const TranslateOptions& options = context.options;
  if (options.dump) options.dump(options.dumpUser, stage, ir::print(context.program));
  if (!isDebugBuild && !options.validate) return {};
  for (const auto& function : context.program.functions) {
    std::string faults = ir::verify(*function);
    if (!faults.empty()) return "internal error after " + std::string(stage) + ": " + faults;
  }
  return {};
}

}  // namespace

std::string runPipeline(PassContext& context) {
  if (std::string fault = finish("ir", context); !fault.empty()) return fault;
  removeRecursion(context.program);
  if (std::string refusal = inlineCalls(context.program, context.options.inlineLimit); !refusal.empty()) return refusal;
  if (std::string fault = finish("inline", context); !fault.empty()) return fault;
  ir::Function& kernel = *context.program.functions.front();
  for (const auto& pass : passes()) {
    pass->run(kernel, context);
    if (std::string fault = finish(pass->name(), context); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace mulciber::passes
