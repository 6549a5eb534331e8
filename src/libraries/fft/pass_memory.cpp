// What a pass loads and stores: elements in global and in shared memory, and roots of unity in tables.
#include <algorithm>
#include <bit>

#include "libraries/fft/pass_writer.h"

namespace mulciber::fft {

// `lanes`: threads that each transform has.
PassWriter::Thread PassWriter::threadFor(bool isLoad, int64_t lanes) {
  Thread thread{out_.word(), out_.word()};
  const bool takes = takesTransforms(pass_, isLoad);
  const int64_t count = takes ? shape_.transformsPerBlock : lanes;
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
    number = atMost(number, pass_.count() - 1);
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

// `numbers`: of which the number is one, from 0 on.
PassWriter::Spot PassWriter::spotFor(const Transform& transform, const std::string& number, int64_t numbers,
                                     bool isLoad) {
  const Dimension& element = pass_.element;
  const int64_t stride = isLoad ? element.in : element.out, indexStep = isLoad ? element.inIndex : element.outIndex;
  Spot spot;
  spot.address = multiplyAdd(number, stride * bytesOf(isLoad), transform.address);
  spot.index = index(number, indexStep, transform.index);
  spot.most = (numbers - 1) * indexStep;
  for (const Dimension& dimension : pass_.dimensions)
    spot.most += (dimension.size - 1) * (isLoad ? dimension.inIndex : dimension.outIndex);
  if (isPacked(isLoad)) spot.mirror = mirrorOf(spot, isLoad ? pass_.axisIn : stride);
  if (isPacked(isLoad) && isLoad) spot.root = root(pass_.packing, atMost(spot.index, pass_.axisLength - 1));
  return spot;
}

// From element k of a transform's to the one as far from its end.
std::string PassWriter::mirrorOf(const Spot& spot, int64_t stride) {
  const std::string distance = out_.word(), wide = out_.wide(), there = out_.wide();
  out_.line("sub.u32 {}, {}, {}", distance, pass_.axisLength, spot.index);
  out_.line("sub.s32 {0}, {0}, {1}", distance, spot.index);
  out_.line("cvt.s64.s32 {}, {}", wide, distance);
  out_.line("mad.lo.s64 {}, {}, {}, {}", there, wide, stride * complexBytes(), spot.address);
  return there;
}

Complex PassWriter::loadComplex(const std::string& from, const std::string& isThere) {
  const Complex value = isThere.empty() ? out_.complex() : zero();
  out_.line("{}ld.global.v2.{} {{{}, {}}}, [{}]", guarded(isThere), out_.type(), value.re, value.im, from);
  return value;
}

void PassWriter::storeComplex(const std::string& to, const std::string& isThere, const Complex& value) {
  out_.line("{}st.global.v2.{} [{}], {{{}, {}}}", guarded(isThere), out_.type(), to, value.re, value.im);
}

Complex PassWriter::zero() {
  const Complex value = out_.complex();
  out_.line("mov.{} {}, {}", out_.type(), value.re, out_.number(0));
  out_.line("mov.{} {}, {}", out_.type(), value.im, out_.number(0));
  return value;
}

Complex PassWriter::load(const Spot& spot, int64_t more, const std::string& given) {
  if (more * pass_.element.inIndex >= pass_.inLimit) return zero();
  const bool isLimited = spot.most + more * pass_.element.inIndex >= pass_.inLimit;
  const std::string place = plus(spot.index, more * pass_.element.inIndex);
  const std::string isThere = isLimited ? isBelow(place, pass_.inLimit, given) : given;
  const int64_t offset = more * pass_.element.in * bytesOf(true);
  const std::string from = operand(spot.address, offset);
  Complex value;
  switch (pass_.load) {
    case Load::Complex: value = loadComplex(from, isThere); break;
    case Load::Real:
      value = zero();
      out_.line("{}ld.global.{} {}, [{}]", guarded(isThere), out_.type(), value.re, from);
      break;
    case Load::Half: {
      const std::string isMirrored = out_.predicate(), there = out_.wide();
      out_.line("setp.gt.u32 {}, {}, {}", isMirrored, place, pass_.axisLength / 2);
      Spot here = spot;
      here.address = further(spot.address, offset);
      here.index = place;
      out_.line("selp.b64 {}, {}, {}, {}", there, mirrorOf(here, pass_.axisIn), here.address, isMirrored);
      value = loadComplex(there, isThere);
      out_.line("@{} neg.{} {}, {}", isMirrored, out_.type(), value.im, value.im);
      break;
    }
    case Load::Pairs:
      if (pass_.hasAlignedPairs(/*isLoad=*/true)) {
        value = loadComplex(from, isThere);
      } else {
        value = zero();
        const std::string second = operand(spot.address, offset + pass_.pairIn * out_.realBytes());
        out_.line("{}ld.global.{} {}, [{}]", guarded(isThere), out_.type(), value.re, from);
        out_.line("{}ld.global.{} {}, [{}]", guarded(isThere), out_.type(), value.im, second);
      }
      break;
    case Load::Packed: value = loadPacked(spot, more, isThere, place); break;
  }
  if (pass_.loadFactors == noTable) return value;
  // No factor is beyond the table, and what it would multiply is zero there.
  const int64_t last = std::min(pass_.inLimit, pass_.axisLength) - 1;
  return out_.multiply(value, table(pass_.loadFactors, atMost(place, last)));
}

void PassWriter::store(const Spot& spot, int64_t more, const std::string& given, Complex value) {
  std::string isThere = given;
  const bool isHalf = pass_.store == Store::Half;
  const int64_t limit = std::min(pass_.outLimit, isHalf ? pass_.axisLength / 2 + 1 : INT64_MAX);
  if (more * pass_.element.outIndex >= limit) return;
  const bool isLimited = spot.most + more * pass_.element.outIndex >= limit;
  if (isLimited || pass_.storeFactors != noTable) {
    const std::string place = plus(spot.index, more * pass_.element.outIndex);
    if (isLimited) isThere = isBelow(place, limit, given);
    if (pass_.storeFactors != noTable) {
      const std::string inTable = limit != INT64_MAX ? atMost(place, limit - 1) : place;
      value = out_.multiply(value, table(pass_.storeFactors, inTable));
    }
  }
  const int64_t offset = more * pass_.element.out * bytesOf(false);
  const std::string to = operand(spot.address, offset);
  if (!pass_.hasReals(/*isLoad=*/false) || pass_.hasAlignedPairs(/*isLoad=*/false))
    return storeComplex(to, isThere, value);
  out_.line("{}st.global.{} [{}], {}", guarded(isThere), out_.type(), to, value.re);
  if (pass_.store == Store::Real) return;
  const std::string second = operand(spot.address, offset + pass_.pairOut * out_.realBytes());
  out_.line("{}st.global.{} [{}], {}", guarded(isThere), out_.type(), second, value.im);
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

// Of a butterfly's elements, from this one on. Where the gaps between them add up, they are at constant distances.
std::vector<std::string> PassWriter::sharedOperands(const Thread& thread, const std::string& number, const Stage& stage,
                                                    bool isLoad) {
  const int64_t stride = isLoad ? pass_.length / stage.radix : stage.done, gap = shape_.gap;
  const bool addsUp =
      gap == 0 || stride % gap == 0 || isOfPowersOfTwo(pass_) || (!isLoad && stage.done == 1 && gap % stage.radix == 0);
  std::vector<std::string> operands;
  if (addsUp) {
    const std::string first = sharedSpot(thread, number);
    for (int i = 0; i < stage.radix; ++i)
      operands.push_back(fmt::format("{}+{}", first, withGaps(i * stride, gap) * complexBytes()));
  } else {
    for (int i = 0; i < stage.radix; ++i) operands.push_back(sharedSpot(thread, plus(number, i * stride)));
  }
  return operands;
}

Complex PassWriter::loadShared(const std::string& operand) {
  const Complex value = out_.complex();
  out_.line("ld.shared.v2.{} {{{}, {}}}, [{}]", out_.type(), value.re, value.im, operand);
  return value;
}

void PassWriter::storeShared(const std::string& operand, const std::string& isThere, const Complex& value) {
  out_.line("{}st.shared.v2.{} [{}], {{{}, {}}}", guarded(isThere), out_.type(), operand, value.re, value.im);
}

// Between global and shared memory, where a transform has too few threads for whole pieces of memory, and as many more
// take neighbouring elements; or where elements are stored in pairs from both ends.
void PassWriter::copy(bool isLoad) {
  const bool isUnpacking = !isLoad && pass_.store == Store::Packed;
  const int64_t lanes = isLoad ? shape_.loadLanes : shape_.storeLanes, atOnce = shape_.threads() / lanes;
  const int64_t count = isUnpacking ? pass_.axisLength / 2 + 1 : pass_.length;
  const Thread first = threadFor(isLoad, lanes);
  // Where a block's transforms lie along one dimension, one is as far from the next as any other.
  const Dimension nearest = pass_.dimensions.empty() ? Dimension{1, 0, 0} : pass_.dimensions.front();
  const int64_t indexStep = isLoad ? nearest.inIndex : nearest.outIndex;
  const int64_t step = (isLoad ? nearest.in : nearest.out) * bytesOf(isLoad);
  const bool isEven = (pass_.dimensions.size() < 2 || nearest.size % shape_.transformsPerBlock == 0) && indexStep == 0;
  const Transform start = isEven ? transformFor(first, isLoad) : Transform();
  const Spot startSpot = isEven ? spotFor(start, first.place, lanes, isLoad) : Spot();
  for (int64_t done = 0; done < shape_.transformsPerBlock; done += atOnce) {
    Thread thread{plus(first.transform, done), first.place};
    std::string isOwn;
    if (done + atOnce > shape_.transformsPerBlock) {
      isOwn = isBelow(thread.transform, shape_.transformsPerBlock, "");
      thread.transform = atMost(thread.transform, shape_.transformsPerBlock - 1);
    }
    Spot spot = startSpot;
    if (isEven) {
      spot.address = further(spot.address, done * step);
      if (isPacked(isLoad)) spot.mirror = further(spot.mirror, done * step);
      if (!start.isThere.empty()) isOwn = isBelow(plus(start.number, done), pass_.count(), isOwn);
    } else {
      const Transform transform = transformFor(thread, isLoad);
      spot = spotFor(transform, thread.place, lanes, isLoad);
      isOwn = both(isOwn, transform.isThere);
    }
    for (int64_t more = 0; more < count; more += lanes) {
      std::string place = plus(thread.place, more), isThere = isOwn;
      if (more + lanes > count) {
        isThere = isBelow(place, count, isOwn);
        place = atMost(place, count - 1);
      }
      if (isUnpacking) storeUnpacked({thread.transform, place}, spot, more, isThere);
      else if (isLoad) storeShared(sharedSpot(thread, place), isThere, load(spot, more, isThere));
      else store(spot, more, isThere, loadShared(sharedSpot(thread, place)));
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
  const bool isNear = more >= INT32_MIN && more <= INT32_MAX;
  return isNear ? fmt::format("{}+{}", address, more) : further(address, more);
}

std::string PassWriter::further(const std::string& address, int64_t more) {
  if (more == 0) return address;
  const std::string result = out_.wide();
  out_.line("add.s64 {}, {}, {}", result, address, more);
  return result;
}

// Of two predicates that may be missing.
std::string PassWriter::both(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  const std::string result = out_.predicate();
  out_.line("and.pred {}, {}, {}", result, a, b);
  return result;
}

std::string PassWriter::atMost(const std::string& number, int64_t most) {
  const std::string result = out_.word();
  out_.line("min.u32 {}, {}, {}", result, number, most);
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
