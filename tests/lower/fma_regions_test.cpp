// Random control flow with multiply-adds, on devices whose f32 fma flushes denormals: loops in each other, with several
// exits and several entries, branches that depend on numbers, loads from addresses that do, and stores.
// MULCIBER_FUZZ_COUNT sets how many, MULCIBER_FUZZ_SEED the first seed.
#include "support/float_checks.h"
#include "support/setting.h"

namespace mulciber::test {
namespace {

constexpr unsigned kRegisters = 7, kInputs = 4, kWords = 4, kFuel = 24;

struct Step {
  enum Kind { Fma, Mul, Add, Sub, Neg, Copy, Min, Choose, Load, LoadFrom, Store, Constant, Horner } kind;
  unsigned to, x, y, z, word;
};

// What polynomials have: large enough for any product to be added, but for the last.
constexpr uint32_t coefficients[] = {0x3F00'0000, 0x3C93'BB73, 0xBEFF'FFFF, 0x1E80'0001};
static_assert(std::size(coefficients) == kWords);

// What a block ends with: it goes to the next one, or to another one if a number is less, or for some of the rounds.
struct End {
  enum Kind { Next, IfLess, IfRound } kind;
  unsigned target, x, y;
};

struct Graph {
  struct Part {
    std::vector<Step> steps;
    End end;
  };
  std::vector<Part> parts;
  bool isDynamic, isReadOften;  // the shared memory

  explicit Graph(std::mt19937_64& random) {
    auto any = [&](unsigned count) { return static_cast<unsigned>(random() % count); };
    const bool stores = random() % 3 == 0;
    isDynamic = random() % 4 == 0;
    isReadOften = random() % 2 == 0;
    const unsigned count = 1 + any(6), shape = any(3), longest = any(4) == 0 ? 40 : 7;
    const bool isPlain = any(4) == 0;  // then runs are long
    for (unsigned n = 0; n < count; ++n) {
      Part part;
      for (unsigned length = any(longest); part.steps.size() < length;) {
        constexpr Step::Kind kinds[] = {Step::Mul,      Step::Add,      Step::Sub,    Step::Neg,
                                        Step::Copy,     Step::Min,      Step::Choose, Step::Load,
                                        Step::Load,     Step::LoadFrom, Step::Mul,    Step::Constant,
                                        Step::Constant, Step::Store,    Step::Horner, Step::Horner};
        Step step{random() % 2 || isPlain ? Step::Fma : kinds[any(std::size(kinds))],
                  any(kRegisters),
                  any(kRegisters),
                  any(kRegisters),
                  any(kRegisters),
                  any(kWords)};
        if (step.kind == Step::Store && !stores) continue;
        if (step.kind == Step::Fma && random() % 2) step.z = step.to;
        if (step.kind == Step::Mul && random() % 2) step.y = step.x;  // squares stand in polynomials
        part.steps.push_back(step);
        if (step.kind != Step::Mul || step.to == step.x || step.to == step.y || random() % 2) continue;
        // What rounding lost of a product is small and its addend is not.
        part.steps.push_back({Step::Neg, step.to, step.to, 0, 0, 0});
        part.steps.push_back({Step::Fma, step.to, step.x, step.y, step.to, 0});
      }
      // Loops that end with themselves, branches ahead, or anything.
      const unsigned target = shape == 0 ? n : shape == 1 ? std::min(count, n + 1 + any(3)) : any(count + 1);
      part.end = {static_cast<End::Kind>(any(3)), target, any(kRegisters), any(kRegisters)};
      parts.push_back(part);
    }
  }

