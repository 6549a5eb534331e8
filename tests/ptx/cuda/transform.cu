// A Fourier transform the way device libraries write it: templates over radix
// and precision, twiddles from sincos and from constant tables, exchange
// through shared memory and shuffles, callbacks through function pointers.
#include <cuComplex.h>
#include <cufftXt.h>

__constant__ float2 twiddles[64];
extern __shared__ double2 dynamicShared[];

template <class Real>
struct Complex {
  Real re, im;
  __device__ Complex operator+(Complex o) const { return {re + o.re, im + o.im}; }
  __device__ Complex operator-(Complex o) const { return {re - o.re, im - o.im}; }
  __device__ Complex operator*(Complex o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
};

__device__ void turn(float x, float* s, float* c) { sincospif(x, s, c); }
__device__ void turn(double x, double* s, double* c) { sincospi(x, s, c); }

template <int Radix, class Real>
__device__ void butterfly(Complex<Real> (&v)[Radix]) {
  if constexpr (Radix == 2) {
    const Complex<Real> a = v[0];
    v[0] = a + v[1];
    v[1] = a - v[1];
  } else {
    Complex<Real> even[Radix / 2], odd[Radix / 2];
#pragma unroll
    for (int i = 0; i < Radix / 2; ++i) {
      even[i] = v[2 * i];
      odd[i] = v[2 * i + 1];
    }
    butterfly<Radix / 2>(even);
    butterfly<Radix / 2>(odd);
#pragma unroll
    for (int i = 0; i < Radix / 2; ++i) {
      Complex<Real> w;
      turn(Real(-2) * i / Radix, &w.im, &w.re);
      v[i] = even[i] + w * odd[i];
      v[i + Radix / 2] = even[i] - w * odd[i];
    }
  }
}

template <int Radix, class Real>
__global__ void __launch_bounds__(128) pass(Complex<Real>* data, int stride, float angle) {
  Complex<Real>* shared = reinterpret_cast<Complex<Real>*>(dynamicShared);
  Complex<Real> v[Radix];
  for (int i = 0; i < Radix; ++i) v[i] = data[threadIdx.x + i * stride];
  for (int i = 1; i < Radix; ++i) {
    Complex<Real> w;
    turn(Real(angle) * i * (threadIdx.x % stride), &w.im, &w.re);
    v[i] = v[i] * w;
  }
  butterfly(v);
  for (int i = 0; i < Radix; ++i) shared[threadIdx.x * Radix + i] = v[i];
  __syncthreads();
  for (int i = 0; i < Radix; ++i) {
    Complex<Real> c = shared[threadIdx.x + i * blockDim.x];
    c.re += __shfl_xor_sync(~0u, c.re, 1) * twiddles[i].x;
    data[threadIdx.x + i * blockDim.x] = c;
  }
}

template __global__ void pass<2, float>(Complex<float>*, int, float);
template __global__ void pass<8, float>(Complex<float>*, int, float);
template __global__ void pass<16, double>(Complex<double>*, int, float);

__device__ cufftComplex loadScaled(void* in, size_t offset, void* info, void*) {
  return cuCmulf(static_cast<cufftComplex*>(in)[offset], *static_cast<cufftComplex*>(info));
}
__device__ void storeMagnitude(void* out, size_t offset, cufftDoubleComplex value, void*, void*) {
  static_cast<double*>(out)[offset] = cuCabs(cuCdiv(value, make_cuDoubleComplex(1, 2)));
}
__device__ cufftCallbackLoadC loadCallback = loadScaled;
__device__ cufftCallbackStoreZ storeCallback = storeMagnitude;

__global__ void withCallbacks(void* in, void* out, void* info) {
  const cufftComplex c = loadCallback(in, threadIdx.x, info, nullptr);
  storeCallback(out, threadIdx.x, make_cuDoubleComplex(c.x, c.y), info, nullptr);
}
