#include "engine/cuda_library.h"

#include <dlfcn.h>

#include <filesystem>

namespace mulciber::test {

void* findInCuda(const char* name, const char* library) {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(mulciberCreateContext), &info);
  const auto path = std::filesystem::path(info.dli_fname).parent_path() / library;
  void* const opened = dlopen(path.c_str(), RTLD_NOW);
  EXPECT_NE(opened, nullptr) << dlerror();
  void* const found = dlsym(opened, name);
  EXPECT_NE(found, nullptr) << name;
  return found;
}

}  // namespace mulciber::test
