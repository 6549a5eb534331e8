// Numbers joined of bytes or of bits of other numbers, in every order, in kernels that have a root or a quotient too.
// Compilers of devices make permutations of bytes of them, and translate kernels that call routines in another way than
// others.
#include <array>
#include <numeric>
#include <random>

#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 32;

// Numbers of `bits` bits, from the bit `from` of {x}, or of {y}, to the bit `to` of {z}.
struct Piece {
  unsigned from, to, bits;
  bool ofSecond = false;
};
using Join = std::vector<Piece>;

struct Random : std::mt19937_64 {
  using std::mt19937_64::mt19937_64;
  unsigned below(unsigned count) { return static_cast<unsigned>((*this)() % count); }
};

// Every word of bytes of one word.
std::vector<Join> allOfOneWord() {
  std::vector<Join> joins(625);
  for (unsigned number = 0; number < 625; ++number)
    for (unsigned to = 0, left = number; to < 4; ++to, left /= 5)
      if (left % 5 != 4) joins[number].push_back({8 * (left % 5), 8 * to, 8});
  return joins;
}

// Of bytes of one number or of two; every second has few that are not zero.
std::vector<Join> someOfBytes(unsigned width, bool ofTwo, Random& random) {
  const unsigned bytes = width / 8;
  std::vector<Join> joins(250);
  for (Join& join : joins) {
    std::vector<unsigned> places(bytes);
    std::iota(places.begin(), places.end(), 0);
    std::ranges::shuffle(places, random);
    if (random.below(2) == 0) places.resize(2);
    for (const unsigned to : places)
      join.push_back({8 * random.below(bytes), 8 * to, 8, ofTwo && random.below(2) == 1});
  }
  return joins;
}

// The lowest `count` bits in the opposite order: all, the first and the last alone, and some.
std::vector<Join> reversedBits(unsigned count, Random& random) {
  std::vector<Join> joins(4);
  for (unsigned from = 0; from < count; ++from)
    for (unsigned k = 0; k < 4; ++k)
      if (k == 0 || from == 0 || (from == count - 1 && k != 3) || (k > 1 && random.below(3) == 0))
        joins[k].push_back({from, count - 1 - from, 1});
  return joins;
}

