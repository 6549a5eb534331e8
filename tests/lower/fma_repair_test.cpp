// Random programs with multiply-adds whose registers are written again, in branches and loops, on devices whose f32 fma
// flushes denormals. MULCIBER_FUZZ_COUNT sets how many, MULCIBER_FUZZ_SEED the first seed.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "support/float_checks.h"
#include "support/setting.h"

namespace mulciber::test {
namespace {

// The last registers begin with zero and only ever hold sums.
constexpr unsigned kRegisters = 8, kInputs = 4, kSums = 3, kFirstSum = kRegisters - kSums;

struct Step {
  enum Kind { Fma, FlushingFma, Mul, Add, Sub, Neg, Copy } kind;
  unsigned to, x, y, z;
  std::optional<uint64_t> constant{};  // in place of what is added
};

// About as large as constants have to be: to take any product, to leave a factor, to be normal; and usual ones.
uint64_t addedConstant(std::mt19937_64& random) {
  constexpr uint64_t exponents[] = {127 - 78, 127 - 15, 127 - 39, 127 - 103, 127};
  return (random() & (random() % 2 ? 0x807F'FFFF : 0x8000'0000)) | (exponents[random() % 5] + random() % 4 - 2) << 23;
}

// Ordinary numbers that cancel, denormals, factors whose products are, zeros, such that what is added to their product
// decides how it is rounded, however small it is, and a few of any kind.
uint64_t number(std::mt19937_64& random, unsigned kind) {
  const uint64_t bits = random() & 0x807F'FFFF;
  switch (kind) {
    case 0: return bits | (124 + random() % 6) << 23;
    case 1: return bits | (60 + random() % 8) << 23;
    case 2: return random() % 2 ? bits : bits & 0x8000'0000;
    case 3: return bits | (1 + random() % 30) << 23;
    case 4: return bits | (84 + random() % 6) << 23;  // about 2^-40, where the repair begins to look closer
    case 5: return (random() & 0x8000'0000) | (124 + random() % 6) << 23 | 0x800;  // whose products lie in the middle
    default: return randomFloat(random, 32, 23);
  }
}

// Steps, then some of them as often as a loop or a branch says, then more.
struct Program {
  enum Shape { Straight, Branch, Loop } shape;
  std::vector<Step> parts[3];
  std::map<unsigned, uint64_t> constants;  // that registers hold at first, in place of inputs

  explicit Program(std::mt19937_64& random) : shape(Shape(random() % 3)) {
    auto any = [&] { return static_cast<unsigned>(random() % kRegisters); };
    auto sum = [&] { return kFirstSum + static_cast<unsigned>(random() % kSums); };
    for (auto& part : parts)
      for (size_t count = 1 + random() % 8; part.size() < count;) {
        const uint64_t kind = random() % 20;
        Step step{kind < 11 ? Step::Fma : static_cast<Step::Kind>(kind % 7), any(), any(), any(), any()};
        if (step.to >= kFirstSum) {
          if (step.kind == Step::FlushingFma || step.kind == Step::Mul) step.kind = Step::Fma;
          if (step.kind != Step::Fma) step.x = sum(), step.y = sum();
          else if (random() % 4 != 0) step.z = sum();
        }
        const bool adds = step.kind <= Step::FlushingFma || step.kind == Step::Add || step.kind == Step::Sub;
        if (adds && random() % 3 == 0) step.constant = addedConstant(random);
        part.push_back(step);
      }
    for (unsigned n = 0; n < kFirstSum; ++n)
      if (random() % 5 == 0)
        constants[n] =
            random() % 2 ? number(random, random() % 7) : (random() & 0x807F'FFFF) | (150 + random() % 90) << 23;
  }
  unsigned repetitions(uint64_t input) const { return shape == Straight ? 1 : shape == Branch ? input & 1 : 3; }

  std::string text() const {
    constexpr const char* names[] = {"fma.rn.f32", "fma.rn.ftz.f32", "mul.rn.f32", "add.rn.f32",
                                     "sub.rn.f32", "neg.f32",        "mov.f32"};
    std::ostringstream out;
    out << ".reg .pred p; .reg .b32 n;\n";
    for (unsigned n = 0; n < kRegisters; ++n) {
      out << "mov.f32 %d" << n << ", ";
      if (constants.contains(n)) out << fmt::format("0f{:08X};\n", constants.at(n));
      else if (n < kFirstSum) out << "%a" << n % kInputs << ";\n";
      else out << "0f00000000;\n";
    }
    for (int part = 0; part < 3; ++part) {
      if (part == 1 && shape == Branch) out << "and.b32 n, %a4, 1; setp.eq.u32 p, n, 0; @p bra past;\n";
      if (part == 1 && shape == Loop) out << "mov.u32 n, 0; again:\n";
      for (const Step& s : parts[part]) {
        out << names[s.kind] << " %d" << s.to << ", %d" << s.x;
        const std::string added = s.constant ? fmt::format(", 0f{:08X}", *s.constant) : "";
        const bool isFma = s.kind <= Step::FlushingFma;
        if (isFma || s.kind == Step::Mul) out << ", %d" << s.y;
        if (isFma) out << (s.constant ? added : fmt::format(", %d{}", s.z));
        if (s.kind == Step::Add || s.kind == Step::Sub) out << (s.constant ? added : fmt::format(", %d{}", s.y));
        out << ";\n";
      }
      if (part == 1 && shape == Loop) out << "add.u32 n, n, 1; setp.lt.u32 p, n, 3; @p bra again;\n";
      if (part == 1 && shape == Branch) out << "past:\n";
    }
    return out.str();
  }

  std::vector<uint64_t> run(const Inputs& inputs) const {
    std::vector<uint64_t> r(kRegisters);
    for (unsigned n = 0; n < kFirstSum; ++n) r[n] = constants.contains(n) ? constants.at(n) : inputs[n % kInputs];
    for (int part = 0; part < 3; ++part)
      for (unsigned n = part == 1 ? repetitions(inputs[4]) : 1; n > 0; --n)
        for (const Step& s : parts[part]) {
          const bool isFma = s.kind <= Step::FlushingFma;
          r[s.to] = result(s, r[s.x], isFma ? r[s.y] : s.constant.value_or(r[s.y]), s.constant.value_or(r[s.z]));
        }
    return r;
  }
  static uint64_t result(const Step& s, uint64_t x, uint64_t y, uint64_t z) {
    auto exact = [](FloatOp op, uint64_t a, uint64_t b, uint64_t c) {
      return referenceFloat(op, 32, Rounding::NearestEven, a, b, c);
    };
    switch (s.kind) {
      case Step::Fma: return exact(FloatOp::Fma, x, y, z);
      case Step::FlushingFma: return flushed(exact(FloatOp::Fma, flushed(x), flushed(y), flushed(z)));
      case Step::Mul: return exact(FloatOp::Mul, x, y, 0);
      case Step::Add: return exact(FloatOp::Add, x, y, 0);
      case Step::Sub: return exact(FloatOp::Sub, x, y, 0);
      case Step::Neg: return x ^ 0x8000'0000;
      default: return x;
    }
  }
};

TEST(FmaRepair, RandomProgramsKeepDenormals) {
  const uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 150);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const Program program(random);
    for (size_t n : {2, 4, 2, 4}) {
      const Device& device = devices()[n];
      const auto repair = static_cast<passes::Repair>(random() % 3);
      std::string results;
      for (unsigned r = 0; r < kRegisters; ++r) results += "f32 ";
      Snippet snippet(program.text(), results, "f32 f32 f32 f32 b32", device.profile);
      ASSERT_TRUE(snippet.isValid()) << program.text() << snippet.messages();
      const FloatModel model = makeExact(snippet, device, repair);
      for (int k = 0; k < 40; ++k) {
        Inputs inputs;
        for (unsigned i = 0; i < kInputs; ++i) inputs.push_back(number(random, random() % 2 ? k % 7 : random() % 7));
        inputs.push_back(random() % 2);
        const std::vector<uint64_t> got = snippet.run(inputs, model), want = program.run(inputs);
        for (unsigned r = 0; r < kRegisters; ++r)
          ASSERT_TRUE(got[r] == want[r] || (isNan("f32", got[r]) && isNan("f32", want[r])))
              << device.name << ", seed " << seed << std::hex << ": %d" << r << " is " << got[r] << ", not " << want[r]
              << " of " << inputs[0] << " " << inputs[1] << " " << inputs[2] << " " << inputs[3] << "\n"
              << program.text();
      }
    }
  }
}

// Numbers are put into shared memory and read again, each many times, as factors and in differences that are factors.
struct SharedProgram {
  struct Step {
    enum Kind { Product, Square, Scaled, Store } kind;
    unsigned to, word, other, add;
  };
  static constexpr unsigned kWords = 2, kSteps = 24;
  std::vector<Step> steps;

