// A device for the tests of both APIs; without one they skip.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include "support/scale_ptx.h"

namespace mulciber::test {

class WithDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const CUresult error = cuInit(0);
    if (error == CUDA_ERROR_NO_DEVICE) GTEST_SKIP() << "skipped: no Vulkan device";
    ASSERT_EQ(error, CUDA_SUCCESS);
    ASSERT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (context) {
      EXPECT_EQ(cuDevicePrimaryCtxRelease(device), CUDA_SUCCESS);
    }
  }

  CUdevice device = 0;
  CUcontext context = nullptr;
};

}  // namespace mulciber::test
