// Objects with virtual functions made on the device, tables of function pointers, functors and templates.
#include "program.h"

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual int corners() const { return 0; }
};
struct Square : Shape {
  float a;
  __device__ explicit Square(float side) : a(side) {}
  __device__ float area() const override { return a * a; }
  __device__ int corners() const override { return 4; }
};
struct Circle : Shape {
  float r;
  __device__ explicit Circle(float radius) : r(radius) {}
  __device__ float area() const override { return 3.140625f * r * r; }
};

__global__ void shapes(const float* in, float* areas, int* corners) {
  const float value = in[threadIdx.x];
  alignas(16) char room[32];
  Shape* shape = threadIdx.x % 3 ? static_cast<Shape*>(new (room) Square(value)) : new (room) Circle(value);
  areas[threadIdx.x] = shape->area();
  corners[threadIdx.x] = shape->corners();
}

using Function = unsigned (*)(unsigned, unsigned);
__device__ unsigned addition(unsigned a, unsigned b) { return a + b; }
__device__ unsigned mixture(unsigned a, unsigned b) { return (a ^ b) * 2654435761u; }
__device__ __noinline__ unsigned loops(unsigned a, unsigned b) {
  for (unsigned i = 0; i < (b & 7); ++i) a = a * 3 + i;
  return a;
}
__device__ Function table[] = {addition, mixture, loops};

__global__ void pointers(const unsigned* in, unsigned* out) {
  unsigned value = in[threadIdx.x];
  for (unsigned i = 0; i < 6; ++i) value = table[(value + i) % 3](value, i + threadIdx.x);
  out[threadIdx.x] = value;
}

template <int N, class F>
__device__ unsigned repeat(unsigned x, F f) {
  if constexpr (N == 0) return x;
  else return repeat<N - 1>(f(x), f);
}
struct Step {
  unsigned by;
  __device__ unsigned operator()(unsigned x) const { return x * 5 + by; }
};
__global__ void functors(unsigned* out) { out[threadIdx.x] = repeat<7>(threadIdx.x, Step{threadIdx.x & 3}); }

int main() {
  Random random;
  std::vector<float> in(96);
  std::vector<unsigned> words(96);
  for (auto& value : in) value = random.unit();
  for (auto& value : words) value = random.next();
  DeviceArray<float> device(in), areas(96);
  DeviceArray<int> corners(96);
  DeviceArray<unsigned> w(words), a(96), b(96);
  pointers<<<1, 96>>>(w.get(), a.get());
  functors<<<1, 96>>>(b.get());
  shapes<<<1, 96>>>(device.get(), areas.get(), corners.get());
  finish();
  show("pointers", a.host());
  show("functors", b.host());
  show("areas", areas.host());
  show("corners", corners.host());
}
