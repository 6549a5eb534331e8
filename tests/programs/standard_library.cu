// The standard library for kernels, cuda::std: containers of a fixed size, sums and products of types, bits, complex
// numbers, views of several dimensions, and numbers (LANG-47).
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/bitset>
#include <cuda/std/complex>
#include <cuda/std/expected>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>

#include "program.h"

namespace std_ = cuda::std;
constexpr int kThreads = 64, kFields = 12;

__host__ __device__ std_::expected<int, unsigned> divide(int a, int b) {
  if (b == 0) return std_::unexpected<unsigned>(static_cast<unsigned>(a) + 7);
  return a / b;
}
__host__ __device__ std_::optional<int> firstAbove(std_::span<const int> values, int bound) {
  for (int value : values)
    if (value > bound) return value;
  return std_::nullopt;
}
struct Circle {
  int radius;
};
struct Box {
  int width, height;
};
struct Area {
  __host__ __device__ int operator()(const Circle& c) const { return c.radius * c.radius * 3; }
  __host__ __device__ int operator()(const Box& b) const { return b.width * b.height; }
  __host__ __device__ int operator()(int x) const { return x; }
};

// The same on both sides, on integers: what the device gives must be what the host gives.
__host__ __device__ void words(const int* in, int i, int* row) {
  std_::array<int, 8> values{};
  for (int k = 0; k < 8; ++k) values[k] = in[(i * 3 + k) % kThreads];
  const std_::span<const int> all(values.data(), values.size());
  row[0] = firstAbove(all, 900).value_or(-1) + firstAbove(all.subspan(2, 4), 500).value_or(-2);
  auto sorted = values;
  for (size_t end = sorted.size(); end > 1; --end)
    for (size_t k = 1; k < end; ++k)
      if (sorted[k] < sorted[k - 1]) std_::swap(sorted[k], sorted[k - 1]);
  row[1] = sorted.front() * 3 + sorted[4] + sorted.back() * 5;
  row[2] = std_::accumulate(values.begin(), values.end(), 1, [](int a, int b) { return a * 7 + b; });
  row[3] = std_::gcd(values[0], values[1] + 1) * 1000 + std_::lcm(values[2] % 30 + 1, values[3] % 20 + 1);
  std_::variant<Circle, Box, int> shape = i % 3 == 0   ? std_::variant<Circle, Box, int>(Circle{values[0]})
                                          : i % 3 == 1 ? std_::variant<Circle, Box, int>(Box{values[1], values[2]})
                                                       : std_::variant<Circle, Box, int>(values[3]);
  row[4] = std_::visit(Area{}, shape) * 10 + static_cast<int>(shape.index());
  const auto quotient = divide(values[0], values[1] % 4);
  row[5] = quotient.has_value() ? *quotient : -static_cast<int>(quotient.error());
  auto [a, b, c] = std_::make_tuple(values[5], static_cast<short>(values[6]), values[7] % 2 == 0);
  row[6] = a + b * 3 + c + std_::get<1>(std_::tuple_cat(std_::make_tuple(1), std_::make_tuple(i, 2))) +
           std_::apply([](int x, int y) { return x - y; }, std_::make_pair(values[3], values[4]));
  const unsigned bits = static_cast<unsigned>(values[0]) * 2654435761u;
  row[7] = std_::popcount(bits) + std_::countl_zero(bits) * 100 + std_::countr_one(bits) * 10000 +
           static_cast<int>(std_::rotl(bits, i) >> 8) +
           static_cast<int>(std_::bit_width(bits) + std_::bit_ceil(bits >> 7));
  row[8] =
      static_cast<int>(std_::bit_cast<unsigned>(1.5f + static_cast<float>(i)) ^ std_::has_single_bit(bits & -bits));
  std_::bitset<40> set(bits);
  set.flip(3), set <<= 2;
  row[9] = static_cast<int>(set.count()) + (set.test(5) ? 1000 : 0) + static_cast<int>((set & ~set).any());
  std_::mdspan<const int, std_::extents<int, 4, std_::dynamic_extent>> matrix(in, 16);
  std_::mdspan<const int, std_::dextents<int, 2>, std_::layout_left> turned(in, 8, 8);
  row[10] = matrix(i % 4, i / 4) * 5 + turned(i % 8, i / 8) + matrix.extent(1) + static_cast<int>(turned.stride(1));
  row[11] = std_::reduce(values.begin(), values.end()) +
            static_cast<int>(std_::distance(values.begin(), values.end())) * 10000 +
            std_::inner_product(values.begin(), values.end(), sorted.begin(), 0, std_::plus<>{}, std_::minus<>{});
}
__global__ void words(const int* in, int* out) { words(in, threadIdx.x, out + threadIdx.x * kFields); }

