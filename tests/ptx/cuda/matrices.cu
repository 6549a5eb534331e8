// nvcuda::wmma with every shape and type of mma.h, and the conversions of the
// small floats.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>

using namespace nvcuda;

template <int M, int N, int K, class T, class Sum, class LayoutA, class LayoutB>
__device__ void multiply(const T* a, const T* b, Sum* c) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
  wmma::load_matrix_sync(fa, a, 32);
  wmma::load_matrix_sync(fb, b, 32);
  wmma::load_matrix_sync(fc, c, 32, wmma::mem_row_major);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 32, wmma::mem_col_major);
}

template <class T, class Sum>
__device__ void shapes(const T* a, Sum* c) {
  multiply<16, 16, 16, T, Sum, wmma::row_major, wmma::col_major>(a, a, c);
  multiply<32, 8, 16, T, Sum, wmma::col_major, wmma::row_major>(a, a, c);
  multiply<8, 32, 16, T, Sum, wmma::row_major, wmma::row_major>(a, a, c);
}

__global__ void common(const half* h, half* hc, float* c, const signed char* s, const unsigned char* u, int* i) {
  shapes<half, half>(h, hc);
  shapes<half, float>(h, c);
  shapes<signed char, int>(s, i);
  shapes<unsigned char, int>(u, i);
  __shared__ half tile[1024];
  multiply<16, 16, 16, half, float, wmma::row_major, wmma::col_major>(tile, tile, c);
}

__global__ void bits(const unsigned* a, int* c) {
  using namespace wmma::experimental;
  wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::s4, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::s4, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
  wmma::fill_fragment(fc, 0);
  wmma::load_matrix_sync(fa, a, 32);
  wmma::load_matrix_sync(fb, a, 32);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
  wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> ba;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> bb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> bc;
  wmma::fill_fragment(bc, 1);
  wmma::load_matrix_sync(ba, a, 128);
  wmma::load_matrix_sync(bb, a, 128);
  wmma::bmma_sync(bc, ba, bb, bc);
  wmma::store_matrix_sync(c, bc, 8, wmma::mem_row_major);
}

#if __CUDA_ARCH__ >= 800
__global__ void ampere(const __nv_bfloat16* b, float* c, const double* d, double* dc, const float* t) {
  shapes<__nv_bfloat16, float>(b, c);
  multiply<8, 8, 4, double, double, wmma::row_major, wmma::col_major>(d, d, dc);
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::fill_fragment(fc, 0.f);
  wmma::load_matrix_sync(fa, t, 16);
  wmma::load_matrix_sync(fb, t, 16);
  for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
#endif

__global__ void smallFloats(const float4* in, __nv_fp8x4_e4m3* out, float4* back, __half2* halves,
                            __nv_bfloat162* brain) {
  const int i = threadIdx.x;
  out[i] = __nv_fp8x4_e4m3(in[i]);
  back[i] = static_cast<float4>(__nv_fp8x4_e5m2(in[i + 1]));
  halves[i] = __hmax2(h2exp(halves[i]), h2rsqrt(__hfma2_relu(halves[i + 1], halves[i], halves[i + 2])));
#if __CUDA_ARCH__ >= 800
  brain[i] = __hmin2_nan(h2log(brain[i]), __hfma2(brain[i + 1], brain[i], __float2bfloat162_rn(in[i].x)));
#endif
  atomicAdd(halves, halves[1]);
  atomicAdd(brain, brain[1]);
}
