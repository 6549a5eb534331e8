#include "conformance/suite/operands.h"

namespace mulciber::conformance {

Type registerType(Type type, bool wider) {
  if (type == Type::Pred || type == Type::F32 || type == Type::F64) return type;
  switch (ptx::bitWidth(type)) {
    case 8:
    case 16: return wider ? Type::B32 : Type::B16;
    case 32: return wider ? Type::B64 : Type::B32;
    case 128: return Type::B128;
    default: return Type::B64;
  }
}

Values valuesOf(Type type, bool isCount) {
  switch (type) {
    case Type::Pred: return Values::Bit;
    case Type::F16: return Values::F16;
    case Type::BF16: return Values::Bf16;
    case Type::F16x2: return Values::F16x2;
    case Type::BF16x2: return Values::Bf16x2;
    case Type::F32: return Values::F32;
    case Type::F64: return Values::F64;
    default: break;
  }
  switch (ptx::bitWidth(type)) {
    case 8: return Values::Int8;
    case 16: return Values::Int16;
    case 32: return isCount ? Values::Count : Values::Int32;
    default: return Values::Int64;
  }
}

Values valuesOf(Type type, Type reg, bool isCount) {
  const Values values = valuesOf(type, isCount);
  if (values > Values::Int64 || values == Values::Bit) return values;
  if (ptx::bitWidth(reg) == (values == Values::Int8 ? 8u : values == Values::Int16 ? 16u : 32u)) return values;
  return ptx::bitWidth(reg) == 16 ? Values::Int16 : ptx::bitWidth(reg) == 32 ? Values::Int32 : Values::Int64;
}

}  // namespace mulciber::conformance
