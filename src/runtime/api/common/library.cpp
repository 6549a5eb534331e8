#include "runtime/api/common/library.h"

#include <algorithm>
#include <cctype>
#include <shared_mutex>
#include <unordered_set>

#include "mulciber/translator.h"
#include "runtime/core/platform.h"
#include "util/log.h"

namespace mulciber::api {

using core::Error;

namespace {

// All devices report what the translator supports; where an override makes them differ, the lowest is safe for all.
uint32_t computeCapability() {
  uint32_t lowest = 0;
  for (const auto& device : core::Platform::get().devices()) {
    const uint32_t capability = device->computeCapability();
    lowest = lowest == 0 ? capability : std::min(lowest, capability);
  }
  return lowest == 0 ? 90 : lowest;
}

Error report(const fatbin::Error& error, core::JitLog* log) {
  // Programs look for files where they may not be.
  const bool isExpected = error.code == fatbin::Error::Code::FileNotFound;
  util::log().log(isExpected ? spdlog::level::info : spdlog::level::err, "{}", error.message);
  if (log) log->errors += error.message + "\n";
  switch (error.code) {
    case fatbin::Error::Code::FileNotFound: return Error::FileNotFound;
    case fatbin::Error::Code::NoBinaryForGpu: return Error::NoBinaryForGpu;
    default: return Error::InvalidImage;
  }
}

}  // namespace

bool isPtx(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte-order mark
  while (!text.empty()) {
    if (std::isspace(static_cast<unsigned char>(text.front()))) {
      text.remove_prefix(1);
    } else if (text.substr(0, 2) == "//") {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    } else if (text.substr(0, 2) == "/*") {
      const size_t end = text.find("*/", 2);
      text.remove_prefix(end == text.npos ? text.size() : end + 2);
    } else {
      break;
    }
  }
  return !text.empty() && text.front() == '.';
}

Error readImage(const void* image, fatbin::PtxModules& out, core::JitLog* log) {
  if (!image) return Error::InvalidValue;
  fatbin::Error error;
  auto modules = fatbin::readImage(image, computeCapability(), error);
  if (!modules) return report(error, log);
  for (const fatbin::PtxModule& module : *modules)
    if (!isPtx(module.text)) {
      util::log().error("the image is neither PTX nor anything else that CUDA loads");
      return Error::InvalidImage;
    }
  out = std::move(*modules);
  return Error::Success;
}

Error readFile(const char* path, fatbin::PtxModules& out, core::JitLog* log) {
  if (!path) return Error::InvalidValue;
  fatbin::Error error;
  auto images = fatbin::readFile(path, computeCapability(), error);
  if (!images) return report(error, log);
  out.clear();
  for (fatbin::PtxModules& modules : *images) std::move(modules.begin(), modules.end(), std::back_inserter(out));
  return Error::Success;
}

std::vector<core::PtxSource> sourcesOf(const fatbin::PtxModules& modules) {
  std::vector<core::PtxSource> sources;
  for (const fatbin::PtxModule& module : modules)
    sources.push_back({module.text, module.name.empty() ? "ptx" : module.name, module.options});
  return sources;
}

Error loadModule(core::Context& context, const fatbin::PtxModules& modules, core::JitLog* log, core::Module*& out) {
  return context.loadModule(sourcesOf(modules), log, out);
}

namespace {

// Every kernel there is. Never destroyed: libraries are closed by exit handlers.
struct LiveKernels {
  std::shared_mutex mutex;
  std::unordered_set<const Kernel*> all;
  // Some of them by their addresses, which launches find without the lock.
  std::atomic<const Kernel*> recent[64] = {};

