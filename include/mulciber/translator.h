// PTX text in, SPIR-V and kernel metadata out. No Vulkan, no global state; safe to call from many threads; the same
// module and profile give the same bytes.
//
//   auto module = mulciber::parseModule(text, "k.ptx", diagnostics);
//   auto kernel = mulciber::translate(*module, "saxpy", profile, {}, diagnostics);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mulciber {

// What the device can do, and where it differs from CUDA's. Filled in by the runtime from Vulkan, or read from a file
// for offline work. The members are those of profile_fields.def, which says what each is for; docs/capabilities.md
// lists them.
struct TargetProfile {
#define PROFILE_FIELD(type, name, rule, group, value, kind, source, purpose) type name = value;
#include "mulciber/profile_fields.def"
#undef PROFILE_FIELD

  bool hasWarps() const { return subgroupSize == 32 && subgroupShuffle && subgroupBallot && subgroupVote; }
};

// Profiles as JSON; `fromJson` refuses what it does not know.
std::string toJson(const TargetProfile& profile);
std::optional<TargetProfile> profileFromJson(std::string_view json, std::string& error);
const TargetProfile* builtinProfile(std::string_view name);  // "vulkan1.3", "lavapipe", "nvidia"

struct TranslateOptions {
  bool exactDenormals = true;  // repair every f32 operation the device would flush, which costs speed
  // Where the target's exactDot32 holds: f32 multiply-adds are dot products, which the driver fuses unless it finds
  // their products elsewhere too. Its machine code has to show that it has fused all (KernelInfo::usesDotProducts).
  bool dotProducts = false;
  bool debugInfo = false;  // .loc lines and the names of registers into the SPIR-V
  // Puts shared or private memory into LaunchState::scratch, for launches whose dynamic shared memory or stack is more
  // than the device has. Kernels that need more by themselves always have it there.
  bool sharedInScratch = false, localInScratch = false;
  // For launches whose blocks end in a warp of fewer than 32 threads: such warps cannot use cooperative matrices.
  bool partialWarps = false;
  // When inlining all calls would make the kernel larger than this, calls of a large function share one body.
  uint32_t inlineLimit = 32768;
  bool validate = false;  // run spirv-val on the result
  // Called with the text of each stage ("ptx", "ir", "structurize", "ssa", ..., "spirv") when set.
  void (*dump)(void* user, std::string_view stage, std::string_view text) = nullptr;
  void* dumpUser = nullptr;
};

// Messages as a compiler prints them: file, line, column, source line, caret.
class Diagnostics {
 public:
  enum class Severity : uint8_t { Note, Warning, Error };
  struct Message {
    Severity severity;
    std::string file;
    uint32_t line = 0, column = 0;  // 1-based; 0 when there is no place
    std::string text;
    std::string sourceLine;  // empty when there is no place
    uint32_t length = 1;     // of the underlined piece
    uint32_t caret = 0;      // where it begins in sourceLine, which shows only a part of a long line
  };
  static constexpr uint32_t kMaxErrors = 50;  // after these, messages are dropped

  void add(Message message);
  bool hasErrors() const { return errorCount_ != 0; }
  // The module has a PTX ISA version newer than those known: CUDA reports errors in it with a code of its own.
  bool hasNewerPtx() const { return hasNewerPtx_; }
  void noteNewerPtx() { hasNewerPtx_ = true; }
  // Linking failed only because functions that kernels call are not defined: CUDA has another code for that.
  bool missesFunctions() const { return missesFunctions_; }
  void noteMissingFunctions() { missesFunctions_ = true; }
  bool isFull() const { return errorCount_ > kMaxErrors; }
  const std::vector<Message>& messages() const { return messages_; }
  std::string toString(bool colour = false) const;

 private:
  std::vector<Message> messages_;
  uint32_t errorCount_ = 0;
  bool hasNewerPtx_ = false, missesFunctions_ = false;
};

