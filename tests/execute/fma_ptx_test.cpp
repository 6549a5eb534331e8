// Fused multiply-adds of f32, denormals included, beside products and other multiply-adds of the same factors: what
// drivers share, cancel or fold. Random programs; MULCIBER_FUZZ_COUNT sets how many, MULCIBER_FUZZ_SEED the first seed.
#include <bit>
#include <cmath>
#include <random>

#include "execute/ptx_test.h"
#include "support/setting.h"

namespace mulciber::test {
namespace {

constexpr uint32_t kThreads = 64, kInputs = 4;

class FmaPtx : public PtxTest {
 protected:
  // Four numbers for each thread: ordinary ones whose sums cancel, denormals, and such whose products are.
  static std::vector<float> numbers(std::mt19937_64& random) {
    auto number = [&](int lowest, int highest) {
      const auto size =
          static_cast<uint32_t>(lowest + 127 + static_cast<int>(random() % unsigned(highest - lowest + 1)));
      return std::bit_cast<float>(static_cast<uint32_t>(random() & 0x807F'FFFF) | size << 23);
    };
    std::vector<float> result;
    for (uint32_t t = 0; t < kThreads; ++t) {
      const int size = t % 4 == 0 ? 0 : t % 4 == 1 ? -63 : t % 4 == 2 ? -127 : -20;
      const int other = t % 4 == 1 ? -63 : 0;
      const float x = number(size, size == -127 ? -126 : size + 6), y = number(other - 3, other + 3);
      result.insert(result.end(), {x, y, t % 3 == 0 ? -(x * y) : number(std::max(size + other, -127), size + other + 3),
                                   number(std::max(size, -127), size + 8)});
    }
    return result;
  }
  static std::string tableOf(const std::vector<float>& numbers) {
    std::string text = ".global .align 16 .b32 numbers[" + std::to_string(numbers.size()) + "] = {";
    for (size_t i = 0; i < numbers.size(); ++i)
      text += (i ? ", " : "") + std::to_string(std::bit_cast<uint32_t>(numbers[i]));
    return text + "};\n";
  }
  static constexpr const char* load =
      "mul.wide.u32 %rd1, %t, 16; mov.u64 %rd2, numbers; add.s64 %rd2, %rd2, %rd1;\n"
      "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd2];\n";

  // On the device as it is, and where its own fma is taken for one that flushes.
  void expectResults(const std::vector<float>& inputs, uint32_t results, const std::string& body,
                     const std::vector<float>& expected) {
    TargetProfile repaired = device->profile();
    repaired.exactFma32 = false;
    repaired.fusedFma32 = true;
    for (const TargetProfile& profile : {device->profile(), repaired}) {
      const std::vector<uint32_t> words = wordsOf(profile, body, results, kThreads, tableOf(inputs));
      for (size_t i = 0; i < expected.size(); ++i) {
        const float got = std::bit_cast<float>(words[i]);
        const bool isSame =
            std::isnan(expected[i]) ? std::isnan(got) : words[i] == std::bit_cast<uint32_t>(expected[i]);
        ASSERT_TRUE(isSame) << "result " << i << std::hexfloat << " is " << got << ", not " << expected[i] << "\n"
                            << body;
      }
    }
  }
};

// Straight lines of operations that like to take factors again, in either order and sign.
struct Program {
  enum Kind { Fma, Mul, Add, Sub };
  struct Operand {
    unsigned value;
    bool isNegated;
    float of(const std::vector<float>& values) const { return isNegated ? -values[value] : values[value]; }
  };
  struct Step {
    Kind kind;
    Operand x, y, z;
  };
  std::vector<Step> steps;

  explicit Program(std::mt19937_64& random) {
    auto operand = [&] {
      const auto count = static_cast<unsigned>(kInputs + steps.size());
      const unsigned first = random() % 2 ? 0 : count - std::min(count, 6u);
      return Operand{first + static_cast<unsigned>(random() % (count - first)), random() % 5 == 0};
    };
    while (steps.size() < 20) {
      Step step{random() % 20 < 11 ? Fma
                : random() % 2     ? Mul
                : random() % 2     ? Add
                                   : Sub,
                operand(), operand(), operand()};
      if (!steps.empty() && random() % 2) {
        const Step& other = steps[random() % steps.size()];
        step.x = other.x;
        step.y = other.y;
        if (random() % 2) std::swap(step.x, step.y);
        if (random() % 3 == 0) step.x.isNegated = !step.x.isNegated;
      }
      steps.push_back(step);
    }
  }

  std::string text() const {
    constexpr const char* names[] = {"fma.rn.f32", "mul.rn.f32", "add.rn.f32", "sub.rn.f32"};
    std::string result;
    for (unsigned n = 0; n < steps.size(); ++n) {
      std::string operands;
      unsigned temporary = 26;
      const Operand* all[] = {&steps[n].x, &steps[n].y, &steps[n].z};
      for (unsigned i = 0; i < (steps[n].kind == Fma ? 3u : 2u); ++i) {
        std::string name = "%f" + std::to_string(all[i]->value);
        if (all[i]->isNegated) {
          const std::string negated = "%f" + std::to_string(temporary++);
          result += "neg.f32 " + negated + ", " + name + "; ";
          name = negated;
        }
        operands += ", " + name;
      }
      result += std::string(names[steps[n].kind]) + " %f" + std::to_string(kInputs + n) + operands + ";\n";
    }
    return result;
  }

  std::vector<float> run(std::vector<float> values) const {
    for (const Step& step : steps) {
      const volatile float x = step.x.of(values), y = step.y.of(values);  // no contracted arithmetic here
      switch (step.kind) {
        case Fma: values.push_back(std::fma(x, y, step.z.of(values))); break;
        case Mul: values.push_back(x * y); break;
        case Add: values.push_back(x + y); break;
        case Sub: values.push_back(x - y); break;
      }
    }
    return values;
  }
};

TEST_F(FmaPtx, RandomProgramsOfFewFactors) {
  const uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 12);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const std::vector<float> inputs = numbers(random);
    const Program program(random);
    const size_t last = kInputs + program.steps.size();
    const size_t shown[] = {last - 1, last - 2, kInputs + random() % 18, kInputs + random() % 18};
    std::string body = load + program.text();
    for (size_t i = 0; i < 4; ++i)
      body += "st.global.f32 [%out+" + std::to_string(4 * i) + "], %f" + std::to_string(shown[i]) + ";\n";
    std::vector<float> expected;
    for (uint32_t t = 0; t < kThreads; ++t) {
      const auto own = inputs.begin() + t * kInputs;
      const std::vector<float> values = program.run({own, own + kInputs});
      for (size_t i : shown) expected.push_back(values[i]);
    }
    expectResults(inputs, 4, body, expected);
    if (HasFailure()) return;
  }
}

// One body, with what it leaves in %f4 and %f5.
struct Case {
  const char* text;
  float (*first)(float, float, float, float);
  float (*second)(float, float, float, float);
};

float product(float x, float y) {
  const volatile float a = x, b = y;
  return a * b;
}
float fma3(float x, float y, float z, float) { return std::fma(x, y, z); }

TEST_F(FmaPtx, BesideWhatDriversMakeOfThem) {
  constexpr float third = 0.3f, most = 0.7f;
  const Case cases[] = {
      {"fma.rn.f32 %f4, %f0, %f1, %f2; mul.rn.f32 %f5, %f1, %f0;", fma3,
       [](float x, float y, float, float) { return product(x, y); }},
      {"fma.rn.f32 %f4, %f0, %f1, %f2; neg.f32 %f6, %f0; fma.rn.f32 %f5, %f6, %f1, %f4;", fma3,
       [](float x, float y, float z, float) { return std::fma(-x, y, std::fma(x, y, z)); }},
      {"fma.rn.f32 %f4, %f0, %f1, %f2; neg.f32 %f6, %f4; fma.rn.f32 %f5, %f0, %f1, %f6;", fma3,
       [](float x, float y, float z, float) { return std::fma(x, y, -std::fma(x, y, z)); }},
      {"fma.rn.f32 %f4, %f0, %f1, 0f80000000; fma.rn.f32 %f5, %f0, %f1, %f3;",
       [](float x, float y, float, float) { return product(x, y); },
       [](float x, float y, float, float w) { return std::fma(x, y, w); }},
      {"fma.rn.f32 %f4, 0f3E99999A, 0f3F333333, %f2; fma.rn.f32 %f5, %f0, 0f3F800000, %f2;",
       [](float, float, float z, float) { return std::fma(third, most, z); },
       [](float x, float, float z, float) { return std::fma(x, 1.0f, z); }},
      {"fma.rn.ftz.f32 %f4, %f0, %f1, 0f3F800000; fma.rn.f32 %f5, %f0, %f1, %f2;",
       [](float x, float y, float, float) { return std::fma(x, y, 1.0f); }, fma3},
      {"fma.rn.sat.f32 %f4, %f0, %f1, %f2; fma.rn.f32 %f5, %f0, %f1, %f3;",
       [](float x, float y, float z, float) { return std::fmin(std::fmax(std::fma(x, y, z), 0.0f), 1.0f) + 0.0f; },
       [](float x, float y, float, float w) { return std::fma(x, y, w); }},
  };
  std::mt19937_64 random(5);
  const std::vector<float> inputs = numbers(random);
  for (const Case& one : cases) {
    const std::string body = load + std::string(one.text) + "\nst.global.f32 [%out], %f4; st.global.f32 [%out+4], %f5;";
    std::vector<float> expected;
    for (uint32_t t = 0; t < kThreads; ++t) {
      const float* v = &inputs[t * kInputs];
      expected.push_back(one.first(v[0], v[1], v[2], v[3]));
      expected.push_back(one.second(v[0], v[1], v[2], v[3]));
    }
    expectResults(inputs, 2, body, expected);
  }
}

}  // namespace
}  // namespace mulciber::test
