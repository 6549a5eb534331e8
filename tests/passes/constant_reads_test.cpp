#include "translator/passes/constant_reads.h"

#include <array>
#include <random>

#include "support/ir_interpreter.h"
#include "support/run_pass.h"
#include "translator/passes/cse.h"
#include "translator/passes/dce.h"

namespace mulciber {
namespace {

std::string rewritten(const std::string& text) {
  return test::runPass(text, [](ir::Function& function) {
    passes::readConstants(function);
    passes::removeCommonSubexpressions(function);
    passes::removeDeadInstructions(function);
  });
}

std::string kernel(const std::string& body) { return "kernel @k structured ssa {\n" + body + "}\n"; }

// table[index] of 32-bit words, 64 bytes into the module's data. A branch waits for it, or not.
const char* const branch = R"(  %9 = eq bool %8, %0
  merge b2
  br %9, b1, b2
b1:
  br b2
b2:
  ret
)";
std::string lookup(const std::string& index, const std::string& access = "i32 %7 [global const align 4]",
                   const std::string& end = branch) {
  return kernel("b0:\n" + index + R"(  %1 = input i64 ModuleData
  %2 = const i64 64
  %3 = add i64 %1, %2
  %4 = zext i64 %0
  %5 = const i32 2
  %6 = shl i64 %4, %5
  %7 = add i64 %3, %6
  %8 = load )" + access +
                R"(
  store %1, %8 [global align 4]
)" + end);
}

void expectUnchanged(const std::string& text) {
  auto program = test::parseIr(text);
  ASSERT_TRUE(program);
  ir::Function& function = *program->functions[0];
  EXPECT_FALSE(passes::readConstants(function));
  passes::removeDeadInstructions(function);
  EXPECT_EQ(ir::print(function), text);
}

TEST(ConstantReads, TheNumberOfTheWarpIsOneForTheWholeWarp) {
  for (const char* index : {"  %0 = input i32 SubgroupId\n",
                            "  %10 = input i32 ThreadIdX\n  %11 = const i32 5\n  %0 = shr.u i32 %10, %11\n"}) {
    auto program = test::parseIr(lookup(index));
    ASSERT_TRUE(program);
    EXPECT_TRUE(passes::readConstants(*program->functions[0])) << index;
  }
}

