#include "conformance/suite/device.h"

#include <dlfcn.h>

#include <array>
#include <fstream>

namespace mulciber::conformance {

#define NAME_OF(function) #function
#define EXPORTED_NAME(function) NAME_OF(function)
#define DRIVER_FUNCTIONS(X)                                                                                        \
  X(cuInit)                                                                                                        \
  X(cuDriverGetVersion)                                                                                            \
  X(cuDeviceGet)                                                                                                   \
  X(cuDeviceGetName) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuModuleLoadDataEx) X(cuModuleGetFunction)   \
      X(cuModuleUnload) X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemsetD8) X(cuLaunchKernel) \
          X(cuCtxSynchronize) X(cuGetErrorName)

struct Device::Functions {
#define MEMBER(function) decltype(&::function) function##_ = nullptr;
  DRIVER_FUNCTIONS(MEMBER)
#undef MEMBER

  std::string nameOf(CUresult result) const {
    const char* text = nullptr;
    cuGetErrorName_(result, &text);
    return text ? text : "error " + std::to_string(result);
  }
};

namespace {

// The version of NVIDIA's kernel driver, which both ways of running share; of no use elsewhere.
std::string driverVersion(int cudaVersion) {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string text = "CUDA " + std::to_string(cudaVersion / 1000) + '.' + std::to_string(cudaVersion % 1000 / 10);
  for (std::string word; file >> word;)
    if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) && word.find('.') != std::string::npos)
      return text + ", NVIDIA " + word;
  return text;
}

}  // namespace

Device::Device() : cu_(std::make_unique<Functions>()) {}
Device::~Device() = default;

std::unique_ptr<Device> Device::open(const std::string& library, std::string& error) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    error = dlerror();
    return nullptr;
  }
  std::unique_ptr<Device> device(new Device);
  Functions& cu = *device->cu_;
#define LOAD(function)                                                                              \
  cu.function##_ = reinterpret_cast<decltype(&::function)>(dlsym(handle, EXPORTED_NAME(function))); \
  if (!cu.function##_) {                                                                            \
    error = library + " has no " EXPORTED_NAME(function);                                           \
    return nullptr;                                                                                 \
  }
  DRIVER_FUNCTIONS(LOAD)
#undef LOAD
  CUdevice id = 0;
  int version = 0;
  std::array<char, 256> name{};
  for (CUresult result : {cu.cuInit_(0), cu.cuDeviceGet_(&id, 0), cu.cuDeviceGetName_(name.data(), name.size(), id),
                          cu.cuDriverGetVersion_(&version), cu.cuDevicePrimaryCtxRetain_(&device->context_, id)})
    if (result != CUDA_SUCCESS) {
      error = cu.nameOf(result);
      return nullptr;
    }
  device->name_ = name.data();
  device->driver_ = driverVersion(version);
  return device;
}

std::string Device::launch(const Batch& batch, const InputTable& inputs, std::vector<uint64_t>& results) {
  Functions& cu = *cu_;
  std::string error;
  std::array<char, 4096> log{};
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr in = 0, out = 0, memory = 0;
  const size_t column = size_t(inputs.rows) * 8, outBytes = column * columnsOf(batch);
  const size_t memoryBytes = size_t(inputs.rows) * kThreadBytes;

  auto check = [&](CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return true;
    error = std::string(what) + ": " + cu.nameOf(result) + (log[0] ? std::string(": ") + log.data() : std::string());
    return false;
  };
  auto execute = [&] {
    const std::string text = kernelText(batch, inputs.rows);
    std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    if (!check(cu.cuCtxSetCurrent_(context_), "context") ||
        !check(cu.cuModuleLoadDataEx_(&module, text.c_str(), 2, options.data(), values.data()), "load") ||
        !check(cu.cuModuleGetFunction_(&function, module, "cases"), "function") ||
        !check(cu.cuMemAlloc_(&in, column * std::max<size_t>(inputs.columns.size(), 1)), "memory") ||
        !check(cu.cuMemAlloc_(&out, outBytes), "memory") || !check(cu.cuMemAlloc_(&memory, memoryBytes), "memory") ||
        !check(cu.cuMemsetD8_(out, 0, outBytes), "fill") || !check(cu.cuMemsetD8_(memory, 0, memoryBytes), "fill"))
      return false;
    for (size_t i = 0; i < inputs.columns.size(); ++i)
      if (!check(cu.cuMemcpyHtoD_(in + i * column, inputs.columns[i].data(), column), "copy")) return false;
    std::array<uint8_t, kExtraBytes> extra = extraBytes();
    std::array<void*, 4> arguments = {&in, &out, &memory, &extra};
    if (!check(cu.cuLaunchKernel_(function, inputs.rows / kBlockThreads, 1, 1, kBlockThreads, 1, 1, 0, nullptr,
                                  arguments.data(), nullptr),
               "launch") ||
        !check(cu.cuCtxSynchronize_(), "run"))
      return false;
    results.resize(outBytes / 8);
    return check(cu.cuMemcpyDtoH_(results.data(), out, outBytes), "copy");
  };
  execute();
  for (CUdeviceptr pointer : {in, out, memory})
    if (pointer) cu.cuMemFree_(pointer);
  if (module) cu.cuModuleUnload_(module);
  return error;
}

}  // namespace mulciber::conformance
