// Texture and surface references of CUDA 11's runtime, which later ones have not: nvcc's programs register them.
#include <dlfcn.h>

#include <numeric>
#include <vector>

#include "api/api_test.h"
#include "support/fat_binary.h"

// As CUDA 11's headers have them.
struct textureReference {
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int reserved[14];
};
struct surfaceReference {
  cudaChannelFormatDesc channelDesc;
};

namespace mulciber::test {
namespace {

constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .texref T;
.visible .global .surfref S;
.visible .entry sample(.param .u64 out) {
  .reg .b64 %o; .reg .f32 %x, %y, %r<4>; .reg .b32 %i;
  ld.param.u64 %o, [out]; mov.u32 %i, %tid.x; cvt.rn.f32.u32 %x, %i; mov.f32 %y, 0f3fc00000;
  tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [T, {%x, %y}];
  mad.wide.u32 %o, %i, 4, %o; st.global.f32 [%o], %r0; ret;
}
.visible .entry fetch(.param .u64 out) {
  .reg .b64 %o; .reg .b32 %i; .reg .f32 %r<4>;
  ld.param.u64 %o, [out]; mov.u32 %i, %tid.x; tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [T, {%i}];
  mad.wide.u32 %o, %i, 4, %o; st.global.f32 [%o], %r0; ret;
}
.visible .entry store(.param .u64 out) {
  .reg .b32 %i, %x, %y; .reg .f32 %f;
  mov.u32 %i, %tid.x; shl.b32 %x, %i, 2; mov.u32 %y, 1; add.u32 %i, %i, 100; cvt.rn.f32.u32 %f, %i; mov.b32 %i, %f;
  sust.b.2d.b32.zero [S, {%x, %y}], %i; ret;
}
)";

// The functions of one runtime library.
class Runtime {
 public:
  Runtime() : library_(dlopen("libcudart.so.11.0", RTLD_NOW | RTLD_LOCAL)) {}
  bool isThere() const { return library_ != nullptr; }
  template <class Result = cudaError_t, class... Arguments>
  Result call(const char* name, Arguments... arguments) const {
    auto* const function = reinterpret_cast<Result (*)(Arguments...)>(dlsym(library_, name));
    EXPECT_NE(function, nullptr) << name;
    return function(arguments...);
  }