  std::string text() const {
    std::ostringstream out;
    out << ".reg .f32 x; .reg .pred p, q; .reg .b32 n, a, b, words;\n";
    if (isDynamic)
      out << ".shared .align 16 .b8 own[64]; st.shared.f32 [own], %a1; mov.u32 words, dynamic; sub.u32 words, words, "
             "4;\n";
    else out << ".shared .align 4 .b32 static[" << kWords << "]; mov.u32 words, static;\n";
    for (unsigned n = 0; n < kRegisters; ++n) out << "mov.f32 %d" << n << ", %a" << n % kInputs << ";\n";
    for (unsigned n = 1; n < kWords; ++n) out << "st.shared.f32 [words+" << 4 * n << "], %a" << n << ";\n";
    // Then its numbers are looked at where they are stored.
    for (unsigned n = 0; isReadOften && n < 6 * kWords; ++n)
      out << "ld.shared.f32 x, [words+" << 4 + n % (kWords - 1) * 4 << "];\n";
    out << "mov.u32 n, 0;\n";
    for (unsigned n = 0; n < parts.size(); ++n) {
      out << "part" << n << ":\n";
      for (const Step& s : parts[n].steps) put(out, s);
      const End& end = parts[n].end;
      if (end.kind == End::Next) continue;
      out << "add.u32 n, n, 1; setp.lt.u32 p, n, " << kFuel << ";\n";
      if (end.kind == End::IfLess) out << "setp.lt.and.f32 p, %d" << end.x << ", %d" << end.y << ", p;\n";
      else out << "and.b32 a, n, 3; setp.ne.and.u32 p, a, 0, p;\n";
      out << "@p bra part" << end.target << ";\n";
    }
    out << "part" << parts.size() << ":\n";
    return out.str();
  }
  static void put(std::ostream& out, const Step& s) {
    constexpr const char* names[] = {"fma.rn.f32", "mul.rn.f32", "add.rn.f32", "sub.rn.f32",
                                     "neg.f32",    "mov.f32",    "min.f32"};
    switch (s.kind) {
      case Step::Load: out << "ld.shared.f32 %d" << s.to << ", [words+" << 4 * s.word << "];\n"; return;
      case Step::Store: out << "st.shared.f32 [words+" << 4 * s.word << "], %d" << s.x << ";\n"; return;
      case Step::LoadFrom:
        out << "setp.eq.f32 q, %d" << s.x << ", 0f00000000; selp.b32 a, 0, 4, q; mov.u32 b, words; add.u32 a, a, b; "
            << "ld.shared.f32 %d" << s.to << ", [a];\n";
        return;
      case Step::Choose:
        out << "setp.lt.f32 q, %d" << s.x << ", %d" << s.y << "; selp.f32 %d" << s.to << ", %d" << s.z << ", %d" << s.x
            << ", q;\n";
        return;
      case Step::Constant:
        out << "mov.f32 %d" << s.to << ", " << (s.word % 2 ? "0f3FA00000" : "0f00000000") << ";\n";
        return;
      case Step::Horner:
        out << "fma.rn.f32 %d" << s.to << ", %d" << s.x << ", %d" << s.y << ", 0f" << std::hex << coefficients[s.word]
            << std::dec << ";\n";
        return;
      default: break;
    }
    out << names[s.kind] << " %d" << s.to << ", %d" << s.x;
    if (s.kind != Step::Neg && s.kind != Step::Copy) out << ", %d" << s.y;
    if (s.kind == Step::Fma) out << ", %d" << s.z;
    out << ";\n";
  }

