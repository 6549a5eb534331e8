// The words of the language: opcodes and modifiers. The lists themselves are opcodes.def and modifiers.def.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace mulciber::ptx {

// The word before the first dot: add, ld, mbarrier, tcgen05. What follows are modifiers.
enum class Opcode : uint16_t {
#define OPCODE(id, spelling) id,
#include "translator/ptx/opcodes.def"
#undef OPCODE
};

// Every dotted word that can follow an opcode. `id` is the spelling with :: as _; C++ keywords and names with
// a leading digit get a trailing or leading underscore: and_, _1d.
enum class Mod : uint16_t {
#define MODIFIER(id, spelling) id,
#include "translator/ptx/modifiers.def"
#undef MODIFIER
};

std::string_view spelling(Opcode opcode);
std::string_view spelling(Mod mod);  // without the leading dot
std::optional<Opcode> findOpcode(std::string_view word);
std::optional<Mod> findModifier(std::string_view word);

// All words, in the order of the enumerators: for suggestions.
std::span<const std::string_view> opcodeWords();
std::span<const std::string_view> modifierWords();

}  // namespace mulciber::ptx
