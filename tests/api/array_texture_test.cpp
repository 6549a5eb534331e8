// Textures of arrays with layers, faces and levels: every texel is found where CUDA has it.
#include <array>
#include <string>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

// What an instruction is given, and what it finds there.
struct Place {
  float x, y, z;
  float layer;  // or the level
  float expected;
};

class ArrayTextures : public WithDevice {
 protected:
  void TearDown() override {
    for (const CUtexObject texture : textures) EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
    for (const CUmipmappedArray array : arrays) EXPECT_EQ(cuMipmappedArrayDestroy(array), CUDA_SUCCESS);
    WithDevice::TearDown();
  }

  // Of floats. Texel i of level l is l * 100000 + i, counted along rows, columns, and layers or planes.
  CUtexObject make(CUDA_ARRAY3D_DESCRIPTOR description, unsigned levels, bool isNormalized) {
    description.Format = CU_AD_FORMAT_FLOAT;
    description.NumChannels = 1;
    CUmipmappedArray array = nullptr;
    EXPECT_EQ(cuMipmappedArrayCreate(&array, &description, levels), CUDA_SUCCESS);
    arrays.push_back(array);
    CUarray first = nullptr;
    for (unsigned level = 0; level < levels; ++level) {
      CUarray part = nullptr;
      EXPECT_EQ(cuMipmappedArrayGetLevel(&part, array, level), CUDA_SUCCESS);
      if (level == 0) first = part;
      CUDA_ARRAY3D_DESCRIPTOR shape{};
      EXPECT_EQ(cuArray3DGetDescriptor(&shape, part), CUDA_SUCCESS);
      const size_t height = std::max<size_t>(shape.Height, 1), depth = std::max<size_t>(shape.Depth, 1);
      std::vector<float> texels(shape.Width * height * depth);
      for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(level * 100000 + i);
      CUDA_MEMCPY3D copy{};
      copy.srcMemoryType = CU_MEMORYTYPE_HOST;
      copy.srcHost = texels.data();
      copy.srcPitch = shape.Width * sizeof(float);
      copy.srcHeight = height;
      copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
      copy.dstArray = part;
      copy.WidthInBytes = shape.Width * sizeof(float);
      copy.Height = height;
      copy.Depth = depth;
      EXPECT_EQ(cuMemcpy3D(&copy), CUDA_SUCCESS);
    }
    CUDA_RESOURCE_DESC resource{};
    resource.resType = levels > 1 ? CU_RESOURCE_TYPE_MIPMAPPED_ARRAY : CU_RESOURCE_TYPE_ARRAY;
    if (levels > 1) resource.res.mipmap.hMipmappedArray = array;
    else resource.res.array.hArray = first;
    CUDA_TEXTURE_DESC how{};
    for (CUaddress_mode& mode : how.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
    how.flags = isNormalized ? CU_TRSF_NORMALIZED_COORDINATES : 0;
    how.maxMipmapLevelClamp = 100;
    CUtexObject texture = 0;
    EXPECT_EQ(cuTexObjectCreate(&texture, &resource, &how, nullptr), CUDA_SUCCESS);
    textures.push_back(texture);
    return texture;
  }

  // %x %y %z are floats, %l their fourth one, %i it as an integer.
  void check(CUtexObject texture, const std::string& instruction, const std::vector<Place>& places) {
    const std::string text =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 t, .param .u64 places, .param "
        ".u64 out) {\n"
        ".reg .b32 %t, %i, %ix, %iy, %iz; .reg .f32 %x, %y, %z, %l, %r<4>; .reg .b64 %h, %p, %o;\n"
        "ld.param.u64 %h, [t]; ld.param.u64 %p, [places]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n"
        "mad.wide.u32 %p, %t, 20, %p; mad.wide.u32 %o, %t, 4, %o;\n"
        "ld.global.f32 %x, [%p]; ld.global.f32 %y, [%p+4]; ld.global.f32 %z, [%p+8]; ld.global.f32 %l, [%p+12];\n"
        "cvt.rzi.s32.f32 %i, %l; cvt.rzi.s32.f32 %ix, %x; cvt.rzi.s32.f32 %iy, %y; cvt.rzi.s32.f32 %iz, %z;\n" +
        instruction + "\nst.global.f32 [%o], %r0;\nret;\n}\n";
    CUmodule module = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, text.c_str()), CUDA_SUCCESS);
    CUfunction function = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
    CUdeviceptr from = 0, out = 0;
    ASSERT_EQ(cuMemAlloc(&from, places.size() * sizeof(Place)), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&out, places.size() * 4), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyHtoD(from, places.data(), places.size() * sizeof(Place)), CUDA_SUCCESS);
    void* parameters[] = {&texture, &from, &out};
    const auto count = static_cast<unsigned>(places.size());
    ASSERT_LE(count, 1024u);
    ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, count, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    std::vector<float> seen(count);
    ASSERT_EQ(cuMemcpyDtoH(seen.data(), out, count * 4), CUDA_SUCCESS);
    for (size_t i = 0; i < places.size(); ++i)
      EXPECT_EQ(seen[i], places[i].expected)
          << instruction << " at " << places[i].x << " " << places[i].y << " " << places[i].z << " " << places[i].layer;
    EXPECT_EQ(cuMemFree(from), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(out), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  }

  std::vector<CUtexObject> textures;
  std::vector<CUmipmappedArray> arrays;
};

