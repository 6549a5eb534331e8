#include <algorithm>
#include <array>

#include "translator/ptx/ast.h"

namespace mulciber::ptx {
namespace {

enum class Kind : uint8_t { None, Predicate, Untyped, Unsigned, Signed, Float, Opaque };

enum class User : uint8_t { Instructions, Anything };

struct Row {
  Mod mod;
  uint16_t bits;
  Kind kind;
  User user;
};

constexpr Row kRows[] = {
    {Mod{}, 0, Kind::None, User::Instructions},
#define PTX_TYPE(id, modifier, bits, kind, user) {Mod::modifier, bits, Kind::kind, User::user},
#include "translator/ptx/types.def"
#undef PTX_TYPE
};

constexpr auto kTypeOfMod = [] {
  constexpr size_t count = 0
#define MODIFIER(id, spelling) +1
#include "translator/ptx/modifiers.def"
#undef MODIFIER
      ;
  std::array<Type, count> types{};
  for (size_t i = 1; i < std::size(kRows); ++i) types[static_cast<size_t>(kRows[i].mod)] = static_cast<Type>(i);
  return types;
}();

constexpr const Row& row(Type type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

uint32_t bitWidth(Type type) { return row(type).bits; }
uint64_t scalarSize(Type type) { return std::max<uint64_t>(bitWidth(type) / 8, 1); }
bool isFloat(Type type) { return row(type).kind == Kind::Float; }
bool isSigned(Type type) { return row(type).kind == Kind::Signed; }
bool isUnsigned(Type type) { return row(type).kind == Kind::Unsigned; }
bool isInteger(Type type) { return (isSigned(type) || isUnsigned(type)) && canBeDeclared(type); }
bool canBeDeclared(Type type) { return row(type).user == User::Anything; }
bool isUntyped(Type type) { return row(type).kind == Kind::Untyped; }
bool isOpaque(Type type) { return row(type).kind == Kind::Opaque; }
std::string_view spelling(Type type) { return type == Type::None ? std::string_view() : spelling(row(type).mod); }

std::string_view spelling(StateSpace space) {
  switch (space) {
    case StateSpace::None: break;
    case StateSpace::Reg: return "reg";
    case StateSpace::Const: return "const";
    case StateSpace::Global: return "global";
    case StateSpace::Local: return "local";
    case StateSpace::Param: return "param";
    case StateSpace::Shared: return "shared";
    case StateSpace::Tex: return "tex";
  }
  return {};
}

Type typeOf(Mod mod) { return kTypeOfMod[static_cast<size_t>(mod)]; }

uint64_t initialBytes(const Variable& variable) {
  uint64_t count = 0;
  for (const InitializerElement& element : variable.initializer->elements) count = std::max(count, element.index + 1);
  return count * scalarSize(variable.type);
}

}  // namespace mulciber::ptx
