// `mulciber translate --library`: a module's kernels for a program that loads them without the translator.
#include "library.h"

#include <fmt/format.h>

#include <filesystem>

#include "commands.h"
#include "input.h"
#include "runtime/core/kernel_archive.h"
#include "runtime/fatbin/fatbin.h"
#include "terminal.h"
#include "util/file.h"

namespace mulciber::tool {

namespace {

std::string_view spelled(ParameterKind kind) {
  return kind == ParameterKind::Integer ? "integer" : kind == ParameterKind::Float ? "float" : "bytes";
}

std::string reflectionOf(const Library& library, const std::vector<TargetProfile>& profiles, const ModuleData& data) {
  std::string kernels, variables, names;
  for (const LibraryKernel& kernel : library.kernels) {
    std::string kinds;
    for (const ParameterKind kind : kernel.kinds)
      kinds += fmt::format("{}\"{}\"", kinds.empty() ? "" : ", ", spelled(kind));
    kernels += fmt::format("{}\n  {{\"identifier\": {}, \"kinds\": [{}], \"kernel\":\n{}}}", kernels.empty() ? "" : ",",
                           json(kernel.identifier), kinds, describe(kernel.info));
  }
  for (const ModuleData::Symbol& symbol : data.symbols)
    variables +=
        fmt::format("{}\n  {{\"name\": {}, \"bytes\": {}, \"isConstant\": {}, \"isManaged\": {}}}",
                    variables.empty() ? "" : ",", json(symbol.name), symbol.size, symbol.isConstant, symbol.isManaged);
  for (const TargetProfile& profile : profiles)
    if (const std::string name = json(profile.name); names.find(name) == std::string::npos)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  return fmt::format("{{\n\"translator\": {},\n\"profiles\": [{}],\n\"kernels\": [{}],\n\"variables\": [{}]\n}}\n",
                     translatorVersion(), names, kernels, variables);
}

bool write(const std::string& path, std::string_view contents) {
  const bool isWritten = util::writeFile(path, contents);
  if (!isWritten) complain(fmt::format("cannot write '{}'", path));
  return isWritten;
}

}  // namespace

int writeLibrary(const TranslateOptions& options, const ParsedModule& module,
                 const std::vector<TargetProfile>& profiles, const mulciber::TranslateOptions& translation,
                 Diagnostics& diagnostics) {
  const std::vector<uint8_t> bytes = core::KernelArchive::write(module, profiles, translation, diagnostics);
  if (bytes.empty()) return ExitFailure;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::unique_ptr<const core::KernelArchive> archive;
  std::string problem;
  if (core::KernelArchive::read(text, profiles.front(), archive, problem) != core::Error::Success) {
    complain(fmt::format("{}, which is a defect of Mulciber", problem));
    return ExitFailure;
  }
  const std::filesystem::path input(options.input), prefix(options.library);
  Library library{identifierFrom(prefix.filename().string()), input.filename().string(), {}};
  for (const std::string& name : kernelNames(module)) {
    Kernel kernel;
    (void)archive->kernel(name, 0, kernel);  // it has been written
    kernel.info.name = name;
    library.kernels.push_back({name, {}, {}, std::move(kernel.info), parameterKinds(module, name)});
  }
  nameKernels(library);
  const std::string source = embed(library, bytes);
  const bool isWritten = write(options.library + ".kernels", text) &&
                         write(options.library + ".h", headerOf(library)) && write(options.library + ".c", source) &&
                         write(options.library + ".json", reflectionOf(library, profiles, archive->index().data));
  return isWritten ? ExitSuccess : ExitFailure;
}

}  // namespace mulciber::tool