// Complex numbers: arithmetic that is rounded once for each operation.
__global__ void complexes(const float* in, float* out, double* wide) {
  using Complex = std_::complex<float>;
  const int i = threadIdx.x;
  const Complex a(in[i], in[(i + 1) % kThreads]), b(in[(i + 2) % kThreads], in[(i + 3) % kThreads]);
  const Complex values[] = {a + b, a - b, std_::conj(a) + 2.0f, Complex(std_::norm(Complex(a.real(), 0)), a.imag()),
                            -a * 0.5f};
  for (int k = 0; k < 5; ++k) out[i * 10 + k * 2] = values[k].real(), out[i * 10 + k * 2 + 1] = values[k].imag();
  const std_::complex<double> d(in[i], 0.25), e(0.5, in[(i + 5) % kThreads]);
  const std_::complex<double> f = d + e * 2.0;
  wide[i * 2] = f.real(), wide[i * 2 + 1] = f.imag();
}

// Infinite and undefined factors, and quotients by zero, as C prescribes them: kinds of results, not their bits.
__global__ void kinds(const float* special, int count, int* out) {
  const int i = threadIdx.x;
  if (i >= count * count) return;
  using Complex = std_::complex<float>;
  const Complex a(special[i / count], special[i % count]), b(special[i % count], 1.0f);
  const auto kind = [](float x) {
    return std_::isnan(x) ? 1 : std_::isinf(x) ? 2 + std_::signbit(x) : 4 + std_::signbit(x);
  };
  const Complex product = a * b, quotient = a / b;
  out[i] =
      kind(product.real()) + kind(product.imag()) * 10 + kind(quotient.real()) * 100 + kind(quotient.imag()) * 1000;
}

int main() {
  Random random;
  std::vector<int> in(kThreads);
  std::vector<float> reals(kThreads);
  for (auto& value : in) value = random.next() % 1000;
  for (auto& value : reals) value = static_cast<float>(random.next() % 4096) / 64 - 32;
  DeviceArray<int> device(in), out(kThreads * kFields), what(36);
  words<<<1, kThreads>>>(device.get(), out.get());
  finish();
  const std::vector<int> got = out.host();
  int wrong = 0;
  for (int i = 0; i < kThreads; ++i) {
    int row[kFields];
    words(in.data(), i, row);
    for (int k = 0; k < kFields; ++k)
      if (row[k] != got[i * kFields + k] && wrong++ < 5)
        std::printf("thread %d, %d: %d, not %d\n", i, k, got[i * kFields + k], row[k]);
  }
  std::printf("%d wrong ", wrong);
  show("words", got, kFields);
  DeviceArray<float> realsOfDevice(reals), complexOut(kThreads * 10);
  DeviceArray<double> wide(kThreads * 2);
  complexes<<<1, kThreads>>>(realsOfDevice.get(), complexOut.get(), wide.get());
  const float inf = std::numeric_limits<float>::infinity();
  DeviceArray<float> special(std::vector<float>{0.0f, -0.0f, 2.0f, inf, -inf, std::numeric_limits<float>::quiet_NaN()});
  kinds<<<1, 36>>>(special.get(), 6, what.get());
  finish();
  show("complex", complexOut.host());
  show("complex, wide", wide.host());
  show("kinds", what.host(), 8);
}
