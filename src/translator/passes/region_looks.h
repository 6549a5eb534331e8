// Which numbers of a region have to be looked at, so that all its multiply-adds are known to be without denormals.
//
// A multiply-add is right on a device that flushes where its factors, their product and what is added are multiples of
// 2^-126, the smallest normal number: so is the sum then, and what is rounded from it. Each value is taken for a
// multiple of some power of two. Numbers from 2^e on are multiples of 2^(e-23), sums are multiples of what both parts
// are, or of less than a large part, products of the product. Where that does not suffice, a number has to be large or
// zero, which is what is looked at. Where what is added is large, any product will do.
//
// Exponentials are often too small for that, and sums with them are right all the same: of numbers that are normal or
// zero, the device makes a zero where it is wrong, and nothing else. So such sums are looked at themselves, and an
// exponential, which may be denormal, is multiplied by what the other factor is divided by.
#pragma once

#include <array>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "translator/analyses/exponentials.h"
#include "translator/analyses/float_ranges.h"
#include "translator/passes/repeatable_regions.h"
#include "translator/passes/shared_numbers.h"

namespace mulciber::passes {

// How large a number has to be that is not zero: to be normal, so that it may be added to anything, times most
// constants, and times another such number. Where factors are in two groups, so that each product is of one of either,
// they are Firsts and Seconds: these may be smaller if those are larger, as long as the least exponents of both have a
// sum of -80 or more.
enum class Size : unsigned { Normal, Addend, Scaled, Factor, First, Second };
inline constexpr std::array<int, 6> leastExponents = {-126, -103, -72, -40, -56, -56};
inline constexpr int leastSumOfExponents = -80;
// Larger ones allow no more.
inline constexpr int largestExponent = leastSumOfExponents - leastExponents[static_cast<unsigned>(Size::First)];

struct RegionLooks {
  bool suffice = true;                                                 // no look helps otherwise
  bool usesShared = false;                                             // and the word of shared memory
  std::unordered_map<ir::Instruction*, Size> values;                   // where they are computed, or before the region
  std::unordered_map<ir::VariableId, Size> atEntry;                    // what variables hold there
  std::unordered_map<const ir::Instruction*, size_t> exponentialSums;  // and which factor is the exponential
  std::unordered_set<ir::Instruction*> exponentials;                   // which must not be too large to be multiplied

  bool any() const { return !values.empty() || !atEntry.empty() || !exponentialSums.empty() || usesShared; }
};

// `entering`: the variables whose values from before the region may be read in it. `mayDivide`: whether factors may be
// Firsts and Seconds, of which it takes longer to say whether they are large enough.
RegionLooks findLooks(const RepeatableRegion& region, const std::unordered_set<const ir::Instruction*>& sums,
                      const std::unordered_set<ir::VariableId>& entering, const analyses::FloatRanges& ranges,
                      const analyses::Exponentials& exponentials, const SharedNumbers& shared, bool mayDivide);

}  // namespace mulciber::passes
