// Compiled with -fmad=false: no product and sum are rounded once, in PTX of the program's own either.
#include "program.h"

__global__ void productsAndSums(const float* a, const float* b, const float* c, float* fromPtx, float* fromCuda,
                                int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  asm("{ .reg .f32 t; mul.f32 t, %1, %2; add.f32 %0, t, %3; }" : "=f"(fromPtx[i]) : "f"(a[i]), "f"(b[i]), "f"(c[i]));
  fromCuda[i] = a[i] * b[i] + c[i];
}

int main() {
  constexpr int count = 65536;
  Random random;
  std::vector<float> a(count), b(count), c(count), right(count);
  for (int i = 0; i < count; ++i) {
    a[i] = random.unit(), b[i] = random.unit(), c[i] = -a[i] * b[i] + random.unit() * 1e-6f;
    const volatile float product = a[i] * b[i];
    right[i] = product + c[i];
  }
  const DeviceArray<float> da(a), db(b), dc(c), ptx(count), cuda(count);
  productsAndSums<<<count / 256, 256>>>(da.get(), db.get(), dc.get(), ptx.get(), cuda.get(), count);
  CHECK(cudaDeviceSynchronize());
  const std::vector<float> fromPtx = ptx.host(), fromCuda = cuda.host();
  int wrongInPtx = 0, wrongInCuda = 0;
  for (int i = 0; i < count; ++i) {
    wrongInPtx += fromPtx[i] != right[i];
    wrongInCuda += fromCuda[i] != right[i];
  }
  std::printf("wrong in PTX: %d, in CUDA: %d of %d\n", wrongInPtx, wrongInCuda, count);
}
