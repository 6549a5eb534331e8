// `mulciber check`: what a program needs, and what of it is not there, without starting it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "called_functions.h"
#include "commands.h"
#include "device_code.h"
#include "findings.h"
#include "input.h"
#include "installation.h"
#include "linked_libraries.h"
#include "mapped_file.h"
#include "runtime/core/platform.h"
#include "runtime/vk/device.h"
#include "terminal.h"

namespace mulciber::tool {

namespace {

using fatbin::Elf;
using redirect::MappedFile;
using redirect::RuntimeInside;

constexpr const char* rebuildWithPtx = "build it with PTX: -gencode arch=compute_75,code=compute_75, for example";
constexpr const char* rebuildWithShared = "build it with -cudart shared, or do not strip it";

// The device's, which says what can be translated for it.
std::optional<TargetProfile> chooseProfile(const std::string& name, std::vector<Finding>& findings) {
  if (!name.empty()) return loadProfile(name);
  std::shared_ptr<vk::Device> device;
  core::Platform& platform = core::Platform::get();
  if (platform.initialize() == core::Error::Success && !platform.devices().empty() &&
      platform.devices().front()->open(device) == core::Error::Success) {
    return device->profile();
  }
  findings.push_back({Verdict::Note, "device", "there is none: kernels were translated for any Vulkan 1.3",
                      "`mulciber doctor` says what to do"});
  return *builtinProfile("vulkan1.3");
}

// How many kernels there are, and why some cannot be translated.
struct Kernels {
  struct Refusal {
    size_t count = 0;
    std::string example;
  };
  size_t count = 0;
  std::map<std::string, Refusal> refusals;  // by reason

  void refuse(const std::string& reason, const std::string& kernel, size_t times) {
    Refusal& refusal = refusals[reason];
    if (refusal.count == 0 || kernel < refusal.example) refusal.example = kernel;  // the same whichever thread is first
    refusal.count += times;
  }
};

std::string firstError(const Diagnostics& diagnostics) {
  for (const Diagnostics::Message& message : diagnostics.messages()) {
    if (message.severity == Diagnostics::Severity::Error) return message.text;
  }
  return "no reason was given, which is a defect of Mulciber";
}

// Of how many kernels the text speaks, where it cannot be parsed.
size_t entriesIn(const fatbin::PtxModules& image) {
  constexpr std::string_view entry = ".entry";
  size_t count = 0;
  for (const fatbin::PtxModule& module : image) {
    for (size_t at = 0; (at = module.text.find(entry, at)) != std::string::npos; at += entry.size()) ++count;
  }
  return count;
}

void translateImage(const fatbin::PtxModules& image, const std::string& path, const TargetProfile& profile,
                    Kernels& kernels, std::mutex& mutex) {
  Diagnostics parsing;
  const ModulePtr module = parseImage(image, path, parsing);
  if (!module) {
    const std::lock_guard lock(mutex);
    const size_t count = entriesIn(image);
    kernels.count += count;
    kernels.refuse(firstError(parsing), image.front().name.empty() ? path : image.front().name,
                   std::max<size_t>(count, 1));
    return;
  }
  for (const std::string& name : kernelNames(*module)) {
    Diagnostics diagnostics;
    const auto kernel = mulciber::translate(*module, name, profile, {}, diagnostics);
    const std::lock_guard lock(mutex);
    ++kernels.count;
    if (!kernel) kernels.refuse(firstError(diagnostics), name, 1);
  }
}

Kernels translateAll(const std::vector<fatbin::PtxModules>& images, const std::string& path,
                     const TargetProfile& profile) {
  Kernels kernels;
  std::mutex mutex;
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads;
  const size_t count = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, images.size());
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      for (size_t at; (at = next++) < images.size();) translateImage(images[at], path, profile, kernels, mutex);
    });
  }
  threads.clear();
  return kernels;
}