  struct Result {
    std::vector<uint64_t> registers;
    bool loadsFirst = false;
  };
  Result run(const Inputs& inputs) const {
    Result result;
    std::vector<uint64_t>& r = result.registers;
    std::vector<uint64_t> words(inputs.begin(), inputs.begin() + kWords);
    for (unsigned n = 0; n < kRegisters; ++n) r.push_back(inputs[n % kInputs]);
    unsigned rounds = 0;
    for (size_t n = 0; n < parts.size();) {
      for (const Step& s : parts[n].steps) step(s, r, words, result.loadsFirst);
      const End& end = parts[n].end;
      ++n;
      if (end.kind == End::Next) continue;
      const bool hasFuel = ++rounds < kFuel;
      if (hasFuel && (end.kind == End::IfLess ? isLess(r[end.x], r[end.y]) : (rounds & 3) != 0)) n = end.target;
    }
    return result;
  }
  static bool isLess(uint64_t x, uint64_t y) {
    return std::bit_cast<float>(static_cast<uint32_t>(x)) < std::bit_cast<float>(static_cast<uint32_t>(y));
  }
  static void step(const Step& s, std::vector<uint64_t>& r, std::vector<uint64_t>& words, bool& loadsFirst) {
    auto exact = [&](FloatOp op) { return referenceFloat(op, 32, Rounding::NearestEven, r[s.x], r[s.y], r[s.z]); };
    auto load = [&](unsigned word) {
      loadsFirst |= word == 0;
      return words[word];
    };
    switch (s.kind) {
      case Step::Fma: r[s.to] = exact(FloatOp::Fma); break;
      case Step::Horner:
        r[s.to] = referenceFloat(FloatOp::Fma, 32, Rounding::NearestEven, r[s.x], r[s.y], coefficients[s.word]);
        break;
      case Step::Mul: r[s.to] = exact(FloatOp::Mul); break;
      case Step::Add: r[s.to] = exact(FloatOp::Add); break;
      case Step::Sub: r[s.to] = exact(FloatOp::Sub); break;
      case Step::Neg: r[s.to] = r[s.x] ^ 0x8000'0000; break;
      case Step::Copy: r[s.to] = r[s.x]; break;
      case Step::Min: {
        const uint64_t x = r[s.x], y = r[s.y];
        const bool bothZero = ((x | y) & 0x7FFF'FFFF) == 0;
        if (isNan("f32", x)) r[s.to] = y;
        else if (isNan("f32", y)) r[s.to] = x;
        else r[s.to] = bothZero ? x | y : isLess(x, y) ? x : y;
        break;
      }
      case Step::Choose: r[s.to] = isLess(r[s.x], r[s.y]) ? r[s.z] : r[s.x]; break;
      case Step::Load: r[s.to] = load(s.word); break;
      case Step::LoadFrom: r[s.to] = load((r[s.x] & 0x7FFF'FFFF) == 0 ? 0 : 1); break;
      case Step::Store: words[s.word] = r[s.x]; break;
      case Step::Constant: r[s.to] = s.word % 2 ? 0x3FA0'0000 : 0; break;
    }
  }
};

// As the repair sees them: usual, small, denormal, zero, about where it begins to look closer, of any kind.
uint64_t number(std::mt19937_64& random, unsigned kind) {
  const uint64_t bits = random() & 0x807F'FFFF;
  switch (kind) {
    case 0:
    case 1: return bits | (124 + random() % 6) << 23;
    case 2: return bits | ((random() % 2 ? 60 : 69) + random() % 8) << 23;
    case 3: return random() % 2 ? bits : bits & 0x8000'0000;
    case 4: return bits | ((random() % 2 ? 1 : 220) + random() % 30) << 23;  // a large one makes more of a denormal
    case 5: return bits | (84 + random() % 6) << 23;
    case 6: return (random() & 0x8000'0000) | (124 + random() % 6) << 23 | 0x800;  // whose products lie in the middle
    default: return randomFloat(random, 32, 23);
  }
}

TEST(FmaRegions, RandomGraphsKeepDenormals) {
  const uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 1000);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const Graph graph(random);
    Device device = devices()[random() % 2 ? 2 : 4];
    device.profile.maxSharedBytes = 49152;
    Snippet snippet(graph.text(), repeated("f32", kRegisters), "f32 f32 f32 f32", device.profile);
    ASSERT_TRUE(snippet.isValid()) << graph.text() << snippet.messages();
    const bool isInRuns = random() % 4 == 0;
    const FloatModel model = makeExact(snippet, device, isInRuns ? passes::Repair::Runs : passes::Repair::Regions);
    for (int k = 0; k < 40; ++k) {
      Inputs inputs;
      const unsigned usual = random() % 2 ? 0 : random() % 8;
      for (unsigned i = 0; i < kInputs; ++i) inputs.push_back(number(random, random() % 3 ? usual : random() % 8));
      // The first word is for wrong numbers alone: it is not stored, and to load it is a failure.
      const Graph::Result want = graph.run(inputs);
      if (want.loadsFirst) continue;
      const std::vector<uint64_t> got = snippet.run(inputs, model);
      for (unsigned r = 0; r < kRegisters; ++r)
        ASSERT_TRUE(got[r] == want.registers[r] || (isNan("f32", got[r]) && isNan("f32", want.registers[r])))
            << device.name << ", seed " << seed << std::hex << ": %d" << r << " is " << got[r] << ", not "
            << want.registers[r] << " of " << inputs[0] << " " << inputs[1] << " " << inputs[2] << " " << inputs[3]
            << "\n"
            << graph.text() << snippet.print();
    }
  }
}

}  // namespace
}  // namespace mulciber::test
