#include "translator/passes/pipeline.h"

#include "translator/ir/printer.h"
#include "translator/ir/verifier.h"
#include "translator/passes/address_offsets.h"
#include "translator/passes/address_spaces.h"
#include "translator/passes/aligned_addresses.h"
#include "translator/passes/block_rounds.h"
#include "translator/passes/bounded_sums.h"
#include "translator/passes/byte_swaps.h"
#include "translator/passes/carried_halves.h"
#include "translator/passes/clamped_conversions.h"
#include "translator/passes/constant_reads.h"
#include "translator/passes/constant_registers.h"
#include "translator/passes/constant_zeros.h"
#include "translator/passes/contraction.h"
#include "translator/passes/cse.h"
#include "translator/passes/dce.h"
#include "translator/passes/decided_branches.h"
#include "translator/passes/divisions.h"
#include "translator/passes/dot_products.h"
#include "translator/passes/early_reads.h"
#include "translator/passes/first_rounds.h"
#include "translator/passes/fold_branches.h"
#include "translator/passes/folded_flushes.h"
#include "translator/passes/form.h"
#include "translator/passes/half_magnitudes.h"
#include "translator/passes/half_round_trips.h"
#include "translator/passes/high_sums.h"
#include "translator/passes/inline.h"
#include "translator/passes/known_sums.h"
#include "translator/passes/lane_addresses.h"
#include "translator/passes/legalize_floats.h"
#include "translator/passes/lone_stores.h"
#include "translator/passes/loop_flags.h"
#include "translator/passes/loop_invariants.h"
#include "translator/passes/looped_constants.h"
#include "translator/passes/low_bits.h"
#include "translator/passes/narrow_counts.h"
#include "translator/passes/negated_signs.h"
#include "translator/passes/recursion.h"
#include "translator/passes/repeated_checks.h"
#include "translator/passes/scratch.h"
#include "translator/passes/shifted_extensions.h"
#include "translator/passes/simplify.h"
#include "translator/passes/ssa.h"
#include "translator/passes/structurize.h"
#include "translator/passes/warp_loops.h"
#include "translator/passes/wide_differences.h"
#include "translator/passes/wide_shifts.h"
#include "translator/passes/zero_signs.h"

namespace mulciber::passes {
namespace {

struct Step {
  std::string_view (*name)();
  std::string (*run)(PassContext& context);  // empty, or why the kernel cannot be translated
  Forms needs, leaves, ends;                 // what it ends does not hold any more
};

template <typename Kind>
constexpr Step pass(Forms needs, Forms leaves = {}, Forms ends = {}) {
  return {[] { return Kind().name(); },
          [](PassContext& context) {
            Kind().run(*context.program.functions.front(), context);
            return std::string();
          },
          needs, leaves, ends};
}

std::string internalError(std::string_view stage, const std::string& faults) {
  return faults.empty() ? faults : "internal error after " + std::string(stage) + ": " + faults;
}

std::string endRecursion(PassContext& context) {
  removeRecursion(context.program);
  return {};
}
std::string inlineAll(PassContext& context) { return inlineCalls(context.program, context.options.inlineLimit); }
std::string makeStructure(PassContext& context) {  // its own steps: structurize.cpp
  ir::Function& kernel = *context.program.functions.front();
  if (context.verifies()) return internalError("structurize", structurizeVerified(kernel));
  structurize(kernel);
  return {};
}

constexpr Forms unstructured = Form::Variables | Form::NoCalls;
constexpr Forms structured = Form::Ssa | Form::Structured;
constexpr Forms resolved = structured | Form::KnownSpaces;

constexpr Step steps[] = {
    {[]() -> std::string_view { return "recursion"; }, endRecursion, Form::Variables, Form::NoRecursion, {}},
    {[]() -> std::string_view { return "inline"; }, inlineAll, Form::Variables | Form::NoRecursion, Form::NoCalls, {}},
    pass<ConstantRegisters>(unstructured),
    pass<RepeatedChecks>(unstructured),
    pass<Contraction>(unstructured, Form::Contracted),
    pass<LegalizeFloats>(unstructured | Form::Contracted, Form::Nearest),
    pass<BlockRounds>(unstructured),
    {[]() -> std::string_view { return "structurize"; }, makeStructure, unstructured, Form::Structured, {}},
    pass<Ssa>(unstructured | Form::Structured, Form::Ssa, Form::Variables),
    pass<Simplify>(structured),
    pass<AddressSpaces>(structured, Form::KnownSpaces),
    pass<Scratch>(resolved),
    pass<Simplify>(structured),
    pass<LaneAddresses>(resolved),
    pass<AddressOffsets>(resolved),
    pass<ConstantReads>(resolved),
    pass<Divisions>(structured),
    pass<FoldBranches>(structured),
    pass<ConstantZeros>(structured | Form::Nearest),
    pass<BoundedSums>(structured),
    pass<AlignedAddresses>(resolved),
    pass<Cse>(structured),
    pass<DecidedBranches>(structured),
    pass<Dce>(structured),
    pass<EarlyReads>(structured),
    // What hides values from drivers comes after all that would see through it.
    pass<FoldedFlushes>(structured | Form::Nearest),
    pass<ClampedConversions>(structured),
    pass<HalfMagnitudes>(structured),
    pass<HalfRoundTrips>(structured),
    pass<ByteSwaps>(structured),
    pass<NegatedSigns>(structured),
    pass<NarrowCounts>(structured),
    pass<ShiftedExtensions>(structured),
    pass<CarriedHalves>(structured),
    pass<WideDifferences>(structured),
    pass<WideShifts>(structured),
    pass<LowBits>(structured),
    pass<HighSums>(structured),
    pass<LoopedConstants>(structured),
    pass<LoneStores>(resolved),
    pass<ZeroSigns>(structured),
    pass<KnownSums>(structured),
    pass<DotProducts>(structured),
    pass<LoopInvariants>(structured),
    pass<FirstRounds>(structured),
    pass<LoopFlags>(structured),
    pass<WarpLoops>(structured),
};

constexpr Forms afterStep(Forms before, const Step& step) { return before.without(step.ends) | step.leaves; }

constexpr bool hasEachStepWhatItNeeds() {
  Forms forms = Form::Variables;  // as lowering leaves the program
  for (const Step& step : steps) {
    if (!forms.contains(step.needs)) return false;
    forms = afterStep(forms, step);
  }
  return true;
}
static_assert(hasEachStepWhatItNeeds(), "a step stands before those that leave what it needs");

// Looks at the program after each step: a fault is a fault of Mulciber, not of the kernel.
std::string finish(std::string_view stage, PassContext& context, Forms forms) {
  const TranslateOptions& options = context.options;
  if (options.dump) options.dump(options.dumpUser, stage, ir::print(context.program));
  if (!context.verifies()) return {};
  std::string faults = findBrokenForm(context.program, forms);
  for (const auto& function : context.program.functions) faults += ir::verify(*function);
  return internalError(stage, faults);
}

}  // namespace

std::string runPipeline(PassContext& context) {
  Forms forms = Form::Variables;
  if (std::string fault = finish("ir", context, forms); !fault.empty()) return fault;
  for (const Step& step : steps) {
    if (std::string refusal = step.run(context); !refusal.empty()) return refusal;
    forms = afterStep(forms, step);
    if (std::string fault = finish(step.name(), context, forms); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace mulciber::passes
