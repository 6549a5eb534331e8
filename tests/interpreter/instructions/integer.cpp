// Integer arithmetic. All sums and products wrap, so they are made of unsigned numbers.
#include <algorithm>
#include <limits>

#include "interpreter/instructions/families.h"
#include "interpreter/instructions/typed.h"

namespace mulciber::interpreter {
namespace {

template <class T>
T wrapped(uint64_t value) {
  return static_cast<T>(value);
}

// The product, and its upper half.
template <class T>
uint128 product(T a, T b) {
  return static_cast<uint128>(static_cast<int128>(a)) * static_cast<uint128>(static_cast<int128>(b));
}
template <class T>
T upperHalf(T a, T b) {
  return wrapped<T>(static_cast<uint64_t>(product(a, b) >> (8 * sizeof(T))));
}

int32_t saturated(int64_t value) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

struct Add {
  template <class T>
  static T run(T a, T b) {
    return wrapped<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};
struct Sub {
  template <class T>
  static T run(T a, T b) {
    return wrapped<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
};
struct AddSat {
  template <class T>
  static T run(T a, T b) {
    return static_cast<T>(saturated(int64_t(static_cast<int32_t>(a)) + static_cast<int32_t>(b)));
  }
};
struct SubSat {
  template <class T>
  static T run(T a, T b) {
    return static_cast<T>(saturated(int64_t(static_cast<int32_t>(a)) - static_cast<int32_t>(b)));
  }
};
struct MulLo {
  template <class T>
  static T run(T a, T b) {
    return wrapped<T>(static_cast<uint64_t>(product(a, b)));
  }
};
struct MulHi {
  template <class T>
  static T run(T a, T b) {
    return upperHalf(a, b);
  }
};
struct MadLo {
  template <class T>
  static T run(T a, T b, T c) {
    return Add::run<T>(MulLo::run(a, b), c);
  }
};
struct MadHi {
  template <class T>
  static T run(T a, T b, T c) {
    return Add::run<T>(upperHalf(a, b), c);
  }
};
struct MadHiSat {
  template <class T>
  static T run(T a, T b, T c) {
    return static_cast<T>(saturated(int64_t(static_cast<int32_t>(upperHalf(a, b))) + static_cast<int32_t>(c)));
  }
};
// Of zero all bits are set, as the hardware has it.
struct Div {
  template <class T>
  static T run(T a, T b) {
    if (b == 0) return static_cast<T>(~uint64_t(0));
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return Sub::run<T>(0, a);
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  static T run(T a, T b) {
    if (b == 0) return static_cast<T>(~uint64_t(0));
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct Sad {
  template <class T>
  static T run(T a, T b, T c) {
    return Add::run<T>(c, a < b ? Sub::run(b, a) : Sub::run(a, b));
  }
};
struct Abs {
  template <class T>
  static T run(T a) {
    return a < 0 ? Sub::run<T>(0, a) : a;
  }
};
struct Neg {
  template <class T>
  static T run(T a) {
    return Sub::run<T>(0, a);
  }
};
struct Min {
  template <class T>
  static T run(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T run(T a, T b) {
    return a > b ? a : b;
  }
};
// .relu
template <class F>
struct NotNegative {
  template <class T>
  static T run(T a, T b) {
    return F::template run<T>(a, b) < 0 ? T(0) : F::template run<T>(a, b);
  }
};

// Two halves.
template <class F, class T>
void pairHandler(Thread& t, const Op& op) {
  const uint64_t a = t.registers[op.a], b = t.registers[op.b];
  const auto low = static_cast<uint16_t>(F::template run<T>(static_cast<T>(a), static_cast<T>(b)));
  const auto high = static_cast<uint16_t>(F::template run<T>(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  t.registers[op.d] = low | uint32_t(high) << 16;
}

template <class F>
Handler binaryOrPair(Type type) {
  if (type == Type::U16x2) return pairHandler<F, uint16_t>;
  if (type == Type::S16x2) return pairHandler<F, int16_t>;
  return binary<F>(type);
}

template <class T, class Wide>
void mulWide(Thread& t, const Op& op) {
  put<Wide>(t, op.d, static_cast<Wide>(static_cast<uint64_t>(product(get<T>(t, op.a), get<T>(t, op.b)))));
}
template <class T, class Wide>
void madWide(Thread& t, const Op& op) {
  const auto full = static_cast<uint64_t>(product(get<T>(t, op.a), get<T>(t, op.b)));
  put<Wide>(t, op.d, static_cast<Wide>(full + t.registers[op.c]));
}

Handler wide(Type type, bool adds) {
  switch (type) {
    case Type::U16: return adds ? madWide<uint16_t, uint32_t> : mulWide<uint16_t, uint32_t>;
    case Type::S16: return adds ? madWide<int16_t, int32_t> : mulWide<int16_t, int32_t>;
    case Type::U32: return adds ? madWide<uint32_t, uint64_t> : mulWide<uint32_t, uint64_t>;
    case Type::S32: return adds ? madWide<int32_t, int64_t> : mulWide<int32_t, int64_t>;
    default: return nullptr;
  }
}

// The product of the lower 24 bits: its lower 32 bits, or those from bit 16 on.
int64_t product24(const Thread& t, const Op& op) {
  auto operand = [&](uint32_t place) {
    const int64_t value = t.registers[place] & 0xFFFFFF;
    return op.type == Type::S32 && value >> 23 ? value - (1 << 24) : value;
  };
  const int64_t full = operand(op.a) * operand(op.b);
  return op.mode ? full >> 16 : full;
}
void mul24(Thread& t, const Op& op) { put(t, op.d, static_cast<uint32_t>(product24(t, op))); }
void mad24(Thread& t, const Op& op) { put(t, op.d, static_cast<uint32_t>(product24(t, op)) + get<uint32_t>(t, op.c)); }
void mad24Sat(Thread& t, const Op& op) {
  put(t, op.d, saturated(int64_t(static_cast<int32_t>(product24(t, op))) + get<int32_t>(t, op.c)));
}

// Bytes of a by bytes, or pairs of a by two bytes of b.
int64_t element(uint64_t value, unsigned bits, unsigned index, Type type) {
  const uint64_t part = value >> bits * index & ((1u << bits) - 1);
  return isSigned(type) && part >> (bits - 1) ? static_cast<int64_t>(part) - (1 << bits) : static_cast<int64_t>(part);
}
void dp4a(Thread& t, const Op& op) {
  int64_t sum = 0;
  for (unsigned i = 0; i < 4; ++i)
    sum += element(t.registers[op.a], 8, i, op.type) * element(t.registers[op.b], 8, i, op.sourceType);
  put(t, op.d, static_cast<uint32_t>(sum) + get<uint32_t>(t, op.c));
}
void dp2a(Thread& t, const Op& op) {
  int64_t sum = 0;
  for (unsigned i = 0; i < 2; ++i)
    sum += element(t.registers[op.a], 16, i, op.type) * element(t.registers[op.b], 8, i + op.mode * 2, op.sourceType);
  put(t, op.d, static_cast<uint32_t>(sum) + get<uint32_t>(t, op.c));
}

// The carry of a sum of full width; what is subtracted is added with its bits turned, so nothing borrowed is a carry.
template <class T>
void addWithCarry(Thread& t, const Op& op, T a, T b, bool carry) {
  const uint128 sum = static_cast<uint128>(a) + b + carry;
  put(t, op.d, static_cast<T>(sum));
  if (op.writesCarry) t.carry = (sum >> (8 * sizeof(T)) & 1) != 0;
}
template <class T>
void addc(Thread& t, const Op& op) {
  addWithCarry<T>(t, op, get<T>(t, op.a), get<T>(t, op.b), op.mode && t.carry);
}
template <class T>
void subc(Thread& t, const Op& op) {
  addWithCarry<T>(t, op, get<T>(t, op.a), static_cast<T>(~get<T>(t, op.b)), !op.mode || t.carry);
}
template <class T, class Signed, bool kUpper>
void madc(Thread& t, const Op& op) {
  const bool isOfSigned = isSigned(op.type);
  const T part = kUpper ? isOfSigned ? static_cast<T>(upperHalf(get<Signed>(t, op.a), get<Signed>(t, op.b)))
                                     : upperHalf(get<T>(t, op.a), get<T>(t, op.b))
                        : MulLo::run(get<T>(t, op.a), get<T>(t, op.b));
  addWithCarry<T>(t, op, part, get<T>(t, op.c), op.mode && t.carry);
}

Handler carrying(const Instruction& i, Op& op) {
  const bool isWide = bitsOf(op.type) == 64;
  op.writesCarry = i.has(".cc");
  op.mode = i.opcode.back() == 'c';  // reads it
  if (i.opcode.starts_with("add")) return isWide ? addc<uint64_t> : addc<uint32_t>;
  if (i.opcode.starts_with("sub")) return isWide ? subc<uint64_t> : subc<uint32_t>;
  if (i.has(".hi")) return isWide ? madc<uint64_t, int64_t, true> : madc<uint32_t, int32_t, true>;
  return isWide ? madc<uint64_t, int64_t, false> : madc<uint32_t, int32_t, false>;
}

template <class F>
Handler minimum(Type type, bool relu) {
  return relu ? binaryOrPair<NotNegative<F>>(type) : binaryOrPair<F>(type);
}

Handler handlerOf(const Instruction& i, Op& op) {
  const std::string& name = i.opcode;
  const Type type = op.type;
  const bool isHigh = i.has(".hi");
  if (i.has(".cc") || name == "addc" || name == "subc" || name == "madc") return carrying(i, op);
  if (name == "add") return op.sat ? binary<AddSat>(type) : binaryOrPair<Add>(type);
  if (name == "sub") return op.sat ? binary<SubSat>(type) : binary<Sub>(type);
  if (name == "mul") return i.has(".wide") ? wide(type, false) : isHigh ? binary<MulHi>(type) : binary<MulLo>(type);
  if (name == "mad") {
    if (i.has(".wide")) return wide(type, true);
    return isHigh ? op.sat ? ternary<MadHiSat>(type) : ternary<MadHi>(type) : ternary<MadLo>(type);
  }
  if (name == "mul24" || name == "mad24") {
    op.mode = isHigh;
    return name == "mul24" ? mul24 : op.sat ? mad24Sat : mad24;
  }
  if (name == "sad") return ternary<Sad>(type);
  if (name == "div") return binary<Div>(type);
  if (name == "rem") return binary<Rem>(type);
  if (name == "abs") return unary<Abs>(type);
  if (name == "neg") return unary<Neg>(type);
  if (name == "min") return minimum<Min>(type, op.relu);
  if (name == "max") return minimum<Max>(type, op.relu);
  if (name == "dp4a") return dp4a;
  if (name == "dp2a") return op.mode = isHigh, dp2a;
  return nullptr;
}

}  // namespace

bool decodeInteger(Decoder& decoder, const Instruction& i, Op& op) {
  if (i.types.empty() || isFloat(op.type)) return false;
  op.execute = handlerOf(i, op);
  if (op.execute) decoder.operands(i, op, op.type);
  return op.execute != nullptr;
}

}  // namespace mulciber::interpreter
