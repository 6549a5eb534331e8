// The little of ELF that finding device code needs: sections and symbols of a 64-bit little-endian file. Nothing is
// copied; every view points into the bytes given. Depends on nothing but the standard library, so that the audit
// library can use it inside a starting program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mulciber::fatbin {

using Bytes = std::span<const std::byte>;

// Copies a T out of `bytes`, whatever its alignment there; false when it does not lie inside.
template <class T>
bool readAt(Bytes bytes, uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  __builtin_memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

// The piece [offset, offset + size) of `bytes`, or nothing when it does not lie inside.
inline std::optional<Bytes> slice(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, size);
}

class Elf {
 public:
  static constexpr uint16_t machineCuda = 190, machineX86_64 = 62;

  struct Section {
    std::string_view name;
    uint32_t type = 0, link = 0;
    uint64_t flags = 0, address = 0, entrySize = 0, size = 0;
    Bytes data;  // empty for a section without bytes in the file
  };
  struct Symbol {
    std::string_view name;
    uint64_t value = 0, size = 0;
    uint8_t type = 0;  // STT_FUNC = 2
    bool isDefined = false;
  };

  static bool isElf(Bytes file);
  // Nothing when the file is not a 64-bit little-endian ELF file with an intact section table.
  static std::optional<Elf> open(Bytes file);

  uint16_t machine() const { return machine_; }
  uint16_t type() const { return type_; }
  uint32_t sectionCount() const { return sectionCount_; }
  std::optional<Section> section(uint32_t index) const;
  std::optional<Section> section(std::string_view name) const;

  // Calls visit(const Symbol&) for every symbol of a table such as ".symtab" or ".dynsym"; false when there is no such
  // table or it is damaged.
  template <class Visit>
  bool forEachSymbol(std::string_view table, Visit&& visit) const {
    auto symbols = section(table);
    if (!symbols || symbols->data.empty()) return false;
    auto names = section(symbols->link);
    if (!names) return false;
    for (uint64_t i = 0, n = symbols->data.size() / symbolBytes; i < n; ++i) {
      auto found = symbol(symbols->data, names->data, i);
      if (!found) return false;
      visit(*found);
    }
    return true;
  }

 private:
  static constexpr uint64_t symbolBytes = 24;
  static std::optional<Symbol> symbol(Bytes table, Bytes names, uint64_t index);

  Bytes file_, names_;
  uint64_t sectionOffset_ = 0;
  uint32_t sectionCount_ = 0;
  uint16_t sectionBytes_ = 0, machine_ = 0, type_ = 0;
};

}  // namespace mulciber::fatbin