// What is added to the number that every second join takes bytes of: zero in some bytes, with a carry from others.
uint64_t addend(size_t number) { return number % 2 == 0 ? 0 : 0x8000'0001'8000'00FF; }

uint64_t ones(unsigned bits) { return ~uint64_t{0} >> (64 - bits); }

// Makes {p} of a piece.
std::string textOf(const Piece& piece, unsigned width, Random& random) {
  const std::string w = std::to_string(width), x = piece.ofSecond ? "{y}" : "{x}";
  const auto mask = [&](unsigned place) { return std::to_string(ones(piece.bits) << place); };
  const bool up = piece.from < piece.to;
  const std::string shift = up ? "shl.b" + w : "shr.u" + w;
  const std::string distance = std::to_string(up ? piece.to - piece.from : piece.from - piece.to);
  switch (random.below(width == 16 ? 2 : 3)) {
    case 0: return shift + " {p}, " + x + ", " + distance + "; and.b" + w + " {p}, {p}, " + mask(piece.to) + "; ";
    case 1:
      return "and.b" + w + " {p}, " + x + ", " + mask(piece.from) + "; " + shift + " {p}, {p}, " + distance + "; ";
    default:
      return "bfe.u" + w + " {p}, " + x + ", " + std::to_string(piece.from) + ", " + std::to_string(piece.bits) +
             "; shl.b" + w + " {p}, {p}, " + std::to_string(piece.to) + "; ";
  }
}

// Makes {z} of {x} and {y}, of the pieces in any order and in any spelling.
std::string textOf(Join join, unsigned width, Random& random) {
  std::ranges::shuffle(join, random);
  static constexpr std::array operations = {"or.b", "xor.b", "add.u"};
  const std::string w = std::to_string(width), operation = operations[random.below(3)] + w;
  std::string text = "mov.b" + w + " {z}, 0; ";
  for (const Piece& piece : join) text += textOf(piece, width, random) + operation + " {z}, {z}, {p}; ";
  return text;
}

uint64_t valueOf(const Join& join, uint64_t x, uint64_t y) {
  uint64_t value = 0;
  for (const Piece& piece : join) value |= ((piece.ofSecond ? y : x) >> piece.from & ones(piece.bits)) << piece.to;
  return value;
}

const char* const routines[] = {"sqrt.rn.f64 %fd2, %fd1; st.global.f64 [%rd2], %fd2;",
                                "rcp.rm.f32 %f2, %f1; st.global.f32 [%rd2], %f2;",
                                "div.u64 %rd9, %rd2, %rd8; st.global.u64 [%rd2], %rd9;", ""};

class ByteJoinsPtx : public PtxTest {
 protected:
  // Each join has numbers of its own, so that no two have a part in common.
  void expectJoins(const std::vector<Join>& joins, unsigned width, Random& random) {
    expectJoins(joins, std::vector<Join>(joins.size()), width, random);
  }
  // The bytes of what the first one joins are joined once more, where there is a second one.
  void expectJoins(const std::vector<Join>& joins, const std::vector<Join>& again, unsigned width, Random& random) {
    constexpr size_t most = 125;
    const bool isSlow = device->physical().isCpu();  // some of them tell whether the test itself is right
    Buffer in(*device, 2 * most * threads * 8), out(*device, (most + 1) * threads * 8);
    for (uint32_t i = 0; i < 2 * most * threads; ++i) in.as<uint64_t>()[i] = random();
    const std::string letters = width == 64 ? "%rd" : width == 32 ? "%r" : "%rs", w = std::to_string(width);
    for (const char* routine : routines) {
      if (isSlow && routine != routines[0]) break;
      for (size_t first = 0; first < joins.size(); first += isSlow ? 4 * most : most) {
        const size_t count = std::min(isSlow ? most / 4 : most, joins.size() - first);
        std::string body;
        std::vector<std::string> texts;
        for (size_t k = 0; k < count; ++k) {
          const std::string sum = "add.u" + w + " {x}, {x}, " + std::to_string(addend(k) & ones(width)) + "; ";
          texts.push_back((addend(k) == 0 ? "" : sum) + textOf(joins[first + k], width, random));
          if (!again[first + k].empty())
            texts.back() += "mov.b" + w + " {x}, {z}; " + textOf(again[first + k], width, random);
          body += "add.u64 %rd2, %rd2, 256; ld.global.u" + w + " {x}, [%rd1]; ld.global.u" + w +
                  " {y}, [%rd1+256]; add.u64 %rd1, %rd1, 512;\n" + texts.back() + "st.global.u" + w + " [%rd2], {z};\n";
        }
        unsigned number = 4;
        for (const char* name : {"{x}", "{y}", "{p}", "{z}"})
          body = replaced(body, name, letters + std::to_string(number++));
        Launch launch;
        launch.block[0] = threads;
        launch.add(in.address()).add(out.address());
        runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<10>; .reg .f32 %f<4>; .reg .f64 %fd<4>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd8, %r1, 8;
  add.u64 %rd1, %rd1, %rd8; add.u64 %rd2, %rd2, %rd8; add.u64 %rd8, %rd8, 3;
  cvt.rn.f64.u32 %fd1, %r1; cvt.rn.f32.u32 %f1, %r1; )" +
                   std::string(routine) + "\n" + body + "ret;\n}\n",
               launch, device->profile());
        const uint64_t mask = ones(width);
        for (size_t k = 0; k < count; ++k)
          for (uint32_t i = 0; i < threads; ++i) {
            const uint64_t* numbers = in.as<uint64_t>() + 2 * k * threads + i;
            const uint64_t x = (numbers[0] + addend(k)) & mask, y = numbers[threads] & mask;
            uint64_t right = valueOf(joins[first + k], x, y);
            if (!again[first + k].empty()) right = valueOf(again[first + k], right, y);
            const uint64_t stored = out.as<uint64_t>()[(k + 1) * threads + i] & mask;
            EXPECT_EQ(stored, right) << texts[k] << " of " << numbers[0] << " and " << numbers[threads] << " beside "
                                     << routine;
            if (stored != right) break;
          }
      }
    }
  }
};

TEST_F(ByteJoinsPtx, OfOneWord) {
  Random random(21);
  for (int round = 0; round < 3; ++round) expectJoins(allOfOneWord(), 32, random);
}

TEST_F(ByteJoinsPtx, OfNumbers) {
  Random random(22);
  for (const unsigned width : {16, 32, 64})
    for (const bool ofTwo : {false, true}) expectJoins(someOfBytes(width, ofTwo, random), width, random);
}

// Half of them are put in the opposite order.
TEST_F(ByteJoinsPtx, OfJoins) {
  Random random(23);
  for (const unsigned width : {32, 64})
    for (int round = 0; round < 6; ++round) {
      if (isLeftOut(5)) continue;
      const std::vector<Join> joins = someOfBytes(width, false, random);
      std::vector<Join> again = someOfBytes(width, false, random);
      for (size_t k = 0; k < again.size(); k += 2) {
        again[k].clear();
        for (unsigned from = 0; from < width; from += 8) again[k].push_back({from, width - 8 - from, 8});
      }
      expectJoins(joins, again, width, random);
    }
}

TEST_F(ByteJoinsPtx, OfBits) {
  Random random(24);
  for (const unsigned width : {32, 64})
    for (unsigned count = 2; count <= width; ++count)
      if (!device->physical().isCpu() || count % 16 == 2 || count == width)
        expectJoins(reversedBits(count, random), width, random);
}

}  // namespace
}  // namespace mulciber::test
