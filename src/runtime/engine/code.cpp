#include <algorithm>

#include "runtime/core/kernel_archive.h"
#include "runtime/engine/handles.h"
#include "runtime/engine/launches.h"

using namespace mulciber;
using namespace mulciber::engine_api;

namespace {

MulciberResult compile(const MulciberKernel_T& kernel, const KernelInfo& info, MulciberLaunch shape) {
  const std::vector<uint8_t> zeros(info.parameterBytes);
  shape.packed = zeros.data();
  shape.packedBytes = zeros.size();
  core::KernelLaunch prepared;
  return prepare(kernel, shape, prepared);
}

// Of kernels translated ahead of time, those that run in blocks of one size alone: no launch has to wait for a
// compiler.
MulciberResult compileThoseOfOneShape(MulciberModule_T& module) {
  for (const std::string& name : module.module->functionNames()) {
    MulciberKernel_T kernel{&module, nullptr};
    const KernelInfo* info = nullptr;
    Error error = module.module->function(name, kernel.function);
    if (error == Error::Success) error = kernel.function->info(info);
    TRY(resultOf(error, name.c_str()));
    const uint32_t(&block)[3] = info->requiredBlock;
    if (block[0] == 0) continue;
    const MulciberLaunch shape{{1, 1, 1}, {block[0], block[1], block[2]}, 0, nullptr, nullptr, 0};
    TRY(compile(kernel, *info, shape));
  }
  return MULCIBER_SUCCESS;
}

}  // namespace

MulciberResult mulciberLoadModule(MulciberContext context, const void* code, size_t bytes, MulciberModule* out) {
  return guarded([&] {
    if (!context || !code || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    core::JitLog log;
    auto made = std::make_unique<MulciberModule_T>();
    made->context = context;
    std::string_view text(static_cast<const char*>(code), bytes);
    const bool isTranslated = core::KernelArchive::isArchive(text);
    if (!isTranslated) text = text.substr(0, text.find('\0'));
    const Error error = context->context->loadModule({{text, "ptx"}}, &log, made->module);
    if (error == Error::InvalidPtx && !log.errors.empty()) return fail(MULCIBER_ERROR_INVALID_CODE, log.errors);
    if (isTranslated && error == Error::NoBinaryForGpu) return fail(MULCIBER_ERROR_MISSING_FEATURE, log.errors);
    if (isTranslated && error == Error::InvalidImage) return fail(MULCIBER_ERROR_INVALID_CODE, log.errors);
    TRY(resultOf(error, "loading a module"));
    if (isTranslated) {
      if (const MulciberResult failed = compileThoseOfOneShape(*made); failed != MULCIBER_SUCCESS) {
        (void)context->context->unloadModule(made->module);
        return failed;
      }
    }
    std::lock_guard lock(context->mutex);
    context->modules.push_back(std::move(made));
    *out = context->modules.back().get();
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberUnloadModule(MulciberModule module) {
  return guarded([&] {
    if (!module) return MULCIBER_SUCCESS;
    MulciberContext_T& context = *module->context;
    TRY(resultOf(context.context->unloadModule(module->module), "unloading a module"));
    std::lock_guard lock(context.mutex);
    std::erase_if(context.modules, [&](const auto& held) { return held.get() == module; });
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberGetKernel(MulciberModule module, const char* name, MulciberKernel* out) {
  return guarded([&] {
    if (!module || !name || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    core::Function* function = nullptr;
    if (module->module->function(name, function) != Error::Success)
      return fail(MULCIBER_ERROR_NOT_FOUND, "the module has no kernel " + std::string(name));
    std::lock_guard lock(module->context->mutex);
    std::unique_ptr<MulciberKernel_T>& kernel = module->kernels[name];
    if (!kernel) kernel.reset(new MulciberKernel_T{module, function});
    *out = kernel.get();
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberGetVariable(MulciberModule module, const char* name, VkDeviceAddress* address, size_t* bytes) {
  return guarded([&] {
    if (!module || !name || !address || !bytes) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    if (module->module->global(name, *address, *bytes) != Error::Success)
      return fail(MULCIBER_ERROR_NOT_FOUND, "the module has no variable " + std::string(name));
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberPrepareKernel(MulciberKernel kernel, const MulciberLaunch* shape) {
  return guarded([&] {
    if (!kernel || !shape) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    const KernelInfo* info = nullptr;
    std::string messages;
    if (const Error error = kernel->function->info(info, &messages); error != Error::Success)
      return messages.empty() ? resultOf(error, "translating a kernel") : fail(MULCIBER_ERROR_INVALID_CODE, messages);
    return compile(*kernel, *info, *shape);
  });
}
