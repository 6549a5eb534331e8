// Loads and stores with cache hints, volatile and restrict, through generic pointers to every space.
#include "program.h"

__constant__ int constants[32];
__device__ int globals[32];

__global__ void hints(const int* __restrict__ in, int4* wide, int* out) {
  const int i = threadIdx.x;
  int sum = __ldg(in + i) + __ldca(in + i) * 3 + __ldcg(in + i) * 5 + __ldcs(in + i) * 7 + __ldlu(in + i) * 11 +
            __ldcv(in + i) * 13;
  const int4 v = __ldg(wide + i);
  __stcs(wide + i, make_int4(v.w, v.z, v.y, sum));
  __stwb(out + i, sum), __stcg(out + 64 + i, sum + 1), __stwt(out + 128 + i, sum + 2);
  const volatile int* again = in;
  out[192 + i] = again[i] + again[(i + 1) % 64];
}

__device__ __noinline__ int read(const int* p, int i) { return p[i]; }
__global__ void generic(int* out) {
  __shared__ int shared[32];
  int local[32];
  const int i = threadIdx.x;
  for (int k = 0; k < 32; ++k) local[(k + i) % 32] = k * i;
  shared[i] = i * 100;
  globals[i] = i + 7;
  __syncthreads();
  const int* spaces[] = {shared, local, globals, constants};
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum = sum * 3 + read(spaces[(i + k) % 4], (i * 5 + k) % 32);
  out[i] = sum + (__isShared(spaces[i % 4]) ? 1 : 0) + (__isLocal(spaces[i % 4]) ? 2 : 0) +
           (__isConstant(spaces[i % 4]) ? 4 : 0);
}

int main() {
  Random random;
  std::vector<int> in(64), numbers(32);
  std::vector<int4> wide(64);
  for (auto& value : in) value = random.next();
  for (auto& value : numbers) value = random.next() % 1000;
  for (auto& value : wide) value = int4{int(random.next()), 2, 3, int(random.next())};
  CHECK(cudaMemcpyToSymbol(constants, numbers.data(), 128));
  DeviceArray<int> device(in), a(256), b(32);
  DeviceArray<int4> w(wide);
  hints<<<1, 64>>>(device.get(), w.get(), a.get());
  generic<<<1, 32>>>(b.get());
  finish();
  show("hints", a.host());
  show("wide", w.host());
  show("generic", b.host(), 8);
}
