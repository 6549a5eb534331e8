// Arithmetic on the bytes and halves of a word, and the functions of dynamic programming.
#ifndef MULCIBER_DEVICE_SIMD_H
#define MULCIBER_DEVICE_SIMD_H

// `f` of each pair of parts, which are widened from T; the results, shortened again, side by side.
template <class T, class F>
__host__ __device__ __forceinline__ unsigned __mulciber_parts(unsigned x, unsigned y, F f) {
  const int bits = 8 * sizeof(T);
  unsigned result = 0;
#pragma unroll
  for (int at = 0; at < 32; at += bits) {
    const int part = f(static_cast<int>(static_cast<T>(x >> at)), static_cast<int>(static_cast<T>(y >> at)));
    result |= (static_cast<unsigned>(part) & ((1u << bits) - 1)) << at;
  }
  return result;
}
template <class T>
__host__ __device__ __forceinline__ int __mulciber_saturated(int x) {
  const int highest = static_cast<T>(-1) < 0 ? (1 << (8 * sizeof(T) - 1)) - 1 : (1 << 8 * sizeof(T)) - 1;
  const int lowest = static_cast<T>(-1) < 0 ? -highest - 1 : 0;
  return x < lowest ? lowest : x > highest ? highest : x;
}

#define MULCIBER_SIMD(name, T, value)                                                         \
  MULCIBER_BOTH unsigned name(unsigned x, unsigned y) {                                       \
    return __mulciber_parts<T>(x, y, [](int a, int b) { return (void)a, (void)b, (value); }); \
  }
#define MULCIBER_SIMD_1(name, T, value)                                   \
  MULCIBER_BOTH unsigned name(unsigned x) {                               \
    return __mulciber_parts<T>(x, 0, [](int a, int) { return (value); }); \
  }
