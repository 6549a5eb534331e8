// What the auditor and the ordinary copy both must know of the compilers.
#include "compilers.h"

namespace mulciber::redirect {

bool isCompiler(std::string_view fileName) {
  return fileName.starts_with("libnvrtc.so") || fileName.starts_with("libnvJitLink.so") ||
         fileName.starts_with("libnvfatbin.so");
}

std::string_view plainCompilerName(std::string_view name) {
  if (!name.starts_with("__nvJitLink") && !name.starts_with("__nvFatbin")) return name;
  name.remove_prefix(2);
  return name.substr(0, name.find('_'));
}

std::string compilerHookName(size_t slot, std::string_view plainName) {
  return "mulciber" + std::to_string(slot) + "_" + std::string(plainName);
}

}  // namespace mulciber::redirect
