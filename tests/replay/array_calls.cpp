// Creating arrays and asking about them.
#include <cstdio>

#include "replay.h"

namespace mulciber::replay {

namespace {

constexpr Group D = Group::Driver, R = Group::Runtime;
constexpr uint64_t huge = uint64_t{1} << 40;

uint64_t nothing(World&) { return 0; }

Choices flatShape() {
  using S = CUDA_ARRAY_DESCRIPTOR;
  const auto with = structures<S>([](World&, S& made) { made = {64, 32, CU_AD_FORMAT_FLOAT, 1}; });
  return of("shape", with(unchanged))
      .add("null", nothing)
      .add("no width", with([](S& s) { s.Width = 0; }))
      .add("no height", with([](S& s) { s.Height = 0; }))
      .add("too wide", with([](S& s) { s.Width = huge; }))
      .add("too high", with([](S& s) { s.Height = huge; }))
      .add("no channels", with([](S& s) { s.NumChannels = 0; }))
      .add("3 channels", with([](S& s) { s.NumChannels = 3; }))
      .add("format 0", with([](S& s) { s.Format = static_cast<CUarray_format>(0); }))
      .add("format 7", with([](S& s) { s.Format = static_cast<CUarray_format>(7); }));
}

// As the members of both APIs' functions want them: three extents and flags.
struct Shape {
  const char* name;
  size_t width, height, depth;
  unsigned flags;
};
constexpr Shape shapes[] = {
    {"2-D", 64, 32, 0, 0},
    {"1-D", 64, 0, 0, 0},
    {"3-D", 16, 8, 4, 0},
    {"no width", 0, 32, 0, 0},
    {"nothing", 0, 0, 0, 0},
    {"depth without height", 64, 0, 4, 0},
    {"layers of 1-D", 64, 0, 4, 1},
    {"layers of 2-D", 64, 32, 4, 1},
    {"no layers", 64, 32, 0, 1},
    {"layers of nothing", 0, 32, 4, 1},
    {"3000 layers", 64, 32, 3000, 1},
    {"cubemap", 32, 32, 6, 4},
    {"cubemap of 5", 32, 32, 5, 4},
    {"cubemap of 12", 32, 32, 12, 4},
    {"cubemap of 0", 32, 32, 0, 4},
    {"cubemap, not square", 32, 16, 6, 4},
    {"cubemap without height", 32, 0, 6, 4},
    {"cubemaps", 32, 32, 12, 5},
    {"cubemaps of 11", 32, 32, 11, 5},
    {"cubemaps of 0", 32, 32, 0, 5},
    {"surface", 64, 32, 0, 2},
    {"surface of 3-D", 16, 8, 4, 2},
    {"gather", 64, 32, 0, 8},
    {"gather of 1-D", 64, 0, 0, 8},
    {"gather of 3-D", 16, 8, 4, 8},
    {"gather of layers", 64, 32, 4, 9},
    {"gather of a cubemap", 32, 32, 6, 12},
    {"depth texture", 64, 32, 0, 16},
    {"colour", 64, 32, 0, 32},
    {"colour and surface", 64, 32, 0, 34},
    {"sparse", 256, 256, 0, 64},
    {"sparse of 1-D", 256, 0, 0, 64},
    {"deferred", 64, 32, 0, 128},
    {"sparse and deferred", 256, 256, 0, 192},
    {"video", 64, 32, 0, 256},
    {"flag 0x200", 64, 32, 0, 0x200},
    {"flag 0x80000000", 64, 32, 0, 0x80000000u},
    {"too wide", huge, 32, 0, 0},
    {"too high", 64, huge, 0, 0},
    {"too deep", 64, 32, huge, 0},
};

Choices anyShape() {
  using S = CUDA_ARRAY3D_DESCRIPTOR;
  const auto with = structures<S>([](World&, S& made) { made = {64, 32, 0, CU_AD_FORMAT_FLOAT, 1, 0}; });
  Choices made = of("shape", with(unchanged))
                     .add("null", nothing)
                     .add("3 channels", with([](S& s) { s.NumChannels = 3; }))
                     .add("format 0", with([](S& s) { s.Format = static_cast<CUarray_format>(0); }));
  for (const Shape& shape : shapes)
    made.all.push_back({shape.name, with([&shape](S& s) {
                          s.Width = shape.width;
                          s.Height = shape.height;
                          s.Depth = shape.depth;
                          s.Flags = shape.flags;
                        })});
  return made;
}

Choices channels() {
  using C = cudaChannelFormatDesc;
  const auto with = structures<C>([](World&, C& made) { made = {32, 0, 0, 0, cudaChannelFormatKindFloat}; });
  const auto value = [&](int x, int y, int z, int w, int kind) {
    return with([=](C& c) { c = {x, y, z, w, static_cast<cudaChannelFormatKind>(kind)}; });
  };
  return of("float", with(unchanged))
      .add("null", nothing)
      .add("4 bytes", value(8, 8, 8, 8, 1))
      .add("2 shorts", value(16, 16, 0, 0, 0))
      .add("half", value(16, 0, 0, 0, 2))
      .add("3 channels", value(8, 8, 8, 0, 1))
      .add("mixed", value(8, 16, 0, 0, 1))
      .add("gap", value(8, 0, 8, 0, 1))
      .add("float of 8", value(8, 0, 0, 0, 2))
      .add("64 bits", value(64, 0, 0, 0, 1))
      .add("none", value(0, 0, 0, 0, 1))
      .add("negative", value(-8, 0, 0, 0, 1))
      .add("kind None", value(8, 0, 0, 0, 3))
      .add("kind NV12", value(8, 8, 8, 0, 4))
      .add("normalized", value(8, 8, 0, 0, 6))
      .add("normalized, wrong bits", value(16, 16, 0, 0, 6))
      .add("kind 99", value(8, 0, 0, 0, 99))
      .add("kind -1", value(8, 0, 0, 0, -1));
}

Choices extents() {
  using E = cudaExtent;
  const auto with = structures<E>([](World&, E& made) { made = {64, 32, 0}; });
  return of("64 x 32", with(unchanged))
      .add("64", with([](E& e) {
             e = {64, 0, 0};
           }))
      .add("16 x 8 x 4", with([](E& e) {
             e = {16, 8, 4};
           }))
      .add("64 x 0 x 4", with([](E& e) {
             e = {64, 0, 4};
           }))
      .add("0", with([](E& e) {
             e = {0, 0, 0};
           }))
      .add("0 x 32", with([](E& e) {
             e = {0, 32, 0};
           }))
      .add("too wide", with([](E& e) {
             e = {huge, 32, 0};
           }))
      .add("16 x 16 x 6", with([](E& e) {
             e = {16, 16, 6};
           }));
}

Notes& tellShape(Notes& notes, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR whole{};
  CUDA_ARRAY_DESCRIPTOR flat{};
  notes << FUNCTION(cuArray3DGetDescriptor)(&whole, array);
  notes << static_cast<long long>(whole.Width) << static_cast<long long>(whole.Height)
        << static_cast<long long>(whole.Depth) << whole.Format << whole.NumChannels << whole.Flags;
  notes << FUNCTION(cuArrayGetDescriptor)(&flat, array);
  return notes << static_cast<long long>(flat.Width) << static_cast<long long>(flat.Height) << flat.Format
               << flat.NumChannels;
}

Notes& tellInfo(Notes& notes, cudaArray_t array) {
  cudaChannelFormatDesc format{}, again{};
  cudaExtent extent{};
  unsigned flags = 77;
  notes << FUNCTION(cudaArrayGetInfo)(&format, &extent, &flags, array);
  notes << format.x << format.y << format.z << format.w << format.f << static_cast<long long>(extent.width)
        << static_cast<long long>(extent.height) << static_cast<long long>(extent.depth) << flags;
  notes << FUNCTION(cudaGetChannelDesc)(&again, static_cast<cudaArray_const_t>(array));
  return notes << again.x << again.y << again.z << again.w << again.f;
}

void descriptions() {
  for (const Shape& shape : shapes)
    sequence(D, std::string("the description of an array: ") + shape.name, [&shape](World&) -> std::string {
      const CUDA_ARRAY3D_DESCRIPTOR given{shape.width, shape.height, shape.depth, CU_AD_FORMAT_UNSIGNED_INT8,
                                          2,           shape.flags};
      CUarray made = nullptr;
      Notes notes;
      const int error = FUNCTION(cuArray3DCreate)(&made, &given);
      notes << error;
      if (error != 0) return notes;
      tellShape(notes, made);
      tellInfo(notes, reinterpret_cast<cudaArray_t>(made));
      return notes << FUNCTION(cuArrayDestroy)(made) << FUNCTION(cuArrayDestroy)(made);
    });
  // Every format with every number of channels: 1-D, 2-D with surfaces, 3-D.
  for (unsigned code = 0; code < 0x100; ++code) {
    char name[40];
    std::snprintf(name, sizeof(name), "arrays of format 0x%02x", code);
    sequence(D, name, [code](World&) -> std::string {
      Notes notes;
      for (unsigned count = 0; count <= 5; ++count)
        for (const Shape& shape : {Shape{"", 64, 0, 0, 0}, Shape{"", 64, 32, 0, 0}, Shape{"", 64, 32, 0, 2},
                                   Shape{"", 64, 32, 4, 0}, Shape{"", 64, 32, 4, 1}, Shape{"", 32, 32, 6, 4}}) {
          const CUDA_ARRAY3D_DESCRIPTOR given{shape.width, shape.height, shape.depth, static_cast<CUarray_format>(code),
                                              count,       shape.flags};
          CUarray made = nullptr;
          notes << FUNCTION(cuArray3DCreate)(&made, &given);
          if (made) FUNCTION(cuArrayDestroy)(made);
        }
      return notes;
    });
    sequence(D, std::string("the channels of ") + name, [code](World&) -> std::string {
      Notes notes;
      for (unsigned count = 1; count <= 4; ++count) {
        const CUDA_ARRAY3D_DESCRIPTOR given{64, 32, 0, static_cast<CUarray_format>(code), count, 0};
        CUarray made = nullptr;
        if (FUNCTION(cuArray3DCreate)(&made, &given) != CUDA_SUCCESS) continue;
        tellInfo(notes, reinterpret_cast<cudaArray_t>(made));
        FUNCTION(cuArrayDestroy)(made);
      }
      return notes;
    });
  }
}

// Of every kind of channels with usual and unusual bits: whether the runtime has such arrays.
void kinds() {
  for (int kind = -1; kind <= 33; ++kind)
    sequence(R, "arrays of kind " + std::to_string(kind), [kind](World&) -> std::string {
      Notes notes;
      for (const int bits : {8, 10, 16, 32, 64})
        for (int count = 1; count <= 4; ++count) {
          const auto at = [&](int i) { return i < count ? bits : 0; };
          const cudaChannelFormatDesc format{bits, at(1), at(2), bits == 10 && count == 4 ? 2 : at(3),
                                             static_cast<cudaChannelFormatKind>(kind)};
          cudaArray_t made = nullptr;
          notes << FUNCTION(cudaMallocArray)(&made, &format, size_t{64}, size_t{32}, 0u);
          if (!made) continue;
          tellInfo(notes, made);
          FUNCTION(cudaFreeArray)(made);
        }
      return notes;
    });
}

void levels() {
  sequence(D, "levels of a mipmapped array", [](World& w) {
    CUarray first = nullptr, again = nullptr, last = nullptr;
    Notes notes;
    notes << FUNCTION(cuMipmappedArrayGetLevel)(&first, w.mipmapped, 1u);
    notes << FUNCTION(cuMipmappedArrayGetLevel)(&again, w.mipmapped, 1u) << (first == again);
    notes << FUNCTION(cuMipmappedArrayGetLevel)(&last, w.mipmapped, 3u);
    tellShape(notes, first);
    tellShape(notes, last);
    tellInfo(notes, reinterpret_cast<cudaArray_t>(first));
    notes << FUNCTION(cuArrayDestroy)(first);
    return notes << FUNCTION(cuMipmappedArrayGetLevel)(&again, w.mipmapped, 1u);
  });
  for (const unsigned flags : {0u, 1u, 4u, 5u})
    for (const unsigned count : {1u, 3u, 5u, 6u, 7u, 20u})
      sequence(D, "mipmaps of " + std::to_string(count) + " levels, flags " + std::to_string(flags),
               [=](World&) -> std::string {
                 const CUDA_ARRAY3D_DESCRIPTOR given{
                     32, 32, flags == 0 ? 8u : flags == 5 ? 12u : 6u, CU_AD_FORMAT_FLOAT, 1, flags};
                 CUmipmappedArray made = nullptr;
                 CUarray level = nullptr;
                 Notes notes;
                 notes << FUNCTION(cuMipmappedArrayCreate)(&made, &given, count);
                 for (unsigned i = 0; made && i < 8; ++i) {
                   const int error = FUNCTION(cuMipmappedArrayGetLevel)(&level, made, i);
                   notes << error;
                   if (error != 0) break;
                   tellShape(notes, level);
                 }
                 return made ? notes << FUNCTION(cuMipmappedArrayDestroy)(made) : notes;
               });
  sequence(R, "an array freed twice, and null", [](World&) {
    const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
    cudaArray_t made = nullptr;
    cudaMipmappedArray_t mipmaps = nullptr;
    Notes notes;
    notes << FUNCTION(cudaMallocArray)(&made, &format, size_t{64}, size_t{32}, 0u) << FUNCTION(cudaFreeArray)(made);
    notes << FUNCTION(cudaFreeArray)(made) << FUNCTION(cudaFreeArray)(cudaArray_t{});
    notes << FUNCTION(cudaMallocMipmappedArray)(&mipmaps, &format, cudaExtent{64, 32, 0}, 3u, 0u);
    notes << FUNCTION(cudaFreeMipmappedArray)(mipmaps) << FUNCTION(cudaFreeMipmappedArray)(mipmaps);
    return notes << FUNCTION(cudaFreeMipmappedArray)(cudaMipmappedArray_t{}) << FUNCTION(cudaGetLastError)();
  });
}

}  // namespace

void addArrayCalls() {
  const auto levelCount = [] { return number(4, {0, 1, 7, 8, 100}); };
  const auto which = [] { return number(1, {0, 3, 4, 100}); };
  call(D, FUNCTION(cuArrayCreate), out(0), flatShape());
  call(D, FUNCTION(cuArray3DCreate), out(0), anyShape());
  call(D, FUNCTION(cuArrayGetDescriptor), out(0), array());
  call(D, FUNCTION(cuArray3DGetDescriptor), out(0), array());
  call(D, FUNCTION(cuArrayGetMemoryRequirements), out(0), array(), ordinal());
  call(D, FUNCTION(cuArrayGetSparseProperties), out(0), array());
  call(D, FUNCTION(cuArrayGetPlane), out(0), array(), number(0, {1}));
  call(D, FUNCTION(cuArrayDestroy), array());
  call(D, FUNCTION(cuMipmappedArrayCreate), out(0), anyShape(), levelCount());
  call(D, FUNCTION(cuMipmappedArrayGetLevel), out(0), mipmapped(), which());
  call(D, FUNCTION(cuMipmappedArrayGetMemoryRequirements), out(0), mipmapped(), ordinal());
  call(D, FUNCTION(cuMipmappedArrayGetSparseProperties), out(0), mipmapped());
  call(D, FUNCTION(cuMipmappedArrayDestroy), mipmapped());
  const auto flags = [] { return number(0, {1, 2, 3, 4, 5, 8, 16, 32, 64, 128, 256, 512}); };
  call(R, FUNCTION(cudaMallocArray), out(0), channels(), number(64, {0}), number(32, {0}), flags());
  call(R, FUNCTION(cudaMalloc3DArray), out(0), channels(), extents(), flags());
  call(R, FUNCTION(cudaMallocMipmappedArray), out(0), channels(), extents(), levelCount(), flags());
  call(R, FUNCTION(cudaGetMipmappedArrayLevel), out(0), mipmapped(), which());
  call(R, FUNCTION(cudaArrayGetInfo), out(0), out(1), out(2), array());
  call(R, FUNCTION(cudaGetChannelDesc), out(0), array());
  call(R, FUNCTION(cudaArrayGetMemoryRequirements), out(0), array(), ordinal());
  call(R, FUNCTION(cudaMipmappedArrayGetMemoryRequirements), out(0), mipmapped(), ordinal());
  call(R, FUNCTION(cudaArrayGetSparseProperties), out(0), array());
  call(R, FUNCTION(cudaMipmappedArrayGetSparseProperties), out(0), mipmapped());
  call(R, FUNCTION(cudaArrayGetPlane), out(0), array(), number(0, {1}));
  call(R, FUNCTION(cudaFreeArray), array());
  call(R, FUNCTION(cudaFreeMipmappedArray), mipmapped());
  descriptions();
  kinds();
  levels();
}

}  // namespace mulciber::replay
