#include "translator/passes/aligned_addresses.h"

#include <array>
#include <random>

#include "support/ir_interpreter.h"
#include "support/run_pass.h"
#include "translator/passes/cse.h"
#include "translator/passes/dce.h"

namespace mulciber {
namespace {

// Without what is left over.
std::string aligned(const std::string& text) {
  return test::runPass(text, [](ir::Function& function) {
    passes::alignAddresses(function);
    passes::removeCommonSubexpressions(function);
    passes::removeDeadInstructions(function);
  });
}

std::string kernel(const std::string& body) { return "kernel @k structured ssa {\n" + body + "}\n"; }

TEST(AlignedAddresses, LoopsThatStartWithASumCountElements) {
  EXPECT_EQ(aligned(kernel(R"(b0:
  %0 = input i32 LocalIndex
  %1 = const i32 3
  %2 = shl i32 %0, %1
  %3 = const i32 8192
  %4 = add i32 %2, %3
  br b1
b1:
  %5 = phi i32 [%4, b0], [%9, b5]
  loop b6 continue b5
  br b2
b2:
  %6 = const i32 0xffffe000
  %7 = add i32 %5, %6
  store %7, %0 [shared align 4]
  %8 = const i32 16384
  %9 = add i32 %5, %8
  store %9, %0 [shared align 4]
  %10 = lt.u bool %9, %3
  merge b4
  br %10, b3, b4
b3:
  br b6
b4:
  br b5
b5:
  br b1
b6:
  ret
)")),
            kernel(R"(b0:
  %0 = input i32 LocalIndex
  %1 = const i32 1
  %2 = shl i32 %0, %1
  %3 = const i32 8192
  %4 = const i32 2048
  %5 = add i32 %2, %4
  br b1
b1:
  %6 = phi i32 [%5, b0], [%14, b5]
  %7 = const i32 2
  %8 = shl i32 %6, %7
  loop b6 continue b5
  br b2
b2:
  %9 = const i32 0xffffe000
  %10 = add i32 %8, %9
  store %10, %0 [shared align 4]
  %11 = const i32 16384
  %12 = add i32 %8, %11
  %13 = const i32 4096
  %14 = add i32 %6, %13
  store %12, %0 [shared align 4]
  %15 = lt.u bool %12, %3
  merge b4
  br %15, b3, b4
b3:
  br b6
b4:
  br b5
b5:
  br b1
b6:
  ret
)"));
}

TEST(AlignedAddresses, ASumOfSumsBecomesOneOfTwoAndAConstant) {
  EXPECT_EQ(aligned(kernel(R"(b0:
  %0 = input i32 LocalIndex
  %1 = input i32 BlockIdX
  %2 = const i32 2
  %3 = shl i32 %0, %2
  %4 = const i32 132
  %5 = mul i32 %1, %4
  %6 = add i32 %3, %5
  %7 = const i32 6156
  %8 = mul i32 %0, %7
  %9 = const i32 4108
  %10 = sub i32 %9, %8
  %11 = add i32 %6, %10
  %12 = const i32 0xfffffffc
  %13 = add i32 %11, %12
  store %13, %0 [shared align 4]
  ret
)")),
            kernel(R"(b0:
  %0 = input i32 LocalIndex
  %1 = input i32 BlockIdX
  %2 = const i32 2
  %3 = const i32 33
  %4 = mul i32 %1, %3
  %5 = add i32 %0, %4
  %6 = shl i32 %5, %2
  %7 = const i32 6156
  %8 = mul i32 %0, %7
  %9 = sub i32 %6, %8
  %10 = const i32 4104
  %11 = add i32 %9, %10
  store %11, %0 [shared align 4]
  ret
)"));
}

TEST(AlignedAddresses, WideAccessesAskForMoreOfTheOperands) {
  EXPECT_EQ(aligned(kernel(R"(b0:
  %0 = input i32 LocalIndex
  %1 = input i32 BlockIdX
  %2 = const i32 24
  %3 = mul i32 %0, %2
  %4 = const i32 768
  %5 = mul i32 %1, %4
  %6 = add i32 %3, %5
  %7 = const i32 2
  %8 = shl i32 %6, %7
  %9 = const i32 16
  %10 = add i32 %8, %9
  %11 = vec <4 x i32> %0, %0, %0, %0
  store %10, %11 [shared align 16]
  ret
)")),
            kernel(R"(b0:
  %0 = input i32 LocalIndex
  %1 = input i32 BlockIdX
  %2 = const i32 6
  %3 = mul i32 %0, %2
  %4 = const i32 192
  %5 = mul i32 %1, %4
  %6 = add i32 %3, %5
  %7 = const i32 4
  %8 = shl i32 %6, %7
  %9 = const i32 16
  %10 = add i32 %8, %9
  %11 = vec <4 x i32> %0, %0, %0, %0
  store %10, %11 [shared align 16]
  ret
)"));
}

TEST(AlignedAddresses, OnlyTheLowWordOfLongAddressesCounts) {
  const std::string text = aligned(kernel(R"(b0:
  %0 = input i32 LocalIndex
  %1 = sext i64 %0
  %2 = const i64 12
  %3 = mul i64 %1, %2
  %4 = const i64 4294967296
  %5 = add i64 %3, %4
  %6 = add i64 %5, %3
  %7 = add i64 %6, %5
  %8 = trunc i32 %7
  %9 = const i32 4
  %10 = add i32 %8, %9
  store %10, %0 [shared align 4]
  ret
)"));
  EXPECT_EQ(text.find("i64"), std::string::npos) << text;
  EXPECT_NE(text.find("shl"), std::string::npos) << text;
}

// Addresses whose low bits the driver sees, cannot be known, or do not matter.
TEST(AlignedAddresses, OthersStay) {
  for (const char* address : {
           "%9 = add i32 %3, %4",  // four times what varies
           "%9 = mul i32 %0, %0",
           "%8 = sub i32 %3, %0\n  %7 = add i32 %8, %3\n  %6 = add i32 %7, %3\n  %9 = add i32 %6, %4",
           "%8 = add i32 %3, %1\n  %7 = add i32 %8, %3\n  %6 = add i32 %7, %3\n  %9 = add i32 %6, %1",
       }) {
    const std::string text = kernel(R"(b0:
  %0 = input i32 LocalIndex
  %1 = const i32 2
  %2 = const i32 24
  %3 = shl i32 %0, %1
  %4 = mul i32 %0, %2
  )" + std::string(address) + R"(
  store %9, %0 [shared align 4]
  ret
)");
    auto untouched = [&](ir::Function& function) { passes::removeDeadInstructions(function); };
    EXPECT_EQ(aligned(text), test::runPass(text, untouched));
  }
}

// Kernels of random integer operations, in and around a loop, that store to what they computed.
class RandomKernel {
 public:
  explicit RandomKernel(uint64_t seed) : random_(seed) {}

  std::string text() {
    text_ = "b0:\n";
    for (const char* input : {"LocalIndex", "BlockIdX"}) words_.push_back(value(std::string("input i32 ") + input));
    words_.push_back(value("const i32 4"));
    longs_.push_back(value("const i64 0xffffffff00000010"));
    const std::string zero = value("const i32 0"), one = value("const i32 1"), end = value("const i32 3");
    operations(8);
    const unsigned counter = next_++;
    std::array<unsigned, 4> phis;
    for (unsigned& phi : phis) phi = next_++;
    const auto phiId = [](unsigned id) { return "%" + std::to_string(id); };
    std::array<std::string, 4> inits;
    for (size_t i = 0; i < phis.size(); ++i) inits[i] = i == 3 ? pick(longs_) : pick(words_);
    for (size_t i = 0; i < phis.size(); ++i) (i == 3 ? longs_ : words_).push_back(phiId(phis[i]));
    std::string body;
    std::swap(text_, body);
    operations(12);
    stores();
    const std::string step = value("add i32 " + phiId(counter) + ", " + one);
    const std::string isLast = value("eq bool " + step + ", " + end);
    std::string header = "  br b1\nb1:\n  " + phiId(counter) + " = phi i32 [" + zero + ", b0], [" + step + ", b5]\n";
    for (size_t i = 0; i < phis.size(); ++i) {
      const bool isLong = i == 3;
      header += "  " + phiId(phis[i]) + " = phi " + (isLong ? "i64 [" : "i32 [") + inits[i] + ", b0], [" +
                pick(isLong ? longs_ : words_) + ", b5]\n";
    }
    body += header + "  loop b6 continue b5\n  br b2\nb2:\n" + text_ + "  merge b4\n  br " + isLast +
            ", b3, b4\nb3:\n  br b6\nb4:\n  br b5\nb5:\n  br b1\nb6:\n";
    text_.clear();
    operations(6);
    stores();
    return kernel(body + text_ + "  ret\n");
  }

 private:
  std::string value(const std::string& operation) {
    const std::string id = "%" + std::to_string(next_++);
    text_ += "  " + id + " = " + operation + "\n";
    return id;
  }

  const std::string& pick(const std::vector<std::string>& values) {
    // Late ones more often, so that chains grow.
    const size_t back = std::min(random_() % values.size(), random_() % values.size());
    return values[values.size() - 1 - back];
  }

  // A multiple, mostly.
  std::string constant(const char* type) {
    static constexpr std::array<uint32_t, 12> constants{4,  8,  12,   16,          24,          1024,
                                                        96, 52, 6156, 0xFFFF'FFFC, 0x8000'0000, 3};
    return value(std::string("const ") + type + " " + std::to_string(constants[random_() % constants.size()]));
  }

  void operations(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      const bool isLong = random_() % 5 == 0;
      std::vector<std::string>& values = isLong ? longs_ : words_;
      const std::string type = isLong ? "i64" : "i32", a = pick(values), b = pick(values);
      auto binary = [&](const char* op, const std::string& right) {
        values.push_back(value(std::string(op) + " " + type + " " + a + ", " + right));
      };
      switch (random_() % 16) {
        case 0:
        case 1:
        case 2: binary("add", b); break;
        case 3: binary("add", constant(type.c_str())); break;
        case 4: binary("sub", b); break;
        case 5: values.push_back(value("sub " + type + " " + constant(type.c_str()) + ", " + a)); break;
        case 6:
        case 7: binary("mul", constant(type.c_str())); break;
        case 8:
        case 9: binary("shl", value("const i32 " + std::to_string(random_() % (isLong ? 40 : 8)))); break;
        case 10: binary("and", constant(type.c_str())); break;
        case 11: binary(random_() % 2 ? "or" : "xor", b); break;
        case 12: values.push_back(value("neg " + type + " " + a)); break;
        case 13: {
          const std::string isLess = value("lt.s bool " + a + ", " + b);
          values.push_back(value("select " + type + " " + isLess + ", " + a + ", " + pick(values)));
          break;
        }
        case 14: words_.push_back(value("trunc i32 " + pick(longs_))); break;
        default: longs_.push_back(value(std::string(random_() % 2 ? "zext" : "sext") + " i64 " + pick(words_))); break;
      }
    }
  }

  void stores() {
    for (unsigned i = 0; i < 8; ++i) {
      std::string address = pick(words_);
      if (random_() % 2) address = value("add i32 " + address + ", " + constant("i32"));
      const bool isLong = random_() % 3 == 0;
      text_ += "  store " + address + ", " + pick(isLong ? longs_ : words_) + " [shared align " + (isLong ? "8" : "4") +
               "]\n";
    }
  }

  std::mt19937_64 random_;
  unsigned next_ = 0;
  std::string text_;
  std::vector<std::string> words_, longs_;
};

TEST(AlignedAddresses, AreTheSameNumbers) {
  unsigned changes = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const std::string text = RandomKernel(seed).text();
    auto program = test::parseIr(text), before = test::parseIr(text);
    ASSERT_TRUE(program && before);
    ir::Function& function = *program->functions[0];
    changes += passes::alignAddresses(function);
    ASSERT_EQ(ir::verify(function), "") << text << ir::print(function);
    passes::removeDeadInstructions(function);
    for (uint32_t lane : {0u, 1u, 77u, 0x7FFF'FFFFu, 0xFFFF'FFF1u}) {
      const test::LaneResult expected = test::runLane(*before->functions[0], lane, 1000);
      const test::LaneResult actual = test::runLane(function, lane, 1000);
      ASSERT_EQ(expected.error + actual.error, "");
      ASSERT_EQ(actual.stores, expected.stores) << "seed " << seed << "\n" << text << ir::print(function);
    }
  }
  EXPECT_GT(changes, 500u);
}

}  // namespace
}  // namespace mulciber
