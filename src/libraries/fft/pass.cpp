#include "libraries/fft/pass.h"

#include <algorithm>
#include <bit>

#include "libraries/fft/factors.h"
#include "libraries/fft/kernel_writer.h"

namespace mulciber::fft {

namespace {

constexpr int64_t threadsWanted = 256;

// Elements in shared memory have a gap behind each sixteen: threads take them by strides of powers of two.
int64_t withGaps(int64_t length) { return length + length / 16; }

// Threads beside each other take elements beside each other: of one transform, or of those beside it.
bool takesTransforms(const Pass& pass, bool isLoad) {
  if (pass.dimensions.empty()) return false;
  const Dimension& nearest = pass.dimensions.front();
  return isLoad ? nearest.in < pass.element.in : nearest.out < pass.element.out;
}

// From one transform to the next in shared memory, so that neighbouring threads find their elements in banks of their
// own, whose number is that of the threads that are served at once.
int64_t sharedDistance(const Pass& pass, int64_t transforms, int64_t threads) {
  const int64_t banks = pass.isDouble ? 8 : 16, least = withGaps(pass.length);
  if (transforms == 1) return least;
  int64_t unit = threads < banks ? threads : 1;
  if (takesTransforms(pass, true) || takesTransforms(pass, false)) unit = std::max<int64_t>(1, banks / transforms);
  unit = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(unit)));
  return (least + unit - 1) / (2 * unit) * (2 * unit) + unit;  // an odd multiple of the unit
}

class PassWriter {
 public:
  PassWriter(const Pass& pass, const KernelShape& shape)
      : pass_(pass), shape_(shape), radices_(radices(pass.length)), out_(pass.isDouble) {}

  std::string text(const std::string& name);

 private:
  // A thread's transform within the block, and its place among the threads of that.
  struct Thread {
    std::string transform, place;
  };
  // What holds of a whole transform: its address, and what it adds to indices.
  struct Transform {
    std::string isThere;  // empty where all are
    std::string address, index, phase;
  };
  // The element of that number and some elements more.
  struct Element {
    std::string number;
    int64_t more;
  };

  struct Address {
    std::string base;
    int64_t offset;
    std::string operand() const { return fmt::format("{}+{}", base, offset); }
  };

  int64_t complexBytes() const { return 2 * out_.realBytes(); }
  int64_t bytesOf(bool isLoad) const {
    const bool isReal = isLoad ? pass_.load == Load::Real : pass_.store == Store::Real;
    return isReal ? out_.realBytes() : complexBytes();
  }
  Thread threadFor(bool isLoad);
  Transform transformFor(const Thread& thread, bool isLoad);
  std::string multiplyAdd(const std::string& number, int64_t factor, const std::string& sum);
  std::string index(const std::string& number, int64_t factor, const std::string& base);
  std::string index(const Element& element, int64_t factor, const std::string& base);
  Address address(const Element& element, int64_t stride, const std::string& base);
  std::string isBelow(const std::string& number, int64_t limit, const std::string& predicate);
  Complex table(int64_t offset, const std::string& number);
  Complex load(const Transform& transform, const Element& element);
  void store(const Transform& transform, const Element& element, const std::string& isThere, Complex value);
  std::string sharedAddress(const Thread& thread, const Element& element);
  void stage(size_t number, int64_t done, const Thread& thread, const Transform& source);

  const Pass& pass_;
  const KernelShape& shape_;
  const std::vector<int> radices_;
  KernelWriter out_;
};

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

