#include "libraries/fft/pass.h"

#include <algorithm>
#include <bit>

#include "libraries/fft/pass_writer.h"

namespace mulciber::fft {

namespace {

constexpr int64_t threadsWanted = 256;
constexpr int64_t sectorBytes = 32;  // what memory is read and written by
constexpr int64_t mostLanes = 16;

// Threads write elements as far apart as the first radix is great, and then multiples of that: those by four and more
// need gaps, or they would meet in a few banks. Those of its own length, or of 16 among powers of two, add up.
int64_t gapOf(const Pass& pass) {
  const int first = pass.stages.front().radix;
  if (first == 16 || isOfPowersOfTwo(pass)) return 16;
  return first % 4 == 0 ? first : 0;
}

// The threads that copy a transform's elements between global and shared memory, if those that transform it are too
// few.
int64_t lanesFor(const Pass& pass, int64_t threads, bool isLoad) {
  const bool isReal = isLoad ? pass.load == Load::Real : pass.store == Store::Real;
  const int64_t bytes = (pass.isDouble ? 8 : 4) * (isReal ? 1 : 2);
  const bool isDirect = pass.length == 1 || pass.count() == 1 || threads * bytes >= sectorBytes ||
                        takesTransforms(pass, isLoad) || (!isLoad && pass.behind.order > 1);
  if (isDirect) return 0;
  return std::min(mostLanes, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(pass.length))));
}

// From one transform to the next in shared memory, so that neighbouring threads find their elements in banks of their
// own, whose number is that of the threads that are served at once.
int64_t sharedDistance(const Pass& pass, const KernelShape& shape) {
  const int64_t banks = pass.isDouble ? 8 : 16, least = withGaps(pass.length, shape.gap);
  if (shape.transformsPerBlock == 1) return least;
  int64_t unit = shape.threadsPerTransform < banks ? shape.threadsPerTransform : 1;
  if (takesTransforms(pass, true) || takesTransforms(pass, false))
    unit = std::max<int64_t>(1, banks / shape.transformsPerBlock);
  unit = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(unit)));
  return (least + unit - 1) / (2 * unit) * (2 * unit) + unit;  // an odd multiple of the unit
}

}  // namespace

void PassWriter::stage(size_t number, const Thread& thread, const Transform& source) {
  const Stage& stage = pass_.stages[number];
  const int radix = stage.radix;
  const bool isFirst = number == 0, isLast = number + 1 == pass_.stages.size();
  const bool isFromShared = !isFirst || shape_.loadLanes > 0, isToShared = !isLast || shape_.storeLanes > 0;
  const int64_t butterflies = pass_.length / radix;
  const int64_t turns = (butterflies + shape_.threadsPerTransform - 1) / shape_.threadsPerTransform;
  std::vector<Butterfly> all(turns);
  for (int64_t turn = 0; turn < turns; ++turn) {
    Butterfly& butterfly = all[turn];
    butterfly.number = plus(thread.place, turn * shape_.threadsPerTransform);
    // Threads that have none do another's again, and keep the result to themselves.
    if ((turn + 1) * shape_.threadsPerTransform > butterflies) {
      butterfly.isThere = isBelow(butterfly.number, butterflies, "");
      butterfly.number = atMost(butterfly.number, butterflies - 1);
    }
    if (isFromShared) {
      for (const std::string& operand : sharedOperands(thread, butterfly.number, stage, /*isLoad=*/true))
        butterfly.values.push_back(loadShared(operand));
    } else {
      const Spot spot = spotFor(source, butterfly.number, butterflies, /*isLoad=*/true);
      for (int i = 0; i < radix; ++i) butterfly.values.push_back(load(spot, i * butterflies));
    }
  }
  if (isFromShared && isToShared) out_.line("bar.sync 0");  // all have read before any writes
  std::vector<std::string> columns;                         // number % done
  for (int64_t turn = 0; turn < turns; ++turn) {
    if (stage.done == butterflies) {
      columns.push_back(all[turn].number);
    } else if (turn > 0 && turn * shape_.threadsPerTransform % stage.done == 0) {
      columns.push_back(columns.front());
    } else {
      columns.push_back(out_.word());
      out_.line("rem.u32 {}, {}, {}", columns.back(), all[turn].number, stage.done);
    }
  }
  if (stage.done > 1) twiddle(all, stage, columns);
  for (Butterfly& butterfly : all) butterfly.values = out_.transform(butterfly.values, stage.isInverse);

  if (!isToShared) {
    const Transform target = transformFor(thread, /*isLoad=*/false);
    if (pass_.behind.order > 1) twiddleBehind(all, stage, target);
    for (const Butterfly& butterfly : all) {
      const std::string isThere = both(target.isThere, butterfly.isThere);
      const Spot spot = spotFor(target, butterfly.number, butterflies, /*isLoad=*/false);
      for (int i = 0; i < radix; ++i) store(spot, i * stage.done, isThere, butterfly.values[i]);
    }
    return;
  }
  Stage written = stage;
  if (stage.turnsRound) {
    turnRound(all, stage);
    written.done = 1;
  }
  for (int64_t turn = 0; turn < turns; ++turn) {
    const Butterfly& butterfly = all[turn];
    // Its first result is element number / done * done * radix + column.
    const std::string first = out_.word();
    if (stage.turnsRound) {
      out_.line("mul.lo.u32 {}, {}, {}", first, butterfly.number, radix);
    } else {
      out_.line("sub.u32 {}, {}, {}", first, butterfly.number, columns[turn]);
      out_.line("mad.lo.u32 {0}, {0}, {1}, {2}", first, radix, columns[turn]);
    }
    const std::vector<std::string> operands = sharedOperands(thread, first, written, /*isLoad=*/false);
    for (int i = 0; i < radix; ++i) storeShared(operands[i], butterfly.isThere, butterfly.values[i]);
  }
  out_.line("bar.sync 0");  // all have written before any reads
}

