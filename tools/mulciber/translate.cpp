// `mulciber translate`: PTX in, SPIR-V out.
#include <fmt/format.h>
#include <unistd.h>
#include <spirv-tools/libspirv.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "commands.h"
#include "input.h"
#include "library.h"
#include "mulciber/translator.h"
#include "runtime/core/shader_cache.h"
#include "runtime/fatbin/fatbin.h"
#include "terminal.h"

namespace mulciber::tool {

namespace {

// What the diagnostics hold goes to standard error; false when there is an error among it.
bool report(const Diagnostics& diagnostics) {
  const std::string text = diagnostics.toString(isColourful(STDERR_FILENO));
  if (!text.empty()) fmt::print(stderr, "{}{}", text, text.back() == '\n' ? "" : "\n");
  return !diagnostics.hasErrors();
}

bool write(const std::string& path, const void* data, size_t bytes) {
  if (path == "-") {
    if (std::fwrite(data, 1, bytes, stdout) == bytes) return true;
    throw std::system_error(errno, std::generic_category());
  }
  std::ofstream stream(path, std::ios::binary);
  stream.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  stream.close();
  if (!stream) complain(fmt::format("cannot write '{}'", path));
  return static_cast<bool>(stream);
}

// A kernel's name, or as much of it as the name of a file takes with a hash of all of it.
std::string fileStem(const std::string& kernel) {
  constexpr size_t longest = 240;
  if (kernel.size() <= longest) return kernel;
  const std::string hash = core::ShaderCache::hash(kernel);
  return kernel.substr(0, longest - hash.size() - 1) + "-" + hash;
}

// Where a kernel goes: the file named, or a file of its own in the folder named.
std::string outputPath(const std::string& output, const std::string& kernel, bool asText, bool isOnly) {
  const bool isFolder = !output.empty() && (output.back() == '/' || std::filesystem::is_directory(output));
  if (!output.empty() && !isFolder && isOnly) return output;
  const std::string file = fileStem(kernel) + (asText ? ".spvasm" : ".spv");
  return output.empty() ? file : (std::filesystem::path(output) / file).string();
}

bool store(const Kernel& kernel, const TranslateOptions& options, bool isOnly) {
  if (options.asText) {
    std::string text;
    const spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_3);
    const uint32_t friendly = SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES | SPV_BINARY_TO_TEXT_OPTION_INDENT;
    if (!tools.Disassemble(kernel.spirv, &text, friendly)) {
      complain("the SPIR-V made cannot be disassembled, which is a defect of Mulciber");
      return false;
    }
    if (options.output.empty()) {
      fmt::print("{}", text);
      return true;
    }
    return write(outputPath(options.output, kernel.info.name, true, isOnly), text.data(), text.size());
  }
  return write(outputPath(options.output, kernel.info.name, false, isOnly), kernel.spirv.data(),
               kernel.spirv.size() * 4);
}

// What --dump asks for, and the stages there were.
struct Dump {
  std::string wanted;
  std::vector<std::string> stages;

  bool hasFound() const {
    return wanted.empty() || wanted == "all" || std::ranges::find(stages, wanted) != stages.end();
  }
};

void printStage(void* user, std::string_view stage, std::string_view text) {
  Dump& dump = *static_cast<Dump*>(user);
  if (std::ranges::find(dump.stages, stage) == dump.stages.end()) dump.stages.emplace_back(stage);
  if (dump.wanted == "all") fmt::print("; {}\n", stage);
  if (dump.wanted == "all" || dump.wanted == stage)
    fmt::print("{}{}", text, text.empty() || text.back() != '\n' ? "\n" : "");
}

}  // namespace

std::string describe(const KernelInfo& info) {
  std::string parameters;
  for (const Parameter& parameter : info.parameters) {
    parameters += fmt::format("{}{{\"offset\": {}, \"size\": {}, \"alignment\": {}}}", parameters.empty() ? "" : ", ",
                              parameter.offset, parameter.size, parameter.alignment);
  }
  return fmt::format(
      "  {{\"name\": {}, \"parameterBytes\": {}, \"parameters\": [{}], \"staticSharedBytes\": {}, "
      "\"dynamicSharedOffset\": {}, \"localBytes\": {}, "
      "\"constantBytes\": {}, \"maxThreads\": {}, \"requiredBlock\": [{}, {}, {}], \"usesPrintf\": {}, \"usesHeap\": "
      "{}, "
      "\"usesWarpOperations\": {}}}",
      json(info.name), info.parameterBytes, parameters, info.staticSharedBytes, info.dynamicSharedOffset,
      info.localBytes, info.constantBytes, info.maxThreads, info.requiredBlock[0], info.requiredBlock[1],
      info.requiredBlock[2], info.usesPrintf, info.usesHeap, info.usesWarpOperations);
}

