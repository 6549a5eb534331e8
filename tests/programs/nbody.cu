#include "program.h"

__global__ void step(const float4* positions, float4* velocities, float4* moved, int n, float dt) {
  extern __shared__ float4 shared[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 self = positions[i];
  float ax = 0, ay = 0, az = 0;
  for (int start = 0; start < n; start += blockDim.x) {
    shared[threadIdx.x] = positions[start + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < blockDim.x; ++j) {
      float dx = shared[j].x - self.x, dy = shared[j].y - self.y, dz = shared[j].z - self.z;
      float square = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f)));
      float inverse = 1.0f / sqrtf(square);
      float force = __fmul_rn(shared[j].w, __fmul_rn(inverse, __fmul_rn(inverse, inverse)));
      ax = fmaf(dx, force, ax), ay = fmaf(dy, force, ay), az = fmaf(dz, force, az);
    }
    __syncthreads();
  }
  float4 v = velocities[i];
  v.x = fmaf(ax, dt, v.x), v.y = fmaf(ay, dt, v.y), v.z = fmaf(az, dt, v.z);
  velocities[i] = v;
  moved[i] = make_float4(fmaf(v.x, dt, self.x), fmaf(v.y, dt, self.y), fmaf(v.z, dt, self.z), self.w);
}

int main() {
  const int n = 512;
  Random random;
  std::vector<float4> start(n);
  for (auto& body : start)
    body.w = random.unit(), body.z = random.unit(), body.y = random.unit(), body.x = random.unit();
  DeviceArray<float4> a(start), b(n), velocities(std::vector<float4>(n, make_float4(0, 0, 0, 0)));
  for (int i = 0; i < 2; ++i) {
    step<<<n / 128, 128, 128 * sizeof(float4)>>>(a.get(), velocities.get(), b.get(), n, 0.01f);
    step<<<n / 128, 128, 128 * sizeof(float4)>>>(b.get(), velocities.get(), a.get(), n, 0.01f);
  }
  finish();
  show("positions", a.host());
}