// The direction of a texel's centre, by the manual's table of faces.
Place directionOf(unsigned face, unsigned column, unsigned row, unsigned size) {
  const float s = (2 * static_cast<float>(column) + 1) / static_cast<float>(size) - 1;
  const float t = (2 * static_cast<float>(row) + 1) / static_cast<float>(size) - 1;
  constexpr float m = 1;
  switch (face) {
    case 0: return {m, -t, -s, 0, 0};
    case 1: return {-m, -t, s, 0, 0};
    case 2: return {s, m, t, 0, 0};
    case 3: return {s, -m, -t, 0, 0};
    case 4: return {s, -t, m, 0, 0};
    default: return {-s, -t, -m, 0, 0};
  }
}

std::vector<Place> cubePlaces(unsigned size, unsigned layers) {
  std::vector<Place> places;
  for (unsigned layer = 0; layer < layers; ++layer)
    for (unsigned face = 0; face < 6; ++face)
      for (unsigned row = 0; row < size; ++row)
        for (unsigned column = 0; column < size; ++column) {
          Place place = directionOf(face, column, row, size);
          // Of any length.
          place.x *= 3;
          place.y *= 3;
          place.z *= 3;
          place.layer = static_cast<float>(layer);
          place.expected = static_cast<float>(((layer * 6 + face) * size + row) * size + column);
          places.push_back(place);
        }
  return places;
}

TEST_F(ArrayTextures, FacesOfCubes) {  // TEXD-07, TEXF-09
  const CUtexObject texture = make({8, 8, 6, {}, 0, CUDA_ARRAY3D_CUBEMAP}, 1, true);
  check(texture, "tex.cube.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y, %z, %z}];", cubePlaces(8, 1));
}

TEST_F(ArrayTextures, LayersOfCubes) {
  const CUtexObject texture = make({4, 4, 18, {}, 0, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED}, 1, true);
  std::vector<Place> places = cubePlaces(4, 3);
  Place beyond = places.back();  // the last layer is clamped to
  beyond.layer = 7;
  places.push_back(beyond);
  check(texture, "tex.acube.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%i, %x, %y, %z}];", places);
}

TEST_F(ArrayTextures, LevelsOfCubes) {
  const CUtexObject texture = make({8, 8, 6, {}, 0, CUDA_ARRAY3D_CUBEMAP}, 3, true);
  for (unsigned level = 0; level < 3; ++level) {
    std::vector<Place> places = cubePlaces(8u >> level, 1);
    for (Place& place : places) {
      place.layer = static_cast<float>(level);
      place.expected += static_cast<float>(level * 100000);
    }
    check(texture, "tex.level.cube.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y, %z, %z}], %l;", places);
  }
}

