// Surfaces: what kernels read and write by bytes, against a model in host memory, and what textures then see of it.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

enum class Geometry { Line, Plane, Volume, Lines, Planes, Cube, Level };

bool isLayered(Geometry geometry) {
  return geometry == Geometry::Lines || geometry == Geometry::Planes || geometry == Geometry::Cube;
}

// As instructions name it, with the coordinates that they take.
struct Form {
  const char *name, *coordinates;
};
Form formOf(Geometry geometry) {
  switch (geometry) {
    case Geometry::Line: return {"1d", "{%x}"};
    case Geometry::Volume: return {"3d", "{%x, %y, %z, %z}"};
    case Geometry::Lines: return {"a1d", "{%l, %x}"};
    case Geometry::Planes:
    case Geometry::Cube: return {"a2d", "{%l, %x, %y, %y}"};
    default: return {"2d", "{%x, %y}"};
  }
}

// Numbers of so many bits that one instruction moves.
struct Access {
  unsigned count, bits;
  unsigned bytes() const { return count * bits / 8; }
  std::string type() const { return (count == 1 ? "" : ".v" + std::to_string(count)) + ".b" + std::to_string(bits); }
  std::string registers() const {
    const char* kind = bits == 64 ? "%d" : bits == 32 ? "%r" : "%h";
    std::string list = kind + std::string("0");
    for (unsigned i = 1; i < count; ++i) list += ", " + std::string(kind) + std::to_string(i);
    return count == 1 ? list : "{" + list + "}";
  }
};
constexpr Access accesses[] = {{1, 8},  {1, 16}, {1, 32}, {1, 64}, {2, 8}, {2, 16},
                               {2, 32}, {2, 64}, {4, 8},  {4, 16}, {4, 32}};

struct Place {
  int32_t x, y, z, layer;
};

// %s is the surface, %p what the thread is to do; each thread has 16 bytes at %out.
std::string kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + R"((.param .u64 s, .param .u64 places, .param .u64 out) {
  .reg .b16 %h<4>; .reg .b32 %r<4>, %x, %y, %z, %l, %t; .reg .b64 %d<4>, %s, %p, %out;
  ld.param.u64 %s, [s]; ld.param.u64 %p, [places]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 16, %p; mad.wide.u32 %out, %t, 16, %out;
  ld.global.v4.b32 {%x, %y, %z, %l}, [%p];
  )" + body +
         "\n  ret;\n}\n";
}

std::string loads(Geometry geometry, const Access& access, const std::string& mode, const std::string& name) {
  const Form form = formOf(geometry);
  return kernel(name, std::string("suld.b.") + form.name + access.type() + "." + mode + " " + access.registers() +
                          ", [%s, " + form.coordinates + "];\n  st.global" + access.type() + " [%out], " +
                          access.registers() + ";");
}

std::string stores(Geometry geometry, const Access& access, const std::string& mode, const std::string& name) {
  const Form form = formOf(geometry);
  return kernel(name, "ld.global" + access.type() + " " + access.registers() + ", [%out];\n  sust.b." + form.name +
                          access.type() + "." + mode + " [%s, " + form.coordinates + "], " + access.registers() + ";");
}

constexpr const char* head = ".version 8.1\n.target sm_70\n.address_size 64\n";

// An array with its surface, and the bytes that it must have.
struct Surface {
  Geometry geometry;
  unsigned texelBytes;
  size_t width, height, depth;  // of texels; depth: planes or layers
  CUarray array = nullptr;
  CUmipmappedArray mipmapped = nullptr;
  CUsurfObject object = 0;
  std::vector<uint8_t> model{};

  size_t rowBytes() const { return width * texelBytes; }
  uint8_t* at(size_t x, size_t y, size_t z) { return model.data() + (z * height + y) * rowBytes() + x; }
  // Where an access of so many bytes goes; null where nothing is read or written.
  uint8_t* find(Place place, unsigned bytes, bool clamps) {
    const auto row = static_cast<int32_t>(rowBytes()), step = static_cast<int32_t>(bytes);
    if (row < step) return nullptr;
    bool isInside = true;
    auto limit = [&](int32_t& coordinate, int32_t last) {
      isInside = isInside && coordinate >= 0 && coordinate <= last;
      coordinate = std::clamp(coordinate, 0, last);
    };
    place.x = place.x & -step;
    limit(place.x, (row - step) & -step);
    if (height > 1) limit(place.y, static_cast<int32_t>(height) - 1);
    int32_t& z = isLayered(geometry) ? place.layer : place.z;
    if (depth > 1) limit(z, static_cast<int32_t>(depth) - 1);
    return isInside || clamps ? at(static_cast<size_t>(place.x), height > 1 ? static_cast<size_t>(place.y) : 0,
                                   depth > 1 ? static_cast<size_t>(z) : 0)
                              : nullptr;
  }
};

