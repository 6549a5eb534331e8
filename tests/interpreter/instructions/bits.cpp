// Bits: counting, moving and choosing them.
#include <algorithm>
#include <bit>

#include "interpreter/instructions/families.h"
#include "interpreter/instructions/typed.h"

namespace mulciber::interpreter {
namespace {

struct And {
  template <class T>
  static T run(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T run(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T run(T a, T b) {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  static T run(T a) {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <class T>
  static T run(T a) {
    return a == 0;
  }
};
struct Reverse {
  template <class T>
  static T run(T a) {
    T turned = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) turned |= static_cast<T>((a >> i & 1) << (8 * sizeof(T) - 1 - i));
    return turned;
  }
};

template <class F>
void ofPredicates(Thread& t, const Op& op) {
  t.registers[op.d] = F::template run<uint64_t>(t.predicate(op.a, op, 0), t.predicate(op.b, op, 1));
}
void notPredicate(Thread& t, const Op& op) { t.registers[op.d] = !t.predicate(op.a, op, 0); }

template <class F>
Handler logic(Type type) {
  return type == Type::Pred ? ofPredicates<F> : binary<F>(type);
}

template <class T>
void popc(Thread& t, const Op& op) {
  t.registers[op.d] = static_cast<unsigned>(std::popcount(get<T>(t, op.a)));
}
template <class T>
void clz(Thread& t, const Op& op) {
  t.registers[op.d] = static_cast<unsigned>(std::countl_zero(get<T>(t, op.a)));
}

// The place of the highest bit that differs from the sign, or how far it is from the highest place.
template <class T>
void bfind(Thread& t, const Op& op) {
  auto value = get<T>(t, op.a);
  if (isSigned(op.type) && value >> (8 * sizeof(T) - 1)) value = static_cast<T>(~value);
  const auto zeros = static_cast<uint32_t>(std::countl_zero(value));
  t.registers[op.d] = value == 0 ? 0xFFFFFFFF : op.mode ? zeros : static_cast<uint32_t>(8 * sizeof(T)) - 1 - zeros;
}

// The place of the n-th bit that is set from the base on, upwards or downwards.
void fns(Thread& t, const Op& op) {
  const auto mask = get<uint32_t>(t, op.a), base = get<uint32_t>(t, op.b);
  const int64_t offset = get<int32_t>(t, op.c);
  uint32_t found = 0xFFFFFFFF;
  if (offset == INT32_MIN) {
    found = 0;  // as the hardware has it
  } else if (offset == 0) {
    if (base < 32 && (mask >> base & 1)) found = base;
  } else {
    int64_t left = (offset < 0 ? -offset : offset) - 1;
    for (int64_t place = static_cast<int32_t>(base); place >= 0 && place < 32; place += offset < 0 ? -1 : 1)
      if ((mask >> place & 1) && left-- == 0) {
        found = static_cast<uint32_t>(place);
        break;
      }
  }
  t.registers[op.d] = found;
}

// Position and length are 8 bits for 32-bit values; for 64-bit values the hardware takes them as they are.
template <class T>
struct Field {
  static constexpr uint64_t kBits = 8 * sizeof(T);
  Field(const Thread& t, uint32_t positionAt, uint32_t lengthAt)
      : position(get<uint32_t>(t, positionAt)), length(get<uint32_t>(t, lengthAt)) {
    if (kBits == 32) position &= 0xFF, length &= 0xFF;
  }
  static T ones(uint64_t count) { return count >= kBits ? static_cast<T>(~T(0)) : static_cast<T>((T(1) << count) - 1); }
  uint64_t position, length;
};

template <class T>
void bfe(Thread& t, const Op& op) {
  const Field<T> field(t, op.b, op.c);
  const T value = get<T>(t, op.a);
  const uint64_t top = std::min<uint64_t>(field.position + field.length - 1, Field<T>::kBits - 1);
  const bool sign = isSigned(op.type) && field.length != 0 && (value >> top & 1);
  const uint64_t left = field.position >= Field<T>::kBits ? 0 : Field<T>::kBits - field.position;
  const T mask = Field<T>::ones(std::min(field.length, left));
  const T bits = left ? static_cast<T>(value >> field.position) & mask : T(0);
  put<T>(t, op.d, sign ? static_cast<T>(bits | ~mask) : bits);
}

template <class T>
void bfi(Thread& t, const Op& op) {
  const Field<T> field(t, op.c, op.e);
  const T into = get<T>(t, op.b);
  if (field.position >= Field<T>::kBits) return put<T>(t, op.d, into);
  const T mask = static_cast<T>(Field<T>::ones(field.length) << field.position);
  put<T>(t, op.d, static_cast<T>((into & ~mask) | (static_cast<T>(get<T>(t, op.a) << field.position) & mask)));
}

void szext(Thread& t, const Op& op) {
  const auto a = get<uint32_t>(t, op.a), b = get<uint32_t>(t, op.b), place = b & 31;
  const bool isTooLarge = b >= 32 && op.mode;
  const uint32_t mask = isTooLarge ? 0 : ~uint32_t(0) << place;
  const bool sign = place != 0 && !isTooLarge && op.type == Type::S32 && (a >> ((place - 1) & 31) & 1);
  t.registers[op.d] = (a & ~mask) | (sign ? mask : 0);
}

void bmsk(Thread& t, const Op& op) {
  const auto a = get<uint32_t>(t, op.a), b = get<uint32_t>(t, op.b);
  const uint64_t from = op.mode ? a : a & 31, count = op.mode ? b : b & 31;
  const uint64_t ones = count >= 32 ? 0xFFFFFFFF : (uint64_t(1) << count) - 1;
  t.registers[op.d] = from >= 32 ? 0 : static_cast<uint32_t>(ones << from);
}

uint32_t lop3Of(uint32_t a, uint32_t b, uint32_t c, uint64_t table) {
  uint32_t made = 0;
  for (unsigned i = 0; i < 8; ++i)
    if (table >> i & 1) made |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return made;
}
void lop3(Thread& t, const Op& op) {
  t.registers[op.d] = lop3Of(get<uint32_t>(t, op.a), get<uint32_t>(t, op.b), get<uint32_t>(t, op.c), t.registers[op.e]);
}
// p = (d != 0) or, and q. The predicate q is the fifth source.
void lop3Predicate(Thread& t, const Op& op) {
  const uint32_t made =
      lop3Of(get<uint32_t>(t, op.a), get<uint32_t>(t, op.b), get<uint32_t>(t, op.c), t.registers[op.e]);
  const bool q = t.predicate(op.target, op, 4);
  t.registers[op.d] = made;
  t.registers[op.d2] = op.combine == Combine::And ? made != 0 && q : made != 0 || q;
}

// The upper word of (b:a) shifted left, the lower word of it shifted right.
template <bool kLeft>
void shf(Thread& t, const Op& op) {
  const uint64_t both = t.registers[op.b] << 32 | get<uint32_t>(t, op.a);
  const auto wanted = get<uint32_t>(t, op.c);
  const uint32_t count = op.mode ? std::min<uint32_t>(wanted, 32) : wanted & 31;
  t.registers[op.d] =
      kLeft ? static_cast<uint32_t>((count == 0 ? both : both << count) >> 32) : static_cast<uint32_t>(both >> count);
}

template <class T>
void shl(Thread& t, const Op& op) {
  const auto count = get<uint32_t>(t, op.b);
  put<T>(t, op.d, count >= 8 * sizeof(T) ? T(0) : static_cast<T>(get<T>(t, op.a) << count));
}
template <class T>
void shr(Thread& t, const Op& op) {
  const auto count = std::min<uint32_t>(get<uint32_t>(t, op.b), 8 * sizeof(T));
  const T a = get<T>(t, op.a);
  if (count < 8 * sizeof(T)) put<T>(t, op.d, static_cast<T>(a >> count));
  else put<T>(t, op.d, std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T(0));
}

// Which of the eight bytes of (b:a) the modes take, from the lowest byte of the result on, by the control's lower bits.
void prmt(Thread& t, const Op& op) {
  const uint64_t bytes = t.registers[op.b] << 32 | get<uint32_t>(t, op.a);
  const auto control = get<uint32_t>(t, op.c);
  const unsigned n = control & 3;
  uint32_t made = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned selector = 0;
    switch (op.mode) {
      case 0: selector = control >> 4 * i & 15; break;
      case 1: selector = n + i; break;                   // f4e
      case 2: selector = (n - i) & 7; break;             // b4e
      case 3: selector = n; break;                       // rc8
      case 4: selector = std::max(i, n); break;          // ecl
      case 5: selector = std::min(i, n); break;          // ecr
      default: selector = 2 * (n & 1) + (i & 1); break;  // rc16
    }
    uint32_t byte = bytes >> 8 * (selector & 7) & 0xFF;
    if (selector & 8) byte = byte & 0x80 ? 0xFF : 0;
    made |= byte << 8 * i;
  }
  t.registers[op.d] = made;
}

uint8_t prmtMode(const Instruction& i) {
  uint8_t mode = 0;
  for (const char* word : {".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"}) {
    ++mode;
    if (i.has(word)) return mode;
  }
  return 0;
}

Handler handlerOf(const Instruction& i, Op& op) {
  const std::string& name = i.opcode;
  const Type type = op.type;
  const bool isWide = bitsOf(type) == 64;
  op.mode = i.has(".clamp");
  if (name == "and") return logic<And>(type);
  if (name == "or") return logic<Or>(type);
  if (name == "xor") return logic<Xor>(type);
  if (name == "not") return type == Type::Pred ? notPredicate : unary<Not>(type);
  if (name == "cnot") return unary<Cnot>(type);
  if (name == "brev") return isWide ? unaryHandler<Reverse, uint64_t> : unaryHandler<Reverse, uint32_t>;
  if (name == "popc") return isWide ? popc<uint64_t> : popc<uint32_t>;
  if (name == "clz") return isWide ? clz<uint64_t> : clz<uint32_t>;
  if (name == "bfind") return op.mode = i.has(".shiftamt"), isWide ? bfind<uint64_t> : bfind<uint32_t>;
  if (name == "fns") return fns;
  if (name == "bfe") return isWide ? bfe<uint64_t> : bfe<uint32_t>;
  if (name == "bfi") return isWide ? bfi<uint64_t> : bfi<uint32_t>;
  if (name == "szext") return szext;
  if (name == "bmsk") return bmsk;
  if (name == "shf") return i.has(".l") ? shf<true> : shf<false>;
  if (name == "shl") return forInteger(type, []<class T>() -> Handler { return shl<std::make_unsigned_t<T>>; });
  if (name == "shr") return forInteger(type, []<class T>() -> Handler { return shr<T>; });
  if (name == "prmt") return op.mode = prmtMode(i), prmt;
  return nullptr;
}

void decodeLop3(Decoder& decoder, const Instruction& i, Op& op) {
  op.execute = lop3;
  Instruction four = i;
  if (i.has(".and") || i.has(".or")) {
    if (i.operands.size() != 6) Decoder::unknown(i);
    op.combine = i.has(".and") ? Combine::And : Combine::Or;
    op.target = decoder.source(i.operands[5], Type::Pred);
    if (i.operands[5].isNegated) op.negated = 1 << 4;
    four.operands.pop_back();
    op.execute = lop3Predicate;
  }
  decoder.operands(four, op, Type::B32);
}

}  // namespace

bool decodeBits(Decoder& decoder, const Instruction& i, Op& op) {
  if (i.types.empty()) return false;
  if (i.opcode == "lop3") return decodeLop3(decoder, i, op), true;
  op.execute = handlerOf(i, op);
  if (op.execute) decoder.operands(i, op, op.type);
  return op.execute != nullptr;
}

}  // namespace mulciber::interpreter
