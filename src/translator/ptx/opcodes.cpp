#include "translator/ptx/opcodes.h"

#include <array>
#include <cstddef>

namespace mulciber::ptx {
namespace {

constexpr std::string_view kOpcodes[] = {
#define OPCODE(id, spelling) spelling,
#include "translator/ptx/opcodes.def"
#undef OPCODE
};

constexpr std::string_view kModifiers[] = {
#define MODIFIER(id, spelling) spelling,
#include "translator/ptx/modifiers.def"
#undef MODIFIER
};

constexpr uint32_t hash(std::string_view word) {
  uint32_t h = 2166136261u;
  for (char c : word) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return h ^ (h >> 15);
}

// An open-addressed table of word numbers, built by the compiler. It is kept sparse, so nearly every lookup
// compares one word.
template <size_t Slots>
class WordTable {
 public:
  template <size_t N>
  constexpr explicit WordTable(const std::string_view (&words)[N]) {
    static_assert(N * 3 <= Slots && (Slots & (Slots - 1)) == 0);
    for (size_t i = 0; i < N; ++i) {
      size_t slot = hash(words[i]) % Slots;
      while (slots_[slot] != 0) slot = (slot + 1) % Slots;
      slots_[slot] = static_cast<uint16_t>(i + 1);
    }
  }

  template <class Word>
  std::optional<Word> find(std::string_view word, const std::string_view* words) const {
    for (size_t slot = hash(word) % Slots; slots_[slot] != 0; slot = (slot + 1) % Slots)
      if (words[slots_[slot] - 1] == word) return static_cast<Word>(slots_[slot] - 1);
    return std::nullopt;
  }

 private:
  std::array<uint16_t, Slots> slots_{};
};

constexpr WordTable<1024> kOpcodeTable(kOpcodes);
constexpr WordTable<4096> kModifierTable(kModifiers);

}  // namespace

std::string_view spelling(Opcode opcode) { return kOpcodes[static_cast<size_t>(opcode)]; }
std::string_view spelling(Mod mod) { return kModifiers[static_cast<size_t>(mod)]; }
std::optional<Opcode> findOpcode(std::string_view word) { return kOpcodeTable.find<Opcode>(word, kOpcodes); }
std::optional<Mod> findModifier(std::string_view word) { return kModifierTable.find<Mod>(word, kModifiers); }

std::span<const std::string_view> opcodeWords() { return kOpcodes; }
std::span<const std::string_view> modifierWords() { return kModifiers; }

}  // namespace mulciber::ptx
