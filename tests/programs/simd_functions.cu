// Every SIMD and DPX intrinsic (CS-060, CS-104, LANG-41, DPX-01 to DPX-04), each against the host's arithmetic on its
// parts, and a hash of each one's results.
#include <algorithm>
#include <type_traits>

#include "program.h"

constexpr int kCount = 8192;

template <class F>
__global__ void apply(const unsigned* in, unsigned long long* out, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = f(in[i], in[i + kCount], in[i + 2 * kCount]);
}

// Words whose halves and bytes are boundaries of their types; then anything, part of it with equal operands.
std::vector<unsigned> makeInput() {
  static const unsigned bytes[] = {0, 1, 0x7F, 0x80, 0x81, 0xFF, 0x40, 0xC0};
  static const unsigned halves[] = {0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x4000, 0x00FF};
  Random random;
  std::vector<unsigned> in(3 * kCount);
  for (int i = 0; i < 3 * kCount; ++i) {
    unsigned& word = in[i];
    const unsigned choice = random.next(), pick = random.next();
    word = random.next() ^ random.next() << 16;
    if (choice % 4 == 0) {
      word = 0;
      for (int part = 0; part < 4; ++part) word |= bytes[pick >> part * 3 & 7] << part * 8;
    } else if (choice % 4 == 1) {
      word = halves[pick & 7] | halves[pick >> 3 & 7] << 16;
    } else if (i >= kCount && choice % 4 == 2) {
      const unsigned mask = choice & 16 ? 0xFFFF0000u : 0x00FF00FFu;
      word = (in[i - kCount] & mask) | (word & ~mask);
    }
  }
  return in;
}
const std::vector<unsigned> input = makeInput();
const unsigned* deviceInput() {
  static const DeviceArray<unsigned> device(input);
  return device.get();
}

template <class F, class Reference>
void check(const char* name, F f, Reference reference) {
  DeviceArray<unsigned long long> out(kCount);
  apply<<<kCount / 256, 256>>>(deviceInput(), out.get(), f);
  finish();
  const std::vector<unsigned long long> got = out.host();
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    const unsigned a = input[i], b = input[i + kCount], c = input[i + 2 * kCount];
    const unsigned long long expected = reference(a, b, c);
    if (got[i] != expected && wrong++ == 0)
      std::printf("%s(%08x, %08x, %08x) = %llx, not %llx\n", name, a, b, c, got[i], expected);
  }
  show(name, got, 2);
}

// Parts of type T, widened, given to `f`; the results side by side. `at` gives a part of the next 32 bits: predicates.
template <class T, class F>
auto parts(F f) {
  return [f](unsigned a, unsigned b, unsigned c) {
    constexpr int bits = sizeof(T) * 8;
    using Word = std::make_unsigned_t<T>;
    unsigned result = 0;
    for (int at = 0; at < 32; at += bits) {
      const long long value = f(static_cast<T>(a >> at), static_cast<T>(b >> at), static_cast<T>(c >> at));
      result |= static_cast<unsigned>(static_cast<Word>(value)) << at;
    }
    return static_cast<unsigned long long>(result);
  };
}
template <class T, class F>
auto sum(F f) {
  return [f](unsigned a, unsigned b, unsigned) {
    unsigned long long total = 0;
    for (size_t at = 0; at < 32; at += sizeof(T) * 8) total += f(static_cast<T>(a >> at), static_cast<T>(b >> at));
    return total;
  };
}
template <class T>
long long clamp(long long value) {
  return std::min<long long>(std::max<long long>(value, std::numeric_limits<T>::min()), std::numeric_limits<T>::max());
}

