#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "program.h"

__global__ void halves(const unsigned short* in, unsigned short* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half a = __ushort_as_half(in[i]), b = __ushort_as_half(in[(i + 1) % n]), c = __ushort_as_half(in[(i + 2) % n]);
  unsigned short* row = out + i * 10;
  row[0] = __half_as_ushort(__hadd(a, b)), row[1] = __half_as_ushort(__hmul(a, b)),
  row[2] = __half_as_ushort(__hfma(a, b, c));
  row[3] = __half_as_ushort(__hsub(a, b)), row[4] = __half_as_ushort(__hmin(a, b)),
  row[5] = __half_as_ushort(__float2half_rn(__half2float(a) * 3));
  row[6] = __half_as_ushort(__double2half(1.0 / __half2float(c))),
  row[7] = __hlt(a, b) * 4 + __heq(a, c) * 2 + __hgeu(b, c);
  __half2 p = __halves2half2(a, b), q = __halves2half2(c, a), r = __hfma2(p, q, p);
  row[8] = __half_as_ushort(__low2half(r)), row[9] = __half_as_ushort(__high2half(r));
}

__global__ void brains(const float* in, unsigned short* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat16 a = __float2bfloat16_rn(in[i]), b = __float2bfloat16_rn(in[(i + 1) % n]);
  out[i * 3] = __bfloat16_as_ushort(a);
  out[i * 3 + 1] = __bfloat16_as_ushort(__float2bfloat16_rn(__bfloat162float(a) + __bfloat162float(b)));
  out[i * 3 + 2] = __bfloat16_as_ushort(__float2bfloat16_rz(in[i]));
}

int main() {
  const int n = 4096;
  Random random;
  std::vector<unsigned short> in(n);
  std::vector<float> floats(n);
  for (auto& value : in) {
    value = static_cast<unsigned short>(random.next());
    if ((value & 0x7C00) == 0x7C00) value &= 0xFC00;  // no NaN inputs: which one comes out is tested elsewhere
  }
  for (auto& value : floats) value = (random.unit() - 0.5f) * 1000;
  DeviceArray<unsigned short> device(in), out(n * 10), out2(n * 3);
  DeviceArray<float> reals(floats);
  halves<<<n / 128, 128>>>(device.get(), out.get(), n);
  brains<<<n / 128, 128>>>(reals.get(), out2.get(), n);
  finish();
  auto values = out.host();
  for (int i = 0; i < n * 10; ++i)
    if (i % 10 != 7 && (values[i] & 0x7FFF) > 0x7C00) values[i] = 0x7FFF;  // one NaN for all
  for (int f = 0; f < 10; ++f) {
    std::vector<unsigned short> column(n);
    for (int i = 0; i < n; ++i) column[i] = values[i * 10 + f];
    char name[16];
    std::snprintf(name, sizeof name, "half %d", f);
    show(name, column, 8);
  }
  show("bfloat16", out2.host(), 6);
}
