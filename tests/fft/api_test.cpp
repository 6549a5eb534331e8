// What libcufft's functions answer, and how its transforms stand in streams and graphs.
#include <cuda.h>
#include <cufftXt.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

class FftApi : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuMemAlloc(&memory, bytes), CUDA_SUCCESS);
    const std::vector<float> ones(bytes / 4, 1);
    ASSERT_EQ(cuMemcpyHtoD(memory, ones.data(), bytes), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (memory) {
      EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }
  cufftComplex* complex() const { return reinterpret_cast<cufftComplex*>(memory); }
  float first() const {
    float value = 0;
    EXPECT_EQ(cuMemcpyDtoH(&value, memory, 4), CUDA_SUCCESS);
    return value;
  }

  // A transform of eight ones that is captured runs when its graph does, and not before.
  template <typename Execute>
  void expectCaptured(cufftType type, unsigned flags, const Execute& execute) {
    cufftHandle plan = 0;
    CUstream stream = nullptr;
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    ASSERT_EQ(cufftPlan1d(&plan, 8, type, 1), CUFFT_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, flags), CUDA_SUCCESS);
    ASSERT_EQ(cufftSetStream(plan, reinterpret_cast<cudaStream_t>(stream)), CUFFT_SUCCESS);
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    EXPECT_EQ(execute(plan), CUFFT_SUCCESS);
    ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    EXPECT_EQ(first(), 1);
    ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(first(), 8);
    EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
  }

  static constexpr size_t bytes = 1 << 20;
  CUdeviceptr memory = 0;
};

TEST_F(FftApi, RefusesWhatIsNoPlan) {
  cufftHandle plan = 0;
  EXPECT_EQ(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftPlan1d(&plan, 0, CUFFT_C2C, 1), CUFFT_INVALID_SIZE);
  EXPECT_EQ(cufftPlan1d(&plan, -8, CUFFT_C2C, 1), CUFFT_INVALID_SIZE);
  EXPECT_EQ(cufftPlan1d(&plan, 8, CUFFT_C2C, 0), CUFFT_INVALID_SIZE);
  EXPECT_EQ(cufftPlan1d(&plan, 8, static_cast<cufftType>(7), 1), CUFFT_INVALID_TYPE);
  int lengths[] = {2, 2, 2, 2};
  EXPECT_EQ(cufftPlanMany(&plan, 4, lengths, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftDestroy(12345), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftExecC2C(12345, complex(), complex(), CUFFT_FORWARD), CUFFT_INVALID_PLAN);
  ASSERT_EQ(cufftCreate(&plan), CUFFT_SUCCESS);
  EXPECT_EQ(cufftExecC2C(plan, complex(), complex(), CUFFT_FORWARD), CUFFT_INVALID_PLAN);
  size_t size = 0;
  EXPECT_EQ(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &size), CUFFT_SUCCESS);
  EXPECT_EQ(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &size), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftExecC2C(plan, complex(), complex(), 0), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftExecC2C(plan, nullptr, complex(), CUFFT_FORWARD), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftExecR2C(plan, reinterpret_cast<cufftReal*>(memory), complex()), CUFFT_INVALID_TYPE);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_INVALID_PLAN);
}

TEST_F(FftApi, WorksInTheMemoryThatItIsGiven) {
  constexpr int length = 1 << 15;
  cufftHandle plan = 0;
  size_t size = 0, estimated = 0;
  ASSERT_EQ(cufftCreate(&plan), CUFFT_SUCCESS);
  EXPECT_EQ(cufftSetAutoAllocation(plan, 0), CUFFT_SUCCESS);
  ASSERT_EQ(cufftMakePlan1d(plan, length, CUFFT_C2C, 1, &size), CUFFT_SUCCESS);
  EXPECT_EQ(cufftEstimate1d(length, CUFFT_C2C, 1, &estimated), CUFFT_SUCCESS);
  EXPECT_GT(size, 0u);
  EXPECT_GE(estimated, size);
  EXPECT_EQ(cufftExecC2C(plan, complex(), complex(), CUFFT_FORWARD), CUFFT_NO_WORKSPACE);
  CUdeviceptr work = 0;
  ASSERT_EQ(cuMemAlloc(&work, size), CUDA_SUCCESS);
  EXPECT_EQ(cufftSetWorkArea(plan, reinterpret_cast<void*>(work)), CUFFT_SUCCESS);
  EXPECT_EQ(cufftExecC2C(plan, complex(), complex(), CUFFT_FORWARD), CUFFT_SUCCESS);
  EXPECT_EQ(first(), length);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
  EXPECT_EQ(cuMemFree(work), CUDA_SUCCESS);
}

