// Surfaces that several threads and textures share, reductions and formatted stores.
#include <bit>
#include <cstring>

#include "api/surfaces.h"

namespace mulciber::test::surfaces {
namespace {

// Threads of several blocks write the bytes of the same texels.
TEST_F(Surfaces, PartsOfATexelAreWrittenApart) {
  for (const Texel& texel : texels) {
    if (texel.bytes == 1) continue;
    Surface surface = make(Geometry::Plane, texel, 16, 8);
    if (!isOffered(surface)) continue;
    const CUfunction function = load(R"(
.visible .entry k(.param .u64 s, .param .u32 row) {
  .reg .b16 %h; .reg .b32 %x, %y, %v, %n, %r; .reg .b64 %s;
  ld.param.u64 %s, [s]; ld.param.u32 %r, [row];
  mov.u32 %x, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %v, %tid.x;
  mad.lo.u32 %v, %v, 8, %x; div.u32 %y, %v, %r; rem.u32 %x, %v, %r;
  mul.lo.u32 %v, %v, 7; cvt.u16.u32 %h, %v;
  sust.b.2d.b8.zero [%s, {%x, %y}], %h;
  ret;
})",
                                     "k");
    auto row = static_cast<uint32_t>(surface.rowBytes());
    void* parameters[] = {&surface.object, &row};
    const auto bytes = static_cast<unsigned>(surface.model.size());
    const unsigned blocks = 8;
    ASSERT_LE(bytes / blocks, 1024u);
    ASSERT_EQ(cuLaunchKernel(function, blocks, 1, 1, bytes / blocks, 1, 1, 0, nullptr, parameters, nullptr),
              CUDA_SUCCESS);
    for (unsigned i = 0; i < bytes; ++i) surface.model[i] = static_cast<uint8_t>(i * 7);
    ASSERT_EQ(bytesOf(surface), surface.model) << texel.bytes;
  }
}

// What a kernel writes, the next one sees in a texture of the same array, and the other way round in a surface.
TEST_F(Surfaces, TexturesSeeWhatSurfacesWrite) {
  const Surface surface = make(Geometry::Plane, {CU_AD_FORMAT_FLOAT, 1, 4}, 16, 16);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = surface.array;
  CUDA_TEXTURE_DESC description{};
  CUtexObject texture = 0;
  ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &description, nullptr), CUDA_SUCCESS);
  const std::string text = R"(
.visible .entry store(.param .u64 s, .param .f32 add) {
  .reg .b32 %x, %y, %b, %i; .reg .f32 %f, %a; .reg .b64 %s;
  ld.param.u64 %s, [s]; ld.param.f32 %a, [add];
  mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; shl.b32 %b, %x, 2; mad.lo.u32 %i, %y, 16, %x;
  cvt.rn.f32.u32 %f, %i; add.f32 %f, %f, %a; mov.b32 %i, %f;
  sust.b.2d.b32.trap [%s, {%b, %y}], %i;
  ret;
}
.visible .entry sample(.param .u64 t, .param .u64 out) {
  .reg .b32 %x, %y, %i; .reg .f32 %fx, %fy, %r<4>; .reg .b64 %t, %out;
  ld.param.u64 %t, [t]; ld.param.u64 %out, [out];
  mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mad.lo.u32 %i, %y, 16, %x; mad.wide.u32 %out, %i, 4, %out;
  cvt.rn.f32.u32 %fx, %x; cvt.rn.f32.u32 %fy, %y;
  tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%fx, %fy}];
  st.global.f32 [%out], %r0;
  ret;
})";
  const CUfunction store = load(text, "store"), sample = load(text, "sample");
  for (float add = 0; add < 20; ++add) {
    CUsurfObject object = surface.object;
    void* writes[] = {&object, &add};
    void* reads[] = {&texture, &out};
    ASSERT_EQ(cuLaunchKernel(store, 1, 1, 1, 16, 16, 1, 0, nullptr, writes, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuLaunchKernel(sample, 1, 1, 1, 16, 16, 1, 0, nullptr, reads, nullptr), CUDA_SUCCESS);
    std::vector<float> seen(256);
    ASSERT_EQ(cuMemcpyDtoH(seen.data(), out, 1024), CUDA_SUCCESS);
    for (size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], static_cast<float>(i) + add);
  }
  EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
}

