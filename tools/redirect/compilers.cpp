// The ordinary copy's part: the functions in front of the compilers'.
#include "compilers.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

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

// One nvJitLink handle. With link-time optimisation the linker writes PTX itself; otherwise Mulciber's linker joins the
// PTX that was given.
struct Link {
  bool optimises = false;
  bool isPtxOnly = true;
  std::vector<std::string> ptx;
  std::string linked;
};
std::mutex linksMutex;
std::map<void*, Link>& links() {
  static auto* all = new std::map<void*, Link>;
  return *all;
}

enum InputType { InputCubin = 1, InputPtx = 2, InputLtoIr = 3, InputAny = 10 };
constexpr int internalError = 6;

bool isPtxText(const void* data, size_t size) {
  const std::string_view text(static_cast<const char*>(data), size);
  return text.substr(0, 4) !=
             "\x7f"
             "ELF" &&
         text.substr(0, 4096).find(".version") != text.npos;
}

int createLink(size_t slot, void** handle, uint32_t count, const char* const* options) {
  Options changed(static_cast<int>(count), options);
  Link link;
  link.optimises = changed.has("-lto");
  if (link.optimises && !changed.has("-ptx")) changed.add("-ptx");
  const auto pointers = changed.pointers();
  const int result = originalAs<int(void**, uint32_t, const char* const*)>(slot, "nvJitLinkCreate")(
      handle, static_cast<uint32_t>(pointers.size()), pointers.data());
  const std::lock_guard lock(linksMutex);
  if (result == 0) links()[*handle] = std::move(link);
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

// PTX may come under the name of machine code, because NVRTC handed it out as such.
int addData(size_t slot, void* handle, int type, const void* data, size_t size, const char* name) {
  if (Link* link = linkOf(handle); link && data) {
    if ((type == InputCubin || type == InputPtx || type == InputAny) && isPtxText(data, size)) {
      type = InputPtx;
      link->ptx.emplace_back(static_cast<const char*>(data), size);
    } else if (type != InputLtoIr) {
      link->isPtxOnly = false;
    }
  }
  return originalAs<int(void*, int, const void*, size_t, const char*)>(slot, "nvJitLinkAddData")(handle, type, data,
                                                                                                 size, name);
}

int addFile(size_t slot, void* handle, int type, const char* path) {
  if (Link* link = linkOf(handle); link && type != InputLtoIr) link->isPtxOnly = false;
  return originalAs<int(void*, int, const char*)>(slot, "nvJitLinkAddFile")(handle, type, path);
}

// Joins texts by the linker of our driver library; empty when it cannot.
std::string linkPtx(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return texts.front();
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return {};
  auto create = reinterpret_cast<int (*)(unsigned, void*, void*, void**)>(dlsym(driver, "cuLinkCreate_v2"));
  auto add = reinterpret_cast<int (*)(void*, int, const void*, size_t, const char*, unsigned, void*, void*)>(
      dlsym(driver, "cuLinkAddData_v2"));
  auto complete = reinterpret_cast<int (*)(void*, const void**, size_t*)>(dlsym(driver, "cuLinkComplete"));
  auto destroy = reinterpret_cast<int (*)(void*)>(dlsym(driver, "cuLinkDestroy"));
  std::string linked;
  void* state = nullptr;
  if (create && add && complete && destroy && create(0, nullptr, nullptr, &state) == 0) {
    constexpr int driverInputPtx = 1;
    bool good = true;
    for (const std::string& text : texts) {
      good = good && add(state, driverInputPtx, text.c_str(), text.size() + 1, "PTX", 0, nullptr, nullptr) == 0;
    }
    const void* image = nullptr;
    size_t size = 0;
    if (good && complete(state, &image, &size) == 0) linked.assign(static_cast<const char*>(image), size);
    destroy(state);
  }
  dlclose(driver);
  return linked;
}

int completeLink(size_t slot, void* handle) {
  const int result = originalAs<int(void*)>(slot, "nvJitLinkComplete")(handle);
  Link* link = linkOf(handle);
  if (result != 0 || !link) return result;
  if (link->optimises) {
    size_t size = 0;
    if (const int status = originalAs<SizeOf>(slot, "nvJitLinkGetLinkedPtxSize")(handle, &size)) return status;
    link->linked.resize(size);
    return originalAs<CopyOut>(slot, "nvJitLinkGetLinkedPtx")(handle, link->linked.data());
  }
  if (!link->isPtxOnly || link->ptx.empty()) return result;
  link->linked = linkPtx(link->ptx);
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
  HOOK(slot, nvJitLinkGetLinkedCubin, getLinkedCubin, (void* handle, char* cubin), handle, cubin)
HOOKS(0)
HOOKS(1)
HOOKS(2)
HOOKS(3)
static_assert(mulciber::redirect::compilerSlots == 4);
