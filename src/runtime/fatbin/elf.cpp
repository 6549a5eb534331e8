#include "runtime/fatbin/elf.h"

#include <elf.h>

namespace mulciber::fatbin {

namespace {

// The NUL-terminated string at `offset`; empty when there is none.
std::string_view stringAt(Bytes strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  const char* text = reinterpret_cast<const char*>(strings.data()) + offset;
  const void* end = __builtin_memchr(text, 0, strings.size() - offset);
  if (!end) return {};
  return {text, static_cast<size_t>(static_cast<const char*>(end) - text)};
}

}  // namespace

bool Elf::isElf(Bytes file) { return file.size() >= SELFMAG && __builtin_memcmp(file.data(), ELFMAG, SELFMAG) == 0; }

std::optional<Elf> Elf::open(Bytes file) {
  Elf64_Ehdr header;
  if (!isElf(file) || !readAt(file, 0, header)) return std::nullopt;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) return std::nullopt;
  Elf elf;
  elf.file_ = file;
  elf.machine_ = header.e_machine;
  elf.type_ = header.e_type;
  elf.sectionOffset_ = header.e_shoff;
  elf.sectionBytes_ = header.e_shentsize;
  if (header.e_shoff == 0) return elf;  // fully stripped: no sections, which is not an error
  Elf64_Shdr first;
  if (header.e_shentsize < sizeof(Elf64_Shdr) || !readAt(file, header.e_shoff, first)) return std::nullopt;
  // A file with very many sections keeps their count and the names' index in section 0.
  const uint64_t count = header.e_shnum ? header.e_shnum : first.sh_size;
  if (count > (file.size() - header.e_shoff) / header.e_shentsize) return std::nullopt;
  elf.sectionCount_ = static_cast<uint32_t>(count);
  const uint32_t names = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  if (auto section = elf.section(names)) elf.names_ = section->data;
  return elf;
}

std::optional<Elf::Section> Elf::section(uint32_t index) const {
  Elf64_Shdr header;
  if (index >= sectionCount_ || !readAt(file_, sectionOffset_ + uint64_t{index} * sectionBytes_, header)) {
    return std::nullopt;
  }
  Section section;
  section.name = stringAt(names_, header.sh_name);
  section.type = header.sh_type;
  section.link = header.sh_link;
  section.flags = header.sh_flags;
  section.address = header.sh_addr;
  section.entrySize = header.sh_entsize;
  section.size = header.sh_size;
  if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL) {
    auto data = slice(file_, header.sh_offset, header.sh_size);
    if (!data) return std::nullopt;
    section.data = *data;
  }
  return section;
}

std::optional<Elf::Section> Elf::section(std::string_view name) const {
  for (uint32_t i = 1; i < sectionCount_; ++i) {
    if (auto found = section(i); found && found->name == name) return found;
  }
  return std::nullopt;
}

std::optional<Elf::Symbol> Elf::symbol(Bytes table, Bytes names, uint64_t index) {
  static_assert(sizeof(Elf64_Sym) == symbolBytes);
  Elf64_Sym raw;
  if (!readAt(table, index * symbolBytes, raw)) return std::nullopt;
  Symbol symbol;
  symbol.name = stringAt(names, raw.st_name);
  symbol.value = raw.st_value;
  symbol.size = raw.st_size;
  symbol.type = ELF64_ST_TYPE(raw.st_info);
  symbol.isDefined = raw.st_shndx != SHN_UNDEF;
  return symbol;
}

}  // namespace mulciber::fatbin
