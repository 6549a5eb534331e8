// Addition to square root in every rounding mode, for every kind of device. MATH-01 to MATH-04.
#include <algorithm>
#include <bit>
#include <iomanip>
#include <random>

#include "support/float_checks.h"

namespace mulciber::test {
namespace {

struct Operation {
  const char* name;
  FloatOp op;
  unsigned operands;
};
constexpr Operation operations[] = {{"add", FloatOp::Add, 2}, {"sub", FloatOp::Sub, 2}, {"mul", FloatOp::Mul, 2},
                                    {"fma", FloatOp::Fma, 3}, {"div", FloatOp::Div, 2}, {"sqrt", FloatOp::Sqrt, 1},
                                    {"rcp", FloatOp::Div, 1}};

uint64_t compute(const Operation& operation, unsigned bits, Rounding rounding, const Inputs& x) {
  if (std::string(operation.name) == "rcp")
    return referenceFloat(FloatOp::Div, bits, rounding, fromDouble(bits, 1), x[0], 0);
  return referenceFloat(operation.op, bits, rounding, x[0], x.size() > 1 ? x[1] : 0, x.size() > 2 ? x[2] : 0);
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

// The hardware makes a zero of what is below the smallest normal number before it is rounded to denormals.
TEST(ArithFloat, FlushesWhatOnlyRoundingRaises) {
  struct Row {
    uint32_t x, y, z, result;
  };
  constexpr Row rows[] = {{0xBF7F'FFFF, 0x8080'0000, 0x8000'0000, 0},
                          {0x8080'0000, 0xBF7F'FFFF, 0x40'0000, 0},
                          {0x3F7F'FFFF, 0x8080'0000, 0x8000'0000, 0x8000'0000},
                          {0x3F80'0000, 0x80'0000, 0, 0x80'0000},
                          {0x3F7F'FFFE, 0x80'0001, 0, 0x80'0000}};
  for (const Device& device : devices()) {
    if (!device.model.fmaKeepsDenormals32) continue;  // it flushes by itself, in its own way
    Snippet snippet("fma.rn.ftz.f32 %d0, %a0, %a1, %a2;", "f32", "f32 f32 f32", device.profile);
    ASSERT_TRUE(snippet.isValid()) << snippet.messages();
    passes::LegalizeFloats pass;
    snippet.apply(pass, device.profile);
    for (const Row& row : rows)
      EXPECT_EQ(snippet.run({row.x, row.y, row.z}, device.model)[0], row.result)
          << device.name << std::hex << " " << row.x;
  }
}

// What nvcc makes of expf: the addend is a constant that the sum stays near.
TEST(ArithFloat, RoundsSumsWithAConstant) {
  for (uint32_t addend : {0x4B400001u, 0xCB400001u, 0x3F800000u, 0xBF800000u, 0x36000000u, 0x71000000u, 0x7F000000u})
    for (auto [suffix, rounding] : roundings)
      for (bool flush : {false, true}) {
        Rounding mode = rounding;
        std::ostringstream text;
        text << "fma" << suffix << (flush ? ".ftz" : "") << ".f32 %d0, %a0, %a1, 0f" << std::hex << std::uppercase
             << addend << ";";
        checkFloat(text.str(), "f32", "f32 f32", [&](Inputs x) {
          if (flush)
            for (uint64_t& v : x) v = flushed(v);
          uint64_t exact = referenceFloat(FloatOp::Fma, 32, mode, x[0], x[1], addend);
          return flush ? flushed(exact) : exact;
        });
      }
}

// Numbers of all sizes around those where what a rounding loses is denormal, and denormal factors of large ones.
TEST(ArithFloat, RoundsWhatLosesDenormals) {
  std::mt19937_64 random(29);
  auto number = [&](unsigned bits, int exponent) {
    const unsigned mantissa = bits == 32 ? 23 : 52, bias = bits == 32 ? 127 : 1023;
    const int field = std::clamp(exponent + int(bias), 0, 2 * int(bias) + 1);
    const uint64_t fraction = random() & ((uint64_t(1) << mantissa) - 1);
    const uint64_t kept = random() % 2 ? fraction : fraction & (~uint64_t(0) << (random() % mantissa));
    return uint64_t(field) << mantissa | kept | random() % 2 << (bits - 1);
  };
  struct Row {
    const char* name;
    FloatOp op;
    unsigned bits;
    bool flush, keeps;  // .ftz, in a kernel that keeps denormals
  };
  constexpr Row rows[] = {{"add", FloatOp::Add, 32, false, true}, {"add", FloatOp::Add, 32, true, false},
                          {"add", FloatOp::Add, 32, true, true},  {"mul", FloatOp::Mul, 32, false, true},
                          {"mul", FloatOp::Mul, 32, true, false}, {"mul", FloatOp::Mul, 32, true, true},
                          {"fma", FloatOp::Fma, 32, false, true}, {"fma", FloatOp::Fma, 32, true, false},
                          {"fma", FloatOp::Fma, 32, true, true},  {"add", FloatOp::Add, 64, false, true},
                          {"fma", FloatOp::Fma, 64, false, true}};
  for (const Row& row : rows)
    for (auto [suffix, rounding] : roundings) {
      const unsigned count = row.op == FloatOp::Fma ? 3 : 2;
      const std::string type = "f" + std::to_string(row.bits);
      const std::string text = row.name + std::string(suffix) + (row.flush ? ".ftz." : ".") + type + registers(count) +
                               (row.flush && row.keeps ? " abs.f32 %d1, %a0;" : "");
      for (const Device& device : devices()) {
        if (row.bits == 64 && !device.profile.float64) continue;
        Snippet snippet(text, type + " " + type, repeated(type, count), device.profile);
        ASSERT_TRUE(snippet.isValid()) << text << "\n" << snippet.messages();
        const FloatModel model = makeExact(snippet, device);
        const int least = row.bits == 32 ? -127 : -1023, digits = row.bits == 32 ? 24 : 53;
        for (int n = 0; n < 1500; n++) {
          const int size = least + int(random() % unsigned(3 * digits));  // of the result
          const int part = int(random() % unsigned(6 * digits)) - 3 * digits;
          Inputs x = {number(row.bits, size), number(row.bits, size + part % digits)};
          if (row.op != FloatOp::Add) {
            const int factor = int(random() % unsigned(-2 * least)) + least;
            x = {number(row.bits, factor), number(row.bits, size - factor)};
          }
          if (count == 3 && n % 4 == 0)
            x.push_back((referenceFloat(FloatOp::Mul, row.bits, Rounding::NearestEven, x[0], x[1], 0) ^
                         uint64_t(1) << (row.bits - 1)) +
                        random() % 3);
          else if (count == 3) x.push_back(number(row.bits, size + part));
          Inputs read = x;
          if (row.flush)
            for (uint64_t& v : read) v = flushed(v);
          uint64_t want = referenceFloat(row.op, row.bits, rounding, read[0], read[1], count == 3 ? read[2] : 0);
          if (row.flush && (want & 0x7FFF'FFFF) == 0x80'0000) continue;  // raised to it, maybe
          if (row.flush) want = flushed(want);
          const uint64_t got = snippet.run(x, model)[0];
          ASSERT_TRUE(got == want || (isNanBits(row.bits, want) && isNanBits(row.bits, got)))
              << device.name << ": " << text << std::hex << " " << x[0] << " " << x[1] << " " << x.back() << " gives "
              << got << ", not " << want;
        }
      }
    }
}

// Directed sums, which much of CUDA's library is made of, are short.
TEST(ArithFloat, RoundsSumsWithoutABranch) {
  for (const Device& device : devices())
    for (const char* type : {"f32", "f64"}) {
      if (type[1] == '6' && !device.profile.float64) continue;
      for (const char* operation : {"add.rz.", "sub.rm.", "add.rp."}) {
        Snippet snippet(operation + std::string(type) + " %d0, %a0, %a1;", type, repeated(type, 2), device.profile);
        ASSERT_TRUE(snippet.isValid()) << snippet.messages();
        passes::LegalizeFloats pass;
        snippet.apply(pass, device.profile);
        EXPECT_EQ(snippet.program().functions[0]->blocks.size(), 1u) << device.name;
        EXPECT_EQ(snippet.print().find("fconvert"), std::string::npos) << device.name;
      }
    }
}

TEST(ArithFloat, RoundsQuotientsWithAConstant) {
  for (uint32_t constant :
       {0u, 0x80000000u, 1u, 0x7FFFFFu, 0x800000u, 0x00C90FDBu, 0x20000000u, 0x3F800000u, 0xC0490FDBu, 0x3FFFFFFFu,
        0x5DFFFFFFu, 0x5E000000u, 0x5E000001u, 0x7F7FFFFFu, 0x7F800000u, 0x7FC00000u})
    for (bool isDivisor : {false, true})
      for (bool flush : {false, true}) {
        std::ostringstream number;
        number << "0f" << std::hex << std::uppercase << std::setfill('0') << std::setw(8) << constant;
        const std::string operands = isDivisor ? "%a0, " + number.str() : number.str() + ", %a0";
        checkFloat(std::string("div.rn") + (flush ? ".ftz" : "") + ".f32 %d0, " + operands + ";", "f32", "f32",
                   [&](const Inputs& x) {
                     const uint64_t a = flush ? flushed(x[0]) : x[0], c = flush ? flushed(constant) : constant;
                     const uint64_t exact = referenceFloat(FloatOp::Div, 32, Rounding::NearestEven, isDivisor ? a : c,
                                                           isDivisor ? c : a, 0);
                     return flush ? flushed(exact) : exact;
                   });
      }
}

// As expf has it: the sum stays near the constant, and is rounded down without a branch.
TEST(ArithFloat, RoundsSumsOfBoundedProductsWithoutABranch) {
  const char* text = "{ .reg .f32 s; cvt.sat.f32.f32 s, %a0; fma.rm.f32 %d0, s, 0f437C0000, 0f4B400001; }";
  auto expect = [](const Inputs& x) {
    const float a = std::bit_cast<float>(static_cast<uint32_t>(x[0]));
    const float bounded = a > 0 ? std::min(a, 1.0f) : 0;  // 0 for a NaN
    return referenceFloat(FloatOp::Fma, 32, Rounding::Down, std::bit_cast<uint32_t>(bounded), 0x437C0000, 0x4B400001);
  };
  checkFloat(text, "f32", "f32", expect);
  for (size_t n : {0, 4}) {
    Device device = devices()[n];
    device.profile.exactMinMax = device.model.minMaxKnowsZeros = true;
    Snippet snippet(text, "f32", "f32", device.profile);
    ASSERT_TRUE(snippet.isValid()) << snippet.messages();
    passes::LegalizeFloats pass;
    TranslateOptions options;
    snippet.apply(pass, device.profile, options);
    EXPECT_EQ(snippet.program().functions[0]->blocks.size(), 1u) << device.name;
    std::mt19937 random(13);
    for (int i = 0; i < 3000; ++i) {
      const uint64_t x = 0x3F800000 - (random() >> (random() % 24));
      ASSERT_EQ(snippet.run({x}, device.model)[0], expect({x})) << std::hex << x;
    }
  }
}

// Quotients next to the middle between two numbers: for each divisor the dividends are found for which
// dividend * 2^shift - divisor * odd is as small as can be.
TEST(ArithFloat, RoundsQuotientsThatAreNearlyTies) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  auto inverse = [](uint64_t of, uint64_t modulus) {  // of odd modulus
    int64_t t = 0, next = 1, r = static_cast<int64_t>(modulus), rest = static_cast<int64_t>(of % modulus);
    while (rest != 0) {
      int64_t q = r / rest;
      t = std::exchange(next, t - q * next);
      r = std::exchange(rest, r - q * rest);
    }
    return static_cast<uint64_t>(t < 0 ? t + static_cast<int64_t>(modulus) : t);
  };
  auto addTies = [&](uint32_t divisor) {
    for (int shift : {24, 25})
      for (int rest : {-3, -2, -1, 1, 2, 3}) {
        uint64_t wanted = static_cast<uint64_t>(rest + static_cast<int64_t>(divisor)) % divisor;
        uint64_t dividend = inverse(uint64_t(1) << shift, divisor) * wanted % divisor;
        if (dividend >= 1u << 23) pairs.push_back({static_cast<uint32_t>(dividend), divisor});
        if (dividend + divisor < 1u << 24) pairs.push_back({static_cast<uint32_t>(dividend + divisor), divisor});
      }
  };
  for (uint32_t below = 1; below < 200; below += 2) addTies((1u << 24) - below);
  std::mt19937 random(7);
  for (int i = 0; i < 300; i++) addTies((1u << 23) + (random() & 0x7FFFFF) / 2 * 2 + 1);
  for (uint32_t divisor : {0xFFFFFFu, 0xFFFFFDu, 0xFFFFFBu, 0xFFFFF9u, 0xFFFFC1u, 0xFFFFBFu})
    for (uint32_t dividend : {0x800000u, 0xD55553u, 0xE66662u, 0xEDB6D5u, 0xFFFFFFu})
      pairs.push_back({dividend, divisor});
  for (int error = 0; error <= 4; error++) {
    Device device = devices()[error == 4 ? 4 : 2];
    if (error != 4) device.model.divisionError = error;
    for (const char* text : {"div.rn.f32 %d0, %a0, %a1;", "rcp.rn.f32 %d0, %a1;"}) {
      Snippet snippet(text, "f32", "f32 f32", device.profile);
      ASSERT_TRUE(snippet.isValid()) << snippet.messages();
      passes::LegalizeFloats pass;
      snippet.apply(pass, device.profile);
      for (auto [dividend, divisor] : pairs) {
        uint64_t x = dividend - (1u << 23) + 0x3F800000u, y = divisor - (1u << 23) + 0x3F800000u;
        uint64_t want = referenceFloat(FloatOp::Div, 32, Rounding::NearestEven, text[0] == 'd' ? x : 0x3F800000u, y, 0);
        ASSERT_EQ(snippet.run({x, y}, device.model)[0], want) << text << std::hex << dividend << " " << divisor;
      }
    }
  }
}

TEST(ArithFloat, RootsAreRightForEveryKindOfEstimate) {
  for (int error = 0; error <= 2; error++) {
    Device device = devices()[2];
    device.model.divisionError = error;
    Snippet snippet("sqrt.rn.f32 %d0, %a0;", "f32", "f32", device.profile);
    ASSERT_TRUE(snippet.isValid()) << snippet.messages();
    passes::LegalizeFloats pass;
    snippet.apply(pass, device.profile);
    std::vector<uint64_t> inputs = {0,          1,          2,          3,          0x7FFFFF,   0x800000,
                                    0x7F7FFFFF, 0x7F800000, 0x80000000, 0x80000001, 0xBF800000, 0x17FFFFFF,
                                    0x18000000, 0x3F800000, 0x3F800001, 0x3F7FFFFF, 0x3FFFFFFF, 0x407FFFFF};
    std::mt19937 random(11);
    for (int i = 0; i < 4000; i++) inputs.push_back(i % 3 ? 0x3F800000 + random() % 0x1000000 : random() & 0x7FFFFFFF);
    for (uint64_t x : inputs) {
      uint64_t want = referenceFloat(FloatOp::Sqrt, 32, Rounding::NearestEven, x, 0, 0);
      uint64_t got = snippet.run({x}, device.model)[0];
      ASSERT_TRUE(got == want || (isNan("f32", got) && isNan("f32", want))) << std::hex << x << " gives " << got;
    }
  }
}

// The device's rsqrt reads denormals as zeros, and so is given larger numbers, unless there can be none.
TEST(ArithFloat, ApproximationsOfWhatIsNeverDenormalAreLeftAlone) {
  auto scales = [](const char* text) {
    const Device& device = devices()[2];
    Snippet snippet(text, "f32", "f32 f32", device.profile);
    EXPECT_TRUE(snippet.isValid()) << snippet.messages();
    passes::LegalizeFloats pass;
    TranslateOptions options;
    options.exactDenormals = false;  // the repair of multiply-adds has selections of its own
    snippet.apply(pass, device.profile, options);
    const std::string lowered = snippet.print();  // an argument that may be denormal is flushed by a multiply-add
    return lowered.find("select") != std::string::npos || lowered.find("input i32 GridDimY") != std::string::npos;
  };
  EXPECT_TRUE(scales("rsqrt.approx.f32 %d0, %a0;"));
  EXPECT_FALSE(
      scales("{ .reg .f32 s, t, u; mul.rn.f32 s, %a0, %a0; fma.rn.f32 t, %a1, %a1, s;"
             " add.rn.f32 u, t, 0f3A83126F; rsqrt.approx.f32 %d0, u; }"));
  // Without the constant, with one that is negative, and where the factors differ.
  EXPECT_TRUE(
      scales("{ .reg .f32 s, t; mul.rn.f32 s, %a0, %a0; fma.rn.f32 t, %a1, %a1, s; rsqrt.approx.f32 %d0, t; }"));
  EXPECT_TRUE(
      scales("{ .reg .f32 s, t; mul.rn.f32 s, %a0, %a0; add.rn.f32 t, s, 0fBA83126F; rsqrt.approx.f32 %d0, t; }"));
  EXPECT_TRUE(
      scales("{ .reg .f32 s, t; mul.rn.f32 s, %a0, %a1; add.rn.f32 t, s, 0f3A83126F; rsqrt.approx.f32 %d0, t; }"));
  // erfcf's arguments of the reciprocal. A NaN passes through flushing as it is.
  EXPECT_TRUE(scales("{ .reg .f32 s; abs.f32 s, %a0; rcp.approx.ftz.f32 %d0, s; }"));
  EXPECT_FALSE(
      scales("{ .reg .f32 s, t; abs.f32 s, %a0; add.f32 t, s, 0f40800000; rcp.approx.ftz.f32 %d0, t;"
             " add.f32 %d0, %d0, s; }"));
  // A register written twice may hold either.
  EXPECT_TRUE(scales("{ .reg .f32 s; mul.rn.f32 s, %a0, %a0; add.rn.f32 s, s, 0f3A83126F; rsqrt.approx.f32 %d0, s; }"));
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
