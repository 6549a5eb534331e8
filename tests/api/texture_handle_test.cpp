// Handles that are no object's: what kernels read through them, and how the checking mode names them.
#include <cuda_runtime.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "api/api_test.h"
#include "api/held_stream.h"

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
.visible .entry readByMemory(.param .u64 handles, .param .u64 out) {
  .reg .b64 %p, %h, %o; .reg .b32 %i, %l; .reg .f32 %r<4>;
  ld.param.u64 %p, [handles]; ld.param.u64 %o, [out]; mov.u32 %i, 3;
  mov.u32 %l, %tid.x; mad.wide.u32 %p, %l, 8, %p; ld.global.u64 %h, [%p];
  tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%h, {%i}];
  st.global.f32 [%o], %r0; ret;
}
.visible .entry surface(.param .u64 handle, .param .u64 out) {
  .reg .b64 %h, %o; .reg .b32 %i; .reg .f32 %v;
  ld.param.u64 %h, [handle]; ld.param.u64 %o, [out]; mov.u32 %i, 4; mov.f32 %v, 0f40E00000;
  sust.b.1d.b32.zero [%h, {%i}], %v;
  suld.b.1d.b32.zero %v, [%h, {%i}];
  st.global.f32 [%o], %v; ret;
}
)";

class TextureHandles : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuModuleLoadData(&module, readPtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&read, module, "read"), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&readByMemory, module, "readByMemory"), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&surface, module, "surface"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&texels, 1024), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32(texels, 0x3F800000, 256), CUDA_SUCCESS);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {texels, CU_AD_FORMAT_FLOAT, 1, 1024};
    const CUDA_TEXTURE_DESC how{};
    ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &how, nullptr), CUDA_SUCCESS);
  }
  CUresult readBy(CUtexObject handle, float& seen) { return run(read, handle, 1, seen); }
  CUresult run(CUfunction function, uint64_t first, unsigned threads, float& seen) const {
    CUdeviceptr out = texels + 512;
    void* parameters[] = {&first, &out};
    EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    if (const CUresult result = cuCtxSynchronize(); result != CUDA_SUCCESS) return result;
    return cuMemcpyDtoH(&seen, out, sizeof seen);
  }
  // The context is lost.
  void expectNamed(uint64_t handle, CUfunction function, uint64_t first, unsigned threads = 1) const {
    char name[32];
    snprintf(name, sizeof name, "%#llx", static_cast<unsigned long long>(handle));
    float seen = 0;
    testing::internal::CaptureStderr();
    EXPECT_EQ(run(function, first, threads, seen), CUDA_ERROR_LAUNCH_FAILED);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(std::string("a kernel used ") + name + ", which is not a texture or surface object"),
              std::string::npos)
        << said;
  }
  static cudaSurfaceObject_t makeSurface(cudaArray_t& array) {
    const cudaChannelFormatDesc floats = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    EXPECT_EQ(cudaMallocArray(&array, &floats, 16, 0, cudaArraySurfaceLoadStore), cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t made = 0;
    EXPECT_EQ(cudaCreateSurfaceObject(&made, &resource), cudaSuccess);
    return made;
  }

  CUmodule module = nullptr;
  CUfunction read = nullptr, readByMemory = nullptr, surface = nullptr;
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
  expectNamed(texture, read, texture);
}

TEST_F(TextureHandles, DestroyedWhileAKernelReadsThemAreNamedWhenChecked) {
  if (!checks()) GTEST_SKIP() << "skipped: MULCIBER_CHECK_TEXTURES is not set";
  {
    const HeldStream held;
    CUdeviceptr out = texels + 512;
    void* parameters[] = {&texture, &out};
    EXPECT_EQ(cuLaunchKernel(read, 1, 1, 1, 1, 1, 1, 0, held.stream, parameters, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  expectNamed(texture, read, texture);
}

TEST_F(TextureHandles, WildOnesAreNamedWhenChecked) {
  if (!checks()) GTEST_SKIP() << "skipped: MULCIBER_CHECK_TEXTURES is not set";
  expectNamed(~texture, read, ~texture);
}

// One lane's of many.
TEST_F(TextureHandles, OfMemoryAreNamedWhenChecked) {
  if (!checks()) GTEST_SKIP() << "skipped: MULCIBER_CHECK_TEXTURES is not set";
  std::vector<CUtexObject> handles(32, texture);
  CUdeviceptr memory = 0;
  float seen = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 256), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD(memory, handles.data(), 256), CUDA_SUCCESS);
  EXPECT_EQ(run(readByMemory, memory, 32, seen), CUDA_SUCCESS);
  EXPECT_EQ(seen, 1);
  handles[13] = 0x123456789ABC;
  ASSERT_EQ(cuMemcpyHtoD(memory, handles.data(), 256), CUDA_SUCCESS);
  expectNamed(handles[13], readByMemory, memory, 32);
}

TEST_F(TextureHandles, OfTheRuntimeAreNamedWhenChecked) {
  if (!checks()) GTEST_SKIP() << "skipped: MULCIBER_CHECK_TEXTURES is not set";
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = reinterpret_cast<void*>(texels);
  resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  resource.res.linear.sizeInBytes = 1024;
  const cudaTextureDesc how{};
  cudaTextureObject_t made = 0;
  ASSERT_EQ(cudaCreateTextureObject(&made, &resource, &how, nullptr), cudaSuccess);
  float seen = 0;
  EXPECT_EQ(readBy(made, seen), CUDA_SUCCESS);
  EXPECT_EQ(seen, 1);
  ASSERT_EQ(cudaDestroyTextureObject(made), cudaSuccess);
  expectNamed(made, read, made);
}

TEST_F(TextureHandles, OfSurfacesReadZerosAndWriteNothing) {
  if (checks()) GTEST_SKIP() << "skipped: MULCIBER_CHECK_TEXTURES is set";
  cudaArray_t array = nullptr;
  const cudaSurfaceObject_t made = makeSurface(array);
  float seen = 0;
  EXPECT_EQ(run(surface, made, 1, seen), CUDA_SUCCESS);
  EXPECT_EQ(seen, 7);
  for (const uint64_t handle : {cudaSurfaceObject_t{0}, made + 1, ~made}) {
    EXPECT_EQ(run(surface, handle, 1, seen), CUDA_SUCCESS);
    EXPECT_EQ(seen, 0) << std::hex << handle;
  }
  ASSERT_EQ(cudaDestroySurfaceObject(made), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  ASSERT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(texels), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(TextureHandles, OfSurfacesAreNamedWhenChecked) {
  if (!checks()) GTEST_SKIP() << "skipped: MULCIBER_CHECK_TEXTURES is not set";
  cudaArray_t array = nullptr;
  const cudaSurfaceObject_t made = makeSurface(array);
  float seen = 0;
  EXPECT_EQ(run(surface, made, 1, seen), CUDA_SUCCESS);
  EXPECT_EQ(seen, 7);
  ASSERT_EQ(cudaDestroySurfaceObject(made), cudaSuccess);
  expectNamed(made, surface, made);
}

}  // namespace
}  // namespace mulciber::test