struct Parameter {
  uint32_t offset, size, alignment;
};

struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0;
  bool parametersInBuffer = false;  // too large for push constants
  // Constants that each launch carries behind the parameters, from the next multiple of 4 on, or behind their address.
  std::vector<uint32_t> carriedWords;
  uint32_t staticSharedBytes = 0;    // as CUDA counts it
  uint32_t dynamicSharedOffset = 0;  // with what barriers and rounds need besides
  uint32_t localBytes = 0;
  // The uniform buffer that it reads, at abi::constantSet and abi::constantBinding: this many bytes from the start of
  // the module's data, a multiple of 16. 0 when it reads none.
  uint32_t constantBytes = 0;
  uint32_t maxThreads = 0;         // .maxntid, 0 when not given
  uint32_t requiredBlock[3] = {};  // .reqntid, 0 when not given
  bool usesPrintf = false, usesHeap = false, usesLocks = false;
  bool usesTextures = false;   // reads the table and the descriptors of texture_abi.h
  bool reportsErrors = false;  // may write the LaunchState's ErrorRecord
  bool sharedInScratch = false, localInScratch = false;
  uint32_t stackCount = 0;  // SpecializationConstant::StackBytes follow the local bytes this many times
  bool usesWarpOperations = false;
  bool usesMatrixUnits = false;  // only for launches of whole warps: see TranslateOptions::partialWarps
  bool usesDotProducts = false;  // see TranslateOptions::dotProducts
  bool readsHostWrites = false;  // may wait for what the host writes while it runs
};

struct Kernel {
  std::vector<uint32_t> spirv;
  KernelInfo info;
};

// Where a module's variables live within its block of device memory, and what it holds at first.
struct ModuleData {
  struct Symbol {
    std::string name;
    uint64_t offset, size;
    uint32_t alignment;
    bool isConstant, isManaged;
  };
  struct Relocation {  // the bytes at `offset` hold the address of symbol + addend
    uint64_t offset;
    uint32_t size;          // 8, 4, or 1 for a mask() byte
    uint32_t shift;         // right shift before the bytes are taken
    uint64_t targetOffset;  // within this block
    bool isFunction;        // a function's index instead: targetOffset
  };
  std::vector<uint8_t> image;  // the first bytes; what follows up to `size` is zero
  uint64_t size = 0;
  uint32_t alignment = 256;
  std::vector<Symbol> symbols;
  std::vector<Relocation> relocations;
};

class ParsedModule;  // opaque, immutable, shareable between threads
struct ParsedModuleDeleter {
  void operator()(const ParsedModule* module) const;
};
using ModulePtr = std::unique_ptr<const ParsedModule, ParsedModuleDeleter>;

// `assemblerOptions` is the command line of ptxas that a fat binary keeps beside the text. Options that change results
// are obeyed: with `--fmad false`, `-O0` or `-g` no product and sum are fused.
ModulePtr parseModule(std::string_view text, std::string_view fileName, Diagnostics& diagnostics,
                      std::string_view assemblerOptions = {});
// Links several modules into one: extern symbols are resolved, weak and common ones merged.
ModulePtr linkModules(std::vector<const ParsedModule*> modules, Diagnostics& diagnostics);
// Whether the module alone is a whole program: reports an error for each function that it does not define.
bool checkWholeProgram(const ParsedModule& module, Diagnostics& diagnostics);

std::vector<std::string> kernelNames(const ParsedModule& module);
uint32_t targetArchitecture(const ParsedModule& module);  // 90 for .target sm_90a
const ModuleData& moduleData(const ParsedModule& module);
std::string printModule(const ParsedModule& module);  // canonical PTX

std::optional<Kernel> translate(const ParsedModule& module, std::string_view kernel, const TargetProfile& profile,
                                const TranslateOptions& options, Diagnostics& diagnostics);

// Changes whenever the same input may give other bytes: part of every cache key.
uint32_t translatorVersion();

}  // namespace mulciber
