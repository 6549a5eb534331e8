// Parameters by value: structs, arrays in them, indexed at run time, and a large one.
#include "program.h"

struct Small {
  char tag;
  double weight;
  short values[5];
};
struct Large {
  int numbers[200];
  float last;
};

__global__ void small(Small s, int index, double* out) {
  out[threadIdx.x] = s.weight * s.values[(index + threadIdx.x) % 5] + s.tag;
}

__global__ void large(Large l, int* out, float* last) {
  out[threadIdx.x] = l.numbers[199 - threadIdx.x] + l.numbers[threadIdx.x];
  if (threadIdx.x == 0) *last = l.last;
}

__global__ void empty() {}

int main() {
  Small s{'A', 0.75, {1, -2, 3, -4, 5}};
  Large l;
  for (int i = 0; i < 200; ++i) l.numbers[i] = i * i;
  l.last = 6.5f;
  DeviceArray<double> a(10);
  DeviceArray<int> b(200);
  DeviceArray<float> c(1);
  small<<<1, 10>>>(s, 3, a.get());
  large<<<1, 200>>>(l, b.get(), c.get());
  empty<<<1, 1>>>();
  finish();
  show("small", a.host());
  show("large", b.host());
  show("last", c.host());
}
