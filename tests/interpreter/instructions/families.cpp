#include "interpreter/instructions/families.h"

#include <array>

namespace mulciber::interpreter {

std::span<const Family> families() {
  static constexpr std::array kFamilies = {decodeMove,   decodeAccess,   decodeControl, decodeWarp,    decodeBarrier,
                                           decodeAtomic, decodeAsync,    decodeConvert, decodeCompare, decodeInteger,
                                           decodeBits,   decodeFloating, decodeVideo,   decodeMatrix};
  return kFamilies;
}

}  // namespace mulciber::interpreter
