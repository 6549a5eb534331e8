#include "runtime/vk/probes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/vk/bfloat_probe.h"
#include "runtime/vk/device.h"
#include "runtime/vk/machine_code.h"
#include "runtime/vk/matrix_probe.h"
#include "runtime/vk/probe_run.h"
#include "shaders/probe_conversions.h"
#include "shaders/probe_dot32.h"
#include "shaders/probe_dot32_shared.h"
#include "shaders/probe_exit.h"
#include "shaders/probe_float32.h"
#include "shaders/probe_float32_flush.h"
#include "shaders/probe_float32_preserve.h"
#include "shaders/probe_float64.h"
#include "shaders/probe_functions.h"
#include "shaders/probe_functions_preserve.h"
#include "shaders/probe_functions_zeros.h"
#include "shaders/probe_lanes.h"
#include "shaders/probe_steps.h"
#include "shaders/probe_steps_flush.h"
#include "shaders/probe_steps_preserve.h"
#include "shaders/probe_steps_zeros.h"
#include "util/log.h"

namespace mulciber::vk {

namespace {

class Probe {
 public:
  explicit Probe(Device& device) : device_(device) {}

  // Runs one shader over `bytes` of data; what it leaves replaces them.
  Status run(std::span<const uint32_t> spirv, uint32_t threads, uint32_t groups, bool warps, void* data, size_t bytes,
             std::vector<uint8_t>* cache = nullptr) {
    PipelineDescription description;
    description.spirv = spirv;
    description.block[0] = threads;
    description.needsWarps = warps;
    return runProbe(device_, description, groups, 0, data, bytes, cache);
  }

  bool allThreadsSayYes(std::span<const uint32_t> spirv, bool (*isExpected)(uint32_t thread)) {
    std::vector<uint32_t> answers(128, 0);
    if (run(spirv, 128, 1, true, answers.data(), answers.size() * sizeof(uint32_t)) != Status::Ok) return false;
    for (uint32_t thread = 0; thread < answers.size(); ++thread)
      if (answers[thread] != (isExpected(thread) ? 1u : 0u)) return false;
    return true;
  }

