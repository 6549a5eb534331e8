#include "translator/passes/address_offsets.h"

#include <array>
#include <random>

#include "support/ir_interpreter.h"
#include "support/run_pass.h"
#include "translator/passes/cse.h"
#include "translator/passes/dce.h"

namespace mulciber {
namespace {

std::string gathered(std::string_view text) {
  return test::runPass(text, [](ir::Function& function) {
    passes::gatherAddressOffsets(function);
    passes::removeCommonSubexpressions(function);
    passes::removeDeadInstructions(function);
  });
}

// As CUB loads a tile: the second of two items.
std::string itemAt(const std::string& index) {
  return R"(kernel @k structured {
b0:
  %0 = const i32 0
  %1 = load i64 %0 [param align 8]
)" + index +
         R"(  %5 = const i32 32
  %6 = add i32 %4, %5
  %7 = sext i64 %6
  %8 = const i32 2
  %9 = shl i64 %7, %8
  %10 = add i64 %1, %9
  %11 = load i32 %10 [global align 4]
  store %1, %11 [global align 4]
  ret
})";
}

TEST(AddressOffsets, WhatAThreadsNumberIsMadeOfDoesNotOverflow) {
  EXPECT_EQ(gathered(itemAt("  %2 = input i32 ThreadIdX\n  %3 = const i32 11\n  %4 = mul i32 %2, %3\n")),
            R"(kernel @k structured {
b0:
  %0 = const i32 0
  %1 = load i64 %0 [param align 8]
  %2 = input i32 ThreadIdX
  %3 = const i32 11
  %4 = mul i32 %2, %3
  %5 = const i32 2
  %6 = sext i64 %4
  %7 = shl i64 %6, %5
  %8 = add i64 %1, %7
  %9 = const i64 128
  %10 = add i64 %8, %9
  %11 = load i32 %10 [global align 4]
  store %1, %11 [global align 4]
  ret
}
)");
}

TEST(AddressOffsets, AnIndexThatMayOverflowStays) {
  const std::string text = itemAt("  %2 = input i32 BlockIdX\n  %3 = const i32 704\n  %4 = mul i32 %2, %3\n");
  auto program = test::parseIr(text);
  ASSERT_TRUE(program);
  EXPECT_EQ(gathered(text), ir::print(*program->functions[0]));
}

// Random arithmetic of addresses, with constants at the edges of what overflows: every store goes where it went.
class RandomAddresses {
 public:
  explicit RandomAddresses(std::mt19937_64& random) : random_(random) {}

  std::string text() {
    text_ = "kernel @k structured {\nb0:\n";
    narrow_ = {emit("input i32 LocalIndex")};
    for (int i = 0; i < 8; ++i) narrow_.push_back(narrow());
    wide_ = {emit("zext i64 " + pick(narrow_))};
    for (int i = 0; i < 10; ++i) wide_.push_back(wide());
    const std::string value = emit("const i32 7");
    for (int i = 0; i < 6; ++i) text_ += "  store " + pick(wide_) + ", " + value + " [global align 1]\n";
    return text_ + "  ret\n}";
  }

 private:
  std::string emit(const std::string& operation) {
    const std::string name = "%" + std::to_string(count_++);
    text_ += "  " + name + " = " + operation + "\n";
    return name;
  }
  const std::string& pick(const std::vector<std::string>& from) { return from[random_() % from.size()]; }

  std::string number(int bits) {
    static constexpr std::array<uint64_t, 8> edges = {0x7FFF'FFFF, 0x8000'0000, 0xFFFF'FFFF, 0x7FFF'FC00,
                                                      0xFFFF'FC00, 1023,        31,          0x4000'0000};
    uint64_t result = random_() % 2 ? edges[random_() % edges.size()] + random_() % 3 - 1 : random_() % 4096;
    if (bits == 32) result &= 0xFFFF'FFFF;
    return emit("const i" + std::to_string(bits) + " " + std::to_string(result));
  }

  std::string narrow() {
    static constexpr std::array<const char*, 8> withConstant = {"add", "add", "add",   "mul",
                                                                "and", "or",  "min.u", "rem.u"};
    const std::string x = pick(narrow_);
    if (random_() % 6 == 0) return emit("add i32 " + x + ", " + pick(narrow_));
    if (random_() % 5 == 0) {
      const std::string count = emit("const i32 " + std::to_string(random_() % 32));
      return emit(std::string(random_() % 2 ? "shl" : "shr.u") + " i32 " + x + ", " + count);
    }
    const std::string operation = withConstant[random_() % withConstant.size()];
    const std::string constant =
        operation == "rem.u" ? emit("const i32 " + std::to_string(1 + random_() % 99)) : number(32);
    return emit(operation + " i32 " + x + ", " + constant);
  }

  std::string wide() {
    switch (random_() % 6) {
      case 0: return emit("sext i64 " + pick(narrow_));
      case 1: return emit("zext i64 " + pick(narrow_));
      case 2: return emit("add i64 " + pick(wide_) + ", " + number(64));
      case 3: return emit((random_() % 3 ? "add i64 " : "sub i64 ") + pick(wide_) + ", " + pick(wide_));
      case 4: return emit("mul i64 " + pick(wide_) + ", " + number(64));
      default: {
        const std::string count = emit("const i32 " + std::to_string(random_() % 5));
        return emit("shl i64 " + pick(wide_) + ", " + count);
      }
    }
  }

  std::mt19937_64& random_;
  std::string text_;
  int count_ = 0;
  std::vector<std::string> narrow_, wide_;
};

TEST(AddressOffsets, EveryStoreGoesWhereItWent) {
  size_t changed = 0;
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = RandomAddresses(random).text();
    auto program = test::parseIr(text);
    ASSERT_TRUE(program);
    ir::Function& function = *program->functions[0];
    constexpr std::array<uint32_t, 4> lanes = {0, 1, 31, 1023};
    std::vector<test::LaneResult> expected;
    for (uint32_t lane : lanes) expected.push_back(test::runLane(function, lane, 10));
    changed += passes::gatherAddressOffsets(function);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text + ir::print(function));
    ASSERT_EQ(ir::verify(function), "");
    for (size_t i = 0; i < lanes.size(); ++i) {
      ASSERT_EQ(expected[i].error, "");
      ASSERT_EQ(test::runLane(function, lanes[i], 10).stores, expected[i].stores) << "lane " << lanes[i];
    }
  }
  EXPECT_GT(changed, 1000u);
}

}  // namespace
}  // namespace mulciber
