// Modules, and the linker that makes one image of several.
#include <cerrno>
#include <cstring>
#include <string_view>

#include "runtime/api/common/module_queries.h"
#include "runtime/api/driver/driver.h"
#include "runtime/api/driver/jit_options.h"
#include "util/file.h"

namespace mulciber::api {
namespace {

Error load(core::Context& context, const fatbin::PtxModules& modules, core::JitLog* log, CUmodule* out) {
  core::Module* module = nullptr;
  TRY(loadModule(context, modules, log, module));
  *out = reinterpret_cast<CUmodule>(module);
  return Error::Success;
}

template <class Body>
CUresult withModule(CUmodule handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return guarded([&] {
    core::ModuleRef module;
    TRY(core::findModule(reinterpret_cast<core::Module*>(handle), module));
    return body(*module);
  });
}

// What cuLinkCreate begins. The image it ends with is the PTX of the linked module, which stands where CUDA has machine
// code and is known by its first line.
constexpr std::string_view linkedMark = "// linked by Mulciber\n";
struct LinkState {
  fatbin::PtxModules modules;
  JitOptions options;
  std::string image;
  Error failure = Error::Success;  // of an input that spoils the whole
  bool isComplete = false;
};

Error addImage(LinkState& state, CUjitInputType type, const void* data, size_t bytes, const char* name) {
  if (!data || bytes == 0 || state.isComplete) return Error::InvalidValue;
  fatbin::PtxModules added;
  switch (type) {
    case CU_JIT_INPUT_PTX: {
      std::string text(static_cast<const char*>(data), bytes);
      text.resize(std::strlen(text.c_str()));
      if (!isPtx(text)) return Error::InvalidImage;
      added.push_back({std::move(text), name ? name : "ptx", {}, 0});
      break;
    }
    case CU_JIT_INPUT_FATBINARY:
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_CUBIN: {
      const std::string_view content(static_cast<const char*>(data), bytes);
      const bool isText = isPtx(content);
      if (type == CU_JIT_INPUT_CUBIN && isText && content.substr(0, linkedMark.size()) != linkedMark)
        return state.failure = Error::InvalidImage;
      if (isText && (type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY)) return Error::Unknown;
      fatbin::Error error;
      auto images = fatbin::readFile(fatbin::Bytes(static_cast<const std::byte*>(data), bytes), 90, error);
      if (!images) {
        state.options.log.errors += error.message + "\n";
        return error.code == fatbin::Error::Code::NoBinaryForGpu ? Error::NoBinaryForGpu : Error::InvalidImage;
      }
      for (fatbin::PtxModules& modules : *images) std::move(modules.begin(), modules.end(), std::back_inserter(added));
      break;
    }
    case CU_JIT_INPUT_NVVM: return state.failure = Error::JitCompilerNotFound;
    default: return Error::InvalidValue;
  }
  state.options.applyTo(added);
  for (const core::PtxSource& source : sourcesOf(added)) {
    ModulePtr parsed;
    if (Error error = core::parseSources({source}, core::Linking::Part, &state.options.log, parsed);
        error != Error::Success)
      return error;
  }
  std::move(added.begin(), added.end(), std::back_inserter(state.modules));
  return Error::Success;
}

Error complete(LinkState& state) {
  if (state.isComplete) return Error::InvalidHandle;
  if (state.failure != Error::Success) return state.failure;
  state.isComplete = true;
  if (state.modules.empty()) {
    state.image = std::string(linkedMark) + ".version 7.0\n.target sm_70\n.address_size 64\n";
    return Error::Success;
  }
  ModulePtr linked;
  const Error error = core::parseSources(sourcesOf(state.modules), core::Linking::Image, &state.options.log, linked);
  // With a log for the reason CUDA's driver tells no kind of failure from another.
  if (error == Error::Unknown && state.options.wantsErrors()) return Error::InvalidSource;
  TRY(error);
  state.image = std::string(linkedMark) + printModule(*linked);
  return Error::Success;
}

}  // namespace
}  // namespace mulciber::api

using namespace mulciber::api;
namespace core = mulciber::core;
namespace fatbin = mulciber::fatbin;

CUDA_API(CUresult, cuModuleLoad)(CUmodule* module, const char* path) {
  return withContext([&](core::Context& context) {
    if (!module || !path || !*path) return Error::InvalidValue;
    fatbin::PtxModules modules;
    TRY(readFile(path, modules, nullptr));
    return load(context, modules, nullptr, module);
  });
}

