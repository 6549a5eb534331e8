// Textures that view arrays of words as compressed blocks. The blocks hold colours that every decoder gives alike.
#include <cuda_runtime.h>

#include <array>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

using Texel = std::array<float, 4>;
using Block = std::array<uint32_t, 2>;

constexpr const char* ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry read(.param .u64 handle, .param .u64 out) {
  .reg .b64 %h, %o; .reg .b32 %i; .reg .f32 %x, %y, %r<4>;
  ld.param.u64 %h, [handle]; ld.param.u64 %o, [out]; mov.u32 %i, %tid.x;
  cvt.rn.f32.u32 %x, %i; add.f32 %x, %x, 0f3F000000; mov.f32 %y, 0f3F000000;
  tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y}];
  mad.wide.u32 %o, %i, 16, %o; st.global.v4.f32 [%o], {%r0, %r1, %r2, %r3}; ret;
}
.visible .entry store(.param .u64 handle, .param .b32 low, .param .b32 high) {
  .reg .b64 %h; .reg .b32 %x, %a, %b;
  ld.param.u64 %h, [handle]; ld.param.b32 %a, [low]; ld.param.b32 %b, [high]; mov.u32 %x, 0;
  sust.b.2d.v2.b32.trap [%h, {%x, %x}], {%a, %b}; ret;
}
)";

// Of BC1, with the first row red, blue, blue, red, and the other way round.
constexpr Block redFirst{0x001FF800, 0x14}, blueFirst{0x001FF800, 0x41};
constexpr Texel red{1, 0, 0, 1}, blue{0, 0, 1, 1};
const std::vector<Texel> redRow{red, blue, blue, red}, blueRow{blue, red, red, blue};