 private:
  Device& device_;
};

template <typename Real>
struct Case {
  Real a, b, c, sum, product, quotient, root, fused;
};

// Inputs over the whole range, and near the denormal one, where devices differ from IEEE 754.
template <typename Real, typename Bits>
std::vector<Case<Real>> makeCases() {
  constexpr int mantissa = std::numeric_limits<Real>::digits - 1;
  constexpr int bias = std::numeric_limits<Real>::max_exponent - 1;
  uint64_t seed = 0x9E3779B97F4A7C15u;
  auto random = [&seed] {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
  };
  auto real = [&](int lowest, int highest) {  // of an exponent between those
    const int exponent = lowest + static_cast<int>(random() % static_cast<uint64_t>(highest - lowest + 1));
    const Bits fraction = static_cast<Bits>(random()) & ((Bits(1) << mantissa) - 1);
    const auto biased = static_cast<Bits>(std::max(exponent + bias, 0));
    const Bits sign = static_cast<Bits>(random() & 1) << (sizeof(Bits) * 8 - 1);
    return std::bit_cast<Real>(static_cast<Bits>(sign | (biased << mantissa) | fraction));
  };
  std::vector<Case<Real>> cases(256);
  for (size_t i = 0; i < cases.size(); ++i) {
    Case<Real>& one = cases[i];
    one = {};
    if (i % 2 == 0) {  // ordinary numbers; c cancels most of a * b so that a lost bit shows
      one.a = real(-8, 8);
      one.b = real(-8, 8);
      one.c = -(one.a * one.b);
    } else {  // denormal somewhere: an operand, the product, the sum, the quotient
      const bool operand = i % 4 == 1;
      one.a = operand ? real(-bias, -bias) : real(-bias / 2 - 4, -bias / 2);
      one.b = operand ? real(-2, 2) : real(-bias / 2 - 4, -bias / 2);
      one.c = real(-bias, -bias + 2);
    }
  }
  return cases;
}

template <typename Real>
bool same(Real x, Real y) {
  return std::memcmp(&x, &y, sizeof(Real)) == 0;
}

struct Agreement {
  bool ran = false, sumProduct = true, quotientRoot = true, fused = true, flushes = true;
  bool fusedOrdinary = true;  // where no denormal is involved
};

template <typename Real, typename Bits>
Agreement compare(Probe& probe, std::span<const uint32_t> spirv, std::vector<uint8_t>* cache = nullptr) {
  auto cases = makeCases<Real, Bits>();
  Agreement agreement;
  if (probe.run(spirv, 64, static_cast<uint32_t>(cases.size() / 64), false, cases.data(),
                cases.size() * sizeof(cases[0]), cache) != Status::Ok)
    return agreement;
  agreement.ran = true;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case<Real>& one = cases[i];
    const volatile Real a = one.a, b = one.b;  // no wider or contracted arithmetic here
    const Real product = a * b, sum = a + b;
    agreement.sumProduct &= same(one.sum, sum) && same(one.product, product);
    agreement.quotientRoot &=
        same(one.quotient, static_cast<Real>(a / b)) && same(one.root, std::sqrt(std::abs(one.a)));
    const bool fused = same(one.fused, std::fma(one.a, one.b, one.c));
    agreement.fused &= fused;
    if (i % 2 == 0) agreement.fusedOrdinary &= fused;
    if (std::fpclassify(product) == FP_SUBNORMAL) agreement.flushes &= one.product == Real(0);
  }
  return agreement;
}

// As in the shader.
struct Functions {
  static constexpr unsigned kPowers = 1024, kTiny = 4;
  float denormal = 0x1p-130f, low = -130, huge = 0x1p127f, zero = 0, minusZero = -0.0f;
  float inverseRoot = 0, logarithm = 0, power = 0, reciprocal = 0;
  float minimum[2] = {}, maximum[2] = {};
  uint32_t nans[2] = {0x7F80'1234, 0xFFC5'6789}, unitedNans[2] = {};
  float exponents[kPowers], powers[kPowers] = {};
  float tiny[kTiny] = {0x1p-130f, -0x1.8p-40f, 0x1p-20f, -0.0f}, tangents[kTiny] = {};
  float sum = 0, difference = 0, quotient = 0, nothing = 0;

