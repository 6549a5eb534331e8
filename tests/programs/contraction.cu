// Products and sums that the assembler of PTX may round once: random expressions, and what keeps it from doing so.
// nvcc would fuse first, so every operation is PTX.
#include <cuda_fp16.h>

#include "program.h"

template <class T>
struct Ops;
#define OPERATIONS(type, suffix, letter)                                \
  template <>                                                           \
  struct Ops<type> {                                                    \
    static __device__ type mul(type a, type b) {                        \
      asm("mul." suffix " %0, %0, %1;" : "+" letter(a) : letter(b));    \
      return a;                                                         \
    }                                                                   \
    static __device__ type add(type a, type b) {                        \
      asm("add." suffix " %0, %0, %1;" : "+" letter(a) : letter(b));    \
      return a;                                                         \
    }                                                                   \
    static __device__ type sub(type a, type b) {                        \
      asm("sub." suffix " %0, %0, %1;" : "+" letter(a) : letter(b));    \
      return a;                                                         \
    }                                                                   \
    static __device__ type mulRn(type a, type b) {                      \
      asm("mul.rn." suffix " %0, %0, %1;" : "+" letter(a) : letter(b)); \
      return a;                                                         \
    }                                                                   \
    static __device__ type addRn(type a, type b) {                      \
      asm("add.rn." suffix " %0, %0, %1;" : "+" letter(a) : letter(b)); \
      return a;                                                         \
    }                                                                   \
    static __device__ type neg(type a) {                                \
      asm("neg." suffix " %0, %0;" : "+" letter(a));                    \
      return a;                                                         \
    }                                                                   \
  }
OPERATIONS(float, "f32", "f");
OPERATIONS(double, "f64", "d");
OPERATIONS(unsigned short, "f16", "h");
OPERATIONS(unsigned, "f16x2", "r");

__host__ __device__ constexpr unsigned mix(unsigned x) {
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  return x ^ x >> 16;
}

constexpr int kInputs = 5, kSteps = 7, kThreads = 64;

// Step `step` of expression `seed`: an operation on two values, most of the time late ones. Each result is used once
// before it is used again, so that no operation is without a use.
template <class T, unsigned seed, int step>
__device__ void evaluate(T (&v)[kInputs + kSteps]) {
  if constexpr (step < kSteps) {
    constexpr unsigned random = mix(seed * 64 + step);
    constexpr int count = kInputs + step;
    constexpr int a = random % 3 ? count - 1 - random / 4 % 4 : random / 4 % count;
    constexpr int b = random / 64 % 3 ? count - 1 - random / 256 % 4 : random / 256 % count;
    constexpr int other = a == b ? (b + 1) % count : b;
    constexpr unsigned operation = random / 4096 % 16;
    const T x = v[a], y = v[other];
    v[count] = operation < 6    ? Ops<T>::mul(x, y)
               : operation < 9  ? Ops<T>::add(x, y)
               : operation < 13 ? Ops<T>::sub(x, y)
               : operation < 14 ? Ops<T>::mulRn(x, y)
               : operation < 15 ? Ops<T>::addRn(x, y)
                                : Ops<T>::neg(x);
    evaluate<T, seed, step + 1>(v);
  }
}

template <class T, unsigned seed>
__global__ void expression(const T* in, T* out) {
  T v[kInputs + kSteps];
  for (int i = 0; i < kInputs; ++i) v[i] = in[i * kThreads + threadIdx.x];
  evaluate<T, seed, 0>(v);
  for (int i = 0; i < 3; ++i) out[i * kThreads + threadIdx.x] = v[kInputs + kSteps - 1 - i];
}

template <class T, unsigned seed, unsigned end>
void expressions(const char* name, const std::vector<T>& in) {
  if constexpr (seed < end) {
    DeviceArray<T> device(in), out(3 * kThreads);
    expression<T, seed><<<1, kThreads>>>(device.get(), out.get());
    finish();
    std::printf("%u ", seed);
    show(name, out.host(), 1);
    expressions<T, seed + 1, end>(name, in);
  }
}