struct Texel {
  CUarray_format format;
  unsigned channels, bytes;
};
constexpr Texel texels[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 1, 1},
                            {CU_AD_FORMAT_SIGNED_INT8, 2, 2},
                            {CU_AD_FORMAT_FLOAT, 1, 4},
                            {CU_AD_FORMAT_HALF, 4, 8},
                            {CU_AD_FORMAT_SIGNED_INT32, 4, 16}};

class Surfaces : public WithDevice {
 protected:
  static constexpr unsigned threads = 256;

  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuMemAlloc(&places, threads * sizeof(Place)), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&out, threads * 16), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (hasFaulted) {
      EXPECT_EQ(cuDevicePrimaryCtxReset(device), CUDA_SUCCESS);
      context = nullptr;
    } else if (context) {
      for (Surface& surface : made) {
        EXPECT_EQ(cuSurfObjectDestroy(surface.object), CUDA_SUCCESS);
        EXPECT_EQ(surface.mipmapped ? cuMipmappedArrayDestroy(surface.mipmapped) : cuArrayDestroy(surface.array),
                  CUDA_SUCCESS);
      }
      for (const CUmodule module : modules) EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(places), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(out), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  CUfunction load(const std::string& text, const char* name) {
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, (head + text).c_str()), CUDA_SUCCESS) << text;
    modules.push_back(module);
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    return function;
  }

  static CUsurfObject objectOf(CUarray array) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CUsurfObject object = 0;
    const CUresult error = cuSurfObjectCreate(&object, &resource);
    EXPECT_TRUE(error == CUDA_SUCCESS || error == CUDA_ERROR_NOT_SUPPORTED);
    return object;
  }

  Surface make(Geometry geometry, const Texel& texel, size_t width = 5, size_t height = 4, size_t depth = 3) {
    const bool isLine = geometry == Geometry::Line || geometry == Geometry::Lines;
    const bool isCube = geometry == Geometry::Cube;
    const bool isDeep = geometry == Geometry::Volume || isLayered(geometry);
    Surface surface{geometry, texel.bytes, width,
                    isLine   ? 1
                    : isCube ? width
                             : height,
                    isDeep ? (isCube ? 6 : depth) : 1};
    CUDA_ARRAY3D_DESCRIPTOR description{};
    description.Width = surface.width;
    description.Height = isLine ? 0 : surface.height;
    description.Depth = isDeep ? surface.depth : 0;
    description.Format = texel.format;
    description.NumChannels = texel.channels;
    description.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    if (isCube) description.Flags |= CUDA_ARRAY3D_CUBEMAP;
    else if (isLayered(geometry)) description.Flags |= CUDA_ARRAY3D_LAYERED;
    if (geometry == Geometry::Level) {
      description.Width *= 2;
      description.Height *= 2;
      EXPECT_EQ(cuMipmappedArrayCreate(&surface.mipmapped, &description, 2), CUDA_SUCCESS);
      EXPECT_EQ(cuMipmappedArrayGetLevel(&surface.array, surface.mipmapped, 1), CUDA_SUCCESS);
    } else {
      EXPECT_EQ(cuArray3DCreate(&surface.array, &description), CUDA_SUCCESS);
    }
    surface.object = objectOf(surface.array);
    surface.model.resize(surface.rowBytes() * surface.height * surface.depth);
    for (size_t i = 0; i < surface.model.size(); ++i) surface.model[i] = static_cast<uint8_t>(i * 37 + 11 + i / 251);
    transfer(surface, surface.model, true);
    made.push_back(surface);
    return surface;
  }

  static bool isOffered(const Surface& surface) {
    if (surface.object != 0) return true;
    std::printf("left out: the driver has no surfaces of texels of %u bytes\n", surface.texelBytes);
    return false;
  }

  static void transfer(const Surface& surface, std::vector<uint8_t>& bytes, bool toArray) {
    CUDA_MEMCPY3D copy{};
    copy.WidthInBytes = surface.rowBytes();
    copy.Height = surface.height;
    copy.Depth = surface.depth;
    if (toArray) {
      copy.srcMemoryType = CU_MEMORYTYPE_HOST;
      copy.srcHost = bytes.data();
      copy.srcPitch = surface.rowBytes();
      copy.srcHeight = surface.height;
      copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
      copy.dstArray = surface.array;
    } else {
      copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
      copy.srcArray = surface.array;
      copy.dstMemoryType = CU_MEMORYTYPE_HOST;
      copy.dstHost = bytes.data();
      copy.dstPitch = surface.rowBytes();
      copy.dstHeight = surface.height;
    }
    EXPECT_EQ(cuMemcpy3D(&copy), CUDA_SUCCESS);
  }
  static std::vector<uint8_t> bytesOf(const Surface& surface) {
    std::vector<uint8_t> bytes(surface.model.size());
    transfer(surface, bytes, false);
    return bytes;
  }

  // 16 bytes go to each thread and come back.
  void launch(CUfunction function, CUsurfObject surface, const std::vector<Place>& where,
              std::vector<std::array<uint8_t, 16>>& data) {
    ASSERT_EQ(cuMemcpyHtoD(places, where.data(), where.size() * sizeof(Place)), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyHtoD(out, data.data(), data.size() * 16), CUDA_SUCCESS);
    void* parameters[] = {&surface, &places, &out};
    const auto count = static_cast<unsigned>(where.size());
    ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, count, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoH(data.data(), out, data.size() * 16), CUDA_SUCCESS);
  }

  // Half of them anywhere near the surface, x by steps of the access's size.
  std::vector<Place> someplace(const Surface& surface, unsigned bytes) {
    std::vector<Place> result;
    auto below = [&](size_t count, int32_t beyond) {
      random = random * 1664525 + 1013904223;
      return static_cast<int32_t>((random >> 8) % (count + 2 * static_cast<size_t>(beyond))) - beyond;
    };
    const size_t steps = std::max<size_t>(surface.rowBytes() / bytes, 1);
    for (unsigned i = 0; i < threads; ++i) {
      const int32_t beyond = i % 2 ? 2 : 0;
      Place place{below(steps, beyond) * static_cast<int32_t>(bytes), below(surface.height, beyond), 0, 0};
      place.z = place.layer = below(surface.depth, beyond);
      result.push_back(place);
    }
    return result;
  }

  void checkLoads(Geometry geometry, const Access& access, const std::string& mode) {
    const CUfunction function = load(loads(geometry, access, mode, "k"), "k");
    for (const Texel& texel : texels) {
      Surface surface = make(geometry, texel);
      if (!isOffered(surface)) continue;
      const std::vector<Place> where = someplace(surface, access.bytes());
      std::vector<std::array<uint8_t, 16>> data(threads);
      launch(function, surface.object, where, data);
      for (unsigned i = 0; i < threads; ++i) {
        const uint8_t* found = surface.find(where[i], access.bytes(), mode == "clamp");
        std::array<uint8_t, 16> expected{};
        if (found) std::copy_n(found, access.bytes(), expected.begin());
        ASSERT_TRUE(std::equal(expected.begin(), expected.begin() + access.bytes(), data[i].begin()))
            << formOf(geometry).name << access.type() << " " << mode << " of texels of " << texel.bytes << " bytes, at "
            << where[i].x << " " << where[i].y << " " << where[i].z;
      }
    }
  }

  // Every thread that goes to the same place writes the same.
  void checkStores(Geometry geometry, const Access& access, const std::string& mode) {
    const CUfunction function = load(stores(geometry, access, mode, "k"), "k");
    for (const Texel& texel : texels) {
      Surface surface = make(geometry, texel);
      if (!isOffered(surface)) continue;
      std::vector<Place> where = someplace(surface, access.bytes());
      where.resize(threads / 4);
      std::vector<std::array<uint8_t, 16>> data(where.size());
      for (size_t i = 0; i < where.size(); ++i) {
        uint8_t* found = surface.find(where[i], access.bytes(), mode == "clamp");
        const auto seed = static_cast<uint8_t>(found ? (found - surface.model.data()) * 31 + 7 : 1);
        for (unsigned k = 0; k < 16; ++k) data[i][k] = static_cast<uint8_t>(seed + k * 3);
        if (found) std::copy_n(data[i].begin(), access.bytes(), found);
      }
      launch(function, surface.object, where, data);
      ASSERT_EQ(bytesOf(surface), surface.model)
          << formOf(geometry).name << access.type() << " " << mode << " of texels of " << texel.bytes << " bytes";
    }
  }

  CUdeviceptr places = 0, out = 0;
  std::vector<CUmodule> modules;
  std::vector<Surface> made;
  uint32_t random = 1;
  bool hasFaulted = false;
};

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
  EXPECT_EQ(cuSurfObjectCreate(&object, &resource), CUDA_ERROR_INVALID_HANDLE);
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
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  hasFaulted = true;
}

}  // namespace
}  // namespace mulciber::test
