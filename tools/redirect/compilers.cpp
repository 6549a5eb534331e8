// The ordinary copy's part: the functions in front of the compilers'.
#include "compilers.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "mapped_file.h"
#include "redirect.h"

extern "C" {
__attribute__((visibility("default")))
mulciber::redirect::CompilerSlot mulciberCompilers[mulciber::redirect::compilerSlots];
}

namespace mulciber::redirect {

namespace {

// The compiler's own function. This library's own look-ups are not redirected.
void* original(size_t slot, const char* name) {
  void* library = dlopen(mulciberCompilers[slot].path, RTLD_LAZY | RTLD_NOLOAD);
  void* function = library ? dlsym(library, name) : nullptr;
  if (!function) fail("%s has no %s", mulciberCompilers[slot].path, name);
  dlclose(library);
  return function;
}

template <class Function>
Function* originalAs(size_t slot, const char* name) {
  return reinterpret_cast<Function*>(original(slot, name));
}

// Options as a compiler takes them, changed where they name a target.
class Options {
 public:
  Options(int count, const char* const* options) : texts_(options, options + count) {}

  // sm_90 makes NVRTC generate machine code, compute_90 PTX.
  void makeTargetVirtual() {
    for (size_t i = 0; i < texts_.size(); ++i) {
      std::string& text = texts_[i];
      const bool isBare = text == "-arch" || text == "--gpu-architecture";
      std::string& value = isBare && i + 1 < texts_.size() ? texts_[i + 1] : text;
      const size_t at = value.find("sm_");
      if (at == value.npos || !(isBare || text.starts_with("-arch=") || text.starts_with("--gpu-architecture=")))
        continue;
      value.replace(at, 3, "compute_");
    }
  }
  bool has(std::string_view option) const {
    for (const std::string& text : texts_) {
      if (text == option) return true;
    }
    return false;
  }
  void add(std::string text) { texts_.push_back(std::move(text)); }
  std::vector<const char*> pointers() const {
    std::vector<const char*> pointers;
    for (const std::string& text : texts_) pointers.push_back(text.c_str());
    return pointers;
  }

 private:
  std::vector<std::string> texts_;
};

using SizeOf = int(void*, size_t*);
using CopyOut = int(void*, char*);

int compileProgram(size_t slot, void* program, int count, const char* const* options) {
  Options changed(count, options);
  changed.makeTargetVirtual();
  const auto pointers = changed.pointers();
  return originalAs<int(void*, int, const char* const*)>(slot, "nvrtcCompileProgram")(
      program, static_cast<int>(pointers.size()), pointers.data());
}

// NVRTC answers with no machine code, and no error, for a program that was compiled for a virtual target.
bool hasMachineCode(size_t slot, void* program) {
  size_t size = 0;
  return originalAs<SizeOf>(slot, "nvrtcGetCUBINSize")(program, &size) != 0 || size != 0;
}

int getCubinSize(size_t slot, void* program, size_t* size) {
  const char* name = hasMachineCode(slot, program) ? "nvrtcGetCUBINSize" : "nvrtcGetPTXSize";
  return originalAs<SizeOf>(slot, name)(program, size);
}

int getCubin(size_t slot, void* program, char* cubin) {
  const char* name = hasMachineCode(slot, program) ? "nvrtcGetCUBIN" : "nvrtcGetPTX";
  return originalAs<CopyOut>(slot, name)(program, cubin);
}

// The numbers of nvJitLink's kinds of input, and of our driver library's.
enum InputType {
  InputCubin = 1,
  InputPtx = 2,
  InputLtoIr = 3,
  InputFatbin = 4,
  InputObject = 5,
  InputLibrary = 6,
  InputAny = 10
};
enum DriverInputType { DriverPtx = 1, DriverFatbin = 2, DriverObject = 3, DriverLibrary = 4 };
constexpr int internalError = 6;

// What our driver library's linker can take: PTX, or a file that holds some.
struct Part {
  DriverInputType type;
  std::string contents;
};

struct Input {
  int type;
  std::string contents;
  std::string name;
};

// One nvJitLink handle. With link-time optimisation the linker writes PTX itself, of what has its intermediate code,
// and takes nothing else; Mulciber's linker joins it with the parts that were held back. Otherwise Mulciber's linker
// joins the parts, and the real one checks them.
struct Link {
  explicit Link(Options given) : options(std::move(given)), optimises(options.has("-lto")) {}