CUDA_API(CUresult, cuModuleLoadDataEx)
(CUmodule* module, const void* image, unsigned int optionCount, CUjit_option* options, void** values) {
  return withContext([&](core::Context& context) {
    if (!module || !image) return Error::InvalidValue;
    JitOptions jit;
    TRY(JitOptions::read(optionCount, options, values, jit));
    fatbin::PtxModules modules;
    Error error = readImage(image, modules, &jit.log);
    jit.applyTo(modules);
    if (error == Error::Success) error = load(context, modules, &jit.log, module);
    jit.finish();
    return error;
  });
}

CUDA_API(CUresult, cuModuleLoadData)(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

CUDA_API(CUresult, cuModuleLoadFatBinary)(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

CUDA_API(CUresult, cuModuleUnload)(CUmodule handle) {
  return withModule(handle, [](core::Module& module) { return module.context().unloadModule(&module); });
}

CUDA_API(CUresult, cuModuleGetFunction)(CUfunction* out, CUmodule handle, const char* name) {
  return withModule(handle, [&](core::Module& module) {
    if (!out || !name || !*name) return Error::InvalidValue;
    *out = nullptr;
    core::Function* function = nullptr;
    TRY(module.function(name, function));
    *out = reinterpret_cast<CUfunction>(function);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuModuleGetFunctionCount)(unsigned int* count, CUmodule handle) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  return withModule(handle, [&](core::Module& module) {
    *count = static_cast<unsigned int>(module.functionNames().size());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuModuleEnumerateFunctions)(CUfunction* functions, unsigned int count, CUmodule handle) {
  return withModule(handle, [&](core::Module& module) {
    if (!functions) return Error::InvalidValue;
    for (const std::string& name : module.functionNames()) {
      if (count-- == 0) break;
      core::Function* function = nullptr;
      TRY(module.function(name, function));
      *functions++ = reinterpret_cast<CUfunction>(function);
    }
    return Error::Success;
  });
}

CUDA_API(CUresult, cuModuleGetGlobal_v2)(CUdeviceptr* address, size_t* bytes, CUmodule handle, const char* name) {
  if (address) *address = 0;
  if (bytes) *bytes = 0;
  return withModule(handle, [&](core::Module& module) {
    if (!name || !*name || (!address && !bytes)) return Error::InvalidValue;
    return giveGlobal(module, name, address, bytes);
  });
}

// Kernels are translated when first launched.
CUDA_API(CUresult, cuModuleGetLoadingMode)(CUmoduleLoadingMode* mode) {
  return withDriver([&] {
    if (!mode) return Error::InvalidValue;
    *mode = CU_MODULE_LAZY_LOADING;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuLinkCreate_v2)(unsigned int optionCount, CUjit_option* options, void** values, CUlinkState* out) {
  return withContext([&](core::Context&) {
    if (!out) return Error::InvalidValue;
    auto state = std::make_unique<LinkState>();
    TRY(JitOptions::read(optionCount, options, values, state->options));
    *out = reinterpret_cast<CUlinkState>(state.release());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuLinkAddData_v2)
(CUlinkState handle, CUjitInputType type, void* data, size_t bytes, const char* name, unsigned int, CUjit_option*,
 void**) {
  return withContext([&](core::Context&) {
    if (!handle) return Error::InvalidHandle;
    auto& state = *reinterpret_cast<LinkState*>(handle);
    const Error error = addImage(state, type, data, bytes, name);
    if (error != Error::Success) state.options.finish();
    return error;
  });
}

CUDA_API(CUresult, cuLinkAddFile_v2)
(CUlinkState handle, CUjitInputType type, const char* path, unsigned int, CUjit_option*, void**) {
  return withContext([&](core::Context&) {
    if (!handle) return Error::InvalidHandle;
    auto& state = *reinterpret_cast<LinkState*>(handle);
    if (!path || !*path || state.isComplete) return Error::InvalidValue;
    const auto content = mulciber::util::readFile(path);
    if (!content) state.options.log.errors += std::string(path) + ": " + std::strerror(errno) + "\n";
    const Error error = content ? addImage(state, type, content->data(), content->size(), path) : Error::FileNotFound;
    if (error != Error::Success) state.options.finish();
    return error;
  });
}

CUDA_API(CUresult, cuLinkComplete)(CUlinkState handle, void** image, size_t* bytes) {
  return withContext([&](core::Context&) {
    if (!handle) return Error::InvalidHandle;
    if (!image) return Error::InvalidValue;
    auto& state = *reinterpret_cast<LinkState*>(handle);
    const Error error = complete(state);
    state.options.finish();
    if (error != Error::Success) return error;
    *image = state.image.data();
    if (bytes) *bytes = state.image.size() + 1;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuLinkDestroy)(CUlinkState handle) {
  return withDriver([&] {
    if (!handle) return Error::InvalidHandle;
    delete reinterpret_cast<LinkState*>(handle);
    return Error::Success;
  });
}