  Functions() {
    for (unsigned i = 0; i < kPowers; ++i) exponents[i] = (static_cast<float>(i) - kPowers / 2) * 0.0711f;
  }
  bool arePowersAccurate() const {
    for (unsigned i = 0; i < kPowers; ++i) {
      const double exact = std::exp2(static_cast<double>(exponents[i]));
      if (!(std::abs(powers[i] - exact) <= 2.5 * std::ldexp(1.0, std::ilogb(exact) - 23))) return false;
    }
    return true;
  }
  bool areTangentsAccurate() const {
    for (unsigned i = 0; i < kTiny; ++i)
      if (!(std::abs(tangents[i] - tiny[i]) <= std::abs(tiny[i]) * 0x1p-12f) ||
          std::signbit(tangents[i]) != std::signbit(tiny[i]))
        return false;
    return true;
  }
  bool areZerosExact() const {
    return !std::signbit(sum) && !std::signbit(difference) && std::isinf(quotient) && std::signbit(quotient) &&
           std::isnan(nothing);
  }
};

void probeFunctions(Probe& probe, std::span<const uint32_t> spirv, ProbeResults& out) {
  Functions f;
  if (probe.run(spirv, 1, 1, false, &f, sizeof(f)) != Status::Ok) return;
  out.approximationsFlush32 = std::isinf(f.inverseRoot) && std::isinf(f.logarithm) && f.power == 0 && f.reciprocal == 0;
  out.accurateExp2 = f.arePowersAccurate();
  out.accurateTanh = f.areTangentsAccurate();
  out.denormalLog2 = f.logarithm == -130;
  out.foldsZeros = !f.areZerosExact();
  out.exactMinMax = std::signbit(f.minimum[0]) && std::signbit(f.minimum[1]) && !std::signbit(f.maximum[0]) &&
                    !std::signbit(f.maximum[1]);
  constexpr uint32_t nvidiaNan = 0x7FFF'FFFF;
  out.minMaxUnitesNans = f.unitedNans[0] == nvidiaNan && f.unitedNans[1] == nvidiaNan;
}

// As in the shader.
struct Conversion {
  float x = 0;
  uint32_t roundTrip = 0;
  double wide = 0;
  int64_t i64 = 0, wideI64 = 0;
  uint64_t u64 = 0, wideU64 = 0;
  int32_t i32 = 0, wideI32 = 0;
  uint32_t u32 = 0, wideU32 = 0;
};

// As CUDA's cvt: out of range the end of the range, a NaN gives `ofNan`.
template <typename Integer, typename Real>
Integer clamped(Real x, Integer ofNan) {
  if (std::isnan(x)) return ofNan;
  const Real limit = std::ldexp(Real(1), std::numeric_limits<Integer>::digits);
  if (x >= limit) return std::numeric_limits<Integer>::max();
  if (x < (std::is_signed_v<Integer> ? -limit : Real(0))) return std::numeric_limits<Integer>::min();
  return static_cast<Integer>(x);
}

template <typename Integer>
constexpr Integer topBit = static_cast<Integer>(uint64_t{1} << (sizeof(Integer) * 8 - 1));

bool saturates(const Conversion& one) {
  return one.i32 == clamped(one.x, 0) && one.u32 == clamped(one.x, 0u) && one.i64 == clamped(one.x, topBit<int64_t>) &&
         one.u64 == clamped(one.x, topBit<uint64_t>) && one.wideI32 == clamped(one.wide, topBit<int32_t>) &&
         one.wideU32 == clamped(one.wide, topBit<uint32_t>) && one.wideI64 == clamped(one.wide, topBit<int64_t>) &&
         one.wideU64 == clamped(one.wide, topBit<uint64_t>);
}

void probeConversions(Probe& probe, ProbeResults& out) {
  constexpr double most = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  constexpr double numbers[] = {1.1,           -1.5,          0.75,     -0.75, 255.5,  0x1p31,     0x1.fffffcp30,
                                -0x1p31,       -0x1p33,       1e10,     -1e10, 0x1p32, 0x1p63,     -0x1p63,
                                -0x1.8p63,     0x1p64,        0x1p65,   1e20,  -1e20,  most,       -most,
                                none,          -none,         0x1p-130, -0.0,  65520,  0x1p31 - 1, 0x1.fffffep31,
                                0x1.fffffep62, 0x1.fffffep63, 4e9,      3.99};
  Conversion cases[std::size(numbers)];
  for (size_t i = 0; i < std::size(numbers); ++i) {
    cases[i].x = static_cast<float>(numbers[i]);
    cases[i].wide = numbers[i];
  }
  if (probe.run(probe_conversions, 32, 1, false, cases, sizeof(cases)) != Status::Ok) return;
  out.foldsHalfRoundTrips = cases[0].roundTrip == std::bit_cast<uint32_t>(cases[0].x);
  out.saturatesToInteger = std::all_of(std::begin(cases), std::end(cases), saturates);
}

// Whether dot products keep denormals, and machine code is read right: of one by itself, and of one with its product
// beside it.
bool hasExactDots(Probe& probe) {
  std::vector<uint8_t> alone, shared;
  const Agreement dots = compare<float, uint32_t>(probe, probe_dot32, &alone);
  return dots.ran && dots.fused && productsIn(alone) == Products::Fused &&
         compare<float, uint32_t>(probe, probe_dot32_shared, &shared).ran && productsIn(shared) == Products::TakenApart;
}

// One shader in the modes of kernels that keep denormals.
struct Modes {
  std::span<const uint32_t> plain, preserve, zeros;

  std::span<const uint32_t> ofKernels(const Device& device, const ProbeResults& known) const {
    if (!known.denormPreserve32) return plain;
    return device.physical().properties12.shaderSignedZeroInfNanPreserveFloat32 ? zeros : preserve;
  }
};

// Drivers seen to honour execution modes they do not advertise.
bool triesUnadvertisedModes(const PhysicalDevice& physical) { return physical.driver() == Driver::Nvidia; }

}  // namespace

