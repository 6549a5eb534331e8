// Logic, shifts, bit fields and permutations against what the PTX manual says.
#include <algorithm>
#include <bit>

#include "support/arith_inputs.h"
#include "translator/lower/lop3.h"

namespace mulciber::test {
namespace {

bool bit(uint64_t v, uint64_t i) { return i < 64 && (v >> i & 1); }

TEST(ArithBits, ComputesLogic) {
  for (std::string r : {"b16", "b32", "b64"}) {
    unsigned bits = static_cast<unsigned>(std::stoul(r.substr(1)));
    std::string tail = "." + r + " %d0, %a0, %a1;", rr = r + " " + r;
    check("and" + tail, r, rr, [](const Inputs& x) { return Inputs{x[0] & x[1]}; });
    check("or" + tail, r, rr, [](const Inputs& x) { return Inputs{x[0] | x[1]}; });
    check("xor" + tail, r, rr, [](const Inputs& x) { return Inputs{x[0] ^ x[1]}; });
    check("not." + r + " %d0, %a0;", r, r, [=](const Inputs& x) { return Inputs{lowBits(~x[0], bits)}; });
    check("cnot." + r + " %d0, %a0;", r, r, [](const Inputs& x) { return Inputs{x[0] == 0}; });
  }
  check("and.pred %d0, %a0, !%a1;", "pred", "pred pred", [](const Inputs& x) { return Inputs{x[0] & ~x[1] & 1}; });
}

size_t operationsOfTruthTable(unsigned table) {
  ir::Function function;
  ir::Block* const block = function.addBlock();
  ir::Builder b(function, block);
  ir::Instruction* const operands[] = {b.undef(ir::I32), b.undef(ir::I32), b.undef(ir::I32)};
  lower::emitTruthTable(b, static_cast<uint8_t>(table), operands[0], operands[1], operands[2]);
  return block->instructions.size() - std::size(operands);
}

TEST(ArithBits, ComputesEveryTruthTableInFewOperations) {
  size_t worst = 0;
  for (unsigned table = 0; table < 256; table++) {
    worst = std::max(worst, operationsOfTruthTable(table));
    auto expect = [=](const Inputs& x) {
      uint64_t result = 0;
      for (unsigned i = 0; i < 32; i++)
        result |= uint64_t(table >> (bit(x[0], i) << 2 | bit(x[1], i) << 1 | int(bit(x[2], i))) & 1) << i;
      return Inputs{result};
    };
    check("lop3.b32 %d0, %a0, %a1, %a2, " + std::to_string(table) + ";", "b32", "b32 b32 b32", expect, 8);
  }
  EXPECT_LE(worst, 6u);
  EXPECT_EQ(operationsOfTruthTable(0x80), 2u);  // a & b & c
  EXPECT_EQ(operationsOfTruthTable(0x96), 2u);  // a ^ b ^ c
  EXPECT_EQ(operationsOfTruthTable(0xCA), 3u);  // a ? b : c
  // Of a larger number the low eight bits count.
  check("lop3.b32 %d0, %a0, %a1, %a2, 384;", "b32", "b32 b32 b32",
        [](const Inputs& x) { return Inputs{x[0] & x[1] & x[2]}; });
  check("lop3.or.b32 %d0|%d1, %a0, %a1, %a2, 128, %a3;", "b32 pred", "b32 b32 b32 pred", [](const Inputs& x) {
    uint64_t result = x[0] & x[1] & x[2];
    return Inputs{result, uint64_t(result != 0) | x[3]};
  });
}

TEST(ArithBits, ClampsShiftAmounts) {
  for (unsigned bits : {16u, 32u, 64u}) {
    std::string w = std::to_string(bits), r = "b" + w;
    check("shl.b" + w + " %d0, %a0, %a1;", r, r + " b32",
          [=](const Inputs& x) { return Inputs{x[1] >= bits ? 0 : lowBits(x[0] << x[1], bits)}; });
    check("shr.u" + w + " %d0, %a0, %a1;", r, r + " b32",
          [=](const Inputs& x) { return Inputs{x[1] >= bits ? 0 : x[0] >> x[1]}; });
    check("shr.s" + w + " %d0, %a0, %a1;", r, r + " b32", [=](const Inputs& x) {
      return Inputs{lowBits(uint64_t(signExtend(x[0], bits) >> std::min<uint64_t>(x[1], bits - 1)), bits)};
    });
    for (unsigned amount : {0u, 1u, 15u, 16u, 31u, 32u, 63u, 64u, 255u}) {
      std::string n = std::to_string(amount);
      check(
          "shl.b" + w + " %d0, %a0, " + n + ";", r, r,
          [=](const Inputs& x) { return Inputs{amount >= bits ? 0 : lowBits(x[0] << amount, bits)}; }, 10);
      check(
          "shr.s" + w + " %d0, %a0, " + n + ";", r, r,
          [=](const Inputs& x) {
            return Inputs{lowBits(uint64_t(signExtend(x[0], bits) >> std::min(amount, bits - 1)), bits)};
          },
          10);
    }
  }
}

TEST(ArithBits, ShiftsPairsOfWords) {
  for (bool left : {true, false}) {
    for (bool wraps : {true, false}) {
      auto shift = [=](uint64_t low, uint64_t high, uint64_t amount) {
        unsigned n = static_cast<unsigned>(wraps ? amount & 31 : std::min<uint64_t>(amount, 32));
        uint64_t both = high << 32 | low;
        if (!left) return Inputs{lowBits(both >> n, 32)};
        return Inputs{n == 32 ? low : lowBits(both << n >> 32, 32)};
      };
      std::string op = std::string("shf.") + (left ? "l" : "r") + (wraps ? ".wrap" : ".clamp") + ".b32 %d0, %a0, %a1, ";
      check(op + "%a2;", "b32", "b32 b32 b32", [=](const Inputs& x) { return shift(x[0], x[1], x[2]); });
      for (unsigned n : {0u, 5u, 31u, 32u, 40u})
        check(
            op + std::to_string(n) + ";", "b32", "b32 b32", [=](const Inputs& x) { return shift(x[0], x[1], n); }, 10);
    }
  }
}

TEST(ArithBits, CountsAndFinds) {
  for (unsigned bits : {32u, 64u}) {
    std::string w = std::to_string(bits), r = "b" + w;
    auto highest = [](uint64_t v) { return v == 0 ? 0xFFFFFFFF : 63u - unsigned(std::countl_zero(v)); };
    check("popc.b" + w + " %d0, %a0;", "b32", r, [](const Inputs& x) { return Inputs{uint64_t(std::popcount(x[0]))}; });
    check("clz.b" + w + " %d0, %a0;", "b32", r,
          [=](const Inputs& x) { return Inputs{uint64_t(std::countl_zero(x[0])) - (64 - bits)}; });
    check("brev.b" + w + " %d0, %a0;", r, r, [=](const Inputs& x) {
      uint64_t result = 0;
      for (unsigned i = 0; i < bits; i++) result |= uint64_t(bit(x[0], i)) << (bits - 1 - i);
      return Inputs{result};
    });
    for (bool isSigned : {false, true}) {
      std::string type = (isSigned ? ".s" : ".u") + w;
      auto find = [=](uint64_t v) { return highest(isSigned && bit(v, bits - 1) ? lowBits(~v, bits) : v); };
      check("bfind" + type + " %d0, %a0;", "b32", r, [=](const Inputs& x) { return Inputs{find(x[0])}; });
      check("bfind.shiftamt" + type + " %d0, %a0;", "b32", r, [=](const Inputs& x) {
        uint64_t found = find(x[0]);
        return Inputs{found == 0xFFFFFFFF ? found : bits - 1 - found};
      });
    }
  }
}

TEST(ArithBits, FindsTheNthSetBit) {
  check(
      "fns.b32 %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32",
      [](const Inputs& x) {
        int64_t base = int64_t(x[1]), offset = signExtend(x[2], 32);
        if (offset == INT32_MIN) return Inputs{0};  // as NVIDIA's hardware
        if (offset == 0) return Inputs{bit(x[0], x[1]) && x[1] < 32 ? x[1] : 0xFFFFFFFF};
        int64_t left = std::abs(offset) - 1, step = offset > 0 ? 1 : -1;
        for (int64_t i = base; i >= 0 && i < 32; i += step)
          if (bit(x[0], uint64_t(i)) && left-- == 0) return Inputs{uint64_t(i)};
        return Inputs{0xFFFFFFFF};
      },
      3000);
}

TEST(ArithBits, ExtractsAndInsertsFields) {
  for (unsigned bits : {32u, 64u}) {
    std::string w = std::to_string(bits), r = "b" + w;
    auto reduce = [=](uint64_t v) { return bits == 32 ? v & 0xFF : v; };
    auto insert = [=](uint64_t a, uint64_t b, uint64_t position, uint64_t length) {
      uint64_t p = reduce(position), n = reduce(length);
      for (uint64_t i = 0; i < n && p + i < bits; i++)
        b = (b & ~(uint64_t(1) << (p + i))) | uint64_t(bit(a, i)) << (p + i);
      return Inputs{b};
    };
    for (bool isSigned : {false, true}) {
      auto extract = [=](uint64_t v, uint64_t position, uint64_t length) {
        uint64_t p = reduce(position), n = reduce(length), result = 0;
        bool sign = isSigned && n != 0 && bit(v, std::min<uint64_t>(p + n - 1, bits - 1));
        for (uint64_t i = 0; i < bits; i++) result |= uint64_t(i < n && p + i < bits ? bit(v, p + i) : sign) << i;
        return Inputs{result};
      };
      std::string type = (isSigned ? ".s" : ".u") + w;
      check(
          "bfe" + type + " %d0, %a0, %a1, %a2;", r, r + " b32 b32",
          [=](const Inputs& x) { return extract(x[0], x[1], x[2]); }, 2000);
      for (auto [p, n] :
           {std::pair{0u, 8u}, {8u, 24u}, {31u, 1u}, {30u, 8u}, {0u, 32u}, {5u, 0u}, {40u, 10u}, {0u, 64u}})
        check(
            "bfe" + type + " %d0, %a0, " + std::to_string(p) + ", " + std::to_string(n) + ";", r, r,
            [extract, position = p, count = n](const Inputs& x) { return extract(x[0], position, count); }, 20);
    }
    check(
        "bfi.b" + w + " %d0, %a0, %a1, %a2, %a3;", r, r + " " + r + " b32 b32",
        [=](const Inputs& x) { return insert(x[0], x[1], x[2], x[3]); }, 2000);
    check("bfi.b" + w + " %d0, %a0, %a1, 8, 12;", r, r + " " + r,
          [=](const Inputs& x) { return insert(x[0], x[1], 8, 12); });
  }
}

TEST(ArithBits, ExtendsAndMasks) {
  for (bool wraps : {true, false}) {
    std::string mode = wraps ? ".wrap" : ".clamp";
    for (bool isSigned : {true, false})
      check("szext" + mode + (isSigned ? ".s32" : ".u32") + " %d0, %a0, %a1;", "b32", "b32 b32", [=](const Inputs& x) {
        unsigned n = static_cast<unsigned>(wraps ? x[1] & 31 : std::min<uint64_t>(x[1], 32));
        if (n == 0) return Inputs{0};
        return Inputs{lowBits(isSigned ? uint64_t(signExtend(lowBits(x[0], n), n)) : lowBits(x[0], n), 32)};
      });
    check("bmsk" + mode + ".b32 %d0, %a0, %a1;", "b32", "b32 b32", [=](const Inputs& x) {
      uint64_t first = wraps ? x[0] & 31 : x[0], count = wraps ? x[1] & 31 : x[1], result = 0;
      for (uint64_t i = 0; i < 32; i++) result |= uint64_t(i >= first && i - first < count) << i;
      return Inputs{result};
    });
  }
}

TEST(ArithBits, PermutesBytes) {
  auto permute = [](uint64_t a, uint64_t b, uint64_t selector) {
    uint64_t both = b << 32 | a, result = 0;
    for (unsigned i = 0; i < 4; i++) {
      uint64_t nibble = selector >> (4 * i), byte = both >> (8 * (nibble & 7)) & 0xFF;
      if (nibble & 8) byte = byte & 0x80 ? 0xFF : 0;
      result |= byte << (8 * i);
    }
    return Inputs{result};
  };
  check(
      "prmt.b32 %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32", [=](const Inputs& x) { return permute(x[0], x[1], x[2]); },
      1000);
  std::mt19937 random(1);
  for (uint32_t selector : {0x3210u, 0x5410u, 0x7632u, 0x0123u, 0x4440u, 0x8888u, 0xBA98u, 0x7351u, 0x1032u})
    check(
        "prmt.b32 %d0, %a0, %a1, " + std::to_string(selector) + ";", "b32", "b32 b32",
        [=](const Inputs& x) { return permute(x[0], x[1], selector); }, 20);
  for (int i = 0; i < 100; i++) {
    uint32_t selector = random() & 0xFFFF;
    check(
        "prmt.b32 %d0, %a0, %a1, " + std::to_string(selector) + ";", "b32", "b32 b32",
        [=](const Inputs& x) { return permute(x[0], x[1], selector); }, 5);
  }
  // The named modes, by the distance or byte that the selector's low two bits give.
  auto named = [&](const std::string& mode, const std::function<unsigned(unsigned, unsigned)>& source) {
    auto expect = [=](const Inputs& x, uint64_t selector) {
      unsigned n = selector & 3, result = 0;
      for (unsigned i = 0; i < 4; i++) result |= (source(n, i) & 7) << (4 * i);
      return permute(x[0], x[1], result);
    };
    check("prmt.b32." + mode + " %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32",
          [=](const Inputs& x) { return expect(x, x[2]); });
    for (unsigned n = 0; n < 4; n++)
      check(
          "prmt.b32." + mode + " %d0, %a0, %a1, " + std::to_string(n) + ";", "b32", "b32 b32",
          [=](const Inputs& x) { return expect(x, n); }, 5);
  };
  named("f4e", [](unsigned n, unsigned i) { return n + i; });
  named("b4e", [](unsigned n, unsigned i) { return n - i; });
  named("rc8", [](unsigned n, unsigned) { return n; });
  named("ecl", [](unsigned n, unsigned i) { return std::max(n, i); });
  named("ecr", [](unsigned n, unsigned i) { return std::min(n, i); });
  named("rc16", [](unsigned n, unsigned i) { return (n & 1) * 2 + (i & 1); });
}

TEST(ArithBits, ComparesIntegers) {
  auto holds = [](const std::string& op, auto a, auto b) {
    if (op == "eq") return a == b;
    if (op == "ne") return a != b;
    if (op == "lt" || op == "lo") return a < b;
    if (op == "le" || op == "ls") return a <= b;
    if (op == "gt" || op == "hi") return a > b;
    return a >= b;
  };
  for (unsigned bits : {16u, 32u, 64u}) {
    std::string w = std::to_string(bits), rr = "b" + w + " b" + w;
    for (std::string op : {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"}) {
      check(
          "setp." + op + ".u" + w + " %d0, %a0, %a1;", "pred", rr,
          [=](const Inputs& x) { return Inputs{holds(op, x[0], x[1])}; }, 100);
      if (op == "lo" || op == "ls" || op == "hi" || op == "hs") continue;
      auto compare = [=](const Inputs& x) { return holds(op, signExtend(x[0], bits), signExtend(x[1], bits)); };
      check(
          "setp." + op + ".and.s" + w + " %d0|%d1, %a0, %a1, !%a2;", "pred pred", rr + " pred",
          [=](const Inputs& x) {
            bool third = !x[2];
            return Inputs{compare(x) && third, !compare(x) && third};
          },
          100);
      check(
          "set." + op + ".xor.u32.s" + w + " %d0, %a0, %a1, %a2;", "b32", rr + " pred",
          [=](const Inputs& x) { return Inputs{compare(x) != bool(x[2]) ? 0xFFFFFFFF : 0}; }, 100);
      check(
          "set." + op + ".f32.s" + w + " %d0, %a0, %a1;", "f32", rr,
          [=](const Inputs& x) { return Inputs{compare(x) ? 0x3F800000u : 0}; }, 100);
    }
  }
  check("selp.b64 %d0, %a0, %a1, %a2;", "b64", "b64 b64 pred",
        [](const Inputs& x) { return Inputs{x[2] ? x[0] : x[1]}; });
  check("slct.u32.s32 %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32",
        [](const Inputs& x) { return Inputs{signExtend(x[2], 32) >= 0 ? x[0] : x[1]}; });
}

}  // namespace
}  // namespace mulciber::test
