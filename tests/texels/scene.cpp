// What cases are made of: formats, resources, kernels.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "texels.h"

namespace mulciber::texels {

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

Notes& Notes::code(CUresult result) {
  text_ += (text_.empty() ? "" : " ") + std::to_string(result);
  return *this;
}

Notes& Notes::bytes(const std::vector<uint8_t>& all) {
  uint64_t sum = 14695981039346656037u;
  for (const uint8_t byte : all) sum = (sum ^ byte) * 1099511628211u;
  char text[64];
  std::snprintf(text, sizeof text, "%s%016llx", text_.empty() ? "" : " ", static_cast<unsigned long long>(sum));
  text_ += text;
  all_.insert(all_.end(), all.begin(), all.end());
  return *this;
}

const std::vector<Format>& formats() {
  static const std::vector<Format> all = [] {
    struct Kind {
      const char* names[3];
      CUarray_format format;
      unsigned bytes;
    };
    std::vector<Format> made;
    for (const Kind& kind : {Kind{{"u8", "u8x2", "u8x4"}, CU_AD_FORMAT_UNSIGNED_INT8, 1},
                             Kind{{"s8", "s8x2", "s8x4"}, CU_AD_FORMAT_SIGNED_INT8, 1},
                             Kind{{"u16", "u16x2", "u16x4"}, CU_AD_FORMAT_UNSIGNED_INT16, 2},
                             Kind{{"s16", "s16x2", "s16x4"}, CU_AD_FORMAT_SIGNED_INT16, 2},
                             Kind{{"u32", "u32x2", "u32x4"}, CU_AD_FORMAT_UNSIGNED_INT32, 4},
                             Kind{{"s32", "s32x2", "s32x4"}, CU_AD_FORMAT_SIGNED_INT32, 4},
                             Kind{{"f16", "f16x2", "f16x4"}, CU_AD_FORMAT_HALF, 2},
                             Kind{{"f32", "f32x2", "f32x4"}, CU_AD_FORMAT_FLOAT, 4}})
      for (unsigned i = 0; i < 3; ++i) made.push_back({kind.names[i], kind.format, 1u << i, kind.bytes});
    return made;
  }();
  return all;
}

const std::vector<Format>& laterFormats() {
  static const std::vector<Format> all = {{"unorm8", CU_AD_FORMAT_UNORM_INT8X1, 1, 1},
                                          {"unorm8x2", CU_AD_FORMAT_UNORM_INT8X2, 2, 1},
                                          {"unorm8x4", CU_AD_FORMAT_UNORM_INT8X4, 4, 1},
                                          {"unorm16", CU_AD_FORMAT_UNORM_INT16X1, 1, 2},
                                          {"unorm16x4", CU_AD_FORMAT_UNORM_INT16X4, 4, 2},
                                          {"snorm8", CU_AD_FORMAT_SNORM_INT8X1, 1, 1},
                                          {"snorm8x4", CU_AD_FORMAT_SNORM_INT8X4, 4, 1},
                                          {"snorm16x2", CU_AD_FORMAT_SNORM_INT16X2, 2, 2},
                                          {"unorm10:10:10:2", CU_AD_FORMAT_UNORM_INT_101010_2, 4, 1},
                                          {"bc1", CU_AD_FORMAT_BC1_UNORM, 4, 1, 8},
                                          {"bc1 sRGB", CU_AD_FORMAT_BC1_UNORM_SRGB, 4, 1, 8},
                                          {"bc2", CU_AD_FORMAT_BC2_UNORM, 4, 1, 16},
                                          {"bc2 sRGB", CU_AD_FORMAT_BC2_UNORM_SRGB, 4, 1, 16},
                                          {"bc3", CU_AD_FORMAT_BC3_UNORM, 4, 1, 16},
                                          {"bc3 sRGB", CU_AD_FORMAT_BC3_UNORM_SRGB, 4, 1, 16},
                                          {"bc4", CU_AD_FORMAT_BC4_UNORM, 1, 1, 8},
                                          {"bc4 signed", CU_AD_FORMAT_BC4_SNORM, 1, 1, 8},
                                          {"bc5", CU_AD_FORMAT_BC5_UNORM, 2, 1, 16},
                                          {"bc5 signed", CU_AD_FORMAT_BC5_SNORM, 2, 1, 16},
                                          {"bc6h", CU_AD_FORMAT_BC6H_UF16, 3, 2, 16},
                                          {"bc6h signed", CU_AD_FORMAT_BC6H_SF16, 3, 2, 16},
                                          {"bc7", CU_AD_FORMAT_BC7_UNORM, 4, 1, 16},
                                          {"bc7 sRGB", CU_AD_FORMAT_BC7_UNORM_SRGB, 4, 1, 16}};
  return all;
}

const Format& format(const std::string& name) {
  return *std::ranges::find_if(formats(), [&](const Format& one) { return one.name == name; });
}

const char* nameOf(Geometry geometry) {
  constexpr const char* names[] = {"linear",    "pitched", "1d",    "2d",        "3d",        "1d layers",
                                   "2d layers", "cube",    "cubes", "1d levels", "2d levels", "3d levels"};
  return names[static_cast<int>(geometry)];
}

namespace {

bool hasLevels(Geometry geometry) { return geometry >= Geometry::LineLevels; }

// Floats of every size that a filter may meet, but no NaNs or infinities: those are apart.
void fill(std::vector<uint8_t>& bytes, const Format& format, uint32_t seed) {
  Random random(seed);
  const unsigned step = format.channelBytes;
  for (size_t i = 0; i + step <= bytes.size(); i += step) {
    uint32_t bits = random.next() ^ random.next() << 12;
    if (format.format == CU_AD_FORMAT_FLOAT) bits = (bits & 0x807FFFFF) | (120 + random.below(12)) << 23;
    if (format.format == CU_AD_FORMAT_HALF) bits = (bits & 0x83FF) | (8 + random.below(12)) << 10;
    std::memcpy(&bytes[i], &bits, step);
  }
}

}  // namespace

Resource::Resource(Notes& notes, Geometry geometry, const Format& format, bool isForSurfaces)
    : geometry_(geometry), format_(format), width_(16), height_(12), depth_(5) {
  const bool isLine = geometry == Geometry::Line || geometry == Geometry::Lines || geometry == Geometry::LineLevels;
  const bool isCube = geometry == Geometry::Cube || geometry == Geometry::Cubes;
  if (isCube) height_ = width_;
  if (isLine) height_ = 0;
  const bool isVolume = geometry == Geometry::Volume || geometry == Geometry::VolumeLevels;
  const bool isLayered = geometry == Geometry::Lines || geometry == Geometry::Planes || geometry == Geometry::Cubes;
  if (isCube) depth_ = geometry == Geometry::Cube ? 6 : 12;
  else if (!isVolume && !isLayered) depth_ = 0;
  if (geometry == Geometry::Linear || geometry == Geometry::Pitched) {
    if (geometry == Geometry::Linear) width_ = 200, height_ = 0;
    std::vector<uint8_t> bytes(512 * 12);
    fill(bytes, format, 7);
    notes.code(cuMemAlloc(&linear_, bytes.size()));
    cuMemcpyHtoD(linear_, bytes.data(), bytes.size());
    return;
  }
  CUDA_ARRAY3D_DESCRIPTOR shape{width_, height_, depth_, format.format, format.channels, 0};
  if (isCube) shape.Flags |= CUDA_ARRAY3D_CUBEMAP;
  if (isLayered) shape.Flags |= CUDA_ARRAY3D_LAYERED;
  if (isForSurfaces) shape.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
  else if (geometry == Geometry::Plane) shape.Flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
  const unsigned levels = hasLevels(geometry) ? 4 : 1;
  CUresult created = CUDA_SUCCESS;
  if (hasLevels(geometry)) created = cuMipmappedArrayCreate(&mipmaps_, &shape, levels);
  else created = cuArray3DCreate(&array_, &shape);
  notes.code(created);
  if (created != CUDA_SUCCESS) return;
  for (unsigned level = 0; level < levels; ++level) {
    CUarray one = array_;
    if (mipmaps_) cuMipmappedArrayGetLevel(&one, mipmaps_, level);
    const auto at = [&](size_t extent) { return std::max<size_t>(extent >> level, 1); };
    std::vector<uint8_t> bytes(format.elements(at(width_)) * format.elements(at(height_)) *
                               (isVolume ? at(depth_) : std::max<size_t>(depth_, 1)) * format.bytes());
    fill(bytes, format, 11 + level);
    transfer(one, bytes, true);
    if (level == 0) array_ = one;
  }
}

Resource::~Resource() {
  if (linear_) cuMemFree(linear_);
  if (mipmaps_) cuMipmappedArrayDestroy(mipmaps_);
  else if (array_) cuArrayDestroy(array_);
}

void Resource::transfer(CUarray array, std::vector<uint8_t>& bytes, bool toArray) const {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  cuArray3DGetDescriptor(&shape, array);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.WidthInBytes = copy.srcPitch = copy.dstPitch = format_.elements(shape.Width) * format_.bytes();
  copy.Height = copy.srcHeight = copy.dstHeight = format_.elements(std::max<size_t>(shape.Height, 1));
  copy.Depth = std::max<size_t>(shape.Depth, 1);
  if (toArray) {
    copy.srcHost = bytes.data();
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
  } else {
    copy.dstHost = bytes.data();
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
  }
  cuMemcpy3D(&copy);
}

std::vector<uint8_t> Resource::contents() const {
  std::vector<uint8_t> bytes(width_ * std::max<size_t>(height_, 1) * std::max<size_t>(depth_, 1) * format_.bytes(),
                             0xCD);
  transfer(array_, bytes, false);
  return bytes;
}

CUDA_RESOURCE_DESC Resource::description() const {
  CUDA_RESOURCE_DESC made{};
  if (geometry_ == Geometry::Linear) {
    made.resType = CU_RESOURCE_TYPE_LINEAR;
    made.res.linear.devPtr = linear_;
    made.res.linear.format = format_.format;
    made.res.linear.numChannels = format_.channels;
    made.res.linear.sizeInBytes = width_ * format_.bytes();
  } else if (geometry_ == Geometry::Pitched) {
    made.resType = CU_RESOURCE_TYPE_PITCH2D;
    made.res.pitch2D.devPtr = linear_;
    made.res.pitch2D.format = format_.format;
    made.res.pitch2D.numChannels = format_.channels;
    made.res.pitch2D.width = width_;
    made.res.pitch2D.height = height_;
    made.res.pitch2D.pitchInBytes = 512;
  } else if (mipmaps_) {
    made.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    made.res.mipmap.hMipmappedArray = mipmaps_;
  } else {
    made.resType = CU_RESOURCE_TYPE_ARRAY;
    made.res.array.hArray = array_;
  }
  return made;
}

CUfunction kernel(Notes& notes, const std::string& text) {
  static std::map<std::string, CUfunction> loaded;
  CUfunction& function = loaded[text];
  CUresult result = CUDA_SUCCESS;
  if (!function) {
    CUmodule module = nullptr;
    result = cuModuleLoadData(&module, text.c_str());
    if (result == CUDA_SUCCESS) result = cuModuleGetFunction(&function, module, "k");
  }
  notes.code(result);
  return function;
}

std::vector<uint8_t> launch(Notes& notes, CUfunction function, uint64_t object, const std::vector<uint8_t>& in,
                            unsigned threads, unsigned resultBytes) {
  constexpr size_t most = 256 << 10;
  static CUdeviceptr given = 0, results = 0;
  if (!given) {
    cuMemAlloc(&given, most);
    cuMemAlloc(&results, most);
  }
  std::vector<uint8_t> out(size_t{threads} * resultBytes);
  if (in.size() > most || out.size() > most) std::abort();
  cuMemcpyHtoD(given, in.data(), in.size());
  cuMemsetD8(results, 0xCD, out.size());
  void* parameters[] = {&object, &given, &results};
  const unsigned width = std::min(threads, 128u);
  notes.code(cuLaunchKernel(function, threads / width, 1, 1, width, 1, 1, 0, nullptr, parameters, nullptr));
  notes.code(cuCtxSynchronize());
  cuMemcpyDtoH(out.data(), results, out.size());
  return out;
}

}  // namespace mulciber::texels
