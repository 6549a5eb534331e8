#include "input.h"

#include <fmt/core.h>

#include "mulciber/offline.h"
#include "terminal.h"
#include "util/file.h"

namespace mulciber::tool {

std::optional<TargetProfile> loadProfile(const std::string& name) {
  if (name.empty()) return *builtinProfile("vulkan1.3");
  if (const TargetProfile* builtin = builtinProfile(name)) return *builtin;
  const auto text = util::readFile(name);
  if (!text) {
    complain(fmt::format(
        "'{}' is neither a known profile (vulkan1.3, lavapipe, nvidia; portable for --library) nor a readable file",
        name));
    return std::nullopt;
  }
  std::string error;
  auto profile = profileFromJson(*text, error);
  if (!profile) complain(fmt::format("{}: {}", name, error));
  return profile;
}

std::optional<std::vector<TargetProfile>> loadProfiles(const std::vector<std::string>& names, bool portableUsesMore) {
  std::vector<TargetProfile> profiles;
  for (const std::string& name : names) {
    if (name == "portable") {
      const auto all = portableProfiles(portableUsesMore);
      profiles.insert(profiles.end(), all.begin(), all.end());
      continue;
    }
    const auto profile = loadProfile(name);
    if (!profile) return std::nullopt;
    profiles.push_back(*profile);
  }
  if (profiles.empty()) profiles.push_back(*loadProfile({}));
  return profiles;
}

ModulePtr parseImage(const fatbin::PtxModules& modules, const std::string& path, Diagnostics& diagnostics) {
  std::vector<ModulePtr> parsed;
  std::vector<const ParsedModule*> pointers;
  for (const fatbin::PtxModule& module : modules) {
    const std::string& name = module.name.empty() ? path : module.name;
    parsed.push_back(parseModule(module.text, name, diagnostics, module.options));
    pointers.push_back(parsed.back().get());
  }
  if (diagnostics.hasErrors()) return nullptr;
  ModulePtr result = parsed.size() == 1 ? std::move(parsed.front()) : linkModules(pointers, diagnostics);
  return diagnostics.hasErrors() ? nullptr : std::move(result);
}

}  // namespace mulciber::tool
