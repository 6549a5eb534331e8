#include "device_code.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/fatbin/fatbin.h"

namespace mulciber::tool {

namespace {

using fatbin::Elf;
using fatbin::Entry;
using fatbin::Kind;

bool isPtx(const Entry& entry) { return entry.kind == Kind::Ptx; }

std::string targetOf(const Entry& entry) {
  const char* form = isPtx(entry) ? "compute_" : entry.kind == Kind::Cubin ? "sm_" : "lto_";
  return form + std::to_string(entry.architecture);
}

// The functions of one piece of machine code, as its sections name them.
std::vector<std::string> functionsIn(const Entry& entry, std::string& problem) {
  constexpr std::string_view prefix = ".text.";
  std::vector<std::string> functions;
  fatbin::Error error;
  const auto contents = fatbin::contentsOf(entry, error);
  if (!contents) {
    problem = error.message;
    return functions;
  }
  const auto elf = Elf::open(std::as_bytes(std::span(contents->data(), contents->size())));
  for (uint32_t i = 1; elf && i < elf->sectionCount(); ++i) {
    const auto section = elf->section(i);
    if (section && section->name.starts_with(prefix)) functions.emplace_back(section->name.substr(prefix.size()));
  }
  return functions;
}

// A module of which there is no PTX. The device linker leaves one without any function in most programs.
void addWithoutPtx(const std::vector<Entry>& entries, DeviceCode& code) {
  const auto cubin = std::ranges::find(entries, Kind::Cubin, &Entry::kind);
  std::vector<std::string> functions;
  if (cubin != entries.end()) functions = functionsIn(*cubin, code.problem);
  else if (!entries.empty()) functions.emplace_back(entries.front().name);  // IR does not show its functions
  if (functions.empty()) return;
  code.functionsWithoutPtx += functions.size();
  if (code.example.empty()) code.example = functions.front();
  for (const Entry& entry : entries) code.otherTargets.insert(targetOf(entry));
}

void addSection(const Elf& elf, const char* name, bool countsWithoutPtx, DeviceCode& code) {
  const auto section = elf.section(name);
  if (!section) return;
  fatbin::Error error;
  const auto containers = fatbin::readContainers(section->data, error);
  if (!containers) {
    code.problem = error.message;
    return;
  }
  for (const std::vector<Entry>& entries : *containers) {
    if (std::ranges::any_of(entries, isPtx)) {
      ++code.ptxModules;
      for (const Entry& entry : entries) {
        if (isPtx(entry)) code.ptxTargets.insert(targetOf(entry));
      }
    } else if (countsWithoutPtx) {
      addWithoutPtx(entries, code);
    }
  }
}

}  // namespace

DeviceCode deviceCodeOf(const Elf& elf) {
  DeviceCode code;
  addSection(elf, "__nv_relfatbin", true, code);
  // Where relocatable objects have PTX, it is in the place of what the device linker made of them.
  addSection(elf, ".nv_fatbin", code.ptxModules == 0, code);
  return code;
}

}  // namespace mulciber::tool
