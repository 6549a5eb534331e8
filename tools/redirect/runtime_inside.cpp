#include "runtime_inside.h"

#include "runtime_names.h"

namespace mulciber::redirect {

namespace {

using fatbin::Elf;

// Trampolines in assembly that load the shared runtime, which is ours, have the names of its functions and no size.
bool isTrampoline(const RuntimeFunction& function) { return function.size == 0; }

// What the file's symbols say about a runtime inside it.
struct NamedRuntime {
  std::vector<RuntimeFunction> functions;
  bool isThere = false, loadsShared = false;
};

NamedRuntime runtimeBySymbols(const Elf& elf) {
  constexpr uint8_t functionType = 2;
  NamedRuntime runtime;
  elf.forEachSymbol(".symtab", [&](const Elf::Symbol& symbol) {
    if (!symbol.isDefined || symbol.type != functionType || !findRuntimeName(symbol.name)) return;
    const RuntimeFunction function{symbol.name, symbol.value, symbol.size};
    if (symbol.name == "__cudaRegisterFatBinary") {
      (isTrampoline(function) ? runtime.loadsShared : runtime.isThere) = true;
    }
    if (!isTrampoline(function)) runtime.functions.push_back(function);
  });
  return runtime;
}

// Whether the dynamic linker gives the object what it imports by this name.
bool imports(const Elf& elf, std::string_view name) {
  bool found = false;
  elf.forEachSymbol(".dynsym", [&](const Elf::Symbol& symbol) { found |= !symbol.isDefined && symbol.name == name; });
  return found;
}

// A runtime loads NVIDIA's driver with dlsym, so an object that imports no dlsym has none.
bool mayHaveRuntime(const Elf& elf) { return imports(elf, "dlsym"); }

}  // namespace

RuntimeInside runtimeInside(const Elf& elf) {
  NamedRuntime named = runtimeBySymbols(elf);
  if (named.isThere) return {std::move(named.functions), true, {}};
  if (named.loadsShared) return {};
  StaticRuntime found;
  if (mayHaveRuntime(elf)) found = findStaticRuntime(elf);
  if (!found.functions.empty()) return {std::move(found.functions), false, {}};
  // Libraries that load their device code by the driver API, as cuFFT does since CUDA 12.4, have no such section.
  const bool handsCodeOver = elf.section(".nvFatBinSegment") && !imports(elf, "__cudaRegisterFatBinary");
  if (found.problem.empty() && handsCodeOver) found.problem = "it shows no function names";
  return {{}, false, std::move(found.problem)};
}

}  // namespace mulciber::redirect
