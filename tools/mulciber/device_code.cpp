#include "device_code.h"

#include <elf.h>

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

void addContainers(fatbin::Bytes data, bool countsWithoutPtx, DeviceCode& code) {
  fatbin::Error error;
  const auto containers = fatbin::readContainers(data, error);
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

void addSection(const Elf& elf, const char* name, bool countsWithoutPtx, DeviceCode& code) {
  if (const auto section = elf.section(name)) addContainers(section->data, countsWithoutPtx, code);
}

// Fat binaries in the data of a library that gives them to the driver API itself, as cuFFT does.
void addFromData(const Elf& elf, DeviceCode& code) {
  constexpr std::string_view magicAndVersion("\x50\xED\x55\xBA\x01\x00\x10\x00", 8);
  constexpr size_t headerBytes = 16;
  for (uint32_t i = 1; i < elf.sectionCount(); ++i) {
    const auto section = elf.section(i);
    if (!section || section->type != SHT_PROGBITS || (section->flags & SHF_EXECINSTR)) continue;
    if (section->name == ".nv_fatbin" || section->name == "__nv_relfatbin") continue;
    const std::string_view data(reinterpret_cast<const char*>(section->data.data()), section->data.size());
    for (size_t at = data.find(magicAndVersion); at != data.npos; at = data.find(magicAndVersion, at + 1)) {
      uint64_t bytes = 0;
      if (!fatbin::readAt(section->data, at + sizeof(bytes), bytes) || bytes > data.size() - at - headerBytes) continue;
      addContainers(section->data.subspan(at, headerBytes + bytes), true, code);
    }
  }
}

}  // namespace

DeviceCode deviceCodeOf(const Elf& elf) {
  DeviceCode code;
  addSection(elf, "__nv_relfatbin", true, code);
  // Where relocatable objects have PTX, it is in the place of what the device linker made of them.
  addSection(elf, ".nv_fatbin", code.ptxModules == 0, code);
  code.registeredPtxModules = code.ptxModules;
  addFromData(elf, code);
  return code;
}

}  // namespace mulciber::tool