Status probe(Device& device, ProbeResults& out) {
  const PhysicalDevice& physical = device.physical();
  const auto& properties12 = physical.properties12;
  Probe probe(device);
  out = {};
  const auto needed = VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  if ((physical.properties11.subgroupSupportedOperations & needed) == needed)
    out.lanesLikeCuda = probe.allThreadsSayYes(probe_lanes, [](uint32_t) { return true; });
  // Only where it is known not to hang: a barrier that waits for ended threads may wait for ever.
  if (physical.driver() != Driver::Other)
    out.exitedThreadsArrive = probe.allThreadsSayYes(
        probe_exit, [](uint32_t thread) { return !((thread >= 32 && thread < 64) || thread % 5 == 1); });

  Agreement best = compare<float, uint32_t>(probe, probe_float32);
  if (!best.ran) return device.isLost() ? Status::DeviceLost : Status::Failed;
  out.denormsByDefault32 = best.sumProduct;
  if (properties12.shaderDenormPreserveFloat32 || triesUnadvertisedModes(physical)) {
    const Agreement preserve = compare<float, uint32_t>(probe, probe_float32_preserve);
    out.denormPreserve32 = preserve.ran && preserve.sumProduct;
    if (out.denormPreserve32) best = preserve;
  }
  if (properties12.shaderDenormFlushToZeroFloat32 || triesUnadvertisedModes(physical)) {
    const Agreement flush = compare<float, uint32_t>(probe, probe_float32_flush);
    out.denormFlush32 = flush.ran && flush.flushes;
  }
  const Modes functions{probe_functions, probe_functions_preserve, probe_functions_zeros};
  probeFunctions(probe, functions.ofKernels(device, out), out);
  out.exactFma32 = best.fused;
  out.fusedFma32 = best.fusedOrdinary;
  out.exactDivSqrt32 = best.quotientRoot;
  if (out.denormPreserve32 && out.fusedFma32 && !out.exactFma32 && properties12.shaderSignedZeroInfNanPreserveFloat32)
    out.exactDot32 = hasExactDots(probe);
  WrongSteps wrong;
  if (out.fusedFma32 && !out.exactDivSqrt32 && countWrongSteps(device, out, wrong) == Status::Ok) {
    out.refinesInOneStep32 = wrong.refinements == 0;
    out.dividesByRoots32 = wrong.divisors == 0;
  }
  const auto& features = physical.features2.features;
  if (features.shaderFloat64 && features.shaderInt64 && physical.features12.shaderFloat16) probeConversions(probe, out);
  if (features.shaderFloat64) {
    const Agreement wide = compare<double, uint64_t>(probe, probe_float64);
    out.exactFma64 = wide.ran && wide.fused;
    out.exactDivSqrt64 = wide.ran && wide.quotientRoot;
  }
  if (out.lanesLikeCuda) probeMatrices(device, out);
  if (out.lanesLikeCuda && physical.brainFloats.shaderBFloat16Type) out.packsBfloats = packsBfloats(device, out);
  util::log().info(
      "probed {}: lanes {}, exit {}, f32 denormals {} preserve {} flush {}, fma {}, dot {}, div {}, steps {} {}, "
      "f64 fma {}, div {}, conversions saturate {}, f16 folds {}",
      physical.properties().deviceName, out.lanesLikeCuda, out.exitedThreadsArrive, out.denormsByDefault32,
      out.denormPreserve32, out.denormFlush32, out.exactFma32, out.exactDot32, out.exactDivSqrt32,
      out.refinesInOneStep32, out.dividesByRoots32, out.exactFma64, out.exactDivSqrt64, out.saturatesToInteger,
      out.foldsHalfRoundTrips);
  return Status::Ok;
}

Status countWrongSteps(Device& device, const ProbeResults& known, WrongSteps& out) {
  Probe probe(device);
  const Modes steps{probe_steps, probe_steps_preserve, probe_steps_zeros};
  const std::span<const uint32_t> flushing = probe_steps_flush, ordinary = probe_steps;
  for (std::span<const uint32_t> spirv : {steps.ofKernels(device, known), known.denormFlush32 ? flushing : ordinary}) {
    WrongSteps wrong;
    TRY(probe.run(spirv, 256, (1u << 24) / (256 * 8), false, &wrong, sizeof(wrong)));
    out.refinements += wrong.refinements;
    out.divisors += wrong.divisors;
  }
  return Status::Ok;
}

}  // namespace mulciber::vk