// 1,024 threads reduce into every texel.
TEST_F(Surfaces, ReductionsAreOneStep) {
  struct Reduction {
    const char *instruction, *value;  // of thread %t, 64 bits in %v
    unsigned bytes;
    uint64_t start, expected;
  };
  constexpr uint64_t low = 0xFFFFFFFF;
  for (const Texel& texel : {texels[2], texels[3], texels[4], texels[0]})
    for (const Reduction& reduction : {Reduction{"add.2d.u32", "", 4, 5, 5 + 1023 * 512},
                                       {"min.2d.s32", "neg.s64 %v, %v;", 4, 3, -1023 & low},
                                       {"max.2d.s32", "sub.s64 %v, %v, 500;", 4, low, 523},
                                       {"min.2d.u32", "add.s64 %v, %v, 9;", 4, low, 9},
                                       {"max.2d.u32", "not.b64 %v, %v;", 4, 0, low},
                                       {"and.2d.b32", "not.b64 %v, %v;", 4, low, low & ~1023ull},
                                       {"or.2d.b32", "", 4, 0x5000, 0x53FF},
                                       {"add.2d.u64", "shl.b64 %v, %v, 30;", 8, 1, 1 + (1023 * 512ull << 30)},
                                       {"min.2d.s64", "neg.s64 %v, %v;", 8, 7, static_cast<uint64_t>(-1023)},
                                       {"max.2d.u64", "not.b64 %v, %v;", 8, 7, ~0ull}}) {
      if (texel.bytes == 1 && reduction.bytes == 8) continue;
      Surface surface = make(Geometry::Plane, texel, 64 / texel.bytes, 2);
      if (!isOffered(surface)) continue;
      for (size_t i = 0; i < surface.model.size(); i += reduction.bytes)
        std::memcpy(&surface.model[i], &reduction.start, reduction.bytes);
      transfer(surface, surface.model, true);
      const CUfunction function = load(
          ".visible .entry k(.param .u64 s) {\n.reg .b32 %x, %y, %t; .reg .b64 %s, %v; "
          "ld.param.u64 %s, [s]; mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; "
          "mov.u32 %t, %tid.x; cvt.u64.u32 %v, %t; mul.lo.u32 %x, %x, " +
              std::to_string(reduction.bytes) + ";\n" + reduction.value +
              "\n.reg .b32 %w; cvt.u32.u64 %w, %v;\nsured.b." + reduction.instruction + ".zero [%s, {%x, %y}], " +
              (reduction.bytes == 8 ? "%v" : "%w") + ";\nret;\n}\n",
          "k");
      void* parameters[] = {&surface.object};
      const auto columns = static_cast<unsigned>(surface.rowBytes() / reduction.bytes);
      ASSERT_EQ(cuLaunchKernel(function, columns, 2, 1, 1024, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
      const std::vector<uint8_t> bytes = bytesOf(surface);
      for (size_t i = 0; i < bytes.size(); i += reduction.bytes) {
        uint64_t seen = 0;
        std::memcpy(&seen, &bytes[i], reduction.bytes);
        ASSERT_EQ(seen, reduction.expected) << reduction.instruction << " of texels of " << texel.bytes << " bytes";
      }
    }
}

TEST_F(Surfaces, FormattedStoresConvert) {
  struct Case {
    CUarray_format format;
    unsigned channels, bytes;
    std::array<uint32_t, 4> given;
    std::vector<uint8_t> expected;
  };
  const auto bits = [](float number) { return std::bit_cast<uint32_t>(number); };
  const CUfunction function = load(R"(
.visible .entry k(.param .u64 s, .param .u32 a, .param .u32 b, .param .u32 c, .param .u32 d) {
  .reg .b32 %x, %y, %v<4>; .reg .b64 %s;
  ld.param.u64 %s, [s]; ld.param.u32 %v0, [a]; ld.param.u32 %v1, [b]; ld.param.u32 %v2, [c]; ld.param.u32 %v3, [d];
  mov.u32 %x, 1; mov.u32 %y, 1;
  sust.p.2d.v4.b32.zero [%s, {%x, %y}], {%v0, %v1, %v2, %v3};
  ret;
})",
                                   "k");
  for (const Case& each :
       {Case{CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, {1, 255, 300, 0x80000000}, {1, 255, 255, 255}},
        Case{CU_AD_FORMAT_SIGNED_INT8,
             2,
             2,
             {static_cast<uint32_t>(-3), static_cast<uint32_t>(-300), 0, 0},
             {0xFD, 0x80}},
        Case{CU_AD_FORMAT_SIGNED_INT16, 1, 2, {70000, 0, 0, 0}, {0xFF, 0x7F}},
        Case{CU_AD_FORMAT_UNSIGNED_INT16, 2, 4, {0x1234, 0x12345, 0, 0}, {0x34, 0x12, 0xFF, 0xFF}},
        Case{CU_AD_FORMAT_FLOAT, 1, 4, {bits(1.5f), 0, 0, 0}, {0, 0, 0xC0, 0x3F}},
        Case{CU_AD_FORMAT_SIGNED_INT32, 2, 8, {1, 0xFFFFFFFE, 0, 0}, {1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF}},
        Case{
            CU_AD_FORMAT_HALF, 4, 8, {bits(1), bits(-2), bits(1.f / 3), bits(0)}, {0, 0x3C, 0, 0xC0, 0x55, 0x35, 0, 0}},
        Case{CU_AD_FORMAT_UNORM_INT8X4, 4, 4, {bits(1), bits(0.5f), bits(-1), bits(7)}, {255, 128, 0, 255}},
        Case{CU_AD_FORMAT_SNORM_INT16X2, 2, 4, {bits(-1), bits(0.25f), 0, 0}, {1, 0x80, 0, 0x20}}}) {
    Surface surface = make(Geometry::Plane, {each.format, each.channels, each.bytes});
    std::array<uint32_t, 4> given = each.given;
    void* parameters[] = {&surface.object, &given[0], &given[1], &given[2], &given[3]};
    ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    std::ranges::copy(each.expected, surface.at(each.bytes, 1, 0));
    EXPECT_EQ(bytesOf(surface), surface.model) << each.format << " x " << each.channels;
  }
}

}  // namespace
}  // namespace mulciber::test::surfaces
