// Surfaces of every geometry with a model of their bytes in host memory, and kernels that read and write them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test::surfaces {

enum class Geometry { Line, Plane, Volume, Lines, Planes, Cube, Level };

inline bool isLayered(Geometry geometry) {
  return geometry == Geometry::Lines || geometry == Geometry::Planes || geometry == Geometry::Cube;
}

// As instructions name it, with the coordinates that they take.
struct Form {
  const char *name, *coordinates;
};
inline Form formOf(Geometry geometry) {
  switch (geometry) {
    case Geometry::Line: return {"1d", "{%x}"};
    case Geometry::Volume: return {"3d", "{%x, %y, %z, %z}"};
    case Geometry::Lines: return {"a1d", "{%l, %x}"};
    case Geometry::Planes:
    case Geometry::Cube: return {"a2d", "{%l, %x, %y, %y}"};
    default: return {"2d", "{%x, %y}"};
  }
}

// Numbers of that many bits that one instruction moves.
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
inline constexpr Access accesses[] = {{1, 8},  {1, 16}, {1, 32}, {1, 64}, {2, 8}, {2, 16},
                                      {2, 32}, {2, 64}, {4, 8},  {4, 16}, {4, 32}};

struct Place {
  int32_t x, y, z, layer;
};

// %s is the surface, %p what the thread is to do; each thread has 16 bytes at %out.
inline std::string kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + R"((.param .u64 s, .param .u64 places, .param .u64 out) {
  .reg .b16 %h<4>; .reg .b32 %r<4>, %x, %y, %z, %l, %t; .reg .b64 %d<4>, %s, %p, %out;
  ld.param.u64 %s, [s]; ld.param.u64 %p, [places]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 16, %p; mad.wide.u32 %out, %t, 16, %out;
  ld.global.v4.b32 {%x, %y, %z, %l}, [%p];
  )" + body +
         "\n  ret;\n}\n";
}

inline std::string loads(Geometry geometry, const Access& access, const std::string& mode, const std::string& name) {
  const Form form = formOf(geometry);
  return kernel(name, std::string("suld.b.") + form.name + access.type() + "." + mode + " " + access.registers() +
                          ", [%s, " + form.coordinates + "];\n  st.global" + access.type() + " [%out], " +
                          access.registers() + ";");
}

inline std::string stores(Geometry geometry, const Access& access, const std::string& mode, const std::string& name) {
  const Form form = formOf(geometry);
  return kernel(name, "ld.global" + access.type() + " " + access.registers() + ", [%out];\n  sust.b." + form.name +
                          access.type() + "." + mode + " [%s, " + form.coordinates + "], " + access.registers() + ";");
}

inline constexpr const char* head = ".version 8.1\n.target sm_70\n.address_size 64\n";

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
  // Where an access of that many bytes goes; null where nothing is read or written.
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
    place.layer &= 0xFFFF;
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
inline constexpr Texel texels[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 1, 1},
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

}  // namespace mulciber::test::surfaces
