// Texture and surface references: the answers and the values are those of an H200.
#include <array>
#include <numeric>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

constexpr const char* referencesPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .texref T;
.visible .global .surfref S;
.visible .entry sample(.param .u64 out) {
  .reg .b64 %o; .reg .f32 %x, %y, %r<4>; .reg .b32 %i;
  ld.param.u64 %o, [out]; mov.u32 %i, %tid.x; cvt.rn.f32.u32 %x, %i; mul.f32 %x, %x, 0f3e800000; mov.f32 %y, 0f3fc00000;
  tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [T, {%x, %y}];
  mad.wide.u32 %o, %i, 4, %o; st.global.f32 [%o], %r0; ret;
}
.func (.reg .f32 %value) called(.reg .b32 %i) {
  .reg .f32 %x, %y, %r<4>; .reg .b64 %t;
  cvt.rn.f32.u32 %x, %i; mul.f32 %x, %x, 0f3e800000; mov.f32 %y, 0f3fc00000; mov.u64 %t, T;
  tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%x, %y}]; mov.f32 %value, %r0; ret;
}
.visible .entry byAddress(.param .u64 out, .param .u8 odd) {
  .reg .b64 %o; .reg .f32 %r; .reg .b32 %i;
  ld.param.u64 %o, [out]; mov.u32 %i, %tid.x;
  call (%r), called, (%i);
  mad.wide.u32 %o, %i, 4, %o; st.global.f32 [%o], %r; ret;
}
.visible .entry fetch(.param .u64 out) {
  .reg .b64 %o; .reg .b32 %i, %r<4>;
  ld.param.u64 %o, [out]; mov.u32 %i, %tid.x; tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [T, {%i}];
  mad.wide.u32 %o, %i, 4, %o; st.global.u32 [%o], %r0; ret;
}
.visible .entry store(.param .u64 out) {
  .reg .b32 %i, %x, %y; .reg .f32 %f;
  mov.u32 %i, %tid.x; shl.b32 %x, %i, 2; mov.u32 %y, 1; add.u32 %i, %i, 100; cvt.rn.f32.u32 %f, %i; mov.b32 %i, %f;
  sust.b.2d.b32.zero [S, {%x, %y}], %i; ret;
}
.visible .entry kinds(.param .u64 out, .param .u64 object) {
  .reg .b64 %o, %h<3>; .reg .b32 %i, %r; .reg .pred %p;
  ld.param.u64 %o, [out]; mov.u64 %h0, T; mov.u64 %h1, S; ld.param.u64 %h2, [object];
  istypep.texref %p, %h0; selp.u32 %r, 1, 0, %p; st.global.u32 [%o], %r;
  istypep.surfref %p, %h0; selp.u32 %r, 1, 0, %p; st.global.u32 [%o+4], %r;
  istypep.texref %p, %h1; selp.u32 %r, 1, 0, %p; st.global.u32 [%o+8], %r;
  istypep.surfref %p, %h1; selp.u32 %r, 1, 0, %p; st.global.u32 [%o+12], %r;
  istypep.samplerref %p, %h0; selp.u32 %r, 1, 0, %p; st.global.u32 [%o+16], %r;
  istypep.texref %p, %h2; selp.u32 %r, 1, 0, %p; st.global.u32 [%o+20], %r;
  istypep.surfref %p, %h2; selp.u32 %r, 1, 0, %p; st.global.u32 [%o+24], %r; ret;
}
)";

