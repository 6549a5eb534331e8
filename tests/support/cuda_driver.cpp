#include "support/cuda_driver.h"

#include <dlfcn.h>

#include <array>
#include <cctype>
#include <fstream>

namespace mulciber::test {
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

std::string CudaDriver::nameOf(CUresult result) const {
  const char* text = nullptr;
  cuGetErrorName_(result, &text);
  return text ? text : "error " + std::to_string(result);
}

std::unique_ptr<CudaDriver> CudaDriver::open(const std::string& library, std::string& error) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    error = dlerror();
    return nullptr;
  }
  auto driver = std::make_unique<CudaDriver>();
  CudaDriver& cu = *driver;
#define NAME_OF(function) #function
#define EXPORTED_NAME(function) NAME_OF(function)
#define LOAD(function)                                                                              \
  cu.function##_ = reinterpret_cast<decltype(&::function)>(dlsym(handle, EXPORTED_NAME(function))); \
  if (!cu.function##_) {                                                                            \
    error = library + " has no " EXPORTED_NAME(function);                                           \
    return nullptr;                                                                                 \
  }
  MULCIBER_CUDA_DRIVER_FUNCTIONS(LOAD)
#undef LOAD
  CUdevice id = 0;
  int version = 0;
  std::array<char, 256> name{};
  for (CUresult result : {cu.cuInit_(0), cu.cuDeviceGet_(&id, 0), cu.cuDeviceGetName_(name.data(), name.size(), id),
                          cu.cuDriverGetVersion_(&version), cu.cuDevicePrimaryCtxRetain_(&cu.context, id)})
    if (result != CUDA_SUCCESS) {
      error = cu.nameOf(result);
      return nullptr;
    }
  cu.device = name.data();
  cu.version = driverVersion(version);
  return driver;
}

}  // namespace mulciber::test