  explicit SharedProgram(std::mt19937_64& random) {
    const size_t stored = random() % (2 * kSteps);  // one word again, or none
    while (steps.size() < kSteps) {
      const auto kind = steps.size() == stored ? Step::Store : static_cast<Step::Kind>(random() % 3);
      steps.push_back({kind, unsigned(random() % kInputs), unsigned(random() % kWords), unsigned(random() % kWords),
                       unsigned(random() % kInputs)});
    }
  }
  std::string text() const {
    std::ostringstream out;
    out << ".shared .align 4 .b32 words[" << kWords << "]; .reg .f32 x, y;\n";
    for (unsigned n = 0; n < kInputs; ++n)
      out << "mov.f32 %d" << n << ", " << (n < 2 ? "%a" : "0f00000000;") << (n < 2 ? std::to_string(n) + ";\n" : "\n");
    for (unsigned n = 0; n < kWords; ++n) out << "st.shared.f32 [words+" << 4 * n << "], %a" << 2 + n << ";\n";
    out << "bar.sync 0;\n";
    for (const Step& s : steps) {
      if (s.kind == Step::Store) {
        out << "st.shared.f32 [words+" << 4 * s.word << "], %d" << s.add << ";\n";
        continue;
      }
      out << "ld.shared.f32 x, [words+" << 4 * s.word << "]; ld.shared.f32 y, [words+" << 4 * s.other << "];\n";
      if (s.kind == Step::Square) out << "sub.rn.f32 x, x, %d0; mov.f32 y, x;\n";
      if (s.kind == Step::Scaled) out << "mov.f32 y, %d1;\n";
      out << "fma.rn.f32 %d" << s.to << ", x, y, %d" << s.add << ";\n";
    }
    return out.str();
  }
  std::vector<uint64_t> run(const Inputs& inputs) const {
    std::vector<uint64_t> r(kInputs), words(inputs.begin() + 2, inputs.begin() + 2 + kWords);
    for (unsigned n = 0; n < 2; ++n) r[n] = inputs[n];
    for (const Step& s : steps) {
      if (s.kind == Step::Store) {
        words[s.word] = r[s.add];
        continue;
      }
      uint64_t x = words[s.word], y = words[s.other];
      if (s.kind == Step::Square) x = y = referenceFloat(FloatOp::Sub, 32, Rounding::NearestEven, x, r[0], 0);
      if (s.kind == Step::Scaled) y = r[1];
      r[s.to] = referenceFloat(FloatOp::Fma, 32, Rounding::NearestEven, x, y, r[s.add]);
    }
    return r;
  }
};

TEST(FmaRepair, NumbersInSharedMemoryKeepDenormals) {
  const uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 150);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const SharedProgram program(random);
    Device device = devices()[2];
    device.profile.maxSharedBytes = 49152;
    Snippet snippet(program.text(), "f32 f32 f32 f32", "f32 f32 f32 f32", device.profile);
    ASSERT_TRUE(snippet.isValid()) << program.text() << snippet.messages();
    const FloatModel model = makeExact(snippet, device, passes::Repair::Regions);
    EXPECT_GT(snippet.program().sharedBytes, 4 * SharedProgram::kWords) << "there is no word that remembers";
    for (int k = 0; k < 40; ++k) {
      Inputs inputs;
      for (unsigned i = 0; i < kInputs; ++i) inputs.push_back(number(random, random() % 2 ? k % 7 : random() % 7));
      const std::vector<uint64_t> got = snippet.run(inputs, model), want = program.run(inputs);
      for (unsigned r = 0; r < kInputs; ++r)
        ASSERT_TRUE(got[r] == want[r] || (isNan("f32", got[r]) && isNan("f32", want[r])))
            << "seed " << seed << std::hex << ": %d" << r << " is " << got[r] << ", not " << want[r] << " of "
            << inputs[0] << " " << inputs[1] << " " << inputs[2] << " " << inputs[3] << "\n"
            << program.text();
    }
  }
}