PassWriter::Transform PassWriter::transformFor(const Thread& thread, bool isLoad) {
  Transform result;
  std::string number = out_.word();
  out_.line("mad.lo.u32 {}, %block, {}, {}", number, shape_.transformsPerBlock, thread.transform);
  if (pass_.count() % shape_.transformsPerBlock != 0) {
    result.isThere = isBelow(number, pass_.count(), "");
    out_.line("min.u32 {0}, {0}, {1}", number, pass_.count() - 1);
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

std::string PassWriter::index(const std::string& number, int64_t factor, const std::string& base) {
  if (factor == 0) return base;
  const std::string result = out_.word();
  out_.line("mad.lo.u32 {}, {}, {}, {}", result, number, factor, base);
  return result;
}

std::string PassWriter::index(const Element& element, int64_t factor, const std::string& base) {
  const std::string first = index(element.number, factor, base);
  if (factor == 0 || element.more == 0) return first;
  const std::string result = out_.word();
  out_.line("add.u32 {}, {}, {}", result, first, element.more * factor);
  return result;
}

// What is added to the first element's address is part of the load or store if it can be.
PassWriter::Address PassWriter::address(const Element& element, int64_t stride, const std::string& base) {
  const std::string first = multiplyAdd(element.number, stride, base);
  const int64_t offset = element.more * stride;
  if (offset <= INT32_MAX) return {first, offset};
  const std::string result = out_.wide();
  out_.line("add.u64 {}, {}, {}", result, first, offset);
  return {result, 0};
}

// Whether the number is below the limit, and the predicate holds if there is one.
std::string PassWriter::isBelow(const std::string& number, int64_t limit, const std::string& predicate) {
  const std::string result = out_.predicate();
  if (predicate.empty()) out_.line("setp.lt.u32 {}, {}, {}", result, number, limit);
  else out_.line("setp.lt.and.u32 {}, {}, {}, {}", result, number, limit, predicate);
  return result;
}

std::string guarded(const std::string& predicate) { return predicate.empty() ? "" : "@" + predicate + " "; }

Complex PassWriter::table(int64_t offset, const std::string& number) {
  const std::string from = address({number, offset}, complexBytes(), "%tables").operand();
  const Complex value = out_.complex();
  out_.line("ld.global.nc.v2.{} {{{}, {}}}, [{}]", out_.type(), value.re, value.im, from);
  return value;
}

Complex PassWriter::load(const Transform& transform, const Element& element) {
  const bool isReal = pass_.load == Load::Real, isHalf = pass_.load == Load::Half;
  const bool isLimited = pass_.inLimit != INT64_MAX;
  const std::string place =
      isHalf || isLimited || pass_.loadFactors != noTable ? index(element, pass_.element.inIndex, transform.index) : "";
  const std::string isThere = isLimited ? isBelow(place, pass_.inLimit, "") : "";
  const Address here = address(element, pass_.element.in * bytesOf(true), transform.address);
  std::string from = here.operand();
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
    out_.line("mad.lo.s64 {}, {}, {}, {}", there, wide, pass_.axisIn * bytesOf(true), here.base);
    from = Address{there, here.offset}.operand();
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

void PassWriter::store(const Transform& transform, const Element& element, const std::string& given, Complex value) {
  if (pass_.order > 1) {
    const std::string power = out_.word(), low = out_.word(), high = out_.word();
    out_.line("mul.lo.u32 {}, {}, {}", power, index(element, 1, "0"), transform.phase);
    out_.line("and.b32 {}, {}, {}", low, power, (int64_t{1} << pass_.lowerBits) - 1);
    out_.line("shr.u32 {}, {}, {}", high, power, pass_.lowerBits);
    value = out_.multiply(value, out_.multiply(table(pass_.upper, high), table(pass_.lower, low)));
  }
  std::string isThere = given;
  const bool isHalf = pass_.store == Store::Half;
  const int64_t limit = std::min(pass_.outLimit, isHalf ? pass_.axisLength / 2 + 1 : INT64_MAX);
  if (limit != INT64_MAX || pass_.storeFactors != noTable) {
    const std::string place = index(element, pass_.element.outIndex, transform.index);
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
  const std::string to = address(element, pass_.element.out * bytesOf(false), transform.address).operand();
  if (pass_.store == Store::Real) out_.line("{}st.global.{} [{}], {}", guarded(isThere), out_.type(), to, value.re);
  else out_.line("{}st.global.v2.{} [{}], {{{}, {}}}", guarded(isThere), out_.type(), to, value.re, value.im);
}

std::string PassWriter::sharedAddress(const Thread& thread, const Element& element) {
  // Sixteen elements further the gaps are as they are here.
  const bool isRegular = element.more % 16 == 0;
  const std::string number = isRegular ? element.number : index(element, 1, "0");
  const std::string gaps = out_.word(), place = out_.word(), address = out_.word();
  out_.line("shr.u32 {}, {}, 4", gaps, number);
  out_.line("mad.lo.u32 {}, {}, {}, {}", place, thread.transform, shape_.sharedDistance, number);
  out_.line("add.u32 {0}, {0}, {1}", place, gaps);
  out_.line("mad.lo.u32 {}, {}, {}, %shared", address, place, complexBytes());
  return fmt::format("{}+{}", address, isRegular ? withGaps(element.more) * complexBytes() : 0);
}

// Stockham's algorithm: `done` is the product of the radices before this one.
void PassWriter::stage(size_t number, int64_t done, const Thread& thread, const Transform& source) {
  const int radix = radices_[number];
  const bool isFirst = number == 0, isLast = number + 1 == radices_.size();
  const int64_t butterflies = pass_.length / radix;
  const int64_t turns = (butterflies + shape_.threadsPerTransform - 1) / shape_.threadsPerTransform;
  struct Butterfly {
    std::string number, isThere;
    std::vector<Complex> values;
  };
  std::vector<Butterfly> all(turns);
  for (int64_t turn = 0; turn < turns; ++turn) {
    Butterfly& butterfly = all[turn];
    butterfly.number = out_.word();
    out_.line("add.u32 {}, {}, {}", butterfly.number, thread.place, turn * shape_.threadsPerTransform);
    // Threads that have none do another's again, and keep the result to themselves.
    if ((turn + 1) * shape_.threadsPerTransform > butterflies) {
      butterfly.isThere = isBelow(butterfly.number, butterflies, "");
      out_.line("min.u32 {0}, {0}, {1}", butterfly.number, butterflies - 1);
    }
    for (int i = 0; i < radix; ++i) {
      const Element element{butterfly.number, i * butterflies};
      if (isFirst) {
        butterfly.values.push_back(load(source, element));
        continue;
      }
      const Complex value = out_.complex();
      const std::string address = sharedAddress(thread, element);
      out_.line("ld.shared.v2.{} {{{}, {}}}, [{}]", out_.type(), value.re, value.im, address);
      butterfly.values.push_back(value);
    }
  }
  if (!isFirst && !isLast) out_.line("bar.sync 0");  // all have read before any writes
  const Transform target = isLast ? transformFor(thread, /*isLoad=*/false) : Transform();
  for (Butterfly& butterfly : all) {
    // Its first result is element (number / done) * done * radix + number % done.
    std::string column = butterfly.number, first = butterfly.number;
    if (!isLast) {
      column = out_.word(), first = out_.word();
      out_.line("rem.u32 {}, {}, {}", column, butterfly.number, done);
      out_.line("sub.u32 {}, {}, {}", first, butterfly.number, column);
      out_.line("mad.lo.u32 {0}, {0}, {1}, {2}", first, radix, column);
    }
    if (!isFirst) {
      for (int i = 1; i < radix; ++i) {
        const std::string power = out_.word();
        out_.line("mul.lo.u32 {}, {}, {}", power, column, i * (pass_.length / (done * radix)));
        butterfly.values[i] = out_.multiply(butterfly.values[i], table(pass_.twiddles, power));
      }
    }
    butterfly.values = out_.transform(butterfly.values, pass_.isInverse);
    std::string isStored = butterfly.isThere;
    if (isLast && !target.isThere.empty()) {
      isStored = target.isThere;
      if (!butterfly.isThere.empty()) {
        isStored = out_.predicate();
        out_.line("and.pred {}, {}, {}", isStored, target.isThere, butterfly.isThere);
      }
    }
    for (int i = 0; i < radix; ++i) {
      const Element element{first, i * done};
      if (isLast) {
        store(target, element, isStored, butterfly.values[i]);
      } else {
        const std::string address = sharedAddress(thread, element);
        out_.line("{}st.shared.v2.{} [{}], {{{}, {}}}", guarded(isStored), out_.type(), address, butterfly.values[i].re,
                  butterfly.values[i].im);
      }
    }
  }
  if (!isLast) out_.line("bar.sync 0");  // all have written before any reads
}

std::string PassWriter::text(const std::string& name) {
  const Thread first = threadFor(/*isLoad=*/true);
  // A transform that is one stage stays with its threads.
  const Thread last = radices_.size() > 1 ? threadFor(/*isLoad=*/false) : first;
  const Transform source = transformFor(first, /*isLoad=*/true);
  int64_t done = 1;
  for (size_t i = 0; i < radices_.size(); ++i) {
    stage(i, done, i + 1 == radices_.size() ? last : first, source);
    done *= radices_[i];
  }
  std::string shared;
  if (shape_.sharedBytes > 0) shared = fmt::format("  .shared .align 16 .b8 exchanged[{}];\n", shape_.sharedBytes);
  std::string head = fmt::format(
      ".visible .entry {}(.param .u64 input, .param .u64 output, .param .u64 tables)\n"
      "  .maxntid {}, 1, 1\n{{\n{}"
      "  .reg .b64 %input, %output, %tables;\n  .reg .b32 %thread, %block, %shared;\n",
      name, shape_.threadsPerTransform * shape_.transformsPerBlock, shared);
  const char* start =
      "  ld.param.u64 %input, [input];\n  ld.param.u64 %output, [output];\n  ld.param.u64 %tables, [tables];\n"
      "  cvta.to.global.u64 %input, %input;\n  cvta.to.global.u64 %output, %output;\n"
      "  cvta.to.global.u64 %tables, %tables;\n  mov.u32 %thread, %tid.x;\n  mov.u32 %block, %ctaid.x;\n";
  const char* address = shape_.sharedBytes > 0 ? "  mov.u32 %shared, exchanged;\n" : "";
  return head + out_.registers() + start + address + out_.instructions() + "  ret;\n}\n";
}

}  // namespace

KernelShape shapeOf(const Pass& pass, int64_t shared) {
  const std::vector<int> factors = radices(pass.length);
  KernelShape shape{};
  shape.threadsPerTransform = pass.length / factors.front();
  const int64_t bytes = factors.size() > 1 ? (pass.isDouble ? 16 : 8) : 0;
  int64_t& transforms = shape.transformsPerBlock;
  transforms = std::min(std::max<int64_t>(1, threadsWanted / shape.threadsPerTransform), pass.count());
  while (true) {
    shape.sharedDistance = sharedDistance(pass, transforms, shape.threadsPerTransform);
    shape.sharedBytes = shape.sharedDistance * transforms * bytes;
    if (shape.sharedBytes <= shared || transforms == 1) break;
    --transforms;
  }
  shape.blocks = (pass.count() + transforms - 1) / transforms;
  return shape;
}

std::string textOf(const Pass& pass, const KernelShape& shape, const std::string& name) {
  return PassWriter(pass, shape).text(name);
}

}  // namespace mulciber::fft
