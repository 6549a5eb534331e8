// A module: parsed PTX or kernels translated ahead of time, its variables in device memory, and its kernels, translated
// when first launched.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mulciber/translator.h"
#include "runtime/core/error.h"
#include "runtime/core/memory_map.h"
#include "runtime/core/module_index.h"

namespace mulciber::core {

class Context;
class Function;
class KernelArchive;
class Stream;
class SurfaceReference;
class TextureReference;

struct PtxSource {
  std::string_view text;          // or a KernelArchive, which is a module's only source
  std::string name;               // for messages: a file's name, or "ptx"
  std::string_view options = {};  // ptxas' command line, as a fat binary keeps it
};

// What the translator said, for the JIT log buffers of the driver API.
struct JitLog {
  std::string info, errors;
};

// What becomes of the sources: a part of something to be linked later, a program, or what cuLinkComplete gives.
enum class Linking { Part, Program, Image };

// Parses the sources and links them where there are several. What is said goes to the log, errors to the program's log
// too.
Error parseSources(const std::vector<PtxSource>& sources, Linking linking, JitLog* log, ModulePtr& out);

// What kernels of the context's modules are translated for; those that filter textures do so whatever samplers do.
TargetProfile profileOf(const Context& context, bool filtersTextures = false);

class Module : public std::enable_shared_from_this<Module> {
 public:
  static Error load(Context& context, const std::vector<PtxSource>& sources, JitLog* log, std::shared_ptr<Module>& out);
  ~Module();

  // NotFound when there is none of that name. Functions live as long as the module.
  Error function(std::string_view name, Function*& out);
  Error global(std::string_view name, uint64_t& address, size_t& bytes) const;
  // NotFound when there is none of that name and kind.
  Error textureReference(std::string_view name, TextureReference*& out) const;
  Error surfaceReference(std::string_view name, SurfaceReference*& out) const;
  // The handles that a kernel launched now is to have, referenceBytes each.
  Error referenceHandles(uint8_t* out) const;
  size_t referenceCount() const { return references_.size(); }
  std::vector<std::string> functionNames() const;
  uint64_t constantBytes() const;  // of its constant variables

  Context& context() const { return context_; }
  Error parsed(const ParsedModule*& out);                          // where there is no archive
  const KernelArchive* archive() const { return archive_.get(); }  // null where PTX was loaded
  uint32_t architecture() const { return index_.architecture; }    // the one that the PTX was made for: 90 for sm_90
  uint64_t dataAddress() const { return data_ ? data_->deviceAddress : 0; }
  vk::Memory dataMemory() const { return data_ ? data_->memory : vk::Memory{}; }
  const std::string& contentKey() const { return contentKey_; }  // hash of the sources
  std::string indexKey() const;                                  // of its index in the cache

  // The zero-terminated string at a device address within the module's data as it was loaded; false when not there.
  bool string(uint64_t address, std::string& out) const;

 private:
  struct OwnedSource {
    std::string text, name, options;
  };
  Module(Context& context, std::string contentKey);
  Error readPtx(const std::vector<PtxSource>& sources, JitLog* log);
  Error readArchive(std::string_view bytes, JitLog* log);
  void bind();
  Error upload();
  Error uploadPiece(Stream& stream, uint64_t begin);

  Context& context_;
  const std::string contentKey_;
  ModuleIndex index_;
  std::unique_ptr<const KernelArchive> archive_;  // or
  std::vector<OwnedSource> sources_;              // until they are parsed
  std::mutex parsing_;
  ModulePtr parsed_;
  AllocationRef data_;
  std::unordered_map<std::string_view, const ModuleData::Symbol*> symbols_;
  std::map<std::string, std::unique_ptr<Function>, std::less<>> functions_;
  struct BoundReference {
    std::string name;
    TextureReference* texture = nullptr;  // one of the two
    SurfaceReference* surface = nullptr;
  };
  std::vector<BoundReference> references_;
};

}  // namespace mulciber::core
