// Surfaces: what kernels read and write by bytes, against a model in host memory.
#include "api/surfaces.h"

namespace mulciber::test::surfaces {
namespace {

TEST_F(Surfaces, LoadsOfEveryWidth) {  // TEXD-11
  for (const Access& access : accesses)
    for (const char* mode : {"zero", "clamp"}) checkLoads(Geometry::Plane, access, mode);
}

TEST_F(Surfaces, StoresOfEveryWidth) {
  for (const Access& access : accesses)
    for (const char* mode : {"zero", "clamp"}) checkStores(Geometry::Plane, access, mode);
}

TEST_F(Surfaces, EveryGeometry) {
  for (const Geometry geometry :
       {Geometry::Line, Geometry::Volume, Geometry::Lines, Geometry::Planes, Geometry::Cube, Geometry::Level}) {
    checkLoads(geometry, {1, 32}, "zero");
    checkStores(geometry, {1, 16}, "clamp");
  }
}

TEST_F(Surfaces, ObjectsAreOfArrays) {  // TEXH-09
  CUDA_ARRAY3D_DESCRIPTOR description{8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUarray plain = nullptr;
  ASSERT_EQ(cuArray3DCreate(&plain, &description), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = plain;
  CUsurfObject object = 0;
  EXPECT_EQ(cuSurfObjectCreate(&object, &resource), CUDA_SUCCESS);  // without the flag, as an H200 has it
  EXPECT_EQ(cuSurfObjectDestroy(object), CUDA_SUCCESS);
  EXPECT_EQ(cuSurfObjectDestroy(object), CUDA_SUCCESS);
  resource.res.array.hArray = nullptr;
  EXPECT_EQ(cuSurfObjectCreate(&object, &resource), CUDA_ERROR_INVALID_VALUE);
  const Surface surface = make(Geometry::Plane, texels[0]);
  resource.res.array.hArray = surface.array;
  EXPECT_EQ(cuSurfObjectCreate(nullptr, &resource), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuSurfObjectCreate(&object, nullptr), CUDA_ERROR_INVALID_VALUE);
  resource.flags = 1;
  EXPECT_EQ(cuSurfObjectCreate(&object, &resource), CUDA_ERROR_INVALID_VALUE);
  CUDA_RESOURCE_DESC seen{};
  ASSERT_EQ(cuSurfObjectGetResourceDesc(&seen, surface.object), CUDA_SUCCESS);
  EXPECT_EQ(seen.resType, CU_RESOURCE_TYPE_ARRAY);
  EXPECT_EQ(seen.res.array.hArray, surface.array);
  EXPECT_EQ(cuSurfObjectGetResourceDesc(&seen, 12345), CUDA_ERROR_INVALID_VALUE);
  CUDA_TEXTURE_DESC texture{};
  EXPECT_EQ(cuTexObjectGetTextureDesc(&texture, surface.object), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayDestroy(plain), CUDA_SUCCESS);
}

// With every mode, as on an H200, whose code is that of a misaligned address.
TEST_F(Surfaces, AccessesAreAligned) {
  Surface surface = make(Geometry::Plane, texels[2]);
  const CUfunction function = load(loads(Geometry::Plane, {1, 32}, "zero", "k"), "k");
  const Place between{6, 3, 0, 0};
  ASSERT_EQ(cuMemcpyHtoD(places, &between, sizeof between), CUDA_SUCCESS);
  void* parameters[] = {&surface.object, &places, &out};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
  hasFaulted = true;
}

TEST_F(Surfaces, TrapsBeyondTheEdge) {  // TEXD-12
  Surface surface = make(Geometry::Plane, texels[2]);
  const CUfunction function = load(loads(Geometry::Plane, {1, 32}, "trap", "k"), "k");
  std::vector<std::array<uint8_t, 16>> data(1);
  launch(function, surface.object, {{16, 3, 0, 0}}, data);
  EXPECT_TRUE(std::equal(data[0].begin(), data[0].begin() + 4, surface.at(16, 3, 0)));
  const Place beyond{20, 3, 0, 0};
  ASSERT_EQ(cuMemcpyHtoD(places, &beyond, sizeof beyond), CUDA_SUCCESS);
  void* parameters[] = {&surface.object, &places, &out};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  hasFaulted = true;
}

}  // namespace
}  // namespace mulciber::test::surfaces