int translate(const TranslateOptions& options) {
  std::vector<std::string> names = options.profiles;
  if (names.empty() && !options.library.empty()) names = {"nvidia", "lavapipe", "portable"};
  const auto profiles = loadProfiles(names, /*portableUsesMore=*/false);
  if (!profiles) return ExitFailure;
  const TargetProfile& profile = profiles->front();
  if (profiles->size() > 1 && options.library.empty()) {
    complain("several profiles, and 'portable', are for --library");
    return ExitUsage;
  }
  fatbin::Error error;
  const std::string input = options.input == "-" ? "/dev/stdin" : options.input;
  const auto images = fatbin::readFile(input, profile.computeCapability, error);
  if (!images) {
    const bool namesFile = error.code == fatbin::Error::Code::FileNotFound;
    complain(namesFile ? error.message : fmt::format("{}: {}", options.input, error.message));
    return ExitFailure;
  }
  std::vector<ModulePtr> modules;
  size_t count = 0;
  bool failed = false;
  for (const fatbin::PtxModules& image : *images) {
    Diagnostics diagnostics;
    ModulePtr module = parseImage(image, options.input, diagnostics);
    if (!report(diagnostics) || !module) return ExitFailure;
    count += kernelNames(*module).size();
    modules.push_back(std::move(module));
  }
  Dump dump{options.dump, {}};
  mulciber::TranslateOptions translation;
  translation.debugInfo = options.debugInfo;
  translation.exactDenormals = options.exactDenormals;
  translation.inlineLimit = options.inlineLimit;
  if (!dump.wanted.empty()) {
    translation.dump = printStage;
    translation.dumpUser = &dump;
  }
  if (!options.library.empty()) {
    if (modules.size() != 1) {
      complain(fmt::format("{} holds {} modules, and a library is made of one", options.input, modules.size()));
      return ExitFailure;
    }
    Diagnostics diagnostics;
    int status = writeLibrary(options, *modules.front(), *profiles, translation, diagnostics);
    if (diagnostics.hasErrors() && std::ranges::find(names, "portable") != names.end()) {
      diagnostics = {};  // what the module needs, not every device has
      status = writeLibrary(options, *modules.front(), *loadProfiles(names, true), translation, diagnostics);
    }
    return report(diagnostics) ? status : ExitFailure;
  }
  const bool isOnly = count == 1 || !options.kernel.empty();
  if (!isOnly && !options.output.empty()) {
    std::error_code made;
    std::filesystem::create_directories(options.output, made);
    if (!std::filesystem::is_directory(options.output)) {
      complain(fmt::format("there are {} kernels: give -o a folder, or choose one with --kernel", count));
      return ExitFailure;
    }
  }
  bool found = false;
  std::string descriptions;
  for (const ModulePtr& module : modules) {
    for (const std::string& name : kernelNames(*module)) {
      if (!options.kernel.empty() && name != options.kernel) continue;
      found = true;
      Diagnostics diagnostics;
      const auto kernel = mulciber::translate(*module, name, profile, translation, diagnostics);
      failed |= !report(diagnostics) || !kernel;
      if (!kernel) continue;
      if (options.asJson) descriptions += (descriptions.empty() ? "" : ",\n") + describe(kernel->info);
      // Asked only to show something, do not leave files behind.
      const bool onlyShows = options.output.empty() && (options.asJson || !options.dump.empty()) && !options.asText;
      if (!onlyShows) failed |= !store(*kernel, options, isOnly);
    }
  }
  if (!found) {
    complain(options.kernel.empty() ? fmt::format("{} holds no kernel", options.input)
                                    : fmt::format("{} holds no kernel named '{}'", options.input, options.kernel));
    return ExitFailure;
  }
  if (!failed && !dump.hasFound()) {
    complain(
        fmt::format("there is no stage '{}'; the stages are {}, and all", dump.wanted, fmt::join(dump.stages, ", ")));
    return ExitFailure;
  }
  if (options.asJson) fmt::print("[\n{}\n]\n", descriptions);
  return failed ? ExitFailure : ExitSuccess;
}

}  // namespace mulciber::tool