 private:
  void* library_;
};

class OldReferences : public WithDevice {
 protected:
  static constexpr unsigned threads = 8;

  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_TRUE(runtime.isThere()) << dlerror();
    binary = runtime.call<void**>("__cudaRegisterFatBinary", static_cast<void*>(&image.wrapper));
    const void** const none = nullptr;
    runtime.call<void>("__cudaRegisterTexture", binary, static_cast<const void*>(&texture), none, "T", 2, 0, 0);
    runtime.call<void>("__cudaRegisterSurface", binary, static_cast<const void*>(&surface), none, "S", 2, 0);
    registerKernel(sample, "sample");
    registerKernel(fetch, "fetch");
    registerKernel(store, "store");
    runtime.call<void>("__cudaRegisterFatBinaryEnd", binary);
    for (cudaTextureAddressMode& mode : texture.addressMode) mode = cudaAddressModeClamp;
    texture.channelDesc = floats;
    ASSERT_EQ(cuMemAlloc(&memory, 4096), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&out, 4096), CUDA_SUCCESS);
    std::vector<float> texels(1024);
    std::iota(texels.begin(), texels.end(), 0.f);
    ASSERT_EQ(cuMemcpyHtoD(memory, texels.data(), 4096), CUDA_SUCCESS);
    ASSERT_EQ(
        runtime.call("cudaMallocArray", &array, &floats, size_t{8}, size_t{4}, unsigned{cudaArraySurfaceLoadStore}),
        cudaSuccess);
    ASSERT_EQ(runtime.call("cudaMemcpy2DToArray", array, size_t{0}, size_t{0}, static_cast<const void*>(texels.data()),
                           size_t{32}, size_t{32}, size_t{4}, cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  void TearDown() override {
    if (context) {
      EXPECT_EQ(runtime.call("cudaFreeArray", array), cudaSuccess);
      EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(out), CUDA_SUCCESS);
      runtime.call<void>("__cudaUnregisterFatBinary", binary);
    }
    WithDevice::TearDown();
  }

  void registerKernel(const char& stub, const char* name) {
    uint3* const none = nullptr;
    dim3* const noShape = nullptr;
    runtime.call<void>("__cudaRegisterFunction", binary, &stub, const_cast<char*>(name), name, -1, none, none, noShape,
                       noShape, static_cast<int*>(nullptr));
  }
  std::vector<float> run(const char& stub) {
    void* arguments[] = {&out};
    EXPECT_EQ(runtime.call("cudaLaunchKernel", static_cast<const void*>(&stub), dim3{1, 1, 1}, dim3{threads, 1, 1},
                           &arguments[0], size_t{0}, static_cast<cudaStream_t>(nullptr)),
              cudaSuccess);
    std::vector<float> seen(threads);
    EXPECT_EQ(cuMemcpyDtoH(seen.data(), out, threads * 4), CUDA_SUCCESS);
    return seen;
  }
  static std::vector<float> from(float first) {
    std::vector<float> values(threads);
    std::iota(values.begin(), values.end(), first);
    return values;
  }

  const cudaChannelFormatDesc floats{32, 0, 0, 0, cudaChannelFormatKindFloat};
  Runtime runtime;
  FatBinary image{ptx};
  void** binary = nullptr;
  textureReference texture{};
  surfaceReference surface{};
  char sample = 0, fetch = 0, store = 0;
  CUdeviceptr memory = 0, out = 0;
  cudaArray_t array = nullptr;
};

TEST_F(OldReferences, AreBoundToArrays) {  // TEXH-08
  const auto bind = [&] {
    return runtime.call("cudaBindTextureToArray", static_cast<const textureReference*>(&texture),
                        static_cast<cudaArray_const_t>(array), &floats);
  };
  ASSERT_EQ(bind(), cudaSuccess);
  EXPECT_EQ(run(sample), from(8));
  texture.filterMode = cudaFilterModeLinear;
  EXPECT_EQ(run(sample), from(8)) << "what the program sets counts when it binds";
  ASSERT_EQ(bind(), cudaSuccess);
  EXPECT_EQ(run(sample)[1], 8.5f);
  ASSERT_EQ(runtime.call("cudaUnbindTexture", static_cast<const textureReference*>(&texture)), cudaSuccess);
  EXPECT_EQ(run(sample), std::vector<float>(threads));
}

TEST_F(OldReferences, AreBoundToMemory) {  // TEXH-10
  size_t offset = 77;
  const textureReference* const host = &texture;
  const auto bind = [&](size_t* byteOffset, uint64_t address, size_t bytes) {
    return runtime.call("cudaBindTexture", byteOffset, host, reinterpret_cast<const void*>(address), &floats, bytes);
  };
  ASSERT_EQ(bind(&offset, memory, UINT32_MAX), cudaSuccess);
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(run(fetch), from(0));
  ASSERT_EQ(bind(&offset, memory + 512 + 16, 64), cudaSuccess);
  EXPECT_EQ(offset, 16u);
  EXPECT_EQ(run(fetch), from(128));
  ASSERT_EQ(runtime.call("cudaGetTextureAlignmentOffset", &offset, host), cudaSuccess);
  EXPECT_EQ(offset, 16u);
  EXPECT_EQ(bind(nullptr, memory + 16, 64), cudaErrorInvalidValue);
  ASSERT_EQ(runtime.call("cudaBindTexture2D", &offset, host, reinterpret_cast<const void*>(memory), &floats, size_t{8},
                         size_t{4}, size_t{64}),
            cudaSuccess);
  EXPECT_EQ(run(sample), from(16));
}

TEST_F(OldReferences, OfSurfacesAreWritten) {  // TEXH-09
  ASSERT_EQ(runtime.call("cudaBindSurfaceToArray", static_cast<const surfaceReference*>(&surface),
                         static_cast<cudaArray_const_t>(array), &floats),
            cudaSuccess);
  run(store);
  ASSERT_EQ(runtime.call("cudaBindTextureToArray", static_cast<const textureReference*>(&texture),
                         static_cast<cudaArray_const_t>(array), &floats),
            cudaSuccess);
  EXPECT_EQ(run(sample), from(100));
}

TEST_F(OldReferences, OthersAreNone) {
  const textureReference stranger{}, *found = nullptr;
  EXPECT_EQ(runtime.call("cudaUnbindTexture", &stranger), cudaErrorInvalidTexture);
  EXPECT_EQ(runtime.call("cudaGetTextureReference", &found, static_cast<const void*>(&stranger)),
            cudaErrorInvalidTexture);
  ASSERT_EQ(runtime.call("cudaGetTextureReference", &found, static_cast<const void*>(&texture)), cudaSuccess);
  EXPECT_EQ(found, &texture);
  EXPECT_EQ(runtime.call("cudaBindSurfaceToArray", static_cast<const surfaceReference*>(nullptr),
                         static_cast<cudaArray_const_t>(array), &floats),
            cudaErrorInvalidSurface);
}

}  // namespace
}  // namespace mulciber::test