// What is added is a constant: products that leave next to nothing of it, denormal factors, and what is left as a
// factor.
TEST(FmaRepair, SumsWithConstantsKeepDenormals) {
  const uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 300);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const auto power = [](int exponent) { return static_cast<uint64_t>(std::clamp(exponent + 127, 1, 254)) << 23; };
    const int added = -10 - static_cast<int>(random() % 90), factor = static_cast<int>(random() % 127),
              second = -static_cast<int>(random() % 126);
    const std::string text = fmt::format("fma.rn.f32 %d0, %a0, %a1, 0f{:08X};\n", power(added)) +
                             fmt::format("fma.rn.f32 %d1, %a2, 0f{:08X}, 0f{:08X};\n",
                                         power(factor) | (random() & 0x7F'FFFF), power(second)) +
                             (random() % 2 ? "fma.rn.f32 %d2, %d0, %a3, %d1;\n" : "mul.rn.f32 %d2, %d0, %d1;\n");
    const Device& device = devices()[random() % 2 ? 2 : 4];
    Snippet snippet(text, "f32 f32 f32", "f32 f32 f32 f32", device.profile),
        exact(text, "f32 f32 f32", "f32 f32 f32 f32");
    ASSERT_TRUE(snippet.isValid()) << text << snippet.messages();
    const FloatModel model = makeExact(snippet, device, static_cast<passes::Repair>(random() % 3));
    for (int k = 0; k < 40; ++k) {
      const int split = -static_cast<int>(random() % 40);
      const uint64_t bit = 1 + random() % 3;
      const Inputs inputs{power(split) | bit, 0x8000'0000 | (power(added - split) - 2 * bit),
                          number(random, 1 + random() % 6), number(random, random() % 7)};
      const std::vector<uint64_t> got = snippet.run(inputs, model), want = exact.run(inputs);
      for (unsigned r = 0; r < 3; ++r)
        ASSERT_TRUE(got[r] == want[r] || (isNan("f32", got[r]) && isNan("f32", want[r])))
            << device.name << ", seed " << seed << std::hex << ": %d" << r << " is " << got[r] << ", not " << want[r]
            << " of " << inputs[0] << " " << inputs[1] << " " << inputs[2] << " " << inputs[3] << "\n"
            << text;
    }
  }
}

