// Floating-point instructions, lowered and made exact for three devices: a perfect one, one like lavapipe (fma not
// fused), one like NVIDIA's Vulkan driver (fma flushes denormals, division is off by two units, -0 and +0 are alike).
// The reference is the host's own arithmetic in each rounding mode. MATH-01 to MATH-04.
#include <bit>
#include <cmath>

#include "support/arith_inputs.h"
#include "support/exact_float.h"
#include "translator/passes/float_exactness.h"

namespace mulciber::test {
namespace {

using ir::Rounding;

struct Device {
  std::string name;
  TargetProfile profile;
  FloatModel model;
  TranslateOptions options;
};

const std::vector<Device>& devices() {
  static const std::vector<Device> list = [] {
    std::vector<Device> d(3);
    d[0].name = "perfect";
    d[0].profile = Snippet::defaultProfile();
    d[0].profile.exactFma16 = d[0].profile.exactMinMax = true;
    d[1].name = "unfused";
    d[1].profile = Snippet::defaultProfile();
    d[1].profile.exactFma32 = d[1].profile.exactFma64 = d[1].profile.exactFma16 = d[1].profile.exactMinMax = false;
    d[1].model.fusesFma = d[1].model.minMaxKnowsZeros = false;
    d[2].name = "flushing";
    d[2].profile = Snippet::defaultProfile();
    d[2].profile.denormsByDefault32 = d[2].profile.exactFma32 = d[2].profile.exactDivSqrt32 = false;
    d[2].profile.exactDivSqrt64 = d[2].profile.exactMinMax = false;
    d[2].profile.fusedFma32 = d[2].profile.denormPreserve32 = d[2].profile.denormFlush32 = true;
    d[2].model.divisionError = 2;
    d[2].model.fmaKeepsDenormals32 = d[2].model.minMaxKnowsZeros = false;
    d[2].options.exactDenormals = true;
    for (Device& device : d) device.model.onlyNearest = true;
    return d;
  }();
  return list;
}

unsigned bitsOf(const std::string& type) {
  return type == "bf16" ? 16 : static_cast<unsigned>(std::stoul(type.substr(1)));
}

bool isNan(const std::string& type, uint64_t v) {
  if (type == "bf16") return (v & 0x7FFF) > 0x7F80;
  return type[0] == 'f' && isNanBits(bitsOf(type), v);
}

// Like check(), on every device, with the passes; any NaN is as good as another.
void checkFloat(const std::string& text, const std::string& result, const std::string& types,
                const std::function<uint64_t(const Inputs&)>& expect, int count = 1500) {
  std::istringstream stream(types);
  std::vector<std::string> list;
  for (std::string type; stream >> type;) list.push_back(type);
  auto declared = [](std::string s) {  // bf16 and f16 live in 16-bit registers
    for (size_t at; (at = s.find("bf16")) != std::string::npos;) s.replace(at, 4, "b16");
    for (size_t at; (at = s.find("f16")) != std::string::npos;) s.replace(at, 3, "b16");
    return s;
  };
  for (const Device& device : devices()) {
    Snippet snippet(text, declared(result), declared(types), device.profile);
    ASSERT_TRUE(snippet.isValid()) << text << "\n" << snippet.messages();
    passes::FloatExactness pass;
    snippet.apply(pass, device.profile, device.options);
    FloatModel model = device.model;
    if (!device.profile.denormsByDefault32)
      model.keepsDenormals32 = snippet.program().denormals32 == ir::Denormals::Preserve;
    std::mt19937_64 random(std::hash<std::string>()(text));
    int wrong = 0;
    for (int n = 0; n < count && wrong < 3; n++) {
      Inputs inputs;
      for (const std::string& type : list) inputs.push_back(randomValue(random, type));
      // A third operand near the product of the others makes sums cancel.
      if (list.size() == 3 && list[0] == list[2] && list[2][0] == 'f' && n % 3 == 0) {
        unsigned bits = bitsOf(list[2]);
        inputs[2] = exactFloat(FloatOp::Mul, bits, Rounding::NearestEven, inputs[0], inputs[1], 0) ^
                    (uint64_t(1) << (bits - 1));
        inputs[2] += random() % 3;
      }
      if (list.size() > 1 && list[0] == list[1] && n % 17 == 0)
        inputs[1] = inputs[0] ^ (random() % 2 << (bitsOf(list[0]) - 1));
      uint64_t got = snippet.run(inputs, model)[0], want = expect(inputs);
      bool same = isNan(result, want) ? isNan(result, got) : got == want;
      if (same) continue;
      wrong++;
      std::ostringstream what;
      what << device.name << ": " << text << std::hex;
      for (uint64_t v : inputs) what << " " << v;
      ADD_FAILURE() << what.str() << " gives " << std::hex << got << ", not " << want;
    }
    if (wrong) std::printf("%s\n", snippet.print().c_str());
  }
}

uint64_t flushed(uint64_t v) { return isDenormalBits(32, v) ? v & 0x80000000 : v; }

constexpr std::pair<const char*, Rounding> roundings[] = {
    {".rn", Rounding::NearestEven}, {".rz", Rounding::TowardZero}, {".rm", Rounding::Down}, {".rp", Rounding::Up}};

struct Operation {
  const char* name;
  FloatOp op;
  unsigned operands;
};
constexpr Operation operations[] = {{"add", FloatOp::Add, 2}, {"sub", FloatOp::Sub, 2}, {"mul", FloatOp::Mul, 2},
                                    {"fma", FloatOp::Fma, 3}, {"div", FloatOp::Div, 2}, {"sqrt", FloatOp::Sqrt, 1},
                                    {"rcp", FloatOp::Div, 1}};

std::string registers(unsigned count) {
  std::string result = " %d0";
  for (unsigned i = 0; i < count; i++) result += ", %a" + std::to_string(i);
  return result + ";";
}

std::string repeated(const std::string& type, unsigned count) {
  std::string result;
  for (unsigned i = 0; i < count; i++) result += type + " ";
  return result;
}

uint64_t compute(const Operation& operation, unsigned bits, Rounding rounding, const Inputs& x) {
  if (std::string(operation.name) == "rcp")
    return exactFloat(FloatOp::Div, bits, rounding, fromDouble(bits, 1), x[0], 0);
  return exactFloat(operation.op, bits, rounding, x[0], x.size() > 1 ? x[1] : 0, x.size() > 2 ? x[2] : 0);
}

TEST(ArithFloat, RoundsSinglesInEveryMode) {
  for (const Operation& operation : operations)
    for (auto [suffix, rounding] : roundings) {
      Rounding mode = rounding;
      checkFloat(operation.name + std::string(suffix) + ".f32" + registers(operation.operands), "f32",
                 repeated("f32", operation.operands), [&](const Inputs& x) { return compute(operation, 32, mode, x); });
      checkFloat(operation.name + std::string(suffix) + ".ftz.f32" + registers(operation.operands), "f32",
                 repeated("f32", operation.operands), [&](Inputs x) {
                   for (uint64_t& v : x) v = flushed(v);
                   return flushed(compute(operation, 32, mode, x));
                 });
    }
}

TEST(ArithFloat, RoundsDoublesInEveryMode) {
  for (const Operation& operation : operations)
    for (auto [suffix, rounding] : roundings) {
      Rounding mode = rounding;
      checkFloat(operation.name + std::string(suffix) + ".f64" + registers(operation.operands), "f64",
                 repeated("f64", operation.operands), [&](const Inputs& x) { return compute(operation, 64, mode, x); });
    }
}

}  // namespace
}  // namespace mulciber::test
