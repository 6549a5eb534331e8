#include "libraries/fft/plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libraries/fft/factors.h"
#include "libraries/fft/tables.h"

namespace mulciber::fft {

namespace {

// Of which a pass has some at once in a block, so that threads beside each other find elements beside each other.
constexpr int64_t mostOfSeveral = 1024;

// Roots of higher orders are products of two tables.
constexpr int64_t mostInOneTable = 4096;

struct End {
  Place place;
  int64_t stride;  // along the axis
};

// The transforms along one axis.
struct Axis {
  int64_t length;
  bool isInverse;
  Load load;
  Store store;
  End from, to;
  std::vector<Dimension> outer;  // the other axes, and the batch
  int64_t pairIn = 1, pairOut = 1;
};

class Planner {
 public:
  Planner(const Problem& problem, int64_t shared, bool hasTables)
      : problem_(problem), shared_(shared), tables_(problem.isInverse, hasTables) {}

  Plan make();

 private:
  void addAxis(const Axis& axis);
  void addSmooth(const Axis& axis, int64_t length, const Pass& first, const Pass& last, bool isInverse, Place work);
  void addConvolution(const Axis& axis);
  void addFromReal(Axis axis);
  void addToReal(Axis axis);
  void addUnpacking(const Axis& axis);
  std::vector<int64_t> factorsOf(const Axis& axis, int64_t length) const;
  Roots rootsOf(int64_t order, bool isInverse);
  std::vector<Stage> stagesOf(int64_t length, bool isInverse, bool isConvolution);
  Axis axisOf(size_t axis, Place from, const Layout& in, Place to, const Layout& out) const;
  int64_t mostAtOnce() const {
    int64_t most = 1;
    while (most * 2 * (problem_.isDouble ? 16 : 8) * 17 / 16 <= shared_) most *= 2;
    return most;
  }

