#include <pthread.h>

#include <cstdio>
#include <fstream>
#include <thread>

#include "runtime/vk/bfloat_probe.h"
#include "runtime/vk/driver_stacks.h"
#include "runtime/vk/matrix_probe.h"

#include "vulkan_test.h"

namespace mulciber::vk {
namespace {

class DeviceTest : public VulkanTest {};

TEST_F(DeviceTest, ProfileSaysWhatTheDeviceHas) {
  const TargetProfile& profile = device->profile();
  EXPECT_GE(profile.maxPushConstants, 128u);
  EXPECT_GE(profile.maxSharedBytes, 16384u);
  EXPECT_GE(profile.maxThreadsPerBlock, 128u);
  EXPECT_TRUE(profile.int64);
}

size_t stackOfANewThread() {
  size_t size = 0;
  std::thread([&] {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
  }).join();
  return size;
}

TEST(DriverStacks, AreLargeUntilTheLastDeviceIsMade) {
  const size_t before = stackOfANewThread();
  ASSERT_GT(before, 0u);
  auto first = std::make_unique<LargeDriverStacks>();
  EXPECT_GE(stackOfANewThread(), LargeDriverStacks::bytes);
  auto second = std::make_unique<LargeDriverStacks>();
  first.reset();
  EXPECT_GE(stackOfANewThread(), LargeDriverStacks::bytes);
  second.reset();
  EXPECT_EQ(stackOfANewThread(), before);
}

TEST_F(DeviceTest, ACpuDriversThreadsHaveLargeStacks) {
  if (!device->physical().isCpu()) GTEST_SKIP() << "skipped: the device is no CPU";
  std::ifstream maps("/proc/self/maps");
  std::string line;
  bool found = false;
  while (std::getline(maps, line)) {
    uintptr_t begin = 0, end = 0;
    char access[5] = "";
    ASSERT_EQ(std::sscanf(line.c_str(), "%zx-%zx %4s", &begin, &end, access), 3) << line;
    constexpr size_t mostGuard = 1 << 20;
    found |= std::string(access) == "rw-p" && end - begin >= LargeDriverStacks::bytes - mostGuard;
  }
  EXPECT_TRUE(found);
}

TEST_F(DeviceTest, TheTestDriverIsProbedRight) {
  const PhysicalDevice& physical = device->physical();
  if (physical.properties12.driverID != VK_DRIVER_ID_MESA_LLVMPIPE || physical.properties11.subgroupSize != 32)
    GTEST_SKIP() << "skipped: this is not the 32-lane test driver";
  const ProbeResults& probes = device->probes();
  EXPECT_TRUE(probes.lanesLikeCuda);
  EXPECT_TRUE(probes.exitedThreadsArrive);
  EXPECT_TRUE(probes.denormsByDefault32);
  EXPECT_TRUE(probes.exactFma32);
  EXPECT_TRUE(probes.exactDivSqrt32);
  EXPECT_TRUE(probes.exactFma64);
  EXPECT_TRUE(probes.exactDivSqrt64);
}

// Where division and square root are exact, so are the estimates, and what comes of them in one step. From them
// quotients would take a neighbour for the reciprocal of 0xFFFFFD, in both modes: that one of NVIDIA's is better.
TEST_F(DeviceTest, OneStepFromExactEstimatesIsEnough) {
  if (!device->probes().exactDivSqrt32 || !device->probes().exactFma32) GTEST_SKIP() << "skipped: it divides otherwise";
  WrongSteps wrong;
  ASSERT_EQ(countWrongSteps(*device, device->probes(), wrong), Status::Ok);
  EXPECT_EQ(wrong.refinements, 0u);
  EXPECT_EQ(wrong.divisors, 2u);
  EXPECT_FALSE(device->probes().refinesInOneStep32);  // it was not asked
}

// What it expects of matrix units is what mma gives.
TEST_F(DeviceTest, ProbesMatrixUnitsWithProductsThatAreRight) {
  if (!device->probes().lanesLikeCuda) GTEST_SKIP() << "skipped: it has no warps of 32 lanes";
  ProbeResults results;
  probeMatrices(*device, results, false);
  EXPECT_TRUE(results.matricesF16F32);
  EXPECT_TRUE(results.matricesF16F16);
  EXPECT_TRUE(results.matricesBF16);
  EXPECT_TRUE(results.matricesS8);
  EXPECT_TRUE(results.matricesU8);
  EXPECT_TRUE(results.loadsMatrixRows);
}

// So is what it expects of conversions to bf16.
TEST_F(DeviceTest, ProbesConversionsToBfloatsWithNumbersThatAreRight) {
  if (!device->probes().lanesLikeCuda) GTEST_SKIP() << "skipped: it has no warps of 32 lanes";
  EXPECT_TRUE(packsBfloats(*device, device->probes(), false));
}

TEST_F(DeviceTest, IsOpenedWithoutProbingWhenTheResultsAreKnown) {
  std::shared_ptr<Device> second;
  ProbeResults known;
  known.exactFma32 = 1;
  ASSERT_EQ(Device::create(device->physical(), &known, second), Status::Ok);
  EXPECT_TRUE(second->profile().exactFma32);
  EXPECT_FALSE(second->profile().exactDivSqrt32);
}

TEST_F(DeviceTest, TimestampsGoForward) {
  TimestampRef first, second;
  ASSERT_EQ(device->timestamp(first), Status::Ok);
  ASSERT_EQ(device->timestamp(second), Status::Ok);
  double before = 0, after = 0;
  EXPECT_EQ(first->nanoseconds(before), Status::NotReady);
  runNow([&](Commands& commands) {
    commands.write(first);
    commands.write(second);
    return Status::Ok;
  });
  ASSERT_EQ(first->nanoseconds(before), Status::Ok);
  ASSERT_EQ(second->nanoseconds(after), Status::Ok);
  EXPECT_GE(after, before);
}

}  // namespace
}  // namespace mulciber::vk
