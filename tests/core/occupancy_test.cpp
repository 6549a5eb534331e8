// The rule by itself, with what NVIDIA's own devices answer.
#include "runtime/core/occupancy.h"

#include <gtest/gtest.h>

#include "runtime/core/device.h"

namespace mulciber::core {
namespace {

DeviceShape shapeOf(uint32_t computeCapability, uint32_t threads) {
  const MultiprocessorLimits limits = multiprocessorLimits(computeCapability);
  return {.threadsPerBlock = 1024,
          .threadsPerMultiprocessor = threads,
          .blocksPerMultiprocessor = limits.blocks,
          .multiprocessors = 132,
          .sharedPerBlock = 48 << 10,
          .sharedPerBlockOptin = limits.sharedBytes - limits.sharedReserved,
          .sharedPerMultiprocessor = limits.sharedBytes,
          .sharedReserved = limits.sharedReserved,
          .sharedUnit = limits.sharedUnit};
}

TEST(Occupancy, SmallBlocksAreLimitedByTheirNumber) {
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {32, 32, 0}), 32u);
  EXPECT_EQ(blocksThatFit(shapeOf(80, 2048), {32, 32, 0}), 32u);
  EXPECT_EQ(blocksThatFit(shapeOf(89, 1536), {32, 32, 0}), 24u);
  EXPECT_EQ(blocksThatFit(shapeOf(86, 1536), {32, 32, 0}), 16u);
  EXPECT_EQ(blocksThatFit(shapeOf(75, 1024), {32, 32, 0}), 16u);
}

TEST(Occupancy, LargeBlocksAreLimitedByTheirThreads) {
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {1024, 32, 0}), 2u);
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {1000, 32, 0}), 2u);
  EXPECT_EQ(blocksThatFit(shapeOf(86, 1536), {1024, 32, 0}), 1u);
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {1025, 32, 0}), 0u);
}

TEST(Occupancy, RegistersAreGivenToWarpsInUnits) {
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {256, 33, 0}), 6u);  // 40 of each thread, 48 warps
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {512, 64, 0}), 2u);
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {512, 65, 0}), 1u);
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {1024, 72, 0}), 0u);
}

TEST(Occupancy, OneBlockFitsWithTheMostRegistersItCanHave) {
  EXPECT_EQ(mostRegisters(1024), 64u);
  EXPECT_EQ(mostRegisters(1000), 64u);
  EXPECT_EQ(mostRegisters(768), 80u);
  EXPECT_EQ(mostRegisters(512), 128u);
  EXPECT_EQ(mostRegisters(256), 255u);
  EXPECT_EQ(mostRegisters(1), 255u);
  for (uint32_t threads = 1; threads <= 1024; ++threads) {
    EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {threads, mostRegisters(threads), 0}) > 0, true) << threads;
  }
}

TEST(Occupancy, EachBlockTakesSomeSharedMemoryMore) {
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {128, 32, 13 << 10}), 16u);
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {64, 32, 48 << 10}), 4u);
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {64, 32, 227 << 10}), 1u);
  EXPECT_EQ(blocksThatFit(shapeOf(90, 2048), {64, 32, (227 << 10) + 1}), 0u);
  EXPECT_EQ(blocksThatFit(shapeOf(75, 1024), {64, 32, 32 << 10}), 2u);
}

}  // namespace
}  // namespace mulciber::core
