// Recursive functions, function pointers and virtual calls.
#include "program.h"

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Triangle : Shape {
  float base, height;
  __device__ Triangle(float b, float h) : base(b), height(h) {}
  __device__ float area() const override { return base * height * 0.5f; }
};

__device__ float twice(float x) { return x * 2; }
__device__ float half(float x) { return x / 2; }
__device__ float (*const functions[2])(float) = {twice, half};

__global__ void recurse(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x) + ackermann(2, threadIdx.x % 5); }

__global__ void dispatch(float* out) {
  Square square(threadIdx.x + 1.0f);
  Triangle triangle(threadIdx.x + 1.0f, 3.0f);
  const Shape* shape = threadIdx.x % 3 ? static_cast<const Shape*>(&square) : &triangle;
  out[threadIdx.x] = functions[threadIdx.x & 1](shape->area());
}

int main() {
  DeviceArray<int> a(12);
  DeviceArray<float> b(32);
  recurse<<<1, 12>>>(a.get());
  dispatch<<<1, 32>>>(b.get());
  finish();
  show("recursion", a.host(), 12);
  show("virtual", b.host(), 8);
}
