#include "translator/passes/raise_switches.h"

#include <algorithm>
#include <array>
#include <random>

#include "support/ir_interpreter.h"
#include "support/run_pass.h"

namespace mulciber {
namespace {

std::string raised(std::string_view text) { return test::runPass(text, passes::raiseSwitches); }

// What nvcc makes of `switch (x) { case 0: ... case 3: ... default: ... }`. `arm` stands in the case 2.
std::string treeOfFour(const std::string& arm) {
  return R"(kernel @k {
  var v0 i16 "x"
  var v1 bool "p"
  var v2 bool "q"
  var v3 bool "r"
  var v4 bool "s"
b0:
  %0 = const i16 5
  write v0, %0
  %1 = read i16 v0
  %2 = const i16 1
  %3 = lt.s bool %2, %1
  write v1, %3
  %4 = read bool v1
  br %4, b1, b2
b1:
  %5 = read i16 v0
  %6 = const i16 2
  %7 = eq bool %5, %6
  write v2, %7
  %8 = read bool v2
  br %8, b6, b3
b2:
  br b4
b3:
  %9 = read i16 v0
  %10 = const i16 3
  %11 = ne bool %9, %10
  write v3, %11
  %12 = read bool v3
  br %12, b9, b7
b4:
  %13 = read i16 v0
  %14 = const i16 0
  %15 = eq bool %13, %14
  write v4, %15
  %16 = read bool v4
  br %16, b8, b5
b5:
  %17 = read i16 v0
  %18 = const i16 1
  %19 = eq bool %17, %18
  br %19, b8, b9
b6:
)" + arm +
         R"(  br b9
b7:
  fence [block]
  br b9
b8:
  fence [device]
  br b9
b9:
  ret
})";
}

TEST(RaiseSwitches, ATreeOfComparisonsBecomesASwitch) {
  EXPECT_EQ(raised(treeOfFour("  fence [system]\n")),
            R"(kernel @k {
  var v0 i16 "x"
  var v1 bool "p"
  var v2 bool "q"
  var v3 bool "r"
  var v4 bool "s"
b0:
  %0 = const i16 5
  write v0, %0
  %1 = read i16 v0
  %2 = const i16 1
  %3 = lt.s bool %2, %1
  write v1, %3
  %4 = read bool v1
  %5 = read i16 v0
  %6 = zext i32 %5
  switch %6, b4 [0: b3, 1: b3, 2: b1, 3: b2]
b1:
  fence [system]
  br b4
b2:
  fence [block]
  br b4
b3:
  fence [device]
  br b4
b4:
  ret
}
)");
}

void expectKept(const std::string& text) {
  auto program = test::parseIr(text);
  ASSERT_TRUE(program);
  EXPECT_EQ(raised(text), ir::print(*program->functions[0]));
}

TEST(RaiseSwitches, StaysATreeWhereAnArmNeedsItsThreadsTogether) { expectKept(treeOfFour("  warpbarrier\n")); }

TEST(RaiseSwitches, StaysATreeWhereAComparisonIsReadLater) {
  std::string text = treeOfFour("  %20 = read bool v2\n  %21 = read bool v3\n  %22 = read bool v4\n");
  expectKept(text);
}

// The condition is what was compared before.
TEST(RaiseSwitches, StaysATreeWhereTheComparisonComesAfterTheConditionIsRead) {
  std::string text = treeOfFour("  fence [system]\n");
  const std::string old = "  %15 = eq bool %13, %14\n  write v4, %15\n  %16 = read bool v4\n";
  ASSERT_NE(text.find(old), std::string::npos);
  text.replace(text.find(old), old.size(), "  %15 = read bool v4\n  %16 = eq bool %13, %14\n  write v4, %16\n");
  text.replace(text.find("br %16, b8"), 10, "br %15, b8");
  expectKept(text);
}

TEST(RaiseSwitches, StaysATreeWhereTheValueChangesOnTheWay) {
  std::string text = treeOfFour("  fence [system]\n");
  text.replace(text.find("b2:\n"), 4, "b2:\n  %30 = const i16 7\n  write v0, %30\n");
  expectKept(text);
}

