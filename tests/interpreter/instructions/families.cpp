#include "interpreter/instructions/families.h"

#include <array>

namespace mulciber::interpreter {

std::span<const Family> families() {
  static constexpr std::array kFamilies = {decodeMove, decodeAccess, decodeControl, decodeInteger};
  return kFamilies;
}

}  // namespace mulciber::interpreter