class References : public WithDevice {
 protected:
  static constexpr unsigned threads = 32;
  static constexpr size_t memoryBytes = 1 << 16;

  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuModuleLoadData(&module, referencesPtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetTexRef(&texture, module, "T"), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetSurfRef(&surface, module, "S"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&memory, memoryBytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&out, memoryBytes), CUDA_SUCCESS);
    for (CUarray& array : arrays) {
      const CUDA_ARRAY3D_DESCRIPTOR description{8, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
      ASSERT_EQ(cuArray3DCreate(&array, &description), CUDA_SUCCESS);
      std::vector<float> texels(32);
      std::iota(texels.begin(), texels.end(), array == arrays[0] ? 0.f : 1000.f);
      CUDA_MEMCPY2D copy{};
      copy.srcMemoryType = CU_MEMORYTYPE_HOST;
      copy.srcHost = texels.data();
      copy.srcPitch = 32;
      copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
      copy.dstArray = array;
      copy.WidthInBytes = 32;
      copy.Height = 4;
      ASSERT_EQ(cuMemcpy2D(&copy), CUDA_SUCCESS);
    }
  }
  void TearDown() override {
    if (module) {
      EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
      for (const CUarray array : arrays) EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(out), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  void launch(const char* name, CUdeviceptr to) {
    CUfunction function = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    void* parameters[] = {&to, &second};
    ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  }
  template <class T>
  std::vector<T> firstOf(const char* name, size_t count) {
    EXPECT_EQ(cuMemsetD8(out, 0xEE, 128), CUDA_SUCCESS);
    launch(name, out);
    return read<T>(out, count);
  }
  template <class T>
  static std::vector<T> read(CUdeviceptr from, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cuMemcpyDtoH(values.data(), from, count * sizeof(T)), CUDA_SUCCESS);
    return values;
  }

  CUmodule module = nullptr;
  CUtexref texture = nullptr;
  CUsurfref surface = nullptr;
  CUdeviceptr memory = 0, out = 0;
  uint64_t second = 0;  // parameter, where a kernel has one
  std::array<CUarray, 2> arrays{};
};

using Floats = std::vector<float>;
using Words = std::vector<uint32_t>;

TEST_F(References, StandForWhatIsBound) {             // TEXD-10, TEXH-08
  EXPECT_EQ(firstOf<float>("sample", 4), Floats(4));  // nothing
  ASSERT_EQ(cuTexRefSetArray(texture, arrays[0], CU_TRSA_OVERRIDE_FORMAT), CUDA_SUCCESS);
  EXPECT_EQ(firstOf<float>("sample", 6), (Floats{8, 8, 8, 8, 9, 9}));
  EXPECT_EQ(firstOf<float>("byAddress", 6), (Floats{8, 8, 8, 8, 9, 9}));
  ASSERT_EQ(cuTexRefSetFilterMode(texture, CU_TR_FILTER_MODE_LINEAR), CUDA_SUCCESS);
  EXPECT_EQ(firstOf<float>("sample", 6), (Floats{8, 8, 8, 8.25f, 8.5f, 8.75f}));
  ASSERT_EQ(cuTexRefSetFilterMode(texture, CU_TR_FILTER_MODE_POINT), CUDA_SUCCESS);
  ASSERT_EQ(cuTexRefSetFlags(texture, CU_TRSF_NORMALIZED_COORDINATES), CUDA_SUCCESS);
  ASSERT_EQ(cuTexRefSetAddressMode(texture, 0, CU_TR_ADDRESS_MODE_WRAP), CUDA_SUCCESS);
  EXPECT_EQ(firstOf<float>("sample", 6), (Floats{24, 26, 28, 30, 24, 26}));
  ASSERT_EQ(cuTexRefSetFlags(texture, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuTexRefSetArray(texture, arrays[1], CU_TRSA_OVERRIDE_FORMAT), CUDA_SUCCESS);
  EXPECT_EQ(firstOf<float>("sample", 5), (Floats{1008, 1008, 1008, 1008, 1009}));
}

TEST_F(References, OfAnotherSizeThanTheirArrayEndLaunches) {
  ASSERT_EQ(cuTexRefSetArray(texture, arrays[0], CU_TRSA_OVERRIDE_FORMAT), CUDA_SUCCESS);
  ASSERT_EQ(cuTexRefSetFormat(texture, CU_AD_FORMAT_FLOAT, 4), CUDA_SUCCESS);
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&function, module, "sample"), CUDA_SUCCESS);
  void* parameters[] = {&out};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuTexRefSetFormat(texture, CU_AD_FORMAT_FLOAT, 1), CUDA_SUCCESS);
  EXPECT_EQ(firstOf<float>("sample", 6), (Floats{8, 8, 8, 8, 9, 9}));
}

TEST_F(References, SurfacesAreWritten) {  // TEXH-09, CS-027
  ASSERT_EQ(cuSurfRefSetArray(surface, arrays[0], 0), CUDA_SUCCESS);
  launch("store", 0);
  ASSERT_EQ(cuTexRefSetArray(texture, arrays[0], CU_TRSA_OVERRIDE_FORMAT), CUDA_SUCCESS);
  EXPECT_EQ(firstOf<float>("sample", 6), (Floats{100, 100, 100, 100, 101, 101}));
  CUarray bound = nullptr;
  ASSERT_EQ(cuSurfRefGetArray(&bound, surface), CUDA_SUCCESS);
  EXPECT_EQ(bound, arrays[0]);
}

// Whatever is bound. Objects are not of these kinds, nor is no object.
TEST_F(References, TellTheirKind) {
  const Words kinds{1, 0, 0, 1, 0, 0, 0};
  EXPECT_EQ(firstOf<uint32_t>("kinds", 7), kinds);
  ASSERT_EQ(cuTexRefSetArray(texture, arrays[0], CU_TRSA_OVERRIDE_FORMAT), CUDA_SUCCESS);
  EXPECT_EQ(firstOf<uint32_t>("kinds", 7), kinds);
  ASSERT_EQ(cuSurfRefSetArray(surface, arrays[0], 0), CUDA_SUCCESS);
  EXPECT_EQ(firstOf<uint32_t>("kinds", 7), kinds);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = arrays[0];
  CUtexObject object = 0;
  const CUDA_TEXTURE_DESC description{};
  ASSERT_EQ(cuTexObjectCreate(&object, &resource, &description, nullptr), CUDA_SUCCESS);
  second = object;
  EXPECT_EQ(firstOf<uint32_t>("kinds", 7), kinds);
  EXPECT_EQ(cuTexObjectDestroy(object), CUDA_SUCCESS);
}