// From a convolution's first transform to its second, which is of the other direction.
void PassWriter::turnRound(std::vector<Butterfly>& all, const Stage& stage) {
  for (Butterfly& butterfly : all) {
    for (int i = 0; i < stage.radix; ++i) {
      const Complex factor = table(pass_.middleFactors + i * stage.done, butterfly.number);
      butterfly.values[i] = out_.multiply(butterfly.values[i], factor);
    }
    butterfly.values = out_.transform(butterfly.values, !stage.isInverse);
  }
}

// In front of a stage element i of a butterfly is multiplied by the root of order done * radix to the power of
// column * i.
void PassWriter::twiddle(std::vector<Butterfly>& all, const Stage& stage, const std::vector<std::string>& columns) {
  const int radix = stage.radix;
  std::vector<Complex> factors;
  for (size_t turn = 0; turn < all.size(); ++turn) {
    if (turn == 0 || columns[turn] != columns.front()) {
      std::vector<Complex> roots;
      for (const int64_t offset : stage.roots) roots.push_back(table(offset, columns[turn]));
      factors = powers(roots, radix, std::nullopt);
    }
    for (int i = 1; i < radix; ++i) all[turn].values[i] = out_.multiply(all[turn].values[i], factors[i]);
  }
}

// Element first + i * done is multiplied by a root to the power of phase * first + i * (phase * done).
void PassWriter::twiddleBehind(std::vector<Butterfly>& all, const Stage& stage, const Transform& target) {
  const int radix = stage.radix;
  const auto rootOf = [&](const std::string& number, int64_t factor) {
    const std::string power = out_.word();
    out_.line("mul.lo.u32 {}, {}, {}", power, number, factor);
    return root(pass_.behind, power);
  };
  std::vector<Complex> roots;
  for (int i = 1; i < radix; i *= 2) roots.push_back(rootOf(target.phase, i * stage.done));
  for (Butterfly& butterfly : all) {
    std::optional<Complex> start;
    if (stage.done > 1) {
      const std::string power = out_.word();
      out_.line("mul.lo.u32 {}, {}, {}", power, target.phase, butterfly.number);
      start = root(pass_.behind, power);
    }
    const std::vector<Complex> factors = powers(roots, radix, start);
    for (int i = start ? 0 : 1; i < radix; ++i) butterfly.values[i] = out_.multiply(butterfly.values[i], factors[i]);
  }
}

void PassWriter::transform() {
  const Thread loader = threadFor(/*isLoad=*/true, shape_.threadsPerTransform);
  const Thread storer = threadFor(/*isLoad=*/false, shape_.threadsPerTransform);
  // A transform that is one stage stays with its threads.
  const bool staysWithLoader = pass_.stages.size() == 1 && shape_.loadLanes == 0;
  Transform source;
  if (shape_.loadLanes > 0) {
    copy(/*isLoad=*/true);
    out_.line("bar.sync 0");
  } else {
    source = transformFor(loader, /*isLoad=*/true);
  }
  for (size_t i = 0; i < pass_.stages.size(); ++i) {
    const bool isLast = i + 1 == pass_.stages.size();
    stage(i, isLast && !staysWithLoader ? storer : loader, source);
  }
  if (shape_.storeLanes > 0) copy(/*isLoad=*/false);
}

