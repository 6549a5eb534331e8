// half and bfloat16: arithmetic, minima, comparisons, roundings and conversions in each rounding mode, over all values
// of the first operand (LANG-42, MATH-16). Sums, differences, products and conversions are checked on the host.
#include <cmath>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "program.h"

constexpr int kCount = 65536;

template <class T>
__device__ T made(unsigned bits) {
  const unsigned short word = static_cast<unsigned short>(bits);
  T value;
  std::memcpy(&value, &word, 2);
  return value;
}
template <class T>
__device__ unsigned bitsOf(T value) {
  unsigned short word;
  std::memcpy(&word, &value, 2);
  return word;
}
__device__ unsigned bitsOf(bool value) { return value; }
__device__ unsigned bitsOf(int value) { return value; }

// The operands: every value, and two that a hash makes of it, often near it.
__host__ __device__ unsigned second(unsigned a) { return (a & 3) == 0 ? a + (a >> 9 & 3) - 1 : a * 40503u >> 7; }
__host__ __device__ unsigned third(unsigned a) { return (a & 12) == 0 ? a ^ 0x8000u : a * 30011u >> 3; }

template <class F>
__global__ void apply(unsigned long long* out, F f) {
  const unsigned a = blockIdx.x * blockDim.x + threadIdx.x;
  out[a] = f(a, second(a) & 0xFFFF, third(a) & 0xFFFF);
}

double valueOf(unsigned bits, int exponentBits) {
  const int fractionBits = 15 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = bits >> fractionBits & ((1 << exponentBits) - 1);
  const double fraction = bits & ((1 << fractionBits) - 1), sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fractionBits);
  return sign * std::ldexp(fraction + (1 << fractionBits), exponent - bias - fractionBits);
}
// The nearest value of the format, of two the even one.
double nearest(double value, int exponentBits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int fractionBits = 15 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  const int step = std::max(std::ilogb(value), 1 - bias) - fractionBits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
  return std::fabs(rounded) >= std::ldexp(1.0, bias + 1) ? std::copysign(INFINITY, value) : rounded;
}

using Reference = double (*)(double a, double b);

// `isNumber`: the results are 16 bits of a number, whose NaNs count as one.
template <class F>
void run(const char* name, int exponentBits, bool isNumber, F f, Reference reference = nullptr) {
  DeviceArray<unsigned long long> out(kCount);
  apply<<<kCount / 256, 256>>>(out.get(), f);
  finish();
  std::vector<unsigned long long> got = out.host();
  int wrong = 0;
  for (unsigned a = 0; a < kCount; ++a) {
    if (!isNumber) continue;
    const double value = valueOf(static_cast<unsigned>(got[a]), exponentBits);
    if (reference) {
      const double x = valueOf(a, exponentBits), y = valueOf(second(a) & 0xFFFF, exponentBits);
      const double exact = nearest(reference(x, y), exponentBits);
      wrong +=
          !(value == exact && std::signbit(value) == std::signbit(exact)) && !(std::isnan(value) && std::isnan(exact));
    }
    if (std::isnan(value)) got[a] = 0x7FFF;
  }
  if (reference) std::printf("%d wrong ", wrong);
  show(name, got, 2);
}

#define DEVICE(T, call)                                                     \
  [] __device__(unsigned i, unsigned j, unsigned k) -> unsigned long long { \
    const T a = made<T>(i), b = made<T>(j), c = made<T>(k);                 \
    (void)a, (void)b, (void)c;                                              \
    return call;                                                            \
  }
#define NUMBER(T, name, arguments) run(#T " " #name, kExponent, true, DEVICE(T, bitsOf(name arguments)));
#define EXACT(T, name, arguments, value)                                \
  run(#T " " #name, kExponent, true, DEVICE(T, bitsOf(name arguments)), \
      [](double a, double b) -> double { return (void)b, value; });