class BlockViews : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuModuleLoadData(&module_, ptx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&read_, module_, "read"), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&store_, module_, "store"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&out_, 1024), CUDA_SUCCESS);
    make(array_, {2, 1, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2, CUDA_ARRAY3D_SURFACE_LDST});
    fill({redFirst, blueFirst});
  }
  void TearDown() override {
    if (module_) {
      EXPECT_EQ(cuArrayDestroy(array_), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(out_), CUDA_SUCCESS);
      EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  static void make(CUarray& out, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
    ASSERT_EQ(cuArray3DCreate(&out, &shape), CUDA_SUCCESS);
  }
  void fill(const std::array<Block, 2>& blocks) {
    EXPECT_EQ(cuMemcpyHtoA(array_, 0, blocks.data(), sizeof blocks), CUDA_SUCCESS);
  }
  static CUresult view(CUarray array, unsigned format, size_t width, size_t height, CUtexObject& out,
                       unsigned flags = 0) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC how{};
    for (CUaddress_mode& mode : how.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
    how.flags = flags;
    CUDA_RESOURCE_VIEW_DESC seen{};
    seen.format = static_cast<CUresourceViewFormat>(format);
    seen.width = width;
    seen.height = height;
    return cuTexObjectCreate(&out, &resource, &how, &seen);
  }
  CUtexObject viewAsBlocks(unsigned flags = 0) {
    CUtexObject texture = 0;
    EXPECT_EQ(view(array_, CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 8, 4, texture, flags), CUDA_SUCCESS);
    return texture;
  }
  // The first row of the blocks.
  std::vector<Texel> row(CUtexObject texture, unsigned count = 8) {
    std::vector<Texel> seen(count);
    void* parameters[] = {&texture, &out_};
    EXPECT_EQ(cuLaunchKernel(read_, 1, 1, 1, count, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(seen.data(), out_, count * sizeof(Texel)), CUDA_SUCCESS);
    return seen;
  }
  static std::vector<Texel> both(const std::vector<Texel>& first, std::vector<Texel> second) {
    second.insert(second.begin(), first.begin(), first.end());
    return second;
  }
  CUsurfObject surface() const {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array_;
    CUsurfObject made = 0;
    surfaceCode_ = cuSurfObjectCreate(&made, &resource);
    return made;
  }
  void storeFirst(CUsurfObject surface, Block block) {
    void* parameters[] = {&surface, &block[0], &block[1]};
    EXPECT_EQ(cuLaunchKernel(store_, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  }

  CUmodule module_ = nullptr;
  CUfunction read_ = nullptr, store_ = nullptr;
  CUdeviceptr out_ = 0;
  CUarray array_ = nullptr;
  mutable CUresult surfaceCode_ = CUDA_SUCCESS;
};

TEST_F(BlockViews, ShowWhatTheArrayHolds) {
  const CUtexObject texture = viewAsBlocks();
  EXPECT_EQ(row(texture), both(redRow, blueRow));
  CUDA_RESOURCE_VIEW_DESC seen{};
  EXPECT_EQ(cuTexObjectGetResourceViewDesc(&seen, texture), CUDA_SUCCESS);
  EXPECT_EQ(seen.format, CU_RES_VIEW_FORMAT_UNSIGNED_BC1);
  EXPECT_EQ(seen.width, 8u);
  EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
}

TEST_F(BlockViews, FollowCopiesToTheArray) {
  const CUtexObject texture = viewAsBlocks(), another = viewAsBlocks();
  fill({blueFirst, redFirst});
  EXPECT_EQ(row(texture), both(blueRow, redRow));
  EXPECT_EQ(row(another), both(blueRow, redRow));

  CUarray other = nullptr;
  make(other, {2, 1, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2, 0});
  EXPECT_EQ(cuMemcpyHtoA(other, 8, redFirst.data(), sizeof redFirst), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAtoA(array_, 0, other, 8, 8), CUDA_SUCCESS);
  EXPECT_EQ(row(texture), both(redRow, redRow));
  // The second word of the first block alone.
  EXPECT_EQ(cuMemcpyHtoA(array_, 4, &blueFirst[1], 4), CUDA_SUCCESS);
  EXPECT_EQ(row(texture), both(blueRow, redRow));

  EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  fill({redFirst, blueFirst});
  EXPECT_EQ(row(another), both(redRow, blueRow));
  EXPECT_EQ(cuTexObjectDestroy(another), CUDA_SUCCESS);
  fill({redFirst, redFirst});
  const CUtexObject last = viewAsBlocks();
  EXPECT_EQ(row(last), both(redRow, redRow));
  EXPECT_EQ(cuTexObjectDestroy(last), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(other), CUDA_SUCCESS);
}

TEST_F(BlockViews, FollowGraphsThatWereMadeBefore) {
  CUdeviceptr blocks = 0;
  const std::array given{blueFirst, redFirst};
  ASSERT_EQ(cuMemAlloc(&blocks, sizeof given), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD(blocks, given.data(), sizeof given), CUDA_SUCCESS);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = blocks;
  copy.srcPitch = copy.WidthInBytes = sizeof given;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array_;
  copy.Height = copy.Depth = copy.srcHeight = 1;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  fill({redFirst, redFirst});
  const CUtexObject texture = viewAsBlocks();
  EXPECT_EQ(row(texture), both(redRow, redRow));
  ASSERT_EQ(cuGraphLaunch(executable, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(row(texture), both(blueRow, redRow));
  EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(blocks), CUDA_SUCCESS);
}

TEST_F(BlockViews, StandBesideNoSurface) {
  const CUsurfObject before = surface();
  EXPECT_EQ(surfaceCode_, CUDA_SUCCESS);
  storeFirst(before, blueFirst);
  CUtexObject texture = 0;
  EXPECT_EQ(view(array_, CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 8, 4, texture), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuSurfObjectDestroy(before), CUDA_SUCCESS);
  texture = viewAsBlocks();
  EXPECT_EQ(row(texture), both(blueRow, blueRow));
  (void)surface();
  EXPECT_EQ(surfaceCode_, CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  const CUsurfObject after = surface();
  EXPECT_EQ(surfaceCode_, CUDA_SUCCESS);
  storeFirst(after, redFirst);
  EXPECT_EQ(cuSurfObjectDestroy(after), CUDA_SUCCESS);
  texture = viewAsBlocks();
  EXPECT_EQ(row(texture), both(redRow, blueRow));
  EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
}

TEST_F(BlockViews, OfOneChannelAreOpaque) {
  fill({Block{0x0800FF, 0}, Block{0x00FF, 0}});  // 1, 0, 1, 1
  CUtexObject texture = 0;
  ASSERT_EQ(view(array_, CU_RES_VIEW_FORMAT_UNSIGNED_BC4, 8, 4, texture), CUDA_SUCCESS);
  constexpr Texel one{1, 0, 0, 1}, zero{0, 0, 0, 1};
  EXPECT_EQ(row(texture, 4), (std::vector{one, zero, one, one}));
  EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
}

TEST_F(BlockViews, AsSrgb) {
  const Block grey{0x84108410, 0};  // 132, 130, 132 of 255
  fill({grey, grey});
  const CUtexObject plain = viewAsBlocks(), decoded = viewAsBlocks(CU_TRSF_SRGB);
  EXPECT_NEAR(row(plain, 1)[0][0], 132 / 255.f, 0.01);
  EXPECT_NEAR(row(decoded, 1)[0][0], 0.231, 0.01);
  EXPECT_EQ(cuTexObjectDestroy(plain), CUDA_SUCCESS);
  EXPECT_EQ(cuTexObjectDestroy(decoded), CUDA_SUCCESS);
}

// The runtime refuses linear filters of words, and words as fractions, but not these.
TEST_F(BlockViews, OfTheRuntime) {
  const cudaChannelFormatDesc words = cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindUnsigned);
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &words, 2, 1, 0), cudaSuccess);
  const std::array blocks{redFirst, blueFirst};
  ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, blocks.data(), sizeof blocks, sizeof blocks, 1, cudaMemcpyHostToDevice),
            cudaSuccess);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaResourceViewDesc seen{};
  seen.format = cudaResViewFormatUnsignedBlockCompressed1;
  seen.width = 8;
  seen.height = 4;
  for (const cudaTextureReadMode mode : {cudaReadModeElementType, cudaReadModeNormalizedFloat})
    for (const cudaTextureFilterMode filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
      cudaTextureDesc how{};
      how.readMode = mode;
      how.filterMode = filter;
      cudaTextureObject_t texture = 0;
      ASSERT_EQ(cudaCreateTextureObject(&texture, &resource, &how, &seen), cudaSuccess);
      EXPECT_EQ(row(texture), both(redRow, blueRow));
      EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
    }
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST_F(BlockViews, OfLevelsThatAreFiltered) {
  const CUDA_ARRAY3D_DESCRIPTOR shape{2, 2, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2, 0};
  CUmipmappedArray levels = nullptr;
  ASSERT_EQ(cuMipmappedArrayCreate(&levels, &shape, 2), CUDA_SUCCESS);
  for (unsigned i = 0; i < 2; ++i) {
    CUarray level = nullptr;
    ASSERT_EQ(cuMipmappedArrayGetLevel(&level, levels, i), CUDA_SUCCESS);
    const std::vector<Block> blocks(4, i == 0 ? Block{0xF800F800, 0} : Block{0x001F001F, 0});
    const size_t row = i == 0 ? 16 : 8;
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = blocks.data();
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = level;
    copy.WidthInBytes = copy.srcPitch = row;
    copy.Height = i == 0 ? 2 : 1;
    ASSERT_EQ(cuMemcpy2D(&copy), CUDA_SUCCESS);
  }
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = levels;
  CUDA_TEXTURE_DESC how{};
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  how.flags = CU_TRSF_NORMALIZED_COORDINATES;
  CUDA_RESOURCE_VIEW_DESC seen{};
  seen.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1;
  seen.width = seen.height = 8;
  CUtexObject texture = 0;
  for (unsigned i = 0; i < 2; ++i) {
    seen.firstMipmapLevel = seen.lastMipmapLevel = i;
    ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &how, &seen), CUDA_SUCCESS);
    EXPECT_EQ(row(texture, 1)[0], i == 0 ? red : blue);
    EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuMipmappedArrayDestroy(levels), CUDA_SUCCESS);
}

