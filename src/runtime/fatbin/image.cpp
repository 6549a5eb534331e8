// From an image in memory, or a file, to the PTX modules in it.
#include <fmt/core.h>

#include <cerrno>
#include <cstring>

#include "runtime/fatbin/fatbin.h"
#include "util/file.h"

namespace mulciber::fatbin {

namespace {

constexpr std::string_view archiveMagic = "!<arch>\n";

std::nullopt_t fail(Error& error, Error::Code code, std::string message) {
  error = {code, std::move(message)};
  return std::nullopt;
}

Bytes bytesOf(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

// A container in memory, of which only its own header tells the length.
Bytes containerAt(const void* container) {
  struct {
    uint32_t magic;
    uint16_t version, headerBytes;
    uint64_t entryBytes;
  } header;
  std::memcpy(&header, container, sizeof(header));
  return {static_cast<const std::byte*>(container), header.headerBytes + header.entryBytes};
}

std::optional<PtxModule> moduleOf(const std::vector<Entry>& entries, uint32_t computeCapability, Error& error) {
  const Entry* entry = choosePtx(entries, computeCapability, error);
  if (!entry) return std::nullopt;
  auto text = ptxText(*entry, error);
  if (!text) return std::nullopt;
  return PtxModule{std::move(*text), std::string(entry->name), std::string(entry->options), entry->architecture};
}

std::optional<PtxModule> moduleOf(Bytes container, uint32_t computeCapability, Error& error) {
  uint64_t used = 0;
  auto entries = readContainer(container, used, error);
  return entries ? moduleOf(*entries, computeCapability, error) : std::nullopt;
}

std::optional<PtxModules> readOne(const void* container, uint32_t computeCapability, Error& error) {
  auto module = moduleOf(containerAt(container), computeCapability, error);
  if (!module) return std::nullopt;
  return PtxModules{std::move(*module)};
}

std::optional<PtxModules> readWrapper(const Wrapper& wrapper, uint32_t computeCapability, Error& error) {
  if (wrapper.version != 1 && wrapper.version != 2) {
    return fail(error, Error::Code::InvalidImage,
                fmt::format("corrupt fat binary: unknown wrapper version {}", wrapper.version));
  }
  // After a device link only the linked objects still have PTX; the linked image itself is machine code.
  if (wrapper.version == 2 && wrapper.prelinked && *wrapper.prelinked) {
    PtxModules modules;
    for (const void* const* container = wrapper.prelinked; *container; ++container) {
      auto part = readOne(*container, computeCapability, error);
      if (!part) return std::nullopt;
      modules.push_back(std::move(part->front()));
    }
    return modules;
  }
  if (!wrapper.container) {
    return fail(error, Error::Code::InvalidImage, "corrupt fat binary: a wrapper without container");
  }
  return readOne(wrapper.container, computeCapability, error);
}

std::optional<PtxModules> readSection(Bytes section, uint32_t computeCapability, Error& error) {
  const auto containers = readContainers(section, error);
  if (!containers) return std::nullopt;
  PtxModules modules;
  for (const std::vector<Entry>& entries : *containers) {
    // Containers without any PTX stand beside others, such as the device linker's: skip them here.
    if (!choosePtx(entries, computeCapability, error)) continue;
    auto module = moduleOf(entries, computeCapability, error);
    if (!module) return std::nullopt;
    modules.push_back(std::move(*module));
  }
  return modules;
}

std::optional<std::vector<PtxModules>> readElf(Bytes file, uint32_t computeCapability, Error& error) {
  auto elf = Elf::open(file);
  if (!elf) return fail(error, Error::Code::InvalidImage, "not an intact 64-bit ELF file");
  if (elf->machine() == Elf::machineCuda) {
    return fail(error, Error::Code::NoBinaryForGpu, "a cubin holds only machine code: Mulciber needs PTX");
  }
  std::vector<PtxModules> images;
  Error inside;
  if (auto section = elf->section("__nv_relfatbin")) {
    auto modules = readSection(section->data, computeCapability, inside);
    if (!modules) return fail(error, inside.code, inside.message);
    if (!modules->empty()) images.push_back(std::move(*modules));
  }
  if (auto section = elf->section(".nv_fatbin")) {
    auto modules = readSection(section->data, computeCapability, inside);
    if (!modules) return fail(error, inside.code, inside.message);
    for (PtxModule& module : *modules) images.push_back({std::move(module)});
  }
  if (images.empty() && inside.code != Error::Code::None) return fail(error, inside.code, inside.message);
  if (images.empty()) return fail(error, Error::Code::NoBinaryForGpu, "no CUDA device code in this file");
  return images;
}

std::optional<std::vector<PtxModules>> readArchive(Bytes file, uint32_t computeCapability, Error& error) {
  constexpr uint64_t headerBytes = 60, sizeOffset = 48, sizeDigits = 10;
  std::vector<PtxModules> images;
  for (uint64_t offset = archiveMagic.size(); offset + headerBytes <= file.size();) {
    uint64_t size = 0;
    for (uint64_t i = 0; i < sizeDigits; ++i) {
      const char digit = static_cast<char>(file[offset + sizeOffset + i]);
      if (digit >= '0' && digit <= '9') size = size * 10 + static_cast<uint64_t>(digit - '0');
    }
    auto member = slice(file, offset + headerBytes, size);
    if (!member) return fail(error, Error::Code::InvalidImage, "corrupt archive: a member overruns the file");
    if (Elf::isElf(*member)) {
      if (auto found = readElf(*member, computeCapability, error)) {
        for (PtxModules& modules : *found) images.push_back(std::move(modules));
      }
    }
    offset += headerBytes + size + (size & 1);
  }
  if (images.empty()) {
    if (error.code == Error::Code::None) error = {Error::Code::NoBinaryForGpu, "no CUDA device code in this archive"};
    return std::nullopt;
  }
  error = {};
  return images;
}

}  // namespace

std::optional<std::vector<std::vector<Entry>>> readContainers(Bytes section, Error& error) {
  std::vector<std::vector<Entry>> containers;
  while (!section.empty()) {
    uint32_t magic = 0;
    if (!readAt(section, 0, magic)) break;
    uint64_t used = sizeof(magic);
    if (magic != 0) {
      auto entries = readContainer(section, used, error);
      if (!entries) return std::nullopt;
      containers.push_back(std::move(*entries));
    }
    section = section.subspan(used);
  }
  return containers;
}

std::optional<PtxModules> readImage(const void* image, uint32_t computeCapability, Error& error) {
  error = {};
  if (!image) return fail(error, Error::Code::InvalidImage, "a null image");
  const char* text = static_cast<const char*>(image);
  // Compare byte by byte up to the first difference: text may be shorter than any magic number.
  auto startsWith = [&](std::string_view magic) { return std::strncmp(text, magic.data(), magic.size()) == 0; };
  if (startsWith("\xB1\x43\x62\x46")) {
    Wrapper wrapper;
    std::memcpy(&wrapper, image, sizeof(wrapper));
    return readWrapper(wrapper, computeCapability, error);
  }
  if (startsWith("\x50\xED\x55\xBA")) return readOne(image, computeCapability, error);
  if (startsWith("\x7F"
                 "ELF")) {
    return fail(error, Error::Code::NoBinaryForGpu, "a cubin holds only machine code: Mulciber needs PTX");
  }
  if (startsWith(archiveMagic)) {
    return fail(error, Error::Code::InvalidImage, "an archive can be linked from a file, but not loaded from memory");
  }
  return PtxModules{{std::string(text), {}, {}, 0}};
}

std::optional<std::vector<PtxModules>> readFile(Bytes file, uint32_t computeCapability, Error& error) {
  error = {};
  if (file.empty()) return fail(error, Error::Code::InvalidImage, "the file is empty");
  if (Elf::isElf(file)) return readElf(file, computeCapability, error);
  if (file.size() >= archiveMagic.size() && std::memcmp(file.data(), archiveMagic.data(), archiveMagic.size()) == 0) {
    return readArchive(file, computeCapability, error);
  }
  uint32_t magic = 0;
  if (readAt(file, 0, magic) && magic == containerMagic) {
    auto module = moduleOf(file, computeCapability, error);
    if (!module) return std::nullopt;
    return std::vector<PtxModules>{{std::move(*module)}};
  }
  std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  while (!text.empty() && text.back() == '\0') text.pop_back();
  if (text.find('\0') != std::string::npos || text.find(".version") == std::string::npos) {
    return fail(error, Error::Code::InvalidImage,
                "neither PTX text, a fat binary, nor a program with CUDA device code");
  }
  return std::vector<PtxModules>{{{std::move(text), {}, {}, 0}}};
}

std::optional<std::vector<PtxModules>> readFile(const std::string& path, uint32_t computeCapability, Error& error) {
  const auto bytes = util::readFile(path);
  if (!bytes)
    return fail(error, Error::Code::FileNotFound, fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  return readFile(bytesOf(*bytes), computeCapability, error);
}

}  // namespace mulciber::fatbin