#define OTHER(T, name, arguments) \
  run(#T " " #name, kExponent, false, DEVICE(T, static_cast<unsigned long long>(name arguments)));

// What both formats have.
#define BOTH(T)                                                                                                       \
  EXACT(T, __hadd, (a, b), a + b)                                                                                     \
  EXACT(T, __hsub, (a, b), a - b) EXACT(T, __hmul, (a, b), a* b) EXACT(T, __hadd_rn, (a, b), a + b)                   \
      EXACT(T, __hsub_rn, (a, b), a - b) EXACT(T, __hmul_rn, (a, b), a* b) EXACT(T, __hneg, (a), -a)                  \
          EXACT(T, __habs, (a), std::fabs(a)) NUMBER(T, __hadd_sat, (a, b)) NUMBER(T, __hsub_sat, (a, b))             \
              NUMBER(T, __hmul_sat, (a, b)) NUMBER(T, __hfma, (a, b, c)) NUMBER(T, __hfma_sat, (a, b, c))             \
                  NUMBER(T, __hfma_relu, (a, b, c)) NUMBER(T, __hmin, (a, b)) NUMBER(T, __hmax, (a, b))               \
                      NUMBER(T, __hmin_nan, (a, b)) NUMBER(T, __hmax_nan, (a, b)) EXACT(T, hceil, (a), std::ceil(a))  \
                          EXACT(T, hfloor, (a), std::floor(a)) EXACT(T, htrunc, (a), std::trunc(a))                   \
                              EXACT(T, hrint, (a), std::nearbyint(a)) OTHER(T, __heq, (a, b)) OTHER(T, __hne, (a, b)) \
                                  OTHER(T, __hlt, (a, b)) OTHER(T, __hle, (a, b)) OTHER(T, __hgt, (a, b))             \
                                      OTHER(T, __hge, (a, b)) OTHER(T, __hequ, (a, b)) OTHER(T, __hneu, (a, b))       \
                                          OTHER(T, __hltu, (a, b)) OTHER(T, __hleu, (a, b)) OTHER(T, __hgtu, (a, b))  \
                                              OTHER(T, __hgeu, (a, b)) OTHER(T, __hisnan, (a)) OTHER(T, __hisinf, (a))

#define IN_MODES(macro, T, name, arguments)                                                    \
  macro(T, name##_rn, arguments) macro(T, name##_rz, arguments) macro(T, name##_ru, arguments) \
      macro(T, name##_rd, arguments)
#define INTEGERS(T, from, to)                                                                                          \
  IN_MODES(OTHER, T, __##from##2int, (a))                                                                              \
  IN_MODES(OTHER, T, __##from##2uint, (a)) IN_MODES(OTHER, T, __##from##2short, (a)) IN_MODES(                         \
      OTHER, T, __##from##2ushort, (a)) IN_MODES(OTHER, T, __##from##2ll, (a)) IN_MODES(OTHER, T, __##from##2ull, (a)) \
      IN_MODES(NUMBER, T, __int2##to, (static_cast<int>(i << 16 | j) >> (k & 31))) IN_MODES(                           \
          NUMBER, T, __uint2##to, ((i << 16 | j) >> (k & 31))) IN_MODES(NUMBER, T, __short2##to,                       \
                                                                        (static_cast<short>(i)))                       \
          IN_MODES(NUMBER, T, __ushort2##to, (static_cast<unsigned short>(i))) IN_MODES(                               \
              NUMBER, T, __ll2##to,                                                                                    \
              ((static_cast<long long>(i) << 48 | static_cast<long long>(j) << 20 | k) >> (k & 63)))                   \
              IN_MODES(NUMBER, T, __ull2##to,                                                                          \
                       ((static_cast<unsigned long long>(i) << 48 | static_cast<unsigned long long>(j) << 20 | k) >>   \
                        (k & 63)))

void halfs() {
  constexpr int kExponent = 5;
  BOTH(__half)
  INTEGERS(__half, half, half)
  IN_MODES(NUMBER, __half, __float2half, (__uint_as_float(i << 16 | j)))
  NUMBER(__half, __double2half,
         (__hiloint2double(static_cast<int>((0x3F00u + (i & 0xFFu)) << 16 | j | (i & 0x8000u) << 16),
                           static_cast<int>(k << 9))))
  OTHER(__half, __float_as_uint, (__half2float(a) == __half2float(a) ? __half2float(a) : 0.0f))
}
void brains() {
  constexpr int kExponent = 8;
  BOTH(__nv_bfloat16)
  INTEGERS(__nv_bfloat16, bfloat16, bfloat16)
  IN_MODES(NUMBER, __nv_bfloat16, __float2bfloat16, (__uint_as_float(i << 16 | j)))
  NUMBER(__nv_bfloat16, __double2bfloat16,
         (__hiloint2double(static_cast<int>((0x3F00u + (i & 0xFFu)) << 16 | j | (i & 0x8000u) << 16),
                           static_cast<int>(k << 9))))
  OTHER(__nv_bfloat16, __float_as_uint, (__bfloat162float(a) == __bfloat162float(a) ? __bfloat162float(a) : 0.0f))
}

int main() {
  halfs();
  brains();
}
