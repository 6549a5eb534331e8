// `mulciber doctor`: is everything there that programs need, and if not, what to do.
#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "commands.h"
#include "runtime/vk/instance.h"
#include "terminal.h"
#include "util/environment.h"

namespace mulciber::tool {

namespace {

enum class Verdict { Good, Note, Bad };

struct Finding {
  Verdict verdict;
  const char* subject;
  std::string text;
  std::string remedy;  // empty when there is nothing to do
};

constexpr const char* softwareDriver =
    "on a machine without a GPU, `scripts/run-tests.sh` builds the software driver lavapipe with 32 lanes and uses it; "
    "or "
    "install the distribution's: apt install mesa-vulkan-drivers";

Finding checkLoader() {
  if (void* loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL)) {
    dlclose(loader);
    return {Verdict::Good, "Vulkan loader", "libvulkan.so.1 loads", {}};
  }
  return {Verdict::Bad, "Vulkan loader", "libvulkan.so.1 cannot be loaded", "install it: apt install libvulkan1"};
}

void checkDevices(std::vector<Finding>& findings) {
  const vk::Instance& instance = vk::Instance::get();
  for (const std::string& reason : instance.unusable()) {
    findings.push_back({Verdict::Note, "Vulkan device", reason, "a newer driver may help; the other devices are used"});
  }
  if (instance.devices().empty()) {
    findings.push_back({Verdict::Bad, "Vulkan device",
                        instance.problem().empty() ? "there is none that Mulciber can use" : instance.problem(),
                        std::string("install the GPU's Vulkan driver; ") + softwareDriver});
    return;
  }
  for (const auto& device : instance.devices()) {
    const std::string name = device->properties().deviceName;
    const uint32_t lanes = device->properties11.subgroupSize;
    if (lanes >= 32 || device->properties13.maxSubgroupSize >= 32) {
      findings.push_back({Verdict::Good, "Vulkan device", name, {}});
    } else {
      findings.push_back({Verdict::Note, "Vulkan device",
                          fmt::format("{} has subgroups of {}: kernels with warp operations are refused", name, lanes),
                          device->isCpu() ? softwareDriver : ""});
    }
  }
}

Finding checkLibraries() {
  const std::string folder = libraryFolder();
  for (const char* name : {"libmulciber.so", "libcuda.so.1", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13",
                           "libmulciber_audit.so"}) {
    const std::string path = folder + "/" + name;
    if (folder.empty() || access(path.c_str(), R_OK) != 0) {
      return {Verdict::Bad, "libraries", fmt::format("{} is missing", path), "build or install Mulciber again"};
    }
    // The auditor is for the dynamic linker alone.
    if (std::strcmp(name, "libmulciber_audit.so") == 0) continue;
    if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return {Verdict::Bad, "libraries", fmt::format("{} cannot be loaded: {}", name, dlerror()),
              "build or install Mulciber again"};
    }
  }
  return {Verdict::Good, "libraries", fmt::format("all in {}", folder), {}};
}

std::filesystem::path cacheFolder() {
  const std::string& chosen = util::environment().cacheDirectory;
  if (!chosen.empty()) return chosen;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return std::filesystem::path(xdg) / "mulciber";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home ? home : "/") / ".cache/mulciber";
}

Finding checkCache() {
  const auto folder = cacheFolder();
  if (!util::environment().cache) {
    return {Verdict::Note, "cache", "switched off: every start translates again", "unset MULCIBER_CACHE"};
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0) {
    return {Verdict::Note, "cache", fmt::format("{} is not writable: every start translates again", folder.string()),
            "set MULCIBER_CACHE_DIR to a folder that is"};
  }
  return {Verdict::Good, "cache", folder.string(), {}};
}

Finding checkLibraryPath() {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  const std::string folder = libraryFolder();
  if (path && !folder.empty() && std::string(path).find(folder) != std::string::npos) {
    return {Verdict::Good, "library path", "LD_LIBRARY_PATH has Mulciber's folder", {}};
  }
  return {Verdict::Good, "library path", "not set; `mulciber run` sets it for the program it starts", {}};
}

}  // namespace

int doctor(const DoctorOptions& options) {
  std::vector<Finding> findings;
  findings.push_back(checkLoader());
  if (findings.back().verdict == Verdict::Good) checkDevices(findings);
  findings.push_back(checkLibraries());
  findings.push_back(checkLibraryPath());
  findings.push_back(checkCache());

  bool healthy = true;
  std::string list;
  for (const Finding& finding : findings) {
    const char* word = finding.verdict == Verdict::Good ? "ok" : finding.verdict == Verdict::Note ? "note" : "bad";
    healthy &= finding.verdict != Verdict::Bad;
    if (options.asJson) {
      list +=
          fmt::format("{}\n    {{\"verdict\": \"{}\", \"subject\": {}, \"text\": {}, \"remedy\": {}}}",
                      list.empty() ? "" : ",", word, json(finding.subject), json(finding.text), json(finding.remedy));
      continue;
    }
    const Colour colour = finding.verdict == Verdict::Good   ? Colour::Green
                          : finding.verdict == Verdict::Note ? Colour::Yellow
                                                             : Colour::Red;
    fmt::print("{} {:14} {}\n", coloured(fmt::format("{:4}", word), colour), finding.subject, finding.text);
    if (!finding.remedy.empty()) fmt::print("     {:14} -> {}\n", "", finding.remedy);
  }
  if (options.asJson) fmt::print("{{\n  \"healthy\": {},\n  \"findings\": [{}\n  ]\n}}\n", healthy, list);
  return healthy ? ExitSuccess : ExitFailure;
}

}  // namespace mulciber::tool