void checkKernels(const std::vector<fatbin::PtxModules>& images, const std::string& path, const TargetProfile& profile,
                  std::vector<Finding>& findings) {
  const Kernels kernels = translateAll(images, path, profile);
  size_t refused = 0;
  for (const auto& [reason, refusal] : kernels.refusals) refused += refusal.count;
  if (refused < kernels.count || kernels.refusals.empty()) {
    findings.push_back({Verdict::Good,
                        "kernels",
                        fmt::format("{} of {} can be translated", kernels.count - refused, kernels.count),
                        {}});
  }
  for (const auto& [reason, refusal] : kernels.refusals) {
    findings.push_back({Verdict::Bad,
                        "kernels",
                        fmt::format("{} cannot be translated, such as {}: {}", refusal.count, refusal.example, reason),
                        {}});
  }
}

std::string describe(const DeviceCode& code) {
  std::string text;
  if (code.ptxModules != 0) {
    text = fmt::format("{} module{} with PTX for {}", code.ptxModules, code.ptxModules == 1 ? "" : "s",
                       fmt::join(code.ptxTargets, ", "));
  }
  if (code.functionsWithoutPtx != 0) {
    text += fmt::format("{}{} function{} without PTX, such as {}, for {} alone", text.empty() ? "" : ", ",
                        code.functionsWithoutPtx, code.functionsWithoutPtx == 1 ? "" : "s", code.example,
                        fmt::join(code.otherTargets, ", "));
  }
  return text;
}

std::string describe(const RuntimeInside& runtime) {
  return fmt::format("CUDA {}'s static runtime, whose {} functions are known {}", redirect::majorOf(runtime.functions),
                     runtime.functions.size(), runtime.hasSymbols ? "by their symbols" : "without symbols");
}

std::string list(const std::set<std::string_view>& names) {
  constexpr size_t shown = 8;
  std::vector<std::string_view> first(names.begin(), names.end());
  if (first.size() <= shown) return fmt::format("{}", fmt::join(first, ", "));
  first.resize(shown);
  return fmt::format("{} and {} more", fmt::join(first, ", "), names.size() - shown);
}

bool isReplaced(const std::string& library) {
  return library == "libcuda.so.1" || library == "libnvidia-ml.so.1" || library.starts_with("libcudart.so.") ||
         library.starts_with("libcufft.so.");
}

// What can be said of a library as far as CUDA is concerned; nothing when it is none of CUDA's and has no device code.
void checkLibrary(const LinkedLibrary& library, const std::string& folder, std::vector<Finding>& findings) {
  if (isReplaced(library.name)) {
    // A library path of the program's own may lead to another of that name. `mulciber run` takes ours before it.
    const bool isOurs = access((folder + "/" + library.name).c_str(), R_OK) == 0;
    if (isOurs) findings.push_back({Verdict::Good, "library", library.name + ": Mulciber's", {}});
    else
      findings.push_back({Verdict::Bad, "library", library.name + ": Mulciber has none of this version",
                          "build the program with CUDA 11 to 13"});
    return;
  }
  if (library.path.empty()) {
    findings.push_back(
        {Verdict::Bad, "library", library.name + " is not found", "install it, or name its folder in LD_LIBRARY_PATH"});
    return;
  }
  const MappedFile file(library.path.c_str());
  const auto elf = Elf::open(file.bytes());
  if (!elf || library.path.starts_with(folder)) return;
  const DeviceCode code = deviceCodeOf(*elf);
  const RuntimeInside runtime = redirect::runtimeInside(*elf);
  std::string text = library.path;
  if (code.isThere()) text += "; " + describe(code);
  if (!runtime.functions.empty()) text += "; " + describe(runtime);
  if (!runtime.problem.empty()) {
    findings.push_back({Verdict::Bad, "library",
                        fmt::format("{}; its static CUDA runtime is not known: {}", text, runtime.problem),
                        rebuildWithShared});
  } else if (!code.problem.empty()) {
    findings.push_back({Verdict::Bad, "library", text + "; " + code.problem, {}});
  } else if (code.functionsWithoutPtx != 0) {
    findings.push_back({Verdict::Note, "library", text, "kernels without PTX are refused when they are launched"});
  } else if (code.isThere() || !runtime.functions.empty()) {
    findings.push_back({Verdict::Good, "library", text, {}});
  }
}

