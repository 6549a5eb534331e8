// Which barriers must order device memory.
#include "translator/analyses/barrier_hazards.h"

#include <gtest/gtest.h>

#include "mulciber/translator.h"
#include "translator/ir/parser.h"
#include "translator/spirv/module_builder.h"
#include "translator/spirv/spirv.h"

namespace mulciber::spirv {
namespace {

using analyses::BarrierHazard;

BarrierHazard onlyBarrier(const std::string& body) {
  std::string error;
  auto program = ir::parseProgram("kernel @k structured ssa {\n" + body + "}\n", error);
  EXPECT_TRUE(program) << error;
  if (!program) return BarrierHazard::Any;
  analyses::BarrierHazards hazards = analyses::findBarrierHazards(*program->functions.front());
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

// The barriers and fences of a kernel in order, each with its scope; a star where it orders device memory.
std::string orderings(const std::string& body, bool barrierOrdersGlobal) {
  std::string error;
  auto program = ir::parseProgram("kernel @k structured ssa {\n" + body + "}\n", error);
  EXPECT_TRUE(program) << error;
  if (!program) return error;
  TargetProfile profile;
  profile.barrierOrdersGlobal = barrierOrdersGlobal;
  Refusal refusal;
  auto words = emit(*program, profile, {}, refusal);
  EXPECT_TRUE(words) << refusal.reason;
  if (!words) return refusal.reason;
  std::unordered_map<uint32_t, uint32_t> constants;
  auto describe = [&](const char* what, uint32_t scope, uint32_t semantics) {
    auto memory = static_cast<uint32_t>(spv::MemorySemanticsMask::UniformMemory);
    std::string text = what;
    text += constants[scope] == static_cast<uint32_t>(spv::Scope::Workgroup)  ? " workgroup"
            : constants[scope] == static_cast<uint32_t>(spv::Scope::Subgroup) ? " subgroup"
                                                                              : " other";
    return text + ((constants[semantics] & memory) != 0 ? "*\n" : "\n");
  };
  std::string text;
  constexpr size_t header = 5;
  for (size_t at = header; at < words->size(); at += (*words)[at] >> 16) {
    const uint32_t* word = words->data() + at;
    auto op = static_cast<spv::Op>(word[0] & 0xffff);
    if (op == spv::Op::OpConstant) constants[word[2]] = word[3];
    if (op == spv::Op::OpControlBarrier) text += describe("barrier", word[2], word[3]);
    if (op == spv::Op::OpMemoryBarrier) text += describe("fence", word[1], word[2]);
  }
  return text;
}

// A later barrier has nothing left to order that an earlier one has ordered; on another way to it there may be more.
TEST(BarrierHazards, TheFirstBarrierAfterAnAccessOrdersIt) {
  const std::string begin = "b0:\n  %0 = const i64 4096\n  %1 = const i32 0\n  %2 = load i32 %0 [global align 4]\n";
  const std::string end = "  barrier\n  store %0, %1 [global align 4]\n  ret\n";
  EXPECT_EQ(orderings(begin + "  barrier\n" + end, true),
            "fence subgroup*\nbarrier workgroup\nfence subgroup*\nbarrier workgroup\n");
  const std::string branch = "  barrier\n  %3 = const bool true\n  merge b2\n  br %3, b1, b2\n";
  EXPECT_EQ(orderings(begin + branch + "b1:\n  br b2\nb2:\n" + end, true),
            "fence subgroup*\nbarrier workgroup\nfence subgroup*\nbarrier workgroup\n");
  EXPECT_EQ(orderings(begin + branch + "b1:\n  %4 = load i32 %0 [global align 4]\n  br b2\nb2:\n" + end, true),
            "fence subgroup*\nbarrier workgroup\nfence subgroup*\n"
            "fence subgroup*\nbarrier workgroup\nfence subgroup*\n");
}

// A loop that reads in each round, and has two barriers in it; what it finds is written at the end.
TEST(BarrierHazards, TheSecondBarrierOfARoundHasNothingToOrder) {
  EXPECT_EQ(orderings("b0:\n  %0 = const i64 4096\n  %1 = const i32 0\n  %2 = const bool true\n  br b1\n"
                      "b1:\n  loop b3 continue b2\n  br b2\n"
                      "b2:\n  %3 = load i32 %0 [global align 4]\n  store %1, %3 [shared align 4]\n  barrier\n"
                      "  %4 = load i32 %1 [shared align 4]\n  barrier\n  br %2, b1, b3\n"
                      "b3:\n  store %0, %1 [global align 4]\n  ret\n",
                      true),
            "barrier workgroup\nfence subgroup*\nbarrier workgroup\n");
}

TEST(BarrierHazards, DeviceMemoryIsOrderedByTheBarrierOrByFencesBesideTheHardwares) {
  const std::string address = "b0:\n  %0 = const i64 4096\n  %1 = const i32 0\n";
  const std::string none = address + "  store %1, %1 [shared align 4]\n  barrier\n  ret\n";
  EXPECT_EQ(orderings(none, false), "barrier workgroup\n");
  EXPECT_EQ(orderings(none, true), "barrier workgroup\n");

  const std::string settled =
      std::string("b0:\n") + loadAndSettle + "  barrier\n  store %0, %1 [global align 4]\n  ret\n";
  EXPECT_EQ(orderings(settled, false), "barrier workgroup*\n");
  EXPECT_EQ(orderings(settled, true), "barrier workgroup\nfence subgroup*\n");

  const std::string any = address +
                          "  store %0, %1 [global align 4]\n  barrier\n  %2 = load i32 %0 [global align 4]\n"
                          "  store %1, %2 [shared align 4]\n  ret\n";
  EXPECT_EQ(orderings(any, false), "barrier workgroup*\n");
  EXPECT_EQ(orderings(any, true), "fence subgroup*\nbarrier workgroup\nfence subgroup*\n");
}

}  // namespace
}  // namespace mulciber::spirv
