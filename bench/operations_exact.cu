// Operations that Mulciber makes of others, on all operands or some hundred million random ones: the check is a hash of
// the results' bits. All hashes equal the native ones; with MULCIBER_EXACT_DENORMALS=0 multiply-adds of f32 flush
// denormals.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "bench.h"

namespace {

using uint64 = unsigned long long;
using bench::mix;

__device__ uint64 number(uint64 i, uint64 which) { return mix(i * 3 + which + 12345); }

// An operand that meets the other one often: near its size or its bits, a product of both near one, an end of the
// range.
__device__ unsigned beside(unsigned other, uint64 random) {
  const unsigned bits = unsigned(random), size = other & 0x7f800000;
  switch (random >> 32 & 15) {
    case 0: return bits & 0x807fffff;  // denormal
    case 1: return other ^ (bits & 0x8000000f);
    case 2: return size + (bits & 0x80ffffff);
    case 3: return bits & 0xff800000;
    case 4: return (size + ((int(bits % 60) - 30) << 23)) ^ (bits & 0x807fffff);
    case 5: return 0x7f7fffff ^ (bits & 0x80000003);
    case 6: return bits & 0xffff0000;
    case 7: return (0x7f000000 - size) + (bits & 0x807fffff);
    default: return bits;
  }
}

struct Singles {
  float x, y, z;
};
__device__ Singles singles(uint64 i) {
  const uint64 random = number(i, 2);
  const unsigned x = unsigned(number(i, 0)), y = beside(x, number(i, 1));
  unsigned z = beside(random >> 40 & 1 ? x : y, random);
  if ((random >> 50 & 7) == 0)  // cancels the product, almost
    z = __float_as_uint(-__uint_as_float(x) * __uint_as_float(y)) + (int(random >> 53 & 7) - 3);
  return {__uint_as_float(x), __uint_as_float(y), __uint_as_float(z)};
}

struct Doubles {
  double x, y, z;
};
__device__ Doubles doubles(uint64 i) {
  const uint64 a = number(i, 0), b = number(i, 1), c = number(i, 2);
  const double x = __longlong_as_double(a & 0xbfffffffffffffff);
  const double y = __longlong_as_double((b & 15) < 8 ? (a & 0x7ff0000000000000) ^ (b & 0x803fffffffffffff) : b);
  if ((c & 7) == 0) return {x, y, -(x * y)};
  return {x, y, (c & 7) < 4 ? -x * (1 + (c >> 8 & 255) * 1e-15) : __longlong_as_double(c)};
}

// With .ftz, beside an operation that keeps denormals.
#define FLUSHING(name, operation)                                          \
  __device__ float name(float x, float y) {                                \
    float result;                                                          \
    asm(operation ".ftz.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y)); \
    return result;                                                         \
  }
FLUSHING(flushingSum, "add")
FLUSHING(flushingDifference, "sub")
FLUSHING(flushingProduct, "mul")
FLUSHING(flushingMinimum, "min")

// Any NaN is as good as another.
__device__ uint64 bits(float x) { return x != x ? 1u : __float_as_uint(x); }
__device__ uint64 bits(double x) { return x != x ? 1u : uint64(__double_as_longlong(x)); }
__device__ uint64 bits(__half x) {
  const unsigned short pattern = __half_as_ushort(x);
  return (pattern & 0x7fff) > 0x7c00 ? 1 : pattern;
}
__device__ uint64 bits(__nv_bfloat16 x) {
  const unsigned short pattern = __bfloat16_as_ushort(x);
  return (pattern & 0x7fff) > 0x7f80 ? 1 : pattern;
}
template <class T>
__device__ std::enable_if_t<std::is_integral_v<T>, uint64> bits(T x) {
  return uint64(x);
}

template <class F>
__global__ void hashResults(F resultOf, uint64 count, uint64* hash) {
  uint64 sum = 0;
  for (uint64 i = blockIdx.x * uint64(blockDim.x) + threadIdx.x; i < count; i += uint64(gridDim.x) * blockDim.x)
    sum += mix(resultOf(i) + i * 0x9E3779B97F4A7C15);
  atomicAdd(hash, sum);
}

class Exactness {
 public:
  Exactness(int argc, char** argv)
      : small_(argc > 1 && !std::strcmp(argv[1], "--small")), hash_(deviceArray<uint64>(1)) {}

  template <class F>
  void run(const char* name, int log2, F resultOf) const {
    const uint64 count = uint64(1) << (small_ ? 12 : log2);
    uint64 hash = 0;
    CHECK(cudaMemset(hash_, 0, sizeof hash));
    const double begin = microseconds();
    hashResults<<<small_ ? 8 : 132 * 8, 256>>>(resultOf, count, hash_);
    CHECK(cudaMemcpy(&hash, hash_, sizeof hash, cudaMemcpyDeviceToHost));
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", hash);
    report("exact operations", name, microseconds() - begin, "us", text);
  }

 private:
  bool small_;
  uint64* hash_;
};

#define OF_SINGLES(name, result)              \
  all.run(name, 30, [] __device__(uint64 i) { \
    const auto [x, y, z] = singles(i);        \
    return bits(result);                      \
  })
#define OF_DOUBLES(name, result)              \
  all.run(name, 28, [] __device__(uint64 i) { \
    const auto [x, y, z] = doubles(i);        \
    return bits(result);                      \
  })
// All numbers, or patterns n, of 32 bits.
#define OF_ALL(name, result)                  \
  all.run(name, 32, [] __device__(uint64 i) { \
    const unsigned n = unsigned(i);           \
    const float x = __uint_as_float(n);       \
    (void)x;                                  \
    return bits(result);                      \
  })
// All pairs.
#define OF_HALVES(name, result)                                                   \
  all.run(name, 32, [] __device__(uint64 i) {                                     \
    const __half x = __ushort_as_half(i & 0xffff), y = __ushort_as_half(i >> 16); \
    return bits(result);                                                          \
  })
#define OF_BFLOATS(name, result)                                                                                  \
  all.run(name, 32, [] __device__(uint64 i) {                                                                     \
    [[maybe_unused]] const __nv_bfloat16 x = __ushort_as_bfloat16(i & 0xffff), y = __ushort_as_bfloat16(i >> 16), \
                                         z = __ushort_as_bfloat16(mix(i));                                        \
    return bits(result);                                                                                          \
  })
#define OF_WORDS(name, result)                                                                                        \
  all.run(name, 30, [] __device__(uint64 i) {                                                                         \
    const uint64 a = number(i, 0), b = number(i, 1);                                                                  \
    const unsigned x = unsigned(a), y = b >> 40 & 1 ? unsigned(a >> 32) : x ^ unsigned(b & b >> 32), z = unsigned(b); \
    (void)z;                                                                                                          \
    return bits(result);                                                                                              \
  })

void sums(const Exactness& all) {
  OF_SINGLES("f32 add.rz", __fadd_rz(x, y));
  OF_SINGLES("f32 add.rm", __fadd_rd(x, y));
  OF_SINGLES("f32 add.rp", __fadd_ru(x, y));
  OF_SINGLES("f32 sub.rz", __fsub_rz(x, z));
  OF_SINGLES("f32 add.rz of 1", __fadd_rz(x, 1.0f));
  OF_SINGLES("f32 mul.rz", __fmul_rz(x, y));
  OF_SINGLES("f32 mul.rm", __fmul_rd(x, y));
  OF_SINGLES("f32 mul.rp", __fmul_ru(x, y));
  OF_SINGLES("f32 fma.rn", __fmaf_rn(x, y, z));
  OF_SINGLES("f32 fma.rz", __fmaf_rz(x, y, z));
  OF_SINGLES("f32 fma.rm", __fmaf_rd(x, y, z));
  OF_SINGLES("f32 fma.rp", __fmaf_ru(x, y, z));
  OF_SINGLES("f32 fma.rm of constants", __fmaf_rd(x, 0.25f, 12582913.0f));
  OF_SINGLES("f32 add.ftz beside add", bits(flushingSum(x, z)) * 3 + bits(x + y));
  OF_SINGLES("f32 sub.ftz beside add", bits(flushingDifference(x, z)) * 3 + bits(x + y));
  OF_SINGLES("f32 mul.ftz beside add", bits(flushingProduct(x, y)) * 3 + bits(x + z));
  OF_SINGLES("f32 min.ftz beside add", bits(flushingMinimum(x, y)) * 3 + bits(x + z));
  OF_SINGLES("f32 min", fminf(x, y));
  OF_SINGLES("f32 max", fmaxf(x, z));
  OF_DOUBLES("f64 add.rz", __dadd_rz(x, z));
  OF_DOUBLES("f64 add.rm", __dadd_rd(x, z));
  OF_DOUBLES("f64 mul.rz", __dmul_rz(x, y));
  OF_DOUBLES("f64 fma.rz", __fma_rz(x, y, z));
  OF_DOUBLES("f64 fma.rm", __fma_rd(x, y, z));
  OF_DOUBLES("f64 fma.rp", __fma_ru(x, y, z));
  OF_HALVES("f16 add", __hadd_rn(x, y));
  OF_HALVES("f16 mul", __hmul_rn(x, y));
  OF_HALVES("f16 div", __hdiv(x, y));
  OF_HALVES("f16 min", __hmin(x, y));
  OF_BFLOATS("bf16 add", __hadd_rn(x, y));
  OF_BFLOATS("bf16 mul", __hmul_rn(x, y));
  OF_BFLOATS("bf16 fma", __hfma(x, y, z));
  OF_BFLOATS("bf16 max", __hmax(x, y));
}

void conversions(const Exactness& all) {
  OF_ALL("f32 to s32", __float2int_rz(x));
  OF_ALL("f32 to s32, nearest", __float2int_rn(x));
  OF_ALL("f32 to u32", __float2uint_rz(x));
  OF_ALL("f32 to u32, up", __float2uint_ru(x));
  OF_ALL("f32 to s64", __float2ll_rz(x));
  OF_ALL("f32 to u64, down", __float2ull_rd(x));
  OF_ALL("f64 to s32", __double2int_rz(double(x) * 1.0000001));
  OF_ALL("f64 to u64, nearest", __double2ull_rn(double(x) * 1.3));
  OF_ALL("f32 to f16", __float2half_rn(x));
  OF_ALL("f32 to f16, toward zero", __float2half_rz(x));
  OF_ALL("f32 to f16 and back", __half2float(__float2half_rn(x)));
  OF_ALL("f32 to half2", __high2half(__floats2half2_rn(x, x * 2)));
  OF_ALL("f32 to bf16", __float2bfloat16_rn(x));
  OF_ALL("f32 to bf16 and back", __bfloat162float(__float2bfloat16_rn(x)));
  OF_ALL("s32 to f16", __int2half_rn(int(n)));
  OF_ALL("u32 to f16, toward zero", __uint2half_rz(n));
  OF_ALL("s32 to bf16", __int2bfloat16_rn(int(n)));
  OF_ALL("s32 to f32, toward zero", __int2float_rz(int(n)));
  OF_ALL("s32 to f32, up", __int2float_ru(int(n)));
  OF_ALL("u32 to f32, down", __uint2float_rd(n));
}

void functions(const Exactness& all) {
  OF_ALL("roundf", roundf(x));
  OF_ALL("rintf", rintf(x));
  OF_ALL("log1pf", log1pf(x));
  OF_ALL("asinhf", asinhf(x));
  OF_ALL("expf", expf(x));
}

void integers(const Exactness& all) {
  OF_WORDS("funnel shifts", __funnelshift_l(x, y, z & 63) * 3 + __funnelshift_rc(x, y, z >> 6 & 63) * 5 +
                                __funnelshift_r(x, y, z) * 7 + __funnelshift_lc(x, y, z >> 3));
  OF_WORDS("shifts by data", (z >> 9 & 1 ? x << (z & 31) : x >> (z & 31)) + (y >> (z >> 5 & 31) | y << (~z >> 5 & 31)));
  OF_WORDS("byte_perm", __byte_perm(x, y, z));
  OF_WORDS("bytes and halves", __vadd4(x, y) + __vsub2(x, y) * 3 + __vabsdiffu4(x, y) * 5 + __vsadu4(x, y) * 7 +
                                   __vmaxs4(x, y) * 9 + __vaddss4(x, y) * 11 + __vabsdiffs2(x, y) * 13 +
                                   __vminu2(x, y) * 15 + __vsads2(x, y) * 17 + __vcmpgts4(x, y) * 19 +
                                   __vsubss2(x, y) * 21 + __vavgu4(x, y) * 23);
  OF_WORDS("sad", __sad(int(x), int(y), z) * 3 + __usad(x, y, z));
  all.run("128 bits", 30, [] __device__(uint64 i) {
    using Wide = unsigned __int128;
    const uint64 a = number(i, 0), b = number(i, 1), c = b & 1 ? ~a + (b >> 62) : number(i, 2);
    const Wide x = Wide(a) << 64 | b, y = Wide(c) << 64 | a;
    const Wide all = x * y + (x - y) * 3 + (x + y) * 5 + (b & 6 ? x / (y >> (c & 127) | 1) : x % (y | 1)) * 7;
    return uint64(all) * 3 + uint64(all >> 64);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const Exactness all(argc, argv);
  sums(all);
  conversions(all);
  functions(all);
  integers(all);
}