  Options options;
  bool optimises;
  bool hasOthers = false;     // what the real linker alone can take
  std::vector<Input> others;  // these, when it optimises
  std::vector<Part> parts;
  std::string linked;
};
std::mutex linksMutex;
std::map<void*, Link>& links() {
  static auto* all = new std::map<void*, Link>;
  return *all;
}

// The linker of our driver library. It needs a current context, as the driver's does.
class DriverLinker {
 public:
  DriverLinker() {
    driver_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    using Create = int(unsigned, void*, void*, void**);
    Create* create = driver_ ? find<Create>("cuLinkCreate_v2") : nullptr;
    if (create) create(0, nullptr, nullptr, &state_);
  }
  ~DriverLinker() {
    if (state_) find<int(void*)>("cuLinkDestroy")(state_);
    if (driver_) dlclose(driver_);
  }
  DriverLinker(const DriverLinker&) = delete;
  DriverLinker& operator=(const DriverLinker&) = delete;

  bool add(const Part& part) {
    using Add = int(void*, int, const void*, size_t, const char*, unsigned, void*, void*);
    const size_t bytes = part.contents.size() + (part.type == DriverPtx);  // a text with its end
    return state_ && find<Add>("cuLinkAddData_v2")(state_, part.type, part.contents.c_str(), bytes, "nvJitLink", 0,
                                                   nullptr, nullptr) == 0;
  }
  // Empty when it cannot be linked.
  std::string complete() {
    const void* image = nullptr;
    size_t size = 0;
    const bool isLinked =
        state_ && find<int(void*, const void**, size_t*)>("cuLinkComplete")(state_, &image, &size) == 0;
    return isLinked ? std::string(static_cast<const char*>(image), size) : std::string();
  }

 private:
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(driver_, name));
  }

  void* driver_ = nullptr;
  void* state_ = nullptr;
};

std::string linkParts(const std::vector<Part>& parts) {
  if (parts.size() == 1 && parts.front().type == DriverPtx) return parts.front().contents;
  DriverLinker linker;
  bool good = true;
  for (const Part& part : parts) good = good && linker.add(part);
  return good ? linker.complete() : std::string();
}

bool isPtxText(std::string_view text) {
  return !text.starts_with(
             "\x7f"
             "ELF") &&
         text.substr(0, 4096).find(".version") != text.npos;
}

// PTX may come under the name of machine code, because NVRTC handed it out as such. Nothing for what has no PTX.
std::optional<Part> partOf(int type, std::string_view contents) {
  if (type == InputLtoIr) return std::nullopt;
  const bool holdsFiles = type == InputFatbin || type == InputObject || type == InputLibrary;
  if (!holdsFiles && isPtxText(contents)) return Part{DriverPtx, std::string(contents)};
  if (!holdsFiles && type != InputAny) return std::nullopt;
  Part part{type == InputFatbin    ? DriverFatbin
            : type == InputLibrary ? DriverLibrary
                                   : DriverObject,
            std::string(contents)};
  if (!DriverLinker().add(part)) return std::nullopt;
  return part;
}

int createOriginal(size_t slot, void** handle, const Options& options) {
  const auto pointers = options.pointers();
  return originalAs<int(void**, uint32_t, const char* const*)>(slot, "nvJitLinkCreate")(
      handle, static_cast<uint32_t>(pointers.size()), pointers.data());
}

int addToOriginal(size_t slot, void* handle, int type, std::string_view contents, const char* name) {
  return originalAs<int(void*, int, const void*, size_t, const char*)>(slot, "nvJitLinkAddData")(
      handle, type, contents.data(), contents.size(), name);
}

