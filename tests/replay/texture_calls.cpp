// Creating and asking about texture and surface objects: one thing wrong in a description at a time.
#include <functional>

#include "replay.h"

namespace mulciber::replay {

namespace {

constexpr Group D = Group::Driver, R = Group::Runtime;

// What both APIs describe; one is made of it for either.
struct Described {
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  CUDA_RESOURCE_VIEW_DESC view{};
  bool hasView = false;
};

struct Base {
  const char* name;
  void (*describe)(World&, CUDA_RESOURCE_DESC&);
};
void describeArray(CUDA_RESOURCE_DESC& r, CUarray array) {
  r.resType = CU_RESOURCE_TYPE_ARRAY;
  r.res.array.hArray = array;
}
const Base bases[] = {
    {"2-D array", [](World& w, CUDA_RESOURCE_DESC& r) { describeArray(r, w.array); }},
    {"1-D array", [](World& w, CUDA_RESOURCE_DESC& r) { describeArray(r, w.line); }},
    {"3-D array", [](World& w, CUDA_RESOURCE_DESC& r) { describeArray(r, w.box); }},
    {"layers", [](World& w, CUDA_RESOURCE_DESC& r) { describeArray(r, w.layered); }},
    {"mipmaps",
     [](World& w, CUDA_RESOURCE_DESC& r) {
       r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
       r.res.mipmap.hMipmappedArray = w.mipmapped;
     }},
    {"linear",
     [](World& w, CUDA_RESOURCE_DESC& r) {
       r.resType = CU_RESOURCE_TYPE_LINEAR;
       r.res.linear = {w.device, CU_AD_FORMAT_FLOAT, 1, 4096};
     }},
    {"pitched",
     [](World& w, CUDA_RESOURCE_DESC& r) {
       r.resType = CU_RESOURCE_TYPE_PITCH2D;
       r.res.pitch2D = {w.device, CU_AD_FORMAT_FLOAT, 1, 32, 16, 256};
     }},
};

struct Change {
  const char* name;
  void (*change)(World&, Described&);
};
template <unsigned filter>
void filters(World&, Described& d) {
  d.texture.filterMode = static_cast<CUfilter_mode>(filter);
}
template <unsigned mode, int axis>
void addresses(World&, Described& d) {
  d.texture.addressMode[axis] = static_cast<CUaddress_mode>(mode);
}
template <unsigned flags>
void flagged(World&, Described& d) {
  d.texture.flags = flags;
}
template <unsigned format>
void viewed(World&, Described& d) {
  d.hasView = true;
  d.view.format = static_cast<CUresourceViewFormat>(format);
  d.view.width = 64, d.view.height = 32;
}
template <unsigned format, unsigned channels>
void madeOf(World&, Described& d) {
  d.resource.res.linear.format = static_cast<CUarray_format>(format);
  d.resource.res.linear.numChannels = channels;
}
const Change changes[] = {
    {"nothing", [](World&, Described&) {}},
    {"resource type 4", [](World&, Described& d) { d.resource.resType = static_cast<CUresourcetype>(4); }},
    {"resource type 77", [](World&, Described& d) { d.resource.resType = static_cast<CUresourcetype>(77); }},
    {"resource flags 1", [](World&, Described& d) { d.resource.flags = 1; }},
    {"a null resource", [](World&, Described& d) { d.resource.res.array.hArray = nullptr; }},
    {"a gone array",
     [](World& w, Described& d) {
       // To memory a handle is an address of the host's. The gone array's could be device memory again on a CPU device.
       const bool isMemory =
           d.resource.resType == CU_RESOURCE_TYPE_LINEAR || d.resource.resType == CU_RESOURCE_TYPE_PITCH2D;
       d.resource.res.array.hArray = isMemory ? reinterpret_cast<CUarray>(&w) : w.goneArray;
     }},
    {"linear filter", filters<1>},
    {"filter 2", filters<2>},
    {"filter 77", filters<77>},
    {"linear filter of integers",
     [](World& w, Described& d) { filters<1>(w, d), flagged<CU_TRSF_READ_AS_INTEGER>(w, d); }},
    {"first mode wrap", addresses<0, 0>},
    {"first mode mirror", addresses<2, 0>},
    {"first mode border", addresses<3, 0>},
    {"first mode 4", addresses<4, 0>},
    {"second mode 4", addresses<4, 1>},
    {"third mode 4", addresses<4, 2>},
    {"first mode 77", addresses<77, 0>},
    {"read as integer", flagged<1>},
    {"normalized coordinates", flagged<2>},
    {"normalized and wrap", [](World& w, Described& d) { flagged<2>(w, d), addresses<0, 0>(w, d); }},
    {"normalized, linear filter", [](World& w, Described& d) { flagged<2>(w, d), filters<1>(w, d); }},
    {"flag 4", flagged<4>},
    {"flag 8", flagged<8>},
    {"sRGB", flagged<0x10>},
    {"no trilinear optimization", flagged<0x20>},
    {"seamless", flagged<0x40>},
    {"flag 0x80", flagged<0x80>},
    {"flag 0x80000000", flagged<0x80000000u>},
    {"anisotropy 16", [](World&, Described& d) { d.texture.maxAnisotropy = 16; }},
    {"anisotropy 17", [](World&, Described& d) { d.texture.maxAnisotropy = 17; }},
    {"anisotropy 77", [](World&, Described& d) { d.texture.maxAnisotropy = 77; }},
    {"linear mipmap filter", [](World&, Described& d) { d.texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR; }},
    {"mipmap filter 2", [](World&, Described& d) { d.texture.mipmapFilterMode = static_cast<CUfilter_mode>(2); }},
    {"bias 20", [](World&, Described& d) { d.texture.mipmapLevelBias = 20; }},
    {"levels 3 to 1",
     [](World&, Described& d) { d.texture.minMipmapLevelClamp = 3, d.texture.maxMipmapLevelClamp = 1; }},
    {"levels -1 to 100",
     [](World&, Described& d) { d.texture.minMipmapLevelClamp = -1, d.texture.maxMipmapLevelClamp = 100; }},
    {"reserved 1", [](World&, Described& d) { d.texture.reserved[3] = 1; }},
    {"address + 4", [](World&, Described& d) { d.resource.res.linear.devPtr += 4; }},
    {"address + 32", [](World&, Described& d) { d.resource.res.linear.devPtr += 32; }},
    {"address + 256", [](World&, Described& d) { d.resource.res.linear.devPtr += 256; }},
    {"address + 512", [](World&, Described& d) { d.resource.res.linear.devPtr += 512; }},
    {"host memory",
     [](World& w, Described& d) { d.resource.res.linear.devPtr = reinterpret_cast<CUdeviceptr>(w.host); }},
    {"wild address", [](World&, Described& d) { d.resource.res.linear.devPtr = 0x700000000000; }},
    {"format 7", madeOf<7, 1>},
    {"3 channels", madeOf<0x20, 3>},
    {"no channels", madeOf<0x20, 0>},
    {"8 channels", madeOf<0x20, 8>},
    {"4 halves", madeOf<0x10, 4>},
    {"BC1", madeOf<0x91, 4>},
    {"UNORM 8 x 4", madeOf<0xc2, 4>},
    {"a view without format", viewed<0>},
    {"a view as float", viewed<CU_RES_VIEW_FORMAT_FLOAT_1X32>},
    {"a view as 4 bytes", viewed<CU_RES_VIEW_FORMAT_UINT_4X8>},
    {"a view as 2 floats", viewed<CU_RES_VIEW_FORMAT_FLOAT_2X32>},
    {"a view as BC1", viewed<CU_RES_VIEW_FORMAT_UNSIGNED_BC1>},
    {"a view of format 77", viewed<77>},
    {"a view of half the width", [](World& w, Described& d) { viewed<0x16>(w, d), d.view.width = 32; }},
    {"a view without width", [](World& w, Described& d) { viewed<0x16>(w, d), d.view.width = 0; }},
    {"a view of depth 4", [](World& w, Described& d) { viewed<0x16>(w, d), d.view.depth = 4; }},
    {"a view of level 1",
     [](World& w, Described& d) { viewed<0x16>(w, d), d.view.firstMipmapLevel = d.view.lastMipmapLevel = 1; }},
    {"a view of levels 1 to 0", [](World& w, Described& d) { viewed<0x16>(w, d), d.view.firstMipmapLevel = 1; }},
    {"a view of level 77", [](World& w, Described& d) { viewed<0x16>(w, d), d.view.lastMipmapLevel = 77; }},
    {"a view of layer 1", [](World& w, Described& d) { viewed<0x16>(w, d), d.view.firstLayer = d.view.lastLayer = 1; }},
    {"a view of layer 77", [](World& w, Described& d) { viewed<0x16>(w, d), d.view.lastLayer = 77; }},
    {"a view with reserved 1", [](World& w, Described& d) { viewed<0x16>(w, d), d.view.reserved[2] = 1; }},
};
// Of linear and pitched memory alone.
const Change memoryChanges[] = {
    {"no bytes", [](World&, Described& d) { d.resource.res.linear.sizeInBytes = 0; }},
    {"3 bytes", [](World&, Described& d) { d.resource.res.linear.sizeInBytes = 3; }},
    {"a GiB", [](World&, Described& d) { d.resource.res.linear.sizeInBytes = 1 << 30; }},
    {"2^28 texels", [](World&, Described& d) { d.resource.res.linear.sizeInBytes = size_t{1} << 30; }},
    {"2^29 texels", [](World&, Described& d) { d.resource.res.linear.sizeInBytes = size_t{1} << 31; }},
    {"2^40 bytes", [](World&, Described& d) { d.resource.res.linear.sizeInBytes = size_t{1} << 40; }},
};
const Change pitchChanges[] = {
    {"no columns", [](World&, Described& d) { d.resource.res.pitch2D.width = 0; }},
    {"no rows", [](World&, Described& d) { d.resource.res.pitch2D.height = 0; }},
    {"131072 columns", [](World&, Described& d) { d.resource.res.pitch2D.width = 131072; }},
    {"131073 columns", [](World&, Described& d) { d.resource.res.pitch2D.width = 131073; }},
    {"65000 rows", [](World&, Described& d) { d.resource.res.pitch2D.height = 65000; }},
    {"65001 rows", [](World&, Described& d) { d.resource.res.pitch2D.height = 65001; }},
    {"131072 rows", [](World&, Described& d) { d.resource.res.pitch2D.height = 131072; }},
    {"no pitch", [](World&, Described& d) { d.resource.res.pitch2D.pitchInBytes = 0; }},
    {"pitch 4", [](World&, Described& d) { d.resource.res.pitch2D.pitchInBytes = 4; }},
    {"pitch 32", [](World&, Described& d) { d.resource.res.pitch2D.pitchInBytes = 32; }},
    {"pitch 130", [](World&, Described& d) { d.resource.res.pitch2D.pitchInBytes = 130; }},
    {"pitch 2097120", [](World&, Described& d) { d.resource.res.pitch2D.pitchInBytes = 2097120; }},
    {"pitch 2097152", [](World&, Described& d) { d.resource.res.pitch2D.pitchInBytes = 2097152; }},
};

Described described(World& w, const Base& base, const Change& change) {
  Described made;
  base.describe(w, made.resource);
  for (CUaddress_mode& mode : made.texture.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  change.change(w, made);
  return made;
}

void addChange(const Base& base, const Change& change) {
  const std::string name = std::string(base.name) + ", " + change.name;
  sequence(D, "a texture of " + name, [&](World& w) {
    const Described d = described(w, base, change);
    CUtexObject object = 0;
    CUDA_RESOURCE_DESC resource{};
    CUDA_TEXTURE_DESC texture{};
    CUDA_RESOURCE_VIEW_DESC view{};
    Notes notes;
    notes << FUNCTION(cuTexObjectCreate)(&object, &d.resource, &d.texture, d.hasView ? &d.view : nullptr);
    if (!object) return notes;
    notes << FUNCTION(cuTexObjectGetResourceDesc)(&resource, object) << resource.resType << resource.flags;
    notes << FUNCTION(cuTexObjectGetTextureDesc)(&texture, object) << texture.addressMode[0] << texture.addressMode[1]
          << texture.addressMode[2] << texture.filterMode << texture.flags << texture.maxAnisotropy
          << texture.mipmapFilterMode << static_cast<long long>(texture.mipmapLevelBias * 100)
          << static_cast<long long>(texture.minMipmapLevelClamp * 100)
          << static_cast<long long>(texture.maxMipmapLevelClamp * 100);
    notes << FUNCTION(cuTexObjectGetResourceViewDesc)(&view, object) << view.format
          << static_cast<long long>(view.width) << view.firstMipmapLevel << view.lastMipmapLevel << view.firstLayer
          << view.lastLayer;
    return notes << FUNCTION(cuTexObjectDestroy)(object) << FUNCTION(cuTexObjectDestroy)(object);
  });
  sequence(R, "a texture of " + name, [&](World& w) {
    const Described d = described(w, base, change);
    cudaResourceDesc resource{};
    resource.resType = static_cast<cudaResourceType>(d.resource.resType);
    const cudaChannelFormatDesc one{32, 0, 0, 0, cudaChannelFormatKindFloat};
    if (d.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
      resource.res.linear.devPtr = reinterpret_cast<void*>(d.resource.res.linear.devPtr);
      resource.res.linear.desc = one;
      resource.res.linear.sizeInBytes = d.resource.res.linear.sizeInBytes;
    } else if (d.resource.resType == CU_RESOURCE_TYPE_PITCH2D) {
      resource.res.pitch2D.devPtr = reinterpret_cast<void*>(d.resource.res.pitch2D.devPtr);
      resource.res.pitch2D.desc = one;
      resource.res.pitch2D.width = d.resource.res.pitch2D.width;
      resource.res.pitch2D.height = d.resource.res.pitch2D.height;
      resource.res.pitch2D.pitchInBytes = d.resource.res.pitch2D.pitchInBytes;
    } else {
      resource.res.array.array = reinterpret_cast<cudaArray_t>(d.resource.res.array.hArray);
    }
    cudaTextureDesc texture{};
    for (int i = 0; i < 3; ++i) texture.addressMode[i] = static_cast<cudaTextureAddressMode>(d.texture.addressMode[i]);
    texture.filterMode = static_cast<cudaTextureFilterMode>(d.texture.filterMode);
    texture.readMode =
        d.texture.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
    texture.sRGB = (d.texture.flags & CU_TRSF_SRGB) != 0;
    texture.normalizedCoords = (d.texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    texture.maxAnisotropy = d.texture.maxAnisotropy;
    texture.mipmapFilterMode = static_cast<cudaTextureFilterMode>(d.texture.mipmapFilterMode);
    texture.mipmapLevelBias = d.texture.mipmapLevelBias;
    texture.minMipmapLevelClamp = d.texture.minMipmapLevelClamp;
    texture.maxMipmapLevelClamp = d.texture.maxMipmapLevelClamp;
    cudaResourceViewDesc view{};
    view.format = static_cast<cudaResourceViewFormat>(d.view.format);
    view.width = d.view.width;
    view.height = d.view.height;
    view.depth = d.view.depth;
    view.firstMipmapLevel = d.view.firstMipmapLevel;
    view.lastMipmapLevel = d.view.lastMipmapLevel;
    view.firstLayer = d.view.firstLayer;
    view.lastLayer = d.view.lastLayer;
    cudaTextureObject_t object = 0;
    Notes notes;
    notes << FUNCTION(cudaCreateTextureObject)(&object, &resource, &texture, d.hasView ? &view : nullptr)
          << FUNCTION(cudaGetLastError)();
    if (!object) return notes;
    cudaTextureDesc seen{};
    notes << FUNCTION(cudaGetTextureObjectTextureDesc)(&seen, object) << seen.readMode << seen.filterMode << seen.sRGB
          << seen.normalizedCoords << seen.maxAnisotropy;
    return notes << FUNCTION(cudaDestroyTextureObject)(object) << FUNCTION(cudaDestroyTextureObject)(object);
  });
}

void addSurface(const Base& base) {
  for (const bool isNull : {false, true})
    sequence(D, std::string("a surface of ") + base.name + (isNull ? ", null" : ""), [&base, isNull](World& w) {
      CUDA_RESOURCE_DESC resource{}, seen{};
      base.describe(w, resource);
      if (isNull) resource.res.array.hArray = nullptr;
      CUsurfObject object = 0;
      CUDA_TEXTURE_DESC texture{};
      Notes notes;
      notes << FUNCTION(cuSurfObjectCreate)(&object, &resource) << (object != 0);
      notes << FUNCTION(cuSurfObjectGetResourceDesc)(&seen, object) << seen.resType;
      notes << FUNCTION(cuTexObjectGetTextureDesc)(&texture, object);
      return notes << FUNCTION(cuSurfObjectDestroy)(object) << FUNCTION(cuSurfObjectDestroy)(object);
    });
}

template <class T>
Choices resource() {
  const auto with = structures<T>([](World& w, T& made) {
    made.resType = static_cast<decltype(made.resType)>(0);
    std::memcpy(&made.res, &w.array, sizeof w.array);
  });
  return of("resource", with(unchanged))
      .add("null", [](World&) -> uint64_t { return 0; })
      .add("resource of type 5", with([](T& r) { r.resType = static_cast<decltype(r.resType)>(5); }));
}
template <class T>
Choices texture() {
  return of("texture", structures<T>([](World&, T&) {})(unchanged)).add("null", [](World&) -> uint64_t { return 0; });
}

}  // namespace

void addTextureCalls() {
  const auto wild = [] { return number(0, {1, 12345, ~uint64_t{0}}); };
  call(D, FUNCTION(cuTexObjectCreate), out(0), resource<CUDA_RESOURCE_DESC>(), texture<CUDA_TEXTURE_DESC>(), number(0));
  call(D, FUNCTION(cuSurfObjectCreate), out(0), resource<CUDA_RESOURCE_DESC>());
  call(D, FUNCTION(cuTexObjectDestroy), wild());
  call(D, FUNCTION(cuSurfObjectDestroy), wild());
  call(D, FUNCTION(cuTexObjectGetResourceDesc), out(0), wild());
  call(D, FUNCTION(cuTexObjectGetTextureDesc), out(0), wild());
  call(D, FUNCTION(cuTexObjectGetResourceViewDesc), out(0), wild());
  call(D, FUNCTION(cuSurfObjectGetResourceDesc), out(0), wild());
  call(R, FUNCTION(cudaCreateTextureObject), out(0), resource<cudaResourceDesc>(), texture<cudaTextureDesc>(),
       number(0));
  call(R, FUNCTION(cudaCreateSurfaceObject), out(0), resource<cudaResourceDesc>());
  call(R, FUNCTION(cudaDestroyTextureObject), wild());
  call(R, FUNCTION(cudaDestroySurfaceObject), wild());
  call(R, FUNCTION(cudaGetTextureObjectResourceDesc), out(0), wild());
  call(R, FUNCTION(cudaGetTextureObjectTextureDesc), out(0), wild());
  call(R, FUNCTION(cudaGetTextureObjectResourceViewDesc), out(0), wild());
  call(R, FUNCTION(cudaGetSurfaceObjectResourceDesc), out(0), wild());
  for (const Base& base : bases) {
    for (const Change& change : changes) addChange(base, change);
    addSurface(base);
  }
  for (const Change& change : memoryChanges) addChange(bases[5], change);
  for (const Change& change : pitchChanges) addChange(bases[6], change);
}

}  // namespace mulciber::replay
