#include "translator/passes/fma_run_finder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;
using ir::VariableId;

bool contains(const std::vector<Instruction*>& values, const Instruction* value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool isRepeatable(const Instruction& i) { return ir::isPure(i.op) || i.op == Op::ReadVar || i.op == Op::WriteVar; }

}  // namespace

bool FmaRun::concerns(const Instruction& i) const {
  if (i.op == Op::ReadVar) return written.count(static_cast<VariableId>(i.payload)) != 0;
  return std::any_of(i.operands.begin(), i.operands.end(),
                     [&](const Instruction* x) { return dependent.count(x) != 0; });
}

bool FmaRunFinder::endsBefore(const Instruction& i) const {
  return (run_.concerns(i) && !isRepeatable(i)) || i.op == Op::Call ||
         (sums_.count(&i) != 0 && run_.sums.size() == longest_);
}

void FmaRunFinder::add(Instruction* i) {
  const bool isSum = sums_.count(i) != 0, isMember = isSum || run_.concerns(*i);
  if (isMember) {
    run_.members.push_back(i);
    run_.dependent.insert(i);
  }
  const auto variable = static_cast<VariableId>(i->payload);
  if (i->op == Op::WriteVar) {
    held_[variable] = origin(i->operands[0]);
    if (isMember) run_.written[variable] = i->operands[0];
    else run_.written.erase(variable);
  }
  if (i->op == Op::ReadVar) origins_[i] = held_.try_emplace(variable, i).first->second;
  if (i->op == Op::Call) held_.clear();
  if (!isSum) return;
  auto addAddend = [&](Instruction* value) {
    value = magnitudeOf(value);
    if (!contains(run_.addends, value)) run_.addends.push_back(value);
  };
  for (size_t n : {0, 1}) {
    Instruction* factor = magnitudeOf(i->operands[n]);
    if (!isMultipleByAddend(i, FmaRun::leastAddend)) {
      if (!isLarge(factor)) run_.factors.push_back(factor);
    } else if (!ranges_.absorbsDenormal(i, n)) {
      addAddend(factor);
    }
  }
  addAddend(i->operands[2]);
  run_.sums.push_back(i);
}

FmaRun FmaRunFinder::take() {
  std::erase_if(run_.addends, [&](Instruction* addend) { return isMultiple(addend); });
  return std::exchange(run_, {});
}

// What has the magnitude of a value.
Instruction* FmaRunFinder::magnitudeOf(Instruction* value) const {
  value = origin(value);
  while (value->op == Op::FNeg || value->op == Op::FAbs) value = origin(value->operands[0]);
  return value;
}
bool FmaRunFinder::isAtLeast(const Instruction* value, float least) const {
  const analyses::FloatRange range = ranges_.rangeOf(value);
  return range.low >= least || range.high <= -least;
}
bool FmaRunFinder::isLarge(Instruction* value) const {
  value = magnitudeOf(value);
  return contains(run_.factors, value) || isAtLeast(value, FmaRun::leastFactor) ||
         isMultipleByAddend(value, FmaRun::leastFactor);
}
// Whether a sum is zero or a multiple of the last bit of such a number, because what is added is large.
bool FmaRunFinder::isMultipleByAddend(const Instruction* sum, float least) const {
  const std::optional<int> multiple = ranges_.multipleOfSum(sum);
  return multiple && *multiple + std::numeric_limits<float>::digits - 1 >= std::ilogb(least);
}
// Whether a value is a multiple of the smallest normal number where the run's factors are large.
bool FmaRunFinder::isMultiple(Instruction* value, int depth) const {
  value = magnitudeOf(value);
  if (contains(run_.sums, value) || contains(run_.factors, value) || isAtLeast(value, FmaRun::leastAddend) ||
      isMultipleByAddend(value, FmaRun::leastAddend))
    return true;
  if (const auto known = ranges_.constantOf(value)) {  // NaNs do no harm
    const uint64_t magnitude = *known & 0x7FFF'FFFF;
    return magnitude == 0 || magnitude >= std::bit_cast<uint32_t>(FmaRun::leastAddend);
  }
  auto isPart = [&](Instruction* part) { return isMultiple(part, depth - 1); };
  if (depth == 0 || value->fp.approximate) return false;
  switch (value->op) {
    case Op::FAdd:
    case Op::FSub: return isPart(value->operands[0]) && isPart(value->operands[1]);
    case Op::Select: return isPart(value->operands[1]) && isPart(value->operands[2]);
    case Op::FMul: return isLarge(value->operands[0]) && isLarge(value->operands[1]);
    case Op::UToF:
    case Op::SToF: return true;
    default: return false;
  }
}

// The first of the values that are this one, read from variables.
Instruction* FmaRunFinder::origin(Instruction* value) const {
  const auto found = origins_.find(value);
  return found == origins_.end() ? value : found->second;
}

}  // namespace mulciber::passes