void checkElf(const Elf& elf, const std::string& path, std::vector<Finding>& findings) {
  if (elf.machine() != Elf::machineX86_64) {
    findings.push_back({Verdict::Bad, "program", "not a 64-bit x86 program, the only kind supported", {}});
    return;
  }
  const RuntimeInside runtime = redirect::runtimeInside(elf);
  if (!runtime.problem.empty()) {
    findings.push_back(
        {Verdict::Bad, "runtime", "its static CUDA runtime is not known: " + runtime.problem, rebuildWithShared});
  } else if (!runtime.functions.empty()) {
    findings.push_back({Verdict::Good, "runtime", describe(runtime), {}});
  }
  const CalledFunctions called = calledFunctions(elf, runtime);
  if (!called.missing.empty()) {
    findings.push_back({Verdict::Note, "functions",
                        fmt::format("{} of {} called are not implemented: {}", called.missing.size(), called.all.size(),
                                    list(called.missing)),
                        "they answer that they are not supported; docs/api-coverage.md says why"});
  } else if (!called.all.empty()) {
    findings.push_back({Verdict::Good, "functions", fmt::format("{} called, all implemented", called.all.size()), {}});
  }
  const LinkerPath own = linkerPath(libraryFolder());
  if (!own.problem.empty()) {
    findings.push_back({Verdict::Bad, "libraries", own.problem, linkerPathAdvice});
    return;
  }
  const auto libraries = elf.section(".dynamic") ? linkedLibraries(path, own.path) : std::nullopt;
  if (!libraries) {
    findings.push_back({Verdict::Bad, "program",
                        "the dynamic linker does not load it, so no library can be put in front of it",
                        "link it dynamically"});
    return;
  }
  for (const LinkedLibrary& library : *libraries) checkLibrary(library, own.path, findings);
}

}  // namespace

int check(const CheckOptions& options) {
  const MappedFile file(options.program.c_str());
  if (file.bytes().empty()) {
    complain(fmt::format("'{}' cannot be read, or holds nothing", options.program));
    return ExitFailure;
  }
  std::vector<Finding> findings;
  const auto profile = chooseProfile(options.profile, findings);
  if (!profile) return ExitFailure;
  const auto elf = Elf::open(file.bytes());
  const DeviceCode code = elf ? deviceCodeOf(*elf) : DeviceCode();
  if (!code.problem.empty()) findings.push_back({Verdict::Bad, "device code", code.problem, {}});
  else if (code.functionsWithoutPtx != 0)
    findings.push_back({Verdict::Bad, "device code", describe(code), rebuildWithPtx});
  else if (code.isThere()) findings.push_back({Verdict::Good, "device code", describe(code), {}});
  else if (elf) findings.push_back({Verdict::Good, "device code", "none of its own", {}});
  if (!elf || (code.registeredPtxModules != 0 && code.problem.empty())) {
    fatbin::Error error;
    const auto images = fatbin::readFile(file.bytes(), profile->computeCapability, error);
    if (!images) {
      complain(fmt::format("{}: {}", options.program, error.message));
      return ExitFailure;
    }
    checkKernels(*images, options.program, *profile, findings);
  }
  if (elf) checkElf(*elf, options.program, findings);
  const bool runs = !hasBad(findings);
  if (options.asJson) fmt::print("{{\n  \"runs\": {},\n  \"findings\": {}\n}}\n", runs, toJson(findings));
  else print(findings);
  return runs ? ExitSuccess : ExitFailure;
}

}  // namespace mulciber::tool