TEST_F(ArrayTextures, LevelsOfPlanes) {  // TEXD-04, TEXF-10
  const CUtexObject texture = make({16, 8, 0, {}, 0, 0}, 4, true);
  std::vector<Place> places;
  for (unsigned level = 0; level < 4; ++level)
    for (unsigned row = 0; row < 8u >> level; ++row)
      for (unsigned column = 0; column < 16u >> level; ++column)
        places.push_back({(static_cast<float>(column) + 0.5f) / static_cast<float>(16 >> level),
                          (static_cast<float>(row) + 0.5f) / static_cast<float>(8 >> level), 0,
                          static_cast<float>(level),
                          static_cast<float>(level * 100000 + row * (16 >> level) + column)});
  check(texture, "tex.level.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y}], %l;", places);
  // The nearest level; beyond the last one it is the last.
  check(texture, "tex.level.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y}], %l;",
        {{0, 0, 0, 0.4f, 0}, {0, 0, 0, 1.6f, 200000}, {0, 0, 0, -3, 0}, {0, 0, 0, 9, 300000}});
  // Gradients of four texels stand for two levels.
  check(texture,
        "mov.f32 %r1, 0f3e800000; mov.f32 %r2, 0f00000000; mov.f32 %r3, 0f3f000000;\n"
        "tex.grad.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y}], {%r1, %r2}, {%r2, %r3};",
        {{0, 0, 0, 0, 200000}});
}

TEST_F(ArrayTextures, LayersAndPlanes) {  // TEXD-06
  std::vector<Place> places, lines;
  for (unsigned z = 0; z < 3; ++z)
    for (unsigned row = 0; row < 4; ++row)
      for (unsigned column = 0; column < 6; ++column) {
        const auto x = static_cast<float>(column), y = static_cast<float>(row), depth = static_cast<float>(z);
        places.push_back({x + 0.3f, y + 0.7f, depth, depth, static_cast<float>((z * 4 + row) * 6 + column)});
        if (row == 0) lines.push_back({x, 0, 0, depth, static_cast<float>(z * 6 + column)});
      }
  const CUtexObject layered = make({6, 4, 3, {}, 0, CUDA_ARRAY3D_LAYERED}, 1, false);
  check(layered, "tex.a2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%i, %x, %y, %y}];", places);
  check(layered, "tex.a2d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%h, {%i, %ix, %iy, %iy}];", places);
  const CUtexObject volume = make({6, 4, 3, {}, 0, 0}, 1, false);
  check(volume, "tex.3d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y, %z, %z}];", places);
  check(volume, "tex.3d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%h, {%ix, %iy, %iz, %iz}];", places);
  const CUtexObject rows = make({6, 0, 3, {}, 0, CUDA_ARRAY3D_LAYERED}, 1, false);
  check(rows, "tex.a1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%i, %x}];", lines);
}

TEST_F(ArrayTextures, QueriesOfArrays) {  // TEXD-15
  const std::string asFloat = " cvt.rn.f32.u32 %r0, %i;";
  const CUtexObject layered = make({6, 4, 3, {}, 0, CUDA_ARRAY3D_LAYERED}, 1, false);
  check(layered, "txq.width.b32 %i, [%h];" + asFloat, {{0, 0, 0, 0, 6}});
  check(layered, "txq.height.b32 %i, [%h];" + asFloat, {{0, 0, 0, 0, 4}});
  check(layered, "txq.array_size.b32 %i, [%h];" + asFloat, {{0, 0, 0, 0, 3}});
  const CUtexObject cube = make({8, 8, 6, {}, 0, CUDA_ARRAY3D_CUBEMAP}, 3, true);
  check(cube, "txq.num_mipmap_levels.b32 %i, [%h];" + asFloat, {{0, 0, 0, 0, 3}});
  check(cube, "mov.u32 %i, 2; txq.level.height.b32 %i, [%h], %i;" + asFloat, {{0, 0, 0, 0, 2}});
  check(cube, "txq.normalized_coords.b32 %i, [%h];" + asFloat, {{0, 0, 0, 0, 1}});
}

