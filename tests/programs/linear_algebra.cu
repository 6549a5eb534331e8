// Doubles: conjugate gradients, an LU decomposition, Jacobi rotations. Every sum has one order.
#include "program.h"

__global__ void conjugateGradients(const double* matrix, const double* b, double* x, int n, int rounds) {
  extern __shared__ double memory[];
  double *p = memory, *parts = memory + n;
  const int i = threadIdx.x;
  auto dot = [&](double v) {
    parts[i] = v;
    __syncthreads();
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += parts[k];
    __syncthreads();
    return sum;
  };
  double xi = 0, r = b[i];
  p[i] = r;
  double rr = dot(r * r);
  for (int round = 0; round < rounds; ++round) {
    double ap = 0;
    for (int k = 0; k < n; ++k) ap += matrix[i * n + k] * p[k];
    const double alpha = rr / dot(p[i] * ap);
    xi += alpha * p[i];
    r -= alpha * ap;
    const double next = dot(r * r);
    p[i] = r + next / rr * p[i];
    rr = next;
    __syncthreads();
  }
  x[i] = xi;
}
__global__ void decompose(double* m, int n) {
  const int j = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    for (int i = k + 1; i < n; ++i) {
      const double factor = m[i * n + k] / m[k * n + k];
      __syncthreads();
      if (j > k) m[i * n + j] -= factor * m[k * n + j];
      if (j == k) m[i * n + k] = factor;
      __syncthreads();
    }
  }
}
__global__ void norms(const float* in, float* out) {
  float x = in[threadIdx.x], y = in[threadIdx.x + 64], z = in[threadIdx.x + 128];
  const float length = sqrtf(x * x + y * y + z * z);
  out[threadIdx.x * 3] = x / length, out[threadIdx.x * 3 + 1] = y / length, out[threadIdx.x * 3 + 2] = z / length;
}

int main() {
  Random random;
  const int n = 48;
  std::vector<double> matrix(n * n), b(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      matrix[i * n + j] = matrix[j * n + i] = i == j ? n + random.unit() : random.unit() - 0.5;
  for (auto& value : b) value = random.unit();
  std::vector<float> vectors(192);
  for (auto& value : vectors) value = random.unit() - 0.5f;
  DeviceArray<double> m(matrix), db(b), x(n);
  DeviceArray<float> v(vectors), unit(192);
  conjugateGradients<<<1, n, 2 * n * sizeof(double)>>>(m.get(), db.get(), x.get(), n, 12);
  decompose<<<1, n>>>(m.get(), n);
  norms<<<1, 64>>>(v.get(), unit.get());
  finish();
  show("gradients", x.host());
  show("decomposition", m.host());
  show("norms", unit.host());
}
