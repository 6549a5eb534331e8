// Copies to, from and between arrays: the codes, and where the bytes go.
#include <cstdio>
#include <functional>
#include <vector>

#include "replay.h"

namespace mulciber::replay {

namespace {

constexpr Group D = Group::Driver, R = Group::Runtime;

// A checksum of bytes: what is printed for the effect of a copy.
long long sumOf(const void* bytes, size_t count) {
  uint32_t sum = 1;
  for (size_t i = 0; i < count; ++i) sum = sum * 31 + static_cast<const uint8_t*>(bytes)[i];
  return sum;
}

CUDA_MEMCPY3D whole(CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  FUNCTION(cuArray3DGetDescriptor)(&shape, array);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.WidthInBytes = copy.srcPitch = copy.dstPitch = shape.Width * shape.NumChannels *
                                                      (shape.Format == CU_AD_FORMAT_FLOAT            ? 4
                                                       : shape.Format == CU_AD_FORMAT_UNSIGNED_INT16 ? 2
                                                                                                     : 1);
  copy.Height = copy.srcHeight = copy.dstHeight = shape.Height ? shape.Height : 1;
  copy.Depth = shape.Depth ? shape.Depth : 1;
  return copy;
}

// Writes values from `seed` on into the whole array.
void paint(World& w, CUarray array, uint8_t seed) {
  CUDA_MEMCPY3D copy = whole(array);
  for (size_t i = 0; i < copy.WidthInBytes * copy.Height * copy.Depth; ++i)
    w.pageable[i] = static_cast<char>(seed + i * 7 + i / 251);
  copy.srcHost = w.pageable;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  FUNCTION(cuMemcpy3D)(&copy);
}

long long lookAt(World& w, CUarray array) {
  CUDA_MEMCPY3D copy = whole(array);
  std::memset(w.pageable, 0, World::deviceBytes);
  copy.dstHost = w.pageable;
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  FUNCTION(cuMemcpy3D)(&copy);
  return sumOf(w.pageable, copy.WidthInBytes * copy.Height * copy.Depth);
}

long long lookAtMemory(World& w, CUdeviceptr memory, size_t bytes) {
  FUNCTION(cuMemcpyDtoH)(w.pageable, memory, bytes);
  return sumOf(w.pageable, bytes);
}

// A sequence whose arrays and memory hold known values before, and are looked at afterwards.
void effect(Group group, const std::string& name, std::function<int(World&)> body) {
  sequence(group, "bytes: " + name, [body](World& w) {
    for (const CUarray array : {w.array, w.line, w.box, w.layered}) paint(w, array, 3);
    for (size_t i = 0; i < World::deviceBytes; ++i) w.host[i] = static_cast<char>(i * 13 + i / 256);
    FUNCTION(cuMemcpyHtoD)(w.device, w.host, World::deviceBytes);
    FUNCTION(cuMemsetD8)(w.other, static_cast<unsigned char>(0), World::deviceBytes);
    Notes notes;
    notes << body(w) << FUNCTION(cuCtxSynchronize)();
    for (const CUarray array : {w.array, w.line, w.box, w.layered}) notes << lookAt(w, array);
    return notes << lookAtMemory(w, w.other, 16384) << sumOf(w.host, 16384) << FUNCTION(cudaGetLastError)();
  });
}

// Linear copies: an offset and a count of bytes in an array.
void linear() {
  const auto offset = [] { return number(64, {0, 1, 2, 256, 8188, 8192, 1 << 20}); };
  const auto bytes = [] { return number(128, {0, 1, 3, 256, 1024, 1 << 20}); };
  call(D, FUNCTION(cuMemcpyDtoA), array(), offset(), deviceMemory(), bytes());
  call(D, FUNCTION(cuMemcpyAtoD), deviceMemory(), array(), offset(), bytes());
  call(D, FUNCTION(cuMemcpyHtoA), array(), offset(), hostMemory(), bytes());
  call(D, FUNCTION(cuMemcpyAtoH), hostMemory(), array(), offset(), bytes());
  call(D, FUNCTION(cuMemcpyAtoA), array(), offset(), array(), offset(), bytes());
  call(D, FUNCTION(cuMemcpyHtoAAsync), array(), offset(), hostMemory(), bytes(), stream());
  call(D, FUNCTION(cuMemcpyAtoHAsync), hostMemory(), array(), offset(), bytes(), stream());
  for (const size_t at : {size_t{0}, size_t{1}, size_t{4}, size_t{64}, size_t{252}, size_t{256}, size_t{300}})
    for (const size_t count : {size_t{1}, size_t{4}, size_t{8}, size_t{256}, size_t{700}, size_t{1024}}) {
      const std::string name = std::to_string(count) + " at " + std::to_string(at);
      effect(D, "cuMemcpyHtoA to a line, " + name,
             [=](World& w) { return FUNCTION(cuMemcpyHtoA)(w.line, at, w.host, count); });
      effect(D, "cuMemcpyHtoA to 2-D, " + name,
             [=](World& w) { return FUNCTION(cuMemcpyHtoA)(w.array, at, w.host, count); });
      effect(D, "cuMemcpyAtoD from 2-D, " + name,
             [=](World& w) { return FUNCTION(cuMemcpyAtoD)(w.other, w.array, at, count); });
      effect(D, "cuMemcpyAtoD from 3-D, " + name,
             [=](World& w) { return FUNCTION(cuMemcpyAtoD)(w.other, w.box, at, count); });
      effect(D, "cuMemcpyAtoA from 2-D to a line, " + name,
             [=](World& w) { return FUNCTION(cuMemcpyAtoA)(w.line, size_t{16}, w.array, at, count); });
      effect(D, "cuMemcpyAtoA from layers to 2-D, " + name,
             [=](World& w) { return FUNCTION(cuMemcpyAtoA)(w.array, at, w.layered, size_t{8}, count); });
      for (const size_t row : {size_t{0}, size_t{5}, size_t{31}}) {
        const std::string place = name + ", row " + std::to_string(row);
        effect(R, "cudaMemcpyToArray, " + place, [=](World& w) {
          return FUNCTION(cudaMemcpyToArray)(reinterpret_cast<cudaArray_t>(w.array), at, row, w.host, count,
                                             cudaMemcpyHostToDevice);
        });
        effect(R, "cudaMemcpyFromArray, " + place, [=](World& w) {
          return FUNCTION(cudaMemcpyFromArray)(reinterpret_cast<void*>(w.other),
                                               reinterpret_cast<cudaArray_const_t>(w.array), at, row, count,
                                               cudaMemcpyDeviceToDevice);
        });
        effect(R, "cudaMemcpyArrayToArray, " + place, [=](World& w) {
          return FUNCTION(cudaMemcpyArrayToArray)(reinterpret_cast<cudaArray_t>(w.layered), size_t{8}, size_t{1},
                                                  reinterpret_cast<cudaArray_const_t>(w.array), at, row, count,
                                                  cudaMemcpyDeviceToDevice);
        });
      }
    }
}

// A rectangle from memory to an array, with one thing changed.
struct BoxChange {
  const char* name;
  void (*change)(World&, CUDA_MEMCPY3D&);
};
constexpr CUmemorytype arrayType = CU_MEMORYTYPE_ARRAY;
const BoxChange boxChanges[] = {
    {"2-D to array", [](World&, CUDA_MEMCPY3D&) {}},
    {"x 4", [](World&, CUDA_MEMCPY3D& c) { c.dstXInBytes = 4; }},
    {"x 1", [](World&, CUDA_MEMCPY3D& c) { c.dstXInBytes = 1; }},
    {"x 2", [](World&, CUDA_MEMCPY3D& c) { c.dstXInBytes = 2; }},
    {"x 250", [](World&, CUDA_MEMCPY3D& c) { c.dstXInBytes = 250; }},
    {"x 252", [](World&, CUDA_MEMCPY3D& c) { c.dstXInBytes = 252; }},
    {"width 33", [](World&, CUDA_MEMCPY3D& c) { c.WidthInBytes = 33; }},
    {"width 2", [](World&, CUDA_MEMCPY3D& c) { c.WidthInBytes = 2; }},
    {"width 256", [](World&, CUDA_MEMCPY3D& c) { c.WidthInBytes = 256; }},
    {"width 260", [](World&, CUDA_MEMCPY3D& c) { c.WidthInBytes = 260; }},
    {"y 25", [](World&, CUDA_MEMCPY3D& c) { c.dstY = 25; }},
    {"y 22", [](World&, CUDA_MEMCPY3D& c) { c.dstY = 22; }},
    {"z 1", [](World&, CUDA_MEMCPY3D& c) { c.dstZ = 1; }},
    {"depth 2", [](World&, CUDA_MEMCPY3D& c) { c.Depth = 2; }},
    {"depth 0", [](World&, CUDA_MEMCPY3D& c) { c.Depth = 0; }},
    {"height 0", [](World&, CUDA_MEMCPY3D& c) { c.Height = 0; }},
    {"width 0", [](World&, CUDA_MEMCPY3D& c) { c.WidthInBytes = 0; }},
    {"pitch 261", [](World&, CUDA_MEMCPY3D& c) { c.srcPitch = 261; }},
    {"pitch 254", [](World&, CUDA_MEMCPY3D& c) { c.srcPitch = 254; }},
    {"pitch 20", [](World&, CUDA_MEMCPY3D& c) { c.srcPitch = 20; }},
    {"pitch 0", [](World&, CUDA_MEMCPY3D& c) { c.srcPitch = 0; }},
    {"source + 3", [](World&, CUDA_MEMCPY3D& c) { c.srcXInBytes = 3; }},
    {"LOD 1", [](World&, CUDA_MEMCPY3D& c) { c.dstLOD = 1; }},
    {"null array", [](World&, CUDA_MEMCPY3D& c) { c.dstArray = nullptr; }},
    {"gone array", [](World& w, CUDA_MEMCPY3D& c) { c.dstArray = w.goneArray; }},
    {"no source", [](World&, CUDA_MEMCPY3D& c) { c.srcDevice = 0; }},
    {"pinned source", [](World& w, CUDA_MEMCPY3D& c) { c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = w.host; }},
    {"pageable source",
     [](World& w, CUDA_MEMCPY3D& c) {
       for (int i = 0; i < 16384; ++i) w.pageable[i] = static_cast<char>(i * 3);
       c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = w.pageable;
     }},
    {"unified source", [](World&, CUDA_MEMCPY3D& c) { c.srcMemoryType = CU_MEMORYTYPE_UNIFIED; }},
    {"to a line, one row", [](World& w, CUDA_MEMCPY3D& c) { c.dstArray = w.line, c.Height = 1; }},
    {"to a line, two rows", [](World& w, CUDA_MEMCPY3D& c) { c.dstArray = w.line, c.Height = 2; }},
    {"to a line, y 1", [](World& w, CUDA_MEMCPY3D& c) { c.dstArray = w.line, c.Height = 1, c.dstY = 1; }},
    {"to 3-D", [](World& w, CUDA_MEMCPY3D& c) { c.dstArray = w.box, c.Height = 4, c.Depth = 3, c.srcHeight = 5; }},
    {"to 3-D, z 2",
     [](World& w, CUDA_MEMCPY3D& c) { c.dstArray = w.box, c.Height = 4, c.Depth = 2, c.srcHeight = 5, c.dstZ = 2; }},
    {"to 3-D, z 3",
     [](World& w, CUDA_MEMCPY3D& c) { c.dstArray = w.box, c.Height = 4, c.Depth = 2, c.srcHeight = 5, c.dstZ = 3; }},
    {"to 3-D, low slices",
     [](World& w, CUDA_MEMCPY3D& c) { c.dstArray = w.box, c.Height = 4, c.Depth = 2, c.srcHeight = 3; }},
    {"to layers, z 1",
     [](World& w, CUDA_MEMCPY3D& c) {
       c.dstArray = w.layered, c.Height = 4, c.Depth = 3, c.srcHeight = 4, c.dstZ = 1;
     }},
    {"from array to memory",
     [](World& w, CUDA_MEMCPY3D& c) {
       c.srcMemoryType = arrayType, c.srcArray = w.array, c.srcXInBytes = 8, c.srcY = 3,
       c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
       c.dstDevice = w.other, c.dstPitch = 100, c.dstXInBytes = 5;
     }},
    {"from array to pinned memory",
     [](World& w, CUDA_MEMCPY3D& c) {
       c.srcMemoryType = arrayType, c.srcArray = w.array, c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = w.host;
       c.dstPitch = 77;
     }},
    {"from array to array", [](World& w, CUDA_MEMCPY3D& c) { c.srcMemoryType = arrayType, c.srcArray = w.layered; }},
    {"from array to array, 3-D to layers",
     [](World& w, CUDA_MEMCPY3D& c) {
       c.srcMemoryType = arrayType, c.srcArray = w.box, c.dstArray = w.layered, c.Height = 4, c.Depth = 2, c.srcZ = 1;
     }},
    {"from array to array, line to 2-D",
     [](World& w, CUDA_MEMCPY3D& c) { c.srcMemoryType = arrayType, c.srcArray = w.line, c.Height = 1, c.dstY = 4; }},
    {"within one array",
     [](World& w, CUDA_MEMCPY3D& c) {
       c.srcMemoryType = arrayType, c.srcArray = w.array, c.dstXInBytes = 64, c.dstY = 12;
     }},
    {"pitch of an array side ignored", [](World&, CUDA_MEMCPY3D& c) { c.dstPitch = 1, c.dstHeight = 1; }},
};

void describe(World& w, CUDA_MEMCPY3D& copy) {
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = w.device;
  copy.srcPitch = 256;
  copy.dstMemoryType = arrayType;
  copy.dstArray = w.array;
  copy.WidthInBytes = 32;
  copy.Height = 10;
  copy.Depth = 1;
}

CUDA_MEMCPY2D flat(const CUDA_MEMCPY3D& c) {
  return {c.srcXInBytes, c.srcY,        c.srcMemoryType, c.srcHost,       c.srcDevice, c.srcArray,
          c.srcPitch,    c.dstXInBytes, c.dstY,          c.dstMemoryType, c.dstHost,   c.dstDevice,
          c.dstArray,    c.dstPitch,    c.WidthInBytes,  c.Height};
}

void boxes() {
  for (const BoxChange& change : boxChanges) {
    const auto with = [&change](auto invoke) {
      return [&change, invoke](World& w) {
        CUDA_MEMCPY3D copy{};
        describe(w, copy);
        change.change(w, copy);
        return invoke(w, copy);
      };
    };
    effect(D, std::string("cuMemcpy3D, ") + change.name,
           with([](World&, const CUDA_MEMCPY3D& copy) { return FUNCTION(cuMemcpy3D)(&copy); }));
    effect(D, std::string("cuMemcpy3DAsync, ") + change.name,
           with([](World& w, const CUDA_MEMCPY3D& copy) { return FUNCTION(cuMemcpy3DAsync)(&copy, w.stream); }));
    effect(D, std::string("cuMemcpy2D, ") + change.name, with([](World&, const CUDA_MEMCPY3D& copy) {
             const CUDA_MEMCPY2D two = flat(copy);
             return FUNCTION(cuMemcpy2D)(&two);
           }));
    effect(D, std::string("cuMemcpy2DUnaligned, ") + change.name, with([](World&, const CUDA_MEMCPY3D& copy) {
             const CUDA_MEMCPY2D two = flat(copy);
             return FUNCTION(cuMemcpy2DUnaligned)(&two);
           }));
  }
}

struct RuntimeBox {
  const char* name;
  void (*change)(World&, cudaMemcpy3DParms&);
};
cudaArray_t of(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }
const RuntimeBox runtimeBoxes[] = {
    {"to 2-D", [](World&, cudaMemcpy3DParms&) {}},
    {"depth 0", [](World&, cudaMemcpy3DParms& p) { p.extent.depth = 0; }},
    {"height 0", [](World&, cudaMemcpy3DParms& p) { p.extent.height = 0; }},
    {"position",
     [](World&, cudaMemcpy3DParms& p) {
       p.dstPos = {3, 2, 0};
     }},
    {"position z",
     [](World&, cudaMemcpy3DParms& p) {
       p.dstPos = {0, 0, 1};
     }},
    {"position beyond",
     [](World&, cudaMemcpy3DParms& p) {
       p.dstPos = {60, 0, 0};
     }},
    {"source position",
     [](World&, cudaMemcpy3DParms& p) {
       p.srcPos = {3, 2, 0};
     }},
    {"narrow pitch", [](World&, cudaMemcpy3DParms& p) { p.srcPtr.pitch = 16; }},
    {"odd pitch", [](World&, cudaMemcpy3DParms& p) { p.srcPtr.pitch = 77; }},
    {"kind 0", [](World&, cudaMemcpy3DParms& p) { p.kind = static_cast<cudaMemcpyKind>(0); }},
    {"kind 1", [](World&, cudaMemcpy3DParms& p) { p.kind = static_cast<cudaMemcpyKind>(1); }},
    {"kind 2", [](World&, cudaMemcpy3DParms& p) { p.kind = static_cast<cudaMemcpyKind>(2); }},
    {"kind 4", [](World&, cudaMemcpy3DParms& p) { p.kind = static_cast<cudaMemcpyKind>(4); }},
    {"kind 5", [](World&, cudaMemcpy3DParms& p) { p.kind = static_cast<cudaMemcpyKind>(5); }},
    {"both of a side",
     [](World& w, cudaMemcpy3DParms& p) {
       p.dstPtr = {w.host, 256, 256, 16};
     }},
    {"pinned, kind 1", [](World& w, cudaMemcpy3DParms& p) { p.srcPtr.ptr = w.host, p.kind = cudaMemcpyHostToDevice; }},
    {"pinned, kind 3", [](World& w, cudaMemcpy3DParms& p) { p.srcPtr.ptr = w.host; }},
    {"no source", [](World&, cudaMemcpy3DParms& p) { p.srcPtr.ptr = nullptr; }},
    {"gone array", [](World& w, cudaMemcpy3DParms& p) { p.dstArray = of(w.goneArray); }},
    {"to 3-D",
     [](World& w, cudaMemcpy3DParms& p) {
       p.dstArray = of(w.box), p.extent = {7, 5, 3}, p.dstPos = {2, 1, 1};
     }},
    {"to 3-D, too deep",
     [](World& w, cudaMemcpy3DParms& p) {
       p.dstArray = of(w.box), p.extent = {7, 5, 5};
     }},
    {"to layers",
     [](World& w, cudaMemcpy3DParms& p) {
       p.dstArray = of(w.layered), p.extent = {7, 5, 3};
     }},
    {"to a line",
     [](World& w, cudaMemcpy3DParms& p) {
       p.dstArray = of(w.line), p.extent = {20, 1, 1};
     }},
    {"to a line without height",
     [](World& w, cudaMemcpy3DParms& p) {
       p.dstArray = of(w.line), p.extent = {20, 0, 0};
     }},
    {"from 3-D to memory",
     [](World& w, cudaMemcpy3DParms& p) {
       p.srcArray = of(w.box), p.srcPtr = {}, p.dstArray = nullptr,
       p.dstPtr = {reinterpret_cast<void*>(w.other), 128, 32, 6};
       p.extent = {7, 5, 3}, p.srcPos = {1, 2, 1}, p.dstPos = {3, 1, 0};
     }},
    {"from 2-D to layers",
     [](World& w, cudaMemcpy3DParms& p) {
       p.srcArray = of(w.array), p.srcPtr = {}, p.dstArray = of(w.layered), p.extent = {7, 5, 1}, p.dstPos = {0, 0, 2};
     }},
};

void runtimeCopies() {
  for (const RuntimeBox& box : runtimeBoxes) {
    const auto with = [&box](auto invoke) {
      return [&box, invoke](World& w) {
        cudaMemcpy3DParms parameters{};
        parameters.srcPtr = {reinterpret_cast<void*>(w.device), 256, 256, 16};
        parameters.dstArray = of(w.array);
        parameters.extent = {12, 6, 1};
        parameters.kind = cudaMemcpyDeviceToDevice;
        box.change(w, parameters);
        return invoke(w, parameters);
      };
    };
    effect(R, std::string("cudaMemcpy3D, ") + box.name,
           with([](World&, const cudaMemcpy3DParms& p) { return FUNCTION(cudaMemcpy3D)(&p); }));
    effect(R, std::string("cudaMemcpy3DAsync, ") + box.name,
           with([](World& w, const cudaMemcpy3DParms& p) { return FUNCTION(cudaMemcpy3DAsync)(&p, w.stream); }));
  }
  const auto x = [] { return number(8, {0, 2, 3, 240, 256}); };
  const auto y = [] { return number(2, {0, 30, 32}); };
  const auto width = [] { return number(16, {0, 4, 6, 256, 260}); };
  const auto height = [] { return number(4, {0, 1, 32, 33}); };
  const auto pitch = [] { return number(64, {0, 15, 16, 33}); };
  const auto kind = [](uint64_t right) {
    std::vector<uint64_t> wrong;
    for (uint64_t other = 0; other <= 5; ++other)
      if (other != right) wrong.push_back(other);
    return number(right, wrong);
  };
  call(R, FUNCTION(cudaMemcpy2DToArray), array(), x(), y(), deviceMemory(), pitch(), width(), height(), kind(3));
  call(R, FUNCTION(cudaMemcpy2DFromArray), deviceMemory(), pitch(), array(), x(), y(), width(), height(), kind(3));
  call(R, FUNCTION(cudaMemcpy2DArrayToArray), array(), x(), y(), array(), number(0, {4}), number(0, {9}), width(),
       height(), kind(3));
  call(R, FUNCTION(cudaMemcpy2DToArrayAsync), array(), x(), y(), hostMemory(), pitch(), width(), height(), kind(1),
       stream());
  call(R, FUNCTION(cudaMemcpy2DFromArrayAsync), hostMemory(), pitch(), array(), x(), y(), width(), height(), kind(2),
       stream());
  const auto bytes = [] { return number(128, {0, 1, 6, 1024, 7400, 1 << 20}); };
  call(R, FUNCTION(cudaMemcpyToArray), array(), x(), y(), hostMemory(), bytes(), kind(1));
  call(R, FUNCTION(cudaMemcpyFromArray), hostMemory(), array(), x(), y(), bytes(), kind(2));
  call(R, FUNCTION(cudaMemcpyArrayToArray), array(), x(), y(), array(), number(0, {4}), number(0, {9}), bytes(),
       kind(3));
  call(R, FUNCTION(cudaMemcpyToArrayAsync), array(), x(), y(), hostMemory(), bytes(), kind(1), stream());
  call(R, FUNCTION(cudaMemcpyFromArrayAsync), hostMemory(), array(), x(), y(), bytes(), kind(2), stream());
}

// In compressed arrays: how many bytes wide and how many rows high 32 x 32 texels are.
void compressed() {
  for (const auto& [name, format] :
       {std::pair{"BC1", CU_AD_FORMAT_BC1_UNORM}, std::pair{"BC7", CU_AD_FORMAT_BC7_UNORM}})
    for (const size_t width : {size_t{4}, size_t{8}, size_t{16}, size_t{64}, size_t{128}, size_t{256}})
      for (const size_t height : {size_t{1}, size_t{3}, size_t{4}, size_t{8}, size_t{16}, size_t{32}})
        for (const size_t x : {size_t{0}, size_t{8}, size_t{16}})
          for (const size_t y : {size_t{0}, size_t{1}, size_t{4}}) {
            const std::string title = std::string(name) + ": " + std::to_string(width) + " bytes x " +
                                      std::to_string(height) + " at " + std::to_string(x) + ", " + std::to_string(y);
            sequence(D, "compressed, " + title, [=, kind = format](World& w) {
              const CUDA_ARRAY3D_DESCRIPTOR shape{32, 32, 0, kind, 4, 0};
              CUarray made = nullptr;
              Notes notes;
              notes << FUNCTION(cuArray3DCreate)(&made, &shape);
              for (int i = 0; i < 16384; ++i) w.host[i] = static_cast<char>(i * 3 + i / 256);
              CUDA_MEMCPY2D copy{};
              copy.srcMemoryType = CU_MEMORYTYPE_HOST;
              copy.srcHost = w.host;
              copy.srcPitch = copy.dstPitch = 512;
              copy.dstMemoryType = arrayType;
              copy.dstArray = made;
              copy.dstXInBytes = x;
              copy.dstY = y;
              copy.WidthInBytes = width;
              copy.Height = height;
              notes << FUNCTION(cuMemcpy2D)(&copy);
              std::swap(copy.srcMemoryType, copy.dstMemoryType);
              copy.srcArray = made;
              copy.dstHost = w.pageable;
              copy.srcXInBytes = copy.dstXInBytes;
              copy.srcY = copy.dstY;
              copy.dstXInBytes = copy.dstY = 0;
              std::memset(w.pageable, 0, 16384);
              notes << FUNCTION(cuMemcpy2D)(&copy) << sumOf(w.pageable, 16384);
              return notes << FUNCTION(cuArrayDestroy)(made);
            });
          }
}

}  // namespace

void addArrayCopies() {
  linear();
  boxes();
  runtimeCopies();
  compressed();
}

}  // namespace mulciber::replay
