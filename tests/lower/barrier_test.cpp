// Which barriers of a block are the device's own, and which count threads in shared memory.
#include <algorithm>
#include <string>

#include "lower/lowered.h"

namespace mulciber::test {
namespace {

struct Barriers {
  long ofDevice = 0, counted = 0;  // without those of the kernel's begin
  bool operator==(const Barriers&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Barriers& barriers) {
  return out << barriers.ofDevice << " of the device, " << barriers.counted << " counted";
}

long count(const Lowered& lowered, ir::Op op) {
  long found = 0;
  for (const ir::Block* block : lowered.kernel().blocks)
    found += std::ranges::count(block->instructions, op, &ir::Instruction::op);
  return found;
}

Barriers barriersOf(const std::string& body) {
  const Lowered lowered = lowerText(kernelText(body));
  EXPECT_TRUE(lowered.program) << lowered.errors;
  if (!lowered.program) return {};
  const bool clearsWords = body.find(", 64") != std::string::npos;
  return {count(lowered, ir::Op::Barrier) - (clearsWords ? 1 : 0), count(lowered, ir::Op::AtomicCas)};
}

TEST(LowerBarrier, CountsWhereOthersArriveWithoutWaiting) {
  EXPECT_EQ(barriersOf("bar.sync 1; bar.sync 0;"), (Barriers{2, 0}));
  EXPECT_EQ(barriersOf("bar.arrive 1, 64; bar.sync 1; bar.sync 0;"), (Barriers{1, 2}));
  EXPECT_EQ(barriersOf("bar.arrive 1, 64; bar.sync 2; bar.sync 0;"), (Barriers{2, 1}));
  EXPECT_EQ(barriersOf("bar.arrive 0, 64; bar.sync 0;"), (Barriers{0, 2}));
}

TEST(LowerBarrier, KnowsTheNumberThatARegisterHoldsThroughout) {
  EXPECT_EQ(barriersOf("mov.u32 %r1, 1; bar.arrive %r1, 64; bar.sync 1; bar.sync 2; bar.sync 0;"), (Barriers{2, 2}));
  // Barrier 0 of all threads is not what computed numbers name.
  EXPECT_EQ(barriersOf("mov.u32 %r1, %tid.y; bar.arrive %r1, 64; bar.sync 1; bar.sync 2; bar.sync 0;"),
            (Barriers{1, 3}));
  EXPECT_EQ(barriersOf("mov.u32 %r1, 1; add.u32 %r1, %r1, 1; bar.arrive %r1, 64; bar.sync 3;"), (Barriers{0, 2}));
}

TEST(LowerBarrier, AsksWhenItRunsWhereItsOwnNumberIsComputed) {
  EXPECT_EQ(barriersOf("mov.u32 %r1, %tid.y; bar.arrive 1, 64; bar.sync %r1;"), (Barriers{1, 2}));
}

// The second barrier of a reduction is one of those that reduce.
TEST(LowerBarrier, ReducesBesideThoseThatArrive) {
  EXPECT_EQ(barriersOf("bar.arrive 1, 64; bar.red.popc.u32 %r1, 1, %p1;"), (Barriers{0, 3}));
  EXPECT_EQ(barriersOf("bar.arrive 1, 64; bar.red.popc.u32 %r1, 2, %p1;"), (Barriers{2, 1}));
}

// Where the device's barrier gives warps their turns, a barrier of all threads waits for those that have not ended.
TEST(LowerBarrier, CountsThreadsThatEndWhereAllBarriersCount) {
  const std::string body = "@%p1 exit; bar.arrive 1, 32; bar.sync 0;";
  TargetProfile profile = fullProfile();
  const auto ends = [&] { return count(lowerText(kernelText(body), profile), ir::Op::AtomicSub); };
  EXPECT_EQ(ends(), 0);
  profile.warpsProgress = false;
  EXPECT_EQ(ends(), 2);
}

}  // namespace
}  // namespace mulciber::test
