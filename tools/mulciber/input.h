// What commands that translate read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mulciber/translator.h"
#include "runtime/fatbin/fatbin.h"

namespace mulciber::tool {

// A profile by its name or from a JSON file; complains when it is neither.
std::optional<TargetProfile> loadProfile(const std::string& name);
// Several, or the one that is taken without names. "portable" stands for all that portableProfiles() gives.
std::optional<std::vector<TargetProfile>> loadProfiles(const std::vector<std::string>& names, bool portableUsesMore);

// The modules of one image, linked together when there are several; null when the diagnostics have errors. `path` names
// modules that do not say of which source they are.
ModulePtr parseImage(const fatbin::PtxModules& modules, const std::string& path, Diagnostics& diagnostics);

}  // namespace mulciber::tool