// What lies between a product and its sum.
__global__ void between(const float* in, float* out, int* flags) {
  using O = Ops<float>;
  const float a = in[threadIdx.x], b = in[threadIdx.x + kThreads], c = in[threadIdx.x + 2 * kThreads],
              d = in[threadIdx.x + 3 * kThreads];
  __shared__ float shared[kThreads];
  int at = threadIdx.x;
  auto put = [&](float value) { out[at] = value, at += kThreads; };
  shared[threadIdx.x] = a;
  float product = O::mul(a, b);
  __syncthreads();
  put(O::add(product, shared[kThreads - 1 - threadIdx.x]));
  product = O::mul(a, c);
  put(O::add(product, __shfl_xor_sync(~0u, b, 3)));
  product = O::mul(b, c);
  put(O::add(__fdiv_rn(a, d), product));  // ptxas divides in a function, so a block ends
  product = O::mul(b, d);
  put(O::add(__fsqrt_rn(fabsf(c)), product));
  product = O::mul(c, d);
  if (flags[threadIdx.x & 3]) atomicAdd(flags + 4, 1);
  put(O::add(product, a));
  float sum = O::mul(a, a);
  for (int i = 0; i < flags[5]; ++i) sum = O::add(O::mul(sum, b), c);
  put(sum);
  asm("{.reg .f32 q; mul.f32 q, %1, %2; add.sat.f32 %0, q, %3;}" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
  put(sum);
  asm("{.reg .f32 q; mul.sat.f32 q, %1, %2; add.f32 %0, q, %3;}" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
  put(sum);
  asm("{.reg .f32 q; mul.f32 q, %1, %2; abs.f32 q, q; add.f32 %0, q, %3;}" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
  put(sum);
  asm("{.reg .f32 q; mul.ftz.f32 q, %1, %2; add.ftz.f32 %0, q, %3;}" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
  put(sum);
}
constexpr int kBetween = 10;

// Products with a parameter or a constant are taken into sums behind calls and branches too, and into loops.
template <class T>
__global__ void beyond(const T* in, T* out, T factor, int* flags) {
  using O = Ops<T>;
  const T a = in[threadIdx.x], b = in[threadIdx.x + kThreads], c = in[threadIdx.x + 2 * kThreads],
          d = in[threadIdx.x + 3 * kThreads];
  int at = threadIdx.x;
  auto put = [&](T value) { out[at] = value, at += kThreads; };
  auto call = [&](T x) {  // ptxas calls a function for the quotient
    long long wide = flags[threadIdx.x & 7];
    wide = (wide << 33) / (wide * wide + 7);
    if (wide == 1) atomicAdd(flags + 4, 1);
    return x;
  };
  T product = O::mul(a, factor), other = O::mul(call(b), d);
  put(O::sub(product, other));
  product = O::mul(a, factor), other = O::mul(call(b), d);
  put(O::add(other, product));
  product = O::mul(O::neg(b), T(3));
  put(O::add(call(c), O::neg(product)));
  product = O::mul(c, factor);
  T sum = d;
  for (int i = 0; i < flags[5]; ++i) sum = O::add(O::mulRn(sum, a), product);
  put(sum);
  product = O::mul(d, factor);
  put(O::add(product, call(a)));
  put(O::sub(product, b));
  product = O::mul(b, factor);
  put(call(product));
  put(O::add(product, a));
  product = O::mul(a, d);
  put(O::add(call(product), c));
}
constexpr int kBeyond = 9;

// What people write: complex numbers, determinants, a two-sum of products.
__global__ void written(const double* in, double* out) {
  const double a = in[threadIdx.x], b = in[threadIdx.x + kThreads], c = in[threadIdx.x + 2 * kThreads],
               d = in[threadIdx.x + 3 * kThreads];
  const double determinant = a * d - b * c, cross = b * c - a * d;
  const double p = a * b, q = c * d, sum = p + q, back = sum - p, rest = (p - (sum - back)) + (q - back);
  double* row = out + threadIdx.x * 6;
  row[0] = determinant, row[1] = cross, row[2] = a * c - b * d, row[3] = a * d + b * c, row[4] = sum, row[5] = rest;
}

int main() {
  Random random;
  std::vector<float> floats(kInputs * kThreads);
  std::vector<double> doubles(kInputs * kThreads);
  std::vector<unsigned short> halfs(kInputs * kThreads);
  std::vector<unsigned> pairs(kInputs * kThreads);
  for (auto& value : floats) value = random.unit() * 2 - 1;
  for (auto& value : doubles) value = random.unit() * 2 - 1 + random.unit() * 0x1p-24;
  for (auto& value : halfs) value = random.next() % 2048 | 0x3400 | (random.next() & 0x8000);  // 0.25 to 2
  for (auto& value : pairs) value = (random.next() & 0x87FF87FF) | 0x34003400;
  expressions<float, 0, 40>("float", floats);
  expressions<double, 40, 60>("double", doubles);
  expressions<unsigned short, 60, 80>("half", halfs);
  expressions<unsigned, 80, 95>("half2", pairs);
  DeviceArray<float> f(floats), a(kBetween * kThreads);
  DeviceArray<double> g(doubles), b(6 * kThreads);
  DeviceArray<int> flags(std::vector<int>{0, 1, 0, 1, 0, 5, 9, 2});
  between<<<1, kThreads>>>(f.get(), a.get(), flags.get());
  written<<<1, kThreads>>>(g.get(), b.get());
  DeviceArray<float> c(kBeyond * kThreads);
  DeviceArray<double> d(kBeyond * kThreads);
  beyond<float><<<1, kThreads>>>(f.get(), c.get(), 1.7f, flags.get());
  beyond<double><<<1, kThreads>>>(g.get(), d.get(), -0.3, flags.get());
  finish();
  const std::vector<float> found = a.host();
  for (int i = 0; i < kBetween; ++i)
    show("between", std::vector<float>(found.begin() + i * kThreads, found.begin() + (i + 1) * kThreads), 2);
  show("written", b.host(), 6);
  const std::vector<float> singles = c.host();
  for (int i = 0; i < kBeyond; ++i)
    show("beyond", std::vector<float>(singles.begin() + i * kThreads, singles.begin() + (i + 1) * kThreads), 2);
  const std::vector<double> wide = d.host();
  for (int i = 0; i < kBeyond; ++i)
    show("beyond, double", std::vector<double>(wide.begin() + i * kThreads, wide.begin() + (i + 1) * kThreads), 2);
}
