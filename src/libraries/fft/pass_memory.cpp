// What a pass loads and stores: elements in global and in shared memory, and roots of unity in tables.
#include <algorithm>
#include <bit>

#include "libraries/fft/pass_writer.h"

namespace mulciber::fft {

PassWriter::Thread PassWriter::threadFor(bool isLoad) {
  Thread thread{out_.word(), out_.word()};
  const bool takes = takesTransforms(pass_, isLoad);
  const int64_t count = takes ? shape_.transformsPerBlock : shape_.threadsPerTransform;
  const std::string& low = takes ? thread.transform : thread.place;
  const std::string& high = takes ? thread.place : thread.transform;
  out_.line("rem.u32 {}, %thread, {}", low, count);
  out_.line("div.u32 {}, %thread, {}", high, count);
  return thread;
}

PassWriter::Transform PassWriter::transformFor(const Thread& thread, bool isLoad) {
  Transform result;
  std::string number = out_.word();
  out_.line("mad.lo.u32 {}, %block, {}, {}", number, shape_.transformsPerBlock, thread.transform);
  result.number = number;
  if (pass_.count() % shape_.transformsPerBlock != 0) {
    result.isThere = isBelow(number, pass_.count(), "");
    number = out_.word();
    out_.line("min.u32 {}, {}, {}", number, result.number, pass_.count() - 1);
  }
  result.address = isLoad ? "%input" : "%output";
  result.index = out_.word(), result.phase = out_.word();
  out_.line("mov.u32 {}, 0", result.index);
  out_.line("mov.u32 {}, 0", result.phase);
  for (size_t i = 0; i < pass_.dimensions.size(); ++i) {
    const Dimension& dimension = pass_.dimensions[i];
    std::string place = number;
    if (i + 1 < pass_.dimensions.size()) {
      place = out_.word();
      const std::string rest = out_.word();
      out_.line("rem.u32 {}, {}, {}", place, number, dimension.size);
      out_.line("div.u32 {}, {}, {}", rest, number, dimension.size);
      number = rest;
    }
    result.address = multiplyAdd(place, (isLoad ? dimension.in : dimension.out) * bytesOf(isLoad), result.address);
    result.index = index(place, isLoad ? dimension.inIndex : dimension.outIndex, result.index);
    result.phase = index(place, dimension.phase, result.phase);
  }
  return result;
}

PassWriter::Spot PassWriter::spotFor(const Transform& transform, const std::string& number, bool isLoad) {
  const Dimension& element = pass_.element;
  return {multiplyAdd(number, (isLoad ? element.in : element.out) * bytesOf(isLoad), transform.address),
          index(number, isLoad ? element.inIndex : element.outIndex, transform.index)};
}

Complex PassWriter::load(const Spot& spot, int64_t more, const std::string& given) {
  const bool isReal = pass_.load == Load::Real, isHalf = pass_.load == Load::Half;
  const bool isLimited = pass_.inLimit != INT64_MAX;
  const std::string place =
      isHalf || isLimited || pass_.loadFactors != noTable ? plus(spot.index, more * pass_.element.inIndex) : "";
  const std::string isThere = isLimited ? isBelow(place, pass_.inLimit, given) : given;
  std::string from = operand(spot.address, more * pass_.element.in * bytesOf(true));
  std::string isMirrored;
  if (isHalf) {
    isMirrored = out_.predicate();
    out_.line("setp.gt.u32 {}, {}, {}", isMirrored, place, pass_.axisLength / 2);
    // From an element to the one as far from the end: its conjugate.
    const std::string distance = out_.word(), wide = out_.wide(), there = out_.wide();
    out_.line("sub.u32 {}, {}, {}", distance, pass_.axisLength, place);
    out_.line("sub.s32 {0}, {0}, {1}", distance, place);
    out_.line("selp.b32 {0}, {0}, 0, {1}", distance, isMirrored);
    out_.line("cvt.s64.s32 {}, {}", wide, distance);
    out_.line("mad.lo.s64 {}, {}, {}, {}", there, wide, pass_.axisIn * bytesOf(true), spot.address);
    from = operand(there, more * pass_.element.in * bytesOf(true));
  }
  const Complex value = out_.complex();
  if (!isThere.empty() || isReal) {
    out_.line("mov.{} {}, {}", out_.type(), value.re, out_.number(0));
    out_.line("mov.{} {}, {}", out_.type(), value.im, out_.number(0));
  }
  if (isReal) out_.line("{}ld.global.{} {}, [{}]", guarded(isThere), out_.type(), value.re, from);
  else out_.line("{}ld.global.v2.{} {{{}, {}}}, [{}]", guarded(isThere), out_.type(), value.re, value.im, from);
  if (isHalf) out_.line("@{} neg.{} {}, {}", isMirrored, out_.type(), value.im, value.im);
  if (pass_.loadFactors == noTable) return value;
  // No factor is beyond the table, and what it would multiply is zero there.
  const std::string inTable = out_.word();
  out_.line("min.u32 {}, {}, {}", inTable, place, std::min(pass_.inLimit, pass_.axisLength) - 1);
  return out_.multiply(value, table(pass_.loadFactors, inTable));
}

void PassWriter::store(const Spot& spot, int64_t more, const std::string& given, Complex value) {
  std::string isThere = given;
  const bool isHalf = pass_.store == Store::Half;
  const int64_t limit = std::min(pass_.outLimit, isHalf ? pass_.axisLength / 2 + 1 : INT64_MAX);
  if (limit != INT64_MAX || pass_.storeFactors != noTable) {
    const std::string place = plus(spot.index, more * pass_.element.outIndex);
    if (limit != INT64_MAX) isThere = isBelow(place, limit, given);
    if (pass_.storeFactors != noTable) {
      std::string inTable = place;
      if (limit != INT64_MAX) {
        inTable = out_.word();
        out_.line("min.u32 {}, {}, {}", inTable, place, limit - 1);
      }
      value = out_.multiply(value, table(pass_.storeFactors, inTable));
    }
  }
  const std::string to = operand(spot.address, more * pass_.element.out * bytesOf(false));
  if (pass_.store == Store::Real) out_.line("{}st.global.{} [{}], {}", guarded(isThere), out_.type(), to, value.re);
  else out_.line("{}st.global.v2.{} [{}], {{{}, {}}}", guarded(isThere), out_.type(), to, value.re, value.im);
}

// Where an element is in shared memory.
std::string PassWriter::sharedSpot(const Thread& thread, const std::string& number) {
  std::string place = index(thread.transform, shape_.sharedDistance, number);
  if (shape_.gap > 0) {
    const std::string gaps = out_.word(), sum = out_.word();
    out_.line("div.u32 {}, {}, {}", gaps, number, shape_.gap);
    out_.line("add.u32 {}, {}, {}", sum, place, gaps);
    place = sum;
  }
  return index(place, complexBytes(), "%shared");
}

// Of an element further on. Gaps are chosen so that they add up.
std::string PassWriter::sharedOperand(const std::string& spot, int64_t more) const {
  return fmt::format("{}+{}", spot, withGaps(more, shape_.gap) * complexBytes());
}

Complex PassWriter::loadShared(const std::string& spot, int64_t more) {
  const Complex value = out_.complex();
  out_.line("ld.shared.v2.{} {{{}, {}}}, [{}]", out_.type(), value.re, value.im, sharedOperand(spot, more));
  return value;
}

void PassWriter::storeShared(const std::string& spot, int64_t more, const std::string& isThere, const Complex& value) {
  out_.line("{}st.shared.v2.{} [{}], {{{}, {}}}", guarded(isThere), out_.type(), sharedOperand(spot, more), value.re,
            value.im);
}

// Between global and shared memory, where a transform has too few threads for whole pieces of memory: as many more take
// neighbouring elements.
void PassWriter::copy(bool isLoad) {
  const int64_t lanes = isLoad ? shape_.loadLanes : shape_.storeLanes;
  const int64_t atOnce = shape_.threads() / lanes;
  const Thread first{out_.word(), out_.word()};
  out_.line("div.u32 {}, %thread, {}", first.transform, lanes);
  out_.line("rem.u32 {}, %thread, {}", first.place, lanes);
  // Where a block's transforms lie along one dimension, one is as far from the next as any other.
  const Dimension& nearest = pass_.dimensions.front();
  const bool isEven = pass_.dimensions.size() == 1 || nearest.size % shape_.transformsPerBlock == 0;
  const Transform start = isEven ? transformFor(first, isLoad) : Transform();
  const Spot startSpot = isEven ? spotFor(start, first.place, isLoad) : Spot();
  for (int64_t done = 0; done < shape_.transformsPerBlock; done += atOnce) {
    const Thread thread{plus(first.transform, done), first.place};
    std::string isOwn;
    if (done + atOnce > shape_.transformsPerBlock) isOwn = isBelow(thread.transform, shape_.transformsPerBlock, "");
    Spot spot;
    if (isEven) {
      spot.address = further(startSpot.address, done * (isLoad ? nearest.in : nearest.out) * bytesOf(isLoad));
      spot.index = plus(startSpot.index, done * (isLoad ? nearest.inIndex : nearest.outIndex));
      if (!start.isThere.empty()) isOwn = isBelow(plus(start.number, done), pass_.count(), isOwn);
    } else {
      const Transform transform = transformFor(thread, isLoad);
      spot = spotFor(transform, thread.place, isLoad);
      isOwn = both(isOwn, transform.isThere);
    }
    for (int64_t more = 0; more < pass_.length; more += lanes) {
      const bool isWhole = more + lanes <= pass_.length;
      const std::string isThere = isWhole ? isOwn : isBelow(thread.place, pass_.length - more, isOwn);
      const std::string shared = sharedSpot(thread, plus(thread.place, more));
      if (isLoad) storeShared(shared, 0, isThere, load(spot, more, isThere));
      else store(spot, more, isThere, loadShared(shared, 0));
    }
  }
}

Complex PassWriter::table(int64_t offset, const std::string& number) {
  const std::string from = operand(multiplyAdd(number, complexBytes(), "%tables"), offset * complexBytes());
  const Complex value = out_.complex();
  out_.line("ld.global.nc.v2.{} {{{}, {}}}, [{}]", out_.type(), value.re, value.im, from);
  return value;
}

Complex PassWriter::root(const Roots& roots, const std::string& power) {
  if (roots.upper == noTable) return table(roots.lower, power);
  const std::string low = out_.word(), high = out_.word();
  out_.line("and.b32 {}, {}, {}", low, power, (int64_t{1} << roots.lowerBits) - 1);
  out_.line("shr.u32 {}, {}, {}", high, power, roots.lowerBits);
  return out_.multiply(table(roots.upper, high), table(roots.lower, low));
}

// All powers of a root below a count, of those that are 1, 2, 4 and 8. The start, if there is one, times all of them;
// or else none is made of the power of 0. Loads of all would take longer than these products.
std::vector<Complex> PassWriter::powers(const std::vector<Complex>& roots, int count,
                                        const std::optional<Complex>& start) {
  std::vector<Complex> result(count);
  if (start) result[0] = *start;
  for (int power = 1; power < count; ++power) {
    const int highest = std::bit_width(static_cast<unsigned>(power)) - 1, rest = power - (1 << highest);
    const bool isAlone = rest == 0 && !start;
    result[power] = isAlone ? roots[highest] : out_.multiply(result[rest], roots[highest]);
  }
  return result;
}

std::string PassWriter::multiplyAdd(const std::string& number, int64_t factor, const std::string& sum) {
  if (factor == 0) return sum;
  const std::string result = out_.wide();
  if (factor <= UINT32_MAX) {
    out_.line("mad.wide.u32 {}, {}, {}, {}", result, number, factor, sum);
    return result;
  }
  const std::string wide = out_.wide();
  out_.line("cvt.u64.u32 {}, {}", wide, number);
  out_.line("mad.lo.u64 {}, {}, {}, {}", result, wide, factor, sum);
  return result;
}

std::string PassWriter::index(const std::string& number, int64_t factor, const std::string& base) {
  if (factor == 0) return base;
  const std::string result = out_.word();
  out_.line("mad.lo.u32 {}, {}, {}, {}", result, number, factor, base);
  return result;
}

std::string PassWriter::plus(const std::string& number, int64_t more) {
  if (more == 0) return number;
  const std::string result = out_.word();
  out_.line("add.u32 {}, {}, {}", result, number, more);
  return result;
}

// Of a load or store that many bytes further on.
std::string PassWriter::operand(const std::string& address, int64_t more) {
  return more <= INT32_MAX ? fmt::format("{}+{}", address, more) : further(address, more);
}

std::string PassWriter::further(const std::string& address, int64_t more) {
  if (more == 0) return address;
  const std::string result = out_.wide();
  out_.line("add.u64 {}, {}, {}", result, address, more);
  return result;
}

// Of two predicates that may be missing.
std::string PassWriter::both(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  const std::string result = out_.predicate();
  out_.line("and.pred {}, {}, {}", result, a, b);
  return result;
}

// Whether the number is below the limit, and the predicate holds if there is one.
std::string PassWriter::isBelow(const std::string& number, int64_t limit, const std::string& predicate) {
  const std::string result = out_.predicate();
  if (predicate.empty()) out_.line("setp.lt.u32 {}, {}, {}", result, number, limit);
  else out_.line("setp.lt.and.u32 {}, {}, {}, {}", result, number, limit, predicate);
  return result;
}

}  // namespace mulciber::fft