// Exponentials become as small as numbers can be, in sums that a loop adds up, that cancel, and that scale others.
TEST(FmaRepair, ProductsOfExponentialsKeepDenormals) {
  const uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 300);
  const char* const steps[] = {"ex2.approx.ftz.f32 w, x;",
                               "mul.rn.f32 w, w, %a1;",
                               "fma.rn.f32 %d0, w, %a2, %d0;",
                               "fma.rn.f32 %d0, %a2, w, %d0;",
                               "fma.rn.f32 %d1, %a3, w, %a2;",
                               "add.rn.f32 x, x, 0fC1200000;",
                               "neg.f32 w, w;",
                               "fma.rn.f32 %d1, %d0, w, %d1;",
                               "mul.rn.f32 %d0, %d0, w;",
                               "mul.rn.f32 y, w, %a2; neg.f32 y, y; fma.rn.f32 %d1, w, %a2, y;",
                               "fma.rn.f32 %d1, w, 0f3F800000, %d0;",
                               "fma.rn.f32 %d0, %d1, %a1, %d0;"};
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    std::string text = ".reg .f32 w, x, y; .reg .pred p; .reg .b32 n;\nmov.b32 n, 0; mov.f32 x, %a0; mov.f32 %d0, ";
    text += random() % 2 ? "0f00000000;" : "%a3;";
    text += " mov.f32 %d1, %a1;\nagain:\nex2.approx.ftz.f32 w, x;\n";
    const bool isLong = random() % 8 == 0;  // such a round is a region
    for (size_t left = isLong ? 110 : 2 + random() % 6; left > 0; --left)
      text += std::string(steps[random() % std::size(steps)]) + "\n";
    if (random() % 2) text += "add.u32 n, n, 1; setp.lt.u32 p, n, 4; @p bra again;\n";
    Device device = devices()[random() % 2 ? 2 : 4];
    device.profile.accurateExp2 = true;
    Snippet snippet(text, "f32 f32", "f32 f32 f32 f32", device.profile), exact(text, "f32 f32", "f32 f32 f32 f32");
    ASSERT_TRUE(snippet.isValid()) << text << snippet.messages();
    const FloatModel model = makeExact(snippet, device, static_cast<passes::Repair>(random() % 3));
    for (int k = 0; k < 40; ++k) {
      const float sign = random() % 4 != 0 ? -1.0f : 1.0f, fraction = static_cast<float>(random() % 1024) / 1024;
      const float power = sign * static_cast<float>(random() % 128) + fraction;
      Inputs inputs{std::bit_cast<uint32_t>(power)};
      for (unsigned i = 1; i < kInputs; ++i) inputs.push_back(number(random, random() % 2 ? k % 7 : random() % 7));
      const std::vector<uint64_t> got = snippet.run(inputs, model), want = exact.run(inputs);
      for (unsigned r = 0; r < 2; ++r)
        ASSERT_TRUE(got[r] == want[r] || (isNan("f32", got[r]) && isNan("f32", want[r])))
            << device.name << ", seed " << seed << std::hex << ": %d" << r << " is " << got[r] << ", not " << want[r]
            << " of " << inputs[0] << " " << inputs[1] << " " << inputs[2] << " " << inputs[3] << "\n"
            << text;
    }
  }
}