#define MULCIBER_COMPARISON(kind, T, comparison, n)          \
  MULCIBER_SIMD(__vcmp##kind##n, T, a comparison b ? -1 : 0) \
  MULCIBER_SIMD(__vset##kind##n, T, a comparison b ? 1 : 0)
#define MULCIBER_ALL(n, S, U)                                                                                   \
  MULCIBER_SIMD_1(__vabs##n, S, a < 0 ? -a : a)                                                                 \
  MULCIBER_SIMD_1(__vabsss##n, S, __mulciber_saturated<S>(a < 0 ? -a : a))                                      \
  MULCIBER_SIMD_1(__vneg##n, S, -a)                                                                             \
  MULCIBER_SIMD_1(__vnegss##n, S, __mulciber_saturated<S>(-a))                                                  \
  MULCIBER_SIMD(__vadd##n, U, a + b)                                                                            \
  MULCIBER_SIMD(__vaddss##n, S, __mulciber_saturated<S>(a + b))                                                 \
  MULCIBER_SIMD(__vaddus##n, U, __mulciber_saturated<U>(a + b))                                                 \
  MULCIBER_SIMD(__vsub##n, U, a - b)                                                                            \
  MULCIBER_SIMD(__vsubss##n, S, __mulciber_saturated<S>(a - b))                                                 \
  MULCIBER_SIMD(__vsubus##n, U, __mulciber_saturated<U>(a - b))                                                 \
  MULCIBER_SIMD(__vavgs##n, S, (a + b + (a + b >= 0)) >> 1)                                                     \
  MULCIBER_SIMD(__vavgu##n, U, (a + b + 1) >> 1)                                                                \
  MULCIBER_SIMD(__vhaddu##n, U, (a + b) >> 1)                                                                   \
  MULCIBER_SIMD(__vabsdiffs##n, S, a > b ? a - b : b - a)                                                       \
  MULCIBER_SIMD(__vabsdiffu##n, U, a > b ? a - b : b - a)                                                       \
  MULCIBER_SIMD(__vmaxs##n, S, a > b ? a : b)                                                                   \
  MULCIBER_SIMD(__vmaxu##n, U, a > b ? a : b)                                                                   \
  MULCIBER_SIMD(__vmins##n, S, a < b ? a : b)                                                                   \
  MULCIBER_SIMD(__vminu##n, U, a < b ? a : b)                                                                   \
  MULCIBER_COMPARISON(eq, U, ==, n)                                                                             \
  MULCIBER_COMPARISON(ne, U, !=, n)                                                                             \
  MULCIBER_COMPARISON(ges, S, >=, n)                                                                            \
  MULCIBER_COMPARISON(geu, U, >=, n)                                                                            \
  MULCIBER_COMPARISON(gts, S, >, n)                                                                             \
  MULCIBER_COMPARISON(gtu, U, >, n)                                                                             \
  MULCIBER_COMPARISON(les, S, <=, n)                                                                            \
  MULCIBER_COMPARISON(leu, U, <=, n)                                                                            \
  MULCIBER_COMPARISON(lts, S, <, n)                                                                             \
  MULCIBER_COMPARISON(ltu, U, <, n)                                                                             \
  MULCIBER_BOTH unsigned __vsads##n(unsigned x, unsigned y) { return __mulciber_sum<U>(__vabsdiffs##n(x, y)); } \
  MULCIBER_BOTH unsigned __vsadu##n(unsigned x, unsigned y) { return __mulciber_sum<U>(__vabsdiffu##n(x, y)); }

template <class U>
__host__ __device__ __forceinline__ unsigned __mulciber_sum(unsigned x) {
  unsigned sum = 0;
  for (int at = 0; at < 32; at += 8 * sizeof(U)) sum += static_cast<U>(x >> at);
  return sum;
}
MULCIBER_ALL(2, short, unsigned short)
MULCIBER_ALL(4, signed char, unsigned char)
#undef MULCIBER_ALL
#undef MULCIBER_COMPARISON

// The functions of dynamic programming: largest and smallest of sums, of three, and not below zero (relu).
#define MULCIBER_WORDS(suffix, T, U)                                                                  \
  MULCIBER_BOTH T __vimax3_##suffix(T a, T b, T c) { return max(max(a, b), c); }                      \
  MULCIBER_BOTH T __vimin3_##suffix(T a, T b, T c) { return min(min(a, b), c); }                      \
  MULCIBER_BOTH T __viaddmax_##suffix(T a, T b, T c) {                                                \
    return max(static_cast<T>(static_cast<U>(a) + static_cast<U>(b)), c);                             \
  }                                                                                                   \
  MULCIBER_BOTH T __viaddmin_##suffix(T a, T b, T c) {                                                \
    return min(static_cast<T>(static_cast<U>(a) + static_cast<U>(b)), c);                             \
  }                                                                                                   \
  MULCIBER_BOTH T __vibmax_##suffix(T a, T b, bool* isFirst) { return *isFirst = a >= b, max(a, b); } \
  MULCIBER_BOTH T __vibmin_##suffix(T a, T b, bool* isFirst) { return *isFirst = a <= b, min(a, b); }
MULCIBER_WORDS(s32, int, unsigned)
MULCIBER_WORDS(u32, unsigned, unsigned)
#undef MULCIBER_WORDS
MULCIBER_BOTH int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
MULCIBER_BOTH int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
MULCIBER_BOTH int __vimax3_s32_relu(int a, int b, int c) { return max(__vimax3_s32(a, b, c), 0); }
MULCIBER_BOTH int __vimin3_s32_relu(int a, int b, int c) { return max(__vimin3_s32(a, b, c), 0); }
MULCIBER_BOTH int __viaddmax_s32_relu(int a, int b, int c) { return max(__viaddmax_s32(a, b, c), 0); }
MULCIBER_BOTH int __viaddmin_s32_relu(int a, int b, int c) { return max(__viaddmin_s32(a, b, c), 0); }

#define MULCIBER_HALVES(kind, T)                                                                              \
  MULCIBER_BOTH unsigned __vimax3_##kind##16x2(unsigned a, unsigned b, unsigned c) {                          \
    return __vmax##kind##2(__vmax##kind##2(a, b), c);                                                         \
  }                                                                                                           \
  MULCIBER_BOTH unsigned __vimin3_##kind##16x2(unsigned a, unsigned b, unsigned c) {                          \
    return __vmin##kind##2(__vmin##kind##2(a, b), c);                                                         \
  }                                                                                                           \
  MULCIBER_BOTH unsigned __viaddmax_##kind##16x2(unsigned a, unsigned b, unsigned c) {                        \
    return __vmax##kind##2(__vadd2(a, b), c);                                                                 \
  }                                                                                                           \
  MULCIBER_BOTH unsigned __viaddmin_##kind##16x2(unsigned a, unsigned b, unsigned c) {                        \
    return __vmin##kind##2(__vadd2(a, b), c);                                                                 \
  }                                                                                                           \
  MULCIBER_BOTH unsigned __vibmax_##kind##16x2(unsigned a, unsigned b, bool* isFirstHigh, bool* isFirstLow) { \
    *isFirstHigh = static_cast<T>(a >> 16) >= static_cast<T>(b >> 16);                                        \
    *isFirstLow = static_cast<T>(a) >= static_cast<T>(b);                                                     \
    return __vmax##kind##2(a, b);                                                                             \
  }                                                                                                           \
  MULCIBER_BOTH unsigned __vibmin_##kind##16x2(unsigned a, unsigned b, bool* isFirstHigh, bool* isFirstLow) { \
    *isFirstHigh = static_cast<T>(a >> 16) <= static_cast<T>(b >> 16);                                        \
    *isFirstLow = static_cast<T>(a) <= static_cast<T>(b);                                                     \
    return __vmin##kind##2(a, b);                                                                             \
  }
MULCIBER_HALVES(s, short)
MULCIBER_HALVES(u, unsigned short)
#undef MULCIBER_HALVES
#define MULCIBER_RELU(name, value, ...) \
  MULCIBER_BOTH unsigned name(__VA_ARGS__) { return __vmaxs2(value, 0); }
MULCIBER_RELU(__vimax_s16x2_relu, __vmaxs2(a, b), unsigned a, unsigned b)
MULCIBER_RELU(__vimin_s16x2_relu, __vmins2(a, b), unsigned a, unsigned b)
MULCIBER_RELU(__vimax3_s16x2_relu, __vimax3_s16x2(a, b, c), unsigned a, unsigned b, unsigned c)
MULCIBER_RELU(__vimin3_s16x2_relu, __vimin3_s16x2(a, b, c), unsigned a, unsigned b, unsigned c)
MULCIBER_RELU(__viaddmax_s16x2_relu, __viaddmax_s16x2(a, b, c), unsigned a, unsigned b, unsigned c)
MULCIBER_RELU(__viaddmin_s16x2_relu, __viaddmin_s16x2(a, b, c), unsigned a, unsigned b, unsigned c)
#undef MULCIBER_RELU
#undef MULCIBER_SIMD
#undef MULCIBER_SIMD_1

#endif