int createLink(size_t slot, void** handle, uint32_t count, const char* const* options) {
  Link link(Options(static_cast<int>(count), options));
  if (link.optimises && !link.options.has("-ptx")) link.options.add("-ptx");
  const int result = createOriginal(slot, handle, link.options);
  const std::lock_guard lock(linksMutex);
  if (result == 0) links().insert_or_assign(*handle, std::move(link));
  return result;
}

// Null for a handle that was made elsewhere. Entries of a map stay where they are.
Link* linkOf(void* handle) {
  const std::lock_guard lock(linksMutex);
  auto found = links().find(handle);
  return found == links().end() ? nullptr : &found->second;
}

int destroyLink(size_t slot, void** handle) {
  if (handle) {
    const std::lock_guard lock(linksMutex);
    links().erase(*handle);
  }
  return originalAs<int(void**)>(slot, "nvJitLinkDestroy")(handle);
}

// Takes what the real linker need not be given; says whether it did. `type` becomes that of PTX where it is PTX.
bool holdBack(Link& link, int& type, std::string_view contents, const char* name) {
  std::optional<Part> part = partOf(type, contents);
  if (!part) {
    link.hasOthers = true;
    if (link.optimises) link.others.push_back({type, std::string(contents), name ? name : ""});
    return false;
  }
  if (part->type == DriverPtx) type = InputPtx;
  link.parts.push_back(std::move(*part));
  return link.optimises;
}

int addData(size_t slot, void* handle, int type, const void* data, size_t size, const char* name) {
  Link* link = linkOf(handle);
  const std::string_view contents(static_cast<const char*>(data), size);
  if (link && data && holdBack(*link, type, contents, name)) return 0;
  return addToOriginal(slot, handle, type, contents, name);
}

int addFile(size_t slot, void* handle, int type, const char* path) {
  Link* link = linkOf(handle);
  const MappedFile file(path ? path : "");
  const std::string_view contents(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (link && holdBack(*link, type, contents, path)) return 0;
  return originalAs<int(void*, int, const char*)>(slot, "nvJitLinkAddFile")(handle, type, path);
}

int getLinkedPtx(size_t slot, void* handle, std::string& ptx) {
  size_t size = 0;
  if (const int status = originalAs<SizeOf>(slot, "nvJitLinkGetLinkedPtxSize")(handle, &size)) return status;
  ptx.assign(size, '\0');
  return originalAs<CopyOut>(slot, "nvJitLinkGetLinkedPtx")(handle, ptx.data());
}

// The PTX with every function of the intermediate code: the real linker drops those that nothing it was given calls,
// but PTX that was held back may call them. Nothing from a linker that does not know the option.
std::string linkKeepingAll(size_t slot, const Link& link) {
  Options options = link.options;
  options.add("-Xnvvm=--device-c");
  void* handle = nullptr;
  if (createOriginal(slot, &handle, options) != 0) return {};
  int status = 0;
  for (const Input& input : link.others) {
    if (status == 0) status = addToOriginal(slot, handle, input.type, input.contents, input.name.c_str());
  }
  if (status == 0) status = originalAs<int(void*)>(slot, "nvJitLinkComplete")(handle);
  std::string ptx;
  if (status == 0) status = getLinkedPtx(slot, handle, ptx);
  originalAs<int(void**)>(slot, "nvJitLinkDestroy")(&handle);
  return status == 0 ? ptx : std::string();
}

int completeLink(size_t slot, void* handle) {
  Link* link = linkOf(handle);
  const bool asksReal = !link || !link->optimises || link->hasOthers;
  const int result = asksReal ? originalAs<int(void*)>(slot, "nvJitLinkComplete")(handle) : 0;
  if (result != 0 || !link) return result;
  if (link->optimises && link->hasOthers) {
    std::string ptx;
    const bool hasCallers =
        std::any_of(link->parts.begin(), link->parts.end(), [](const Part& part) { return part.type == DriverPtx; });
    if (hasCallers) ptx = linkKeepingAll(slot, *link);
    if (ptx.empty()) {
      if (const int status = getLinkedPtx(slot, handle, ptx)) return status;
    }
    link->parts.insert(link->parts.begin(), {DriverPtx, std::move(ptx)});
  } else if (link->hasOthers || link->parts.empty()) {
    return result;
  }
  link->linked = linkParts(link->parts);
  return link->linked.empty() ? internalError : result;
}

int getLinkedCubinSize(size_t slot, void* handle, size_t* size) {
  const Link* link = linkOf(handle);
  if (!link || link->linked.empty()) return originalAs<SizeOf>(slot, "nvJitLinkGetLinkedCubinSize")(handle, size);
  *size = link->linked.size();
  return 0;
}

int getLinkedCubin(size_t slot, void* handle, char* cubin) {
  const Link* link = linkOf(handle);
  if (!link || link->linked.empty()) return originalAs<CopyOut>(slot, "nvJitLinkGetLinkedCubin")(handle, cubin);
  std::memcpy(cubin, link->linked.data(), link->linked.size());
  return 0;
}

// Machine code of NVRTC and nvJitLink is PTX here, which the fat binary then holds for a device of that architecture.
int addCubin(size_t slot, void* handle, const void* code, size_t size, const char* arch, const char* name) {
  if (code && isPtxText({static_cast<const char*>(code), size})) {
    using AddPtx = int(void*, const char*, size_t, const char*, const char*, const char*);
    return originalAs<AddPtx>(slot, "nvFatbinAddPTX")(handle, static_cast<const char*>(code), size, arch, name, "");
  }
  using AddCubin = int(void*, const void*, size_t, const char*, const char*);
  return originalAs<AddCubin>(slot, "nvFatbinAddCubin")(handle, code, size, arch, name);
}

}  // namespace
}  // namespace mulciber::redirect

