// CUDA fat binaries: what nvcc embeds in a program. A *wrapper* points to one *container* for each translation unit; a
// container holds *entries*: the same device code as PTX text, as machine code, or as compiler IR, for several
// architectures, often compressed. Mulciber needs the PTX. Input is not trusted: everything is bounds-checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/fatbin/elf.h"

namespace mulciber::fatbin {

inline constexpr uint32_t wrapperMagic = 0x466243B1;
inline constexpr uint32_t containerMagic = 0xBA55ED50;
inline constexpr uint64_t maxTextBytes = 256u << 20;  // of one decompressed entry

// As nvcc writes it into .nvFatBinSegment.
struct Wrapper {
  uint32_t magic;
  uint32_t version;  // 1: whole program; 2: relocatable device code, linked
  const void* container;
  const void* const* prelinked;  // version 2: the containers of the linked objects, null at the end
};

enum class Kind : uint16_t { Ptx = 1, Cubin = 2, LtoIr = 8 };

struct Entry {
  Kind kind;                      // other values occur and are to be skipped
  uint16_t major = 0, minor = 0;  // for PTX, its ISA version
  uint32_t architecture = 0;      // 10 * major + minor: 75, 90, 100
  uint64_t flags = 0;
  std::string_view name;     // the source file, when known
  std::string_view options;  // the ptxas command line that belongs to this PTX
  Bytes payload;             // compressed bytes when isCompressed()
  uint64_t textBytes = 0;    // size when decompressed

  bool isCompressed() const { return (flags & (lz4 | zstd)) != 0; }
  // compute_90a and compute_100f run on that architecture (family) alone.
  bool isSpecific() const { return (flags & (architectureSpecific | familySpecific)) != 0; }

  static constexpr uint64_t lz4 = 0x2000, zstd = 0x8000;
  static constexpr uint64_t architectureSpecific = 0x100000, familySpecific = 0x200000;
};

// What went wrong, in CUDA's terms, and one sentence for people.
struct Error {
  enum class Code { None, InvalidImage, NoBinaryForGpu, FileNotFound } code = Code::None;
  std::string message;
};

// The entries of one container at the start of `bytes`; `used` gets its length.
std::optional<std::vector<Entry>> readContainer(Bytes bytes, uint64_t& used, Error& error);

// The entries of each container of a section such as .nv_fatbin: they stand one after another, with zeros between them
// where the linker padded.
std::optional<std::vector<std::vector<Entry>>> readContainers(Bytes section, Error& error);

// The bytes of an entry, decompressed.
std::optional<std::string> contentsOf(const Entry& entry, Error& error);

// The PTX text of an entry, without padding.
std::optional<std::string> ptxText(const Entry& entry, Error& error);

// The entry to translate for a device of `computeCapability`: PTX of the highest architecture not above it, else of the
// lowest above it, else the same of PTX for one architecture or family alone. What such PTX uses and the translator
// does not know is refused kernel by kernel. Null when there is no PTX; the error then says what there was instead.
const Entry* choosePtx(const std::vector<Entry>& entries, uint32_t computeCapability, Error& error);

struct PtxModule {
  std::string text;
  std::string name;  // of the source file, or empty
  std::string options;
  uint32_t architecture = 0;
};

// PTX modules that make up one image. With more than one, they are relocatable and must be linked together.
using PtxModules = std::vector<PtxModule>;

// An image as programs pass it to cuModuleLoadData and __cudaRegisterFatBinary: a wrapper, a container, PTX text, or
// machine code (which is refused). No length is known; the image's own headers say where it ends.
std::optional<PtxModules> readImage(const void* image, uint32_t computeCapability, Error& error);

// A file's bytes: PTX text, a container, an executable, shared object, object or archive. One element for each image
// that is loaded on its own.
std::optional<std::vector<PtxModules>> readFile(Bytes file, uint32_t computeCapability, Error& error);
std::optional<std::vector<PtxModules>> readFile(const std::string& path, uint32_t computeCapability, Error& error);

}  // namespace mulciber::fatbin
