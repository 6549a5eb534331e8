// What commands that translate read.
#pragma once

#include <optional>
#include <string>

#include "mulciber/translator.h"
#include "runtime/fatbin/fatbin.h"

namespace mulciber::tool {

// A profile by its name or from a JSON file; complains when it is neither.
std::optional<TargetProfile> loadProfile(const std::string& name);

// The modules of one image, linked together when there are several; null when the diagnostics have errors. `path` names
// modules that do not say of which source they are.
ModulePtr parseImage(const fatbin::PtxModules& modules, const std::string& path, Diagnostics& diagnostics);

}  // namespace mulciber::tool