TEST(ConstantReads, AnAddressForTheWholeWarpBecomesAnOffset) {
  EXPECT_EQ(rewritten(lookup("  %0 = input i32 BlockIdX\n")), kernel(R"(b0:
  %0 = input i32 BlockIdX
  %1 = input i64 ModuleData
  %2 = const i32 2
  %3 = shl i32 %0, %2
  %4 = const i32 64
  %5 = add i32 %3, %4
  %6 = load i32 %5 [constant const align 4]
  store %1, %6 [global align 4]
  %7 = eq bool %6, %0
  merge b2
  br %7, b1, b2
b1:
  br b2
b2:
  ret
)"));
}

TEST(ConstantReads, AFixedPlaceIsOneWhateverItsWidth) {
  EXPECT_EQ(rewritten(kernel(R"(b0:
  %0 = input i64 ModuleData
  %1 = const i64 48
  %2 = add i64 %0, %1
  %3 = load <4 x i32> %2 [global const align 16]
  store %0, %3 [global align 16]
  ret
)")),
            kernel(R"(b0:
  %0 = input i64 ModuleData
  %1 = const i32 48
  %2 = load <4 x i32> %1 [constant const align 16]
  store %0, %2 [global align 16]
  ret
)"));
}

TEST(ConstantReads, PlacesThatDifferByThreadStay) {
  expectUnchanged(lookup("  %0 = input i32 ThreadIdX\n"));
  expectUnchanged(lookup("  %0 = input i32 LocalIndex\n"));
}

TEST(ConstantReads, ComputedPlacesStayWhereNoBranchWaits) {
  expectUnchanged(lookup("  %0 = input i32 BlockIdX\n", "i32 %7 [global const align 4]", "  ret\n"));
}

TEST(ConstantReads, LongVectorsAtComputedPlacesStay) {
  const std::string waits = R"(  %9 = extract i32 %8, 0
  %10 = eq bool %9, %0
  merge b2
  br %10, b1, b2
b1:
  br b2
b2:
  ret
)";
  expectUnchanged(lookup("  %0 = input i32 BlockIdX\n", "<4 x i32> %7 [global const align 16]", waits));
}

TEST(ConstantReads, OtherMemoryStays) {
  expectUnchanged(lookup("  %0 = input i32 BlockIdX\n", "i32 %7 [global readonly align 4]"));
  expectUnchanged(kernel(R"(b0:
  %0 = const i32 0
  %1 = load i64 %0 [param align 8]
  %2 = load i32 %1 [global const align 4]
  store %1, %2 [global align 4]
  ret
)"));
}

TEST(ConstantReads, PointersOfLoopsCountOffsets) {
  EXPECT_EQ(rewritten(kernel(R"(b0:
  %0 = input i64 ModuleData
  %1 = const i64 16
  %2 = add i64 %0, %1
  br b1
b1:
  %3 = phi i64 [%2, b0], [%6, b2]
  loop b3 continue b2
  %4 = load i32 %3 [global const align 4]
  store %0, %4 [global align 4]
  %5 = const i64 4
  %6 = add i64 %3, %5
  %7 = const i32 80
  %8 = eq bool %4, %7
  br %8, b3, b2
b2:
  br b1
b3:
  ret
)")),
            kernel(R"(b0:
  %0 = input i64 ModuleData
  %1 = const i32 16
  br b1
b1:
  %2 = phi i32 [%1, b0], [%5, b2]
  %3 = load i32 %2 [constant const align 4]
  store %0, %3 [global align 4]
  %4 = const i32 4
  %5 = add i32 %2, %4
  %6 = const i32 80
  %7 = eq bool %3, %6
  loop b3 continue b2
  br %7, b3, b2
b2:
  br b1
b3:
  ret
)"));
}

// Random places in the module's data, computed in and out of a loop; some loads are of the threads' own places.
class RandomPlaces {
 public:
  explicit RandomPlaces(std::mt19937_64& random) : random_(random) {}

  std::string text() {
    std::string entry = block([&] {
      numbers_ = {emit("zext i64 " + emit("input i32 BlockIdX")), emit("zext i64 " + emit("input i32 LocalIndex"))};
      places_ = {emit("input i64 ModuleData")};
      conditions_ = {emit("lt.u bool " + numbers_[0] + ", " + number())};
      for (int i = 0; i < 6; ++i) grow();
    });
    const std::string begin = pick(places_), phi = reserved(), next = reserved(), counter = reserved(),
                      raised = reserved();
    std::string again;
    const std::string body = block([&] {
      places_.push_back(phi);
      for (int i = 0; i < 6; ++i) grow();
      for (int i = 0; i < 5; ++i) read();
      const std::string step = emit("const i64 " + std::to_string(4 * (1 + random_() % 8)));
      define(next, "add i64 " + phi + ", " + step);
      define(raised, "add i32 " + counter + ", " + emit("const i32 1"));
      again = awaiting(emit("lt.u bool " + raised + ", " + emit("const i32 4")));
    });
    const std::string zero = reserved();
    return "kernel @k structured ssa {\nb0:\n" + entry + "  " + zero + " = const i32 0\n  br b1\nb1:\n  " + phi +
           " = phi i64 [" + begin + ", b0], [" + next + ", b2]\n  " + counter + " = phi i32 [" + zero + ", b0], [" +
           raised + ", b2]\n  loop b3 continue b2\n" + body + "  br " + again +
           ", b2, b3\nb2:\n  br b1\nb3:\n  ret\n}\n";
  }

 private:
  template <typename Body>
  std::string block(Body body) {
    text_.clear();
    body();
    return std::exchange(text_, {});
  }
  std::string reserved() { return "%" + std::to_string(count_++); }
  void define(const std::string& name, const std::string& operation) {
    text_ += "  " + name + " = " + operation + "\n";
  }
  std::string emit(const std::string& operation) {
    const std::string name = reserved();
    define(name, operation);
    return name;
  }
  const std::string& pick(const std::vector<std::string>& from) { return from[random_() % from.size()]; }
  std::string number() { return emit("const i64 " + std::to_string(4 * (random_() % 64))); }
  std::string small(const std::string& value) { return emit("and i64 " + value + ", " + emit("const i64 252")); }

  void grow() {
    const std::string n = random_() % 2 ? number() : small(pick(numbers_)), place = pick(places_);
    switch (random_() % 7) {
      case 0: numbers_.push_back(emit("mul i64 " + n + ", " + number())); break;
      case 1:
        numbers_.push_back(emit("shl i64 " + n + ", " + emit("const i32 " + std::to_string(random_() % 4))));
        break;
      case 2: numbers_.push_back(emit("sub i64 " + number() + ", " + n)); break;
      case 3: places_.push_back(emit("add i64 " + n + ", " + place)); break;
      case 4: {
        // Far enough that what is subtracted does not lead out of the data.
        const std::string far = emit("add i64 " + place + ", " + emit("const i64 4096"));
        places_.push_back(emit("sub i64 " + far + ", " + n));
        break;
      }
      case 5: places_.push_back(emit("select i64 " + pick(conditions_) + ", " + place + ", " + pick(places_))); break;
      default: places_.push_back(emit("add i64 " + place + ", " + n)); break;
    }
  }

  // Depends on what was read, and is the condition given whatever that was.
  std::string awaiting(std::string condition) {
    for (const std::string& value : read_) {
      const std::string equal = emit("eq bool " + value + ", " + read_[0]);
      const std::string both = emit("and bool " + condition + ", " + equal);
      condition = emit("or bool " + condition + ", " + both);
    }
    return condition;
  }

  void read() {
    const std::string loaded = emit("load i32 " + pick(places_) + " [global const align 4]");
    if (random_() % 3 != 0) read_.push_back(loaded);
    text_ += "  store " + places_[0] + ", " + loaded + " [global align 4]\n";
  }

  std::mt19937_64& random_;
  std::string text_;
  int count_ = 0;
  std::vector<std::string> numbers_, places_, conditions_, read_;
};

TEST(ConstantReads, EveryLoadReadsWhatItRead) {
  size_t changed = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = RandomPlaces(random).text();
    auto program = test::parseIr(text);
    ASSERT_TRUE(program);
    ir::Function& function = *program->functions[0];
    constexpr std::array<uint32_t, 3> lanes = {0, 1, 31};
    std::vector<test::LaneResult> expected;
    for (uint32_t lane : lanes) expected.push_back(test::runLane(function, lane, 40));
    changed += passes::readConstants(function);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text + ir::print(function));
    ASSERT_EQ(ir::verify(function), "");
    for (size_t i = 0; i < lanes.size(); ++i) {
      ASSERT_EQ(expected[i].error, "");
      ASSERT_EQ(expected[i].stores.size(), 20u);
      ASSERT_EQ(test::runLane(function, lanes[i], 40).stores, expected[i].stores) << "lane " << lanes[i];
    }
  }
  EXPECT_GT(changed, 2000u);
}

}  // namespace
}  // namespace mulciber
