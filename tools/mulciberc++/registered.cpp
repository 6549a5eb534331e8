#include "registered.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>
#include <unordered_set>

#include "runtime/fatbin/elf.h"
#include "util/file.h"

namespace mulciber::compiler {

namespace {

enum class Linkage { Extern, Internal, Visible };

// The variables and kernels of a module. Each begins a line.
std::map<std::string, Linkage> namesIn(const std::string& ptx) {
  std::map<std::string, Linkage> found;
  std::istringstream lines(util::readFile(ptx).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find_first_of("[=;"), line.size()));
    std::istringstream words(line);
    std::string linkage, kind, name;
    words >> linkage;
    const bool isInternal = linkage == ".global" || linkage == ".const";
    if (isInternal) kind = linkage;
    else if (linkage == ".visible" || linkage == ".weak" || linkage == ".extern") words >> kind;
    if (kind != ".global" && kind != ".const" && kind != ".entry") continue;
    words >> name;
    if (kind == ".entry") name.erase(std::min(name.find('('), name.size()));
    else
      while (words >> name) continue;  // behind the type
    found[name] = linkage == ".extern" ? Linkage::Extern : isInternal ? Linkage::Internal : Linkage::Visible;
  }
  return found;
}

// A registered variable's name is a text in the object's data, and that of the host's variable in its place. Names that
// are not mangled belong to variables that Clang keeps.
Names registeredBy(const std::string& object) {
  const std::string file = util::readFile(object).value_or("");
  const auto elf = fatbin::Elf::open(std::as_bytes(std::span(file)));
  if (!elf) return {};
  std::unordered_set<std::string_view> texts;
  for (uint32_t i = 0; i < elf->sectionCount(); ++i) {
    const auto section = elf->section(i);
    if (!section || (section->flags & (SHF_ALLOC | SHF_EXECINSTR)) != SHF_ALLOC) continue;
    std::string_view data(reinterpret_cast<const char*>(section->data.data()), section->data.size());
    while (!data.empty()) {
      const std::string_view text = data.substr(0, data.find('\0'));
      if (text.starts_with("_Z")) texts.insert(text);
      data.remove_prefix(std::min(text.size() + 1, data.size()));
    }
  }
  Names names;
  elf->forEachSymbol(".symtab", [&](const fatbin::Elf::Symbol& symbol) {
    if (symbol.type == STT_OBJECT && texts.contains(symbol.name)) names.emplace(symbol.name);
  });
  return names;
}

}  // namespace

Names missingVariables(const std::string& object, const std::string& ptx) {
  const auto defined = namesIn(ptx);
  Names missing = registeredBy(object);
  std::erase_if(missing, [&](const std::string& name) {
    const auto found = defined.find(name);
    if (found == defined.end() || found->second == Linkage::Extern) return false;
    // Others that only the device knows are constants.
    return found->second == Linkage::Visible || name.find("_GLOBAL__N_1") == std::string::npos;
  });
  return missing;
}

std::string headerThatKeeps(const Names& variables) {
  std::string declarations, uses;
  for (size_t i = 0; const std::string& name : variables) {
    declarations += fmt::format("extern __attribute__((device)) char mulciberKept{} __asm__(\"{}\");\n", i, name);
    uses += fmt::format("  asm volatile(\"\" ::\"l\"(&mulciberKept{}) : \"memory\");\n", i++);
  }
  return fmt::format("{}static __attribute__((device, used)) void mulciberKeep() {{\n{}}}\n", declarations, uses);
}

Names undefinedVariables(const Names& variables, const std::string& ptx) {
  const auto defined = namesIn(ptx);
  Names names = variables;
  std::erase_if(names, [&](const std::string& name) {
    const auto found = defined.find(name);
    return found != defined.end() && found->second != Linkage::Extern;
  });
  return names;
}

}  // namespace mulciber::compiler
