// Handles that are no object's: what kernels read through them, and how the checking mode names them.
#include <cstdlib>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

constexpr const char* readPtx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry read(.param .u64 handle, .param .u64 out) {
  .reg .b64 %h, %o; .reg .b32 %i; .reg .f32 %r<4>;
  ld.param.u64 %h, [handle]; ld.param.u64 %o, [out]; mov.u32 %i, 3;
  tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%h, {%i}];
  st.global.f32 [%o], %r0; ret;
}
)";

class TextureHandles : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuModuleLoadData(&module, readPtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&read, module, "read"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&texels, 1024), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32(texels, 0x3F800000, 256), CUDA_SUCCESS);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {texels, CU_AD_FORMAT_FLOAT, 1, 1024};
    const CUDA_TEXTURE_DESC how{};
    ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &how, nullptr), CUDA_SUCCESS);
  }
  CUresult readBy(CUtexObject handle, float& seen) {
    CUdeviceptr out = texels + 512;
    void* parameters[] = {&handle, &out};
    EXPECT_EQ(cuLaunchKernel(read, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    if (const CUresult result = cuCtxSynchronize(); result != CUDA_SUCCESS) return result;
    return cuMemcpyDtoH(&seen, out, sizeof seen);
  }

  CUmodule module = nullptr;
  CUfunction read = nullptr;
  CUdeviceptr texels = 0;
  CUtexObject texture = 0;
};

bool checks() { return std::getenv("MULCIBER_CHECK_TEXTURES") != nullptr; }

// Destroyed ones are of objects until room is made for others.
TEST_F(TextureHandles, OfNoObjectReadZeros) {
  if (checks()) GTEST_SKIP() << "skipped: MULCIBER_CHECK_TEXTURES is set";
  float seen = 0;
  EXPECT_EQ(readBy(texture, seen), CUDA_SUCCESS);
  EXPECT_EQ(seen, 1);
  for (const CUtexObject handle : {CUtexObject{0}, texture + 1, texture ^ CUtexObject{1} << 40, ~texture}) {
    seen = 7;
    EXPECT_EQ(readBy(handle, seen), CUDA_SUCCESS);
    EXPECT_EQ(seen, 0) << std::hex << handle;
  }
  ASSERT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(texels), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

// CTest runs this with MULCIBER_CHECK_TEXTURES=1. The context is lost.
TEST_F(TextureHandles, AreNamedWhenChecked) {
  if (!checks()) GTEST_SKIP() << "skipped: MULCIBER_CHECK_TEXTURES is not set";
  float seen = 0;
  EXPECT_EQ(readBy(texture, seen), CUDA_SUCCESS);
  EXPECT_EQ(seen, 1);
  ASSERT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  char name[32];
  snprintf(name, sizeof name, "%#llx", texture);
  testing::internal::CaptureStderr();
  EXPECT_EQ(readBy(texture, seen), CUDA_ERROR_LAUNCH_FAILED);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find(std::string("a kernel used ") + name + ", which is not a texture or surface object"),
            std::string::npos)
      << said;
}

}  // namespace
}  // namespace mulciber::test
