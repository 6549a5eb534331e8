// Textures of compressed arrays. Blocks here hold colours that every decoder gives alike (tests/texels has the others).
#include <array>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

using Texel = std::array<float, 4>;

constexpr const char* readPtx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry read(.param .u64 handle, .param .u64 out) {
  .reg .b64 %h, %o; .reg .b32 %i; .reg .f32 %x, %y, %r<4>;
  ld.param.u64 %h, [handle]; ld.param.u64 %o, [out]; mov.u32 %i, %tid.x;
  cvt.rn.f32.u32 %x, %i; add.f32 %x, %x, 0f3F000000; mov.f32 %y, 0f3F000000;
  tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y}];
  mad.wide.u32 %o, %i, 16, %o; st.global.v4.f32 [%o], {%r0, %r1, %r2, %r3}; ret;
}
)";

class CompressedTextures : public WithDevice {
 protected:
  // The code of making one, and the first four texels and one beyond the edge, which is a border.
  CUresult readBlock(CUarray_format format, unsigned channels, const std::vector<uint8_t>& block, unsigned flags,
                     std::array<Texel, 5>& seen) {
    const CUDA_ARRAY3D_DESCRIPTOR shape{4, 4, 0, format, channels, 0};
    CUarray array = nullptr;
    EXPECT_EQ(cuArray3DCreate(&array, &shape), CUDA_SUCCESS);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = block.data();
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = block.size();
    copy.Height = 1;
    EXPECT_EQ(cuMemcpy2D(&copy), CUDA_SUCCESS);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC how{};
    for (CUaddress_mode& mode : how.addressMode) mode = CU_TR_ADDRESS_MODE_BORDER;
    how.flags = flags;
    CUtexObject texture = 0;
    const CUresult made = cuTexObjectCreate(&texture, &resource, &how, nullptr);
    if (made == CUDA_SUCCESS) {
      CUmodule module = nullptr;
      CUfunction read = nullptr;
      CUdeviceptr out = 0;
      EXPECT_EQ(cuModuleLoadData(&module, readPtx), CUDA_SUCCESS);
      EXPECT_EQ(cuModuleGetFunction(&read, module, "read"), CUDA_SUCCESS);
      EXPECT_EQ(cuMemAlloc(&out, sizeof seen), CUDA_SUCCESS);
      void* parameters[] = {&texture, &out};
      EXPECT_EQ(cuLaunchKernel(read, 1, 1, 1, 5, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
      EXPECT_EQ(cuMemcpyDtoH(seen.data(), out, sizeof seen), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(out), CUDA_SUCCESS);
      EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
      EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    }
    EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
    return made;
  }
};

// Red, blue, blue, red in the first row.
const std::vector<uint8_t> redAndBlue = {0x00, 0xF8, 0x1F, 0x00, 0x14, 0, 0, 0};
constexpr Texel red{1, 0, 0, 1}, blue{0, 0, 1, 1}, nothing{0, 0, 0, 0};

TEST_F(CompressedTextures, OfFourChannels) {
  std::array<Texel, 5> seen{};
  EXPECT_EQ(readBlock(CU_AD_FORMAT_BC1_UNORM, 4, redAndBlue, 0, seen), CUDA_SUCCESS);
  EXPECT_EQ(seen, (std::array{red, blue, blue, red, nothing}));
}

TEST_F(CompressedTextures, AsSrgbWhereTheTextureAsksForIt) {
  std::array<Texel, 5> seen{};
  EXPECT_EQ(readBlock(CU_AD_FORMAT_BC1_UNORM_SRGB, 4, redAndBlue, 0, seen), CUDA_ERROR_INVALID_VALUE);
  const std::vector<uint8_t> grey = {0x10, 0x84, 0x10, 0x84, 0, 0, 0, 0};  // 132, 130, 132 of 255
  std::array<Texel, 5> plain{}, flagged{};
  EXPECT_EQ(readBlock(CU_AD_FORMAT_BC1_UNORM, 4, grey, 0, plain), CUDA_SUCCESS);
  EXPECT_EQ(readBlock(CU_AD_FORMAT_BC1_UNORM, 4, grey, CU_TRSF_SRGB, flagged), CUDA_SUCCESS);
  EXPECT_EQ(readBlock(CU_AD_FORMAT_BC1_UNORM_SRGB, 4, grey, CU_TRSF_SRGB, seen), CUDA_SUCCESS);
  EXPECT_NEAR(plain[0][0], 132 / 255.f, 0.01);
  EXPECT_NEAR(flagged[0][0], 0.231, 0.01);
  EXPECT_EQ(flagged, seen);
}

TEST_F(CompressedTextures, OfOneChannelAreOpaque) {
  std::array<Texel, 5> seen{};
  const std::vector<uint8_t> ends = {0xFF, 0x00, 0x08, 0, 0, 0, 0, 0};  // 1, 0, 1, 1
  EXPECT_EQ(readBlock(CU_AD_FORMAT_BC4_UNORM, 1, ends, 0, seen), CUDA_SUCCESS);
  constexpr Texel one{1, 0, 0, 1}, zero{0, 0, 0, 1};
  EXPECT_EQ(seen, (std::array{one, zero, one, one, zero}));
}

}  // namespace
}  // namespace mulciber::test
