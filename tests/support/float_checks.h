// Floating-point instructions, lowered and made exact for five devices: a perfect one, one whose fma is not fused, one
// like NVIDIA's Vulkan driver (fma flushes denormals, division is off by two units, -0 and +0 are alike), one without
// f64, one like NVIDIA's whose estimates need one step. The reference is the host's own arithmetic.
#pragma once

#include "support/arith_inputs.h"
#include "support/reference_float.h"
#include "translator/passes/legalize_floats.h"

namespace mulciber::test {

using ir::Rounding;

struct Device {
  std::string name;
  TargetProfile profile;
  FloatModel model;
};

inline const std::vector<Device>& devices() {
  static const std::vector<Device> list = [] {
    std::vector<Device> d(5);
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
    d[2].profile.approximationsFlush32 = d[2].model.approximationsFlush32 = true;
    d[2].model.divisionError = 2;
    d[2].model.fmaKeepsDenormals32 = d[2].model.minMaxKnowsZeros = false;
    d[3].name = "plain";
    d[3].profile = d[1].profile;
    d[3].profile.float64 = d[3].profile.exactDivSqrt32 = d[3].profile.exactDivSqrt64 = false;
    d[3].model = d[1].model;
    d[3].model.divisionError = 2;
    d[4] = d[2];
    d[4].name = "one step";
    d[4].profile.refinesInOneStep32 = d[4].profile.nvidiaNan = d[4].profile.saturatesToInteger = true;
    d[4].profile.packsBfloats = true;
    d[4].model.divisionError = 0;
    for (Device& device : d) device.model.onlyNearest = true;
    return d;
  }();
  return list;
}

inline unsigned bitsOf(const std::string& type) {
  return type == "bf16" ? 16 : static_cast<unsigned>(std::stoul(type.substr(1)));
}

inline bool isNan(const std::string& type, uint64_t v) {
  if (type == "bf16") return (v & 0x7FFF) > 0x7F80;
  return type[0] == 'f' && isNanBits(bitsOf(type), v);
}

// Applies what the device needs; what it then does.
inline FloatModel makeExact(Snippet& snippet, const Device& device, passes::Repair repair = passes::Repair::Runs) {
  passes::LegalizeFloats pass(repair);
  snippet.apply(pass, device.profile);
  FloatModel model = device.model;
  if (!device.profile.denormsByDefault32)
    model.keepsDenormals32 = snippet.program().denormals32 == ir::Denormals::Preserve;
  return model;
}

// Like check(), on every device, with the passes; any NaN is as good as another.
inline void checkFloat(const std::string& text, const std::string& result, const std::string& types,
                       const std::function<uint64_t(const Inputs&)>& expect, int count = 500) {
  std::istringstream stream(types);
  std::vector<std::string> list;
  for (std::string type; stream >> type;) list.push_back(type);
  auto declared = [](std::string s) {  // bf16 and f16 live in 16-bit registers
    for (size_t at; (at = s.find("bf16")) != std::string::npos;) s.replace(at, 4, "b16");
    for (size_t at; (at = s.find("f16")) != std::string::npos;) s.replace(at, 3, "b16");
    return s;
  };
  for (const Device& device : devices()) {
    if (!device.profile.float64 && text.find("f64") != std::string::npos) continue;
    Snippet snippet(text, declared(result), declared(types), device.profile);
    ASSERT_TRUE(snippet.isValid()) << text << "\n" << snippet.messages();
    const FloatModel model = makeExact(snippet, device);
    std::mt19937_64 random(std::hash<std::string>()(text));
    int wrong = 0;
    for (int n = 0; n < count && wrong < 3; n++) {
      Inputs inputs;
      for (const std::string& type : list) inputs.push_back(randomValue(random, type));
      // A third operand near the product of the others makes sums cancel.
      if (list.size() == 3 && list[0] == list[2] && list[2][0] == 'f' && n % 3 == 0) {
        unsigned bits = bitsOf(list[2]);
        inputs[2] = referenceFloat(FloatOp::Mul, bits, Rounding::NearestEven, inputs[0], inputs[1], 0) ^
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

inline uint64_t flushed(uint64_t v) { return isDenormalBits(32, v) ? v & 0x80000000 : v; }

inline constexpr std::pair<const char*, Rounding> roundings[] = {
    {".rn", Rounding::NearestEven}, {".rz", Rounding::TowardZero}, {".rm", Rounding::Down}, {".rp", Rounding::Up}};

inline std::string registers(unsigned count) {
  std::string result = " %d0";
  for (unsigned i = 0; i < count; i++) result += ", %a" + std::to_string(i);
  return result + ";";
}

inline std::string repeated(const std::string& type, unsigned count) {
  std::string result;
  for (unsigned i = 0; i < count; i++) result += type + " ";
  return result;
}

// Pairs of halves in one register: `expect` gives the half at a bit position.
inline void checkPairs(const std::string& text, bool isBfloat, unsigned count,
                       const std::function<uint64_t(const Inputs&, unsigned)>& expect) {
  std::string type = isBfloat ? "bf16" : "f16";
  for (const Device& device : devices()) {
    Snippet snippet(text, "b32", repeated("b32", count), device.profile);
    ASSERT_TRUE(snippet.isValid()) << text << "\n" << snippet.messages();
    makeExact(snippet, device);
    std::mt19937_64 random(std::hash<std::string>()(text));
    for (int n = 0; n < 500; n++) {
      Inputs inputs;
      for (unsigned i = 0; i < count; i++)
        inputs.push_back(randomValue(random, type) << 16 | randomValue(random, type));
      uint64_t got = snippet.run(inputs, device.model)[0];
      for (unsigned shift : {0u, 16u}) {
        uint64_t part = got >> shift & 0xFFFF, want = expect(inputs, shift);
        ASSERT_TRUE(part == want || (isNan(type, part) && isNan(type, want)))
            << device.name << ": " << text << std::hex << " gives " << part << ", not " << want;
      }
    }
  }
}

}  // namespace mulciber::test
