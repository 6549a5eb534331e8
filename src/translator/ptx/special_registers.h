#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "translator/ptx/ast.h"

namespace mulciber::ptx {

enum class SpecialRegisterFamily : uint8_t { Other, Place, ReservedMemory };

std::string_view spelling(SpecialRegister special);  // with its %, such as %tid.x
Type typeOf(SpecialRegister special);
SpecialRegisterFamily family(SpecialRegister special);
std::optional<SpecialRegister> findSpecialRegister(std::string_view name);
std::span<const std::string_view> specialRegisterNames();

}  // namespace mulciber::ptx
