// Numbers of f16, f32 and f64 by their bits.
#pragma once

#include "translator/ir/type.h"

namespace mulciber::ir {

inline uint64_t signBit(Type type) { return uint64_t(1) << (type.bits - 1); }
inline uint64_t infinity(Type type) { return type == F16 ? 0x7C00 : type == F32 ? 0x7F80'0000 : 0x7FF0'0000'0000'0000; }
inline uint64_t smallestNormal(Type type) { return type == F16 ? 0x400 : type == F32 ? 0x80'0000 : uint64_t(1) << 52; }
inline uint64_t one(Type type) { return type == F16 ? 0x3C00 : type == F32 ? 0x3F80'0000 : 0x3FF0'0000'0000'0000; }

}  // namespace mulciber::ir
