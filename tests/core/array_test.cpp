#include "runtime/core/array.h"

#include "core_test.h"
#include "runtime/core/surface_object.h"
#include "runtime/core/texture_object.h"
#include "runtime/vk/device.h"

namespace mulciber::core {
namespace {

class ArrayTest : public CoreTest {
 protected:
  static ArrayDescription describe(size_t width, size_t height, size_t depth, uint32_t flags = 0, uint32_t code = 0x20,
                                   uint32_t channels = 1) {
    return {width, height, depth, findArrayFormat(code, channels), flags};
  }
  Error create(const ArrayDescription& description) {
    Array* array = nullptr;
    const Error error = createArray(*context, description, array);
    if (error != Error::Success) return error;
    return destroyArray(array);
  }
};

TEST_F(ArrayTest, EveryFormatHasAnImage) {  // TEXH-01
  size_t made = 0;
  for (uint32_t code = 0; code < 0x100; ++code)
    for (uint32_t channels = 1; channels <= 4; ++channels) {
      const ArrayFormat* format = findArrayFormat(code, channels);
      if (!format) continue;
      EXPECT_EQ(findArrayFormatByKind(format->kind, format->bits, channels), format);
      const uint32_t flags = format->isCompressed() ? 0u : uint32_t{ArraySurfaceLoadStore};
      EXPECT_OK(create({36, 20, 0, format, flags})) << code << " x " << channels;
      ++made;
    }
  EXPECT_EQ(made, 24u + 12u + 14u + 1u);
}

TEST_F(ArrayTest, EveryShapeOfCuda) {  // TEXH-02
  for (const uint32_t flags : {0u, uint32_t{ArraySurfaceLoadStore}}) {
    EXPECT_OK(create(describe(100, 0, 0, flags)));
    EXPECT_OK(create(describe(100, 70, 0, flags)));
    EXPECT_OK(create(describe(30, 20, 10, flags)));
    EXPECT_OK(create(describe(100, 0, 5, flags | ArrayLayered)));
    EXPECT_OK(create(describe(100, 70, 5, flags | ArrayLayered)));
    EXPECT_OK(create(describe(32, 32, 6, flags | ArrayCubemap)));
    EXPECT_OK(create(describe(32, 32, 18, flags | ArrayCubemap | ArrayLayered)));
  }
  EXPECT_OK(create(describe(100, 70, 0, ArrayTextureGather)));
}

TEST_F(ArrayTest, WhatIsNoShapeIsRefused) {
  EXPECT_EQ(create(describe(0, 10, 0)), Error::InvalidValue);
  EXPECT_EQ(create(describe(10, 0, 10)), Error::InvalidValue);
  EXPECT_EQ(create(describe(10, 10, 0, ArrayLayered)), Error::InvalidValue);
  EXPECT_EQ(create(describe(10, 12, 6, ArrayCubemap)), Error::InvalidValue);
  EXPECT_EQ(create(describe(10, 10, 5, ArrayCubemap)), Error::InvalidValue);
  EXPECT_EQ(create(describe(10, 10, 11, ArrayCubemap | ArrayLayered)), Error::InvalidValue);
  EXPECT_EQ(create(describe(10, 10, 10, ArrayTextureGather)), Error::InvalidValue);
  EXPECT_EQ(create(describe(10, 10, 0, 0x1000)), Error::InvalidValue);
  EXPECT_EQ(create(describe(10, 10, 0, 0, 0x20, 3)), Error::InvalidValue);
  EXPECT_EQ(create(describe(size_t{1} << 40, 10, 0)), Error::InvalidValue);
  EXPECT_EQ(create(describe(10, 10, 0, ArraySparse)), Error::NotSupported);
}

TEST_F(ArrayTest, LevelsGoWithTheirMipmappedArray) {  // TEXH-04
  MipmappedArray* mipmapped = nullptr;
  ASSERT_OK(createMipmappedArray(*context, describe(40, 20, 0), 100, mipmapped));
  EXPECT_EQ(mipmapped->levels(), 6u);
  Array *level = nullptr, *again = nullptr;
  ASSERT_OK(mipmapped->level(2, level));
  ASSERT_OK(mipmapped->level(2, again));
  EXPECT_EQ(level, again);
  EXPECT_EQ(level->description().width, 10u);
  EXPECT_EQ(level->description().height, 5u);
  EXPECT_EQ(mipmapped->level(6, again), Error::InvalidValue);
  EXPECT_OK(destroyArray(level));  // no more than a way to the level
  EXPECT_OK(mipmapped->level(2, again));
  ASSERT_OK(destroyMipmappedArray(mipmapped));
  EXPECT_EQ(destroyArray(level), Error::InvalidHandle);
  EXPECT_EQ(destroyMipmappedArray(mipmapped), Error::InvalidHandle);
}

TEST_F(ArrayTest, MemoryIsGivenBack) {
  const uint64_t before = context->vulkan().allocator().allocatedBytes();
  Array* array = nullptr;
  ASSERT_OK(createArray(*context, describe(1000, 1000, 0), array));
  EXPECT_GE(context->vulkan().allocator().allocatedBytes(), before + 4'000'000);
  ASSERT_OK(destroyArray(array));
  EXPECT_EQ(context->vulkan().allocator().allocatedBytes(), before);
  // What is not destroyed goes with its context.
  ASSERT_OK(createArray(*context, describe(1000, 1000, 0), array));
  context->destroy();
  EXPECT_LE(context->vulkan().allocator().allocatedBytes(), before);
  EXPECT_NE(destroyArray(array), Error::Success);
}

// Work that was given before may still read what a destroyed texture stands for, so it goes a little later.
TEST_F(ArrayTest, DestroyedTexturesKeepNoMemory) {
  const vk::Allocator& allocator = context->vulkan().allocator();
  if (!context->vulkan().descriptors()) GTEST_SKIP() << "skipped: the device has no textures";
  uint64_t before = 0;
  for (int round = 0; round < 3; ++round) {
    Array* array = nullptr;
    MipmappedArray* mipmapped = nullptr;
    ASSERT_OK(createArray(*context, describe(1000, 1000, 0, ArraySurfaceLoadStore), array));
    ASSERT_OK(createMipmappedArray(*context, describe(1000, 1000, 0), 1, mipmapped));
    ArrayRef held;
    MipmappedArrayRef heldMipmapped;
    ASSERT_OK(findArray(array, held));
    ASSERT_OK(findMipmappedArray(mipmapped, heldMipmapped));
    std::vector<uint64_t> textures(3);
    uint64_t surface = 0;
    TextureDescription description;
    description.array = held;
    description.format = &held->format();
    ASSERT_OK(createTexture(*context, description, textures[0]));
    ASSERT_OK(createTexture(*context, description, textures[1]));
    description.array = nullptr;
    description.hasNormalizedCoordinates = true;
    description.resource = TextureDescription::Resource::Mipmapped;
    description.mipmapped = heldMipmapped;
    ASSERT_OK(createTexture(*context, description, textures[2]));
    description = {};
    ASSERT_OK(createSurface(*context, held, surface));
    held = nullptr;
    heldMipmapped = nullptr;
    for (const uint64_t texture : textures) ASSERT_OK(destroyTexture(*context, texture));
    ASSERT_OK(destroySurface(*context, surface));
    ASSERT_OK(destroyArray(array));
    ASSERT_OK(destroyMipmappedArray(mipmapped));
    if (round == 0) before = allocator.allocatedBytes();  // with the table
    EXPECT_LE(allocator.allocatedBytes(), before);
    EXPECT_LT(allocator.allocatedBytes(), 4'000'000u);
  }
}

}  // namespace
}  // namespace mulciber::core
