// Reads and writes of textures and surfaces, each a case that prints one line: codes, a checksum of every byte that
// came of it, and the first words. The program needs the driver API alone, so that NVIDIA's can answer as well.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mulciber::texels {

// What a case says: codes, then what it found.
class Notes {
 public:
  Notes& code(CUresult result);
  Notes& bytes(const std::vector<uint8_t>& all);  // a checksum, and the first words
  const std::string& text() const { return text_; }
  const std::vector<uint8_t>& all() const { return all_; }  // of every call of bytes()

 private:
  std::string text_;
  std::vector<uint8_t> all_;
};

struct Case {
  std::string name;
  std::function<void(Notes&)> run;
};
std::vector<Case>& cases();

struct Format {
  const char* name;
  CUarray_format format;
  unsigned channels, channelBytes;
  unsigned blockBytes = 0;  // of 4 x 4 texels, where the format is compressed
  unsigned bytes() const { return blockBytes ? blockBytes : channels * channelBytes; }
  size_t elements(size_t texels) const { return blockBytes ? (texels + 3) / 4 : texels; }
  bool isFloat() const { return format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT; }
};
const std::vector<Format>& formats();  // all of 1, 2 and 4 channels
const Format& format(const std::string& name);
const std::vector<Format>&
laterFormats();  // those of CUDA 11.5, whose texels are numbers: packed, compressed and so on

enum class Geometry {
  Linear,
  Pitched,
  Line,
  Plane,
  Volume,
  Lines,
  Planes,
  Cube,
  Cubes,
  LineLevels,
  Levels,
  VolumeLevels
};
const char* nameOf(Geometry geometry);

// A resource with texels in it, which are the same in every run. It is freed with the object.
class Resource {
 public:
  Resource(Notes& notes, Geometry geometry, const Format& format, bool isForSurfaces = false);
  ~Resource();
  Resource(const Resource&) = delete;

  CUDA_RESOURCE_DESC description() const;
  std::vector<uint8_t> contents() const;
  bool isThere() const { return linear_ || array_; }
  size_t width() const { return width_; }
  size_t height() const { return height_; }
  size_t depth() const { return depth_; }

 private:
  void transfer(CUarray array, std::vector<uint8_t>& bytes, bool toArray) const;

  Geometry geometry_;
  Format format_;
  size_t width_, height_, depth_;
  CUdeviceptr linear_ = 0;
  CUarray array_ = nullptr;
  CUmipmappedArray mipmaps_ = nullptr;
};

// The same numbers in every run.
class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 2654435761u + 12345) {}
  uint32_t next() {
    state_ = state_ * 1664525 + 1013904223;
    return state_ >> 8;
  }
  uint32_t below(uint32_t count) { return next() % count; }

 private:
  uint32_t state_;
};

// The kernel of a module with that text; modules are loaded once. Null, and the code is noted, where it is refused.
CUfunction kernel(Notes& notes, const std::string& text);

// One thread for each `stride` bytes of `in`, which get as many bytes of results; the results hold 0xCD before.
// `object` is the first parameter, `in` and the results are the next.
std::vector<uint8_t> launch(Notes& notes, CUfunction function, uint64_t object, const std::vector<uint8_t>& in,
                            unsigned threads, unsigned resultBytes);

// Whether some coordinates are no number, infinite, or beyond what 32 bits count.
extern bool hasSpecialPlaces;

void addTextures();
void addSurfaces();
void addQueries();

}  // namespace mulciber::texels
