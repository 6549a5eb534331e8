// Kernel parameters by value: padding, large structures, arrays that are indexed, and what changes a copy.
#include "program.h"

struct Padded {
  char c;
  double d;
  short s;
  float4 v;
  char tail[3];
};
struct Large {
  int values[900];
};
struct Matrix {
  float m[3][3];
  __device__ float3 operator*(float3 x) const {
    return {m[0][0] * x.x + m[0][1] * x.y + m[0][2] * x.z, m[1][0] * x.x + m[1][1] * x.y + m[1][2] * x.z,
            m[2][0] * x.x + m[2][1] * x.y + m[2][2] * x.z};
  }
};

__global__ void mixed(char a, Padded p, short b, int3 t, double d, Padded q, long long* out) {
  out[0] = a, out[1] = p.c, out[2] = __double_as_longlong(p.d), out[3] = p.s, out[4] = __float_as_int(p.v.z);
  out[5] = p.tail[2], out[6] = b, out[7] = t.z, out[8] = __double_as_longlong(d), out[9] = q.s + q.tail[0];
}
__global__ void indexed(const Large p, int* out) { out[threadIdx.x] = p.values[(threadIdx.x * 37) % 900]; }
__global__ void changed(Large p, int* out) {
  for (int i = 0; i < 900; i += 32) p.values[(i + threadIdx.x) % 900] += threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 900; ++i) sum = sum * 31 + p.values[i];
  out[threadIdx.x] = sum;
}
__global__ void transform(Matrix m, const float3* in, float3* out) { out[threadIdx.x] = m * in[threadIdx.x]; }

int main() {
  Random random;
  const Padded p{'x', 3.25, -7, {1, 2, 3.5f, 4}, {1, 2, 3}}, q{'y', -1, 100, {0, 0, 0, 0}, {5, 6, 7}};
  DeviceArray<long long> a(10);
  mixed<<<1, 1>>>(-3, p, 12345, int3{7, 8, 9}, 0.1, q, a.get());
  Large large;
  for (int& value : large.values) value = static_cast<int>(random.next());
  DeviceArray<int> b(256), c(32);
  indexed<<<1, 256>>>(large, b.get());
  changed<<<1, 32>>>(large, c.get());
  Matrix m;
  for (auto& row : m.m)
    for (float& value : row) value = random.unit();
  std::vector<float3> points(64);
  for (auto& point : points) point = {random.unit(), random.unit(), random.unit()};
  DeviceArray<float3> in(points), out(64);
  transform<<<1, 64>>>(m, in.get(), out.get());
  finish();
  show("mixed", a.host(), 10);
  show("indexed", b.host());
  show("changed", c.host());
  show("transform", out.host());
}