// As an H200 has it: of a mode that there is not, only those of its coordinates that a texture has say so.
TEST_F(ArrayTextures, AddressModesOfCoordinatesThatTheyHave) {
  const auto create = [&](size_t height, size_t depth, unsigned flags, int coordinate, CUfilter_mode filter) {
    const CUDA_ARRAY3D_DESCRIPTOR shape{4, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};
    CUarray array = nullptr;
    EXPECT_EQ(cuArray3DCreate(&array, &shape), CUDA_SUCCESS);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC how{};
    how.filterMode = filter;
    how.addressMode[coordinate] = static_cast<CUaddress_mode>(4);
    CUtexObject made = 0;
    const CUresult result = cuTexObjectCreate(&made, &resource, &how, nullptr);
    if (result == CUDA_SUCCESS) {
      CUDA_TEXTURE_DESC seen{};
      EXPECT_EQ(cuTexObjectGetTextureDesc(&seen, made), CUDA_SUCCESS);
      EXPECT_EQ(seen.addressMode[coordinate], CU_TR_ADDRESS_MODE_CLAMP);
      EXPECT_EQ(cuTexObjectDestroy(made), CUDA_SUCCESS);
    }
    EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
    return result;
  };
  constexpr CUfilter_mode point = CU_TR_FILTER_MODE_POINT, linear = CU_TR_FILTER_MODE_LINEAR;
  EXPECT_EQ(create(0, 0, 0, 0, point), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(0, 0, 0, 1, point), CUDA_SUCCESS);
  EXPECT_EQ(create(0, 0, 0, 2, linear), CUDA_SUCCESS);
  EXPECT_EQ(create(4, 0, 0, 1, point), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(4, 0, 0, 2, linear), CUDA_SUCCESS);
  EXPECT_EQ(create(4, 2, CUDA_ARRAY3D_LAYERED, 2, linear), CUDA_SUCCESS);
  EXPECT_EQ(create(4, 2, 0, 2, point), CUDA_ERROR_INVALID_VALUE);
}

// The driver API makes such textures, and no manual says what they read.
TEST_F(ArrayTextures, WhatIsNotKnownIsRefused) {
  const CUDA_ARRAY3D_DESCRIPTOR shape{4, 4, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
  CUmipmappedArray levels = nullptr;
  ASSERT_EQ(cuMipmappedArrayCreate(&levels, &shape, 2), CUDA_SUCCESS);
  CUarray array = nullptr;
  ASSERT_EQ(cuMipmappedArrayGetLevel(&array, levels, 0), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC one{}, all{};
  one.resType = CU_RESOURCE_TYPE_ARRAY;
  one.res.array.hArray = array;
  all.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  all.res.mipmap.hMipmappedArray = levels;
  CUDA_TEXTURE_DESC integers{};
  const CUDA_TEXTURE_DESC texelCoordinates{};
  integers.flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES;
  integers.filterMode = CU_TR_FILTER_MODE_LINEAR;
  CUtexObject made = 0;
  EXPECT_EQ(cuTexObjectCreate(&made, &one, &integers, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuTexObjectCreate(&made, &all, &texelCoordinates, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMipmappedArrayDestroy(levels), CUDA_SUCCESS);
}

TEST_F(ArrayTextures, LongestLines) {
  size_t most = 0;
  EXPECT_EQ(cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, 4, device), CUDA_SUCCESS);
  EXPECT_EQ(most, static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH)));
  EXPECT_EQ(cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, 3, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetTexture1DLinearMaxWidth(nullptr, CU_AD_FORMAT_FLOAT, 1, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, 1, 77), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace
}  // namespace mulciber::test
