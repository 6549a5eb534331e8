// Random programs with multiply-adds whose registers are written again, in branches and loops, on devices whose f32 fma
// flushes denormals. MULCIBER_FUZZ_COUNT sets how many, MULCIBER_FUZZ_SEED the first seed.
#include "support/float_checks.h"

namespace mulciber::test {
namespace {

constexpr unsigned kRegisters = 6, kInputs = 4;

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Step {
  enum Kind { Fma, FlushingFma, Mul, Add, Sub, Neg, Copy } kind;
  unsigned to, x, y, z;
};

// Steps, then some of them as often as a loop or a branch says, then more.
struct Program {
  enum Shape { Straight, Branch, Loop } shape;
  std::vector<Step> parts[3];

  explicit Program(std::mt19937_64& random) : shape(Shape(random() % 3)) {
    auto any = [&] { return static_cast<unsigned>(random() % kRegisters); };
    for (auto& part : parts)
      for (size_t count = 1 + random() % 8; part.size() < count;) {
        const uint64_t kind = random() % 20;
        part.push_back({kind < 11 ? Step::Fma : static_cast<Step::Kind>(kind % 7), any(), any(), any(), any()});
      }
  }
  unsigned repetitions(uint64_t input) const { return shape == Straight ? 1 : shape == Branch ? input & 1 : 3; }

  std::string text() const {
    constexpr const char* names[] = {"fma.rn.f32", "fma.rn.ftz.f32", "mul.rn.f32", "add.rn.f32",
                                     "sub.rn.f32", "neg.f32",        "mov.f32"};
    std::ostringstream out;
    out << ".reg .pred p; .reg .b32 n;\n";
    for (unsigned n = 0; n < kRegisters; ++n) out << "mov.f32 %d" << n << ", %a" << n % kInputs << ";\n";
    for (int part = 0; part < 3; ++part) {
      if (part == 1 && shape == Branch) out << "and.b32 n, %a4, 1; setp.eq.u32 p, n, 0; @p bra past;\n";
      if (part == 1 && shape == Loop) out << "mov.u32 n, 0; again:\n";
      for (const Step& s : parts[part]) {
        out << names[s.kind] << " %d" << s.to << ", %d" << s.x;
        if (s.kind < Step::Neg) out << ", %d" << s.y;
        if (s.kind <= Step::FlushingFma) out << ", %d" << s.z;
        out << ";\n";
      }
      if (part == 1 && shape == Loop) out << "add.u32 n, n, 1; setp.lt.u32 p, n, 3; @p bra again;\n";
      if (part == 1 && shape == Branch) out << "past:\n";
    }
    return out.str();
  }

  std::vector<uint64_t> run(const Inputs& inputs) const {
    std::vector<uint64_t> r(kRegisters);
    for (unsigned n = 0; n < kRegisters; ++n) r[n] = inputs[n % kInputs];
    for (int part = 0; part < 3; ++part)
      for (unsigned n = part == 1 ? repetitions(inputs[4]) : 1; n > 0; --n)
        for (const Step& s : parts[part]) r[s.to] = result(s, r[s.x], r[s.y], r[s.z]);
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

// Ordinary numbers that cancel, denormals, factors whose products are, zeros, and a few of any kind.
uint64_t number(std::mt19937_64& random, unsigned kind) {
  const uint64_t bits = random() & 0x807F'FFFF;
  switch (kind) {
    case 0: return bits | (124 + random() % 6) << 23;
    case 1: return bits | (60 + random() % 8) << 23;
    case 2: return random() % 2 ? bits : bits & 0x8000'0000;
    case 3: return bits | (1 + random() % 30) << 23;
    case 4: return bits | (84 + random() % 6) << 23;  // about 2^-40, where the repair begins to look closer
    default: return randomFloat(random, 32, 23);
  }
}

TEST(FmaRepair, RandomProgramsKeepDenormals) {
  const uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 150);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const Program program(random);
    for (size_t n : {2, 4}) {
      const Device& device = devices()[n];
      std::string results;
      for (unsigned r = 0; r < kRegisters; ++r) results += "f32 ";
      Snippet snippet(program.text(), results, "f32 f32 f32 f32 b32", device.profile);
      ASSERT_TRUE(snippet.isValid()) << program.text() << snippet.messages();
      const FloatModel model = makeExact(snippet, device);
      for (int k = 0; k < 40; ++k) {
        Inputs inputs;
        for (unsigned i = 0; i < kInputs; ++i) inputs.push_back(number(random, random() % 2 ? k % 6 : random() % 6));
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

}  // namespace
}  // namespace mulciber::test
