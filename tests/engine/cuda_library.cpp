#include "engine/cuda_library.h"

#include <dlfcn.h>

#include <filesystem>

namespace mulciber::test {

void* findInCuda(const char* name) {
  static void* const library = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(mulciberCreateContext), &info);
    const auto path = std::filesystem::path(info.dli_fname).parent_path() / "libcuda.so.1";
    return dlopen(path.c_str(), RTLD_NOW);
  }();
  EXPECT_NE(library, nullptr) << dlerror();
  void* const found = dlsym(library, name);
  EXPECT_NE(found, nullptr) << name;
  return found;
}

}  // namespace mulciber::test
