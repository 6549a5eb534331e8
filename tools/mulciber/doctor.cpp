// `mulciber doctor`: is everything there that programs need, and if not, what to do.
#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "commands.h"
#include "findings.h"
#include "installation.h"
#include "runtime/core/shader_cache.h"
#include "runtime/vk/device.h"
#include "runtime/vk/instance.h"
#include "terminal.h"
#include "util/environment.h"

namespace mulciber::tool {

namespace {

constexpr const char* softwareDriver =
    "on a machine without a GPU, install the software driver lavapipe: apt install mesa-vulkan-drivers; or, for warp "
    "operations too, build it with 32 lanes: third_party/lavapipe/build.sh";

Finding checkLoader() {
  if (void* loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL)) {
    dlclose(loader);
    return {Verdict::Good, "Vulkan loader", "libvulkan.so.1 loads", {}};
  }
  return {Verdict::Bad, "Vulkan loader", "libvulkan.so.1 cannot be loaded", "install it: apt install libvulkan1"};
}

// The work-arounds that are on for a device, as a list of ids or as JSON with all that is known of them.
std::string workaroundIds(const vk::Device& device) {
  std::string ids;
  for (size_t i = 0; i < vk::workaroundList().size(); ++i)
    if (device.workarounds().has(static_cast<vk::Workaround>(i)))
      ids += fmt::format("{}{}", ids.empty() ? "" : ", ", vk::workaroundList()[i].id);
  return ids;
}

std::string workaroundsAsJson(const vk::Device& device) {
  std::string list;
  for (size_t i = 0; i < vk::workaroundList().size(); ++i) {
    const vk::WorkaroundInfo& info = vk::workaroundList()[i];
    list += fmt::format(
        "{}\n    {{\"device\": {}, \"id\": {}, \"on\": {}, \"seen\": {}, \"fault\": {}, \"remedy\": {}, \"cost\": {}, "
        "\"test\": {}}}",
        i == 0 ? "" : ",", json(device.physical().properties().deviceName), json(info.id),
        device.workarounds().has(static_cast<vk::Workaround>(i)), json(info.seen), json(info.fault), json(info.remedy),
        json(info.cost), json(info.test));
  }
  return list;
}

void checkDevices(std::vector<Finding>& findings, std::string& workarounds) {
  const vk::Instance& instance = vk::Instance::get();
  for (const std::string& reason : instance.unusable()) {
    const bool isChoice = reason.find("MULCIBER_DEVICE") != std::string::npos;
    findings.push_back(
        {Verdict::Note, "Vulkan device", reason, isChoice ? "unset MULCIBER_DEVICE" : "a newer driver may help"});
  }
  if (instance.devices().empty()) {
    findings.push_back({Verdict::Bad, "Vulkan device",
                        instance.problem().empty() ? "there is none that Mulciber can use" : instance.problem(),
                        std::string("install the GPU's Vulkan driver; ") + softwareDriver});
    return;
  }
  for (const auto& device : instance.devices()) {
    const std::string name = device->properties().deviceName;
    std::shared_ptr<vk::Device> opened;
    if (vk::Device::create(*device, nullptr, opened) != vk::Status::Ok) {
      findings.push_back({Verdict::Bad, "Vulkan device", fmt::format("{} cannot be opened", name),
                          "a newer driver may help; MULCIBER_LOG=debug says more"});
    } else if (opened->profile().hasWarps()) {
      findings.push_back({Verdict::Good, "Vulkan device", name, {}});
    } else {
      findings.push_back({Verdict::Note, "Vulkan device",
                          fmt::format("{} has no subgroups of 32 lanes as CUDA's warps are ({} lanes): kernels with "
                                      "warp operations run slowly",
                                      name, device->properties11.subgroupSize),
                          device->isCpu() ? softwareDriver : ""});
    }
    if (!opened) continue;
    findings.push_back({Verdict::Good, "work-arounds", workaroundIds(*opened), {}});
    workarounds += (workarounds.empty() ? "" : ",") + workaroundsAsJson(*opened);
  }
}

Finding checkLibraries() {
  const std::string folder = libraryFolder();
  if (folder.empty()) {
    return {Verdict::Bad, "libraries", fmt::format("{} is missing", auditLibrary), "build or install Mulciber again"};
  }
  for (const char* name :
       {"libcuda.so.1", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13", "libnvidia-ml.so.1", auditLibrary}) {
    const std::string path = folder + "/" + name;
    if (access(path.c_str(), R_OK) != 0) {
      return {Verdict::Bad, "libraries", fmt::format("{} is missing", path), "build or install Mulciber again"};
    }
    // The auditor is for the dynamic linker alone.
    if (std::strcmp(name, auditLibrary) == 0) continue;
    if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return {Verdict::Bad, "libraries", fmt::format("{} cannot be loaded: {}", name, dlerror()),
              "build or install Mulciber again"};
    }
  }
  const LinkerPath named = linkerPath(folder);
  if (!named.problem.empty()) return {Verdict::Bad, "libraries", named.problem, linkerPathAdvice};
  const std::string link = named.path == folder ? "" : fmt::format(", which programs reach by {}", named.path);
  return {Verdict::Good, "libraries", fmt::format("all in {}{}", folder, link), {}};
}

Finding checkCache() {
  const auto folder = core::ShaderCache::defaultFolder();
  const util::Environment& environment = util::environment();
  if (folder.empty() && environment.cache && !environment.cudaCacheDisable) {
    return {Verdict::Note, "cache", "there is no folder for it, because HOME is not set: every start translates again",
            "set HOME, XDG_CACHE_HOME or MULCIBER_CACHE_DIR"};
  }
  if (folder.empty()) {
    return {Verdict::Note, "cache", "switched off: every start translates again",
            "unset MULCIBER_CACHE and CUDA_CACHE_DISABLE"};
  }
  const std::string problem = core::ShaderCache::makeFolder(folder);
  if (!problem.empty()) {
    return {Verdict::Note, "cache",
            fmt::format("{} cannot be used ({}): every start translates again", folder.string(), problem),
            "set MULCIBER_CACHE_DIR to another folder"};
  }
  return {Verdict::Good, "cache", folder.string(), {}};
}

Finding checkLibraryPath() {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  const std::string folder = linkerPath(libraryFolder()).path;
  if (path && !folder.empty() && std::string(path).find(folder) != std::string::npos) {
    return {Verdict::Good, "library path", "LD_LIBRARY_PATH has Mulciber's folder", {}};
  }
  return {Verdict::Good, "library path", "without Mulciber's folder; `mulciber run` adds it for the program", {}};
}

}  // namespace

int doctor(const DoctorOptions& options) {
  std::vector<Finding> findings;
  std::string workarounds;  // as JSON
  findings.push_back(checkLoader());
  if (findings.back().verdict == Verdict::Good) checkDevices(findings, workarounds);
  findings.push_back(checkLibraries());
  findings.push_back(checkLibraryPath());
  findings.push_back(checkCache());

  const bool healthy = !hasBad(findings);
  if (options.asJson)
    fmt::print("{{\n  \"healthy\": {},\n  \"findings\": {},\n  \"workarounds\": [{}\n  ]\n}}\n", healthy,
               toJson(findings), workarounds);
  else print(findings);
  return healthy ? ExitSuccess : ExitFailure;
}

}  // namespace mulciber::tool