TEST_F(FftApi, CanBeMadeAfterAFailure) {
  cufftHandle plan = 0;
  size_t size = 1;
  ASSERT_EQ(cufftCreate(&plan), CUFFT_SUCCESS);
  int lengths[] = {1 << 20}, embed[] = {0};
  // Of two layouts, so that in place is another transform; there is no memory for it.
  EXPECT_NE(cufftMakePlanMany(plan, 1, lengths, embed, 1, 1 << 20, embed, 1, 1 << 21, CUFFT_C2C, 1 << 20, &size),
            CUFFT_SUCCESS);
  ASSERT_EQ(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &size), CUFFT_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(cufftExecC2C(plan, complex(), complex(), CUFFT_FORWARD), CUFFT_SUCCESS);
  EXPECT_EQ(first(), 8);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
}

TEST_F(FftApi, RunsInAThreadWithoutAContext) {
  cufftHandle plan = 0;
  ASSERT_EQ(cufftPlan1d(&plan, 8, CUFFT_C2C, 1), CUFFT_SUCCESS);
  std::thread([&] { EXPECT_EQ(cufftExecC2C(plan, complex(), complex(), CUFFT_FORWARD), CUFFT_SUCCESS); }).join();
  EXPECT_EQ(first(), 8);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
}

TEST_F(FftApi, StartsAnewAfterAReset) {
  cufftHandle plan = 0;
  ASSERT_EQ(cuDevicePrimaryCtxReset(device), CUDA_SUCCESS);
  memory = 0;  // went with the context
  ASSERT_EQ(cufftPlan1d(&plan, 8, CUFFT_C2C, 1), CUFFT_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&memory, bytes), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(memory, 0x3F800000, bytes / 4), CUDA_SUCCESS);
  EXPECT_EQ(cufftExecC2C(plan, complex(), complex(), CUFFT_FORWARD), CUFFT_SUCCESS);
  EXPECT_EQ(first(), 8);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
}

TEST_F(FftApi, TakesTypesOfNumbers) {
  cufftHandle plan = 0;
  size_t size = 1;
  long long lengths[] = {8};
  ASSERT_EQ(cufftCreate(&plan), CUFFT_SUCCESS);
  EXPECT_EQ(
      cufftXtGetSizeMany(plan, 1, lengths, nullptr, 1, 0, CUDA_R_32F, nullptr, 1, 0, CUDA_C_32F, 1, &size, CUDA_C_32F),
      CUFFT_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(
      cufftXtMakePlanMany(plan, 1, lengths, nullptr, 1, 0, CUDA_C_16F, nullptr, 1, 0, CUDA_C_16F, 1, &size, CUDA_C_16F),
      CUFFT_INVALID_TYPE);
  ASSERT_EQ(
      cufftXtMakePlanMany(plan, 1, lengths, nullptr, 1, 0, CUDA_R_32F, nullptr, 1, 0, CUDA_C_32F, 1, &size, CUDA_C_32F),
      CUFFT_SUCCESS);
  // A real transform has one direction, whatever is said.
  EXPECT_EQ(cufftXtExec(plan, complex(), complex(), 0), CUFFT_SUCCESS);
  EXPECT_EQ(first(), 8);
  EXPECT_EQ(cufftGetSize1d(12345, 8, CUFFT_C2C, 1, &size), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
  int major = 0, version = 0;
  EXPECT_EQ(cufftGetProperty(MAJOR_VERSION, &major), CUFFT_SUCCESS);
  EXPECT_EQ(cufftGetVersion(&version), CUFFT_SUCCESS);
  EXPECT_EQ(version / 1000, major);
}

TEST_F(FftApi, GoesIntoGraphs) {
  expectCaptured(CUFFT_C2C, CU_STREAM_NON_BLOCKING,
                 [this](cufftHandle plan) { return cufftExecC2C(plan, complex(), complex(), CUFFT_FORWARD); });
}

// The kernels for unaligned numbers are made when they are first needed, here by a thread that captures a stream.
TEST_F(FftApi, GoesIntoGraphsFromUnalignedNumbers) {
  for (const unsigned flags : {CU_STREAM_NON_BLOCKING, CU_STREAM_DEFAULT}) {
    ASSERT_EQ(cuMemsetD32(memory, 0x3F800000, bytes / 4), CUDA_SUCCESS);
    expectCaptured(CUFFT_R2C, flags, [this](cufftHandle plan) {
      return cufftExecR2C(plan, reinterpret_cast<cufftReal*>(memory + 4100), complex());
    });
  }
}

}  // namespace
}  // namespace mulciber::test
