// What was found in a large file, kept on disk beside the cache of kernels: its next start need not search it again.
// Counts for that very file alone, unchanged since, and for code that is still the same.
#pragma once

#include <optional>

#include "runtime_inside.h"

namespace mulciber::redirect {

std::optional<RuntimeInside> knownRuntime(const char* path, const fatbin::Elf& elf, fatbin::Bytes file);
void rememberRuntime(const char* path, const fatbin::Elf& elf, fatbin::Bytes file, const RuntimeInside& inside);

}  // namespace mulciber::redirect
