// A Fourier transform in shared memory, twiddles from the host; complex arithmetic of cuComplex.h.
#include <cmath>

#include <cuComplex.h>

#include "program.h"

__global__ void transform(const cuFloatComplex* in, const cuFloatComplex* twiddles, cuFloatComplex* out) {
  __shared__ cuFloatComplex data[256];
  const int i = threadIdx.x;
  data[__brev(i) >> 24] = in[blockIdx.x * 256 + i];
  data[__brev(i + 128) >> 24] = in[blockIdx.x * 256 + i + 128];
  for (int half = 1; half < 256; half *= 2) {
    __syncthreads();
    const int at = (i / half) * 2 * half + i % half;
    const cuFloatComplex t = cuCmulf(data[at + half], twiddles[(i % half) * (128 / half)]), u = data[at];
    data[at] = cuCaddf(u, t);
    data[at + half] = cuCsubf(u, t);
  }
  __syncthreads();
  out[blockIdx.x * 256 + i] = data[i];
  out[blockIdx.x * 256 + i + 128] = data[i + 128];
}

__global__ void quotients(const cuDoubleComplex* in, cuDoubleComplex* out) {
  const cuDoubleComplex a = in[threadIdx.x], b = in[(threadIdx.x + 1) % 64];
  out[threadIdx.x] = cuCadd(cuCdiv(a, b), cuCmul(cuConj(a), b));
}

int main() {
  Random random;
  std::vector<cuFloatComplex> in(1024), twiddles(128);
  std::vector<cuDoubleComplex> wide(64);
  for (auto& value : in) value.y = random.unit(), value.x = random.unit();
  for (auto& value : wide) value.y = random.unit() - 0.5, value.x = random.unit();
  const double pi = 3.14159265358979323846;
  for (int i = 0; i < 128; ++i)  // rounded far above the last bit, so that every C library gives the same
    twiddles[i] = make_cuFloatComplex(std::round(std::cos(pi * i / 128) * 1048576) / 1048576.0f,
                                      -std::round(std::sin(pi * i / 128) * 1048576) / 1048576.0f);
  DeviceArray<cuFloatComplex> a(in), t(twiddles), b(1024);
  DeviceArray<cuDoubleComplex> c(wide), d(64);
  transform<<<4, 128>>>(a.get(), t.get(), b.get());
  quotients<<<1, 64>>>(c.get(), d.get());
  finish();
  show("transform", b.host());
  show("quotients", d.host());
}
