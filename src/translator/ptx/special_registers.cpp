#include "translator/ptx/special_registers.h"

#include <algorithm>
#include <array>

namespace mulciber::ptx {
namespace {

constexpr std::string_view kNames[] = {
#define SPECIAL_REGISTER(id, spelling, ...) spelling,
#include "translator/ptx/special_registers.def"
#undef SPECIAL_REGISTER
};

struct Traits {
  Type type;
  SpecialRegisterFamily family;
};
constexpr Traits kTraits[] = {
#define SPECIAL_REGISTER(id, spelling, type, family) {Type::type, SpecialRegisterFamily::family},
#include "translator/ptx/special_registers.def"
#undef SPECIAL_REGISTER
};

constexpr auto kByName = [] {
  std::array<uint8_t, std::size(kNames)> order{};
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint8_t>(i);
  std::sort(order.begin(), order.end(), [](uint8_t a, uint8_t b) { return kNames[a] < kNames[b]; });
  return order;
}();

}  // namespace

std::string_view spelling(SpecialRegister special) { return kNames[static_cast<size_t>(special)]; }

Type typeOf(SpecialRegister special) { return kTraits[static_cast<size_t>(special)].type; }
SpecialRegisterFamily family(SpecialRegister special) { return kTraits[static_cast<size_t>(special)].family; }

std::optional<SpecialRegister> findSpecialRegister(std::string_view name) {
  auto found = std::lower_bound(kByName.begin(), kByName.end(), name,
                                [](uint8_t index, std::string_view wanted) { return kNames[index] < wanted; });
  if (found == kByName.end() || kNames[*found] != name) return std::nullopt;
  return static_cast<SpecialRegister>(*found);
}

std::span<const std::string_view> specialRegisterNames() { return kNames; }

}  // namespace mulciber::ptx