// Products of a small factor by a large one each, sums of which cancel: their exponents decide whether that is exact.
TEST(FmaRepair, FactorsOfTwoSizesKeepDenormals) {
  constexpr unsigned kEach = 3, kSteps = 8;
  const uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 150);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    std::string text = ".reg .f32 x;\nmov.f32 %d0, 0f00000000;\nmov.f32 %d1, 0f00000000;\n";
    struct Sum {
      bool isSum;
      unsigned to, x, y;
    };
    std::vector<Sum> steps;
    for (unsigned n = 0; n < kSteps; ++n) {
      const Sum s{random() % 5 != 0, unsigned(random() % 2), unsigned(random() % kEach), unsigned(random() % kEach)};
      const std::string d = "%d" + std::to_string(s.to), x = "%a" + std::to_string(s.x),
                        y = "%a" + std::to_string(kEach + s.y);
      text += s.isSum ? "fma.rn.f32 " + d + ", " + x + ", " + y + ", " + d + ";\n"
                      : "mul.rn.f32 x, " + y + ", " + x + "; sub.rn.f32 " + d + ", x, " + d + ";\n";
      steps.push_back(s);
    }
    const Device& device = devices()[random() % 2 ? 2 : 4];
    Snippet snippet(text, "f32 f32", "f32 f32 f32 f32 f32 f32", device.profile);
    ASSERT_TRUE(snippet.isValid()) << text << snippet.messages();
    const FloatModel model = makeExact(snippet, device, passes::Repair::Regions);
    for (int k = 0; k < 40; ++k) {
      const int exponent = 57 + static_cast<int>(random() % 66),
                other = 2 * 127 - 80 - 6 + static_cast<int>(random() % 10) - exponent;
      Inputs inputs;
      for (unsigned n = 0; n < 2 * kEach; ++n) {
        const auto base = static_cast<uint64_t>(std::clamp((n < kEach) == (seed % 2 == 0) ? exponent : other, 0, 254));
        // Few bits, at both ends, so that much cancels.
        const uint64_t fraction = random() % 3 == 0 ? random() & 0x7F'FFFF : random() & 0x40'0003;
        inputs.push_back((random() & 0x8000'0000) | base << 23 | fraction);
      }
      uint64_t want[2] = {0, 0};
      for (const Sum& s : steps) {
        const uint64_t x = inputs[s.x], y = inputs[kEach + s.y];
        uint64_t& to = want[s.to];
        to = s.isSum ? referenceFloat(FloatOp::Fma, 32, Rounding::NearestEven, x, y, to)
                     : referenceFloat(FloatOp::Sub, 32, Rounding::NearestEven,
                                      referenceFloat(FloatOp::Mul, 32, Rounding::NearestEven, x, y, 0), to, 0);
      }
      const std::vector<uint64_t> got = snippet.run(inputs, model);
      for (unsigned r = 0; r < 2; ++r)
        ASSERT_EQ(got[r], want[r]) << device.name << ", seed " << seed << ": %d" << r << " of " << exponent << " and "
                                   << other << "\n"
                                   << text;
    }
  }
}

}  // namespace
}  // namespace mulciber::test