// A program that loads two versions of a compiler must reach each behind its own function: one set for every slot.
#define HOOK(slot, name, function, parameters, ...)                                          \
  extern "C" __attribute__((visibility("default"))) int mulciber##slot##_##name parameters { \
    return mulciber::redirect::function(slot, __VA_ARGS__);                                  \
  }
#define HOOKS(slot)                                                                                                   \
  HOOK(slot, nvrtcCompileProgram, compileProgram, (void* program, int count, const char* const* options), program,    \
       count, options)                                                                                                \
  HOOK(slot, nvrtcGetCUBINSize, getCubinSize, (void* program, size_t* size), program, size)                           \
  HOOK(slot, nvrtcGetCUBIN, getCubin, (void* program, char* cubin), program, cubin)                                   \
  HOOK(slot, nvJitLinkCreate, createLink, (void** handle, uint32_t count, const char* const* options), handle, count, \
       options)                                                                                                       \
  HOOK(slot, nvJitLinkDestroy, destroyLink, (void** handle), handle)                                                  \
  HOOK(slot, nvJitLinkAddData, addData, (void* handle, int type, const void* data, size_t size, const char* name),    \
       handle, type, data, size, name)                                                                                \
  HOOK(slot, nvJitLinkAddFile, addFile, (void* handle, int type, const char* path), handle, type, path)               \
  HOOK(slot, nvJitLinkComplete, completeLink, (void* handle), handle)                                                 \
  HOOK(slot, nvJitLinkGetLinkedCubinSize, getLinkedCubinSize, (void* handle, size_t* size), handle, size)             \
  HOOK(slot, nvJitLinkGetLinkedCubin, getLinkedCubin, (void* handle, char* cubin), handle, cubin)                     \
  HOOK(slot, nvFatbinAddCubin, addCubin,                                                                              \
       (void* handle, const void* code, size_t size, const char* arch, const char* name), handle, code, size, arch,   \
       name)
HOOKS(0)
HOOKS(1)
HOOKS(2)
HOOKS(3)
HOOKS(4)
HOOKS(5)
static_assert(mulciber::redirect::compilerSlots == 6);