#define DEVICE(call) [] __device__(unsigned a, unsigned b, unsigned c) -> unsigned { return (void)b, (void)c, call; }
#define HOST(value) [](long long a, long long b, long long c) -> long long { return (void)b, (void)c, value; }
#define PARTS(name, T, arguments, value) check(#name, DEVICE(name arguments), parts<T>(HOST(value)));
#define SIGNED(name, arguments, value)        \
  PARTS(name##2, int16_t, arguments, (value)) \
  PARTS(name##4, int8_t, arguments, (value))
#define UNSIGNED(name, arguments, value)       \
  PARTS(name##2, uint16_t, arguments, (value)) \
  PARTS(name##4, uint8_t, arguments, (value))
#define SATURATED(name, S2, S4, arguments, value) \
  PARTS(name##2, S2, arguments, clamp<S2>(value)) \
  PARTS(name##4, S4, arguments, clamp<S4>(value))
#define COMPARE(name, kind, operation) \
  kind(__vcmp##name, (a, b), a operation b ? -1 : 0) kind(__vset##name, (a, b), a operation b ? 1 : 0)

void arithmetic() {
  SIGNED(__vadd, (a, b), a + b)
  SIGNED(__vsub, (a, b), a - b)
  SATURATED(__vaddss, int16_t, int8_t, (a, b), a + b)
  SATURATED(__vaddus, uint16_t, uint8_t, (a, b), a + b)
  SATURATED(__vsubss, int16_t, int8_t, (a, b), a - b)
  SATURATED(__vsubus, uint16_t, uint8_t, (a, b), a - b)
  SIGNED(__vabs, (a), std::abs(a))
  SATURATED(__vabsss, int16_t, int8_t, (a), std::abs(a))
  SIGNED(__vneg, (a), -a)
  SATURATED(__vnegss, int16_t, int8_t, (a), -a)
  SIGNED(__vabsdiffs, (a, b), std::abs(a - b))
  UNSIGNED(__vabsdiffu, (a, b), std::abs(a - b))
  SIGNED(__vavgs, (a, b), (a + b + (a + b >= 0)) >> 1)
  UNSIGNED(__vavgu, (a, b), (a + b + 1) >> 1)
  UNSIGNED(__vhaddu, (a, b), (a + b) >> 1)
  SIGNED(__vmaxs, (a, b), std::max(a, b))
  UNSIGNED(__vmaxu, (a, b), std::max(a, b))
  SIGNED(__vmins, (a, b), std::min(a, b))
  UNSIGNED(__vminu, (a, b), std::min(a, b))
  check("__vsads2", DEVICE(__vsads2(a, b)), sum<int16_t>([](long a, long b) { return std::labs(a - b); }));
  check("__vsads4", DEVICE(__vsads4(a, b)), sum<int8_t>([](long a, long b) { return std::labs(a - b); }));
  check("__vsadu2", DEVICE(__vsadu2(a, b)), sum<uint16_t>([](long a, long b) { return std::labs(a - b); }));
  check("__vsadu4", DEVICE(__vsadu4(a, b)), sum<uint8_t>([](long a, long b) { return std::labs(a - b); }));
}

void comparisons() {
  COMPARE(eq, UNSIGNED, ==)
  COMPARE(ne, UNSIGNED, !=) COMPARE(ges, SIGNED, >=) COMPARE(gts, SIGNED, >) COMPARE(les, SIGNED, <=)
      COMPARE(lts, SIGNED, <) COMPARE(geu, UNSIGNED, >=) COMPARE(gtu, UNSIGNED, >) COMPARE(leu, UNSIGNED, <=)
          COMPARE(ltu, UNSIGNED, <)
}

#define OF_TYPES(prefix, suffix, arguments, value)       \
  PARTS(prefix##_s32##suffix, int32_t, arguments, value) \
  PARTS(prefix##_s16x2##suffix, int16_t, arguments, value)
#define OF_ALL_TYPES(prefix, arguments, value)    \
  OF_TYPES(prefix, , arguments, value)            \
  PARTS(prefix##_u32, uint32_t, arguments, value) \
  PARTS(prefix##_u16x2, uint16_t, arguments, value)
// A sum wraps before it is compared: the types of parts are T.
#define SUMS(name, T, of, relu)                                                                         \
  check(#name, DEVICE(name(a, b, c)), parts<T>([](long long a, long long b, long long c) -> long long { \
          const long long s = static_cast<T>(a + b), r = std::of(s, c);                                 \
          return relu ? std::max(r, 0ll) : r;                                                           \
        }));
#define SUMS_OF(of)                                                                                  \
  SUMS(__viadd##of##_s32, int32_t, of, false)                                                        \
  SUMS(__viadd##of##_s16x2, int16_t, of, false) SUMS(__viadd##of##_u32, uint32_t, of, false)         \
      SUMS(__viadd##of##_u16x2, uint16_t, of, false) SUMS(__viadd##of##_s32_relu, int32_t, of, true) \
          SUMS(__viadd##of##_s16x2_relu, int16_t, of, true)

// Which operand it was: a predicate for each part, in the upper word.
template <class T, class F>
auto withPredicates(F f, bool greatest) {
  return [f, greatest](unsigned a, unsigned b, unsigned c) {
    unsigned long long result = parts<T>(f)(a, b, c);
    for (size_t part = 0; part < 4 / sizeof(T); ++part) {
      const T x = static_cast<T>(a >> part * 16), y = static_cast<T>(b >> part * 16);
      result |= static_cast<unsigned long long>(greatest ? x >= y : x <= y) << (32 + part);
    }
    return result;
  };
}
#define ONE_PREDICATE(name, T, of, greatest)                                  \
  check(                                                                      \
      #name,                                                                  \
      [] __device__(unsigned a, unsigned b, unsigned) -> unsigned long long { \
        bool first;                                                           \
        const unsigned value = name(a, b, &first);                            \
        return value | static_cast<unsigned long long>(first) << 32;          \
      },                                                                      \
      withPredicates<T>(HOST(std::of(a, b)), greatest));
#define TWO_PREDICATES(name, T, of, greatest)                                 \
  check(                                                                      \
      #name,                                                                  \
      [] __device__(unsigned a, unsigned b, unsigned) -> unsigned long long { \
        bool high, low;                                                       \
        const unsigned value = name(a, b, &high, &low);                       \
        return value | static_cast<unsigned long long>(high * 2 + low) << 32; \
      },                                                                      \
      withPredicates<T>(HOST(std::of(a, b)), greatest));

void dpx() {
  OF_ALL_TYPES(__vimax3, (a, b, c), std::max({a, b, c}))
  OF_ALL_TYPES(__vimin3, (a, b, c), std::min({a, b, c}))
  OF_TYPES(__vimax, _relu, (a, b), std::max({a, b, 0ll}))
  OF_TYPES(__vimin, _relu, (a, b), std::max(std::min(a, b), 0ll))
  OF_TYPES(__vimax3, _relu, (a, b, c), std::max({a, b, c, 0ll}))
  OF_TYPES(__vimin3, _relu, (a, b, c), std::max(std::min({a, b, c}), 0ll))
  SUMS_OF(max)
  SUMS_OF(min)
  ONE_PREDICATE(__vibmax_s32, int32_t, max, true)
  ONE_PREDICATE(__vibmax_u32, uint32_t, max, true) ONE_PREDICATE(__vibmin_s32, int32_t, min, false)
      ONE_PREDICATE(__vibmin_u32, uint32_t, min, false) TWO_PREDICATES(__vibmax_s16x2, int16_t, max, true)
          TWO_PREDICATES(__vibmax_u16x2, uint16_t, max, true) TWO_PREDICATES(__vibmin_s16x2, int16_t, min, false)
              TWO_PREDICATES(__vibmin_u16x2, uint16_t, min, false)
}

#define WORD(name, call, value)                                                                                   \
  check(                                                                                                          \
      #name,                                                                                                      \
      [] __device__(unsigned a, unsigned b, unsigned c) -> unsigned long long { return (void)b, (void)c, call; }, \
      [](unsigned a, unsigned b, unsigned c) -> unsigned long long { return (void)b, (void)c, value; });

template <class A, class B>
unsigned dot(unsigned a, unsigned b, unsigned c, int firstOfB) {
  for (size_t part = 0; part < 4 / sizeof(A); ++part) {
    const int x = static_cast<A>(a >> part * sizeof(A) * 8), y = static_cast<B>(b >> (firstOfB + part) * 8);
    c += static_cast<unsigned>(x * y);
  }
  return c;
}
template <class Wide>
unsigned funnel(unsigned a, unsigned b, unsigned shift, bool left) {
  const Wide both = static_cast<Wide>(b) << 32 | a;
  return static_cast<unsigned>(left ? both << shift >> 32 : both >> shift);
}
unsigned permuted(unsigned a, unsigned b, unsigned c) {
  unsigned result = 0;
  for (int part = 0; part < 4; ++part) {
    const unsigned which = c >> part * 4 & 7;
    result |= ((which < 4 ? a : b) >> (which & 3) * 8 & 0xFF) << part * 8;
  }
  return result;
}
unsigned reversed(unsigned a) {
  unsigned result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= (a >> bit & 1) << (31 - bit);
  return result;
}
int low24(unsigned a) { return static_cast<int>(a << 8) >> 8; }

void words() {
  WORD(__byte_perm, __byte_perm(a, b, c), permuted(a, b, c))
  WORD(__funnelshift_l, __funnelshift_l(a, b, c), funnel<uint64_t>(a, b, c & 31, true))
  WORD(__funnelshift_r, __funnelshift_r(a, b, c), funnel<uint64_t>(a, b, c & 31, false))
  WORD(__funnelshift_lc, __funnelshift_lc(a, b, c & 63), funnel<uint64_t>(a, b, std::min(c & 63, 32u), true))
  WORD(__funnelshift_rc, __funnelshift_rc(a, b, c & 63), funnel<uint64_t>(a, b, std::min(c & 63, 32u), false))
  WORD(__brev, __brev(a), reversed(a))
  WORD(__brevll, __brevll(a | static_cast<unsigned long long>(b) << 32),
       reversed(b) | static_cast<unsigned long long>(reversed(a)) << 32)
  WORD(__clz, __clz(a), a ? __builtin_clz(a) : 32)
  WORD(__clzll, __clzll(a | static_cast<unsigned long long>(b) << 32),
       b   ? __builtin_clz(b)
       : a ? 32 + __builtin_clz(a)
           : 64)
  WORD(__ffs, __ffs(a), __builtin_ffs(a))
  WORD(__ffsll, __ffsll(b | static_cast<unsigned long long>(a) << 32),
       __builtin_ffsll(b | static_cast<unsigned long long>(a) << 32))
  WORD(__popc, __popc(a), __builtin_popcount(a))
  WORD(__popcll, __popcll(a | static_cast<unsigned long long>(b) << 32), __builtin_popcount(a) + __builtin_popcount(b))
  WORD(__mulhi, static_cast<unsigned>(__mulhi(static_cast<int>(a), static_cast<int>(b))),
       static_cast<unsigned>(static_cast<int64_t>(static_cast<int>(a)) * static_cast<int>(b) >> 32))
  WORD(__umulhi, __umulhi(a, b), static_cast<uint64_t>(a) * b >> 32)
  WORD(__mul24, static_cast<unsigned>(__mul24(a, b)), static_cast<unsigned>(static_cast<int64_t>(low24(a)) * low24(b)))
  WORD(__umul24, __umul24(a, b), static_cast<unsigned>(static_cast<uint64_t>(a & 0xFFFFFF) * (b & 0xFFFFFF)))
  WORD(__sad, __sad(static_cast<int>(a), static_cast<int>(b), c),
       static_cast<unsigned>(c + std::llabs(static_cast<int64_t>(static_cast<int>(a)) - static_cast<int>(b))))
  WORD(__usad, __usad(a, b, c), static_cast<unsigned>(c + std::llabs(static_cast<int64_t>(a) - b)))
  WORD(__hadd, static_cast<unsigned>(__hadd(static_cast<int>(a), static_cast<int>(b))),
       static_cast<unsigned>((static_cast<int64_t>(static_cast<int>(a)) + static_cast<int>(b)) >> 1))
  WORD(__rhadd, static_cast<unsigned>(__rhadd(static_cast<int>(a), static_cast<int>(b))),
       static_cast<unsigned>((static_cast<int64_t>(static_cast<int>(a)) + static_cast<int>(b) + 1) >> 1))
  WORD(__uhadd, __uhadd(a, b), (static_cast<uint64_t>(a) + b) >> 1)
  WORD(__urhadd, __urhadd(a, b), (static_cast<uint64_t>(a) + b + 1) >> 1)
  WORD(__dp4a_s, static_cast<unsigned>(__dp4a(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c))),
       (dot<int8_t, int8_t>(a, b, c, 0)))
  WORD(__dp4a_u, __dp4a(a, b, c), (dot<uint8_t, uint8_t>(a, b, c, 0)))
  WORD(__dp2a_lo_s, static_cast<unsigned>(__dp2a_lo(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c))),
       (dot<int16_t, int8_t>(a, b, c, 0)))
  WORD(__dp2a_hi_s, static_cast<unsigned>(__dp2a_hi(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c))),
       (dot<int16_t, int8_t>(a, b, c, 2)))
  WORD(__dp2a_lo_u, __dp2a_lo(a, b, c), (dot<uint16_t, uint8_t>(a, b, c, 0)))
  WORD(__dp2a_hi_u, __dp2a_hi(a, b, c), (dot<uint16_t, uint8_t>(a, b, c, 2)))
}

int main() {
  arithmetic();
  comparisons();
  dpx();
  words();
}
