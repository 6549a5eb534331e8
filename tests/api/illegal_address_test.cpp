// HOST-12: kernels that use addresses which they may not. On a CPU device they run in threads of the process, which
// must live on; a GPU may take long to say so, or never does (docs/runtime.md).
#include <csignal>
#include <cstdlib>

#include "api_test.h"

namespace mulciber::test {
namespace {

constexpr const char* strayPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry stray(.param .u64 address) {
  .reg .b64 %rd;
  ld.param.u64 %rd, [address];
  st.global.u32 [%rd], 1;
  ret;
}
)";

enum Wrong { NotSetUp = 10, OtherCode = 11, NotSticky = 12, OfReset = 13, NotChained = 14 };

class IllegalAddressDeathTest : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    int isIntegrated = 0;
    ASSERT_EQ(cuDeviceGetAttribute(&isIntegrated, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, device),
              CUDA_SUCCESS);
    if (isIntegrated == 0) GTEST_SKIP() << "skipped: this is no CPU device";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  // Ends with 0 when every call answers as CUDA does after the kernel.
  [[noreturn]] static void stray(CUdeviceptr address) {
    CUmodule module = nullptr;
    CUfunction stray = nullptr;
    CUdeviceptr data = 0;
    void* parameters[] = {&address};
    endUnless(cuModuleLoadData(&module, strayPtx) == CUDA_SUCCESS &&
                  cuModuleGetFunction(&stray, module, "stray") == CUDA_SUCCESS &&
                  cuLaunchKernel(stray, 4, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_SUCCESS,
              NotSetUp);
    endUnless(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS, OtherCode);
    endUnless(
        cuMemAlloc(&data, 4096) == CUDA_ERROR_ILLEGAL_ADDRESS &&
            cuLaunchKernel(stray, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_ERROR_ILLEGAL_ADDRESS &&
            cuStreamQuery(nullptr) == CUDA_ERROR_ILLEGAL_ADDRESS,
        NotSticky);
    // The device does not come back in this process; NVIDIA's did not either.
    endUnless(cuDevicePrimaryCtxReset(0) == CUDA_SUCCESS, OfReset);
    CUcontext again = nullptr;
    endUnless(cuDevicePrimaryCtxRetain(&again, 0) == CUDA_ERROR_DEVICE_UNAVAILABLE, OfReset);
    std::exit(0);
  }
};

TEST_F(IllegalAddressDeathTest, NullIsNamedAndTheProcessLives) {
  EXPECT_EXIT(stray(0), testing::ExitedWithCode(0), "the kernel stray used the illegal address 0x0: ");
}

TEST_F(IllegalAddressDeathTest, SoIsOneThatNobodyHas) {
  EXPECT_EXIT(stray(0x500000000000), testing::ExitedWithCode(0), "the kernel stray used the illegal address 0x5");
}

// An address that no processor takes.
TEST_F(IllegalAddressDeathTest, SoIsOneThatNobodyCanHave) {
  EXPECT_EXIT(stray(0x7000'1234'5678'0000), testing::ExitedWithCode(0), "the kernel stray used an illegal address: ");
}

// The program's own faults are its own affair.
TEST_F(IllegalAddressDeathTest, OthersFaultsGoTheirWay) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "skipped: the thread sanitizer ends the process at a fault";
#endif
  EXPECT_EXIT(*static_cast<volatile int*>(nullptr) = 1, testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(raise(SIGSEGV), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace mulciber::test