std::string PassWriter::text(const std::string& name) {
  if (pass_.unpacksOnly) unpackOnly();
  else transform();
  std::string shared;
  if (shape_.sharedBytes > 0) shared = fmt::format("  .shared .align 16 .b8 exchanged[{}];\n", shape_.sharedBytes);
  std::string head = fmt::format(
      ".visible .entry {}(.param .u64 input, .param .u64 output, .param .u64 tables)\n"
      "  .maxntid {}, 1, 1\n{{\n{}"
      "  .reg .b64 %input, %output, %tables;\n  .reg .b32 %thread, %block, %shared;\n",
      name, shape_.threads(), shared);
  const char* start =
      "  ld.param.u64 %input, [input];\n  ld.param.u64 %output, [output];\n  ld.param.u64 %tables, [tables];\n"
      "  cvta.to.global.u64 %input, %input;\n  cvta.to.global.u64 %output, %output;\n"
      "  cvta.to.global.u64 %tables, %tables;\n  mov.u32 %thread, %tid.x;\n  mov.u32 %block, %ctaid.x;\n";
  const char* address = shape_.sharedBytes > 0 ? "  mov.u32 %shared, exchanged;\n" : "";
  return head + out_.registers() + start + address + out_.instructions() + "  ret;\n}\n";
}

// Whether each pair is at a multiple of its size.
bool Pass::hasAlignedPairs(bool isLoad) const {
  const bool isOfPairs = isLoad ? load == Load::Pairs && pairIn == 1 : store == Store::Pairs && pairOut == 1;
  return isOfPairs && isAligned &&
         std::ranges::all_of(dimensions, [=](const Dimension& d) { return (isLoad ? d.in : d.out) % 2 == 0; });
}

bool isOfPowersOfTwo(const Pass& pass) { return std::has_single_bit(static_cast<uint64_t>(pass.length)); }

bool takesTransforms(const Pass& pass, bool isLoad) {
  if (pass.dimensions.empty()) return false;
  const Dimension& nearest = pass.dimensions.front();
  return isLoad ? nearest.in < pass.element.in : nearest.out < pass.element.out;
}

KernelShape shapeOf(const Pass& pass, const BlockLimits& limits) {
  KernelShape shape{};
  shape.gap = gapOf(pass);
  shape.threadsPerTransform = pass.length / pass.stages.front().radix;
  shape.loadLanes = lanesFor(pass, shape.threadsPerTransform, /*isLoad=*/true);
  shape.storeLanes = lanesFor(pass, shape.threadsPerTransform, /*isLoad=*/false);
  const int64_t lanes = std::max<int64_t>({1, shape.loadLanes, shape.storeLanes});
  const bool isUnpacking = pass.store == Store::Packed && !pass.unpacksOnly;
  if (isUnpacking && shape.storeLanes == 0) shape.storeLanes = shape.threadsPerTransform;
  const int64_t bytes = pass.stages.size() > 1 || lanes > 1 || isUnpacking ? (pass.isDouble ? 16 : 8) : 0;
  int64_t& transforms = shape.transformsPerBlock;
  transforms = std::min(std::max<int64_t>(1, threadsWanted / shape.threadsPerTransform), pass.count());
  // Whole transforms for the threads that copy, and whole pieces of memory of neighbouring transforms.
  int64_t step = lanes;
  const int64_t inSector = sectorBytes / (pass.isDouble ? 16 : 8);
  if (takesTransforms(pass, true) || takesTransforms(pass, false))
    step = (std::max(step, std::min(inSector, pass.count())) + lanes - 1) / lanes * lanes;
  transforms = std::max<int64_t>(1, transforms / step) * step;
  while (true) {
    shape.sharedDistance = sharedDistance(pass, shape);
    shape.sharedBytes = shape.sharedDistance * transforms * bytes;
    const bool fits = shape.sharedBytes <= limits.shared && shape.threads() <= limits.threads;
    if (fits || transforms == lanes) break;
    transforms = std::max(lanes, transforms - step);
  }
  shape.blocks = (pass.count() + transforms - 1) / transforms;
  return shape;
}

std::string textOf(const Pass& pass, const KernelShape& shape, const std::string& name) {
  return PassWriter(pass, shape).text(name);
}

}  // namespace mulciber::fft