TEST_F(References, MemoryIsBoundWithAnOffset) {  // TEXH-10
  std::vector<uint32_t> texels(64);
  for (uint32_t i = 0; i < texels.size(); ++i) texels[i] = i * 3;
  ASSERT_EQ(cuMemcpyHtoD(memory, texels.data(), 256), CUDA_SUCCESS);
  ASSERT_EQ(cuTexRefSetFormat(texture, CU_AD_FORMAT_UNSIGNED_INT32, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuTexRefSetFlags(texture, CU_TRSF_READ_AS_INTEGER), CUDA_SUCCESS);
  size_t offset = 77;
  ASSERT_EQ(cuTexRefSetAddress(&offset, texture, memory, 64), CUDA_SUCCESS);
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(firstOf<uint32_t>("fetch", 18), (Words{0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 0, 0}));
  ASSERT_EQ(cuTexRefSetAddress(&offset, texture, memory + 4, 64), CUDA_SUCCESS);
  EXPECT_EQ(offset, 4u);
  EXPECT_EQ(firstOf<uint32_t>("fetch", 4), (Words{0, 3, 6, 9}));
  EXPECT_EQ(cuTexRefSetAddress(nullptr, texture, memory + 4, 64), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr bound = 0;
  ASSERT_EQ(cuTexRefGetAddress(&bound, texture), CUDA_SUCCESS);
  EXPECT_EQ(bound, memory);

  std::vector<float> plane(512);
  std::iota(plane.begin(), plane.end(), 0.f);
  ASSERT_EQ(cuMemcpyHtoD(memory, plane.data(), 2048), CUDA_SUCCESS);
  ASSERT_EQ(cuTexRefSetFlags(texture, 0), CUDA_SUCCESS);
  const CUDA_ARRAY_DESCRIPTOR description{8, 4, CU_AD_FORMAT_FLOAT, 1};
  ASSERT_EQ(cuTexRefSetAddress2D(texture, &description, memory, 512), CUDA_SUCCESS);
  EXPECT_EQ(firstOf<float>("sample", 5), (Floats{128, 128, 128, 128, 129}));
  ASSERT_EQ(cuTexRefSetAddress(&offset, texture, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(firstOf<float>("sample", 4), Floats(4));
}

// Each launch sees what was bound when it was made.
TEST_F(References, AreBoundAnewWhileKernelsRun) {
  constexpr unsigned rounds = 100;
  for (unsigned i = 0; i < rounds; ++i) {
    ASSERT_EQ(cuTexRefSetArray(texture, arrays[i % 2], CU_TRSA_OVERRIDE_FORMAT), CUDA_SUCCESS);
    launch("sample", out + i * threads * 4);
  }
  ASSERT_EQ(cuTexRefSetAddress(nullptr, texture, 0, 0), CUDA_SUCCESS);
  for (unsigned i = 0; i < rounds; ++i) ASSERT_EQ(read<float>(out + i * threads * 4, 1)[0], i % 2 ? 1008.f : 8.f) << i;
}

TEST_F(References, BeginAsTheDriversDo) {
  CUaddress_mode mode{};
  CUfilter_mode filter{};
  CUarray_format format{};
  unsigned flags = 77;
  int channels = 0, anisotropy = 77;
  ASSERT_EQ(cuTexRefGetAddressMode(&mode, texture, 0), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_TR_ADDRESS_MODE_CLAMP);
  ASSERT_EQ(cuTexRefGetFilterMode(&filter, texture), CUDA_SUCCESS);
  EXPECT_EQ(filter, CU_TR_FILTER_MODE_POINT);
  ASSERT_EQ(cuTexRefGetFlags(&flags, texture), CUDA_SUCCESS);
  EXPECT_EQ(flags, 0u);
  ASSERT_EQ(cuTexRefGetFormat(&format, &channels, texture), CUDA_SUCCESS);
  EXPECT_EQ(format, CU_AD_FORMAT_FLOAT);
  EXPECT_EQ(channels, 1);
  ASSERT_EQ(cuTexRefGetMaxAnisotropy(&anisotropy, texture), CUDA_SUCCESS);
  EXPECT_EQ(anisotropy, 0);
}

TEST_F(References, RefuseAsTheDriversDo) {
  CUtexref other = nullptr;
  CUdeviceptr address = 0;
  CUarray array = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(cuModuleGetTexRef(&other, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetTexRef(&other, module, "S"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetGlobal(&address, &bytes, module, "T"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexRefGetAddress(&address, texture), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexRefGetArray(&array, texture), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuSurfRefGetArray(&array, surface), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexRefSetArray(texture, nullptr, CU_TRSA_OVERRIDE_FORMAT), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuTexRefSetFormat(texture, CU_AD_FORMAT_FLOAT, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexRefSetFlags(nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuTexRefSetAddressMode(texture, 3, CU_TR_ADDRESS_MODE_WRAP), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexRefSetFlags(texture, 0x100), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuSurfRefSetArray(surface, arrays[0], 1), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuTexRefCreate(&other), CUDA_SUCCESS);
  EXPECT_EQ(cuTexRefSetArray(other, arrays[0], 0), CUDA_SUCCESS);
  EXPECT_EQ(cuTexRefDestroy(other), CUDA_SUCCESS);
}

}  // namespace
}  // namespace mulciber::test
