// Single precision: exact operations and conversions on ordinary and special values.
#include <cmath>

#include "program.h"

__global__ void exact(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[i], b = x[(i * 7 + 1) % n], c = x[(i * 13 + 5) % n];
  float* row = out + i * 20;
  row[0] = __fadd_rn(a, b), row[1] = __fmul_rn(a, b), row[2] = __fmaf_rn(a, b, c), row[3] = __fdiv_rn(a, b),
  row[4] = __fsqrt_rn(a);
  row[5] = __frcp_rn(a), row[6] = __fadd_rz(a, b), row[7] = __fadd_ru(a, b), row[8] = __fadd_rd(a, b),
  row[9] = __fmul_rz(a, b);
  row[10] = __fmul_ru(a, b), row[11] = __fmaf_rz(a, b, c), row[12] = __fmaf_rd(a, b, c), row[13] = __fdiv_ru(a, b),
  row[14] = __fsqrt_rd(a);
  row[15] = fminf(a, b), row[16] = fmaxf(a, b), row[17] = truncf(a), row[18] = rintf(a), row[19] = __saturatef(a);
}

__global__ void convert(const float* x, long long* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[i];
  long long* row = out + i * 10;
  row[0] = __float2int_rz(a), row[1] = __float2int_rn(a), row[2] = __float2uint_ru(a), row[3] = __float2ll_rd(a),
  row[4] = __float2ull_rz(a);
  row[5] = __float_as_int(__int2float_rz(__float_as_int(a))), row[6] = __float_as_int(__ll2float_ru(row[3])),
  row[7] = static_cast<short>(__float2int_rz(a));  // out of a short's range only that is defined
  row[8] = __double_as_longlong(static_cast<double>(a)), row[9] = __float_as_int(__uint2float_rn(__float_as_uint(a)));
}

int main() {
  const float special[] = {0.0f,   -0.0f,  1.0f,          -1.0f,         INFINITY,        -INFINITY, NAN,
                           1e-38f, 1e-40f, -1e-45f,       3.4028235e38f, 1.17549435e-38f, 0.5f,      1.5f,
                           2.5f,   -2.5f,  2147483648.0f, 9.3e18f,       8388609.0f,      65536.5f};
  const int n = 2000;
  Random random;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) {
    uint32_t bits = random.next();
    if (i % 3 == 0) x[i] = special[random.next() % 20];
    else if (i % 3 == 1) std::memcpy(&x[i], &bits, 4);
    else x[i] = random.unit() * 200 - 100;
    if (std::isnan(x[i])) x[i] = NAN;
  }
  DeviceArray<float> device(x), a(n * 20);
  DeviceArray<long long> b(n * 10);
  exact<<<16, 128>>>(device.get(), a.get(), n);
  convert<<<16, 128>>>(device.get(), b.get(), n);
  finish();
  auto values = a.host();
  oneNan(values);
  for (int f = 0; f < 20; ++f) {
    std::vector<float> column(n);
    for (int i = 0; i < n; ++i) column[i] = values[i * 20 + f];
    char name[16];
    std::snprintf(name, sizeof name, "exact %d", f);
    show(name, column, 4);
  }
  auto converted = b.host();
  for (int f = 0; f < 10; ++f) {
    std::vector<long long> column(n);
    for (int i = 0; i < n; ++i) column[i] = converted[i * 10 + f];
    char name[16];
    std::snprintf(name, sizeof name, "convert %d", f);
    show(name, column, 4);
  }
}