TEST_F(BlockViews, RefuseOtherArrays) {
  CUtexObject texture = 0;
  EXPECT_EQ(view(array_, CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 2, 1, texture), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(view(array_, CU_RES_VIEW_FORMAT_UNSIGNED_BC2, 8, 4, texture), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(view(array_, CU_RES_VIEW_FORMAT_UNSIGNED_BC7 + 1, 8, 4, texture), CUDA_ERROR_INVALID_VALUE);
  CUarray array = nullptr;
  make(array, {2, 1, 0, CU_AD_FORMAT_SIGNED_INT32, 2, 0});
  EXPECT_EQ(view(array, CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 8, 4, texture), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  // CUDA says nothing of these.
  make(array, {2, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2, 0});
  EXPECT_EQ(view(array, CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 8, 0, texture), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  make(array, {8, 8, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0});
  EXPECT_EQ(view(array, CU_RES_VIEW_FORMAT_UINT_2X32, 8, 8, texture), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  // The levels of three columns of blocks have one, those of twelve columns of texels two.
  const CUDA_ARRAY3D_DESCRIPTOR shape{3, 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2, 0};
  CUmipmappedArray levels = nullptr;
  ASSERT_EQ(cuMipmappedArrayCreate(&levels, &shape, 2), CUDA_SUCCESS);
  CUarray level = nullptr;
  ASSERT_EQ(cuMipmappedArrayGetLevel(&level, levels, 0), CUDA_SUCCESS);
  EXPECT_EQ(view(level, CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 12, 16, texture), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMipmappedArrayDestroy(levels), CUDA_SUCCESS);
}

}  // namespace
}  // namespace mulciber::test
