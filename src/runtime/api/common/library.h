// Code that both APIs load: images in any of CUDA's formats, read once, and turned into a module of core for each
// context that uses it. CUlibrary and CUkernel are these, and so are the fat binaries that nvcc's programs register.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/function.h"
#include "runtime/core/module.h"
#include "runtime/fatbin/fatbin.h"

namespace mulciber::api {

// PTX begins with .version, after blanks and comments: what does not is no image at all.
bool isPtx(std::string_view text);

// PTX modules out of an image in memory or a file, chosen for the devices there are. What is wrong goes to the log, and
// to `log` when not null.
core::Error readImage(const void* image, fatbin::PtxModules& out, core::JitLog* log);
core::Error readFile(const char* path, fatbin::PtxModules& out, core::JitLog* log);

std::vector<core::PtxSource> sourcesOf(const fatbin::PtxModules& modules);
core::Error loadModule(core::Context& context, const fatbin::PtxModules& modules, core::JitLog* log,
                       core::Module*& out);

class Library;

// A kernel of a library, in no context yet.
class Kernel {
 public:
  Kernel(Library& library, std::string name);
  ~Kernel();
  Kernel(const Kernel&) = delete;

  Library& library() const { return library_; }
  const std::string& name() const { return name_; }
  core::Error function(core::Context& context, core::Function*& out);

  // Kernels stand where functions do in the driver API (CUkernel cast to CUfunction), so a handle says which it is in
  // its lowest bit.
  void* handle() { return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(this) | 1); }
  static Kernel* of(const void* handle) {
    const auto bits = reinterpret_cast<uintptr_t>(handle);
    return bits & 1 ? reinterpret_cast<Kernel*>(bits & ~uintptr_t{1}) : nullptr;
  }
  // The same for a pointer that may be anything: functions can have odd addresses too.
  static Kernel* ofLive(const void* handle);

 private:
  struct Found {
    uint64_t context;
    core::Function* function;
  };

  Library& library_;
  const std::string name_;
  std::atomic<const Found*> last_{nullptr};  // where most launches end their search
  std::atomic<bool> isReported_{false};
  std::mutex mutex_;
  std::vector<std::unique_ptr<const Found>> found_;
};

class Library {
 public:
  explicit Library(fatbin::PtxModules modules) : modules_(std::move(modules)), isRead_(true) {}
  // An image that stays valid, read when it is first needed.
  explicit Library(const void* image) : image_(image) {}

  // The library's module in a context, loaded there if it is not yet.
  core::Error module(core::Context& context, core::Module*& out, core::JitLog* log = nullptr);
  void unload(core::Context* current);

  // Makes the kernel without looking into the library: a launch reports a kernel that is missing.
  Kernel& registerKernel(std::string_view name);
  // NotFound when the library has no such kernel.
  core::Error kernel(std::string_view name, Kernel*& out);
  core::Error kernels(std::vector<Kernel*>& out);
  // Parses and links, without any context.
  core::Error check(core::JitLog* log);
  bool isManaged(std::string_view variable);

 private:
  core::Error read(core::JitLog* log);
  // An error in the text is reported once; every later use returns the same error.
  core::Error remember(core::Error error);
  core::Error readNames(core::JitLog* log);

  std::recursive_mutex mutex_;
  const void* image_ = nullptr;
  fatbin::PtxModules modules_;
  bool isRead_ = false, hasNames_ = false;
  core::Error readError_ = core::Error::Success;
  std::vector<std::string> names_, managedNames_;
  std::map<std::string, Kernel, std::less<>> kernels_;
  std::unordered_map<uint64_t, std::weak_ptr<core::Module>> loaded_;  // by context id
};

// A CUfunction, or a CUkernel as a function of the given context.
inline core::Error functionOf(const void* handle, core::Context* context, core::Function*& out) {
  if (!handle) return core::Error::InvalidHandle;
  if (Kernel* kernel = Kernel::of(handle)) return kernel->function(*context, out);
  out = static_cast<core::Function*>(const_cast<void*>(handle));
  return core::Error::Success;
}

// Whether a text has the form "[domain:]bus:device[.function]".
bool isPciBusId(const char* text);

// The dynamic shared memory that still lets `blocks` blocks of that size fit a multiprocessor (HOST-22).
core::Error availableDynamicShared(core::Function& function, int blocks, int blockThreads, size_t& bytes);

}  // namespace mulciber::api
