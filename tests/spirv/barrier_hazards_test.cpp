// Which barriers must order device memory.
#include "translator/spirv/barrier_hazards.h"

#include <gtest/gtest.h>

#include "translator/ir/parser.h"

namespace mulciber::spirv {
namespace {

BarrierHazard onlyBarrier(const std::string& body) {
  std::string error;
  auto program = ir::parseProgram("kernel @k structured ssa {\n" + body + "}\n", error);
  EXPECT_TRUE(program) << error;
  if (!program) return BarrierHazard::Any;
  BarrierHazards hazards = findBarrierHazards(*program->functions.front());
  EXPECT_EQ(hazards.size(), 1u);
  return hazards.begin()->second;
}

constexpr const char* loadAndSettle =
    "  %0 = const i64 4096\n  %1 = const i32 0\n  %2 = load i32 %0 [global align 4]\n  store %1, %2 [shared align 4]\n";

TEST(BarrierHazards, SharedMemoryAloneIsNone) {
  EXPECT_EQ(onlyBarrier(std::string("b0:\n") + loadAndSettle + "  barrier\n  ret\n"), BarrierHazard::None);
}

TEST(BarrierHazards, ReadsOnBothSidesAreNone) {
  EXPECT_EQ(
      onlyBarrier(std::string("b0:\n") + loadAndSettle + "  barrier\n  %3 = load i32 %0 [global align 4]\n  ret\n"),
      BarrierHazard::None);
}

TEST(BarrierHazards, AWriteThatIsReadLaterIsAny) {
  EXPECT_EQ(onlyBarrier("b0:\n  %0 = const i64 4096\n  %1 = const i32 0\n  store %0, %1 [global align 4]\n  barrier\n"
                        "  %2 = load i32 %0 [global align 4]\n  ret\n"),
            BarrierHazard::Any);
}

TEST(BarrierHazards, AWriteAfterASettledReadIsASettledRead) {
  EXPECT_EQ(onlyBarrier(std::string("b0:\n") + loadAndSettle + "  barrier\n  store %0, %1 [global align 4]\n  ret\n"),
            BarrierHazard::SettledRead);
}

// The in-place shift: a[i] = old a[i + 1].
TEST(BarrierHazards, AWriteAfterAReadStillUnderWayIsAny) {
  EXPECT_EQ(onlyBarrier("b0:\n  %0 = const i64 4096\n  %1 = load i32 %0 [global align 4]\n  barrier\n"
                        "  store %0, %1 [global align 4]\n  ret\n"),
            BarrierHazard::Any);
}

TEST(BarrierHazards, AccessesOfOtherRoundsOfALoopCount) {
  EXPECT_EQ(onlyBarrier("b0:\n  %0 = const i64 4096\n  %1 = const i32 0\n  %2 = const bool true\n  br b1\n"
                        "b1:\n  loop b3 continue b2\n  br b2\n"
                        "b2:\n  barrier\n  store %0, %1 [global align 4]\n  br %2, b1, b3\n"
                        "b3:\n  ret\n"),
            BarrierHazard::Any);
}

TEST(BarrierHazards, ReadOnlyLoadsNeverCount) {
  EXPECT_EQ(onlyBarrier("b0:\n  %0 = const i64 4096\n  %1 = load i32 %0 [global readonly align 4]\n  barrier\n"
                        "  store %0, %1 [global align 4]\n  ret\n"),
            BarrierHazard::None);
}

}  // namespace
}  // namespace mulciber::spirv
