// The launches from before CUDA 4, and what fails before a kernel can be had.
#include <cstring>
#include <string>

#include "api_test.h"

namespace mulciber::test {
namespace {

// Writes its parameters, its block's shape, the grid's and the dynamic shared memory.
constexpr const char* tellPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry tell(.param .u64 out, .param .u32 number, .param .f32 fraction) {
  .reg .b32 %r<9>;
  .reg .f32 %f;
  .reg .b64 %rd;
  ld.param.u64 %rd, [out];
  ld.param.u32 %r1, [number];
  ld.param.f32 %f, [fraction];
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %ntid.y;
  mov.u32 %r4, %ntid.z;
  mov.u32 %r5, %nctaid.x;
  mov.u32 %r6, %nctaid.y;
  mov.u32 %r7, %dynamic_smem_size;
  st.global.u32 [%rd], %r1;
  st.global.f32 [%rd+4], %f;
  st.global.u32 [%rd+8], %r2;
  st.global.u32 [%rd+12], %r3;
  st.global.u32 [%rd+16], %r4;
  st.global.u32 [%rd+20], %r5;
  st.global.u32 [%rd+24], %r6;
  st.global.u32 [%rd+28], %r7;
  ret;
}
)";

class OldLaunch : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuModuleLoadData(&module, tellPtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&tell, module, "tell"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&told, bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32(told, 0, bytes / 4), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (module) {
      EXPECT_EQ(cuMemFree(told), CUDA_SUCCESS);
      EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }
  std::string seen() {
    uint32_t words[bytes / 4] = {};
    EXPECT_EQ(cuMemcpyDtoH(words, told, bytes), CUDA_SUCCESS);
    float fraction = 0;
    std::memcpy(&fraction, &words[1], sizeof(fraction));
    std::string text = std::to_string(words[0]) + " " + std::to_string(fraction);
    for (size_t i = 2; i < bytes / 4; ++i) text += " " + std::to_string(words[i]);
    return text;
  }

  static constexpr size_t bytes = 32;
  CUmodule module = nullptr;
  CUfunction tell = nullptr;
  CUdeviceptr told = 0;
};

TEST_F(OldLaunch, TakesWhatWasSetBefore) {  // DRV-13
  ASSERT_EQ(cuFuncSetBlockShape(tell, 8, 2, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuParamSetv(tell, 0, &told, sizeof(told)), CUDA_SUCCESS);
  ASSERT_EQ(cuParamSeti(tell, 8, 77), CUDA_SUCCESS);
  ASSERT_EQ(cuParamSetf(tell, 12, 1.5f), CUDA_SUCCESS);
  ASSERT_EQ(cuParamSetSize(tell, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunch(tell), CUDA_SUCCESS);
  EXPECT_EQ(seen(), "77 1.500000 8 2 4 1 1 0");

  // Settings stay, and each can be changed alone.
  ASSERT_EQ(cuParamSeti(tell, 8, 78), CUDA_SUCCESS);
  ASSERT_EQ(cuFuncSetSharedSize(tell, 1021), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchGrid(tell, 3, 5), CUDA_SUCCESS);
  EXPECT_EQ(seen(), "78 1.500000 8 2 4 3 5 1021");

  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuFuncSetBlockShape(tell, 1, 1, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchGridAsync(tell, 2, 1, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(seen(), "78 1.500000 1 1 1 2 1 1021");
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST_F(OldLaunch, RefusesWhatIsNoShapeOrNoParameter) {
  for (const int wrong : {0, -1}) {
    EXPECT_EQ(cuFuncSetBlockShape(tell, wrong, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuFuncSetBlockShape(tell, 1, 1, wrong), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuLaunchGrid(tell, wrong, 1), CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(cuParamSeti(tell, -4, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuParamSeti(tell, 1 << 20, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuParamSetv(tell, 0, nullptr, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuParamSetSize(tell, 1u << 20), CUDA_ERROR_INVALID_VALUE);
  // Too few parameters for the kernel.
  ASSERT_EQ(cuParamSetSize(tell, 8), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunch(tell), CUDA_ERROR_INVALID_VALUE);
}

class Unusable : public WithDevice {};

TEST_F(Unusable, AMissingFileIsTheCallersAffair) {
  CUmodule module = nullptr;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuModuleLoad(&module, "/no/such/file.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(Unusable, ALibraryOfNewerPtxSaysWhatItLacks) {
  const char* const wrong = ".version 9.7\n.target sm_70\n.address_size 64\n.entry k() { frobnicate.u32; }\n";
  CUlibrary library = nullptr;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuLibraryLoadData(&library, wrong, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("unknown instruction 'frobnicate'"), std::string::npos) << said;
  EXPECT_NE(said.find("PTX ISA version 9.7 is newer than 9.0"), std::string::npos) << said;
}

}  // namespace
}  // namespace mulciber::test