  const Problem& problem_;
  const int64_t shared_;
  Tables tables_;
  Plan plan_;
};

int64_t product(const std::vector<Dimension>& dimensions) {
  int64_t count = 1;
  for (const Dimension& dimension : dimensions) count *= dimension.size;
  return count;
}

// Whether transforms of an axis are nearer to each other than its elements.
bool isColumn(const Axis& axis, const Dimension& other) {
  return other.size > 1 && (other.in < axis.from.stride || other.out < axis.to.stride);
}

// Where elements and transforms of an axis lie between its passes: without gaps, and whatever was near stays near.
struct WorkLayout {
  int64_t stride = 1;          // along the axis
  std::vector<int64_t> outer;  // of the other dimensions
};

WorkLayout workLayout(const Axis& axis, int64_t length) {
  WorkLayout layout;
  layout.outer.resize(axis.outer.size());
  std::vector<size_t> order(axis.outer.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](size_t i) { return axis.outer[i].in; });
  int64_t all = length;
  for (const bool columns : {true, false})
    for (const size_t i : order) {
      if (isColumn(axis, axis.outer[i]) != columns) continue;
      int64_t& stride = columns ? layout.stride : all;
      layout.outer[i] = stride;
      stride *= axis.outer[i].size;
      if (columns) all *= axis.outer[i].size;
    }
  return layout;
}

// What lies beside each other goes to threads beside each other.
void arrange(Pass& pass) {
  std::erase_if(pass.dimensions, [](const Dimension& d) { return d.size == 1; });
  std::ranges::stable_sort(pass.dimensions, {}, [](const Dimension& d) { return std::min(d.in, d.out); });
}

Roots Planner::rootsOf(int64_t order, bool isInverse) {
  Roots roots{order};
  if (order <= mostInOneTable) {
    roots.lower = tables_.roots(order, 1, order, isInverse);
    return roots;
  }
  while ((int64_t{1} << (2 * roots.lowerBits)) < order) ++roots.lowerBits;
  const int64_t step = int64_t{1} << roots.lowerBits;
  roots.lower = tables_.roots(order, 1, step, isInverse);
  roots.upper = tables_.roots(order, step, (order + step - 1) / step, isInverse);
  return roots;
}

std::vector<Stage> Planner::stagesOf(int64_t length, bool isInverse, bool isConvolution) {
  std::vector<Stage> stages;
  int64_t done = 1;
  const auto add = [&](int radix, bool isBack) {
    Stage& stage = stages.emplace_back(Stage{radix, done, isInverse != isBack, {}, false});
    for (int power = 1; power < radix && done > 1; power *= 2)
      stage.roots.push_back(tables_.roots(done * radix, power, done, stage.isInverse));
    done *= radix;
  };
  const std::vector<int> factors = radices(length);
  for (const int radix : factors) add(radix, /*isBack=*/false);
  if (!isConvolution) return stages;
  stages.back().turnsRound = true;
  done = factors.back();
  for (size_t i = factors.size() - 1; i-- > 0;) add(factors[i], /*isBack=*/true);
  return stages;
}

// The lengths of the passes that an axis takes.
std::vector<int64_t> Planner::factorsOf(const Axis& axis, int64_t length) const {
  const int64_t atOnce = mostAtOnce(), several = std::min(atOnce, mostOfSeveral);
  const bool isOfColumns = std::ranges::any_of(axis.outer, [&](const Dimension& d) { return isColumn(axis, d); });
  if (length <= (isOfColumns ? several : atOnce)) return {length};
  return split(length, several);
}

// The transforms of a pass. `first` has what holds of the loads of the first pass, `last` what holds of the stores of
// the last. Of the passes of one transform all but the last leave elements where they found them; the last puts them in
// order.
void Planner::addSmooth(const Axis& axis, int64_t length, const Pass& first, const Pass& last, bool isInverse,
                        Place work) {
  std::vector<int64_t> factors = factorsOf(axis, length);
  const WorkLayout layout = workLayout(axis, length);
  // Two passes read all before they write.
  const bool isCopied = first.from == Place::Input && last.to == Place::Output && needsCopy(problem_);
  if (isCopied && factors.size() == 1) factors.push_back(1);
  const size_t passes = factors.size();
  const bool isFromWork = first.from == Place::Work || first.from == Place::OtherWork;
  const bool isToWork = last.to == Place::Work || last.to == Place::OtherWork;
  int64_t rest = length, done = 1;  // products of the factors behind this one and in front of it
  for (size_t i = 0; i < passes; ++i) {
    const bool isFirst = i == 0, isLast = i + 1 == passes;
    Pass pass;
    if (isFirst) pass = first;
    pass.length = factors[i];
    pass.isDouble = problem_.isDouble;
    pass.isAligned = problem_.isAligned;
    pass.axisLength = axis.length;
    pass.from = isFirst ? first.from : work;
    pass.to = isLast ? last.to : work;
    if (isFirst) pass.pairIn = axis.pairIn;
    if (isLast) {
      pass.pairOut = axis.pairOut;
      pass.store = last.store, pass.storeFactors = last.storeFactors, pass.outLimit = last.outLimit;
    }
    if (pass.load == Load::Packed || pass.store == Store::Packed)
      pass.packing = rootsOf(2 * axis.length, problem_.isInverse);
    rest /= factors[i];
    const int64_t in = isFirst && !isFromWork ? axis.from.stride : layout.stride;
    const int64_t out = isLast && !isToWork ? axis.to.stride : layout.stride;
    pass.axisIn = in;
    if (rest > 1) {
      pass.dimensions.push_back({rest, in, out, 1, 0, 1});
      pass.behind = rootsOf(factors[i] * rest, isInverse);
    }
    // Earlier passes have numbered their results. `place` is the distance in memory from one number to the next, and
    // `index` that in the finished transform, where the last pass puts them.
    int64_t place = length, index = 1;
    for (size_t before = 0; before < i; ++before) {
      place /= factors[before];
      pass.dimensions.push_back(
          {factors[before], place * layout.stride, isLast ? index * out : place * layout.stride, 0, index, 0});
      index *= factors[before];
    }
    pass.element = {factors[i], rest * in, isLast ? done * out : rest * out, rest, done, 0};
    for (size_t other = 0; other < axis.outer.size(); ++other) {
      Dimension dimension = axis.outer[other];
      if (!isFirst || isFromWork) dimension.in = layout.outer[other];
      if (!isLast || isToWork) dimension.out = layout.outer[other];
      pass.dimensions.push_back(dimension);
    }
    arrange(pass);
    pass.stages = stagesOf(pass.length, isInverse, pass.middleFactors != noTable);
    done *= factors[i];
    if (pass.to == Place::Work) plan_.work = std::max(plan_.work, product(axis.outer) * length);
    if (pass.to == Place::OtherWork) plan_.otherWork = std::max(plan_.otherWork, product(axis.outer) * length);
    plan_.passes.push_back(std::move(pass));
  }
}

// Bluestein's algorithm: with nk = (n^2 + k^2 - (k - n)^2) / 2 the sum becomes a convolution, which transforms of a
// smooth length do.
void Planner::addConvolution(const Axis& axis) {
  const int64_t length = convolutionLength(axis.length);
  const bool isShort = factorsOf(axis, length).size() == 1;
  Pass first, last;
  first.from = axis.from.place;
  first.load = axis.load;
  first.inLimit = axis.length;
  first.loadFactors = tables_.chirp(axis.length);
  last.to = axis.to.place;
  last.store = axis.store;
  last.outLimit = axis.length;
  last.storeFactors = tables_.chirp(axis.length);
  const int64_t factors = tables_.chirpTransform(axis.length, length);
  if (isShort && !needsCopy(problem_)) {
    first.middleFactors = factors;
    return addSmooth(axis, length, first, last, /*isInverse=*/false, Place::Work);
  }
  Pass middle;
  middle.to = middle.from = isShort ? Place::Work : Place::OtherWork;
  middle.storeFactors = factors;
  addSmooth(axis, length, first, middle, /*isInverse=*/false, Place::Work);
  middle.storeFactors = noTable;
  addSmooth(axis, length, middle, last, /*isInverse=*/true, middle.from);
}

void Planner::addAxis(const Axis& axis) {
  if (!isSmooth(axis.length)) return addConvolution(axis);
  Pass first, last;
  first.from = axis.from.place;
  first.load = axis.load;
  last.to = axis.to.place;
  last.store = axis.store;
  addSmooth(axis, axis.length, first, last, axis.isInverse, Place::Work);
}

// Makes a transform of real numbers of what the passes before left, which is that of their pairs.
void Planner::addUnpacking(const Axis& axis) {
  Pass pass;
  pass.isDouble = problem_.isDouble;
  pass.from = pass.to = axis.to.place;
  pass.store = Store::Packed;
  pass.unpacksOnly = true;
  pass.stages.resize(1);
  pass.axisLength = axis.length;
  pass.packing = rootsOf(2 * axis.length, problem_.isInverse);
  pass.element = {1, axis.to.stride, axis.to.stride};
  pass.dimensions.push_back({axis.length / 2 + 1, axis.to.stride, axis.to.stride, 1, 1});
  for (const Dimension& other : axis.outer) pass.dimensions.push_back({other.size, other.out, other.out});
  arrange(pass);
  plan_.passes.push_back(std::move(pass));
}

Axis Planner::axisOf(size_t axis, Place from, const Layout& in, Place to, const Layout& out) const {
  const bool isComplex = problem_.kind == Kind::ComplexToComplex;
  const size_t rank = problem_.lengths.size();
  Axis result{problem_.lengths[axis],
              problem_.isInverse,
              Load::Complex,
              Store::Complex,
              {from, in.strides[axis]},
              {to, out.strides[axis]},
              {}};
  for (size_t other = rank; other-- > 0;) {
    if (other == axis) continue;
    const int64_t length = problem_.lengths[other];
    result.outer.push_back(
        {!isComplex && other + 1 == rank ? length / 2 + 1 : length, in.strides[other], out.strides[other]});
  }
  result.outer.push_back({problem_.batch, in.distance, out.distance});
  return result;
}

// Of even lengths the pairs are transformed.
void Planner::addFromReal(Axis axis) {
  axis.load = Load::Real;
  axis.store = Store::Half;
  if (axis.length % 2 != 0 || axis.length < 4) return addAxis(axis);
  axis.length /= 2;
  axis.load = Load::Pairs;
  axis.pairIn = std::exchange(axis.from.stride, 2 * axis.from.stride);
  const bool isOnePass = isSmooth(axis.length) && factorsOf(axis, axis.length).size() == 1 && !needsCopy(problem_);
  axis.store = isOnePass ? Store::Packed : Store::Complex;
  addAxis(axis);
  if (!isOnePass) addUnpacking(axis);
}

void Planner::addToReal(Axis axis) {
  axis.load = Load::Half;
  axis.store = Store::Real;
  if (axis.length % 2 != 0 || axis.length < 4) return addAxis(axis);
  axis.length /= 2;
  axis.load = Load::Packed;
  axis.store = Store::Pairs;
  axis.pairOut = std::exchange(axis.to.stride, 2 * axis.to.stride);
  addAxis(axis);
}

Plan Planner::make() {
  const size_t rank = problem_.lengths.size();
  const size_t inner = rank - 1;
  if (problem_.kind == Kind::ComplexToReal) {
    // The input stays as it is: the other axes are transformed in a copy.
    Place from = Place::Input;
    Layout in = problem_.input;
    for (size_t axis = 0; axis < inner; ++axis) {
      const Layout middle = packed(problem_.lengths, problem_.lengths[inner] / 2 + 1);
      addAxis(axisOf(axis, from, in, Place::Middle, middle));
      from = Place::Middle;
      in = middle;
      plan_.middle = middle.distance * problem_.batch;
    }
    addToReal(axisOf(inner, from, in, Place::Output, problem_.output));
  } else {
    const Axis first = axisOf(inner, Place::Input, problem_.input, Place::Output, problem_.output);
    if (problem_.kind == Kind::RealToComplex) addFromReal(first);
    else addAxis(first);
    for (size_t axis = inner; axis-- > 0;)
      addAxis(axisOf(axis, Place::Output, problem_.output, Place::Output, problem_.output));
  }
  plan_.tables = tables_.take();
  return std::move(plan_);
}

}  // namespace

Plan makePlan(const Problem& problem, int64_t shared) { return Planner(problem, shared, /*hasTables=*/true).make(); }

Plan planSizes(const Problem& problem) { return Planner(problem, mostShared, /*hasTables=*/false).make(); }

}  // namespace mulciber::fft
