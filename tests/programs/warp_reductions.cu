// __reduce_*_sync, scans by shuffles in segments, broadcasts of wide types.
#include "program.h"

__global__ void reductions(const unsigned* in, unsigned* out) {
  const unsigned value = in[threadIdx.x];
  unsigned* row = out + threadIdx.x * 8;
  row[0] = __reduce_add_sync(0xFFFFFFFF, value), row[1] = __reduce_min_sync(0xFFFFFFFF, value);
  row[2] = __reduce_max_sync(0xFFFFFFFF, value), row[3] = __reduce_and_sync(0xFFFFFFFF, value | 0xF0F);
  row[4] = __reduce_or_sync(0xFFFFFFFF, value & 0xF0F), row[5] = __reduce_xor_sync(0xFFFFFFFF, value);
  row[6] = __reduce_min_sync(0xFFFFFFFF, static_cast<int>(value)), row[7] = 0;
  if (value & 4) row[7] = __reduce_add_sync(__activemask(), 1u);
}

__global__ void segments(const int* in, int* out) {
  const int lane = threadIdx.x & 31;
  for (int width = 2; width <= 32; width *= 2) {
    int value = in[threadIdx.x];
    for (int step = 1; step < width; step *= 2) {
      const int other = __shfl_up_sync(0xFFFFFFFF, value, step, width);
      if ((lane & (width - 1)) >= step) value += other;
    }
    out[threadIdx.x] = value;
    out += blockDim.x;
  }
}

__global__ void wide(long long* l, double* d, float2* f) {
  const int i = threadIdx.x;
  l[i] = __shfl_sync(0xFFFFFFFF, 0x100000001ll * i, (i * 5) & 31);
  d[i] = __shfl_xor_sync(0xFFFFFFFF, i * 0.25, 21);
  f[i].x = __shfl_down_sync(0xFFFFFFFF, i * 1.5f, 3, 8);
  f[i].y = __shfl_sync(0xFFFFFFFF, i * 2.5f, i + 40);
}

int main() {
  Random random;
  std::vector<unsigned> in(128);
  std::vector<int> small(128);
  for (auto& value : in) value = random.next();
  for (auto& value : small) value = random.next() % 1000;
  DeviceArray<unsigned> a(in), ra(128 * 8);
  DeviceArray<int> b(small), rb(128 * 5);
  DeviceArray<long long> l(32);
  DeviceArray<double> d(32);
  DeviceArray<float2> f(32);
  reductions<<<1, 128>>>(a.get(), ra.get());
  segments<<<1, 128>>>(b.get(), rb.get());
  wide<<<1, 32>>>(l.get(), d.get(), f.get());
  finish();
  show("reductions", ra.host(), 8);
  show("segments", rb.host());
  show("long", l.host());
  show("double", d.host());
  show("float2", f.host());
}