  std::atomic<const Kernel*>& recentOf(const Kernel* kernel) {
    return recent[reinterpret_cast<uintptr_t>(kernel) / alignof(std::max_align_t) % std::size(recent)];
  }
};
LiveKernels& liveKernels() {
  static auto* const kernels = new LiveKernels;
  return *kernels;
}

}  // namespace

Kernel::Kernel(Library& library, std::string name) : library_(library), name_(std::move(name)) {
  std::unique_lock lock(liveKernels().mutex);
  liveKernels().all.insert(this);
}

Kernel::~Kernel() {
  std::unique_lock lock(liveKernels().mutex);
  liveKernels().all.erase(this);
  const Kernel* self = this;
  liveKernels().recentOf(this).compare_exchange_strong(self, nullptr);
}

Kernel* Kernel::ofLive(const void* handle) {
  Kernel* kernel = of(handle);
  if (!kernel) return nullptr;
  LiveKernels& live = liveKernels();
  std::atomic<const Kernel*>& recent = live.recentOf(kernel);
  if (recent.load(std::memory_order_acquire) == kernel) return kernel;
  std::shared_lock lock(live.mutex);
  if (live.all.count(kernel) == 0) return nullptr;
  recent.store(kernel, std::memory_order_release);  // none ends while the lock is held
  return kernel;
}

Error Kernel::function(core::Context& context, core::Function*& out) {
  if (const Found* last = last_.load(std::memory_order_acquire); last && last->context == context.id()) {
    out = last->function;
    return Error::Success;
  }
  core::Module* module = nullptr;
  if (Error error = library_.module(context, module); error != Error::Success) {
    if (!isReported_.exchange(true))
      util::log().error("the kernel {} cannot be loaded: {}", name_, core::errorDescription(error));
    return error;
  }
  if (Error error = module->function(name_, out); error != Error::Success) {
    util::log().error("the program's PTX has no kernel {}", name_);
    return error;
  }
  std::lock_guard lock(mutex_);
  auto known = std::find_if(found_.begin(), found_.end(), [&](const auto& f) { return f->context == context.id(); });
  if (known == found_.end()) {
    known = found_.insert(found_.end(), std::make_unique<const Found>(Found{context.id(), out}));
  }
  last_.store(known->get(), std::memory_order_release);
  return Error::Success;
}

Error Library::read(core::JitLog* log) {
  if (!isRead_) {
    readError_ = readImage(image_, modules_, log);
    isRead_ = true;
  }
  return readError_;
}

Error Library::remember(Error error) {
  const bool isOfTheText = error == Error::InvalidPtx || error == Error::UnsupportedPtxVersion;
  if (isOfTheText) readError_ = error;
  return error;
}

Error Library::module(core::Context& context, core::Module*& out, core::JitLog* log) {
  std::lock_guard lock(mutex_);
  auto& slot = loaded_[context.id()];
  if (auto module = slot.lock()) {
    out = module.get();
    return Error::Success;
  }
  TRY(read(log));
  TRY(remember(loadModule(context, modules_, log, out)));
  slot = out->weak_from_this();
  return Error::Success;
}

void Library::unload(core::Context* current) {
  std::lock_guard lock(mutex_);
  for (auto& [id, slot] : loaded_) {
    auto module = slot.lock();
    if (!module) continue;
    core::Context& context = current && current->id() == id ? *current : module->context();
    // A context that is gone has taken its modules along.
    if (context.unloadModule(module.get()) != Error::Success)
      util::log().debug("a module was unloaded before its library");
  }
  loaded_.clear();
}

Kernel& Library::registerKernel(std::string_view name) {
  std::lock_guard lock(mutex_);
  auto found = kernels_.find(name);
  if (found == kernels_.end()) found = kernels_.try_emplace(std::string(name), *this, std::string(name)).first;
  return found->second;
}

Error Library::readNames(core::JitLog* log) {
  if (hasNames_) return Error::Success;
  TRY(read(log));
  ModulePtr module;
  TRY(remember(core::parseSources(sourcesOf(modules_), core::Linking::Program, log, module)));
  names_ = kernelNames(*module);
  for (const ModuleData::Symbol& symbol : moduleData(*module).symbols)
    if (symbol.isManaged) managedNames_.push_back(symbol.name);
  hasNames_ = true;
  return Error::Success;
}

Error Library::check(core::JitLog* log) {
  std::lock_guard lock(mutex_);
  return readNames(log);
}

bool Library::isManaged(std::string_view variable) {
  std::lock_guard lock(mutex_);
  return readNames(nullptr) == Error::Success &&
         std::find(managedNames_.begin(), managedNames_.end(), variable) != managedNames_.end();
}

Error Library::kernel(std::string_view name, Kernel*& out) {
  std::lock_guard lock(mutex_);
  TRY(readNames(nullptr));
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) return Error::NotFound;
  out = &registerKernel(name);
  return Error::Success;
}

Error Library::kernels(std::vector<Kernel*>& out) {
  std::lock_guard lock(mutex_);
  TRY(readNames(nullptr));
  for (const std::string& name : names_) out.push_back(&registerKernel(name));
  return Error::Success;
}

}  // namespace mulciber::api
