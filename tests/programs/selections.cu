// Selections by comparisons, of numbers, zeros of both signs and NaNs: what looks like a minimum or maximum is none.
#include <cuda_fp16.h>

#include "program.h"

template <class T, class Put>
__device__ void select(T x, T y, Put put) {
  put(x < y ? x : y), put(x < y ? y : x), put(x > y ? x : y), put(x > y ? y : x);
  put(x <= y ? x : y), put(x <= y ? y : x), put(x >= y ? x : y), put(x >= y ? y : x);
  put(!(x < y) ? x : y), put(!(x < y) ? y : x), put(!(x >= y) ? x : y), put(!(x >= y) ? y : x);
  put(x == y ? x : y), put(x != y ? x : y);
}

template <class T>
__global__ void variables(const T* in, T* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count * count) return;
  T* row = out + i * 14;
  select<T>(in[i % count], in[i / count], [&](T value) { *row++ = value; });
}

template <class T>
__global__ void constants(const T* in, T* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const T x = in[i], zero = T(0.0f), one = T(1.0f), low = T(-160.0f);
  T* row = out + i * 60;
  auto put = [&](T value) { *row++ = value; };
  select<T>(x, zero, put), select<T>(x, one, put), select<T>(low, x, put);
  T clamped = x < low ? low : x;
  clamped = one < clamped ? one : clamped;
  put(clamped);
  clamped = x > one ? one : x < low ? low : x;
  put(clamped);
  put(x < zero ? -x : x), put(x > zero ? x : -x), put(x * zero), put(x - x);
  put(x == x ? one : zero), put(x != x ? x : zero);
  T sum = zero;  // a maximum over a loop that forgets NaNs, and one that keeps them
  T keep = x;
  for (int k = 0; k < count; ++k) sum = in[k] > sum ? in[k] : sum, keep = !(in[k] <= keep) ? in[k] : keep;
  put(sum), put(keep);
}

template <class T>
void run(const char* name, const std::vector<float>& numbers, bool isAll) {
  std::vector<T> in(numbers.begin(), numbers.end());
  const int count = static_cast<int>(in.size());
  DeviceArray<T> device(in), a(count * count * 14), b(count * 60);
  CHECK(cudaMemset(b.get(), 0, count * 60 * sizeof(T)));
  variables<T><<<(count * count + 63) / 64, 64>>>(device.get(), a.get(), count);
  constants<T><<<1, 64>>>(device.get(), b.get(), count);
  finish();
  auto shown = [&](const char* what, std::vector<T> values) {
    for (T& value : values)
      if (value != value) value = T(12345.0f);  // PTX leaves open which NaN it is
    std::printf("%s, ", name);
    show(what, values, isAll ? values.size() : 4);
  };
  shown("variables", a.host());
  shown("constants", b.host());
}

int main(int argc, char**) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> numbers = {0.0f,    -0.0f,  1.0f,     -1.0f,     0.5f, 2.0f, -160.0f,
                                      -161.0f, 161.0f, infinity, -infinity, nan,  -nan};
  run<float>("float", numbers, argc > 1);
  run<double>("double", numbers, argc > 1);
  run<__half>("half", numbers, argc > 1);
}