// A random tree over one variable, whose leaves store their numbers; some leaves are shared.
class RandomTree {
 public:
  RandomTree(std::mt19937_64& random, int bits) : random_(random), type_("i" + std::to_string(bits)) {}

  std::string text() {
    variables_ = "  var v0 " + type_ + "\n";
    blocks_ = "b0:\n  %0 = input i32 LocalIndex\n  %1 = const i32 12\n  %2 = sub i32 %0, %1\n";
    values_ = 3;
    if (type_ != "i32") blocks_ += "  %3 = trunc " + type_ + " %2\n", ++values_;
    blocks_ += "  write v0, %" + std::to_string(values_ - 1) + "\n";
    comparison(0);
    for (int leaf = 0; leaf < leaves; ++leaf) {
      const int at = values_;
      values_ += 2;
      blocks_ += name(leaf) + ":\n  %" + std::to_string(at) + " = const i64 " + std::to_string(64 + 8 * leaf) +
                 "\n  %" + std::to_string(at + 1) + " = const i32 " + std::to_string(leaf) + "\n  store %" +
                 std::to_string(at) + ", %" + std::to_string(at + 1) + " [global align 4]\n  br b900\n";
    }
    return "kernel @k {\n" + variables_ + blocks_ + "b900:\n  ret\n}";
  }

 private:
  static constexpr int leaves = 9;
  static std::string name(int leaf) { return "b" + std::to_string(500 + leaf); }

  // The rest of a block whose label is written, and the blocks below.
  void comparison(int depth) {
    static const std::array<const char*, 6> operations = {"eq", "ne", "lt.u", "le.u", "lt.s", "le.s"};
    const std::string read = "%" + std::to_string(values_), constant = "%" + std::to_string(values_ + 1),
                      result = "%" + std::to_string(values_ + 2);
    values_ += 3;
    const uint64_t mask = type_ == "i8" ? 0xFF : type_ == "i16" ? 0xFFFF : 0xFFFF'FFFF;
    const uint64_t number = (random_() % 4 == 0 ? random_() : random_() % 20 - 8) & mask;
    const bool isFirst = random_() % 2 != 0;
    blocks_ += "  " + read + " = read " + type_ + " v0\n  " + constant + " = const " + type_ + " " +
               std::to_string(number) + "\n  " + result + " = " + operations[random_() % operations.size()] + " bool " +
               (isFirst ? constant + ", " + read : read + ", " + constant) + "\n";
    int below[2];
    for (int& next : below) next = depth < 5 && random_() % 5 != 0 ? ++blocksUsed_ : -1;
    blocks_ += "  br " + result;
    for (int next : below)
      blocks_ += ", " + (next < 0 ? name(int(random_() % (random_() % 2 ? leaves : 2))) : "b" + std::to_string(next));
    blocks_ += "\n";
    for (int next : below)
      if (next >= 0) {
        blocks_ += "b" + std::to_string(next) + ":\n";
        comparison(depth + 1);
      }
  }

  std::mt19937_64& random_;
  const std::string type_;
  std::string variables_, blocks_;
  int values_ = 0, blocksUsed_ = 0;
};

TEST(RaiseSwitches, EveryValueTakesItsOldWay) {
  size_t switches = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = RandomTree(random, std::array{8, 16, 32}[seed % 3]).text();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    auto program = test::parseIr(text);
    ASSERT_TRUE(program);
    ir::Function& function = *program->functions[0];
    std::vector<test::LaneResult> expected;
    for (uint32_t lane = 0; lane < 32; ++lane) expected.push_back(test::runLane(function, lane, 10));
    passes::raiseSwitches(function);
    ASSERT_EQ(ir::verify(function), "");
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const auto actual = test::runLane(function, lane, 10);
      ASSERT_EQ(actual.error, "");
      ASSERT_EQ(actual.stores, expected[lane].stores) << "lane " << lane;
    }
    switches += size_t(std::count_if(function.blocks.begin(), function.blocks.end(), [](const ir::Block* block) {
      return block->terminator.kind == ir::Terminator::Kind::Switch;
    }));
  }
  EXPECT_GT(switches, 200u);
}

}  // namespace
}  // namespace mulciber
