// A device for the tests of both APIs; without one they skip.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>
#include <unistd.h>

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
  int attribute(CUdevice_attribute which) const {
    int value = -1;
    EXPECT_EQ(cuDeviceGetAttribute(&value, which, device), CUDA_SUCCESS);
    return value;
  }

  CUdevice device = 0;
  CUcontext context = nullptr;
};

// With the kernel `scale`.
class WithScale : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuModuleLoadData(&module, scalePtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (module) {
      EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  CUmodule module = nullptr;
  CUfunction scale = nullptr;
};

// In a child of a death test: ends it with a code that says what was wrong.
inline void endUnless(bool isRight, int wrong) {
  if (!isRight) _exit(wrong);
}

}  // namespace mulciber::test
