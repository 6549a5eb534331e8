#include "called_functions.h"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <unordered_map>

#include "runtime_names.h"

namespace mulciber::tool {

namespace {

using fatbin::Elf;

struct MissingFunction {
  std::string_view library, name;
};
constexpr MissingFunction missingFunctions[] = {
#include "missing_functions.inc"
};

bool isMissing(std::string_view library, std::string_view name) {
  return std::ranges::any_of(missingFunctions, [&](const MissingFunction& function) {
    return function.name == name && function.library.starts_with(library);
  });
}

std::string runtimeLibrary(uint32_t major) { return "libcudart.so." + std::to_string(major); }

// cuMemAlloc, and not cublasCreate.
bool isDriverName(std::string_view name) {
  return name.size() > 2 && name.starts_with("cu") && std::isupper(static_cast<unsigned char>(name[2]));
}

// The shared runtime whose functions the object imports: the version that its symbols carry is that of a library among
// the names in its dynamic section.
std::string sharedRuntime(const Elf& elf) {
  constexpr std::string_view prefix = "libcudart.so.";
  const auto dynamic = elf.section(".dynamic");
  const auto names = dynamic ? elf.section(dynamic->link) : std::nullopt;
  if (!names) return {};
  Elf64_Dyn entry;
  for (uint64_t at = 0; fatbin::readAt(dynamic->data, at, entry) && entry.d_tag != DT_NULL; at += sizeof(entry)) {
    if (entry.d_tag != DT_NEEDED || entry.d_un.d_val >= names->data.size()) continue;
    const std::string_view rest(reinterpret_cast<const char*>(names->data.data()) + entry.d_un.d_val,
                                names->data.size() - entry.d_un.d_val);
    if (rest.starts_with(prefix)) return std::string(rest.substr(0, rest.find('\0')));
  }
  return {};
}

void addImported(const Elf& elf, CalledFunctions& called) {
  const std::string runtime = sharedRuntime(elf);
  elf.forEachSymbol(".dynsym", [&](const Elf::Symbol& symbol) {
    if (symbol.isDefined) return;
    const bool isRuntime = !runtime.empty() && redirect::findRuntimeName(symbol.name);
    const bool isTransform = symbol.name.starts_with("cufft");
    if (!isRuntime && !isTransform && !isDriverName(symbol.name)) return;
    called.all.insert(symbol.name);
    if (isMissing(isRuntime ? runtime : isTransform ? "libcufft.so" : "libcuda.so.1", symbol.name))
      called.missing.insert(symbol.name);
  });
}

// Direct calls and jumps from outside of the runtime to its functions.
void addInside(const Elf& elf, const redirect::RuntimeInside& runtime, CalledFunctions& called) {
  constexpr std::byte callCode{0xE8}, jumpCode{0xE9};
  if (runtime.functions.empty()) return;
  std::unordered_map<uint64_t, std::string_view> names;
  uint64_t first = UINT64_MAX, last = 0;
  for (const redirect::RuntimeFunction& function : runtime.functions) {
    names.emplace(function.address, function.name);
    first = std::min(first, function.address);
    last = std::max(last, function.address + function.size);
  }
  const std::string library = runtimeLibrary(redirect::majorOf(runtime.functions));
  for (uint32_t i = 1; i < elf.sectionCount(); ++i) {
    const auto section = elf.section(i);
    if (!section || !(section->flags & SHF_EXECINSTR)) continue;
    int32_t distance;
    for (uint64_t at = 0; fatbin::readAt(section->data, at + 1, distance); ++at) {
      if (section->data[at] != callCode && section->data[at] != jumpCode) continue;
      const uint64_t from = section->address + at;
      const auto found = names.find(from + 5 + static_cast<uint64_t>(int64_t{distance}));
      if (found == names.end() || (from >= first && from < last)) continue;
      called.all.insert(found->second);
      if (isMissing(library, found->second)) called.missing.insert(found->second);
    }
  }
}

}  // namespace

CalledFunctions calledFunctions(const Elf& elf, const redirect::RuntimeInside& runtime) {
  CalledFunctions called;
  addImported(elf, called);
  addInside(elf, runtime, called);
  return called;
}

}  // namespace mulciber::tool
