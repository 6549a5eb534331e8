#include "function_bounds.h"

#include <algorithm>
#include <optional>

namespace mulciber::redirect {

namespace {

using fatbin::Bytes;
using fatbin::readAt;

// Pointer encodings of the DWARF exception header, as compilers for x86-64 write them.
constexpr uint8_t absolute8 = 0x00, absolute4 = 0x03, signed4 = 0x0B, signed8 = 0x0C, relative = 0x10;

class Reader {
 public:
  Reader(Bytes section, uint64_t address, uint64_t offset) : section_(section), address_(address), offset_(offset) {}
  bool good() const { return good_; }
  uint64_t offset() const { return offset_; }

  template <class T>
  T take() {
    T value{};
    good_ = good_ && readAt(section_, offset_, value);
    offset_ += sizeof(T);
    return value;
  }
  void skipLeb() {
    while (good_ && (take<uint8_t>() & 0x80)) {
    }
  }
  uint64_t pointer(uint8_t encoding) {
    const uint64_t at = address_ + offset_;
    uint64_t value = 0;
    switch (encoding & 0x0F) {
      case absolute8:
      case signed8: value = take<uint64_t>(); break;
      case absolute4: value = take<uint32_t>(); break;
      case signed4: value = static_cast<uint64_t>(int64_t{take<int32_t>()}); break;
      default: good_ = false;
    }
    const uint8_t application = encoding & 0x70;
    if (application == relative) return at + value;
    good_ = good_ && application == 0;
    return value;
  }

 private:
  Bytes section_;
  uint64_t address_, offset_;
  bool good_ = true;
};

// How the descriptions that share a common entry encode addresses; nothing for a form that no compiler writes.
std::optional<uint8_t> addressEncoding(Bytes section, uint64_t address, uint64_t commonEntry) {
  Reader reader(section, address, commonEntry);
  const auto version = reader.take<uint8_t>();
  char augmentation[8] = {};
  for (size_t i = 0;; ++i) {
    if (i == sizeof(augmentation)) return std::nullopt;
    augmentation[i] = reader.take<char>();
    if (augmentation[i] == 0) break;
  }
  if (!reader.good() || (version != 1 && version != 3)) return std::nullopt;
  if (augmentation[0] == 0) return absolute8;
  if (augmentation[0] != 'z') return std::nullopt;
  reader.skipLeb();  // code alignment
  reader.skipLeb();  // data alignment
  reader.skipLeb();  // return address register
  reader.skipLeb();  // length of what follows
  for (const char* letter = augmentation + 1; *letter; ++letter) {
    switch (*letter) {
      case 'R': {
        const auto encoding = reader.take<uint8_t>();
        return reader.good() ? std::optional(encoding) : std::nullopt;
      }
      case 'P': reader.pointer(reader.take<uint8_t>() & 0x0F); break;
      case 'L': reader.take<uint8_t>(); break;
      case 'S':
      case 'B': break;
      default: return std::nullopt;
    }
  }
  return absolute8;
}

}  // namespace

std::vector<FunctionBounds> functionBounds(const fatbin::Elf& elf) {
  std::vector<FunctionBounds> functions;
  const auto frames = elf.section(".eh_frame");
  if (!frames) return functions;
  const Bytes section = frames->data;
  uint64_t knownEntry = UINT64_MAX;
  std::optional<uint8_t> encoding;
  for (uint64_t offset = 0; offset + sizeof(uint32_t) <= section.size();) {
    Reader reader(section, frames->address, offset);
    const auto length = reader.take<uint32_t>();
    if (length == 0) break;  // the terminator
    const uint64_t identifierAt = reader.offset();
    const auto back = reader.take<uint32_t>();
    const uint64_t next = identifierAt + length;
    if (!reader.good() || length == UINT32_MAX || next > section.size() || back > identifierAt) return {};
    if (back != 0) {
      // `back` leads to the length of the common entry; its text begins behind the length and the identifier.
      const uint64_t commonEntry = identifierAt - back + 8;
      if (commonEntry != knownEntry) {
        knownEntry = commonEntry;
        encoding = addressEncoding(section, frames->address, commonEntry);
      }
      if (!encoding) return {};
      const uint64_t address = reader.pointer(*encoding);
      const uint64_t size = reader.pointer(*encoding & 0x0F);
      if (!reader.good()) return {};
      if (size != 0) functions.push_back({address, size});
    }
    offset = next;
  }
  auto byAddress = [](const FunctionBounds& a, const FunctionBounds& b) { return a.address < b.address; };
  if (!std::is_sorted(functions.begin(), functions.end(), byAddress)) {
    std::sort(functions.begin(), functions.end(), byAddress);
  }
  return functions;
}

const FunctionBounds* functionAround(const std::vector<FunctionBounds>& functions, uint64_t address) {
  auto next = std::upper_bound(functions.begin(), functions.end(), address,
                               [](uint64_t a, const FunctionBounds& function) { return a < function.address; });
  if (next == functions.begin()) return nullptr;
  const FunctionBounds& function = *std::prev(next);
  return address < function.end() ? &function : nullptr;
}

}  // namespace mulciber::redirect
